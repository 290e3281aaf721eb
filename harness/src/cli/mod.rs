//! The command line. Stdout carries the result, stderr the progress and the errors.
mod arguments;
mod conform;

use crate::oracle;
use arguments::{Command, Concord};
use clap::Parser;
use std::{
    ffi::OsString,
    io::{self, BufReader},
    process::ExitCode,
};

/// Every participant agrees.
pub const AGREE: u8 = 0;
/// Some participant differs.
pub const DISAGREE: u8 = 1;
/// The command line or a scenario file is wrong.
pub const USAGE: u8 = 2;
/// A tool or a built file is missing, or a chain does not answer.
pub const MISSING: u8 = 3;

/// Runs `concord` with these arguments, the program's name first.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let concord = match Concord::try_parse_from(arguments) {
        Ok(concord) => concord,
        Err(answer) => {
            let code = if answer.use_stderr() { USAGE } else { AGREE };
            let _ = answer.print(); // nobody is left to tell
            return ExitCode::from(code);
        }
    };
    let code = match concord.command {
        Command::Conform(options) => conform::conform(&options),
        Command::Deploy(options) => concord_deploy::commands::run(&options.command),
        Command::Smoke(options) => {
            concord_deploy::commands::run(&concord_deploy::options::Command::Smoke(options))
        }
        Command::Oracle => answer_oracle(),
    };
    ExitCode::from(code)
}

fn answer_oracle() -> u8 {
    match oracle::run(BufReader::new(io::stdin().lock()), io::stdout().lock()) {
        Ok(()) => AGREE,
        Err(fault) => {
            eprintln!("concord: oracle: {fault}");
            USAGE
        }
    }
}
