//! Another program that answers one line on stdout for each line on its stdin.
use super::child::{Child, unless_ending};
use std::{
    ffi::OsStr,
    io::{self, BufRead, BufReader, Read, Write},
    process::{ChildStdin, ChildStdout, Command, Stdio},
    sync::mpsc::{self, Receiver, RecvTimeoutError},
    thread,
    time::Duration,
};

/// The longest answer, in bytes: a line that has no end must not fill the memory.
const LINE_MAX: u64 = 16 << 20;

/// Its process, asked one thing at a time. It is killed with its owner.
pub(crate) struct LineProgram {
    _child: Child,
    input: ChildStdin,
    lines: Receiver<Result<Vec<u8>, String>>,
    /// What messages call it.
    role: &'static str,
    limit: Duration,
}

impl LineProgram {
    /// Starts it. Its stderr is ours; nothing but answers may come on its stdout, each within
    /// `limit`.
    ///
    /// # Errors
    /// It does not start.
    pub fn start(
        program: impl AsRef<OsStr>,
        arguments: impl IntoIterator<Item = impl AsRef<OsStr>>,
        role: &'static str,
        limit: Duration,
    ) -> io::Result<Self> {
        let mut command = Command::new(program);
        command
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped());
        let (child, (input, output)) = Child::start(&mut command, |child| {
            child.stdin.take().zip(child.stdout.take())
        })?;
        Ok(Self {
            _child: child,
            input,
            lines: read_in_background(output, role),
            role,
            limit,
        })
    }

    /// Writes a question, which is one line, and waits for the line that answers it.
    ///
    /// # Errors
    /// Death, silence, or a line without an end. The program cannot be asked any more then.
    pub fn ask(&mut self, question: &str) -> Result<Vec<u8>, String> {
        unless_ending(self.answer(question))
    }

    fn answer(&mut self, question: &str) -> Result<Vec<u8>, String> {
        let role = self.role;
        let line = format!("{question}\n");
        self.input
            .write_all(line.as_bytes())
            .and_then(|()| self.input.flush())
            .map_err(|fault| format!("the {role} does not read any more: {fault}"))?;
        match self.lines.recv_timeout(self.limit) {
            Ok(line) => line,
            Err(RecvTimeoutError::Timeout) => {
                let limit = self.limit;
                Err(format!("the {role} gave no answer within {limit:?}"))
            }
            Err(RecvTimeoutError::Disconnected) => Err(format!("the {role} has ended")),
        }
    }
}

/// A thread reads, so that the harness can stop waiting. It ends with the program's output.
fn read_in_background(
    output: ChildStdout,
    role: &'static str,
) -> Receiver<Result<Vec<u8>, String>> {
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
                Ok(_) => Err(format!("the {role} has ended in the middle of an answer")),
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
