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
        (Some(raised_by), InstructionError::InvalidAccountData)
            if raised_by == TOKEN_2022.to_string() && takes_a_token(failed.logs) =>
        {
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
/// with "Program log:" or "Program return:", so it cannot put another's name here.
fn failing_program(logs: &[String]) -> Option<String> {
    logs.iter().find_map(|line| {
        let (program, _) = line.strip_prefix("Program ")?.split_once(" failed: ")?;
        (!program.contains([' ', ':'])).then(|| program.to_owned())
    })
}

/// These name an account that does not exist so, if it should be the agent's mint or a token
/// account of it.
fn is_token(program: &str) -> bool {
    [TOKEN_2022, ASSOCIATED_TOKEN]
        .iter()
        .any(|it| it.to_string() == program)
}

/// Token-2022 before version 11 answers so if it is to take a token from an account that does not
/// exist. Its other instructions mean something else by the same error.
fn takes_a_token(logs: &[String]) -> bool {
    let (failure, invoke) = (
        format!("Program {TOKEN_2022} failed: "),
        format!("Program {TOKEN_2022} invoke ["),
    );
    let Some(end) = logs.iter().position(|line| line.starts_with(&failure)) else {
        return false;
    };
    let Some(begin) = logs[..end]
        .iter()
        .rposition(|line| line.starts_with(&invoke))
    else {
        return false;
    };
    let named = logs[begin + 1].strip_prefix("Program log: Instruction: ");
    named.is_some_and(|it| ["Burn", "BurnChecked", "Transfer", "TransferChecked"].contains(&it))
}

/// The variant's name without its fields.
fn variant(text: &str) -> &str {
    let end = text.find(|it: char| !it.is_ascii_alphanumeric());
    &text[..end.unwrap_or(text.len())]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As Token-2022 10.0.0 logs it, between what another program logs.
    fn class(instruction: &str) -> Option<ErrorClass> {
        let token = TOKEN_2022;
        let logs = [
            "Program 11111111111111111111111111111111 invoke [1]".to_owned(),
            "Program log: Instruction: Burn".to_owned(),
            "Program 11111111111111111111111111111111 success".to_owned(),
            format!("Program {token} invoke [1]"),
            format!("Program log: Instruction: {instruction}"),
            format!("Program {token} failed: invalid account data for instruction"),
        ];
        let failed = FailedTransaction {
            error: RuntimeError::Instruction {
                index: 1,
                error: &InstructionError::InvalidAccountData,
            },
            called: &[SYSTEM, TOKEN_2022],
            logs: &logs,
        };
        class_of(&Program::new(Address::from([9; 32])), failed)
    }

    #[test]
    fn r25_a_token_that_is_taken_from_an_account_that_does_not_exist_is_an_unknown_agents() {
        for instruction in ["Burn", "BurnChecked", "Transfer", "TransferChecked"] {
            assert_eq!(class(instruction), Some(ErrorClass::AgentNotFound));
        }
        for instruction in ["CloseAccount", "MintTo"] {
            assert_eq!(class(instruction), Some(ErrorClass::AccountMismatch));
        }
    }

    #[test]
    fn r25_cut_logs_leave_the_error_with_its_own_meaning() {
        let token = TOKEN_2022;
        let failure = format!("Program {token} failed: invalid account data for instruction");
        let invoke = format!("Program {token} invoke [1]");
        for logs in [&[failure.clone()][..], &[invoke, failure]] {
            let failed = FailedTransaction {
                error: RuntimeError::Instruction {
                    index: 0,
                    error: &InstructionError::InvalidAccountData,
                },
                called: &[TOKEN_2022],
                logs,
            };
            let class = class_of(&Program::new(Address::from([9; 32])), failed);
            assert_eq!(class, Some(ErrorClass::AccountMismatch));
        }
    }
}
