use super::{Action, Authorize, Document, GiveFeedback, Rule, ScenarioFault, Step, Tamper, check};
use crate::model::{Actor, Authorization, Bytes32, Damage, Domain, Feedback, Operation};
use concord_canonical::{json, tag::Tag};
use std::{collections::BTreeMap, fs, path::Path};

/// A checked scenario: operations in order, each with its time.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// The file's name without its extension.
    pub name: String,
    pub title: String,
    /// Unix seconds.
    pub start: u64,
    pub actors: Vec<Actor>,
    pub moments: Vec<Moment>,
}

/// One on-chain step of a scenario.
#[derive(Clone, Debug)]
pub struct Moment {
    /// The step's place in the file, counted from 1; `authorize` steps have one too.
    pub number: usize,
    pub operation: Operation,
    /// Seconds after the scenario's start.
    pub time: u64,
    pub rules: Vec<Rule>,
    /// What the file says of the step.
    pub step: Step,
}

/// What is wrong, and the JSON path of the value.
pub(super) type Fault = (String, String);

/// Checks a document and resolves names into operations.
pub(super) fn tell(document: &Document, file: &Path) -> Result<Scenario, ScenarioFault> {
    let at_fault = |(path, message): Fault| ScenarioFault::new(file, path, message);
    check::document(document).map_err(at_fault)?;
    let mut authorizations = BTreeMap::new();
    let mut moments = Vec::new();
    let mut time = 0;
    for (at, step) in document.steps.iter().enumerate() {
        let path = format!("steps[{at}]");
        let resolved = match &step.action {
            Action::Authorize(made) => {
                remember(&mut authorizations, made, &path).map_err(at_fault)?;
                continue;
            }
            action => resolve(action, &authorizations, file, &path).map_err(at_fault)?,
        };
        time = check::time(step, &resolved, time, &path).map_err(at_fault)?;
        moments.push(Moment {
            number: at + 1,
            operation: resolved,
            time,
            rules: rules_of(document, step),
            step: step.clone(),
        });
    }
    Ok(Scenario {
        name: file
            .file_stem()
            .map(|stem| stem.to_string_lossy().into_owned())
            .unwrap_or_default(),
        title: document.title.clone(),
        start: document.start,
        actors: document.actors.clone(),
        moments,
    })
}

fn rules_of(document: &Document, step: &Step) -> Vec<Rule> {
    let cited = if step.rules.is_empty() {
        &document.rules
    } else {
        &step.rules
    };
    cited.clone()
}

fn remember(
    authorizations: &mut BTreeMap<String, Authorization>,
    made: &Authorize,
    path: &str,
) -> Result<(), Fault> {
    let previous = authorizations.insert(made.name.clone(), authorization(made));
    match previous {
        None => Ok(()),
        Some(_) => Err((
            format!("{path}.do.authorize.name"),
            format!("`{}` is made twice", made.name),
        )),
    }
}

fn authorization(made: &Authorize) -> Authorization {
    let elsewhere_if = |tamper| {
        if made.tamper == Some(tamper) {
            Domain::Elsewhere
        } else {
            Domain::Here
        }
    };
    Authorization {
        agent: made.agent.clone(),
        client: made.client.clone(),
        index_limit: made.index_limit,
        expiry: made.expiry,
        chain: elsewhere_if(Tamper::WrongChain),
        registry: elsewhere_if(Tamper::WrongRegistry),
        signer: made.signer.clone(),
        damage: made.tamper.as_ref().and_then(damage),
    }
}

fn damage(tamper: &Tamper) -> Option<Damage> {
    match tamper {
        Tamper::WrongChain | Tamper::WrongRegistry => None,
        Tamper::CorruptSignature => Some(Damage::SignatureCorrupted),
        Tamper::SignedBy(actor) => Some(Damage::SignedBy(actor.clone())),
        Tamper::Empty => Some(Damage::Missing),
        Tamper::Truncated => Some(Damage::Truncated),
        Tamper::Extended => Some(Damage::Extended),
    }
}

fn resolve(
    action: &Action,
    authorizations: &BTreeMap<String, Authorization>,
    file: &Path,
    path: &str,
) -> Result<Operation, Fault> {
    Ok(match action.clone() {
        Action::Authorize(_) => unreachable!("authorize is off chain"),
        Action::Register { agent, by, uri } => Operation::Register { agent, by, uri },
        Action::Transfer { agent, by, to } => Operation::Transfer { agent, by, to },
        Action::GiveFeedback(given) => {
            let path = format!("{path}.do.give_feedback");
            Operation::GiveFeedback(Box::new(feedback(given, authorizations, file, &path)?))
        }
        Action::RevokeFeedback { agent, by, index } => {
            Operation::RevokeFeedback { agent, by, index }
        }
        Action::Summary { agent } => Operation::Summary { agent },
    })
}

fn feedback(
    given: GiveFeedback,
    authorizations: &BTreeMap<String, Authorization>,
    file: &Path,
    path: &str,
) -> Result<Feedback, Fault> {
    if let Some(name) = &given.file {
        check_feedback_file(&given, &file.with_file_name(name), path)?;
    }
    let authorization = given.authorization.as_ref().map(|name| {
        authorizations.get(name).cloned().ok_or_else(|| {
            (
                format!("{path}.authorization"),
                format!("`{name}` is not made by an earlier step"),
            )
        })
    });
    Ok(Feedback {
        tag1: padded(&given.tag1, &format!("{path}.tag1"))?,
        tag2: padded(&given.tag2, &format!("{path}.tag2"))?,
        agent: given.agent,
        by: given.by,
        score: given.score,
        uri: given.uri,
        hash: given.hash.unwrap_or_default(),
        index: given.index,
        authorization: authorization.transpose()?,
    })
}

fn padded(text: &str, path: &str) -> Result<Bytes32, Fault> {
    Tag::new(text)
        .map(|tag| Bytes32(tag.padded()))
        .map_err(|fault| (path.to_owned(), fault.to_string()))
}

/// The file must be what the step says of it, and its hash the one that was written by hand.
fn check_feedback_file(given: &GiveFeedback, file: &Path, path: &str) -> Result<(), Fault> {
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
        if content[key].as_str().unwrap_or_default() != tag {
            return Err(at_fault(format!("its {key} is not `{tag}`")));
        }
    }
    if given.hash != Some(Bytes32(hash)) {
        return Err(at_fault(format!("its hash is {}", Bytes32(hash))));
    }
    Ok(())
}
