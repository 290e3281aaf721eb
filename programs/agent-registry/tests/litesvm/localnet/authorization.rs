//! R9's message and R11's precompile instruction, from their byte tables.

use super::{CHAIN, instructions::GiveFeedback, program_id};
use sha3::{Digest, Keccak256};
use solana_address::Address;
use solana_instruction::Instruction;
use solana_keypair::Keypair;
use solana_signer::Signer;

pub type Word = [u8; 32];

pub fn ed25519_program() -> Address {
    Address::from_str_const("Ed25519SigVerify111111111111111111111111111")
}

pub fn keccak(bytes: &[u8]) -> Word {
    Keccak256::digest(bytes).into()
}

/// A u64 as a big-endian uint256.
pub fn word(value: u64) -> Word {
    let mut word = [0; 32];
    word[24..].copy_from_slice(&value.to_be_bytes());
    word
}

/// The seven words in R5's order.
#[derive(Clone)]
pub struct Authorization {
    pub agent: Word,
    pub client: Word,
    pub index_limit: Word,
    pub expiry: Word,
    pub chain: Word,
    pub program: Word,
    pub signer: Word,
}

impl Authorization {
    /// What `signer` signs to authorize `feedback` on the localnet.
    pub fn of(feedback: &GiveFeedback, signer: &Address) -> Self {
        Self {
            agent: feedback.mint.to_bytes(),
            client: feedback.client.to_bytes(),
            index_limit: word(feedback.index_limit),
            expiry: word(feedback.expiry),
            chain: keccak(CHAIN.as_bytes()),
            program: program_id().to_bytes(),
            signer: signer.to_bytes(),
        }
    }

    pub fn message(&self) -> Vec<u8> {
        let words = [
            self.agent,
            self.client,
            self.index_limit,
            self.expiry,
            self.chain,
            self.program,
            self.signer,
        ]
        .concat();
        let mut message = b"ERC8004/FEEDBACK-AUTH/v1".to_vec();
        message.extend_from_slice(&keccak(&words));
        message
    }

    /// The precompile instruction, signed by `key`.
    pub fn signed_by(&self, key: &Keypair) -> Instruction {
        precompile(call(key, &self.message()))
    }
}

/// The precompile's data for one signature by `key` over `message`, all of it in place.
pub fn call(key: &Keypair, message: &[u8]) -> Vec<u8> {
    let signature = key.sign_message(message);
    layout(&key.pubkey().to_bytes(), signature.as_ref(), message)
}

/// `[1, 0 | 48, self | 16, self | 112, length, self]`, key, signature, message.
pub fn layout(key: &[u8], signature: &[u8], message: &[u8]) -> Vec<u8> {
    let length = u16::try_from(message.len()).unwrap().to_le_bytes();
    let mut data = vec![
        1, 0, 48, 0, 0xFF, 0xFF, 16, 0, 0xFF, 0xFF, 112, 0, length[0], length[1], 0xFF, 0xFF,
    ];
    data.extend_from_slice(key);
    data.extend_from_slice(signature);
    data.extend_from_slice(message);
    data
}

pub fn precompile(data: Vec<u8>) -> Instruction {
    Instruction {
        program_id: ed25519_program(),
        accounts: vec![],
        data,
    }
}
