use super::{Evidence, Gap};
use crate::{Need, SvmAccount, SvmChain, SvmTransaction};
use concord_canonical::sign::ed25519_verify;
use concord_registry::{
    event::Block,
    svm::{
        Address,
        events::{Call, TopLevel, Transaction},
    },
};
use solana_transaction::versioned::VersionedTransaction;

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
    /// Unix seconds.
    pub time: Option<i64>,
    pub succeeded: bool,
    /// Its accounts: the message's own, then those of lookup tables.
    pub keys: Vec<Address>,
    pub signed: VersionedTransaction,
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

    /// An account as it was read.
    pub(crate) fn account(&self, address: &Address) -> Result<&'a SvmAccount, Gap> {
        let address = address.to_string();
        let found = self.data.and_then(|it| it.accounts.get(&address));
        found.ok_or_else(|| {
            self.evidence.missing(Need::SvmAccount {
                chain: self.chain.to_owned(),
                address,
            })
        })
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
        Ok(SvmExecuted {
            slot: found.slot,
            time: found.block_time,
            succeeded: found.err.is_null(),
            transaction: transaction
                .ok_or_else(|| Gap::broken("the calls of the transaction contradict it"))?,
            keys,
            signed,
        })
    }
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
