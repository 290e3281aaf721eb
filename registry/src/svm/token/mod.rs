//! Token-2022, in which agents are (R4), and SPL Token, in which they can be paid as well (R13).
//!
//! Accounts and instructions of both are read with the types of `spl-token-2022-interface`: SPL Token's have the same base, and
//! nothing behind it. Those types refuse what only looks like a token account, such as a multisig, whose bytes its maker chooses.
mod instructions;
mod payment;

pub use instructions::{burn, create_associated_account};
pub use payment::{PaymentMint, TokenTransfer};

use super::programs::{ASSOCIATED_TOKEN, SPL_TOKEN, TOKEN_2022};
use alloc::string::String;
use concord_canonical::pda::find_address;
use solana_address::Address;
use solana_program_pack::Pack;
use spl_token_2022_interface::{
    extension::{BaseStateWithExtensions, StateWithExtensions},
    state,
};
use spl_token_metadata_interface::state::TokenMetadata;

/// An agent's mint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mint {
    /// 1, or 0 after the token was burned.
    pub supply: u64,
    /// The agent's URI, from the mint's own token metadata (R4).
    pub uri: String,
}

/// A token account.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TokenAccount {
    /// The mint whose token it holds.
    pub mint: Address,
    /// Its owner.
    pub owner: Address,
    /// In the token's smallest unit.
    pub amount: u64,
    /// Whether the mint's freeze authority froze it: it then neither sends nor receives.
    pub is_frozen: bool,
}

impl Mint {
    /// Reads a mint of Token-2022 with token metadata. `None` for an account of another owner or form.
    pub fn read(owner: &Address, data: &[u8]) -> Option<Self> {
        if *owner != TOKEN_2022 {
            return None;
        }
        let mint = StateWithExtensions::<state::Mint>::unpack(data).ok()?;
        let metadata = mint.get_variable_len_extension::<TokenMetadata>().ok()?;
        Some(Self {
            supply: mint.base.supply,
            uri: metadata.uri,
        })
    }
}

impl TokenAccount {
    /// Reads an initialized token account of SPL Token or Token-2022. `None` for an account of another owner or kind, such as a
    /// mint or a multisig.
    pub fn read(owner: &Address, data: &[u8]) -> Option<Self> {
        let account = match *owner {
            TOKEN_2022 => {
                StateWithExtensions::<state::Account>::unpack(data)
                    .ok()?
                    .base
            }
            SPL_TOKEN => state::Account::unpack(data).ok()?,
            _ => return None,
        };
        Some(Self {
            mint: account.mint,
            owner: account.owner,
            amount: account.amount,
            is_frozen: account.is_frozen(),
        })
    }
}

/// The token account of `owner` that the associated-token program derives for a mint of a token program.
pub fn associated_account(owner: &Address, mint: &Address, token_program: &Address) -> Address {
    let seeds = [owner.as_ref(), token_program.as_ref(), mint.as_ref()];
    find_address(seeds, ASSOCIATED_TOKEN.as_array()).0.into()
}
