use crate::{
    model::{Bytes32, CanonicalState, Chain, Model, Outcome, Records},
    scenario::Scenario,
};
use std::collections::BTreeMap;

/// The result of the model at one step.
pub(super) struct Reference {
    pub outcome: Outcome,
    pub state: CanonicalState,
    pub digest: Bytes32,
}

/// The result of the model in a scenario.
pub(super) struct ModelRun {
    /// Step by step.
    pub steps: Vec<Reference>,
    /// What views answer at its end, beside the state.
    pub records: Records,
    /// Whether the model agrees with the file, so that its states are the expected ones where
    /// the file has no digest.
    pub is_sound: bool,
}

/// For each chain of the scenario.
pub(super) type References = BTreeMap<Chain, ModelRun>;

impl Reference {
    pub fn of_scenario(scenario: &Scenario) -> References {
        scenario
            .chains()
            .map(|chain| (chain, Self::of_chain(scenario, chain)))
            .collect()
    }

    fn of_chain(scenario: &Scenario, chain: Chain) -> ModelRun {
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
        ModelRun {
            steps,
            records,
            is_sound: true,
        }
    }
}
