//! `concord-aggregator`: accepts feedback from clients without gas, and submits it on chain.
use std::process::ExitCode;

fn main() -> ExitCode {
    concord_aggregator::cli::run(std::env::args_os())
}
