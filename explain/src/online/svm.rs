use super::OnlineError;
use crate::{
    Piece, SvmAccount, SvmCall, SvmHolder, SvmHolders, SvmInner, SvmLoaded, SvmTransaction,
};
use base64::{Engine, engine::general_purpose::STANDARD as BASE64};
use concord_chain::{
    ChainId,
    svm::{Cluster, ExecutedTx, InnerInstructions, TokenBalance},
};
use concord_registry::svm::Address;

/// Reads a Solana cluster. What it says is what its node says.
pub struct SvmReader {
    chain: String,
    cluster: Cluster,
}

impl SvmReader {
    /// A reader of a cluster.
    ///
    /// # Errors
    /// The node is not one of this chain, or does not answer.
    pub async fn new(cluster: Cluster, chain: &ChainId) -> Result<Self, OnlineError> {
        cluster.require_chain(chain).await?; // R9
        Ok(Self {
            chain: chain.to_string(),
            cluster,
        })
    }

    /// The chain, CAIP-2.
    #[must_use]
    pub fn chain(&self) -> &str {
        &self.chain
    }

    pub(super) const fn cluster(&self) -> &Cluster {
        &self.cluster
    }

    pub(super) fn missing(&self, what: String) -> OnlineError {
        OnlineError::Missing {
            host: self.cluster.endpoint().host().to_owned(),
            what,
        }
    }

    pub(super) async fn executed(&self, signature: &str) -> Result<SvmTransaction, OnlineError> {
        let missing = || self.missing(format!("transaction {signature}"));
        let found = self.cluster.transaction(signature).await?;
        read(found.ok_or_else(missing)?).ok_or_else(missing)
    }

    pub(super) async fn transaction(&self, signature: &str) -> Result<Vec<Piece>, OnlineError> {
        Ok(vec![Piece::SvmTransaction {
            chain: self.chain.clone(),
            signature: signature.to_owned(),
            transaction: self.executed(signature).await?,
        }])
    }

    /// Where a transaction is in its slot.
    pub(super) async fn place(&self, signature: &str) -> Result<Vec<Piece>, OnlineError> {
        let slot = self.executed(signature).await?.slot;
        let carried_out = self.cluster.signatures_in(slot).await?;
        let place = carried_out.iter().position(|it| it == signature);
        let missing = || self.missing(format!("transaction {signature} in slot {slot}"));
        Ok(vec![Piece::SvmPlace {
            chain: self.chain.clone(),
            signature: signature.to_owned(),
            place: place.ok_or_else(missing)? as u64,
        }])
    }

    pub(super) async fn account(&self, address: &str) -> Result<Vec<Piece>, OnlineError> {
        let wanted: Address = address
            .parse()
            .map_err(|_| OnlineError::NotOfChain(address.to_owned()))?;
        let (slot, found) = self.cluster.accounts_in_slot(&[wanted], None).await?;
        let found = found.into_iter().next().flatten();
        let (owner, data) = match found {
            Some(it) => (Some(it.owner.to_string()), it.data),
            None => (None, Vec::new()),
        };
        Ok(vec![Piece::SvmAccount {
            chain: self.chain.clone(),
            address: address.to_owned(),
            account: SvmAccount {
                slot,
                owner,
                data: data.into(),
            },
        }])
    }
}

/// `None` if the node left a part out.
fn read(found: ExecutedTx) -> Option<SvmTransaction> {
    let raw = BASE64.decode(found.transaction?.0).ok()?;
    let inner = found.meta.inner_instructions?;
    let loaded = found.meta.loaded_addresses.unwrap_or_default();
    Some(SvmTransaction {
        slot: found.slot,
        place: None,
        block_time: found.block_time,
        err: found.meta.err,
        raw: raw.into(),
        inner: inner.into_iter().map(calls).collect::<Option<_>>()?,
        loaded: SvmLoaded {
            writable: loaded.writable,
            readonly: loaded.readonly,
        },
        logs: found.meta.log_messages?,
        holders: holders(
            found.meta.pre_token_balances,
            found.meta.post_token_balances,
        )?,
    })
}

/// `None` if the node recorded one end only.
fn holders(
    before: Option<Vec<TokenBalance>>,
    after: Option<Vec<TokenBalance>>,
) -> Option<Option<SvmHolders>> {
    match (before, after) {
        (Some(before), Some(after)) => Some(Some(SvmHolders {
            before: before.into_iter().filter_map(holder).collect(),
            after: after.into_iter().filter_map(holder).collect(),
        })),
        (None, None) => Some(None),
        _ => None,
    }
}

fn holder(balance: TokenBalance) -> Option<SvmHolder> {
    Some(SvmHolder {
        account: balance.account_index,
        mint: balance.mint,
        owner: balance.owner?,
        amount: balance.ui_token_amount.amount,
    })
}

fn calls(of: InnerInstructions) -> Option<SvmInner> {
    let made = of.instructions.into_iter().map(|it| {
        Some(SvmCall {
            program: it.program_id_index,
            accounts: it.accounts,
            data: bs58::decode(it.data).into_vec().ok()?.into(),
        })
    });
    Some(SvmInner {
        index: of.index,
        calls: made.collect::<Option<_>>()?,
    })
}
