//! The rules of the scenario format that a JSON shape cannot say.
use super::{Action, Document, Expectation, Step, Tamper, story::Fault};
use crate::model::{Actor, Agent, Operation};
use std::collections::BTreeSet;

/// No chain under test starts before this time: 2020-01-01T00:00:00Z.
pub const START_MIN: u64 = 1_577_836_800;
const LABEL_MAX: usize = 32;
const VARIANCE_KINDS: std::ops::RangeInclusive<u8> = 1..=7;

pub(super) fn document(document: &Document) -> Result<(), Fault> {
    if document.rules.is_empty() {
        return fault("rules", "names no rule");
    }
    if document.start < START_MIN {
        return fault("start", format!("{} is before {START_MIN}", document.start));
    }
    let mut actors = BTreeSet::new();
    for (at, actor) in document.actors.iter().enumerate() {
        check_label(&actor.0, format!("actors[{at}]"))?;
        if !actors.insert(actor) {
            return fault(format!("actors[{at}]"), format!("`{actor}` stands twice"));
        }
    }
    for (at, step) in document.steps.iter().enumerate() {
        check_step(step, &actors, &format!("steps[{at}]"))?;
    }
    check_agents(document)
}

fn check_step(step: &Step, actors: &BTreeSet<&Actor>, path: &str) -> Result<(), Fault> {
    for actor in actors_of(&step.action) {
        if !actors.contains(actor) {
            return fault(
                format!("{path}.do"),
                format!("`{actor}` is not in `actors`"),
            );
        }
    }
    check_label(&agent_of(&step.action).0, format!("{path}.do"))?;
    match (&step.action, &step.expect) {
        (Action::Authorize(_), None) if step.variance.is_empty() => Ok(()),
        (Action::Authorize(_), _) => fault(
            format!("{path}.expect"),
            "authorize happens off chain: nothing to expect",
        ),
        (_, None) => fault(format!("{path}.expect"), "is missing"),
        (action, Some(expect)) => {
            check_summary(action, expect, format!("{path}.expect"))?;
            check_variances(step, path)
        }
    }
}

fn check_variances(step: &Step, path: &str) -> Result<(), Fault> {
    let mut chains = BTreeSet::new();
    for (at, variance) in step.variance.iter().enumerate() {
        let path = format!("{path}.variance[{at}]");
        if !VARIANCE_KINDS.contains(&variance.kind) {
            return fault(
                format!("{path}.kind"),
                format!("{} is no declared variance (1 to 7)", variance.kind),
            );
        }
        if variance.reason.trim().is_empty() {
            return fault(format!("{path}.reason"), "is empty");
        }
        if !chains.insert(variance.chain) {
            return fault(
                format!("{path}.chain"),
                format!("{} varies twice", variance.chain),
            );
        }
        check_summary(&step.action, &variance.expect, format!("{path}.expect"))?;
    }
    Ok(())
}

/// A summary is expected of a summary step, and of nothing else.
fn check_summary(action: &Action, expect: &Expectation, path: String) -> Result<(), Fault> {
    match (action, expect.summary) {
        (Action::Summary { .. }, None) => fault(format!("{path}.summary"), "is missing"),
        (Action::Summary { .. }, Some(_)) | (_, None) => Ok(()),
        (_, Some(_)) => fault(format!("{path}.summary"), "only a summary step has one"),
    }
}

/// An agent's native id exists from its registration on, so no step before it can mean it.
fn check_agents(document: &Document) -> Result<(), Fault> {
    let mut used: BTreeSet<&Agent> = BTreeSet::new();
    for (at, step) in document.steps.iter().enumerate() {
        let agent = agent_of(&step.action);
        let is_new = used.insert(agent);
        if matches!(step.action, Action::Register { .. }) && !is_new {
            return fault(
                format!("steps[{at}].do.register.agent"),
                format!("`{agent}` is used by an earlier step"),
            );
        }
    }
    Ok(())
}

/// The time of a step: a transaction's is later than that of the one before it.
pub(super) fn time(
    step: &Step,
    operation: &Operation,
    previous: u64,
    path: &str,
) -> Result<u64, Fault> {
    match step.at {
        None if operation.is_read() => Ok(previous),
        None => Ok(previous + 1),
        Some(_) if operation.is_read() => fault(format!("{path}.at"), "a read takes no time"),
        Some(at) if at > previous => Ok(at),
        Some(at) => fault(
            format!("{path}.at"),
            format!("{at} is not after {previous}, the time of the step before"),
        ),
    }
}

/// What `--bless` writes must be there, and a variance must vary.
pub(super) fn expectations_filled(document: &Document) -> Result<(), Fault> {
    for (at, step) in document.steps.iter().enumerate() {
        let path = format!("steps[{at}]");
        if let Some(expect) = &step.expect {
            filled(expect, format!("{path}.expect"))?;
        }
        for (at, variance) in step.variance.iter().enumerate() {
            let path = format!("{path}.variance[{at}].expect");
            filled(&variance.expect, path.clone())?;
            if step.expect.as_ref() == Some(&variance.expect) {
                return fault(path, "is what the step expects of every chain: no variance");
            }
        }
    }
    Ok(())
}

fn filled(expect: &Expectation, path: String) -> Result<(), Fault> {
    let missing = match (&expect.events, &expect.digest) {
        (None, _) => "events",
        (_, None) => "digest",
        _ => return Ok(()),
    };
    fault(
        format!("{path}.{missing}"),
        "is missing: `concord conform --bless` writes it from the model",
    )
}

fn actors_of(action: &Action) -> Vec<&Actor> {
    match action {
        Action::Authorize(made) => {
            let mut actors = vec![&made.signer, &made.client];
            if let Some(Tamper::SignedBy(actor)) = &made.tamper {
                actors.push(actor);
            }
            actors
        }
        Action::Register { by, .. } | Action::RevokeFeedback { by, .. } => vec![by],
        Action::Transfer { by, to, .. } => vec![by, to],
        Action::GiveFeedback(given) => vec![&given.by],
        Action::Summary { .. } => Vec::new(),
    }
}

fn agent_of(action: &Action) -> &Agent {
    match action {
        Action::Authorize(made) => &made.agent,
        Action::GiveFeedback(given) => &given.agent,
        Action::Register { agent, .. }
        | Action::Transfer { agent, .. }
        | Action::RevokeFeedback { agent, .. }
        | Action::Summary { agent } => agent,
    }
}

fn check_label(label: &str, path: String) -> Result<(), Fault> {
    let starts_well = label.starts_with(|c: char| c.is_ascii_lowercase());
    let goes_on_well = label
        .chars()
        .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-');
    if starts_well && goes_on_well && label.len() <= LABEL_MAX {
        return Ok(());
    }
    fault(
        path,
        format!(
            "`{label}` is no label: a lower-case letter, then letters, digits or hyphens, at most {LABEL_MAX}"
        ),
    )
}

fn fault<T>(path: impl Into<String>, message: impl Into<String>) -> Result<T, Fault> {
    Err((path.into(), message.into()))
}
