use super::{Document, Flag, Only, Rule, ScenarioFault, Step, check, flag};
use crate::model::{Actor, Authorization, Bytes32, Chain, Consent, Feedback, Operation, Payment};
use concord_canonical::json;
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Map, Value};
use std::{collections::BTreeMap, fs, path::Path};

/// A checked scenario: operations in order, each with its time.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// Its folder, which is its area, and the file's name without its extension: `authorized/expiry`.
    pub name: String,
    pub title: String,
    /// Unix seconds.
    pub start: u64,
    pub actors: Vec<Actor>,
    pub only: Option<Only>,
    pub flags: Vec<Flag>,
    pub steps: Vec<TimedStep>,
    /// What is signed off chain, by the step's number: statements that later steps send.
    pub signed: BTreeMap<usize, Step>,
}

/// One on-chain step of a scenario.
#[derive(Clone, Debug)]
pub struct TimedStep {
    /// The step's place in the file, counted from 1; off-chain steps have one too.
    pub number: usize,
    pub operation: Operation,
    /// Seconds after the scenario's start.
    pub time: u64,
    pub rules: Vec<Rule>,
    /// What the file says of the step.
    pub source: Step,
}

impl Scenario {
    /// The chains on which the scenario is played.
    pub fn chains(&self) -> impl Iterator<Item = Chain> {
        let only = self.only.as_ref().map(|only| only.chain);
        Chain::ALL
            .into_iter()
            .filter(move |chain| only.is_none_or(|only| only == *chain))
    }
}

/// What is wrong, and the JSON path of the value.
pub(super) type Fault = (String, String);

/// Checks a document and resolves names into operations.
pub(super) fn build(document: &Document, file: &Path) -> Result<Scenario, ScenarioFault> {
    let at_fault = |(path, message): Fault| ScenarioFault::new(file, path, message);
    check::document(document).map_err(at_fault)?;
    let mut statements = Statements::default();
    let mut steps = Vec::new();
    let mut signed = BTreeMap::new();
    let mut time = 0;
    for (at, step) in document.steps.iter().enumerate() {
        let path = format!("steps[{at}]");
        if statements.make(&step.action, &path).map_err(at_fault)? {
            signed.insert(at + 1, step.clone());
            continue;
        }
        let resolved = resolve(&step.action, &statements, file, &path).map_err(at_fault)?;
        time = check::time(step, &resolved, time, &path).map_err(at_fault)?;
        steps.push(TimedStep {
            number: at + 1,
            operation: resolved,
            time,
            rules: rules_of(document, step),
            source: step.clone(),
        });
    }
    let scenario = Scenario {
        name: name_of(file),
        title: document.title.clone(),
        start: document.start,
        actors: document.actors.clone(),
        only: document.only.clone(),
        flags: document.flags.clone(),
        steps,
        signed,
    };
    flag::check(&scenario).map_err(at_fault)?;
    Ok(scenario)
}

fn name_of(file: &Path) -> String {
    let text =
        |name: Option<&std::ffi::OsStr>| name.unwrap_or_default().to_string_lossy().into_owned();
    let area = text(file.parent().and_then(Path::file_name));
    let name = text(file.file_stem());
    match area.is_empty() {
        true => name, // named without a folder
        false => format!("{area}/{name}"),
    }
}

fn rules_of(document: &Document, step: &Step) -> Vec<Rule> {
    let cited = if step.rules.is_empty() {
        &document.rules
    } else {
        &step.rules
    };
    cited.clone()
}

/// What was signed off chain so far, in JSON, by kind and name.
#[derive(Default)]
struct Statements(BTreeMap<(&'static str, String), Value>);

impl Statements {
    /// Keeps the statement that a step makes; false where the step is on chain.
    fn make(&mut self, action: &Map<String, Value>, path: &str) -> Result<bool, Fault> {
        let Some((kind, content)) = action.iter().next() else {
            return Ok(false);
        };
        let path = format!("{path}.do.{kind}");
        match kind.as_str() {
            "authorize" => self.keep::<Authorization>("authorization", content, &path),
            "consent" => self.keep::<Consent>("consent", content, &path),
            "payment" => self.keep::<Payment>("payment", content, &path),
            _ => return Ok(false),
        }?;
        Ok(true)
    }

    fn keep<T: Serialize + DeserializeOwned>(
        &mut self,
        kind: &'static str,
        content: &Value,
        path: &str,
    ) -> Result<(), Fault> {
        let mut content = content.clone();
        let name = content
            .as_object_mut()
            .and_then(|it| it.shift_remove("name"));
        let Some(Value::String(name)) = name else {
            return Err((format!("{path}.name"), "is missing, or no text".to_owned()));
        };
        read::<T>(&content, path)?;
        match self.0.insert((kind, name.clone()), content) {
            None => Ok(()),
            Some(_) => Err((format!("{path}.name"), format!("`{name}` is made twice"))),
        }
    }

    /// Puts the statement itself in the place of its name.
    fn send(
        &self,
        kind: &'static str,
        arguments: &mut Map<String, Value>,
        path: &str,
    ) -> Result<(), Fault> {
        let Some(Value::String(name)) = arguments.get(kind) else {
            return Ok(());
        };
        let made = self.0.get(&(kind, name.clone())).cloned().ok_or_else(|| {
            (
                format!("{path}.{kind}"),
                format!("`{name}` is not made by an earlier step"),
            )
        })?;
        arguments.insert(kind.to_owned(), made);
        Ok(())
    }
}

fn resolve(
    action: &Map<String, Value>,
    statements: &Statements,
    file: &Path,
    path: &str,
) -> Result<Operation, Fault> {
    let mut action = action.clone();
    let mut feedback_file = None;
    for (name, arguments) in &mut action {
        let Some(arguments) = arguments.as_object_mut() else {
            continue;
        };
        let path = format!("{path}.do.{name}");
        for kind in ["authorization", "consent", "payment"] {
            statements.send(kind, arguments, &path)?;
        }
        if name == "give_feedback" {
            feedback_file = arguments.shift_remove("file");
        }
    }
    let operation = read(&Value::Object(action), &format!("{path}.do"))?;
    if let (Operation::GiveFeedback(given), Some(name)) = (&operation, &feedback_file) {
        let path = format!("{path}.do.give_feedback");
        let name = read::<String>(name, &format!("{path}.file"))?;
        check_feedback_file(given, &file.with_file_name(name), &path)?;
    }
    Ok(operation)
}

fn read<T: DeserializeOwned>(value: &Value, path: &str) -> Result<T, Fault> {
    serde_path_to_error::deserialize(value).map_err(|fault| {
        let inner = fault.path().to_string();
        let place = match inner.as_str() {
            "." => path.to_owned(),
            inner => format!("{path}.{inner}"),
        };
        (place, fault.inner().to_string())
    })
}

/// The file must be what the step says of it, and its hash the one that was written by hand.
fn check_feedback_file(given: &Feedback, file: &Path, path: &str) -> Result<(), Fault> {
    let at_fault = |message: String| {
        (
            format!("{path}.file"),
            format!("{}: {message}", file.display()),
        )
    };
    let text = fs::read_to_string(file).map_err(|fault| at_fault(fault.to_string()))?;
    let hash = json::file_hash(&text).map_err(|fault| at_fault(fault.to_string()))?; // R21
    let content: serde_json::Value =
        serde_json::from_str(&text).map_err(|fault| at_fault(fault.to_string()))?;
    if content["score"] != given.score {
        return Err(at_fault(format!("its score is not {}", given.score)));
    }
    for (key, tag) in [("tag1", &given.tag1), ("tag2", &given.tag2)] {
        if content[key].as_str().unwrap_or_default() != tag.to_string() {
            return Err(at_fault(format!("its {key} is not `{tag}`")));
        }
    }
    if given.hash != Bytes32(hash) {
        return Err(at_fault(format!("its hash is {}", Bytes32(hash))));
    }
    Ok(())
}
