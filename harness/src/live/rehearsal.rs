use super::LiveFault;
use crate::{
    backend::{Backend, Cost, evm::EvmRevm},
    model::{Actor, Verdict},
    scenario::Scenario,
};
use std::collections::BTreeMap;

/// What one actor sends in a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Needs {
    pub transactions: u64,
    pub gas: u64,
}

/// What the scenarios cost each actor, found out by playing them in this process. Actors that send
/// nothing are not named.
///
/// # Errors
/// The registries of this build cannot play a scenario.
pub fn rehearse(
    scenarios: &[Scenario],
    registries: &mut EvmRevm,
) -> Result<BTreeMap<Actor, Needs>, LiveFault> {
    let mut needs: BTreeMap<Actor, Needs> = BTreeMap::new();
    for scenario in scenarios {
        let at_fault = |fault| LiveFault::Rehearsal {
            scenario: scenario.name.clone(),
            fault,
        };
        registries
            .reset(scenario.start, &scenario.actors)
            .map_err(at_fault)?;
        for moment in &scenario.moments {
            if !registries.supports(&moment.operation) {
                continue;
            }
            let observed = registries
                .execute(&moment.operation, moment.time)
                .map_err(at_fault)?;
            if let (Verdict::Ok, Some(Cost::Gas(gas)), Some(by)) = (
                observed.outcome.verdict,
                observed.cost,
                moment.operation.by(),
            ) {
                let of_actor = needs.entry(by.clone()).or_default();
                of_actor.transactions += 1;
                of_actor.gas = of_actor.gas.saturating_add(gas);
            }
        }
    }
    Ok(needs)
}
