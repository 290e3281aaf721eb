use std::{io, path::PathBuf};

/// Why a chain could not be asked, or a transaction could not be signed, sent or seen landing. Each
/// is one sentence with the value and what was expected. None contains a key, a password, or more
/// of an endpoint's URL than its host.
#[allow(
    missing_docs,
    reason = "each message says what its variant and fields are"
)]
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ChainError {
    #[error("not a CAIP-2 id: {0}")]
    ChainId(String),
    #[error("the RPC URL is not an http or https URL")]
    RpcUrlMalformed,
    #[error("the WebSocket URL is not a ws or wss URL")]
    WebSocketUrlMalformed,
    #[error("the fee limit {0} is not a number of gwei with at most 9 decimals")]
    FeeLimitMalformed(String),

    // Keys.
    #[error("{source_name}: {reason}")]
    KeyUnreadable { source_name: String, reason: String },
    #[error("the password does not open the keystore {}", .0.display())]
    WrongPassword(PathBuf),
    #[error("{signer} did not sign: {reason}")]
    NotSigned { signer: String, reason: String },

    // Files.
    #[error("{}: {reason}", path.display())]
    File { path: PathBuf, reason: String },
    #[error("{} not found: run scripts/build-program", .0.display())]
    NotBuilt(PathBuf),
    #[error("{} is held by another process", .0.display())]
    Locked(PathBuf),
    #[error("the recorded transaction {transaction} {what}")]
    RecordMalformed { transaction: String, what: String },

    // The chain's state.
    #[error("the RPC endpoint is chain {found}, expected {expected}")]
    WrongChain { expected: String, found: String },
    #[error("{title}: the simulation failed: {reason}")]
    SimulationFailed { title: String, reason: String },
    #[error("the fee is {found} gwei a unit of gas, above the limit of {limit} gwei")]
    FeeAboveLimit { found: String, limit: String },

    // Sending.
    #[error("the RPC endpoint {host} does not answer {method}: {reason}")]
    Unreachable {
        host: String,
        method: String,
        reason: String,
    },
    #[error("{job}: the chain refuses transaction {transaction}: {reason}")]
    TransactionRefused {
        job: String,
        transaction: String,
        reason: String,
    },
    #[error("{job}: transaction {reason}")]
    TransactionFailed { job: String, reason: String },
    #[error("{job}: no transaction landed within {seconds} seconds")]
    NotLanded { job: String, seconds: u64 },
    #[error("{job}: landed in block {block}, and was not final after {seconds} seconds")]
    NotFinal {
        job: String,
        block: u64,
        seconds: u64,
    },
    #[error("{job}: landed {rounds} times, and a reorganisation removed it each time")]
    Reorganised { job: String, rounds: usize },

    #[error("no runtime for network requests: {0}")]
    Runtime(#[from] io::Error),
}

impl ChainError {
    /// Returns whether the chain or its endpoint failed on the way, rather than what was asked for
    /// being refused beforehand.
    #[must_use]
    pub const fn is_from_the_chain(&self) -> bool {
        matches!(
            self,
            Self::Unreachable { .. }
                | Self::TransactionRefused { .. }
                | Self::TransactionFailed { .. }
                | Self::NotLanded { .. }
                | Self::NotFinal { .. }
                | Self::Reorganised { .. }
        )
    }

    /// Returns whether the same call may succeed later, with nothing changed. Retries within the
    /// call have been made already.
    #[must_use]
    pub const fn is_retryable(&self) -> bool {
        matches!(
            self,
            Self::Unreachable { .. }
                | Self::NotLanded { .. }
                | Self::NotFinal { .. }
                | Self::Reorganised { .. }
                | Self::FeeAboveLimit { .. }
                | Self::Locked(_)
        )
    }
}
