//! Events in a transaction's log: lines that the runtime writes while the program runs.
//!
//! The lines name each call's program and depth, so that every `Program data:` line belongs to one
//! call. Precompiles are top-level instructions without lines. What a program says itself begins
//! with `Program log:`, so it cannot imitate them.
use super::{TopLevel, Transaction};
use crate::{
    event::Position,
    svm::programs::{ED25519, SECP256K1, SECP256R1},
};
use alloc::{
    string::{String, ToString},
    vec::Vec,
};
use base64::{Engine, engine::general_purpose::STANDARD as BASE64};
use solana_address::Address;

const TRUNCATED: &str = "Log truncated";

/// The program's lines of data.
pub(super) struct Logged {
    pub events: Vec<(Position, Vec<u8>)>,
    pub is_truncated: bool,
}

/// The lines of `program` in the log, but for those without the 8 bytes of an event.
pub(super) fn read(program: Address, transaction: &Transaction) -> Logged {
    let mut reader = Reader {
        program: program.to_string(),
        instructions: &transaction.instructions,
        next: 0,
        running: Vec::new(),
        calls: 0,
        events: Vec::new(),
    };
    for line in &transaction.logs {
        reader.line(line);
    }
    Logged {
        events: reader.events,
        is_truncated: transaction.logs.iter().any(|line| line == TRUNCATED),
    }
}

/// A call that has not returned.
struct Running {
    is_ours: bool,
    call: u32,
    /// Lines of data so far.
    lines: u32,
}

struct Reader<'a> {
    program: String,
    instructions: &'a [TopLevel],
    /// The index of the top-level instruction that begins next.
    next: u32,
    running: Vec<Running>,
    /// Calls that the top-level instruction has made.
    calls: u32,
    events: Vec<(Position, Vec<u8>)>,
}

impl Reader<'_> {
    fn line(&mut self, line: &str) {
        let Some(rest) = line.strip_prefix("Program ") else {
            return;
        };
        if let Some(data) = rest.strip_prefix("data: ") {
            return self.data(data);
        }
        let Some((program, said)) = rest.split_once(' ') else {
            return;
        };
        if program.ends_with(':') {
            return; // the program's own words, or its return data
        }
        if let Some(depth) = said.strip_prefix("invoke [") {
            self.begin(program, depth == "1]");
        } else if said == "success" || said.starts_with("failed") {
            self.running.pop();
        }
    }

    fn begin(&mut self, program: &str, is_top_level: bool) {
        if is_top_level {
            self.skip_precompiles();
            self.next += 1;
            (self.calls, self.running) = (0, Vec::new());
        } else {
            self.calls += 1;
        }
        self.running.push(Running {
            is_ours: program == self.program,
            call: self.calls,
            lines: 0,
        });
    }

    fn skip_precompiles(&mut self) {
        let is_silent = |top: &TopLevel| [ED25519, SECP256K1, SECP256R1].contains(&top.program);
        while self.upcoming().is_some_and(is_silent) {
            self.next += 1;
        }
    }

    fn upcoming(&self) -> Option<&TopLevel> {
        self.instructions.get(usize::try_from(self.next).ok()?)
    }

    fn data(&mut self, text: &str) {
        let Some(running) = self.running.last_mut().filter(|it| it.is_ours) else {
            return;
        };
        running.lines += 1;
        let position = Position::Svm {
            instruction: self.next.saturating_sub(1),
            call: running.call,
            line: running.lines,
        };
        // A runtime writes base64 only; anything else is kept unchanged.
        let data = BASE64
            .decode(text)
            .unwrap_or_else(|_| text.as_bytes().to_vec());
        self.events.push((position, data));
    }
}
