use crate::{
    model::{Bytes32, CanonicalState, Chain, Model, Outcome},
    scenario::Scenario,
};
use std::collections::BTreeMap;

/// What the model comes to at one step.
pub(super) struct Reference {
    pub outcome: Outcome,
    pub state: CanonicalState,
    pub digest: Bytes32,
}

/// Step by step, for each chain that the scenario is told for.
pub(super) type References = BTreeMap<Chain, Vec<Reference>>;

impl Reference {
    pub fn of_scenario(scenario: &Scenario) -> References {
        scenario
            .chains()
            .map(|chain| (chain, Self::of_chain(scenario, chain)))
            .collect()
    }

    fn of_chain(scenario: &Scenario, chain: Chain) -> Vec<Self> {
        let mut model = Model::new(chain);
        scenario
            .steps
            .iter()
            .map(|step| {
                let outcome = model.apply(&step.operation, step.time);
                let state = model.state().clone();
                Self {
                    outcome,
                    digest: state.digest(),
                    state,
                }
            })
            .collect()
    }
}
