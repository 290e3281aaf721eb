use super::{HexBytes, HexHash};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What was read of an EVM chain. Everything else about it is computed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct EvmChain {
    /// The block hash to which all headers lead. Whoever trusts it need not trust the bundle.
    pub anchor: HexHash,
    /// Headers as RLP, by the hash that they should have.
    pub headers: BTreeMap<HexHash, HexBytes>,
    /// Transactions by the hash that they should have.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub transactions: BTreeMap<HexHash, EvmTransaction>,
    /// Accounts, each at one block.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub accounts: Vec<EvmAccount>,
    /// Code by the hash that it should have.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub codes: BTreeMap<HexHash, HexBytes>,
}

/// A transaction and its receipt, and where they are in their block's tries.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct EvmTransaction {
    /// The block's hash.
    pub block: HexHash,
    /// Its place in the block, from 0.
    pub index: u64,
    /// As in the transactions trie (EIP-2718).
    pub raw: HexBytes,
    /// The nodes from the header's `transactionsRoot` to it.
    pub proof: Vec<HexBytes>,
    /// As in the receipts trie (EIP-2718).
    pub receipt: HexBytes,
    /// The nodes from the header's `receiptsRoot` to it.
    pub receipt_proof: Vec<HexBytes>,
}

/// An account after a block, as `eth_getProof` (EIP-1186) gives it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct EvmAccount {
    /// The block's hash.
    pub block: HexHash,
    /// 20 bytes.
    pub address: HexBytes,
    /// The nonce.
    pub nonce: u64,
    /// Wei, big-endian without leading zeros.
    pub balance: HexBytes,
    /// The root of its storage.
    pub storage_hash: HexHash,
    /// keccak256 of its code.
    pub code_hash: HexHash,
    /// The nodes from the header's `stateRoot` to it, or to where it would be.
    pub proof: Vec<HexBytes>,
    /// Some of its slots.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub slots: BTreeMap<HexHash, EvmSlot>,
}

/// A slot's word.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EvmSlot {
    /// The word.
    pub value: HexHash,
    /// The nodes from the account's `storageHash` to it, or to where it would be.
    pub proof: Vec<HexBytes>,
}
