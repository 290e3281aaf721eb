//! R11: the Ed25519 precompile verifies, this module checks by template *what* it verified.
//!
//! The precompile reads signature, key and message wherever its offsets and instruction
//! indexes point. Only one layout is accepted, in which they all lie in the precompile's own
//! instruction data at fixed places, so the bytes compared here are the bytes verified there:
//!
//! | offset | width | value |
//! |---|---|---|
//! | 0 | 1 | 1, the number of signatures |
//! | 1 | 1 | 0, padding |
//! | 2 | 2 + 2 | 48, the signature's offset; 0xFFFF, "this instruction" |
//! | 6 | 2 + 2 | 16, the key's offset; 0xFFFF |
//! | 10 | 2 + 2 + 2 | 112, the message's offset; its length; 0xFFFF |
//! | 16 | 32 | key |
//! | 48 | 64 | signature |
//! | 112 | length | message, and nothing after it |
//!
//! All integers are u16 little-endian.
use crate::{
    ConcordError,
    error::{refusal, require},
};
use anchor_lang::prelude::*;
use solana_instructions_sysvar::{load_current_index_checked, load_instruction_at_checked};

/// Bytes that the instructions sysvar can address.
const SYSVAR_MAX: usize = u16::MAX as usize;

/// The sysvar holds each instruction's offset as a u16. In a longer one an offset wraps, and points
/// into another instruction's data, where the sender can have placed anything.
pub fn require_addressable(instructions: &AccountInfo) -> Result<()> {
    require!(instructions.data_len() <= SYSVAR_MAX, InstructionsTooLong);
    Ok(())
}

/// The precompile.
const PROGRAM_ID: Pubkey = pubkey!("Ed25519SigVerify111111111111111111111111111");
const KEY: usize = 16;
const SIGNATURE: usize = 48;
const MESSAGE: usize = 112;

const fn header(message_len: u16) -> [u8; 16] {
    let [low, high] = message_len.to_le_bytes();
    [
        1, 0, 48, 0, 0xFF, 0xFF, 16, 0, 0xFF, 0xFF, 112, 0, low, high, 0xFF, 0xFF,
    ]
}

/// The precompile instruction directly before ours: some key signed some message of
/// `LEN` bytes. Which, [`Self::signature_over`] settles.
pub struct VerifiedMessage<const LEN: usize>(Vec<u8>);

impl<const LEN: usize> VerifiedMessage<LEN> {
    /// Loads the top-level instruction before the current one. Under CPI the current one is
    /// the top-level caller (R11), so one precompile serves all its nested calls.
    ///
    /// Errors: `InstructionsTooLong`, `AuthMissing` if that is not a precompile call, `AuthMalformed` where its
    /// layout is not the template's.
    pub fn preceding(instructions: &AccountInfo) -> Result<Self> {
        require_addressable(instructions)?;
        let current = load_current_index_checked(instructions)?;
        let previous = current
            .checked_sub(1)
            .ok_or_else(|| refusal(ConcordError::AuthMissing))?;
        let call = load_instruction_at_checked(previous.into(), instructions)?;
        require!(call.program_id == PROGRAM_ID, AuthMissing);
        let header = const { header(LEN as u16) };
        require!(
            call.accounts.is_empty()
                && call.data.len() == MESSAGE + LEN
                && call.data.starts_with(&header),
            AuthMalformed
        );
        Ok(Self(call.data))
    }

    /// The signature, provided that `signer` made it over `message`. Both are values that the
    /// program computed itself.
    ///
    /// Errors: `AuthWrongSigner`, `AuthWrongMessage`.
    pub fn signature_over(&self, signer: &Pubkey, message: &[u8; LEN]) -> Result<[u8; 64]> {
        let data = &self.0;
        require!(data[KEY..SIGNATURE] == signer.to_bytes(), AuthWrongSigner);
        require!(data[MESSAGE..] == *message, AuthWrongMessage);
        let mut signature = [0; 64];
        signature.copy_from_slice(&data[SIGNATURE..MESSAGE]);
        Ok(signature)
    }
}
