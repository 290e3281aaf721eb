use crate::{
    ConcordError,
    account_data::load,
    error::{refusal, require},
};
use anchor_lang::prelude::*;
use concord_canonical::{
    hash::sha256,
    limits::{METADATA_KEY_MAX, METADATA_VALUE_MAX},
    pda::METADATA,
};

/// One metadata value of an agent, `["metadata", mint, sha256(key)]`. Its account is as long as
/// key and value need, and is never closed: a key once set stays set.
#[account]
#[derive(InitSpace, Debug)]
pub struct MetadataEntry {
    pub nft_mint: Pubkey,
    pub bump: u8,
    pub version: u8,
    /// At most 32 bytes of UTF-8 without NUL (R17).
    #[max_len(METADATA_KEY_MAX)]
    pub key: String,
    /// At most 256 bytes (R17), opaque to the program.
    #[max_len(METADATA_VALUE_MAX)]
    pub value: Vec<u8>,
}

impl MetadataEntry {
    /// Whether the entry of `key` is in `account` or yet to be created there, and its bump.
    /// `AccountMismatch` where `account` is another.
    pub fn locate(account: &AccountInfo, mint: &Pubkey, key: &str) -> Result<(bool, u8)> {
        match load::<Self>(account)? {
            Some(entry) if entry.nft_mint == *mint && entry.key == key => Ok((true, entry.bump)),
            Some(_) => Err(refusal(ConcordError::AccountMismatch)),
            None => {
                let (derived, bump) = Self::find(mint, key);
                require!(*account.key == derived, ConcordError::AccountMismatch);
                Ok((false, bump))
            }
        }
    }

    /// Bytes of this entry's account.
    pub fn space(&self) -> usize {
        Self::DISCRIMINATOR.len() + 32 + 1 + 1 + 4 + self.key.len() + 4 + self.value.len()
    }

    /// `["metadata", mint, sha256(key)]`.
    pub fn find(mint: &Pubkey, key: &str) -> (Pubkey, u8) {
        let key = sha256(key.as_bytes());
        Pubkey::find_program_address(&[METADATA, mint.as_ref(), &key], &crate::ID)
    }
}
