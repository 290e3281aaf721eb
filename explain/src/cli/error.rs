use crate::online::OnlineError;
use concord_chain::{ChainError, fetch::FetchError};
use std::io;

/// Why the command ends without a report.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CliError {
    /// The command line or a file is wrong.
    #[error("{0}")]
    Usage(String),
    /// A chain does not answer, or lacks something without which nothing can be explained.
    #[error(transparent)]
    Online(#[from] OnlineError),
    /// A file cannot be written.
    #[error("{path} cannot be written: {fault}")]
    File {
        /// The file.
        path: String,
        /// Why.
        fault: io::Error,
    },
    /// Stdout is closed or full.
    #[error("stdout: {0}")]
    Stdout(io::Error),
}

impl CliError {
    pub(super) fn usage(reason: impl ToString) -> Self {
        Self::Usage(reason.to_string())
    }
}

impl From<ChainError> for CliError {
    fn from(fault: ChainError) -> Self {
        Self::Online(fault.into())
    }
}

impl From<FetchError> for CliError {
    fn from(fault: FetchError) -> Self {
        Self::usage(fault)
    }
}
