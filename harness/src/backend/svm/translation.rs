//! Native errors, in the model's terms.
use super::addresses::{ASSOCIATED_TOKEN, ED25519, SYSTEM, TOKEN_2022, program};
use crate::backend::StepFault;
use concord_canonical::{
    ErrorClass,
    error_class::{
        Framework, class_of_anchor_code, class_of_framework_error, class_of_runtime_error,
    },
};
use solana_address::Address;
use solana_instruction::Instruction;
use solana_transaction::{InstructionError, TransactionError};

/// Who numbers its errors, by address.
const FRAMEWORKS: [(Address, Framework); 3] = [
    (SYSTEM, Framework::System),
    (TOKEN_2022, Framework::Token2022),
    (ED25519, Framework::Ed25519),
];

/// The class of a failed transaction of these instructions, of which `logs` says what the runtime
/// logged (R25).
pub fn class_of(
    fault: &TransactionError,
    instructions: &[Instruction],
    logs: &[String],
) -> Result<ErrorClass, StepFault> {
    let class = match fault {
        TransactionError::InstructionError(at, error) => {
            // Precompiles log nothing.
            let called = instructions.get(usize::from(*at));
            let failing =
                failing_program(logs).or_else(|| called.map(|it| it.program_id.to_string()));
            match (failing, error) {
                (Some(program), InstructionError::Custom(code)) => class_of_number(&program, *code),
                (Some(program), InstructionError::IncorrectProgramId) if is_token(&program) => {
                    Some(ErrorClass::AgentNotFound)
                }
                (_, error) => class_of_runtime_error(&variant(error)),
            }
        }
        error => class_of_runtime_error(&variant(error)),
    };
    class.ok_or_else(|| StepFault::UnmappedError(format!("{fault:?}")))
}

/// A number means what the program that raised it means by it.
fn class_of_number(raised_by: &str, code: u32) -> Option<ErrorClass> {
    if raised_by == program().to_string() {
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

/// To these, nothing is where the agent's mint, or a token account of it, would be.
fn is_token(program: &str) -> bool {
    [TOKEN_2022, ASSOCIATED_TOKEN]
        .iter()
        .any(|it| it.to_string() == program)
}

/// The variant's name without its fields.
fn variant(error: &impl std::fmt::Debug) -> String {
    let text = format!("{error:?}");
    text.chars()
        .take_while(char::is_ascii_alphanumeric)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::svm::addresses::program;

    fn custom(code: u32) -> TransactionError {
        TransactionError::InstructionError(0, InstructionError::Custom(code))
    }

    fn failed(program: Address) -> String {
        format!("Program {program} failed: custom program error: 0x1")
    }

    #[test]
    fn numbers_mean_what_the_program_that_raised_them_means() {
        // R25
        let class = |program, code| class_of(&custom(code), &[], &[failed(program)]).ok();
        assert_eq!(class(ED25519, 2), Some(ErrorClass::AuthNotGranted));
        assert_eq!(class(TOKEN_2022, 1), Some(ErrorClass::TransferNotAllowed));
        assert_eq!(class(SYSTEM, 1), Some(ErrorClass::InsufficientLamports));
        assert_eq!(class(program(), 6001), Some(ErrorClass::AgentNotFound));
        assert_eq!(class(program(), 3010), Some(ErrorClass::SignatureMissing));
        assert_eq!(class(ED25519, 1), None);
        assert_eq!(class(program(), 1), None);
        assert_eq!(class(TOKEN_2022, 6001), None);
    }

    #[test]
    fn the_innermost_program_is_asked_whatever_others_say() {
        let logs = [
            format!("Program log: Program {SYSTEM} failed: lie"),
            failed(program()),
            failed(TOKEN_2022),
        ];
        let class = class_of(&custom(6016), &[], &logs);
        assert_eq!(class.ok(), Some(ErrorClass::TransferRefused));
    }

    #[test]
    fn errors_without_a_number_go_by_their_name() {
        let class = |fault| class_of(&fault, &[], &[]).ok();
        assert_eq!(
            class(TransactionError::InstructionError(
                0,
                InstructionError::InvalidSeeds
            )),
            Some(ErrorClass::AccountMismatch)
        );
        assert_eq!(
            class(TransactionError::InsufficientFundsForRent { account_index: 0 }),
            Some(ErrorClass::InsufficientLamports)
        );
    }

    #[test]
    fn an_error_without_a_class_is_a_fault() {
        // R25
        for fault in [
            TransactionError::ClusterMaintenance,
            TransactionError::InstructionError(0, InstructionError::ProgramFailedToComplete),
            custom(3012),
            custom(6999),
        ] {
            assert!(
                matches!(
                    class_of(&fault, &[], &[failed(program())]),
                    Err(StepFault::UnmappedError(_))
                ),
                "{fault:?}"
            );
        }
    }
}
