//! The commands `concord explain`. Stdout carries the result, stderr the errors.
mod arguments;
mod error;
mod run;
mod show;

pub use arguments::Explain;
pub use error::CliError;

use crate::{State, offline::Explanation};
use concord_chain::Blocking;
use std::io::{self, Write};

/// Every step that applies is verified or claimed.
const HOLDS: u8 = 0;
/// A step is refuted.
const REFUTED: u8 = 1;
/// The command line or a file is wrong.
const USAGE: u8 = 2;
/// A chain does not answer, or a file cannot be written.
const FAILED: u8 = 3;
/// Nothing is refuted, and a step cannot be checked (R36).
const CANNOT_CHECK: u8 = 4;

/// Carries out the command, and returns its exit code. Errors go to stderr.
#[must_use]
pub fn execute(options: &Explain) -> u8 {
    let done = Blocking::new()
        .map_err(CliError::from)
        .and_then(|it| it.wait(run::run(options)));
    match done.and_then(|found| print(options, &found).map(|()| found.state())) {
        Ok(State::Verified | State::Claimed) => HOLDS,
        Ok(State::CannotCheck) => CANNOT_CHECK,
        Ok(State::Refuted) => REFUTED,
        Err(error) => {
            eprintln!("concord: {}", show::plain(&error.to_string()));
            match error {
                CliError::Usage(_) => USAGE,
                _ => FAILED,
            }
        }
    }
}

fn print(options: &Explain, found: &Explanation) -> Result<(), CliError> {
    let text = match found {
        found if options.reading().json => format!("{:#}\n", found.to_json()),
        Explanation::Feedback(report) => show::text(report),
        Explanation::Reputation(report) => show::reputation(report),
    };
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(fault) if fault.kind() == io::ErrorKind::BrokenPipe => Ok(()), // the reader had enough
        written => written.map_err(CliError::Stdout),
    }
}
