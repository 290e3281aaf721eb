//! The fuzzer itself: what it tries, whom it names, and that it finds the same again. Registries
//! are played by the model here, so that a fault can be put into one of them.
use concord_canonical::ErrorClass;
use concord_harness::{
    backend::{
        Backend, Observed, StepFault, TokenEventsDifference,
        impostor::{Impostor, Trial},
    },
    fuzz::{self, BOUNDS_STEPS_MIN, Plan, Recipe, Report, Subject},
    model::{
        Actor, Agent, AgentState, Bytes32, CanonicalState, Chain, Model, Operation, Outcome,
        Referee, SetAgentWallet, Summary, SummaryQuery, Verdict,
    },
    scenario,
};
use serde_json::Value;
use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
    sync::LazyLock,
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
    /// Says nothing of a transfer in the token's own events.
    SilentTransfer,
    /// Takes a URI of 201 bytes in a validation's answer, and nowhere else.
    LongEvidence,
    /// Believes an account that is not what it seems where the agent is sold.
    Impostors,
    /// Refuses each impostor, for what none is refused for.
    WrongRefusal,
    /// Has a place for impostors that none is put in.
    NoImpostors,
}

const PLACE: Impostor = Impostor::Place {
    instruction: "sale",
    account: "purse",
};
const KIND: Impostor = Impostor::Kind("forged");

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
        if let Operation::ValidationResponse(it) = &mut operation
            && self.fault == Fault::LongEvidence
            && it.uri.len() == 201
        {
            it.uri = "u".repeat(200);
        }
        let mut observed = Observed::from(self.model.apply(&operation, time));
        if self.fault == Fault::SilentTransfer
            && matches!(operation, Operation::Transfer(_))
            && observed.outcome.verdict == Verdict::Ok
        {
            observed.token_events = Some(TokenEventsDifference {
                expected: "Transfer".to_owned(),
                actual: String::new(),
            });
        }
        Ok(observed)
    }

    fn impostors(&self) -> BTreeSet<Impostor> {
        match self.fault {
            Fault::Impostors | Fault::WrongRefusal | Fault::NoImpostors => [PLACE, KIND].into(),
            _ => BTreeSet::new(),
        }
    }

    fn try_impostor(
        &mut self,
        operation: &Operation,
        time: u64,
        _draw: u64,
    ) -> Result<Option<Trial>, StepFault> {
        let Some(agent) = operation.agent().filter(|_| !self.impostors().is_empty()) else {
            return Ok(None);
        };
        let is_sale = matches!(operation, Operation::Transfer(_));
        let mut model = self.model.clone();
        let outcome = match self.fault {
            Fault::NoImpostors => return Ok(None),
            Fault::Impostors if is_sale => model.apply(operation, time),
            Fault::WrongRefusal => Outcome::refused(ErrorClass::EmptyUri),
            _ => Outcome::refused(ErrorClass::AccountMismatch),
        };
        Ok(Some(Trial {
            impostors: vec![PLACE, KIND],
            observed: outcome.into(),
            states: Ok([(agent.clone(), model.state().agents.get(agent).cloned())].into()),
            refusals: &[ErrorClass::AccountMismatch],
            may_do_as_well: false,
        }))
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

/// Enough for every bound.
static LONG_RUN: LazyLock<Report> =
    LazyLock::new(|| run(BOUNDS_STEPS_MIN, Fault::None, Fault::None));

#[test]
fn every_operation_and_mutator_is_tried() {
    let report = &*LONG_RUN;
    assert!(report.finding.is_none(), "{:#?}", report.finding);
    let metrics = &report.metrics;
    let steps = BOUNDS_STEPS_MIN;
    assert_eq!((report.steps, metrics.steps), (steps, steps));
    assert!(3 * metrics.mutated >= metrics.steps, "{}", metrics.mutated);
    assert_eq!(metrics.vacuous(), [], "{metrics:#?}");
    // With another seed nothing is to be missing either, in a quarter as many steps.
    let accepted = metrics.operations.values().map(|it| it.accepted);
    let tried = metrics.mutators.iter();
    let tried = tried.filter(|(name, _)| !name.contains('.')); // bounds are checked below
    let tried = tried.map(|(_, it)| it.tried);
    assert!(accepted.chain(tried).all(|it| it >= 32), "{metrics:#?}");
}

#[test]
fn every_bound_decides_below_at_and_above_it() {
    // R3, R8, R10, R12, R13, R16, R17, R19, R20
    let decided = &LONG_RUN.metrics.bounds;
    let places: Vec<_> = fuzz::bounds().map(|place| place.to_string()).collect();
    assert_eq!(places.len(), 3 * 46, "{places:?}");
    for place in &places {
        let times = decided.get(place).copied().unwrap_or(0);
        assert!(times >= 5, "{place} decided {times} times: {decided:#?}");
    }
}

/// Outcomes of scenarios that no mutator is made for.
const CLASSES_OF_SCENARIOS_ALONE: [(&str, &str); 1] = [(
    "ReceiverRefused",
    "the fuzzer's contract accounts take tokens, as its actors own agents",
)];

/// Every word that stands as an outcome in a scenario.
fn outcomes(value: &Value, found: &mut BTreeSet<String>) {
    match value {
        Value::Object(members) => {
            for (name, value) in members {
                let word = value.as_str().filter(|_| name == "outcome");
                found.extend(word.map(str::to_owned));
                outcomes(value, found);
            }
        }
        Value::Array(items) => items.iter().for_each(|it| outcomes(it, found)),
        _ => (),
    }
}

#[test]
fn every_class_that_scenarios_provoke_is_provoked_by_a_mutator() {
    // R25
    let scenarios = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/scenarios");
    let mut found = BTreeSet::new();
    for area in fs::read_dir(scenarios).unwrap() {
        let area = area.unwrap().path();
        for file in fs::read_dir(area).into_iter().flatten() {
            let file = file.unwrap().path();
            if file.extension().is_some_and(|it| it == "json") {
                let text = fs::read_to_string(&file).unwrap();
                outcomes(&serde_json::from_str(&text).unwrap(), &mut found);
            }
        }
    }
    found.retain(|word| word != "ok" && word != "unsupported");
    assert!(found.len() >= 35, "{found:?}");
    let mutated: BTreeSet<_> = fuzz::mutated_classes()
        .iter()
        .map(|class| class.name().to_owned())
        .collect();
    for class in &found {
        let reason = CLASSES_OF_SCENARIOS_ALONE.iter().find(|it| it.0 == class);
        assert!(
            mutated.contains(class) != reason.is_some(),
            "{class} needs a mutator, or a reason to have none, and not both"
        );
    }
}

/// What a client whose last entry is revoked tries next: the operation, how its index is to the
/// last one, and what comes of it on Solana.
fn after_a_revocation(world: u64, found: &mut BTreeMap<String, u64>) {
    let mut models = Chain::ALL.map(Model::new);
    let mut time = 0;
    for step in Recipe::fresh(7, world, 200).steps() {
        let operation = &step.operation;
        if !operation.is_read() {
            time += step.wait;
        }
        let revoked = operation.agent().and_then(|agent| {
            let record = models[1].state().agents.get(agent)?;
            let (last, is_revoked, index) = match operation {
                Operation::GiveFeedback(it) => {
                    let own = record.authorized.entries.get(&it.by)?;
                    (own.len(), own.last()?.revoked, it.index)
                }
                Operation::GiveOpenFeedback(it) => {
                    let own = record.open.entries.get(&it.by)?;
                    (own.len(), own.last()?.revoked, it.index)
                }
                _ => return None,
            };
            is_revoked.then_some((last as u64, index))
        });
        let [_, verdict] = models
            .each_mut()
            .map(|model| model.apply(operation, time).verdict);
        if let Some((last, index)) = revoked {
            let index = match index {
                None => "next",
                Some(index) if index == last => "the revoked one",
                Some(index) if index == last + 1 => "next, named",
                Some(_) => "another",
            };
            let name = operation.name();
            *found
                .entry(format!("{name} {index}: {verdict}"))
                .or_default() += 1;
        }
    }
}

#[test]
fn clients_whose_last_entry_is_revoked_go_on() {
    // R8, R12: no index is used again
    let mut found = BTreeMap::new();
    (0..50).for_each(|world| after_a_revocation(world, &mut found));
    for name in ["give_feedback", "give_open_feedback"] {
        for what in [
            "next: ok",
            "next, named: ok",
            "the revoked one: FeedbackIndexStale",
        ] {
            let words = format!("{name} {what}");
            assert!(found.get(&words) >= Some(&5), "{words}: {found:#?}");
        }
    }
}

#[test]
fn contracts_sign_in_every_role() {
    // R3, R6
    let mut found = BTreeSet::new();
    for world in 0..50 {
        let mut model = Model::new(Chain::Evm);
        let mut time = 0;
        for step in Recipe::fresh(7, world, 200).steps() {
            time += if step.operation.is_read() {
                0
            } else {
                step.wait
            };
            let outcome = model.apply(&step.operation, time).verdict;
            let (role, signer, tamper) = match &step.operation {
                Operation::GiveFeedback(it) => match &it.authorization {
                    Some(made) => ("grants", &made.signer, made.tamper.is_some()),
                    None => continue,
                },
                Operation::SetAgentWallet(it) => match &it.consent {
                    Some(made) => ("consents", &made.signer, false),
                    None => continue,
                },
                _ => continue,
            };
            if signer.is_contract() {
                let how = if tamper { "broken" } else { "sound" };
                found.insert(format!("{role}, {how}: {outcome}"));
            }
        }
    }
    for words in [
        "grants, sound: ok",
        "grants, sound: AuthExpired",
        "grants, broken: AuthNotGranted",
        "grants, broken: AuthMalformed",
        "grants, broken: AuthMissing",
        "consents, sound: ok",
        "consents, sound: WalletConsentMissing",
        "consents, sound: WalletConsentUsed",
    ] {
        assert!(found.contains(words), "{words}: {found:#?}");
    }
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

/// HARN-62
#[test]
fn events_of_the_token_are_a_wrong_outcome() {
    let report = run(10_000, Fault::SilentTransfer, Fault::None);
    let (verdict, last, _) = found(&report);
    assert_eq!(verdict, "evm differs from the others: model = svm ≠ evm");
    assert_eq!(last, "transfer");
    let divergence = &report.finding.as_ref().unwrap().divergence;
    assert_eq!(divergence.subject(), Some(Subject::Outcome));
}

#[test]
fn a_registry_that_stands_alone_is_named_and_the_world_is_short() {
    let report = run(10_000, Fault::NoDeadline, Fault::None);
    let (verdict, last, steps) = found(&report);
    assert_eq!(verdict, "evm differs from the others: model = svm ≠ evm");
    assert_eq!(last, "set_agent_wallet");
    assert!((2..=5).contains(&steps), "{steps} steps");
}

#[test]
fn an_impostor_that_is_believed_is_named_with_its_place() {
    // §3b, R25
    for (fault, actual) in [(Fault::Impostors, "ok"), (Fault::WrongRefusal, "EmptyUri")] {
        let report = run(10_000, Fault::None, fault);
        let (verdict, last, steps) = found(&report);
        assert_eq!(verdict, "svm differs from the others: model = evm ≠ svm");
        let divergence = &report.finding.as_ref().unwrap().divergence;
        assert_eq!(divergence.subject(), Some(Subject::Impostor));
        assert_eq!(steps, divergence.step, "no scenario has impostors");
        let wrong = &divergence.wrong[0];
        let named = "in place of sale.purse, kind forged";
        assert_eq!(wrong.path.as_deref(), Some(named));
        assert_eq!(wrong.actual["outcome"]["outcome"], actual);
        assert_eq!(
            wrong.expected["refused"],
            serde_json::json!(["AccountMismatch"])
        );
        assert!(fault == Fault::WrongRefusal || last == "transfer", "{last}");
    }
}

#[test]
fn a_place_that_no_impostor_was_put_in_makes_a_run_prove_too_little() {
    let untried = |report: &Report| -> Vec<String> {
        let vacuous = report.metrics.vacuous().into_iter();
        let names = vacuous.map(|it| it.what);
        names.filter(|it| it.starts_with("impostor")).collect()
    };
    let report = run(fuzz::STEPS_MIN, Fault::None, Fault::NoImpostors);
    assert!(report.finding.is_none());
    let names = [PLACE, KIND].map(|it| format!("impostor {it}"));
    assert_eq!(untried(&report), names);
    let short = run(fuzz::STEPS_MIN - 1, Fault::None, Fault::NoImpostors);
    assert!(untried(&short).is_empty(), "it cannot tell");
}

#[test]
fn a_limit_that_is_off_by_one_in_one_operation_is_found() {
    // R17
    let report = run(10_000, Fault::None, Fault::LongEvidence);
    let (verdict, last, steps) = found(&report);
    assert_eq!(verdict, "svm differs from the others: model = evm ≠ svm");
    assert_eq!((last, steps), ("validation_response", 3));
}

#[test]
fn a_state_that_is_wrong_after_a_step_is_seen_at_that_step() {
    let report = run(10_000, Fault::None, Fault::Revocation);
    let (verdict, last, steps) = found(&report);
    assert_eq!(verdict, "svm differs from the others: model = evm ≠ svm");
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
    assert_eq!(verdict, "model differs from the others: evm = svm ≠ model");
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
    assert_eq!(verdict, "model differs from the others: evm = svm ≠ model");
    assert_eq!(last, "revoke_feedback");
    for wrong in &report.finding.as_ref().unwrap().divergence.wrong {
        assert_eq!(wrong.path.as_deref(), Some("digest"));
    }
}

#[test]
fn a_finding_is_a_scenario_that_the_model_plays() {
    let report = run(10_000, Fault::None, Fault::Revocation);
    let finding = report.finding.as_ref().unwrap();
    let mut document = fuzz::document(&finding.steps, &finding.divergence, &finding.recipe);
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
        let recipe = Recipe::fresh(7, world, 200);
        let steps = recipe.steps();
        let mut document = fuzz::document(&steps, divergence, &recipe);
        let file = folder.path().join(format!("{world}.json"));
        scenario::fill(&mut document, &file).unwrap();
        scenario::store_document(&file, &document).unwrap();
        assert_eq!(scenario::load(&file).unwrap().steps.len(), 200);
    }
}
