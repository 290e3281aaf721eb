//! The Ed25519 precompile's instruction in the one layout that the program accepts (R11).
use super::programs::ED25519;
use alloc::vec::Vec;
use solana_instruction::Instruction;

/// "In this instruction", for each of the three parts.
const HERE: [u8; 2] = u16::MAX.to_le_bytes();
const KEY: u16 = 16;
const SIGNATURE: u16 = 48;
const MESSAGE: u16 = 112;

/// The message exceeds 65,535 bytes, the most that the precompile's header can state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("an Ed25519 instruction cannot carry a message of {length} bytes: the limit is 65535")]
pub struct MessageTooLong {
    /// Bytes of the message.
    pub length: usize,
}

/// Lets the precompile verify `signature` by `signer` over `message`. It goes directly before the
/// program's instruction (R11).
///
/// | offset | width | value |
/// |---|---|---|
/// | 0 | 2 | 1 signature; padding |
/// | 2 | 2 + 2 | 48, the signature's offset; 0xFFFF |
/// | 6 | 2 + 2 | 16, the key's offset; 0xFFFF |
/// | 10 | 2 + 2 + 2 | 112, the message's offset; its length; 0xFFFF |
/// | 16 | 32 | key |
/// | 48 | 64 | signature |
/// | 112 | … | message |
///
/// Integers are u16 little-endian.
///
/// # Errors
/// [`MessageTooLong`].
pub fn verify(
    signer: &[u8; 32],
    signature: &[u8; 64],
    message: &[u8],
) -> Result<Instruction, MessageTooLong> {
    let length = u16::try_from(message.len()).map_err(|_| MessageTooLong {
        length: message.len(),
    })?;
    let header = [
        [1, 0],
        SIGNATURE.to_le_bytes(),
        HERE,
        KEY.to_le_bytes(),
        HERE,
        MESSAGE.to_le_bytes(),
        length.to_le_bytes(),
        HERE,
    ];
    Ok(Instruction {
        program_id: ED25519,
        accounts: Vec::new(),
        data: [header.as_flattened(), signer, signature, message].concat(),
    })
}
