//! The token transfers of a Solana transaction, from its calls. Pure: the caller has read the transaction.

use std::collections::BTreeMap;

use concord_canonical::word;
use concord_registry::svm::{
    Address,
    events::Call,
    token::{TokenAccount, TokenTransfer},
};

use super::reads::Transfer;

/// A transfer between token accounts, of SPL Token or Token-2022.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TokenMove {
    /// The token account that pays.
    pub source: Address,
    /// The token account that is paid.
    pub destination: Address,
    /// In the token's smallest unit.
    pub amount: u64,
}

/// Whose a token account is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TokenHolder {
    /// The token.
    pub mint: Address,
    /// Who may spend from the account.
    pub owner: Address,
}

impl TokenMove {
    /// Reads a call; `None` if it is no transfer of a token program. It took effect if its transaction succeeded.
    #[must_use]
    pub fn read(call: &Call) -> Option<Self> {
        let parts = TokenTransfer::read(&call.program, &call.data)?;
        Some(Self {
            source: *call.accounts.get(parts.source)?,
            destination: *call.accounts.get(parts.destination)?,
            amount: parts.amount,
        })
    }
}

/// What a token account was before its transaction, or after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TokenBalance {
    /// The token account.
    pub account: Address,
    /// Whose it was.
    pub holder: TokenHolder,
    /// What it held, in the token's smallest unit.
    pub amount: u64,
}

/// What a transaction did to its token accounts. A call says what moved when it was made; whose the accounts are is known only
/// from the transaction's ends. Between them an account can be closed, opened for another token, emptied or given away: what
/// counts as paid (R27, R32) is what the payee's account has more at the end.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TokenChanges(BTreeMap<Address, TokenChange>);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct TokenChange {
    mint: Address,
    /// Its owner before.
    payer: Address,
    /// Its owner afterwards; `None`: it was closed.
    payee: Option<Address>,
    /// How much more it has afterwards; 0 if it has less.
    received: u64,
}

impl TokenChanges {
    /// From what the node recorded with the transaction: all its token accounts, before it and after it.
    #[must_use]
    pub fn recorded(before: &[TokenBalance], after: &[TokenBalance]) -> Self {
        let find =
            |of: &[TokenBalance], account| of.iter().find(|it| it.account == account).copied();
        let accounts = before.iter().chain(after).map(|it| it.account);
        let change = |account: Address| {
            let (pre, post) = (find(before, account), find(after, account));
            let first = pre.or(post)?;
            // opened again for another token: the calls do not say which of both they moved
            if post.is_some_and(|it| it.holder.mint != first.holder.mint) {
                return None;
            }
            let had = pre.map_or(0, |it| it.amount);
            let change = TokenChange {
                mint: first.holder.mint,
                payer: first.holder.owner,
                payee: post.map(|it| it.holder.owner),
                received: post.map_or(0, |it| it.amount.saturating_sub(had)),
            };
            Some((account, change))
        };
        Self(accounts.filter_map(change).collect())
    }

    /// From what the accounts are now, of a node that records no balances.
    #[must_use]
    pub fn now(holders: impl IntoIterator<Item = (Address, TokenHolder)>) -> Self {
        let change = |(account, holder): (Address, TokenHolder)| {
            let change = TokenChange {
                mint: holder.mint,
                payer: holder.owner,
                payee: Some(holder.owner),
                received: u64::MAX,
            };
            (account, change)
        };
        Self(holders.into_iter().map(change).collect())
    }

    /// The transfers between the owners of the accounts, as far as they were paid.
    #[must_use]
    pub fn transfers(&self, moves: &[TokenMove]) -> Vec<Transfer> {
        let counted = moves.iter().filter_map(|it| self.transfer(it, moves));
        counted.collect()
    }

    fn transfer(&self, moved: &TokenMove, all: &[TokenMove]) -> Option<Transfer> {
        let (source, destination) = (self.0.get(&moved.source)?, self.0.get(&moved.destination)?);
        if source.mint != destination.mint || moved.source == moved.destination {
            return None;
        }
        let to_it = all.iter().filter(|it| it.destination == moved.destination);
        let amounts: Vec<u64> = to_it.map(|it| it.amount).collect();
        let sum = amounts.iter().map(|it| u128::from(*it)).sum::<u128>();
        let amount = match (sum <= u128::from(destination.received), amounts.len()) {
            (true, _) => moved.amount,
            // a fee of Token-2022 stays behind: what arrived was paid
            (false, 1) if destination.received > 0 => destination.received,
            (false, _) => return None,
        };
        Some(Transfer {
            asset: source.mint.to_string(),
            from: source.payer.to_string(),
            to: destination.payee?.to_string(),
            amount: word::from_u64(amount),
        })
    }
}

impl TokenHolder {
    /// Reads a token account's data; `None` for an account of another program or form.
    #[must_use]
    pub fn read(program: &Address, data: &[u8]) -> Option<Self> {
        let TokenAccount { mint, owner, .. } = TokenAccount::read(program, data)?;
        Some(Self { mint, owner })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use concord_registry::svm::programs::TOKEN_2022;

    /// Whoever pays can close the account that they paid to, and open a multisig at its address: m, n, initialized, then 11
    /// keys of their choice, which spell the rest.
    #[test]
    fn r27_a_multisig_that_spells_the_payees_account_is_not_paid() {
        let (source, destination) = (Address::from([5; 32]), Address::from([6; 32]));
        let mut mint = [7; 32];
        mint[..3].copy_from_slice(&[1, 11, 1]);
        let account = |owner: u8| {
            let head = [&mint[..], &[owner; 32], &[0; 44], &[1], &[0; 56]].concat();
            TokenHolder::read(&TOKEN_2022, &head).expect("a token account")
        };
        let spelled = [
            &mint[..],
            &[9; 32],
            &[0; 44],
            &[1],
            &[0; 56],
            &[2],
            &[0; 189],
        ]
        .concat();
        assert_eq!(spelled.len(), 355);
        let read = TokenHolder::read(&TOKEN_2022, &spelled);
        let payer = (source, account(8));
        let moved = [TokenMove {
            source,
            destination,
            amount: 3,
        }];
        let paid = |holder| TokenChanges::now([payer, (destination, holder)]).transfers(&moved);
        assert_eq!(paid(account(9)).len(), 1);
        assert_eq!(read.map(paid), None);
    }
}
