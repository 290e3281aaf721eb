use concord_harness::cli::{self, Embedded};
use std::process::ExitCode;

const EMBEDDED: Embedded = Embedded::new(concord_embed::files!());

fn main() -> ExitCode {
    cli::run(std::env::args_os(), EMBEDDED)
}
