use super::HexBytes;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

/// What was read of a Solana cluster. Signatures in it prove who signed; nothing proves what the cluster did.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SvmChain {
    /// Transactions by their first signature, in base58.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub transactions: BTreeMap<String, SvmTransaction>,
    /// Accounts by their address, in base58.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub accounts: BTreeMap<String, SvmAccount>,
}

/// A transaction as a node answers it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SvmTransaction {
    /// Its slot.
    pub slot: u64,
    /// Its place among the transactions of its slot, from 0. `None`: it was not asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<u64>,
    /// Unix seconds.
    pub block_time: Option<i64>,
    /// JSON's `null`: it succeeded.
    pub err: Value,
    /// Signatures and message.
    pub raw: HexBytes,
    /// The calls that its instructions made.
    pub inner: Vec<SvmInner>,
    /// What it loaded from lookup tables.
    #[serde(default)]
    pub loaded: SvmLoaded,
    /// What the runtime logged.
    pub logs: Vec<String>,
    /// Its token accounts, as the node recorded them with the transaction. `None`: the node recorded none, and they
    /// are read as accounts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub holders: Option<SvmHolders>,
}

/// The token accounts of a transaction at its ends.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SvmHolders {
    /// Before it.
    pub before: Vec<SvmHolder>,
    /// After it.
    pub after: Vec<SvmHolder>,
}

/// Whose a token account of a transaction is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SvmHolder {
    /// Index of the token account into the transaction's accounts.
    pub account: u8,
    /// The token's mint, in base58.
    pub mint: String,
    /// Who may spend from it, in base58.
    pub owner: String,
    /// What it holds, in the token's smallest unit, in decimal.
    pub amount: String,
}

/// The addresses that a transaction loaded from lookup tables.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SvmLoaded {
    /// Writable ones.
    pub writable: Vec<String>,
    /// Others.
    pub readonly: Vec<String>,
}

/// The calls that one instruction made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SvmInner {
    /// The instruction's, from 0.
    pub index: u8,
    /// In their order, at whatever depth.
    pub calls: Vec<SvmCall>,
}

/// One call, by indices into the transaction's accounts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SvmCall {
    /// The program.
    pub program: u8,
    /// Its accounts.
    pub accounts: Vec<u8>,
    /// Its data.
    pub data: HexBytes,
}

/// An account, or that there is none.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SvmAccount {
    /// The slot in which the account was read.
    pub slot: u64,
    /// The owning program, in base58; `None` if there is no such account.
    pub owner: Option<String>,
    /// Its data.
    pub data: HexBytes,
}
