use super::{Evidence, Gap};
use crate::{Need, SvmAccount, SvmChain, SvmHolder, SvmHolders, SvmTransaction};
use concord_canonical::sign::ed25519_verify;
use concord_registry::{
    event::Block,
    svm::{
        Address,
        events::{Call, TopLevel, Transaction},
    },
};
use concord_x402::verify::{Payment, TokenBalance, TokenChanges, TokenHolder, TokenMove};
use solana_transaction::versioned::VersionedTransaction;
use std::collections::BTreeSet;

/// One Solana cluster of a bundle.
#[derive(Clone, Copy)]
pub(crate) struct SvmView<'a> {
    evidence: &'a Evidence<'a>,
    chain: &'a str,
    data: Option<&'a SvmChain>,
}

/// A transaction that its signers signed, and what the node says it did.
#[derive(Clone, Debug)]
pub(crate) struct SvmExecuted {
    pub slot: u64,
    /// Its place in the slot, if the node was asked.
    pub place: Option<u64>,
    /// Unix seconds.
    pub time: Option<i64>,
    pub succeeded: bool,
    /// Its accounts: the message's own, then those of lookup tables.
    pub keys: Vec<Address>,
    pub signed: VersionedTransaction,
    /// What it did to its token accounts, if the node recorded it.
    changes: Option<TokenChanges>,
    /// As the registry's decoder reads it.
    pub transaction: Transaction,
}

impl<'a> SvmView<'a> {
    pub(super) fn new(evidence: &'a Evidence<'a>, chain: &'a str) -> Self {
        let data = evidence.bundle.svm.get(chain);
        Self {
            evidence,
            chain,
            data,
        }
    }

    /// A transaction by its first signature. Every signature in it must hold.
    pub(crate) fn transaction(&self, signature: &str) -> Result<SvmExecuted, Gap> {
        let found = self.data.and_then(|it| it.transactions.get(signature));
        let found = found.ok_or_else(|| {
            self.evidence.missing(Need::Transaction {
                chain: self.chain.to_owned(),
                id: signature.to_owned(),
            })
        })?;
        SvmExecuted::read(signature, found)
    }

    /// A transaction's transfers of SPL Token and Token-2022. The payer's signature over its instructions is checked; that it was
    /// executed, what programs called, and whose the token accounts are, is the node's word. From a file it is anybody's, and believed
    /// in nothing (R36).
    pub(crate) fn payment(&self, signature: &str) -> Result<Payment, Gap> {
        let executed = self.transaction(signature)?;
        let transaction = Need::Transaction {
            chain: self.chain.to_owned(),
            id: signature.to_owned(),
        };
        self.require_read_here(&transaction)?;
        let time = executed.time.and_then(|it| it.try_into().ok());
        let moves = executed.token_moves();
        let changes = match &executed.changes {
            Some(recorded) => recorded.clone(),
            None => TokenChanges::now(self.holders_now(&moves)?),
        };
        Ok(Payment {
            succeeded: executed.succeeded,
            block: Some(executed.slot),
            time: time.ok_or_else(|| Gap::cannot_check("the node has no time of the slot"))?,
            transfers: changes.transfers(&moves),
        })
    }

    /// Whose the token accounts of some transfers are now.
    fn holders_now(&self, moves: &[TokenMove]) -> Result<Vec<(Address, TokenHolder)>, Gap> {
        let ends = moves.iter().flat_map(|it| [it.source, it.destination]);
        let wanted: BTreeSet<_> = ends.collect();
        // every account is asked for before any is missed, so that a reader fetches them at once
        let found = wanted.iter().map(|it| (*it, self.account(it)));
        let mut holders = Vec::new();
        for (address, account) in found.collect::<Vec<_>>() {
            let account = account?;
            self.require_account_read_here(&address)?;
            let program = account.owner.as_ref().and_then(|it| it.parse().ok());
            let holder = program.and_then(|it| TokenHolder::read(&it, &account.data.0));
            holders.extend(holder.map(|it| (address, it)));
        }
        Ok(holders)
    }

    /// An account as it was read.
    pub(crate) fn account(&self, address: &Address) -> Result<&'a SvmAccount, Gap> {
        let found = self
            .data
            .and_then(|it| it.accounts.get(&address.to_string()));
        found.ok_or_else(|| self.evidence.missing(self.account_need(address)))
    }

    /// Requires that the reader's own node answered the account in this run.
    pub(crate) fn require_account_read_here(&self, address: &Address) -> Result<(), Gap> {
        self.require_read_here(&self.account_need(address))
    }

    fn account_need(&self, address: &Address) -> Need {
        Need::SvmAccount {
            chain: self.chain.to_owned(),
            address: address.to_string(),
        }
    }

    /// Requires that the reader's own node answered it in this run.
    fn require_read_here(&self, need: &Need) -> Result<(), Gap> {
        if self.evidence.bundle.read_here.contains(need) {
            Ok(())
        } else {
            Err(Gap::CannotCheck(format!(
                "nothing in a file proves what a cluster carried out; explain it again with --rpc {}=URL",
                self.chain
            )))
        }
    }
}

impl SvmExecuted {
    /// A transaction with this first signature. Every signature in it must hold.
    pub(crate) fn read(signature: &str, found: &SvmTransaction) -> Result<Self, Gap> {
        let signed: VersionedTransaction = wincode::deserialize_exact(&found.raw.0)
            .map_err(|_| Gap::broken("the transaction is not readable"))?;
        require_signatures(signature, &signed)?;
        let keys =
            keys(&signed, found).ok_or_else(|| Gap::broken("a loaded address is not readable"))?;
        let transaction = placed(signature, found, &signed, &keys);
        let changes = found.holders.as_ref().map(|it| changes(it, &keys));
        Ok(SvmExecuted {
            slot: found.slot,
            place: found.place,
            time: found.block_time,
            succeeded: found.err.is_null(),
            transaction: transaction
                .ok_or_else(|| Gap::broken("the calls of the transaction contradict it"))?,
            changes: changes.transpose()?,
            keys,
            signed,
        })
    }

    /// Its own instructions that move tokens, then those that programs called.
    fn token_moves(&self) -> Vec<TokenMove> {
        let own = self.signed.message.instructions().iter();
        let own = own.filter_map(|it| {
            Call::resolve(
                &self.keys,
                it.program_id_index,
                &it.accounts,
                it.data.clone(),
            )
        });
        let inner = self
            .transaction
            .instructions
            .iter()
            .flat_map(|it| it.calls.clone());
        own.chain(inner)
            .filter_map(|it| TokenMove::read(&it))
            .collect()
    }
}

fn changes(found: &SvmHolders, keys: &[Address]) -> Result<TokenChanges, Gap> {
    let read = |of: &[SvmHolder]| {
        let balances: Option<Vec<_>> = of.iter().map(|it| balance(it, keys)).collect();
        balances.ok_or_else(|| Gap::broken("a token account's balance is not readable"))
    };
    let (before, after) = (read(&found.before)?, read(&found.after)?);
    Ok(TokenChanges::recorded(&before, &after))
}

fn balance(found: &SvmHolder, keys: &[Address]) -> Option<TokenBalance> {
    let (mint, owner) = (found.mint.parse().ok()?, found.owner.parse().ok()?);
    Some(TokenBalance {
        account: *keys.get(usize::from(found.account))?,
        holder: TokenHolder { mint, owner },
        amount: found.amount.parse().ok()?,
    })
}

/// The first signature names the transaction; each is over the message, by the account at its place.
fn require_signatures(name: &str, signed: &VersionedTransaction) -> Result<(), Gap> {
    let first = signed.signatures.first().map(ToString::to_string);
    if first.as_deref() != Some(name) {
        return Err(Gap::broken(
            "the transaction's first signature is not its name",
        ));
    }
    let message = signed.message.serialize();
    let required = usize::from(signed.message.header().num_required_signatures);
    let keys = signed.message.static_account_keys();
    if signed.signatures.len() != required || keys.len() < required {
        return Err(Gap::broken(
            "the transaction does not have the signatures that its message requires",
        ));
    }
    for (key, signature) in keys.iter().zip(&signed.signatures) {
        let holds = ed25519_verify(key.as_ref(), &message, signature.as_ref());
        holds.map_err(|error| Gap::Broken(format!("the signature of {key}: {error}")))?;
    }
    Ok(())
}

fn keys(signed: &VersionedTransaction, found: &SvmTransaction) -> Option<Vec<Address>> {
    let mut keys = signed.message.static_account_keys().to_vec();
    for text in found.loaded.writable.iter().chain(&found.loaded.readonly) {
        keys.push(text.parse().ok()?);
    }
    Some(keys)
}

fn placed(
    signature: &str,
    found: &SvmTransaction,
    signed: &VersionedTransaction,
    keys: &[Address],
) -> Option<Transaction> {
    let own = signed.message.instructions().iter();
    let mut instructions: Vec<TopLevel> = own
        .map(|it| {
            Some(TopLevel {
                program: *keys.get(usize::from(it.program_id_index))?,
                calls: Vec::new(),
            })
        })
        .collect::<Option<_>>()?;
    for inner in &found.inner {
        let top = instructions.get_mut(usize::from(inner.index))?;
        for call in &inner.calls {
            let data = call.data.0.clone();
            top.calls
                .push(Call::resolve(keys, call.program, &call.accounts, data)?);
        }
    }
    Some(Transaction {
        signature: bs58::decode(signature).into_vec().ok()?.try_into().ok()?,
        block: Block {
            number: found.slot,
            hash: None,
        },
        instructions,
        logs: found.logs.clone(),
    })
}
