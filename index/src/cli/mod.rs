//! The command line. Stdout carries the result, stderr the progress and the errors.
mod arguments;
mod ask;
mod book;
mod export;
mod files;
mod follow;
mod progress;
mod run;
mod serve;
mod target;
mod verify;

pub use arguments::{Command, Index};
pub use ask::{Feedback, Search, Summary, feedback, search, summary};

use crate::{ReviewersError, SourceError, StoreError, SyncError};
use concord_chain::{ChainError, fetch::FetchError};
use std::{io, net::SocketAddr};

/// Nothing is wrong.
const FINE: u8 = 0;
/// The index differs from its events, or events are missing.
const DIFFERS: u8 = 1;
/// The command line is wrong.
const USAGE: u8 = 2;
/// The chain does not answer, or the store cannot be used.
const FAILED: u8 = 3;

/// Why a command ended.
#[derive(Debug, thiserror::Error)]
enum CliError {
    #[error(transparent)]
    Chain(#[from] ChainError),
    #[error(transparent)]
    Source(#[from] SourceError),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Sync(#[from] SyncError),
    #[error(transparent)]
    Reviewers(#[from] ReviewersError),
    #[error(transparent)]
    Fetch(#[from] FetchError),
    #[error("the worker that fetches files ended; start again")]
    FileWorker,
    #[error("the thread that follows a chain ended; start again")]
    Follower,
    #[error("cannot listen on {address}: {reason}")]
    Listen { address: SocketAddr, reason: String },
    #[error("stdout cannot be written: {0}")]
    Output(io::Error),
    #[error("{0}")]
    Usage(String),
}

/// Carries out a command, and returns its exit code. Errors go to stderr. `carried` is the page that verifies bundles, of a binary that
/// carries one.
#[must_use]
pub fn execute(command: &Command, carried: Option<&'static [u8]>) -> u8 {
    let done = match command {
        Command::Run(options) => run::run(options, carried),
        Command::Serve(options) => serve::serve(options, carried),
        Command::Status(options) => verify::status(options),
        Command::Verify(options) => verify::verify(options),
        Command::Rebuild(options) => verify::rebuild(options),
        Command::Export(options) => export::export(options),
    };
    done.unwrap_or_else(|error| {
        eprintln!("concord: {error}");
        match error {
            CliError::Usage(_) => USAGE,
            _ => FAILED,
        }
    })
}
