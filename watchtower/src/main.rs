//! `concord-watchtower`: probes the services of registered agents, and publishes what it found.
use std::process::ExitCode;

fn main() -> ExitCode {
    concord_watchtower::cli::run(std::env::args_os())
}
