//! `concord adapter check`: asks an adapter one of everything, and says of each answer whether it is
//! one of the protocol. What the answers mean, a run compares with the model.
use super::{
    ask_for, introduced,
    message::{Ask, Done, Executed, Hello, Snapshot, Viewed},
    program::Program,
};
use crate::{
    backend::{
        Observed, SetupError, StepFault,
        views::{AskedView, Shape, asked_of_adapters},
    },
    model::{
        Actor, Agent, AgentState, CanonicalState, Chain, Operation, UNLABELLED, Verdict,
        first_difference,
    },
};
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::{Value, json};
use std::{fmt, time::Duration};

/// When time begins, in unix seconds.
const START: u64 = 1_800_000_000;
const ACTORS: [&str; 4] = ["alice", "bob", "carol", "deployer"];
/// One of every operation, in an order in which a registry can accept most of them.
const SAMPLES: &str = include_str!("samples.json");

/// One question, and what is wrong with its answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checked {
    /// The question's name; for `execute` the operation's too.
    pub asked: String,
    pub fault: Option<String>,
}

/// An operation to be tried, so many seconds after the start.
#[derive(Clone, Debug, Deserialize)]
struct Sample {
    time: u64,
    operation: Operation,
}

impl fmt::Display for Checked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.fault {
            None => write!(f, "ok     {}", self.asked),
            Some(fault) => write!(f, "WRONG  {}: {fault}", self.asked),
        }
    }
}

/// Starts `command`, asks it everything, waiting up to `limit` for each answer, and calls `on_answer` with each answer. Returns how many were wrong.
///
/// # Errors
/// A command that does not start, or a program that does not introduce itself.
pub fn check(
    command: &str,
    chain: Chain,
    limit: Duration,
    on_answer: &mut dyn FnMut(&Checked),
) -> Result<usize, SetupError> {
    let setup = |reason| SetupError::Adapter {
        command: command.to_owned(),
        reason,
    };
    let (program, hello) = introduced(command, chain, limit).map_err(setup)?;
    let mut check = Check {
        program,
        hello,
        chain,
        on_answer,
        wrong: 0,
        last: 0,
    };
    check.note("hello", Ok(()));
    // Whoever stopped answering was noted where it did.
    let _ = check.everything();
    Ok(check.wrong)
}

/// The program does not answer any more.
struct Gone;

struct Check<'a> {
    program: Program,
    hello: Hello,
    chain: Chain,
    on_answer: &'a mut dyn FnMut(&Checked),
    wrong: usize,
    /// When the latest transaction was, after the start.
    last: u64,
}

impl Check<'_> {
    fn everything(&mut self) -> Result<(), Gone> {
        self.hello_again()?;
        self.empty()?;
        let samples = serde_json::from_str::<Vec<Sample>>(SAMPLES);
        for sample in samples.expect("a test reads them") {
            let operation = &sample.operation;
            let is_there = operation.only_on().is_none_or(|only| only == self.chain);
            if is_there && self.hello.operations.contains(operation.name()) {
                self.operation(&sample)?;
            }
        }
        self.every_view()?;
        self.empty()
    }

    /// It may be started again, and must be the same then.
    fn hello_again(&mut self) -> Result<(), Gone> {
        let ask = Ask::Hello {
            protocol: super::PROTOCOL,
            chain: self.chain,
        };
        let name = "hello, again";
        if let Some(again) = self.ask::<Hello>(name, &ask)? {
            let same = again == self.hello;
            let fault = "another answer than the first time".to_owned();
            self.note(name, if same { Ok(()) } else { Err(fault) });
        }
        Ok(())
    }

    /// Nothing is left of what was before.
    fn empty(&mut self) -> Result<(), Gone> {
        let actors = ACTORS.map(Actor::from);
        let ask = Ask::Reset {
            start: START,
            actors: &actors,
        };
        if self.ask::<Done>("reset", &ask)?.is_some() {
            self.note("reset", Ok(()));
        }
        self.last = 0;
        let name = "state after reset";
        if let Some(state) = self.ask::<CanonicalState>(name, &Ask::State {})? {
            self.note(
                name,
                same(&CanonicalState::default().to_json(), &state.to_json()),
            );
        }
        let agent = Agent::from("desk");
        let name = "agent_state of an unknown agent";
        if let Some(answer) = self.ask::<Snapshot>(name, &Ask::AgentState { agent: &agent })? {
            self.note(name, same(&Value::Null, &json!(answer.agent)));
        }
        Ok(())
    }

    fn operation(&mut self, sample: &Sample) -> Result<(), Gone> {
        let Sample { time, operation } = sample;
        let name = format!("execute {}", operation.name());
        let ask = Ask::Execute {
            operation,
            time: *time,
        };
        let Some(executed) = self.ask::<Executed>(&name, &ask)? else {
            return Ok(());
        };
        let observed = Observed::from(executed);
        self.note(&name, fits(operation, &observed));
        if !operation.is_read() {
            self.last = *time; // a refused transaction takes its time, too
        }
        self.state_after(operation)
    }

    fn state_after(&mut self, operation: &Operation) -> Result<(), Gone> {
        let name = format!("state after {}", operation.name());
        let Some(state) = self.ask::<CanonicalState>(&name, &Ask::State {})? else {
            return Ok(());
        };
        let last = self.last;
        self.note(&name, fits_state(&state, last));
        let Some(agent) = operation.agent() else {
            return Ok(());
        };
        let name = format!("agent_state after {}", operation.name());
        let ask = Ask::AgentState { agent };
        if let Some(alone) = self.ask::<Snapshot>(&name, &ask)? {
            let whole: Option<&AgentState> = state.agents.get(agent);
            self.note(&name, same(&json!(whole), &json!(alone.agent)));
        }
        Ok(())
    }

    /// Each view that it declares, once.
    fn every_view(&mut self) -> Result<(), Gone> {
        let declared = self.hello.views(self.chain).unwrap_or_default();
        let all = asked_of_adapters(self.chain);
        for asked in all.iter().filter(|it| declared.contains(&it.view)) {
            self.view(asked)?;
        }
        Ok(())
    }

    fn view(&mut self, asked: &AskedView) -> Result<(), Gone> {
        let view = asked.view.to_string();
        let name = format!("view {view}");
        let ask = Ask::View {
            view: &view,
            arguments: &sample_of("", &asked.arguments),
        };
        let fault = match self.ask::<Viewed>(&name, &ask)? {
            None => return Ok(()),
            Some(Viewed::Refused(_)) => Ok(()),
            Some(Viewed::Returns(value)) => {
                let form = asked.returns.check(&value);
                form.and_then(|()| has_labels_only(&value))
            }
        };
        self.note(&name, fault);
        Ok(())
    }

    /// The answer, unless it is none of the protocol; then that is noted.
    fn ask<T: DeserializeOwned>(&mut self, name: &str, ask: &Ask<'_>) -> Result<Option<T>, Gone> {
        match ask_for(&mut self.program, ask) {
            Ok(answer) => Ok(Some(answer)),
            Err(fault) => {
                let is_gone = matches!(fault, StepFault::Unreachable(_));
                self.note(name, Err(fault.in_words()));
                if is_gone { Err(Gone) } else { Ok(None) }
            }
        }
    }

    fn note(&mut self, asked: &str, result: Result<(), String>) {
        self.wrong += usize::from(result.is_err());
        (self.on_answer)(&Checked {
            asked: asked.to_owned(),
            fault: result.err(),
        });
    }
}

/// Arguments about what the samples left behind.
fn sample_of(member: &str, shape: &Shape) -> Value {
    match (shape, member) {
        (Shape::Agent, _) => "desk".into(),
        (Shape::Actor | Shape::MaybeActor, _) => "carol".into(),
        (Shape::Text, "key") => "color".into(),
        (Shape::Text | Shape::Tag, _) => "quality".into(),
        (Shape::Flag, _) => true.into(),
        (Shape::Number, "start" | "offset") => 0.into(),
        (Shape::Number, _) => 1.into(),
        (Shape::Digits, _) => "0".into(),
        (Shape::Bytes, _) => "0x01ffc9a7".into(), // ERC-165's own id
        (Shape::Word, _) => format!("0x{}", "22".repeat(32)).into(),
        (Shape::Many(Shape::Record(_)), _) => json!([]), // no parts
        (Shape::Many(item), _) => json!([sample_of(member, item)]),
        (Shape::Record(members), _) => {
            let each = members.iter();
            each.map(|(name, shape)| ((*name).to_owned(), sample_of(name, shape)))
                .collect()
        }
    }
}

/// What an outcome must have beside its class.
fn fits(operation: &Operation, observed: &Observed) -> Result<(), String> {
    let outcome = &observed.outcome;
    let is_ok = outcome.verdict == Verdict::Ok;
    if outcome.verdict == Verdict::Unsupported {
        return Err("outcome: `unsupported` of an operation that hello.operations has".to_owned());
    }
    if !is_ok && !outcome.events.is_empty() {
        return Err("events: a refused operation has none".to_owned());
    }
    if outcome.summary.is_some() != (operation.is_read() && is_ok) {
        let words = match outcome.summary {
            Some(_) => "summary: only `summary` and `open_summary` have one, if they are ok",
            None => "summary: missing",
        };
        return Err(words.to_owned());
    }
    has_labels_only(&json!(outcome.events))
}

fn fits_state(state: &CanonicalState, last: u64) -> Result<(), String> {
    if state.time != last {
        let time = state.time;
        return Err(format!(
            "time: {time}, and the latest transaction was at {last}, refused or not"
        ));
    }
    has_labels_only(&state.to_json())
}

/// Every actor of the samples has a label.
fn has_labels_only(value: &Value) -> Result<(), String> {
    match value.to_string().split_once(UNLABELLED) {
        None => Ok(()),
        Some((_, rest)) => {
            let address = rest.split('"').next().unwrap_or_default();
            Err(format!(
                "`{address}` is without a label, and no such key takes part"
            ))
        }
    }
}

fn same(expected: &Value, actual: &Value) -> Result<(), String> {
    match first_difference(expected, actual) {
        None => Ok(()),
        Some((path, expected, actual)) => {
            Err(format!("{path} is {actual}, and must be {expected}"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn the_samples_have_every_operation_once_in_the_order_of_time() {
        let samples: Vec<Sample> = serde_json::from_str(SAMPLES).unwrap();
        let names: BTreeSet<_> = samples.iter().map(|it| it.operation.name()).collect();
        assert_eq!(names, Operation::NAMES.into());
        assert_eq!(samples.len(), Operation::NAMES.len());
        assert!(samples.is_sorted_by_key(|it| it.time));
        let by = samples.iter().filter_map(|it| it.operation.by());
        assert!(by.into_iter().all(|it| ACTORS.contains(&it.0.as_str())));
    }

    #[test]
    fn every_view_has_sample_arguments_of_its_form() {
        for asked in Chain::ALL.into_iter().flat_map(asked_of_adapters) {
            let sample = sample_of("", &asked.arguments);
            assert_eq!(asked.arguments.check(&sample), Ok(()), "{}", asked.view);
        }
    }

    #[test]
    fn a_refusal_has_no_events_and_a_read_its_summary() {
        let operation = |text: &str| serde_json::from_str::<Operation>(text).unwrap();
        let observed = |text: &str| Observed::from(serde_json::from_str::<Executed>(text).unwrap());
        let unset = operation(r#"{"unset_agent_wallet": {"agent": "desk", "by": "alice"}}"#);
        let read = operation(r#"{"summary": {"agent": "desk"}}"#);
        let event = r#"{"AgentWalletSet": {"agent": "desk", "wallet": "unlabelled:0xab"}}"#;
        for (asked, answer, words) in [
            (
                &unset,
                r#"{"outcome": "unsupported"}"#.to_owned(),
                "hello.operations",
            ),
            (
                &unset,
                format!(r#"{{"outcome": "NotAuthorized", "events": [{event}]}}"#),
                "events: ",
            ),
            (
                &unset,
                format!(r#"{{"outcome": "ok", "events": [{event}]}}"#),
                "`0xab` is without",
            ),
            (&read, r#"{"outcome": "ok"}"#.to_owned(), "summary: missing"),
            (
                &unset,
                r#"{"outcome": "ok", "summary": {"count": 1, "average": 2}}"#.to_owned(),
                "summary: only",
            ),
        ] {
            let fault = fits(asked, &observed(&answer)).unwrap_err();
            assert!(fault.contains(words), "{fault}");
        }
        let summary = r#"{"outcome": "ok", "summary": {"count": 1, "average": 2}}"#;
        assert_eq!(fits(&read, &observed(summary)), Ok(()));
        assert_eq!(
            fits(&unset, &observed(r#"{"outcome": "NotAuthorized"}"#)),
            Ok(())
        );
    }
}
