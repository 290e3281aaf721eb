use super::{
    Program,
    programs::{ASSOCIATED_TOKEN, ED25519, SYSTEM, TOKEN_2022},
};
use alloc::{
    borrow::ToOwned,
    format,
    string::{String, ToString},
};
use concord_canonical::{
    ErrorClass,
    error_class::{
        Framework, class_of_anchor_code, class_of_framework_error, class_of_runtime_error,
    },
};
use solana_address::Address;
use solana_instruction::error::InstructionError;

/// Whose numbers a custom error can be, by program.
const FRAMEWORKS: [(Address, Framework); 3] = [
    (SYSTEM, Framework::System),
    (TOKEN_2022, Framework::Token2022),
    (ED25519, Framework::Ed25519),
];

/// The runtime's error.
#[derive(Debug, Clone, Copy)]
pub enum RuntimeError<'a> {
    /// A top-level instruction failed.
    Instruction {
        /// Its index, from 0.
        index: u8,
        /// How.
        error: &'a InstructionError,
    },
    /// The transaction was not accepted as a whole.
    Transaction {
        /// The variant of `TransactionError`, in the form that Rust's `Debug` or JSON-RPC gives it.
        /// What follows the name is ignored.
        name: &'a str,
    },
}

/// A transaction that a cluster refused.
#[derive(Debug, Clone, Copy)]
pub struct FailedTransaction<'a> {
    /// The runtime's error.
    pub error: RuntimeError<'a>,
    /// The program of each top-level instruction. Precompiles log nothing.
    pub called: &'a [Address],
    /// What the runtime logged.
    pub logs: &'a [String],
}

/// The class of a refusal (R25); `None` for a native error without a class.
pub fn class_of(program: &Program, failed: FailedTransaction<'_>) -> Option<ErrorClass> {
    let (index, error) = match failed.error {
        RuntimeError::Instruction { index, error } => (index, error),
        RuntimeError::Transaction { name } => return class_of_runtime_error(variant(name)),
    };
    let called = failed.called.get(usize::from(index));
    let raised_by = failing_program(failed.logs).or_else(|| called.map(ToString::to_string));
    match (raised_by, error) {
        (Some(raised_by), InstructionError::Custom(code)) => {
            class_of_number(program, &raised_by, *code)
        }
        (Some(raised_by), InstructionError::IncorrectProgramId) if is_token(&raised_by) => {
            Some(ErrorClass::AgentNotFound)
        }
        (_, error) => class_of_runtime_error(variant(&format!("{error:?}"))),
    }
}

/// A number means what the program that raised it means by it.
fn class_of_number(program: &Program, raised_by: &str, code: u32) -> Option<ErrorClass> {
    if raised_by == program.id().to_string() {
        return class_of_anchor_code(code)
            .or_else(|| class_of_framework_error(Framework::Anchor, code));
    }
    let (_, framework) = FRAMEWORKS
        .iter()
        .find(|(address, _)| address.to_string() == raised_by)?;
    class_of_framework_error(*framework, code)
}

/// The innermost program that failed: its failure is logged first. A program's own words begin
/// with "Program log:", so it cannot put another's name here.
fn failing_program(logs: &[String]) -> Option<String> {
    logs.iter().find_map(|line| {
        let (program, _) = line.strip_prefix("Program ")?.split_once(" failed: ")?;
        (!program.contains(' ')).then(|| program.to_owned())
    })
}

/// These name an account that does not exist so, if it should be the agent's mint or a token
/// account of it.
fn is_token(program: &str) -> bool {
    [TOKEN_2022, ASSOCIATED_TOKEN]
        .iter()
        .any(|it| it.to_string() == program)
}

/// The variant's name without its fields.
fn variant(text: &str) -> &str {
    let end = text.find(|it: char| !it.is_ascii_alphanumeric());
    &text[..end.unwrap_or(text.len())]
}
