use crate::{
    model::{Bytes32, CanonicalState, Chain, Model, Outcome, Records},
    scenario::Scenario,
};
use std::collections::BTreeMap;

/// What the model comes to at one step.
pub(super) struct Reference {
    pub outcome: Outcome,
    pub state: CanonicalState,
    pub digest: Bytes32,
}

/// What the model comes to in a scenario.
pub(super) struct Told {
    /// Step by step.
    pub steps: Vec<Reference>,
    /// What views answer at its end, beside the state.
    pub records: Records,
}

/// For each chain that the scenario is told for.
pub(super) type References = BTreeMap<Chain, Told>;

impl Reference {
    pub fn of_scenario(scenario: &Scenario) -> References {
        scenario
            .chains()
            .map(|chain| (chain, Self::of_chain(scenario, chain)))
            .collect()
    }

    fn of_chain(scenario: &Scenario, chain: Chain) -> Told {
        let mut model = Model::new(chain);
        let mut records = Records::default();
        let mut steps = Vec::new();
        for step in &scenario.steps {
            let outcome = model.apply(&step.operation, step.time);
            records.note(&step.operation, &outcome, step.time);
            let state = model.state().clone();
            steps.push(Self {
                outcome,
                digest: state.digest(),
                state,
            });
        }
        Told { steps, records }
    }
}
