//! How a run counts what a chain is declared to do differently, and what inconclusive.
use concord_harness::{
    backend::{Backend, Observed, StepFault},
    model::{Actor, Agent, AgentState, CanonicalState, Chain, Model, Operation, RegistryProfile},
    report::{self, Colours, Detail, Provenance},
    runner::{self, Conclusion, LeftOut, Run, StepResult, Subject},
    scenario::{Only, Scenario, load},
};
use serde_json::json;
use std::{collections::BTreeSet, path::Path};

/// A registry on `chain` that does what the model does on chain `plays`.
struct Registry {
    name: &'static str,
    chain: Chain,
    plays: Chain,
    model: Model,
    /// At its second operation it answers with an error that has no class (R25).
    is_unmapped: bool,
    /// Not ours: it clears the wallet at every transfer.
    is_canonical: bool,
}

fn registry(name: &'static str, chain: Chain, plays: Chain) -> Registry {
    Registry {
        name,
        chain,
        plays,
        model: Model::new(plays),
        is_unmapped: false,
        is_canonical: false,
    }
}

impl Backend for Registry {
    fn name(&self) -> &str {
        self.name
    }

    fn chain(&self) -> Chain {
        self.chain
    }

    fn foreign(&self) -> Option<&str> {
        self.is_canonical.then_some("canonical")
    }

    fn supports(&self, operation: &Operation) -> bool {
        operation.only_on().is_none_or(|only| only == self.plays)
    }

    fn is_known_to_lack(&self, operation: &Operation) -> bool {
        self.is_canonical && operation.is_of_the_authorized_profile()
    }

    fn reset(&mut self, _start: u64, _actors: &[Actor]) -> Result<(), StepFault> {
        self.model = Model::new(self.plays);
        Ok(())
    }

    fn execute(&mut self, operation: &Operation, time: u64) -> Result<Observed, StepFault> {
        if self.is_unmapped && !self.model.state().agents.is_empty() {
            return Err(StepFault::UnmappedError("revert <0x12345678>".to_owned()));
        }
        Ok(self.model.apply(operation, time).into())
    }

    fn state(&mut self) -> Result<CanonicalState, StepFault> {
        let mut state = self.model.state().clone();
        if self.is_canonical && state.time > 1 {
            state.agents.values_mut().for_each(|it| it.wallet = None);
        }
        Ok(state)
    }

    fn agent_state(&mut self, agent: &Agent) -> Result<Option<AgentState>, StepFault> {
        Ok(self.model.state().agents.get(agent).cloned())
    }
}

/// Steps 4 and 6 are refused with another class on Solana (declared variance 1).
fn corrupted_signature() -> Scenario {
    let file = "../tests/scenarios/authorized/corrupted-signature.json";
    load(&Path::new(env!("CARGO_MANIFEST_DIR")).join(file)).unwrap()
}

fn play(scenario: Scenario, registries: Vec<Registry>) -> Run {
    let mut backends: Vec<Box<dyn Backend>> = Vec::new();
    for registry in registries {
        backends.push(Box::new(registry));
    }
    runner::run(&[scenario], &mut backends, |_, _, _| ())
}

fn results<'a>(run: &'a Run, participant: &str) -> Vec<(usize, &'a str)> {
    let own = run
        .records
        .iter()
        .filter(|it| it.participant == participant);
    own.map(|it| (it.step, it.result.name())).collect()
}

#[test]
fn a_variance_that_is_shown_is_neither_passed_nor_failed() {
    let run = play(
        corrupted_signature(),
        vec![registry("svm", Chain::Svm, Chain::Svm)],
    );
    assert!(run.agrees());
    let expected = [
        (1, "passed"),
        (3, "passed"),
        (4, "varied"),
        (6, "varied"),
        (8, "passed"),
    ];
    assert_eq!(results(&run, "svm"), expected);
    let used = run.variances();
    let places: Vec<_> = used
        .iter()
        .map(|it| (it.kind, it.participant, it.step))
        .collect();
    assert_eq!(places, [(1, "svm", Some(4)), (1, "svm", Some(6))]);
    assert_eq!(
        (&*used[0].outcome, &*used[0].elsewhere),
        ("AuthNotGranted", "ScoreOutOfRange")
    );
}

#[test]
fn the_common_expectation_where_a_variance_is_declared_is_an_unexpected_pass() {
    let run = play(
        corrupted_signature(),
        vec![registry("svm", Chain::Svm, Chain::Evm)],
    );
    assert!(!run.agrees());
    let failures: Vec<_> = run.failures().collect();
    assert_eq!(failures.len(), 1);
    assert_eq!((failures[0].participant, failures[0].step), ("svm", 4));
    let difference = failures[0].difference;
    assert_eq!(difference.subject, Subject::UnexpectedPass);
    assert_eq!(difference.expected, "AuthNotGranted");
    assert_eq!(difference.actual, "ScoreOutOfRange");
}

#[test]
fn a_scenario_for_one_chain_is_a_declared_variance_of_the_other() {
    let mut scenario = corrupted_signature();
    scenario.only = Some(Only {
        chain: Chain::Evm,
        kind: 6,
        reason: "approvals exist on EVM only".to_owned(),
    });
    let registries = vec![
        registry("evm", Chain::Evm, Chain::Evm),
        registry("svm", Chain::Svm, Chain::Svm),
    ];
    let run = play(scenario, registries);
    assert!(run.agrees());
    let used = run.variances();
    assert_eq!(used.len(), 1, "{used:#?}");
    assert_eq!(
        (used[0].kind, used[0].participant, used[0].step),
        (6, "svm", None)
    );
    let totals = run.totals();
    assert_eq!((totals["evm"].passed, totals["evm"].absent), (5, 0));
    assert_eq!((totals["svm"].passed, totals["svm"].absent), (0, 5));
    let text = report::text(&run, Detail::Short, Colours::None);
    let verdict = "1 scenario: model, evm agree; nothing is played by svm\n";
    assert!(text.ends_with(verdict), "{text}");
    let junit = report::junit(&run, &Provenance::default());
    let skipped = "<skipped message=\"approvals exist on EVM only\"/>";
    assert_eq!(junit.matches(skipped).count(), 1, "{junit}");
}

/// HARN-60: a registry that played no step shows nothing about itself.
#[test]
fn a_registry_alone_that_plays_nothing_does_not_agree() {
    let mut scenario = corrupted_signature();
    scenario.only = Some(Only {
        chain: Chain::Evm,
        kind: 6,
        reason: "approvals exist on EVM only".to_owned(),
    });
    let run = play(scenario, vec![registry("svm", Chain::Svm, Chain::Svm)]);
    assert!(!run.agrees());
    assert_eq!(run.conclusion(), Conclusion::NothingPlayed);
    let text = report::text(&run, Detail::Short, Colours::None);
    let verdict = "\n1 scenario; nothing is played by svm\n";
    assert!(text.ends_with(verdict), "{text}");
    let json = report::json(&run, &Provenance::default());
    assert_eq!(json["agree"], false);
    assert_eq!(json["conclusion"], "nothing_played");
    // Without a backend, the model is who is asked.
    let of_model = play(corrupted_signature(), Vec::new());
    assert!(of_model.agrees());
}

/// HARN-60: nor if it declares nothing of what the scenario is about.
#[test]
fn a_registry_whose_every_step_is_undeclared_plays_nothing() {
    let concluded = |declared| {
        let registry = registry("evm", Chain::Evm, Chain::Evm);
        let mut backends: Vec<Box<dyn Backend>> = vec![Box::new(registry)];
        let scenarios = [corrupted_signature()];
        let declared = BTreeSet::from([declared]);
        runner::run_declared(&declared, &scenarios, &mut backends, |_, _, _| ()).conclusion()
    };
    let [undeclared, in_part] = [RegistryProfile::Validation, RegistryProfile::Identity];
    assert_eq!(concluded(undeclared), Conclusion::NothingPlayed);
    assert_eq!(concluded(in_part), Conclusion::NotDeclared);
}

/// HARN-60
#[test]
fn every_report_names_what_was_left_out() {
    let mut run = play(corrupted_signature(), Vec::new());
    run.left_out = vec![LeftOut {
        scenario: "authorized/expiry".to_owned(),
        reason: "the node's clock cannot be set".to_owned(),
    }];
    let provenance = Provenance::default();
    let text = report::text(&run, Detail::Short, Colours::None);
    let line = "\nleft out, as the node's clock cannot be set: authorized/expiry\n";
    assert!(text.contains(line), "{text}");
    let html = report::html(&run, &provenance);
    assert!(html.contains("<li>authorized/expiry: the node's clock cannot be set"));
    let json = report::json(&run, &provenance);
    let named =
        json!([{"scenario": "authorized/expiry", "reason": "the node's clock cannot be set"}]);
    assert_eq!(json["left_out"], named);
    let junit = report::junit(&run, &provenance);
    let suite = "tests=\"2\" failures=\"0\" errors=\"0\" skipped=\"1\"";
    assert!(junit.contains(suite), "{junit}");
    assert!(junit.contains("name=\"authorized/expiry\">"), "{junit}");
    let skipped = "<skipped message=\"the node&apos;s clock cannot be set\"/>";
    assert!(junit.contains(skipped), "{junit}");
}

/// A registry of a kind that lacks each operation of the scenario.
#[test]
fn what_a_registry_is_known_to_lack_is_nothing_played() {
    let mut scenario = corrupted_signature();
    scenario
        .steps
        .retain(|it| it.operation.is_of_the_authorized_profile());
    let canonical = Registry {
        is_canonical: true,
        ..registry("theirs", Chain::Evm, Chain::Evm)
    };
    let run = play(scenario, vec![canonical]);
    assert_eq!(run.idle(), ["theirs"]);
}

#[test]
fn what_could_not_be_checked_is_an_error_and_fails_the_run() {
    // R25
    let mut odd = registry("odd", Chain::Evm, Chain::Evm);
    odd.is_unmapped = true;
    let run = play(corrupted_signature(), vec![odd]);
    assert!(!run.agrees());
    let total = run.totals()["odd"];
    assert_eq!(
        (total.passed, total.failed, total.errors, total.not_reached),
        (1, 0, 1, 3)
    );
    let junit = report::junit(&run, &Provenance::default());
    assert!(junit.contains("<error type=\"inconclusive\""), "{junit}");
    assert!(junit.contains("revert &lt;0x12345678&gt;"), "{junit}");
    assert!(junit.contains("name=\"odd\" tests=\"1\" failures=\"0\" errors=\"1\""));
    let html = report::html(&run, &Provenance::default());
    assert!(html.contains("inconclusive"));
    let text = report::text(&run, Detail::Short, Colours::None);
    assert!(text.contains("1/0 !1 -3"), "{text}");
}

#[test]
fn results_stand_in_the_order_of_scenarios_whoever_is_faster() {
    let mut other = corrupted_signature();
    other.name = "a/other".to_owned();
    let scenarios = [corrupted_signature(), other];
    let mut backends: Vec<Box<dyn Backend>> = vec![
        Box::new(registry("one", Chain::Evm, Chain::Evm)),
        Box::new(registry("two", Chain::Svm, Chain::Svm)),
    ];
    let mut foreign = 0;
    let run = runner::run(&scenarios, &mut backends, |_, _, failed| {
        assert_eq!(failed, 0);
        foreign += 1;
    });
    assert_eq!(foreign, 6);
    let mut order: Vec<_> = run
        .records
        .iter()
        .map(|it| (it.scenario.as_str(), it.participant.as_str()))
        .collect();
    order.dedup();
    let first = "authorized/corrupted-signature";
    let expected = [
        (first, "model"),
        (first, "one"),
        (first, "two"),
        ("a/other", "model"),
        ("a/other", "one"),
        ("a/other", "two"),
    ];
    assert_eq!(order, expected);
    let absent = |it: &runner::StepRecord| it.result == StepResult::Absent;
    assert!(!run.records.iter().any(absent));
}

/// Registers, and transfers to the owner, then to others.
fn transfer_to_oneself() -> Scenario {
    let file = "../tests/scenarios/identity/transfer-clears-wallet.json";
    load(&Path::new(env!("CARGO_MANIFEST_DIR")).join(file)).unwrap()
}

#[test]
fn a_registry_that_is_not_ours_is_checked_up_to_its_known_difference() {
    let canonical = Registry {
        is_canonical: true,
        ..registry("theirs", Chain::Evm, Chain::Evm)
    };
    let ours = registry("ours", Chain::Evm, Chain::Evm);
    let run = play(transfer_to_oneself(), vec![canonical, ours]);
    assert!(run.agrees());
    let theirs: Vec<_> = results(&run, "theirs").iter().map(|it| it.1).collect();
    assert_eq!(theirs[..2], ["passed", "varied"]);
    assert!(theirs[2..].iter().all(|result| *result == "absent"));
    let ours = results(&run, "ours");
    assert!(ours.iter().all(|(_, result)| *result == "passed"));
    let used = run.variances();
    assert_eq!(used.len(), 1);
    assert_eq!((used[0].participant, used[0].step), ("theirs", Some(2)));
}

#[test]
fn a_registry_that_is_not_ours_is_checked_up_to_what_it_has_not() {
    let canonical = Registry {
        is_canonical: true,
        ..registry("theirs", Chain::Evm, Chain::Evm)
    };
    let run = play(corrupted_signature(), vec![canonical]);
    assert!(run.agrees());
    let expected = [
        (1, "passed"),
        (3, "varied"),
        (4, "absent"),
        (6, "absent"),
        (8, "absent"),
    ];
    assert_eq!(results(&run, "theirs"), expected);
    let used = run.variances();
    assert_eq!(used.len(), 1, "{used:#?}");
    assert_eq!((used[0].kind, used[0].step), (0, Some(3)));
    assert_eq!(used[0].outcome, "unsupported");
}

#[test]
fn a_known_difference_that_does_not_show_fails() {
    let sound = Registry {
        plays: Chain::Evm,
        is_canonical: true,
        model: Model::new(Chain::Evm),
        ..registry("theirs", Chain::Evm, Chain::Evm)
    };
    // At second 1 it does not clear yet: the difference is declared for a step that has none.
    let mut scenario = transfer_to_oneself();
    let foreign = scenario.steps[1].source.foreign.clone();
    scenario.steps[0].source.foreign = foreign;
    let run = play(scenario, vec![sound]);
    let failure = run.failures().next().expect("it is named");
    assert_eq!(failure.step, 1);
    assert_eq!(failure.difference.subject, Subject::UnexpectedPass);
}
