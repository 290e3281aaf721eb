use crate::account_data::Record;
use anchor_lang::prelude::*;
use concord_canonical::pda::Account as Place;

/// Marks a payment that has proven one feedback, `["spent", keccak256(dedupe key), payer]`:
/// it proves no other, of no other agent (R13). Never closed. One transaction can hold the payments
/// of several payers (R32).
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

impl Record for SpentPayment {}

impl SpentPayment {
    pub fn place_of(task_ref_hash: &[u8; 32], payer: &Pubkey) -> Place<'static> {
        let (hash, payer) = (*task_ref_hash, payer.to_bytes());
        Place::Spent { hash, payer }
    }
}
