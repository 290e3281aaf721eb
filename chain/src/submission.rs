//! Brings jobs into a chain, one transaction each, and waits until they are final.
//!
//! Every signed transaction is in the [`TxRecord`] before it is sent. A first run and one that
//! continues after a crash are the same: each round looks at the chain first, and what landed is
//! never sent again.
mod job_progress;
mod record;
mod submitter;

pub use record::{FileRecord, TxRecord};
pub use submitter::{Timing, submit};

use crate::{Amount, ChainError};
use async_trait::async_trait;
use serde::{Deserialize, Serialize};

/// One thing that is to happen on a chain. At most one transaction of a job ever lands.
pub trait TxJob: Send + Sync {
    /// Unique among the jobs, and the same in every run.
    fn id(&self) -> &str;

    /// Returns whether it is one of hundreds, whose transactions are not reported one by one.
    fn is_one_of_many(&self) -> bool {
        false
    }
}

/// A chain that jobs are submitted to. Requests that fail for a passing reason (time-outs, rate
/// limits) are repeated inside. An error ends the run, which can be started again with the same
/// record.
#[async_trait]
pub trait TxChain: Send {
    /// What is to land once.
    type Job: TxJob;
    /// Why the chain could not be asked.
    type Error: From<ChainError> + Send;

    /// Returns whether the effect of each job is on the chain now, in the same order. `None`: only
    /// its transactions can tell.
    async fn effects(&mut self, jobs: &[&Self::Job]) -> Result<Vec<Option<bool>>, Self::Error>;

    /// Signs a transaction for the job that does not replace an earlier one. `expired` earlier ones
    /// can never land.
    async fn sign(&mut self, job: &Self::Job, expired: usize) -> Result<SignedTx, Self::Error>;

    /// Signs the same transaction at a higher fee, of which only one can land. `None` if the chain
    /// has no such thing, or the fee has reached its limit.
    async fn replace(
        &mut self,
        job: &Self::Job,
        transaction: &SignedTx,
    ) -> Result<Option<SignedTx>, Self::Error>;

    /// Decides what to do with a recorded transaction that the chain does not have. It may offer more
    /// than may be paid by now: it was signed under another limit, or by someone who changed the
    /// record.
    async fn resend(
        &mut self,
        job: &Self::Job,
        transaction: &SignedTx,
    ) -> Result<Resend, Self::Error>;

    /// Sends the transaction. May be called again for the same one.
    async fn send(&mut self, transaction: &SignedTx) -> Result<SendOutcome, Self::Error>;

    /// Sends each, and returns the answers in the same order. Those after an error may be missing.
    async fn send_all(
        &mut self,
        transactions: &[SignedTx],
    ) -> Vec<Result<SendOutcome, Self::Error>> {
        let mut outcomes = Vec::with_capacity(transactions.len());
        for transaction in transactions {
            let outcome = self.send(transaction).await;
            let is_over = outcome.is_err();
            outcomes.push(outcome);
            if is_over {
                break;
            }
        }
        outcomes
    }

    /// Returns the status of each, in the same order.
    async fn statuses(&mut self, transactions: &[SignedTx]) -> Result<Vec<TxStatus>, Self::Error>;

    /// Returns how final each is, in the same order.
    async fn finality(&mut self, landings: &[Landing]) -> Result<Vec<Finality>, Self::Error>;
}

/// A signed transaction of a job. Nothing in it is secret.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SignedTx {
    /// Its name on the chain: a hash (EVM) or the first signature (Solana).
    pub transaction: String,
    /// Its bytes: hex with `0x` (EVM) or base64 (Solana), as the chain's JSON-RPC takes them.
    pub raw: String,
    /// Solana: the last block height at which it can land. On EVM chains the nonce is in the bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub valid_until: Option<u64>,
    /// EVM: the latest block's number when it was signed. It is in a later one, unless the chain went back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signed_at: Option<u64>,
    /// Whether the chain's answer to sending it has been seen. False does not mean that the chain
    /// has not seen it.
    pub sent: bool,
    /// What it cost, if it was executed and failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure_cost: Option<Amount>,
}

impl SignedTx {
    /// Copies what this one cost to the recorded one of the same name.
    pub fn note_failure(&self, recorded: &mut [Self]) {
        for known in recorded {
            if known.transaction == self.transaction {
                known.failure_cost = self.failure_cost;
            }
        }
    }

    /// The error for a recorded transaction that is not what it should be.
    #[must_use]
    pub fn malformed(&self, what: &str) -> ChainError {
        ChainError::RecordMalformed {
            transaction: self.transaction.clone(),
            what: what.to_owned(),
        }
    }
}

/// What to do with a recorded transaction that the chain does not have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Resend {
    /// Send the same bytes.
    Same,
    /// Record and send this one, of which and the recorded one only one can land.
    Instead(SignedTx),
    /// Send nothing, until the recorded one can no longer land.
    Wait,
}

/// The chain's answer to a transaction that was sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SendOutcome {
    /// Taken, now or before.
    Accepted,
    /// Not taken at this fee.
    Underpriced,
    /// Not taken, for a reason that the status of the job's transactions will explain: a nonce that
    /// was used, a block hash that is too old.
    Refused(String),
}

/// What became of a transaction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TxStatus {
    /// The chain knows it and has not executed it.
    Pending,
    /// As pending, and it cannot be executed before something else happens, in words.
    Blocked(String),
    /// The chain does not know it, and could still execute it: send it again.
    Unknown,
    /// It can never be executed.
    Expired,
    /// It was executed, and is in a block.
    Landed(Landing),
    /// It was executed and failed: only the fee was paid.
    Failed {
        /// Why, in the chain's words.
        reason: String,
        /// Where, and what was paid. A reorganisation can take it back, and then it may succeed.
        landing: Landing,
    },
}

/// A transaction that was executed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Landing {
    /// Its id: a hash in hex (EVM) or a signature in base58 (Solana).
    pub transaction: String,
    /// Block number (EVM) or slot (Solana).
    pub block: u64,
    /// EVM: the hash of that block. It distinguishes a reorganisation from a lagging node.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub block_hash: Option<String>,
    /// What it cost, fees and rent together.
    pub cost: Amount,
    /// What it brought back beyond its fee, such as the rent of a closed buffer.
    #[serde(default, skip_serializing_if = "Amount::is_zero")]
    pub refund: Amount,
}

/// How sure it is that a transaction stays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Finality {
    /// Enough has been built on it that it is not expected to go away.
    Final,
    /// It could still go away.
    NotYet,
    /// It is not in the chain any more, or in another block than was recorded.
    Reorganised,
}
