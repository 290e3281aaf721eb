use super::{file::Vector, secret};
use crate::backend::line_program::LineProgram;
use concord_canonical::json;
use serde::Deserialize;
use serde_json::{Value, json};
use std::{ffi::OsString, time::Duration};

/// How much of a line that is not an answer is shown, in characters.
const SHOWN: usize = 80;
/// The class with which a program says that its function does not cover a request.
const UNSUPPORTED: &str = "Unsupported";
/// The class of a refusal for which the program has no class of the protocol.
const REFUSED: &str = "Refused";

/// How a program is started.
#[derive(Clone, Debug)]
pub struct Command {
    pub program: OsString,
    pub arguments: Vec<OsString>,
    /// How long it may take over one answer.
    pub limit: Duration,
}

/// Why a program cannot be asked at all.
#[derive(Debug, thiserror::Error)]
pub enum ProgramFault {
    #[error("it does not start: {0}")]
    Start(std::io::Error),
    #[error("functions: {0}")]
    Introduction(String),
    #[error("functions: it declares {0:?}, which is not an oracle function")]
    UnknownFunction(String),
}

/// What a program says to a request.
#[derive(Debug, PartialEq)]
pub(super) enum Answer {
    Ok(Value),
    /// The error's class, unless it has none of the protocol.
    Error(Option<String>),
    /// The declared function does not cover this request.
    Unsupported,
}

/// A program that has introduced itself.
pub(super) struct Program {
    lines: LineProgram,
    /// The functions that it declares.
    pub functions: Vec<String>,
}

#[derive(Deserialize)]
#[serde(
    deny_unknown_fields,
    expecting = "an object with `id`, and `ok` or `error`"
)]
struct Reply {
    id: Value,
    // Two layers, as `"ok": null` is a result.
    #[serde(default, deserialize_with = "present")]
    ok: Option<Value>,
    #[serde(default)]
    error: Option<Refusal>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Refusal {
    #[serde(default)]
    class: Option<String>,
    #[serde(default, rename = "message")]
    _message: Option<String>,
}

fn present<'de, D: serde::Deserializer<'de>>(value: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(value).map(Some)
}

impl Program {
    /// Starts it and asks for its functions, which must be of `known`.
    pub fn start(command: &Command, known: &[&str]) -> Result<Self, ProgramFault> {
        let Command {
            program,
            arguments,
            limit,
        } = command;
        let lines = LineProgram::start(program, arguments, "program", *limit);
        let mut program = Self {
            lines: lines.map_err(ProgramFault::Start)?,
            functions: Vec::new(),
        };
        program.functions = program.introduce()?;
        let mut declared = program.functions.iter();
        match declared.find(|name| !known.contains(&name.as_str())) {
            Some(unknown) => Err(ProgramFault::UnknownFunction(unknown.clone())),
            None => Ok(program),
        }
    }

    fn introduce(&mut self) -> Result<Vec<String>, ProgramFault> {
        let id = json!("functions");
        let question = json!({"id": id, "fn": "functions"}).to_string();
        let answer = self.question(&question, &id, None);
        match answer.map_err(ProgramFault::Introduction)? {
            Answer::Ok(functions) => serde_json::from_value(functions).map_err(|_| {
                ProgramFault::Introduction("the answer is not a list of names".to_owned())
            }),
            _ => Err(ProgramFault::Introduction(
                "the answer is an error, must be the list of functions that it has".to_owned(),
            )),
        }
    }

    /// # Errors
    /// Death, silence, or what is not an answer to this request. It cannot be asked further then.
    pub fn ask(&mut self, vector: &Vector) -> Result<Answer, String> {
        let question = Value::Object(vector.request.clone()).to_string();
        let id = vector.request.get("id").cloned().unwrap_or_default();
        self.question(&question, &id, vector.secret())
    }

    fn question(
        &mut self,
        question: &str,
        id: &Value,
        secret: Option<&str>,
    ) -> Result<Answer, String> {
        let line = self.lines.ask(question)?;
        let reply = read(&line).map_err(|fault| match secret {
            // A parser's words may quote what they do not understand.
            Some(_) => {
                "the line is not an answer; it is not shown, as the request had a secret key"
                    .to_owned()
            }
            None => format!("`{}` is not an answer: {fault}", start_of(&line)),
        })?;
        if reply.id != *id {
            let found = secret::without(secret, &reply.id.to_string());
            let found: String = found.chars().take(SHOWN).collect();
            return Err(format!("the answer's id is {found}, the request's {id}"));
        }
        match (reply.ok, reply.error) {
            (Some(ok), None) => Ok(Answer::Ok(ok)),
            (None, Some(error)) => Ok(error.into()),
            _ => Err("the answer has not one of `ok` and `error`".to_owned()),
        }
    }
}

impl From<Refusal> for Answer {
    fn from(refusal: Refusal) -> Self {
        match refusal.class {
            Some(class) if class == UNSUPPORTED => Self::Unsupported,
            Some(class) if class == REFUSED => Self::Error(None),
            class => Self::Error(class),
        }
    }
}

fn read(line: &[u8]) -> Result<Reply, String> {
    let reply = serde_json::from_slice(line).map_err(|fault| fault.to_string())?;
    // R22: duplicate keys, of which serde would take one.
    let text = std::str::from_utf8(line).map_err(|fault| fault.to_string())?;
    json::parse(text).map_err(|fault| fault.to_string())?;
    Ok(reply)
}

fn start_of(line: &[u8]) -> String {
    let text = String::from_utf8_lossy(line);
    let shown: String = text.trim_end().chars().take(SHOWN).collect();
    shown.escape_debug().to_string()
}
