use concord_command::Embedded;
use std::process::ExitCode;

const EMBEDDED: Embedded = Embedded::new(concord_embed::files!());

fn main() -> ExitCode {
    concord_command::run(std::env::args_os(), EMBEDDED)
}
