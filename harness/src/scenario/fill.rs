use super::{Document, Expectation, Scenario, ScenarioFault, Variance, timeline};
use crate::model::{Bytes32, Chain, Model, Outcome, Verdict};
use std::path::Path;

/// Writes into `document` the events that the model expects of each step, and the digests of the
/// states at the scenario's end and wherever chains differ. `outcome` and `summary`
/// stay as they were written by hand.
///
/// # Errors
/// A faulty document; an outcome or a summary that the model does not come to.
pub fn fill(document: &mut Document, file: &Path) -> Result<(), ScenarioFault> {
    let scenario = timeline::build(document, file)?;
    check_only(&scenario).map_err(|message| ScenarioFault::new(file, "only", message))?;
    declare_unsupported(document, &scenario);
    for chain in scenario.chains() {
        fill_for_chain(document, &scenario, chain, file)?;
    }
    drop_digests(document);
    Ok(())
}

/// A state that the next steps build on needs no digest of its own.
fn drop_digests(document: &mut Document) {
    let last = document.last_on_chain();
    let steps = document.steps.iter_mut().enumerate();
    for (_, step) in steps.filter(|(at, step)| Some(*at) != last && !step.shows_state()) {
        if let Some(expect) = &mut step.expect {
            expect.digest = None;
        }
    }
}

/// A chain may be left out only where it would come to something else, and for the kind of variance
/// that its first difference is of, where the operation says which.
fn check_only(scenario: &Scenario) -> Result<(), String> {
    let Some(only) = &scenario.only else {
        return Ok(());
    };
    let mut models = Chain::ALL.map(Model::new);
    let differing = scenario.steps.iter().find(|step| {
        let [one, other] = (models.each_mut()).map(|model| model.apply(&step.operation, step.time));
        one != other
    });
    match differing.map(|step| (step.number, step.operation.absence())) {
        None => Err(format!(
            "both chains have the same result: remove `only: {}`",
            only.chain
        )),
        Some((number, Some((chain, kind, _)))) if (chain, kind) != (only.chain, only.kind) => {
            Err(format!(
                "step {number} exists on {chain} alone, by variance {kind}: not {}, {}",
                only.chain, only.kind
            ))
        }
        _ => Ok(()),
    }
}

/// What only one chain can express is a declared variance of the other, which needs no words of
/// the author's.
fn declare_unsupported(document: &mut Document, scenario: &Scenario) {
    for step in &scenario.steps {
        let Some((only, kind, reason)) = step.operation.absence() else {
            continue;
        };
        let absent = scenario.chains().find(|chain| *chain != only);
        let step = &mut document.steps[step.number - 1];
        let is_declared = |chain| step.variance.iter().any(|it| it.chain == chain);
        let Some(chain) = absent.filter(|chain| !is_declared(*chain)) else {
            continue;
        };
        step.variance.push(Variance {
            kind,
            chain,
            reason: reason.to_owned(),
            expect: Expectation {
                outcome: Verdict::Unsupported,
                summary: None,
                events: None,
                digest: None,
            },
        });
    }
}

/// Both chains write the expectation that they share; the second must agree with the first.
fn fill_for_chain(
    document: &mut Document,
    scenario: &Scenario,
    chain: Chain,
    file: &Path,
) -> Result<(), ScenarioFault> {
    let mut model = Model::new(chain);
    for timed in &scenario.steps {
        let at = timed.number - 1;
        let step = &mut document.steps[at];
        let path = format!("steps[{at}].{}", step.expectation_path(chain));
        let is_shared = !step.variance.iter().any(|variance| variance.chain == chain);
        let outcome = model.apply(&timed.operation, timed.time);
        let digest = model.state().digest();
        let written_by_first = is_shared
            && chain != Chain::ALL[0]
            && scenario.only.is_none()
            && !step
                .variance
                .iter()
                .any(|variance| variance.chain == Chain::ALL[0]);
        let expect = expectation_mut(step, chain);
        check_by_hand(expect, &outcome, chain)
            .map_err(|message| ScenarioFault::new(file, path.clone(), message))?;
        if written_by_first && !agrees(expect, &outcome, digest) {
            return Err(ScenarioFault::new(
                file,
                path,
                "the model's chains differ here: declare a variance",
            ));
        }
        expect.events = Some(outcome.events);
        expect.digest = Some(digest);
    }
    Ok(())
}

fn expectation_mut(step: &mut super::Step, chain: Chain) -> &mut Expectation {
    let varied = step
        .variance
        .iter_mut()
        .find(|variance| variance.chain == chain)
        .map(|variance| &mut variance.expect);
    varied
        .or(step.expect.as_mut())
        .expect("a checked on-chain step has an expectation")
}

fn check_by_hand(expect: &Expectation, outcome: &Outcome, chain: Chain) -> Result<(), String> {
    if expect.outcome != outcome.verdict {
        return Err(format!(
            "outcome: the file says {}, the model says {} on {chain}",
            expect.outcome, outcome.verdict
        ));
    }
    if expect.summary != outcome.summary {
        return Err(format!(
            "summary: the file says {:?}, the model says {:?} on {chain}",
            expect.summary, outcome.summary
        ));
    }
    Ok(())
}

fn agrees(expect: &Expectation, outcome: &Outcome, digest: Bytes32) -> bool {
    expect.events.as_ref() == Some(&outcome.events) && expect.digest == Some(digest)
}
