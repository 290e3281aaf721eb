//! The command line. Stdout carries the result, stderr the log and the errors.
mod arguments;
mod commands;
mod config;
mod log;

use std::{ffi::OsString, io, process::ExitCode};

use clap::Parser;
use concord_chain::ChainError;
use concord_x402::feedback::FeedbackError;

use crate::store::StoreError;
use arguments::{Arguments, Command};

/// Nothing is wrong.
const FINE: u8 = 0;
/// Submissions are left that the registry refuses.
const REFUSED: u8 = 1;
/// The command line, the configuration or a key is wrong.
const USAGE: u8 = 2;
/// A chain does not answer, or the store cannot be used.
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
    System(#[from] io::Error),
    #[error("{0}")]
    Usage(String),
}

/// Runs `concord-aggregator` with these arguments, the program's name first.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let arguments = match Arguments::try_parse_from(arguments) {
        Ok(arguments) => arguments,
        Err(answer) => {
            let code = if answer.use_stderr() { USAGE } else { FINE };
            let _ = answer.print(); // nothing can be reported if stdout is closed
            return ExitCode::from(code);
        }
    };
    // fails only if a caller in this process has set one
    let _ = tracing::subscriber::set_global_default(log::JsonLines);
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build();
    let done = runtime.map_err(CliError::from).and_then(|runtime| {
        runtime.block_on(async {
            match &arguments.command {
                Command::Run(options) => commands::run(options).await,
                Command::Drain(options) => commands::drain(options).await,
                Command::Status(options) => commands::status(options),
                Command::Retry(options) => commands::retry(options).await,
            }
        })
    });
    ExitCode::from(done.unwrap_or_else(|error| {
        eprintln!("concord-aggregator: {error}");
        match error {
            CliError::Usage(_) => USAGE,
            _ => FAILED,
        }
    }))
}
