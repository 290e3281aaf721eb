use super::message::Ask;
use crate::backend::{
    StepFault,
    child::{Child, unless_ending},
};
use concord_canonical::json;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::{
    io::{BufRead, BufReader, Read, Write},
    process::{ChildStdin, ChildStdout, Command, Stdio},
    sync::mpsc::{self, Receiver, RecvTimeoutError},
    thread,
    time::Duration,
};

/// The longest answer, in bytes: a line that has no end must not fill the memory.
const LINE_MAX: u64 = 16 << 20;
/// How much of an answer that cannot be read is shown, in characters.
const SHOWN: usize = 80;

/// An adapter's process, asked one thing at a time. It is killed with its owner.
pub(super) struct Program {
    _child: Child,
    input: ChildStdin,
    lines: Receiver<Result<Vec<u8>, String>>,
    limit: Duration,
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
#[serde(deny_unknown_fields)]
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
        let mut command = Command::new(program);
        command
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped());
        let (child, (input, output)) = Child::start(&mut command, |child| {
            child.stdin.take().zip(child.stdout.take())
        })
        .map_err(|fault| fault.to_string())?;
        Ok(Self {
            _child: child,
            input,
            lines: read_in_background(output),
            limit,
            last_id: 0,
        })
    }

    /// # Errors
    /// [`StepFault::Unreachable`]: death, silence, or what is no answer to this question.
    /// [`StepFault::UnmappedError`]: the adapter says that it met an error without a class (R25).
    pub fn ask(&mut self, ask: &Ask<'_>) -> Result<Value, StepFault> {
        unless_ending(self.answer(ask))
    }

    fn answer(&mut self, ask: &Ask<'_>) -> Result<Value, StepFault> {
        self.last_id += 1;
        let id = self.last_id;
        let asked = ask.name();
        let lost = |reason: String| StepFault::Unreachable(format!("{asked}: {reason}"));
        let mut line = serde_json::to_string(&Request { id, ask })
            .map_err(|fault| StepFault::Inexpressible(fault.to_string()))?;
        line.push('\n');
        self.input
            .write_all(line.as_bytes())
            .and_then(|()| self.input.flush())
            .map_err(|fault| lost(format!("the adapter does not read any more: {fault}")))?;
        let line = match self.lines.recv_timeout(self.limit) {
            Ok(Ok(line)) => line,
            Ok(Err(reason)) => return Err(lost(reason)),
            Err(RecvTimeoutError::Timeout) => {
                let limit = self.limit;
                return Err(lost(format!("the adapter gave no answer within {limit:?}")));
            }
            Err(RecvTimeoutError::Disconnected) => {
                return Err(lost("the adapter has ended".to_owned()));
            }
        };
        let reply = read_reply(&line)
            .map_err(|fault| lost(format!("`{}` is no answer: {fault}", start_of(&line))))?;
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

/// A thread reads, so that the harness can stop waiting. It ends with the program's output.
fn read_in_background(output: ChildStdout) -> Receiver<Result<Vec<u8>, String>> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let mut reader = BufReader::new(output);
        loop {
            let mut line = Vec::new();
            let read = (&mut reader).take(LINE_MAX).read_until(b'\n', &mut line);
            let read = match read {
                Ok(0) => return,
                Ok(_) if line.ends_with(b"\n") => Ok(line),
                Ok(read) if read as u64 == LINE_MAX => {
                    Err(format!("the answer is longer than {LINE_MAX} bytes"))
                }
                Ok(_) => Err("the adapter has ended in the middle of an answer".to_owned()),
                Err(fault) => Err(format!("the answer cannot be read: {fault}")),
            };
            let is_over = read.is_err();
            if sender.send(read).is_err() || is_over {
                return;
            }
        }
    });
    receiver
}

fn start_of(line: &[u8]) -> String {
    let text = String::from_utf8_lossy(line);
    let shown: String = text.trim_end().chars().take(SHOWN).collect();
    shown.escape_debug().to_string()
}
