//! What a cluster remembers: an account's transactions, and accounts that were read in one slot.
use super::{
    Account, Cluster, Commitment, ExecutedTx,
    cluster::{AccountJson, CONFIRMED},
};
use crate::ChainError;
use base64::{Engine, engine::general_purpose::STANDARD as BASE64};
use concord_registry::{
    event::Block,
    svm::events::{Call, TopLevel, Transaction},
};
use serde::Deserialize;
use serde_json::{Value, json};
use solana_address::Address;
use solana_transaction::versioned::VersionedTransaction;

/// A transaction that names an account.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SignatureEntry {
    /// The transaction's name, in base58.
    pub signature: String,
    /// Where it was executed.
    pub slot: u64,
    /// JSON's `null`: it succeeded.
    pub err: Value,
    /// The memos of the transaction, if the node keeps them.
    #[serde(default)]
    pub memo: Option<String>,
    /// How far the cluster has agreed on it. `None`: the node does not say.
    #[serde(default)]
    pub confirmation_status: Option<Commitment>,
}

/// A token account that a transaction named.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TokenBalance {
    /// Into the transaction's accounts.
    pub account_index: u8,
    /// The token's mint, in base58.
    pub mint: String,
    /// Who may spend from it, in base58. `None`: the node does not say.
    #[serde(default)]
    pub owner: Option<String>,
    /// How much it holds.
    pub ui_token_amount: TokenAmount,
}

/// What a token account holds.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct TokenAmount {
    /// In the token's smallest unit, in decimal.
    pub amount: String,
}

/// The accounts that a transaction loaded through lookup tables.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct LoadedAddresses {
    /// Those that may be written to, in base58.
    pub writable: Vec<String>,
    /// The others, in base58.
    pub readonly: Vec<String>,
}

impl ExecutedTx {
    /// Decodes the transaction; `None` if the node's answer has none.
    #[must_use]
    pub fn decode(&self) -> Option<VersionedTransaction> {
        let bytes = BASE64.decode(&self.transaction.as_ref()?.0).ok()?;
        wincode::deserialize_exact(&bytes).ok()
    }

    /// Returns the accounts that instructions count: those of the message, then those of lookup tables.
    #[must_use]
    pub fn account_keys(&self, transaction: &VersionedTransaction) -> Vec<Address> {
        let mut keys = transaction.message.static_account_keys().to_vec();
        let loaded = self.meta.loaded_addresses.iter();
        let loaded = loaded.flat_map(|it| it.writable.iter().chain(&it.readonly));
        keys.extend(loaded.filter_map(|it| it.parse::<Address>().ok()));
        keys
    }

    /// Returns what a program's events are decoded from; `None` if the transaction failed, the node does not record the calls of
    /// programs, or the parts contradict each other.
    #[must_use]
    pub fn program_calls(&self) -> Option<Transaction> {
        if !self.meta.err.is_null() {
            return None;
        }
        let sent = self.decode()?;
        let keys = self.account_keys(&sent);
        let mut instructions = Vec::new();
        for instruction in sent.message.instructions() {
            instructions.push(TopLevel {
                program: *keys.get(usize::from(instruction.program_id_index))?,
                calls: Vec::new(),
            });
        }
        for list in self.meta.inner_instructions.as_ref()? {
            let top = instructions.get_mut(usize::from(list.index))?;
            for call in &list.instructions {
                let data = bs58::decode(&call.data).into_vec().ok()?;
                let (program, accounts) = (call.program_id_index, &call.accounts);
                top.calls
                    .push(Call::resolve(&keys, program, accounts, data)?);
            }
        }
        Some(Transaction {
            signature: (*sent.signatures.first()?).into(),
            block: Block {
                number: self.slot,
                hash: None,
            },
            instructions,
            logs: self.meta.log_messages.clone().unwrap_or_default(),
        })
    }
}

/// The newest block that can no longer be undone, as one node knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FinalBlock {
    /// Its slot.
    #[serde(rename = "absoluteSlot")]
    pub slot: u64,
    /// How many blocks are before it.
    pub block_height: u64,
}

/// A block that a node still has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct KeptBlock {
    /// How many blocks are before it.
    pub block_height: u64,
    /// When it was made, in unix seconds, if the node knows.
    pub block_time: Option<i64>,
}

impl Cluster {
    /// Returns accounts in the order asked for, at most 100, and the slot in which all of them were read.
    /// With `since`, no earlier slot.
    ///
    /// # Errors
    /// [`ChainError::Unreachable`], also if the node has not reached the slot.
    pub async fn accounts_in_slot(
        &self,
        addresses: &[Address],
        since: Option<u64>,
    ) -> Result<(u64, Vec<Option<Account>>), ChainError> {
        #[derive(Deserialize)]
        struct InSlot {
            context: Context,
            value: Vec<Option<AccountJson>>,
        }
        #[derive(Deserialize)]
        struct Context {
            slot: u64,
        }
        const METHOD: &str = "getMultipleAccounts";
        let names: Vec<String> = addresses.iter().map(ToString::to_string).collect();
        let mut config = json!({ "encoding": "base64", "commitment": CONFIRMED });
        if let Some(slot) = since {
            config["minContextSlot"] = slot.into();
        }
        let found: InSlot = self.expect(METHOD, json!([names, config])).await?;
        self.require_as_many(METHOD, addresses.len(), found.value.len())?;
        let accounts = found.value.into_iter();
        let accounts: Result<_, ChainError> = accounts
            .map(|account| account.map(|it| self.account_of(METHOD, it)).transpose())
            .collect();
        Ok((found.context.slot, accounts?))
    }

    /// Returns the newest block that can no longer be undone: slot and height are of one answer, for behind one
    /// endpoint may be several nodes.
    ///
    /// # Errors
    /// [`ChainError::Unreachable`].
    pub async fn final_block(&self) -> Result<FinalBlock, ChainError> {
        let config = json!({ "commitment": "finalized" });
        self.expect("getEpochInfo", json!([config])).await
    }

    /// Returns an account's confirmed transactions, the newest first, at most 1,000; with `before`, those
    /// before that one. With `reached`, from a node that has reached this slot.
    ///
    /// # Errors
    /// [`ChainError::Unreachable`], also if the node has not reached the slot.
    pub async fn signatures(
        &self,
        address: &Address,
        before: Option<&str>,
        reached: Option<u64>,
    ) -> Result<Vec<SignatureEntry>, ChainError> {
        let mut config = json!({ "commitment": CONFIRMED });
        if let Some(signature) = before {
            config["before"] = signature.into();
        }
        if let Some(slot) = reached {
            config["minContextSlot"] = slot.into();
        }
        let params = json!([address.to_string(), config]);
        self.expect("getSignaturesForAddress", params).await
    }

    /// Returns the first signatures of a slot's transactions, in the order in which they were carried out.
    ///
    /// # Errors
    /// [`ChainError::Unreachable`], also if the node has dropped the slot.
    pub async fn signatures_in(&self, slot: u64) -> Result<Vec<String>, ChainError> {
        #[derive(Deserialize)]
        struct CarriedOut {
            signatures: Vec<String>,
        }
        let config = json!({
            "commitment": CONFIRMED,
            "transactionDetails": "signatures",
            "rewards": false,
            "maxSupportedTransactionVersion": 0,
        });
        let block: CarriedOut = self.expect("getBlock", json!([slot, config])).await?;
        Ok(block.signatures)
    }

    /// Requires that the node has written down the transactions of a final block: nodes do so after they have
    /// carried the block out, and list no transaction before.
    ///
    /// # Errors
    /// [`ChainError::Unreachable`], also if it has not.
    pub async fn require_history_until(&self, slot: u64) -> Result<(), ChainError> {
        self.kept_block(slot).await.map(drop)
    }

    /// Returns the first slot whose transactions the node still has.
    ///
    /// # Errors
    /// [`ChainError::Unreachable`].
    pub async fn first_kept_slot(&self) -> Result<u64, ChainError> {
        self.expect("getFirstAvailableBlock", json!([])).await
    }

    /// Returns the first block whose transactions the node still has.
    ///
    /// # Errors
    /// [`ChainError::Unreachable`].
    pub async fn first_kept_block(&self) -> Result<KeptBlock, ChainError> {
        let slot = self.first_kept_slot().await?;
        self.kept_block(slot).await
    }

    async fn kept_block(&self, slot: u64) -> Result<KeptBlock, ChainError> {
        let config = json!({
            "commitment": CONFIRMED,
            "transactionDetails": "none",
            "rewards": false,
            "maxSupportedTransactionVersion": 0,
        });
        self.expect("getBlock", json!([slot, config])).await
    }

    /// Refuses a node that has dropped blocks since this time, in unix seconds: what it does not have may be in them (R36).
    ///
    /// # Errors
    /// [`ChainError::Unreachable`].
    pub async fn require_kept_since(&self, time: u64) -> Result<(), ChainError> {
        let first = self.first_kept_block().await?;
        let from = first.block_time.and_then(|it| u64::try_from(it).ok());
        match from {
            Some(from) if from <= time => Ok(()),
            _ => {
                let from = from.map_or("an unknown time".to_owned(), |it| it.to_string());
                let reason = format!("it has transactions from {from} on, wanted from {time}");
                Err(self.endpoint().unreachable("getTransaction", reason))
            }
        }
    }
}
