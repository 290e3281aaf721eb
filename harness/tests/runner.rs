//! Who is named when participants differ.
use concord_harness::{
    backend::{Backend, Observed, StepFault, TokenEventsDifference},
    model::{Actor, Agent, AgentState, Bytes32, CanonicalState, Chain, Model, Operation, Verdict},
    runner::{self, Run, StepResult, Subject},
    scenario::{Scenario, load},
};
use std::path::Path;

/// A registry that follows the model, but for what a test makes it do at its second operation.
struct Registry {
    model: Model,
    operations: usize,
    at_second: Deviation,
    capabilities: &'static [&'static str],
}

enum Deviation {
    None,
    /// Answers with this verdict; its state stays the model's.
    Verdict(Verdict),
    /// The same, with wrong events of the token.
    TokenEvents(Verdict),
    /// Forgets the owner's wallet in every state that it shows.
    State,
    UnmappedError,
}

const ALL: &[&str] = &[
    "register",
    "transfer",
    "give_feedback",
    "revoke_feedback",
    "summary",
    "approve",
];

fn registry(at_second: Deviation) -> Registry {
    Registry {
        model: Model::new(Chain::Evm),
        operations: 0,
        at_second,
        capabilities: ALL,
    }
}

impl Backend for Registry {
    fn name(&self) -> &'static str {
        "registry"
    }

    fn chain(&self) -> Chain {
        Chain::Evm
    }

    fn supports(&self, operation: &Operation) -> bool {
        self.capabilities.contains(&operation.name())
    }

    fn reset(&mut self, _start: u64, _actors: &[Actor]) -> Result<(), StepFault> {
        self.model = Model::new(Chain::Evm);
        self.operations = 0;
        Ok(())
    }

    fn execute(&mut self, operation: &Operation, time: u64) -> Result<Observed, StepFault> {
        self.operations += 1;
        let mut observed = Observed::from(self.model.apply(operation, time));
        match &self.at_second {
            Deviation::Verdict(verdict) if self.operations == 2 => {
                observed.outcome.verdict = *verdict;
            }
            Deviation::TokenEvents(verdict) if self.operations == 2 => {
                observed.outcome.verdict = *verdict;
                observed.token_events = Some(TokenEventsDifference {
                    expected: String::new(),
                    actual: "Transfer of desk from alice to bob".to_owned(),
                });
            }
            Deviation::UnmappedError if self.operations == 2 => {
                return Err(StepFault::UnmappedError("revert 0x12345678".to_owned()));
            }
            _ => (),
        }
        Ok(observed)
    }

    fn state(&mut self) -> Result<CanonicalState, StepFault> {
        let mut state = self.model.state().clone();
        if matches!(self.at_second, Deviation::State) && self.operations >= 2 {
            state
                .agents
                .values_mut()
                .for_each(|agent| agent.wallet = None);
        }
        Ok(state)
    }

    fn agent_state(&mut self, agent: &Agent) -> Result<Option<AgentState>, StepFault> {
        Ok(self.state()?.agents.remove(agent))
    }
}

/// register, then feedback that is refused with AuthMissing, twice.
fn no_authorization() -> Scenario {
    let file = "../tests/scenarios/authorized/no-authorization.json";
    load(&Path::new(env!("CARGO_MANIFEST_DIR")).join(file)).unwrap()
}

fn play(scenario: Scenario, registry: Registry) -> Run {
    runner::run(&[scenario], &mut [Box::new(registry)], |_, _, _| ())
}

fn named(run: &Run) -> Vec<(&str, usize, Subject)> {
    run.failures()
        .map(|failure| {
            (
                failure.participant,
                failure.step,
                failure.difference.subject,
            )
        })
        .collect()
}

fn verdict(name: &str) -> Deviation {
    Deviation::Verdict(name.parse().unwrap())
}

/// The scenario, with another outcome expected of its second operation (step 2).
fn expecting(outcome: &str) -> Scenario {
    let mut scenario = no_authorization();
    let expect = scenario.steps[1].source.expect.as_mut().unwrap();
    expect.outcome = outcome.parse().unwrap();
    scenario
}

#[test]
fn nobody_is_named_when_all_agree() {
    let run = play(no_authorization(), registry(Deviation::None));
    assert!(run.agrees());
    assert_eq!(named(&run), []);
}

#[test]
fn the_backend_is_named_when_it_stands_alone() {
    let run = play(no_authorization(), registry(verdict("AuthMalformed")));
    assert!(!run.agrees());
    assert_eq!(named(&run), [("registry", 2, Subject::Outcome)]);
}

#[test]
fn the_model_is_named_when_it_stands_alone() {
    let run = play(
        expecting("AuthMalformed"),
        registry(verdict("AuthMalformed")),
    );
    assert_eq!(named(&run), [("model", 2, Subject::Outcome)]);
}

#[test]
fn everybody_is_named_when_the_file_is_stale() {
    let run = play(expecting("AuthMalformed"), registry(Deviation::None));
    let everybody = [
        ("model", 2, Subject::Outcome),
        ("registry", 2, Subject::Outcome),
    ];
    assert_eq!(named(&run), everybody);
}

/// HARN-62: who accepts what must be refused has no wrong events, but a wrong outcome.
#[test]
fn events_of_the_token_are_compared_after_the_outcome() {
    for (verdict, subject) in [("AuthMissing", Subject::Events), ("ok", Subject::Outcome)] {
        let odd = registry(Deviation::TokenEvents(verdict.parse().unwrap()));
        let run = play(no_authorization(), odd);
        assert_eq!(named(&run), [("registry", 2, subject)]);
        let step = run
            .records
            .iter()
            .find(|it| it.participant == "registry" && it.step == 2);
        assert!(step.unwrap().observed.is_some(), "{verdict}");
    }
}

#[test]
fn a_state_that_differs_is_named_by_its_first_path() {
    let run = play(no_authorization(), registry(Deviation::State));
    let failure = run.failures().next().unwrap();
    assert_eq!((failure.participant, failure.step), ("registry", 2));
    let difference = failure.difference;
    assert_eq!(difference.subject, Subject::State);
    assert_eq!(difference.path.as_deref(), Some("$.agents.desk.wallet"));
    assert_eq!(
        (difference.expected.as_str(), difference.actual.as_str()),
        (Some("alice"), None)
    );
}

/// A scenario has no digest of a state that its later steps build on: the model says what it must be,
/// if it agrees with the whole file.
#[test]
fn a_model_that_is_off_the_file_judges_no_state() {
    let mut scenario = no_authorization();
    assert!(
        scenario.steps[1]
            .source
            .expect
            .as_ref()
            .unwrap()
            .digest
            .is_none()
    );
    let last = scenario.steps[2].source.expect.as_mut().unwrap();
    last.digest = Some(Bytes32([7; 32]));
    let run = play(scenario, registry(Deviation::State));
    let at_the_end = [
        ("model", 4, Subject::State),
        ("registry", 4, Subject::State),
    ];
    assert_eq!(named(&run), at_the_end);
}

#[test]
fn a_native_error_without_a_class_fails_the_step() {
    // R25
    let run = play(no_authorization(), registry(Deviation::UnmappedError));
    assert_eq!(named(&run), [("registry", 2, Subject::Fault)]);
    let words = run.failures().next().unwrap().difference.actual.to_string();
    assert!(words.contains("0x12345678"), "{words}");
}

#[test]
fn an_operation_that_a_backend_lacks_is_reported() {
    let mut limited = registry(Deviation::None);
    limited.capabilities = &["register"];
    let run = play(no_authorization(), limited);
    assert_eq!(named(&run), [("registry", 2, Subject::Capability)]);
}

#[test]
fn steps_after_a_failure_are_counted_as_not_reached() {
    let run = play(no_authorization(), registry(verdict("AuthMalformed")));
    let results: Vec<_> = run
        .records
        .iter()
        .filter(|record| record.participant == "registry")
        .map(|record| matches!(record.result, StepResult::NotReached))
        .collect();
    assert_eq!(results, [false, false, true]);
    let total = run.totals()["registry"];
    assert_eq!((total.passed, total.failed, total.not_reached), (1, 1, 1));
}
