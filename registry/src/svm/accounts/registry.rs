use super::AccountType;
use alloc::{string::String, vec::Vec};
use borsh::BorshDeserialize;
use solana_address::Address;

/// Payment tokens that count at a time (R13).
pub const PAYMENT_TOKENS_MAX: usize = 8;
/// Facilitators that count at a time (R13).
pub const FACILITATORS_MAX: usize = 16;
/// CAIP-2: a namespace of at most 8 characters, a colon, a reference of at most 32.
const CHAIN_ID_MAX: usize = 8 + 1 + 32;

/// The one registry account of a program.
#[derive(Debug, Clone, PartialEq, Eq, BorshDeserialize)]
pub struct Registry {
    /// keccak256 of `chain`: the chain word of every authorization (R9).
    pub chain_hash: [u8; 32],
    /// The bump of its address.
    pub bump: u8,
    /// The layout that the program wrote (R12).
    pub version: u8,
    /// Who keeps the lists below.
    pub authority: Address,
    /// The proposed authority, which must accept; all zero for none.
    pub proposed_authority: Address,
    /// The cluster's CAIP-2 id (R9).
    pub chain: String,
    /// Mints of the tokens whose payments count (R13).
    pub payment_tokens: Vec<Address>,
    /// Whose signatures prove payments (R13).
    pub facilitators: Vec<Address>,
}

impl AccountType for Registry {
    const NAME: &'static str = "Registry";
    const DISCRIMINATOR: [u8; 8] = [47, 174, 110, 246, 184, 182, 252, 218];
    const SPACE: usize = 118 + CHAIN_ID_MAX + 32 * (PAYMENT_TOKENS_MAX + FACILITATORS_MAX);
}
