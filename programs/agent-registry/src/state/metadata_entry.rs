use crate::account_data::{Placed, Record};
use anchor_lang::prelude::*;
use concord_canonical::{
    limits::{METADATA_KEY_MAX, METADATA_VALUE_MAX},
    pda::Account as Place,
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

impl Record for MetadataEntry {
    fn space(&self) -> usize {
        let longest = METADATA_KEY_MAX + METADATA_VALUE_MAX;
        Self::SPACE - longest + self.key.len() + self.value.len()
    }
}

impl Placed for MetadataEntry {
    fn place(&self) -> Place<'_> {
        Self::place_of(&self.nft_mint, &self.key)
    }
}

impl MetadataEntry {
    pub fn place_of<'a>(mint: &Pubkey, key: &'a str) -> Place<'a> {
        let mint = mint.to_bytes();
        Place::Metadata { mint, key }
    }
}
