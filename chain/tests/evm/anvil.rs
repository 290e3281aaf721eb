//! A real anvil of the test's own.
use alloy::{
    node_bindings::{Anvil, AnvilInstance},
    signers::local::PrivateKeySigner,
};
use std::{env, path::PathBuf, time::Duration};

/// How long one answer may take here.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(10);

fn anvil() -> PathBuf {
    if let Some(named) = env::var_os("CONCORD_ANVIL") {
        return named.into();
    }
    let path = env::var_os("PATH").unwrap();
    env::split_paths(&path)
        .map(|folder| folder.join("anvil"))
        .find(|file| file.is_file())
        .expect("anvil is on PATH: run scripts/test")
}

pub(crate) fn start(arguments: &[&str]) -> AnvilInstance {
    let history = ["--prune-history", "1000"]; // states in memory: a killed anvil leaves no file
    let anvil = Anvil::at(anvil()).args(history).args(arguments);
    anvil.timeout(30_000).spawn()
}

/// One of the accounts that anvil funds.
pub(crate) fn key(anvil: &AnvilInstance, index: usize) -> PrivateKeySigner {
    anvil.keys()[index].clone().into()
}
