use concord_chain::ChainError;

use crate::{
    feedback::FeedbackError,
    pay::{Money, PayError, PayFault},
    verify::State,
};

/// Everything that was checked holds.
pub const VERIFIED: u8 = 0;
/// Something does not hold.
pub const REFUTED: u8 = 1;
/// The command line, a file or a key is wrong.
pub const USAGE: u8 = 2;
/// Something could not be checked.
pub const CANNOT_CHECK: u8 = 3;
/// Money may have moved, and nothing is known.
pub const MONEY_UNKNOWN: u8 = 4;

/// Why a command has no result: one sentence, and the exit code.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{words}")]
pub struct CliError {
    /// The exit code.
    pub code: u8,
    words: String,
}

impl CliError {
    pub(super) fn new(code: u8, words: impl ToString) -> Self {
        let words = words.to_string().replace('\n', " ");
        Self { code, words }
    }

    pub(super) fn usage(words: impl ToString) -> Self {
        Self::new(USAGE, words)
    }

    /// Says what is known of a purchase's money beside what failed, and exits accordingly.
    pub(super) fn with_money(self, money: &Money) -> Self {
        let code = match money.has_moved() {
            None => MONEY_UNKNOWN,
            Some(true) => CANNOT_CHECK,
            Some(false) => self.code,
        };
        Self::new(code, format!("{}; {money}", self.words))
    }
}

/// R36: only what is verified counts as success.
pub(super) fn code_of(state: State) -> u8 {
    match state {
        State::Verified => VERIFIED,
        State::Refuted => REFUTED,
        State::Claimed | State::CannotCheck => CANNOT_CHECK,
    }
}

impl From<ChainError> for CliError {
    fn from(error: ChainError) -> Self {
        let code = if error.is_from_the_chain() || error.is_retryable() {
            CANNOT_CHECK
        } else {
            USAGE
        };
        Self::new(code, error)
    }
}

impl From<std::io::Error> for CliError {
    fn from(error: std::io::Error) -> Self {
        Self::usage(format!("stdout: {error}"))
    }
}

impl From<PayError> for CliError {
    fn from(error: PayError) -> Self {
        Self::from(error.fault).with_money(&error.money)
    }
}

impl From<PayFault> for CliError {
    fn from(fault: PayFault) -> Self {
        Self::new(code_of_fault(&fault), fault)
    }
}

fn code_of_fault(fault: &PayFault) -> u8 {
    match fault {
        PayFault::Unreachable { .. } | PayFault::NoAnswer { .. } | PayFault::Chain(_) => {
            CANNOT_CHECK
        }
        PayFault::Local(error) if error.is_from_the_chain() => CANNOT_CHECK,
        _ => USAGE,
    }
}

impl From<FeedbackError> for CliError {
    fn from(error: FeedbackError) -> Self {
        let code = match &error {
            FeedbackError::NotVerified { state, .. } => code_of(*state),
            FeedbackError::NotTheAgent(refusal) if refusal.class.is_none() => CANNOT_CHECK,
            FeedbackError::Differs(_) | FeedbackError::NotTheAgent(_) => REFUTED,
            FeedbackError::Chain(fault) if fault.is_from_the_chain() || fault.is_retryable() => {
                CANNOT_CHECK
            }
            _ => USAGE,
        };
        Self::new(code, error)
    }
}
