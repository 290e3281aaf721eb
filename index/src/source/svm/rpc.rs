//! What is asked of a cluster.
use super::{ReadAt, SKIPPED_AT_MOST, SvmSource};
use crate::{SourceError, batch::Header};
use concord_chain::Refusable;
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::{Value, json};
use std::collections::{BTreeMap, HashSet};

/// What one page of signatures has at most.
const PAGE: usize = 1_000;
/// Solana's codes for a slot without a block.
const SKIPPED: [i64; 2] = [-32_007, -32_009];

/// The commitment of what is never undone.
pub(super) const FINALIZED: &str = "finalized";

/// A block.
pub(super) struct Block {
    pub header: Header,
    /// The slot of the block before.
    pub parent_slot: u64,
    /// In order, if they were asked for.
    pub signatures: Vec<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct BlockJson {
    blockhash: String,
    previous_blockhash: String,
    parent_slot: u64,
    block_time: Option<i64>,
    #[serde(default)]
    signatures: Vec<String>,
}

#[derive(Deserialize)]
struct SignatureJson {
    signature: String,
    slot: u64,
    /// JSON's `null`: it succeeded.
    err: Value,
}

impl SvmSource {
    pub(super) const fn commitment(&self) -> &'static str {
        match self.read_at {
            ReadAt::Confirmed => "confirmed",
            ReadAt::Finalized => FINALIZED,
        }
    }

    pub(super) async fn ask<T: DeserializeOwned>(
        &self,
        method: &'static str,
        params: Value,
    ) -> Result<Refusable<T>, SourceError> {
        let answer = self.cluster.endpoint().request(method, params).await?;
        let answer: Value = match answer {
            Ok(answer) => answer,
            Err(no) => return Ok(Err(no)),
        };
        let read = serde_json::from_value(answer);
        read.map(Ok)
            .map_err(|error| self.inconsistent(0, format!("{method}: {error}")))
    }

    pub(super) async fn expect<T: DeserializeOwned>(
        &self,
        method: &'static str,
        params: Value,
    ) -> Result<T, SourceError> {
        let answer = self.ask(method, params).await?;
        answer.map_err(|no| self.inconsistent(0, format!("{method}: {}", no.message)))
    }

    /// The newest slot of a commitment.
    pub(super) async fn slot(&self, commitment: &str) -> Result<u64, SourceError> {
        let params = json!([{ "commitment": commitment }]);
        self.expect("getSlot", params).await
    }

    /// `None` for a slot without a block.
    pub(super) async fn block(
        &self,
        slot: u64,
        with_signatures: bool,
    ) -> Result<Option<Block>, SourceError> {
        let params = json!([slot, {
            "commitment": self.commitment(),
            "transactionDetails": if with_signatures { "signatures" } else { "none" },
            "rewards": false,
            "maxSupportedTransactionVersion": 0,
        }]);
        let block: BlockJson = match self.ask("getBlock", params).await? {
            Ok(Some(block)) => block,
            Ok(None) => return Ok(None),
            Err(no) if SKIPPED.contains(&no.code) => return Ok(None),
            Err(no) => return Err(self.inconsistent(slot, no.message)),
        };
        let hash = |text: &str| -> Result<[u8; 32], SourceError> {
            let bytes = bs58::decode(text).into_vec().ok();
            let hash = bytes.and_then(|bytes| bytes.try_into().ok());
            hash.ok_or_else(|| self.inconsistent(slot, "its hash is not base58"))
        };
        Ok(Some(Block {
            header: Header {
                number: slot,
                hash: hash(&block.blockhash)?,
                parent: hash(&block.previous_blockhash)?,
                time: block.block_time.unwrap_or_default(),
            },
            parent_slot: block.parent_slot,
            signatures: block.signatures,
        }))
    }

    /// Whether the chain has no block in a slot: the next one follows one before it. A node that jumped to a snapshot answers
    /// for a slot that it does not know as for a skipped one.
    pub(super) async fn is_skipped(&self, slot: u64) -> Result<bool, SourceError> {
        for later in slot.saturating_add(1)..=slot.saturating_add(SKIPPED_AT_MOST) {
            if let Some(block) = self.block(later, false).await? {
                return Ok(block.parent_slot < slot);
            }
        }
        Ok(false)
    }

    /// R46: the node has everything from a slot on. One that dropped its first transactions lists the others as if they were
    /// all. From slot 0 on is wanted what the node has.
    pub(super) async fn require_kept_from(&self, slot: u64) -> Result<(), SourceError> {
        if slot == 0 {
            return Ok(());
        }
        let first = self.cluster.first_kept_slot().await?;
        if first <= slot {
            Ok(())
        } else {
            Err(SourceError::Forgotten {
                host: self.cluster.endpoint().host().to_owned(),
                first,
                from: slot,
            })
        }
    }

    /// The successful transactions of the program in these slots.
    pub(super) async fn signatures(
        &self,
        from: u64,
        to: u64,
        commitment: &str,
    ) -> Result<BTreeMap<u64, Vec<String>>, SourceError> {
        let mut found: BTreeMap<u64, Vec<String>> = BTreeMap::new();
        let mut before: Option<String> = None;
        let mut asked: HashSet<String> = HashSet::new();
        loop {
            let page = self.page(before.as_deref(), to, commitment).await?;
            let oldest = page.last().map(|it| (it.slot, it.signature.clone()));
            for it in page {
                if it.err.is_null() && (from..=to).contains(&it.slot) {
                    let of_slot = found.entry(it.slot).or_default();
                    if !of_slot.contains(&it.signature) {
                        of_slot.push(it.signature);
                    }
                }
            }
            match oldest {
                Some((slot, name)) if slot >= from => {
                    if !asked.insert(name.clone()) {
                        return Err(self.inconsistent(slot, "a page of signatures was given twice"));
                    }
                    before = Some(name);
                }
                _ => return Ok(found),
            }
        }
    }

    /// The signatures before one. A short page is not the last one, since endpoints have limits of their own: an empty one
    /// is, and is asked for twice.
    async fn page(
        &self,
        before: Option<&str>,
        to: u64,
        commitment: &str,
    ) -> Result<Vec<SignatureJson>, SourceError> {
        const METHOD: &str = "getSignaturesForAddress";
        let authority = self.program.event_authority().to_string();
        // a node that has not got so far would leave out what it has not seen
        let mut config = json!({ "commitment": commitment, "limit": PAGE, "minContextSlot": to });
        if let Some(before) = before {
            config["before"] = json!(before);
        }
        let params = json!([authority, config]);
        let page: Vec<SignatureJson> = self.expect(METHOD, params.clone()).await?;
        if page.is_empty() {
            self.expect(METHOD, params).await
        } else {
            Ok(page)
        }
    }
}
