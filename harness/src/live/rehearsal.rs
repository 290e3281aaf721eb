use super::LiveFault;
use crate::{
    backend::{Backend, StepFault},
    scenario::{Moment, Scenario},
};

/// Plays the scenarios in this process, where nobody pays. `play` executes what the registries can
/// express, and writes down what it costs.
pub(super) fn rehearse<B: Backend>(
    scenarios: &[Scenario],
    registries: &mut B,
    mut play: impl FnMut(&mut B, &Moment) -> Result<(), StepFault>,
) -> Result<(), LiveFault> {
    let mut tell = |scenario: &Scenario| {
        registries.reset(scenario.start, &scenario.actors)?;
        for moment in &scenario.moments {
            if registries.supports(&moment.operation) {
                play(registries, moment)?;
            }
        }
        Ok(())
    };
    for scenario in scenarios {
        tell(scenario).map_err(|fault| LiveFault::Rehearsal {
            scenario: scenario.name.clone(),
            fault,
        })?;
    }
    Ok(())
}
