//! The real program, and what deploys it: the loader's own instructions.
use crate::client::Client;
use concord_registry::svm::Program;
use sha2::{Digest, Sha256};
use solana_address::Address;
use solana_instruction::Instruction;
use solana_keypair::Keypair;
use solana_loader_v3_interface::instruction as loader;
use solana_signer::Signer;
use std::{fs, path::Path};

pub const LOADER: Address = Address::from_str_const("BPFLoaderUpgradeab1e11111111111111111111111");
/// What a transaction leaves for a write.
const PIECE: usize = 1012;
/// Of what stands before the code in a buffer.
pub const BUFFER_HEAD: usize = 37;

/// A program of `target/deploy`.
pub fn elf(name: &str) -> Vec<u8> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/deploy");
    let file = folder.join(name).with_extension("so");
    fs::read(&file).unwrap_or_else(|fault| panic!("{}: {fault}", file.display()))
}

/// The development key of `programs/agent-registry/build.rs`.
pub fn program_key() -> Keypair {
    Keypair::new_from_array(Sha256::digest(b"concord localnet program").into())
}

pub fn program() -> Address {
    program_key().pubkey()
}

pub fn program_data() -> Address {
    Program::new(program()).program_data()
}

pub fn registry() -> Address {
    Program::new(program()).registry()
}

pub fn initialize(authority: Address, chain: &str) -> Instruction {
    Program::new(program()).initialize(authority, chain)
}

impl Client {
    pub fn rent(&mut self, size: usize) -> u64 {
        let rent = self.result(
            "getMinimumBalanceForRentExemption",
            serde_json::json!([size]),
        );
        rent.as_u64().unwrap()
    }

    pub fn create_buffer(&mut self, buffer: &Keypair, size: usize) -> u64 {
        let rent = self.rent(BUFFER_HEAD + size);
        let payer = self.payer.pubkey();
        let calls = loader::create_buffer(&payer, &buffer.pubkey(), &payer, rent, size).unwrap();
        self.carry_out(&[buffer], &calls);
        rent
    }

    /// A buffer with this code.
    pub fn write_buffer(&mut self, buffer: &Keypair, elf: &[u8]) {
        self.create_buffer(buffer, elf.len());
        let payer = self.payer.pubkey();
        for (at, piece) in (0..).step_by(PIECE).zip(elf.chunks(PIECE)) {
            self.carry_out(
                &[],
                &[loader::write(&buffer.pubkey(), &payer, at, piece.to_vec())],
            );
        }
    }

    pub fn deploying(&mut self, buffer: &Address, size: usize) -> Vec<Instruction> {
        let rent = self.rent(36);
        let payer = self.payer.pubkey();
        #[allow(deprecated)] // its successor is the loader that no cluster runs
        loader::deploy_with_max_program_len(&payer, &program(), buffer, &payer, rent, size, true)
            .unwrap()
    }

    /// Deploys the real program. It can be called.
    pub fn deploy(&mut self) {
        let (code, buffer) = (elf("agent_registry"), Keypair::new_from_array([9; 32]));
        self.write_buffer(&buffer, &code);
        let calls = self.deploying(&buffer.pubkey(), code.len());
        self.carry_out(&[&program_key()], &calls);
        self.advance(1);
    }

    /// In place of what stands there.
    pub fn upgrading(&mut self, seed: u8, elf: &[u8]) -> Instruction {
        let buffer = Keypair::new_from_array([seed; 32]);
        self.write_buffer(&buffer, elf);
        let payer = self.payer.pubkey();
        loader::upgrade(&program(), &buffer.pubkey(), &payer, &payer, true)
    }
}
