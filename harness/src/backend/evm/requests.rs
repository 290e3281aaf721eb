use crate::model::Bytes32;
use alloy::primitives::B256;
use concord_canonical::{Word, hash};
use std::collections::HashMap;

/// Which hash on chain stands for which request of a scenario. A registry takes a hash once for ever
/// (R20), so on registries that stay, each scenario has hashes of its own.
#[derive(Debug, Default)]
pub(super) struct Requests {
    /// `None`: the registries are new in each scenario, and the hashes are the scenario's.
    run: Option<Word>,
    scenarios: u64,
    labels: HashMap<B256, Bytes32>,
}

impl Requests {
    /// On registries that stay, in a run that this word names.
    pub fn of_run(run: Word) -> Self {
        Self {
            run: Some(run),
            ..Self::default()
        }
    }

    pub fn start_scenario(&mut self) {
        self.scenarios += 1;
        self.labels.clear();
    }

    /// The hash on chain.
    pub fn native(&mut self, label: &Bytes32) -> B256 {
        let native = match &self.run {
            None => label.0,
            Some(run) => hash::keccak256v(&[
                b"concord request ",
                run,
                &self.scenarios.to_be_bytes(),
                &label.0,
            ]),
        };
        self.labels.insert(native.into(), *label);
        native.into()
    }

    /// The scenario's hash; one that the scenario does not know stays as it is, so that it shows.
    pub fn label(&self, native: B256) -> Bytes32 {
        self.labels
            .get(&native)
            .copied()
            .unwrap_or(Bytes32(native.0))
    }
}
