use super::{program, some_address};
use agent_registry::ConcordError;
use concord_registry::canonical::{ErrorClass, error_class::ALL};
use concord_registry::svm::{
    Address, FailedTransaction, InstructionError, RuntimeError, class_of,
    programs::{ASSOCIATED_TOKEN, ED25519, SYSTEM, TOKEN_2022},
};

fn custom(code: u32) -> InstructionError {
    InstructionError::Custom(code)
}

fn failed(program: Address) -> String {
    format!("Program {program} failed: custom program error: 0x1")
}

fn class(error: InstructionError, called: &[Address], logs: &[String]) -> Option<ErrorClass> {
    let error = RuntimeError::Instruction {
        index: 0,
        error: &error,
    };
    let failed = FailedTransaction {
        error,
        called,
        logs,
    };
    class_of(&program(), failed)
}

#[test]
fn r25_every_code_of_the_program_has_its_class() {
    for class_info in ALL.iter().map(|it| it.info()) {
        for error in class_info.anchor {
            let found = class(custom(error.code), &[], &[failed(program().id())]);
            assert_eq!(found, Some(class_info.class), "{}", error.name);
        }
    }
    let first = u32::from(ConcordError::ScoreOutOfRange);
    let found = class(custom(first), &[], &[failed(program().id())]);
    assert_eq!(found, Some(ErrorClass::ScoreOutOfRange));
}

#[test]
fn r25_numbers_mean_what_the_program_that_raised_them_means() {
    let of = |program, code| class(custom(code), &[], &[failed(program)]);
    let ours = program().id();
    assert_eq!(of(ED25519, 2), Some(ErrorClass::AuthNotGranted));
    assert_eq!(of(TOKEN_2022, 1), Some(ErrorClass::TransferNotAllowed));
    assert_eq!(of(SYSTEM, 1), Some(ErrorClass::InsufficientLamports));
    assert_eq!(of(ours, 6001), Some(ErrorClass::AgentNotFound));
    assert_eq!(of(ours, 3010), Some(ErrorClass::SignatureMissing));
    assert_eq!(of(ED25519, 1), None);
    assert_eq!(of(ours, 1), None);
    assert_eq!(of(TOKEN_2022, 6001), None);
    // the same program under another id
    assert_eq!(of(some_address(9), 6001), None);
}

#[test]
fn a_precompile_which_logs_nothing_is_known_by_its_place() {
    let called = [ED25519, program().id()];
    assert_eq!(
        class(custom(2), &called, &[]),
        Some(ErrorClass::AuthNotGranted)
    );
    assert_eq!(class(custom(2), &[], &[]), None);
}

#[test]
fn the_innermost_program_is_asked_whatever_others_say() {
    let logs = [
        format!("Program log: Program {SYSTEM} failed: lie"),
        "Program log: failed: the quote is stale".to_owned(),
        "Program return: failed: x".to_owned(),
        failed(program().id()),
        failed(TOKEN_2022),
    ];
    assert_eq!(
        class(custom(6016), &[], &logs),
        Some(ErrorClass::TransferRefused)
    );
}

#[test]
fn errors_without_a_number_go_by_their_name() {
    let found = class(InstructionError::InvalidSeeds, &[], &[]);
    assert_eq!(found, Some(ErrorClass::AccountMismatch));
    for name in [
        "InsufficientFundsForRent { account_index: 0 }",
        r#"InsufficientFundsForRent":{"account_index":0}}"#,
        "InsufficientFundsForFee",
    ] {
        assert_eq!(refused(name), Some(ErrorClass::InsufficientLamports));
    }
}

fn refused(name: &str) -> Option<ErrorClass> {
    let failed = FailedTransaction {
        error: RuntimeError::Transaction { name },
        called: &[],
        logs: &[],
    };
    class_of(&program(), failed)
}

#[test]
fn a_mint_that_token_programs_do_not_own_is_no_agent() {
    let of = |program| {
        class(
            InstructionError::IncorrectProgramId,
            &[],
            &[failed(program)],
        )
    };
    for program in [TOKEN_2022, ASSOCIATED_TOKEN] {
        assert_eq!(of(program), Some(ErrorClass::AgentNotFound));
    }
    assert_eq!(of(program().id()), Some(ErrorClass::AccountMismatch));
}

#[test]
fn r25_an_error_without_a_class_has_none() {
    assert_eq!(refused("ClusterMaintenance"), None);
    for error in [
        InstructionError::ProgramFailedToComplete,
        custom(3012),
        custom(6999),
    ] {
        let found = class(error.clone(), &[], &[failed(program().id())]);
        assert_eq!(found, None, "{error:?}");
    }
}
