//! A real anvil of a test's own.
use alloy::{
    node_bindings::{Anvil, AnvilInstance},
    signers::local::PrivateKeySigner,
};
use std::{env, fs::File, io::Read, path::PathBuf, time::Duration};

/// How long one answer may take here.
pub const TIMEOUT: Duration = Duration::from_secs(10);

fn anvil() -> PathBuf {
    if let Some(named) = env::var_os("CONCORD_ANVIL") {
        return named.into();
    }
    let path = env::var_os("PATH").unwrap();
    let found = env::split_paths(&path)
        .map(|folder| folder.join("anvil"))
        .find(|file| file.is_file())
        .expect("anvil is on PATH: run scripts/test");
    // npm's wrapper script would leave the real process behind when it is killed.
    let mut start = [0; 2];
    let read = File::open(&found).and_then(|mut file| file.read_exact(&mut start));
    assert!(
        read.is_ok() && start != *b"#!",
        "{} is a script",
        found.display()
    );
    found
}

/// With these arguments, on a free port. It ends when it is dropped.
pub fn start(arguments: &[&str]) -> AnvilInstance {
    let history = ["--prune-history", "1000"]; // states in memory: a killed anvil leaves no file
    let anvil = Anvil::at(anvil()).args(history).args(arguments);
    anvil.timeout(30_000).spawn()
}

/// One of the accounts that anvil funds.
pub fn key(anvil: &AnvilInstance, index: usize) -> PrivateKeySigner {
    anvil.keys()[index].clone().into()
}
