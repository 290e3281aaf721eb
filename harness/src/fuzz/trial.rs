use super::runner::{Difference, Subject, outcome_difference, readable};
use crate::{
    backend::impostor::Trial,
    model::{Agent, AgentState, Outcome, Verdict},
};
use serde_json::json;
use std::collections::BTreeMap;

/// What a step comes to without impostors, by the model.
pub struct Due<'a> {
    pub outcome: &'a Outcome,
    /// The agent that the step is about, and its state before.
    pub agent: Option<&'a Agent>,
    pub before: Option<&'a AgentState>,
    /// Every agent after the step.
    pub after: &'a BTreeMap<Agent, AgentState>,
}

impl Due<'_> {
    /// A step with impostors is refused for them and changes nothing. If it breaks a rule without them, another rule may be
    /// the first now. Some may also come to what they come to without.
    pub fn difference(&self, participant: &str, trial: Trial) -> Option<Difference> {
        let outcome = &trial.observed.outcome;
        let fits = |class| {
            trial.refusals.contains(&class) || matches!(self.outcome.verdict, Verdict::Refused(_))
        };
        let is_refused = match outcome.verdict {
            Verdict::Refused(class) => fits(class) && outcome.events.is_empty(),
            _ => false,
        };
        let is_the_same = outcome_difference(self.outcome, outcome).is_none();
        let after = self.agent.and_then(|agent| self.after.get(agent));
        if (is_refused && self.leaves(&trial, self.before))
            || (trial.may_do_as_well && is_the_same && self.leaves(&trial, after))
        {
            return None;
        }
        let refusals: Vec<_> = trial.refusals.iter().map(|it| it.name()).collect();
        let same = trial.may_do_as_well.then(|| readable(self.outcome));
        let states = match &trial.states {
            Ok(states) => json!(states),
            Err(fault) => json!(fault),
        };
        let places: Vec<_> = trial.impostors.iter().map(ToString::to_string).collect();
        Some(Difference {
            participant: participant.to_owned(),
            subject: Subject::Impostor,
            path: Some(places.join(", ")),
            expected: json!({ "refused": refusals, "or": same, "state": self.before }),
            actual: json!({ "outcome": readable(outcome), "states": states }),
            native_error: trial.observed.native_error,
        })
    }

    /// Whether the trial left the agent so, and every other one as it is.
    fn leaves(&self, trial: &Trial, own: Option<&AgentState>) -> bool {
        let is_right = |(agent, state): (&Agent, &Option<AgentState>)| {
            let other = self.after.get(agent);
            let expected = if self.agent == Some(agent) {
                own
            } else {
                other
            };
            state.as_ref() == expected
        };
        trial
            .states
            .as_ref()
            .is_ok_and(|it| it.iter().all(is_right))
    }
}
