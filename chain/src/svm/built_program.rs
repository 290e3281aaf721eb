//! The program that was built, and the note that `scripts/build-program` writes beside it.
use super::{Cluster, ProgramData, program_data_of};
use crate::{ChainError, atomic_file};
use alloy::hex;
use concord_canonical::hash::sha256;
use serde::Deserialize;
use solana_address::Address;
use solana_sdk_ids::bpf_loader_upgradeable;
use std::{fs, io, path::Path};

/// A program as `scripts/build-program` writes it.
#[derive(Clone, Debug)]
pub struct BuiltProgram {
    /// The program's bytes.
    pub elf: Vec<u8>,
    /// Of the ELF.
    pub sha256: [u8; 32],
    /// The version of sBPF that it is compiled to.
    pub sbpf: u32,
    /// The id that it was built for.
    pub id: Address,
    /// What compiled it, in words.
    pub toolchain: String,
    /// The git commit that it was built from, with `-dirty` behind it if the tree had other changes.
    /// `None`: it was built outside of a clone.
    pub commit: Option<String>,
}

/// `agent_registry.build.json`.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Note {
    program_id: String,
    sha256: String,
    toolchain: String,
    #[serde(default)]
    commit: Option<String>,
}

impl BuiltProgram {
    /// Reads the ELF, and what was written beside it when it was built.
    ///
    /// # Errors
    /// [`ChainError::NotBuilt`]; [`ChainError::File`] if the two are from different builds, or the
    /// ELF is not for Solana.
    pub fn read(path: &Path) -> Result<Self, ChainError> {
        let elf = fs::read(path).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => ChainError::NotBuilt(path.to_owned()),
            _ => atomic_file::unusable(path, error),
        })?;
        let sha256 = sha256(&elf);
        let file = path.with_extension("build.json");
        let note: Option<Note> = atomic_file::read_json(&file)?;
        let note = note.ok_or_else(|| ChainError::NotBuilt(file.clone()))?;
        if note.sha256 != hex::encode(sha256) {
            let reason = format!("is about a program with SHA-256 {}", note.sha256);
            return Err(atomic_file::unusable(&file, reason));
        }
        let id = note.program_id.parse();
        let id = id.map_err(|_| atomic_file::unusable(&file, "programId is not a public key"))?;
        Ok(Self {
            sbpf: sbpf_version(&elf).ok_or_else(|| {
                atomic_file::unusable(path, "is not a 64-bit little-endian ELF for SBF")
            })?,
            elf,
            sha256,
            id,
            toolchain: note.toolchain,
            commit: note.commit,
        })
    }

    /// SHA-256 of the ELF: 0x and 64 hex digits.
    pub fn code_hash(&self) -> String {
        code_hash(&self.elf)
    }

    /// Returns whether `found`, a program's bytes on chain, is this program followed by zeros only.
    pub fn is_in(&self, found: &[u8]) -> bool {
        let rest = found.strip_prefix(&self.elf[..]);
        rest.is_some_and(|rest| rest.iter().all(|byte| *byte == 0))
    }
}

/// SHA-256 of a program's bytes without trailing zeros: 0x and 64 hex digits.
pub fn code_hash(found: &[u8]) -> String {
    let length = found.iter().rposition(|byte| *byte != 0);
    let code = &found[..length.map_or(0, |last| last + 1)];
    format!("0x{}", hex::encode(sha256(code)))
}

/// Returns the hash of the program at an address, as [`code_hash`] has it; `None` if there is no program, or its bytes are
/// not there.
///
/// # Errors
/// [`ChainError::Unreachable`].
pub async fn deployed_code_hash(
    cluster: &Cluster,
    program: &Address,
) -> Result<Option<String>, ChainError> {
    let Some(program) = cluster.account(program).await?.filter(|it| it.executable) else {
        return Ok(None);
    };
    if program.owner != bpf_loader_upgradeable::ID {
        return Ok(Some(code_hash(&program.data))); // older loaders keep the bytes in the program's account
    }
    let Some(data) = program_data_of(&program) else {
        return Ok(None);
    };
    let data = cluster.account(&data).await?;
    let code = data.as_ref().and_then(ProgramData::read);
    Ok(code.map(|it| code_hash(it.content)))
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
