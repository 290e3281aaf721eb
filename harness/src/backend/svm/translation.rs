//! Native errors, in the model's terms.
use super::addresses::{ASSOCIATED_TOKEN, ED25519, TOKEN_2022};
use crate::backend::StepFault;
use concord_canonical::{ErrorClass, error_class::class_of_anchor_code};
use solana_address::Address;
use solana_instruction::Instruction;
use solana_transaction::{InstructionError, TransactionError};

/// Anchor numbers a program's own errors from here on; below lie the frameworks' numbers.
const OWN_ERRORS: u32 = 6000;

/// Errors of the runtime's programs that a user can cause (R25): which program's instruction
/// failed, with what, and its class. A number below [`OWN_ERRORS`] means what that program means
/// by it.
const FRAMEWORK_ERRORS: &[(Address, InstructionError, ErrorClass)] = {
    use ErrorClass::{AgentNotFound, AuthMalformed, AuthNotGranted, TransferNotAllowed};
    use InstructionError::{Custom, IncorrectProgramId};
    &[
        (ED25519, Custom(0), AuthNotGranted),        // InvalidPublicKey
        (ED25519, Custom(2), AuthNotGranted),        // InvalidSignature: declared variance 1
        (ED25519, Custom(3), AuthMalformed),         // InvalidDataOffsets
        (ED25519, Custom(4), AuthMalformed),         // InvalidInstructionDataSize
        (TOKEN_2022, Custom(1), TransferNotAllowed), // InsufficientFunds: the token is elsewhere
        (TOKEN_2022, Custom(4), TransferNotAllowed), // OwnerMismatch: a stranger signs
        // Nothing is where the agent's mint, or a token account of it, would be.
        (TOKEN_2022, IncorrectProgramId, AgentNotFound),
        (ASSOCIATED_TOKEN, IncorrectProgramId, AgentNotFound),
    ]
};

/// The class of a failed transaction of these instructions.
pub fn class_of(
    fault: &TransactionError,
    instructions: &[Instruction],
) -> Result<ErrorClass, StepFault> {
    let TransactionError::InstructionError(at, error) = fault else {
        return Err(unmapped(fault));
    };
    match (error, instructions.get(usize::from(*at))) {
        (InstructionError::Custom(code), _) if *code >= OWN_ERRORS => class_of_anchor_code(*code),
        (error, Some(failing)) => class_of_framework_error(&failing.program_id, error),
        (_, None) => None,
    }
    .ok_or_else(|| unmapped(fault))
}

fn unmapped(fault: &TransactionError) -> StepFault {
    StepFault::UnmappedError(format!("{fault:?}"))
}

fn class_of_framework_error(program: &Address, error: &InstructionError) -> Option<ErrorClass> {
    FRAMEWORK_ERRORS
        .iter()
        .find(|(owner, known, _)| owner == program && known == error)
        .map(|(_, _, class)| *class)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::svm::addresses::program;

    #[test]
    fn framework_errors_are_read_by_the_failing_program() {
        let class =
            |program, code| class_of_framework_error(&program, &InstructionError::Custom(code));
        assert_eq!(class(ED25519, 2), Some(ErrorClass::AuthNotGranted));
        assert_eq!(class(TOKEN_2022, 4), Some(ErrorClass::TransferNotAllowed));
        assert_eq!(class(ED25519, 1), None);
        assert_eq!(class(program(), 2), None);
    }

    #[test]
    fn an_error_without_a_class_is_a_fault() {
        // R25
        let call = Instruction {
            program_id: program(),
            accounts: vec![],
            data: vec![],
        };
        for fault in [
            TransactionError::AccountNotFound,
            TransactionError::InstructionError(0, InstructionError::InvalidAccountData),
            TransactionError::InstructionError(0, InstructionError::Custom(3012)),
            TransactionError::InstructionError(0, InstructionError::Custom(6999)),
        ] {
            assert!(
                matches!(
                    class_of(&fault, std::slice::from_ref(&call)),
                    Err(StepFault::UnmappedError(_))
                ),
                "{fault:?}"
            );
        }
    }
}
