//! The rules of the scenario format that a JSON shape cannot say.
use super::{Document, Expectation, Foreign, Step, timeline::Fault};
use crate::model::{Operation, Summary, Verdict};
use serde_json::{Map, Value};
use std::collections::BTreeSet;

/// No chain under test starts before this time: 2020-01-01T00:00:00Z.
pub const START_MIN: u64 = 1_577_836_800;
/// The last second that has a date of four digits: 9999-12-31T23:59:59Z.
pub const TIME_MAX: u64 = 253_402_300_799;
const OFF_CHAIN: &[&str] = &["authorize", "consent", "payment"];
const VARIANCE_KINDS: std::ops::RangeInclusive<u8> = 1..=7;

pub(super) fn document(document: &Document) -> Result<(), Fault> {
    if document.rules.is_empty() {
        return fault("rules", "names no rule");
    }
    if document.start < START_MIN {
        return fault("start", format!("{} is before {START_MIN}", document.start));
    }
    if document.start > TIME_MAX {
        return fault(
            "start",
            format!("{} is after {TIME_MAX}, the year 9999", document.start),
        );
    }
    let plays = |step: &Step| step.action.keys().any(|name| !is_off_chain(name));
    if !document.steps.iter().any(plays) {
        return fault("steps", "calls no registry");
    }
    if let Some(only) = &document.only {
        check_kind_and_reason(only.kind, &only.reason, "only")?;
    }
    let mut actors = BTreeSet::new();
    for (at, actor) in document.actors.iter().enumerate() {
        if !actors.insert(actor.0.as_str()) {
            return fault(
                format!("actors[{at}]"),
                format!("`{actor}` is listed twice"),
            );
        }
    }
    for (at, step) in document.steps.iter().enumerate() {
        let path = format!("steps[{at}]");
        check_step(step, &actors, &path)?;
        check_time(step, document.start, &path)?;
    }
    check_agents(document)
}

fn check_step(step: &Step, actors: &BTreeSet<&str>, path: &str) -> Result<(), Fault> {
    let Some(name) = step.action.keys().next().filter(|_| step.action.len() == 1) else {
        return fault(format!("{path}.do"), "does not have one member");
    };
    for actor in actors_of(&step.action) {
        if !actors.contains(actor) {
            return fault(
                format!("{path}.do"),
                format!("`{actor}` is not in `actors`"),
            );
        }
    }
    if is_off_chain(name) && (step.at.is_some() || !step.foreign.is_empty()) {
        let message = format!("{name} happens off chain: no `at`, no `foreign`");
        return fault(path, message);
    }
    match (is_off_chain(name), &step.expect) {
        (true, None) if step.variance.is_empty() => Ok(()),
        (true, _) => fault(
            format!("{path}.expect"),
            format!("{name} happens off chain: nothing to expect"),
        ),
        (false, None) => fault(format!("{path}.expect"), "is missing"),
        (false, Some(expect)) => {
            check_summary(name, expect, format!("{path}.expect"))?;
            check_variances(step, name, path)
        }
    }
}

fn check_time(step: &Step, start: u64, path: &str) -> Result<(), Fault> {
    let limit = TIME_MAX - start;
    match step.at {
        Some(at) if at > limit => fault(
            format!("{path}.at"),
            format!("{at} is more than {limit}: after the year 9999"),
        ),
        _ => Ok(()),
    }
}

/// Does this member of a step make a statement, rather than call a registry?
pub(super) fn is_off_chain(name: &str) -> bool {
    OFF_CHAIN.contains(&name)
}

fn check_kind_and_reason(kind: u8, reason: &str, path: &str) -> Result<(), Fault> {
    if !VARIANCE_KINDS.contains(&kind) {
        return fault(
            format!("{path}.kind"),
            format!("{kind} is not a declared variance (1 to 7)"),
        );
    }
    if reason.trim().is_empty() {
        return fault(format!("{path}.reason"), "is empty");
    }
    Ok(())
}

fn check_variances(step: &Step, name: &str, path: &str) -> Result<(), Fault> {
    for (at, foreign) in step.foreign.iter().enumerate() {
        check_foreign(step, foreign, &format!("{path}.foreign[{at}]"))?;
    }
    let mut chains = BTreeSet::new();
    for (at, variance) in step.variance.iter().enumerate() {
        let path = format!("{path}.variance[{at}]");
        check_kind_and_reason(variance.kind, &variance.reason, &path)?;
        if !chains.insert(variance.chain) {
            return fault(
                format!("{path}.chain"),
                format!("{} varies twice", variance.chain),
            );
        }
        check_summary(name, &variance.expect, format!("{path}.expect"))?;
    }
    Ok(())
}

/// A known difference of a registry that is not ours must be one, and say why.
fn check_foreign(step: &Step, foreign: &Foreign, path: &str) -> Result<(), Fault> {
    if foreign.reason.trim().is_empty() {
        return fault(format!("{path}.reason"), "is empty");
    }
    let common = step.expect.as_ref();
    let answer = (foreign.outcome, foreign.summary);
    match foreign.outcome {
        None if foreign.summary.is_some() => fault(format!("{path}.outcome"), "is missing"),
        _ if common.is_some_and(|it| (Some(it.outcome), it.summary) == answer) => fault(
            path,
            "equals the common expectation of the step: not a difference",
        ),
        _ => Ok(()),
    }
}

/// A summary is expected of an accepted summary step of its profile, and of nothing else.
fn check_summary(name: &str, expect: &Expectation, path: String) -> Result<(), Fault> {
    let is_answered = expect.outcome == Verdict::Ok;
    match (name, expect.summary) {
        ("summary", Some(Summary::Authorized { .. })) if is_answered => Ok(()),
        ("open_summary", Some(Summary::Open { .. })) if is_answered => Ok(()),
        ("summary" | "open_summary", None) if is_answered => {
            fault(format!("{path}.summary"), "is missing")
        }
        (_, None) => Ok(()),
        (name, Some(_)) => fault(
            format!("{path}.summary"),
            format!("is not what {name} answers"),
        ),
    }
}

/// An agent's native id exists from its registration on, so no step before it can mean it.
fn check_agents(document: &Document) -> Result<(), Fault> {
    let mut used = BTreeSet::new();
    for (at, step) in document.steps.iter().enumerate() {
        let Some(agent) = agent_of(&step.action) else {
            continue;
        };
        let is_new = used.insert(agent);
        if step.action.contains_key("register") && !is_new {
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

/// What `concord fill` writes must be there, and a variance must vary.
pub(super) fn expectations_filled(document: &Document) -> Result<(), Fault> {
    let last = document.last_on_chain();
    for (at, step) in document.steps.iter().enumerate() {
        let has_digest = Some(at) == last || step.shows_state();
        let path = format!("steps[{at}]");
        if let Some(expect) = &step.expect {
            filled(expect, has_digest, format!("{path}.expect"))?;
        }
        for (at, variance) in step.variance.iter().enumerate() {
            let path = format!("{path}.variance[{at}].expect");
            filled(&variance.expect, has_digest, path.clone())?;
            if step.expect.as_ref() == Some(&variance.expect) {
                return fault(path, "is what the step expects of every chain: no variance");
            }
        }
    }
    Ok(())
}

fn filled(expect: &Expectation, has_digest: bool, path: String) -> Result<(), Fault> {
    let missing = match (&expect.events, &expect.digest) {
        (None, _) => "events",
        (_, None) if has_digest => "digest",
        _ => return Ok(()),
    };
    fault(
        format!("{path}.{missing}"),
        "is missing: `concord fill` writes it from the model",
    )
}

/// The members of a step's JSON that hold actors' labels, one or a list.
const ACTOR_MEMBERS: &[&str] = &[
    "authority",
    "by",
    "client",
    "clients",
    "facilitator",
    "operator",
    "owner",
    "payee",
    "payer",
    "signed_by",
    "signer",
    "successor",
    "to",
    "token",
    "validator",
    "wallet",
];

/// Every actor that a step names.
fn actors_of(action: &Map<String, Value>) -> Vec<&str> {
    let mut found = Vec::new();
    for (name, value) in action {
        match value {
            Value::Object(members) => found.extend(actors_of(members)),
            Value::String(label) if ACTOR_MEMBERS.contains(&name.as_str()) => found.push(label),
            Value::Array(labels) if ACTOR_MEMBERS.contains(&name.as_str()) => {
                found.extend(labels.iter().filter_map(Value::as_str));
            }
            _ => (),
        }
    }
    found
}

/// The agent that a step is about, on chain or off.
fn agent_of(action: &Map<String, Value>) -> Option<&str> {
    action.values().next()?.get("agent")?.as_str()
}

fn fault<T>(path: impl Into<String>, message: impl Into<String>) -> Result<T, Fault> {
    Err((path.into(), message.into()))
}
