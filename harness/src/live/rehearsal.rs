use super::LiveFault;
use crate::{
    backend::{Backend, StepFault},
    scenario::{Scenario, TimedStep},
};

/// Plays the scenarios in this process, where nobody pays. `play` executes what the registries can
/// express, and writes down what it costs.
pub(super) fn rehearse<B: Backend>(
    scenarios: &[Scenario],
    registries: &mut B,
    mut play: impl FnMut(&mut B, &TimedStep) -> Result<(), StepFault>,
) -> Result<(), LiveFault> {
    let mut rehearse = |scenario: &Scenario| {
        registries.reset(scenario.start, &scenario.actors)?;
        for step in &scenario.steps {
            if registries.supports(&step.operation) {
                play(registries, step)?;
            }
        }
        Ok(())
    };
    for scenario in scenarios {
        rehearse(scenario).map_err(|fault| LiveFault::Rehearsal {
            scenario: scenario.name.clone(),
            fault,
        })?;
    }
    Ok(())
}
