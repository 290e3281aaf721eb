//! The command line. Stdout carries the result, stderr the log and the errors.
mod arguments;
mod audit;
mod check;
mod commands;
mod config;
mod evm_chain;
mod facilitator;
mod log;
mod sponsor;

use std::io;

use concord_chain::ChainError;
use concord_x402::feedback::FeedbackError;

use crate::store::StoreError;
use crate::{audit::AuditError, check::CheckError};
pub use arguments::{Aggregator, Command};
pub use config::Config;

/// Nothing is wrong.
const FINE: u8 = 0;
/// Submissions are left that the registry refuses, or an aggregator was found wrong.
const REFUSED: u8 = 1;
/// The command line, the configuration or a key is wrong.
const USAGE: u8 = 2;
/// A chain does not answer or does not know any more, or the store cannot be used.
const FAILED: u8 = 3;

/// Why a command ended.
#[derive(Debug, thiserror::Error)]
enum CliError {
    #[error(transparent)]
    Chain(#[from] ChainError),
    #[error(transparent)]
    Feedback(#[from] FeedbackError),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Audit(#[from] AuditError),
    #[error(transparent)]
    Check(#[from] CheckError),
    #[error(transparent)]
    System(#[from] io::Error),
    #[error("{0}")]
    Usage(String),
}

/// Carries out a command, and returns its exit code. Errors go to stderr.
#[must_use]
pub fn execute(command: &Command) -> u8 {
    // fails only if a caller in this process has set one
    let _ = tracing::subscriber::set_global_default(log::JsonLines);
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build();
    let done = runtime.map_err(CliError::from).and_then(|runtime| {
        runtime.block_on(async {
            match command {
                Command::Run(options) => commands::run(options).await,
                Command::Drain(options) => commands::drain(options).await,
                Command::Status(options) => commands::status(options),
                Command::Retry(options) => commands::retry(options).await,
                Command::Backup(options) => commands::backup(options),
                Command::Files(options) => commands::files(options).await,
                Command::Schema => commands::schema(),
                Command::Audit(options) => audit::audit(options).await,
                Command::Check(options) => check::check(options).await,
            }
        })
    });
    done.unwrap_or_else(|error| {
        eprintln!("concord: {error}");
        match error {
            CliError::Usage(_) => USAGE,
            _ => FAILED,
        }
    })
}
