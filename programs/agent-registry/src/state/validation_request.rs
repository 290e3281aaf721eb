use crate::account_data::Record;
use anchor_lang::prelude::*;
use concord_canonical::pda::{Account as Place, REQUEST_PREFIX};

/// What an owner asked a validator, `["val_request", mint, validator, request_hash[..8]]`.
/// X84's fields, order and types (R12).
#[account]
#[derive(InitSpace, Debug)]
pub struct ValidationRequest {
    pub nft_mint: Pubkey,
    pub validator: Pubkey,
    /// Opaque. R20: may be zero.
    pub request_hash: [u8; 32],
    pub tag: [u8; 32],
    /// Whether the validator responded at least once.
    pub responded: bool,
    /// The cluster's clock, seconds.
    pub created_at: i64,
    pub bump: u8,
    pub version: u8,
}

impl Record for ValidationRequest {}

impl ValidationRequest {
    pub fn place_of(mint: &Pubkey, validator: &Pubkey, hash: &[u8; 32]) -> Place<'static> {
        Place::ValRequest {
            mint: mint.to_bytes(),
            validator: validator.to_bytes(),
            request_hash: *hash,
        }
    }

    /// Whether this account is where a request with `hash` about `mint` lies: under any
    /// validator, and whatever follows the hash's first 8 bytes (R20).
    pub fn is_in_place_of(&self, mint: &Pubkey, hash: &[u8; 32]) -> bool {
        self.nft_mint == *mint && self.request_hash[..REQUEST_PREFIX] == hash[..REQUEST_PREFIX]
    }
}
