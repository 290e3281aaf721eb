use anchor_lang::prelude::*;
use concord_canonical::pda::SPENT;

/// Marks a payment that has proven one feedback, `["spent", keccak256(dedupe key), payer]`:
/// it proves no other, of no other agent (R13). Never closed.
#[account]
#[derive(InitSpace, Debug)]
pub struct SpentPayment {
    /// Of the feedback that it proved.
    pub nft_mint: Pubkey,
    pub reviewer: Pubkey,
    pub feedback_index: u64,
    pub bump: u8,
    pub version: u8,
}

impl SpentPayment {
    pub const SPACE: usize = Self::DISCRIMINATOR.len() + Self::INIT_SPACE;

    /// `["spent", task_ref_hash, payer]`: one transaction can hold the payments of several payers (R32).
    pub fn find(task_ref_hash: &[u8; 32], payer: &Pubkey) -> (Pubkey, u8) {
        Pubkey::find_program_address(&[SPENT, task_ref_hash, payer.as_ref()], &crate::ID)
    }
}
