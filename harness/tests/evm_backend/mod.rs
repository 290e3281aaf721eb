//! Registries that are deployed already, against the model. Needs
//! what `scripts/build` makes, and anvil on PATH or in CONCORD_ANVIL.
mod attached;

use concord_harness::backend::evm::EvmAnvil;
use std::path::{Path, PathBuf};

fn artifacts() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../contracts/out")
}

fn anvil() -> EvmAnvil {
    EvmAnvil::start(None, &artifacts()).expect("anvil starts: run scripts/bootstrap")
}
