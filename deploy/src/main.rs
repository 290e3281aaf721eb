//! `concord-deploy`: the commands of `concord deploy`, without the rest of `concord`, for machines
//! that deploy and do nothing else. It plays no scenarios.
use clap::{Parser, Subcommand};
use concord_deploy::{DIFFERS, DONE, commands, options, registry, report};
use std::process::ExitCode;

/// Deploys Concord's registries.
#[derive(Debug, Parser)]
#[command(name = "concord-deploy", version)]
struct Program {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    #[command(flatten)]
    Deploy(Box<options::Command>),
    Registry(Box<registry::options::Registry>),
}

fn main() -> ExitCode {
    let command = match Program::parse().command {
        Command::Deploy(command) => command,
        Command::Registry(options) => return ExitCode::from(registry::run(&options.command)),
    };
    let code = commands::run(&command);
    if matches!(*command, options::Command::Verify(_)) && [DONE, DIFFERS].contains(&code) {
        report::print_status(
            "the read-only scenarios were not played: `concord deploy verify` plays them",
        );
    }
    ExitCode::from(code)
}
