//! The built `concord`.
use std::{env, process::Command};

/// The command, as it was built with the tests: `cargo test --workspace` does.
///
/// # Panics
/// If it is not built.
pub fn concord(arguments: &[&str]) -> Command {
    let test = env::current_exe().unwrap(); // target/debug/deps/name-hash
    let built = test.parent().unwrap().with_file_name("concord");
    assert!(
        built.is_file(),
        "{} is not built: cargo build -p concord",
        built.display()
    );
    let mut command = Command::new(built);
    command.args(arguments);
    command
}
