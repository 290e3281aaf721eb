//! `concord-deploy`: the commands of `concord deploy`, without the rest of `concord`, for machines
//! that deploy and do nothing else. It plays no scenarios.
use clap::Parser;
use concord_deploy::{DIFFERS, DONE, commands, options, report};
use std::process::ExitCode;

/// Deploys Concord's registries.
#[derive(Debug, Parser)]
#[command(name = "concord-deploy", version)]
struct Program {
    #[command(flatten)]
    deploy: options::Deploy,
}

fn main() -> ExitCode {
    let command = Program::parse().deploy.command;
    let code = commands::run(&command);
    if matches!(command, options::Command::Verify(_)) && [DONE, DIFFERS].contains(&code) {
        report::tell("the read-only scenarios were not played: `concord deploy verify` plays them");
    }
    ExitCode::from(code)
}
