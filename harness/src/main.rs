use std::process::ExitCode;

fn main() -> ExitCode {
    concord_harness::cli::run(std::env::args_os())
}
