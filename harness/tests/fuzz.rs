//! The fuzzer itself: what it tries, whom it names, and that it finds the same again. Registries
//! are played by the model here, so that a fault can be put into one of them.
use concord_harness::{
    backend::{Backend, Observed, StepFault},
    fuzz::{self, Plan, Report, Subject},
    model::{
        Actor, Agent, AgentState, Bytes32, CanonicalState, Chain, Model, Operation, Outcome,
        Referee, SetAgentWallet, Summary, SummaryQuery,
    },
    scenario,
};

/// A registry that follows the model, but for its fault.
struct Registry {
    chain: Chain,
    model: Model,
    fault: Fault,
}

#[derive(Clone, Copy, PartialEq)]
enum Fault {
    None,
    /// Accepts a consent at any time.
    NoDeadline,
    /// Counts revoked feedback in what it shows of an agent.
    Revocation,
    /// Shows another owner, in the whole state only.
    HiddenState,
}

impl Backend for Registry {
    fn name(&self) -> &'static str {
        match self.chain {
            Chain::Evm => "evm",
            Chain::Svm => "svm",
        }
    }

    fn chain(&self) -> Chain {
        self.chain
    }

    fn supports(&self, operation: &Operation) -> bool {
        operation.only_on().is_none_or(|only| only == self.chain)
    }

    fn reset(&mut self, _start: u64, _actors: &[Actor]) -> Result<(), StepFault> {
        self.model = Model::new(self.chain);
        Ok(())
    }

    fn execute(&mut self, operation: &Operation, time: u64) -> Result<Observed, StepFault> {
        let mut operation = operation.clone();
        if let Operation::SetAgentWallet(SetAgentWallet {
            consent: Some(consent),
            ..
        }) = &mut operation
            && self.fault == Fault::NoDeadline
        {
            consent.deadline = consent.deadline.clamp(time, time + 300);
        }
        Ok(self.model.apply(&operation, time).into())
    }

    fn state(&mut self) -> Result<CanonicalState, StepFault> {
        let mut state = self.model.state().clone();
        if self.fault == Fault::HiddenState {
            for agent in state.agents.values_mut() {
                agent.owner = "mallory".into();
            }
        }
        Ok(state)
    }

    fn agent_state(&mut self, agent: &Agent) -> Result<Option<AgentState>, StepFault> {
        let mut state = self.model.state().agents.get(agent).cloned();
        if self.fault == Fault::Revocation
            && let Some(state) = &mut state
        {
            let entries = state.authorized.entries.values_mut().flatten();
            entries.for_each(|entry| entry.revoked = false);
        }
        Ok(state)
    }
}

fn backends(on_evm: Fault, on_svm: Fault) -> Vec<Box<dyn Backend>> {
    let registry = |chain, fault| -> Box<dyn Backend> {
        Box::new(Registry {
            chain,
            model: Model::new(chain),
            fault,
        })
    };
    vec![registry(Chain::Evm, on_evm), registry(Chain::Svm, on_svm)]
}

fn run(steps: u64, on_evm: Fault, on_svm: Fault) -> Report {
    let plan = Plan {
        seed: 7,
        steps,
        time: None,
    };
    fuzz::run(plan, vec![backends(on_evm, on_svm)], |_| ()).expect("models answer")
}

/// The verdict on the one finding, its last operation, and how many steps lead to it.
fn found(report: &Report) -> (String, &'static str, usize) {
    let finding = report.finding.as_ref().expect("a divergence");
    let last = finding.steps.last().expect("a step").operation.name();
    (finding.divergence.verdict(), last, finding.steps.len())
}

#[test]
fn every_operation_and_mutator_is_tried() {
    let report = run(10_000, Fault::None, Fault::None);
    assert!(report.finding.is_none(), "{:#?}", report.finding);
    let metrics = &report.metrics;
    assert_eq!((report.steps, metrics.steps), (10_000, 10_000));
    assert!(3 * metrics.mutated >= metrics.steps, "{}", metrics.mutated);
    assert_eq!(metrics.vacuous(), [], "{metrics:#?}");
    // With another seed nothing is to be missing either.
    let accepted = metrics.operations.values().map(|it| it.accepted);
    let tried = metrics.mutators.values().map(|it| it.tried);
    assert!(accepted.chain(tried).all(|it| it >= 10), "{metrics:#?}");
}

#[test]
fn the_same_seed_tries_the_same() {
    let tried = |seed| {
        let plan = Plan {
            seed,
            steps: 400,
            time: None,
        };
        let workers = vec![backends(Fault::None, Fault::None)];
        let report = fuzz::run(plan, workers, |_| ()).expect("models answer");
        format!("{:?}", report.metrics)
    };
    assert_eq!(tried(7), tried(7));
    assert_ne!(tried(7), tried(8));
}

#[test]
fn a_registry_that_stands_alone_is_named_and_the_world_is_short() {
    let report = run(10_000, Fault::NoDeadline, Fault::None);
    let (verdict, last, steps) = found(&report);
    assert_eq!(verdict, "evm stands alone: model = svm ≠ evm");
    assert_eq!(last, "set_agent_wallet");
    assert!((2..=5).contains(&steps), "{steps} steps");
}

#[test]
fn a_state_that_is_wrong_after_a_step_is_seen_at_that_step() {
    let report = run(10_000, Fault::None, Fault::Revocation);
    let (verdict, last, steps) = found(&report);
    assert_eq!(verdict, "svm stands alone: model = evm ≠ svm");
    assert_eq!(last, "revoke_feedback");
    assert!((3..=6).contains(&steps), "{steps} steps");
    let wrong = &report.finding.as_ref().unwrap().divergence.wrong[0];
    assert_eq!(wrong.subject, Subject::Agent);
}

#[test]
fn a_state_that_only_the_whole_shows_is_seen_at_the_end_of_a_world() {
    let report = run(200, Fault::HiddenState, Fault::None);
    let divergence = &report.finding.as_ref().expect("a divergence").divergence;
    assert_eq!(divergence.wrong[0].subject, Subject::State);
    assert_eq!(divergence.wrong[0].participant, "evm");
}

/// A model whose averages are rounded up.
struct RoundsUp(Model);

impl Referee for RoundsUp {
    fn apply(&mut self, operation: &Operation, now: u64) -> Outcome {
        let mut outcome = self.0.apply(operation, now);
        if let (
            Operation::Summary(SummaryQuery { agent }),
            Some(Summary::Authorized { count, average }),
        ) = (operation, &mut outcome.summary)
        {
            let sum = self.0.state().agents.get(agent).map(|it| it.authorized.sum);
            *average = u8::try_from(sum.unwrap_or(0).div_ceil((*count).max(1))).unwrap();
        }
        outcome
    }

    fn state(&self) -> &CanonicalState {
        self.0.state()
    }
}

/// A model whose digest is blind to what was revoked. Its state is sound.
struct ForgetsRevocations(Model);

impl Referee for ForgetsRevocations {
    fn apply(&mut self, operation: &Operation, now: u64) -> Outcome {
        self.0.apply(operation, now)
    }

    fn state(&self) -> &CanonicalState {
        self.0.state()
    }

    fn digest(&self) -> Bytes32 {
        let mut hashed = self.0.state().clone();
        for agent in hashed.agents.values_mut() {
            let entries = agent.authorized.entries.values_mut().flatten();
            entries.for_each(|entry| entry.revoked = false);
        }
        hashed.digest()
    }
}

#[test]
fn a_model_with_a_wrong_rounding_is_named() {
    let plan = Plan {
        seed: 8,
        steps: 10_000,
        time: None,
    };
    let report = fuzz::run_under(
        |chain| Box::new(RoundsUp(Model::new(chain))),
        plan,
        vec![backends(Fault::None, Fault::None)],
        |_| (),
    )
    .expect("models answer");
    let (verdict, last, _) = found(&report);
    assert_eq!(verdict, "model stands alone: evm = svm ≠ model");
    assert_eq!(last, "summary");
}

#[test]
fn a_digest_that_forgets_revocations_is_named() {
    let plan = Plan {
        seed: 7,
        steps: 10_000,
        time: None,
    };
    let report = fuzz::run_under(
        |chain| Box::new(ForgetsRevocations(Model::new(chain))),
        plan,
        vec![backends(Fault::None, Fault::None)],
        |_| (),
    )
    .expect("models answer");
    let (verdict, last, _) = found(&report);
    assert_eq!(verdict, "model stands alone: evm = svm ≠ model");
    assert_eq!(last, "revoke_feedback");
    for wrong in &report.finding.as_ref().unwrap().divergence.wrong {
        assert_eq!(wrong.path.as_deref(), Some("digest"));
    }
}

#[test]
fn a_finding_is_a_scenario_that_the_model_plays() {
    let report = run(10_000, Fault::None, Fault::Revocation);
    let finding = report.finding.as_ref().unwrap();
    let mut document = fuzz::document(&finding.steps, &finding.divergence, 7, finding.world);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("found.json");
    scenario::fill(&mut document, &file).unwrap();
    scenario::store_document(&file, &document).unwrap();
    let scenario = scenario::load(&file).unwrap();
    assert_eq!(scenario.steps.len(), finding.steps.len());
    for (played, step) in scenario.steps.iter().zip(&finding.steps) {
        assert_eq!(played.operation, step.operation);
    }
}

#[test]
fn every_world_can_be_written_as_a_scenario() {
    let report = run(200, Fault::HiddenState, Fault::None);
    let divergence = &report.finding.as_ref().expect("a divergence").divergence;
    let folder = tempfile::tempdir().unwrap();
    for world in 0..8 {
        let steps = fuzz::steps(7, world, 200).expect("a world");
        let mut document = fuzz::document(&steps, divergence, 7, world);
        let file = folder.path().join(format!("{world}.json"));
        scenario::fill(&mut document, &file).unwrap();
        scenario::store_document(&file, &document).unwrap();
        assert_eq!(scenario::load(&file).unwrap().steps.len(), 200);
    }
}
