//! Reading Token-2022 token accounts while Token-2022 moves a token between them.
use crate::{ConcordError, error::require};
use anchor_lang::prelude::*;
use anchor_spl::token_2022;

// A token account with extensions: 165 bytes base, the account type, then extensions as
// u16 LE type, u16 LE length, value.
const MINT: usize = 0;
const OWNER: usize = 32;
const AMOUNT: usize = 64;
const ACCOUNT_TYPE: usize = 165;
const EXTENSIONS: usize = 166;
const TOKEN_ACCOUNT: u8 = 2;
const IMMUTABLE_OWNER: u16 = 7;
const TRANSFER_HOOK_ACCOUNT: u16 = 15;

/// A token account on either side of a transfer that is under way.
pub struct TransferSide {
    pub owner: Pubkey,
    /// After the transfer: Token-2022 moves the balances before it calls the hook.
    pub amount: u64,
    pub owner_is_immutable: bool,
}

impl TransferSide {
    /// `NotInTransfer` unless Token-2022 is transferring `mint` from or to `account` at this
    /// moment: only Token-2022 can write its accounts, and it sets their `transferring` flag
    /// for the duration of the hook's call alone.
    pub fn read(account: &AccountInfo, mint: &Pubkey) -> Result<Self> {
        require!(
            account.owner == &token_2022::ID,
            ConcordError::NotInTransfer
        );
        let data = account.try_borrow_data()?;
        require!(
            data.len() > EXTENSIONS
                && data[ACCOUNT_TYPE] == TOKEN_ACCOUNT
                && data[MINT..OWNER] == mint.to_bytes(),
            ConcordError::NotInTransfer
        );
        let (transferring, owner_is_immutable) = flags(&data[EXTENSIONS..]);
        require!(transferring, ConcordError::NotInTransfer);
        let mut owner = [0; 32];
        owner.copy_from_slice(&data[OWNER..AMOUNT]);
        let mut amount = [0; 8];
        amount.copy_from_slice(&data[AMOUNT..AMOUNT + 8]);
        Ok(Self {
            owner: owner.into(),
            amount: u64::from_le_bytes(amount),
            owner_is_immutable,
        })
    }
}

/// (transferring, owner_is_immutable)
fn flags(mut extensions: &[u8]) -> (bool, bool) {
    let (mut transferring, mut immutable) = (false, false);
    while let [k0, k1, l0, l1, rest @ ..] = extensions {
        let length = usize::from(u16::from_le_bytes([*l0, *l1]));
        match u16::from_le_bytes([*k0, *k1]) {
            0 => break, // uninitialized: no extension follows
            TRANSFER_HOOK_ACCOUNT => transferring = rest.first() == Some(&1),
            IMMUTABLE_OWNER => immutable = true,
            _ => (),
        }
        extensions = rest.get(length..).unwrap_or_default();
    }
    (transferring, immutable)
}
