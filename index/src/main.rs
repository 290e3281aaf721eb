//! `concord-index`: indexes registries, and says how far it is.
use std::process::ExitCode;

fn main() -> ExitCode {
    concord_index::cli::run(std::env::args_os())
}
