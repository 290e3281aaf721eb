//! Anvil and revm do the same, to the last unit of gas.
use super::{anvil, revm};
use concord_harness::{
    backend::{Backend, Cost},
    model::Chain,
    scenario::{self, Scenario},
};
use std::path::Path;

fn committed_scenarios() -> Vec<Scenario> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/scenarios");
    let files = scenario::find_files(&folder).unwrap();
    let scenarios = files.iter().map(|file| scenario::load(file).unwrap());
    scenarios
        .filter(|scenario| scenario.chains().any(|chain| chain == Chain::Evm))
        .collect()
}

/// Outcome, native words and gas of each step, and how many transactions there were.
fn compare(scenario: &Scenario, left: &mut dyn Backend, right: &mut dyn Backend) -> usize {
    let mut transactions = 0;
    left.reset(scenario.start, &scenario.actors).unwrap();
    right.reset(scenario.start, &scenario.actors).unwrap();
    for step in &scenario.steps {
        let at = format!("{} step {}", scenario.name, step.number);
        let supported = left.supports(&step.operation);
        assert_eq!(supported, right.supports(&step.operation), "{at}");
        if supported {
            let play = |backend: &mut dyn Backend| {
                let observed = backend.execute(&step.operation, step.time);
                observed.unwrap_or_else(|fault| panic!("{at}: {fault}"))
            };
            let (left, right) = (play(left), play(right));
            assert_eq!(left, right, "{at}");
            transactions += usize::from(matches!(left.cost, Some(Cost::Gas(21_000..))));
        }
    }
    assert_eq!(left.state().unwrap(), right.state().unwrap());
    transactions
}

#[test]
fn every_committed_transaction_costs_the_same_gas_on_anvil_and_in_revm() {
    let (mut anvil, mut revm) = (anvil(), revm());
    let scenarios = committed_scenarios();
    let transactions: usize = scenarios
        .iter()
        .map(|scenario| compare(scenario, &mut anvil, &mut revm))
        .sum();
    assert!(transactions > 100, "{transactions}");
}
