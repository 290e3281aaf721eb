//! The model is the oracle: the committed scenarios are played on both chains, indexed step by step,
//! and the index's canonical state must have the digest of the model's. Needs what `scripts/build`
//! makes, and anvil on PATH or in CONCORD_ANVIL.
pub(crate) mod evm;
mod labels;
mod script;
mod state;
pub(crate) mod svm;
mod worlds;

use concord_harness::scenario::{Scenario, find_files, load};
use std::path::{Path, PathBuf};

/// The clone's folder.
fn clone_root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Each of so many scenarios.
fn scenarios(each: usize) -> Vec<Scenario> {
    let files = find_files(&clone_root().join("tests/scenarios")).unwrap();
    let part = files.iter().step_by(each);
    part.map(|file| load(file).unwrap()).collect()
}
