//! The program that was built, and what it was built with.
use crate::DeployError;
use concord_chain::atomic_file;
use serde::Deserialize;
use sha2::{Digest, Sha256};
use solana_address::Address;
use std::{fs, io, path::Path};

/// A program as `scripts/build-program` leaves it.
#[derive(Clone, Debug)]
pub struct Program {
    pub elf: Vec<u8>,
    /// Of the ELF.
    pub sha256: [u8; 32],
    /// The version of sBPF that it is compiled to.
    pub sbpf: u32,
    /// The id that it was built for.
    pub id: Address,
    pub toolchain: String,
}

/// `agent_registry.build.json`.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Build {
    program_id: String,
    sha256: String,
    toolchain: String,
}

impl Program {
    /// Reads the ELF, and what was written beside it when it was built.
    ///
    /// # Errors
    /// [`DeployError::ProgramMissing`]; [`concord_chain::ChainError::File`] where the two are not of one build, or the ELF is
    /// none for Solana.
    pub fn read(path: &Path) -> Result<Self, DeployError> {
        let elf = fs::read(path).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => DeployError::ProgramMissing(path.to_owned()),
            _ => unusable(path, error.to_string()),
        })?;
        let sha256: [u8; 32] = Sha256::digest(&elf).into();
        let note = path.with_extension("build.json");
        let build: Option<Build> = atomic_file::read_json(&note)?;
        let build = build.ok_or_else(|| DeployError::ProgramMissing(note.clone()))?;
        if build.sha256 != hex(&sha256) {
            let reason = format!("is about a program with SHA-256 {}", build.sha256);
            return Err(unusable(&note, reason));
        }
        let id = build.program_id.parse();
        let id = id.map_err(|_| unusable(&note, "programId is no public key".to_owned()))?;
        Ok(Self {
            sbpf: sbpf_version(&elf).ok_or_else(|| {
                unusable(path, "is no 64-bit little-endian ELF for SBF".to_owned())
            })?,
            elf,
            sha256,
            id,
            toolchain: build.toolchain,
        })
    }

    /// SHA-256 of the ELF: 0x and 64 hex digits.
    pub fn code_hash(&self) -> String {
        code_hash(&self.elf)
    }

    /// Whether `found`, what a chain keeps as a program, is this one: behind it only zeros.
    pub fn is_in(&self, found: &[u8]) -> bool {
        let rest = found.strip_prefix(&self.elf[..]);
        rest.is_some_and(|rest| rest.iter().all(|byte| *byte == 0))
    }
}

/// SHA-256 of a program's bytes, without the zeros behind it: 0x and 64 hex digits.
pub fn code_hash(found: &[u8]) -> String {
    let length = found.iter().rposition(|byte| *byte != 0);
    let code = &found[..length.map_or(0, |last| last + 1)];
    format!("0x{}", hex(&Sha256::digest(code).into()))
}

pub(super) fn hex(bytes: &[u8; 32]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn unusable(path: &Path, reason: String) -> DeployError {
    DeployError::file(path.to_owned(), reason)
}

/// `e_flags` of an ELF (u32 LE at byte 48) for one of the machines 247 (BPF) and 263 (SBF).
fn sbpf_version(elf: &[u8]) -> Option<u32> {
    const MACHINE: std::ops::Range<usize> = 18..20;
    const FLAGS: std::ops::Range<usize> = 48..52;
    let is_elf = elf.starts_with(&[0x7f, b'E', b'L', b'F', 2, 1]);
    let machine = u16::from_le_bytes(elf.get(MACHINE)?.try_into().ok()?);
    let version = u32::from_le_bytes(elf.get(FLAGS)?.try_into().ok()?);
    (is_elf && matches!(machine, 247 | 263)).then_some(version)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_zeros_behind_a_program_are_not_part_of_it() {
        // coreutils 9.7: printf abc | sha256sum
        let abc = "0xba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(code_hash(b"abc"), abc);
        assert_eq!(code_hash(b"abc\0\0\0"), abc);
        assert_ne!(code_hash(b"abc\0\0d"), abc);
    }

    #[test]
    fn refuses_what_is_no_sbf_elf() {
        let mut elf = vec![0; 64];
        elf[..6].copy_from_slice(&[0x7f, b'E', b'L', b'F', 2, 1]);
        elf[18..20].copy_from_slice(&263u16.to_le_bytes());
        elf[48] = 3;
        assert_eq!(sbpf_version(&elf), Some(3));
        elf[18] = 62; // x86-64
        assert_eq!(sbpf_version(&elf), None);
        assert_eq!(sbpf_version(&elf[..40]), None);
        assert_eq!(sbpf_version(b"#!/bin/sh"), None);
    }
}
