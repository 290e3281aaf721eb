use super::{Metrics, START, Transition, trial::Due, world::actors};
use crate::{
    backend::{
        Backend, Observed, StepFault,
        views::{Draw, Known, ViewAnswer, ViewName},
    },
    model::{
        AgentState, CanonicalState, Chain, Operation, Outcome, Records, Referee, Verdict,
        first_difference,
    },
};
use serde::Serialize;
use serde_json::{Value, json};
use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

/// The first step at which somebody differs from the model, or a mutator from its word.
#[derive(Clone, Debug, Serialize)]
pub struct Divergence {
    /// Counted from 1.
    pub step: usize,
    pub operation: String,
    /// Whoever differs from the model, which plays for each chain.
    pub wrong: Vec<Difference>,
    /// Whoever does not.
    pub right: Vec<String>,
}

/// How one participant differs.
#[derive(Clone, Debug, Serialize)]
pub struct Difference {
    pub participant: String,
    pub subject: Subject,
    pub path: Option<String>,
    pub expected: Value,
    pub actual: Value,
    pub native_error: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Subject {
    Outcome,
    /// The agent that the step was about.
    Agent,
    /// The whole state and its digest, at the end of a world.
    State,
    /// What a view answers, at the end of a world.
    View,
    Fault,
    /// A mutated step did not provoke its class on the model.
    Mutator,
    /// A step with an account in it that is not what it seems.
    Impostor,
}

impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Outcome => "outcome",
            Self::Agent => "the agent's state",
            Self::State => "the whole state",
            Self::View => "view",
            Self::Fault => "inconclusive",
            Self::Mutator => "class that the mutator must provoke",
            Self::Impostor => "impostors",
        })
    }
}

impl Divergence {
    /// In what the first of them differs.
    pub fn subject(&self) -> Option<Subject> {
        self.wrong.first().map(|it| it.subject)
    }

    /// The participant that differs from the others.
    pub fn verdict(&self) -> String {
        let wrong: Vec<_> = self.wrong.iter().map(|it| &*it.participant).collect();
        let right: Vec<_> = self.right.iter().map(String::as_str).collect();
        let alike = self
            .wrong
            .windows(2)
            .all(|pair| pair[0].actual == pair[1].actual && pair[0].path == pair[1].path);
        match (&wrong[..], &right[..]) {
            ([alone], []) if *alone == MODEL => format!("{MODEL} and its mutators differ"),
            ([alone], right) => {
                let others = [&[MODEL], right].concat().join(" = ");
                format!("{alone} differs from the others: {others} ≠ {alone}")
            }
            (wrong, []) if alike => {
                format!(
                    "{MODEL} differs from the others: {} ≠ {MODEL}",
                    wrong.join(" = ")
                )
            }
            (wrong, right) => {
                let others = [&[MODEL], right].concat().join(" = ");
                format!("{others} ≠ {}", wrong.join(" ≠ "))
            }
        }
    }
}

const MODEL: &str = "model";

/// The referee of one chain.
pub type NewReferee = fn(Chain) -> Box<dyn Referee>;

/// Backends, and a referee for each chain.
pub struct Runner {
    backends: Vec<Box<dyn Backend>>,
    new_referee: NewReferee,
    models: [(Chain, Box<dyn Referee>); 2],
    /// What views answer beside the models' states, in the models' order.
    records: [Records; 2],
    time: u64,
    /// The views that no world has asked yet, by backend.
    not_asked: BTreeMap<String, BTreeSet<ViewName>>,
    /// Somebody waits for the end.
    stop: Arc<AtomicBool>,
}

impl Runner {
    pub fn new(
        backends: Vec<Box<dyn Backend>>,
        new_referee: NewReferee,
        stop: Arc<AtomicBool>,
    ) -> Self {
        let own = backends.iter();
        let interfaces = own.map(|it| (it.name().to_owned(), it.interface()));
        let not_asked = interfaces.collect();
        Self {
            backends,
            new_referee,
            models: Chain::ALL.map(|chain| (chain, new_referee(chain))),
            records: Default::default(),
            time: 0,
            not_asked,
            stop,
        }
    }

    /// The views that no world has asked, by backend.
    pub fn not_asked(&self) -> &BTreeMap<String, BTreeSet<ViewName>> {
        &self.not_asked
    }

    /// Is it time to end, whatever is left to do?
    pub fn must_stop(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Plays a world from its beginning to its first difference. One that is stopped before has
    /// none.
    pub fn play(
        &mut self,
        steps: &[Transition],
        mut metrics: Option<&mut Metrics>,
    ) -> Result<Option<Divergence>, StepFault> {
        self.reset(steps)?;
        if let Some(metrics) = metrics.as_deref_mut() {
            for backend in &self.backends {
                metrics.expect_impostors(&backend.impostors());
            }
        }
        for (at, step) in steps.iter().enumerate() {
            if self.must_stop() {
                return Ok(None);
            }
            let before = self.agent_states(&step.operation);
            let expected = self.expect(step);
            let found =
                self.impostor_differences(step, &before, &expected, metrics.as_deref_mut())?;
            if !found.is_empty() {
                return Ok(Some(self.divergence(at + 1, &step.operation, found)));
            }
            if let Some(metrics) = metrics.as_deref_mut() {
                metrics.count(
                    step,
                    &expected.clone().map(|(chain, it)| (chain, it.verdict)),
                );
            }
            let found = match broken_promise(step, &expected) {
                Some(difference) => vec![difference],
                None => self.differences(&step.operation, &expected)?,
            };
            if !found.is_empty() {
                return Ok(Some(self.divergence(at + 1, &step.operation, found)));
            }
        }
        let mut found = self.state_differences()?;
        if found.is_empty() {
            found = self.view_differences()?;
        }
        Ok(match steps.last() {
            Some(last) if !found.is_empty() => {
                Some(self.divergence(steps.len(), &last.operation, found))
            }
            _ => None,
        })
    }

    fn reset(&mut self, steps: &[Transition]) -> Result<(), StepFault> {
        let actors = actors(steps);
        for backend in &mut self.backends {
            backend.reset(START, &actors)?;
        }
        self.models = Chain::ALL.map(|chain| (chain, (self.new_referee)(chain)));
        self.records = Default::default();
        self.time = 0;
        Ok(())
    }

    fn expect(&mut self, step: &Transition) -> [(Chain, Outcome); 2] {
        if !step.operation.is_read() {
            self.time += step.wait;
        }
        let time = self.time;
        let expected = self
            .models
            .each_mut()
            .map(|(chain, model)| (*chain, model.apply(&step.operation, time)));
        for (records, (_, outcome)) in self.records.iter_mut().zip(&expected) {
            records.note(&step.operation, outcome, time);
        }
        expected
    }

    fn differences(
        &mut self,
        operation: &Operation,
        expected: &[(Chain, Outcome); 2],
    ) -> Result<Vec<Difference>, StepFault> {
        let mut found = Vec::new();
        for backend in &mut self.backends {
            let chain = backend.chain();
            let (Some((_, outcome)), Some((_, model))) = (
                expected.iter().find(|it| it.0 == chain),
                self.models.iter().find(|it| it.0 == chain),
            ) else {
                continue;
            };
            if outcome.verdict == Verdict::Unsupported && !backend.supports(operation) {
                continue;
            }
            let difference = match step(
                backend.as_mut(),
                operation,
                self.time,
                outcome,
                model.as_ref(),
            ) {
                Err(StepFault::Unreachable(reason)) => return Err(StepFault::Unreachable(reason)),
                Err(fault) => Some((
                    Subject::Fault,
                    None,
                    json!("an answer"),
                    json!(fault.to_string()),
                    None,
                )),
                Ok(difference) => difference,
            };
            found.extend(
                difference.map(
                    |(subject, path, expected, actual, native_error)| Difference {
                        participant: backend.name().to_owned(),
                        subject,
                        path,
                        expected,
                        actual,
                        native_error,
                    },
                ),
            );
        }
        Ok(found)
    }

    /// The agent that the operation is about, as each model has it.
    fn agent_states(&self, operation: &Operation) -> [Option<AgentState>; 2] {
        let states = self.models.each_ref();
        states.map(|(_, model)| model.state().agents.get(operation.agent()?).cloned())
    }

    /// Plays the step with impostors, where a backend has some.
    fn impostor_differences(
        &mut self,
        step: &Transition,
        before: &[Option<AgentState>; 2],
        expected: &[(Chain, Outcome); 2],
        mut metrics: Option<&mut Metrics>,
    ) -> Result<Vec<Difference>, StepFault> {
        let mut found = Vec::new();
        let Some(draw) = step.impostors else {
            return Ok(found);
        };
        let (operation, time) = (&step.operation, self.time);
        for backend in &mut self.backends {
            let at = Chain::ALL.iter().position(|it| *it == backend.chain());
            let at = at.filter(|_| backend.supports(operation));
            let Some(at) = at else { continue };
            let due = Due {
                outcome: &expected[at].1,
                agent: operation.agent(),
                before: before[at].as_ref(),
                after: &self.models[at].1.state().agents,
            };
            let difference = match backend.try_impostor(operation, time, draw) {
                Ok(None) => None,
                Ok(Some(trial)) => {
                    if let Some(metrics) = metrics.as_deref_mut() {
                        metrics.count_impostors(&trial);
                    }
                    due.difference(backend.name(), trial)
                }
                Err(StepFault::Unreachable(reason)) => return Err(StepFault::Unreachable(reason)),
                Err(fault) => Some(Difference {
                    participant: backend.name().to_owned(),
                    subject: Subject::Impostor,
                    path: None,
                    expected: json!("an answer"),
                    actual: json!(fault.to_string()),
                    native_error: None,
                }),
            };
            found.extend(difference);
        }
        Ok(found)
    }

    fn state_differences(&mut self) -> Result<Vec<Difference>, StepFault> {
        let mut found = Vec::new();
        for backend in &mut self.backends {
            let model = self.models.iter().find(|it| it.0 == backend.chain());
            let Some((_, model)) = model else {
                continue;
            };
            let (path, expected, actual) = match backend.state() {
                Ok(state) => match state_difference(model.as_ref(), &state) {
                    None => continue,
                    Some(difference) => difference,
                },
                Err(StepFault::Unreachable(reason)) => return Err(StepFault::Unreachable(reason)),
                Err(fault) => (String::new(), json!("a state"), json!(fault.to_string())),
            };
            found.push(Difference {
                participant: backend.name().to_owned(),
                subject: Subject::State,
                path: Some(path),
                expected,
                actual,
                native_error: None,
            });
        }
        Ok(found)
    }

    /// The first wrong answer of each backend, if the states are equal.
    fn view_differences(&mut self) -> Result<Vec<Difference>, StepFault> {
        let mut found = Vec::new();
        for backend in &mut self.backends {
            let mut told = self.models.iter().zip(&self.records);
            let Some(((_, model), records)) =
                told.find(|((chain, _), _)| *chain == backend.chain())
            else {
                continue;
            };
            let known = Known {
                state: model.state(),
                records,
            };
            let mut draw = Draw::of(&model.digest());
            let participant = backend.name().to_owned();
            match backend.ask_views(known, &mut draw) {
                Ok(answers) => {
                    if let Some(left) = self.not_asked.get_mut(&participant) {
                        answers.iter().for_each(|it| {
                            left.remove(&it.view);
                        });
                    }
                    found.extend(first_wrong(participant, answers));
                }
                Err(StepFault::Unreachable(reason)) => return Err(StepFault::Unreachable(reason)),
                Err(fault) => found.push(Difference {
                    participant,
                    subject: Subject::View,
                    path: None,
                    expected: json!("answers"),
                    actual: json!(fault.to_string()),
                    native_error: None,
                }),
            }
        }
        Ok(found)
    }

    fn divergence(&self, step: usize, operation: &Operation, wrong: Vec<Difference>) -> Divergence {
        let names = self.backends.iter().map(|it| it.name().to_owned());
        let is_wrong = |name: &str| wrong.iter().any(|it| it.participant == name);
        Divergence {
            step,
            operation: operation.name().to_owned(),
            right: names
                .filter(|name| !is_wrong(name.as_str()) && !is_wrong(MODEL))
                .collect(),
            wrong,
        }
    }
}

fn first_wrong(participant: String, answers: Vec<ViewAnswer>) -> Option<Difference> {
    let mut answers = answers.into_iter();
    answers.find_map(|answer| {
        let found = answer.difference?;
        Some(Difference {
            participant: participant.clone(),
            subject: Subject::View,
            path: Some(format!(
                "{} {} {}",
                answer.view, answer.arguments, found.path
            )),
            expected: found.expected,
            actual: found.actual,
            native_error: found.native_error,
        })
    })
}

/// The first place where the states differ, else the digests of equal states.
fn state_difference(model: &dyn Referee, state: &CanonicalState) -> Option<(String, Value, Value)> {
    first_difference(&model.state().to_json(), &state.to_json()).or_else(|| {
        let (expected, actual) = (model.digest(), state.digest());
        (expected != actual).then(|| ("digest".to_owned(), json!(expected), json!(actual)))
    })
}

type Found = (Subject, Option<String>, Value, Value, Option<String>);

/// Plays one step on one backend; how it differs from the model.
fn step(
    backend: &mut dyn Backend,
    operation: &Operation,
    time: u64,
    expected: &Outcome,
    model: &dyn Referee,
) -> Result<Option<Found>, StepFault> {
    let Observed {
        outcome,
        native_error,
        token_events,
        ..
    } = backend.execute(operation, time)?;
    if let Some((path, before, after)) = outcome_difference(expected, &outcome) {
        return Ok(Some((
            Subject::Outcome,
            Some(path),
            before,
            after,
            native_error,
        )));
    }
    if let Some(found) = token_events {
        return Ok(Some((
            Subject::Outcome,
            Some("$.token_events".to_owned()),
            json!(found.expected),
            json!(found.actual),
            native_error,
        )));
    }
    let Some(agent) = operation.agent().filter(|_| !operation.is_read()) else {
        return Ok(None);
    };
    let actual = backend.agent_state(agent)?;
    let expected = model.state().agents.get(agent);
    if actual.as_ref() == expected {
        return Ok(None);
    }
    Ok(first_difference(&json!(expected), &json!(actual))
        .map(|(path, before, after)| (Subject::Agent, Some(path), before, after, None)))
}

/// The outcome itself before what came with it.
pub(super) fn outcome_difference(
    expected: &Outcome,
    actual: &Outcome,
) -> Option<(String, Value, Value)> {
    if expected.verdict != actual.verdict {
        let path = "$.outcome".to_owned();
        return Some((path, json!(expected.verdict), json!(actual.verdict)));
    }
    first_difference(&readable(expected), &readable(actual))
}

pub(super) fn readable(outcome: &Outcome) -> Value {
    json!({
        "outcome": outcome.verdict,
        "events": outcome.events,
        "summary": outcome.summary,
    })
}

/// A mutator names its class apart from the model.
fn broken_promise(step: &Transition, expected: &[(Chain, Outcome); 2]) -> Option<Difference> {
    let mutation = step.mutation?;
    expected.iter().find_map(|(chain, outcome)| {
        let must = Verdict::Refused(mutation.must(*chain)?);
        (outcome.verdict != must).then(|| Difference {
            participant: MODEL.to_owned(),
            subject: Subject::Mutator,
            path: Some(format!("{} on {chain}", mutation.name)),
            expected: json!(must),
            actual: json!(outcome.verdict),
            native_error: None,
        })
    })
}
