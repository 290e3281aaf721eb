use super::message::Ask;
use crate::backend::{StepFault, line_program::LineProgram};
use concord_canonical::json;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::time::Duration;

/// How much of an answer that cannot be read is shown, in characters.
const SHOWN: usize = 80;

/// An adapter's process, asked one thing at a time. It is killed with its owner.
pub(super) struct Program {
    lines: LineProgram,
    last_id: u64,
}

#[derive(Serialize)]
struct Request<'a> {
    id: u64,
    #[serde(flatten)]
    ask: &'a Ask<'a>,
}

/// `ok` or `error`, never both.
#[derive(Deserialize)]
#[serde(
    deny_unknown_fields,
    expecting = "an object with `id`, and `ok` or `error`"
)]
struct Reply {
    id: u64,
    #[serde(default)]
    ok: Option<Value>,
    #[serde(default)]
    error: Option<String>,
}

impl Program {
    /// Its stderr is ours; nothing but answers may come on its stdout.
    pub fn start(command: &str, limit: Duration) -> Result<Self, String> {
        let words = shlex::split(command).ok_or("a quotation mark is not closed")?;
        let (program, arguments) = words.split_first().ok_or("the command is empty")?;
        let lines = LineProgram::start(program, arguments, "adapter", limit)
            .map_err(|fault| fault.to_string())?;
        Ok(Self { lines, last_id: 0 })
    }

    /// # Errors
    /// [`StepFault::Unreachable`]: death, silence, or what is not an answer to this question.
    /// [`StepFault::UnmappedError`]: the adapter says that it met an error without a class (R25).
    pub fn ask(&mut self, ask: &Ask<'_>) -> Result<Value, StepFault> {
        self.last_id += 1;
        let id = self.last_id;
        let asked = ask.name();
        let lost = |reason: String| StepFault::Unreachable(format!("{asked}: {reason}"));
        let question = serde_json::to_string(&Request { id, ask })
            .map_err(|fault| StepFault::Inexpressible(fault.to_string()))?;
        let line = self.lines.ask(&question).map_err(lost)?;
        let reply = read_reply(&line)
            .map_err(|fault| lost(format!("`{}` is not an answer: {fault}", start_of(&line))))?;
        match reply {
            Reply { id: other, .. } if other != id => Err(lost(format!(
                "the answer's id is {other}, the question's {id}"
            ))),
            Reply {
                ok: Some(ok),
                error: None,
                ..
            } => Ok(ok),
            Reply {
                ok: None,
                error: Some(error),
                ..
            } => Err(StepFault::UnmappedError(error)),
            _ => Err(lost(
                "the answer has not one of `ok` and `error`".to_owned(),
            )),
        }
    }
}

fn read_reply(line: &[u8]) -> Result<Reply, String> {
    let reply = serde_json::from_slice(line).map_err(|fault| fault.to_string())?;
    // R22: duplicate keys, which serde would take the last of.
    json::parse(&String::from_utf8_lossy(line)).map_err(|fault| fault.to_string())?;
    Ok(reply)
}

fn start_of(line: &[u8]) -> String {
    let text = String::from_utf8_lossy(line);
    let shown: String = text.trim_end().chars().take(SHOWN).collect();
    shown.escape_debug().to_string()
}
