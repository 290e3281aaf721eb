use super::{HexBytes, HexHash};
use core::fmt;
use serde::{Deserialize, Serialize};

/// Something that a step asks of a bundle. A reader fetches it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(
    rename_all = "camelCase",
    rename_all_fields = "camelCase",
    deny_unknown_fields
)]
pub enum Need {
    /// E: the header with this hash.
    Header {
        /// CAIP-2.
        chain: String,
        /// The hash.
        hash: HexHash,
    },
    /// E: a transaction and its receipt, with their proofs and their block's header. S: a transaction.
    Transaction {
        /// CAIP-2.
        chain: String,
        /// Its hash, or its first signature.
        id: String,
    },
    /// E: an account after a block, and some of its slots.
    Account {
        /// CAIP-2.
        chain: String,
        /// The block's hash.
        block: HexHash,
        /// `0x` and 40 hex digits.
        address: String,
        /// A slot; `None` for the account alone.
        slot: Option<HexHash>,
    },
    /// E: the code with this hash.
    Code {
        /// CAIP-2.
        chain: String,
        /// An account that has it.
        address: String,
        /// keccak256 of it.
        hash: HexHash,
    },
    /// E: the hash of the block with this number, with what leads from the anchor to it.
    BlockHash {
        /// CAIP-2.
        chain: String,
        /// The number.
        number: u64,
    },
    /// E: whether a contract accepts a signature (ERC-1271), after a block.
    Judgement {
        /// CAIP-2.
        chain: String,
        /// The block's hash.
        block: HexHash,
        /// `0x` and 40 hex digits.
        address: String,
        /// What was signed.
        hash: HexHash,
        /// The signature, as the file has it.
        signature: HexBytes,
    },
    /// S: an account as it is now.
    SvmAccount {
        /// CAIP-2.
        chain: String,
        /// Base58.
        address: String,
    },
    /// S: the place of a transaction among those of its slot.
    Place {
        /// CAIP-2.
        chain: String,
        /// Its first signature.
        id: String,
    },
    /// The file behind a URI.
    File {
        /// The URI.
        uri: String,
    },
}

impl fmt::Display for Need {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Header { chain, hash } => write!(f, "header {hash} of {chain}"),
            Self::Transaction { chain, id } => write!(f, "transaction {id} of {chain}"),
            Self::Account {
                address,
                slot: None,
                block,
                ..
            } => write!(f, "account {address} at block {block}"),
            Self::Account {
                address,
                slot: Some(slot),
                block,
                ..
            } => {
                write!(f, "slot {slot} of {address} at block {block}")
            }
            Self::Code { address, .. } => write!(f, "code of {address}"),
            Self::BlockHash { chain, number } => write!(f, "hash of block {number} of {chain}"),
            Self::Judgement { address, block, .. } => {
                write!(
                    f,
                    "the answer of contract {address} (ERC-1271) at block {block}, which no bundle proves"
                )
            }
            Self::SvmAccount { address, .. } => write!(f, "account {address}"),
            Self::Place { id, .. } => write!(f, "place of transaction {id} in its slot"),
            Self::File { uri } => write!(f, "file {}", uri.chars().take(120).collect::<String>()),
        }
    }
}

/// Something that was asked for and could not be had.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Unavailable {
    /// What was asked for.
    pub need: Need,
    /// Why it could not be had.
    pub reason: String,
}
