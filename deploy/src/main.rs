//! `concord-deploy`: the commands of `concord deploy`, without the rest of `concord`, for machines
//! that deploy and do nothing else.
use clap::Parser;
use concord_deploy::{commands, options};
use std::process::ExitCode;

/// Deploys Concord's registries.
#[derive(Debug, Parser)]
#[command(name = "concord-deploy", version)]
struct Program {
    #[command(flatten)]
    deploy: options::Deploy,
}

fn main() -> ExitCode {
    ExitCode::from(commands::run(&Program::parse().deploy.command))
}
