//! The commands `concord x402`, `concord feedback` and `concord agent`. Stdout carries the result and nothing
//! else, stderr one sentence about what failed.

mod agent;
mod config;
mod decode;
mod error;
mod feedback;
mod keys;
pub mod options;
mod output;
mod purchase;
mod serve;
mod serve_config;
mod signing;

pub use error::{CANNOT_CHECK, CliError, MONEY_UNKNOWN, REFUTED, USAGE, VERIFIED};

use concord_chain::Blocking;
use options::{Agent, Feedback, X402};

/// Runs a command of `concord x402`.
///
/// # Errors
/// [`CliError`], with the exit code.
pub fn x402(options: &X402) -> Result<u8, CliError> {
    use options::X402Command as Command;
    let blocking = Blocking::new()?;
    match &options.command {
        Command::Serve(options) => blocking.wait(serve::serve(options)),
        Command::Pay(options) => blocking.wait(purchase::pay(options)),
        Command::Verify(options) => blocking.wait(purchase::verify(options)),
        Command::Decode(options) => decode::decode(options),
    }
}

/// Runs a command of `concord feedback`.
///
/// # Errors
/// [`CliError`], with the exit code.
pub fn feedback(options: &Feedback) -> Result<u8, CliError> {
    let Feedback::Give(options) = options;
    Blocking::new()?.wait(feedback::give(options))
}

/// Runs a command of `concord agent`.
///
/// # Errors
/// [`CliError`], with the exit code.
pub fn agent(options: &Agent) -> Result<u8, CliError> {
    let options::AgentCommand::Check(options) = &options.command;
    Blocking::new()?.wait(agent::check(options))
}
