#[cfg(feature = "network")]
use std::time::Duration;

use async_trait::async_trait;
use concord_canonical::Word;
use concord_files::{RegistrationFile, RegistrationId};

/// A node may be some blocks or slots behind the facilitator's: how often a transaction is asked for, and how long between.
#[cfg(feature = "network")]
pub(super) const TRIES: usize = 5;
#[cfg(feature = "network")]
pub(super) const BETWEEN_TRIES: Duration = Duration::from_millis(400);

/// Why something could not be read: an unreachable node, file or gateway. Never a refusal (R36).
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Unavailable(pub String);

/// What a registry says about an agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentRecord {
    /// The wallet's address; `None` if none is set.
    pub wallet: Option<String>,
    /// Whether the wallet had code in that block. Then it judges signatures that its own key did not make (ERC-1271, R3).
    pub is_wallet_contract: bool,
    /// Where the registration file is; empty if nowhere.
    pub uri: String,
    /// The block or slot in which all of it was read.
    pub block: u64,
}

/// Reads identity registries.
#[async_trait]
pub trait Registries: Send + Sync {
    /// An agent as it was after a block of its registry's chain, or as it is now; `None` if there is no such
    /// agent. A chain without history gives the present agent, read in a later block.
    ///
    /// # Errors
    /// [`Unavailable`], also if the chain has no history of that block.
    async fn agent(
        &self,
        registration: &RegistrationId,
        block: Option<u64>,
    ) -> Result<Option<AgentRecord>, Unavailable>;

    /// Whether a wallet that is a contract accepts a signature (ERC-1271), after the block in which the agent was read
    /// ([`AgentRecord::block`]).
    ///
    /// # Errors
    /// [`Unavailable`].
    async fn is_signed_by_contract(
        &self,
        registration: &RegistrationId,
        block: u64,
        wallet: &str,
        hash: &Word,
        signature: &[u8],
    ) -> Result<bool, Unavailable>;
}

/// Why there is no registration file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FileError {
    /// It cannot be had now.
    #[error("the registration file is not available: {0}")]
    Unavailable(String),
    /// What a gateway sent is not what the CID names.
    #[error("the registration file is not what its CID names: {0}")]
    Mismatch(String),
    /// It breaks its form.
    #[error("the registration file is malformed: {0}")]
    Malformed(String),
}

/// Reads registration files.
#[async_trait]
pub trait RegistrationFiles: Send + Sync {
    /// The file at a URI. `fresh`: not from a cache.
    ///
    /// # Errors
    /// [`FileError`].
    async fn registration(&self, uri: &str, fresh: bool) -> Result<RegistrationFile, FileError>;
}

/// A token transfer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transfer {
    /// The token.
    pub asset: String,
    /// Who paid.
    pub from: String,
    /// Who was paid.
    pub to: String,
    /// In the token's smallest unit, big-endian.
    pub amount: Word,
}

/// A transaction that the chain executed. It may have several transfers (R32).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Payment {
    /// Whether it succeeded.
    pub succeeded: bool,
    /// Its block or slot; `None`: it was not looked up, and agents are read as they are now.
    pub block: Option<u64>,
    /// Its block's time in unix seconds.
    pub time: u64,
    /// Every transfer in it.
    pub transfers: Vec<Transfer>,
}

/// Reads payments.
#[async_trait]
pub trait Payments: Send + Sync {
    /// The payment of a task reference; `None` if the chain has no such transaction.
    ///
    /// # Errors
    /// [`Unavailable`].
    async fn payment(&self, task_ref: &str) -> Result<Option<Payment>, Unavailable>;
}

/// What [`super::verify`] reads.
#[derive(Clone, Copy)]
pub struct Reads<'a> {
    /// Identity registries.
    pub registries: &'a dyn Registries,
    /// Registration files.
    pub files: &'a dyn RegistrationFiles,
    /// Payments.
    pub payments: &'a dyn Payments,
}
