//! The command line. Stdout carries the result, stderr the log and the errors.
mod arguments;
mod commands;
mod config;
mod ready;

use std::io;

use concord_chain::ChainError;
use concord_x402::feedback::FeedbackError;

use crate::{StoreError, WatchtowerError};
pub use arguments::{Command, Watchtower};
pub use config::Config;

/// Nothing is wrong.
const FINE: u8 = 0;
/// A budget does not suffice, signals are late or refused, or an agent cannot be read.
const LATE: u8 = 1;
/// The command line, the configuration or a key is wrong.
const USAGE: u8 = 2;
/// A chain, every control, or what says the revenues does not answer, or the store cannot be used.
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
    Watchtower(#[from] WatchtowerError),
    #[error(transparent)]
    System(#[from] io::Error),
    #[error("{0}")]
    Usage(String),
}

/// Carries out a command, and returns its exit code. Errors go to stderr.
#[must_use]
pub fn execute(command: &Command) -> u8 {
    let log = tracing_subscriber::fmt().with_writer(io::stderr);
    let _ = log.with_ansi(false).try_init(); // another one of this process is as good
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build();
    let done = runtime.map_err(CliError::from).and_then(|runtime| {
        runtime.block_on(async {
            match command {
                Command::Run(options) => commands::run(options).await,
                Command::Once(options) => commands::once(options).await,
                Command::Plan(options) => commands::plan(options).await,
                Command::Status(options) => commands::status(options),
                Command::Schema => commands::schema(),
            }
        })
    });
    done.unwrap_or_else(|error| {
        eprintln!("concord: {error}");
        match error {
            CliError::Usage(_) | CliError::Chain(ChainError::KeyUnreadable { .. }) => USAGE,
            _ => FAILED,
        }
    })
}
