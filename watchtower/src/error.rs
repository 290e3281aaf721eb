use concord_chain::ChainError;
use concord_x402::{feedback::FeedbackError, verify::Unavailable};

use crate::StoreError;

/// Why a signal was not made or not published.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WatchtowerError {
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A registry or its chain.
    #[error(transparent)]
    Feedback(#[from] FeedbackError),
    /// A key, a file or an endpoint.
    #[error(transparent)]
    Chain(#[from] ChainError),
    /// An evidence file breaks its form.
    #[error("the evidence file of {agent}: {error}")]
    Evidence {
        /// The agent.
        agent: String,
        /// What is wrong.
        error: concord_files::Error,
    },
    /// The clock shows a time that files cannot state.
    #[error("the clock shows {0} unix seconds, expected a year before 10000")]
    Clock(u64),
    /// Something on record breaks its form.
    #[error(transparent)]
    Form(#[from] concord_canonical::Error),
    /// The agent's chain cannot be asked (R36).
    #[error("who acts for the agent cannot be read: {}", .0.0)]
    Unavailable(#[from] Unavailable),
    /// The registry does not know the agent any more.
    #[error("there is no agent {0}")]
    NoAgent(String),
    /// R60.
    #[error("the agent is the watchtower's own: {0}")]
    Own(String),
    /// R60: what an account said of an agent is not said by another one, or it would be said twice.
    #[error("the signal was prepared for the account {drafted}, and the account is {present} now")]
    OtherAccount {
        /// The account that the signal's file names.
        drafted: String,
        /// The account that would publish it.
        present: String,
    },
    /// A budget is used up.
    #[error("the {budget} budget of {limit} has {left} left, and this can cost {cost}")]
    OverBudget {
        /// `day` or `run`.
        budget: &'static str,
        /// What it is, in the chain's smallest unit.
        limit: String,
        /// What is left of it.
        left: String,
        /// The most that the signal can cost.
        cost: String,
    },
    /// Another transaction may not be signed before it is final what became of the one that is.
    #[error("what became of the signal's transaction is not final yet")]
    Undecided,
    /// The store has no landing of a transaction that landed.
    #[error("the transaction that landed is not on record")]
    NoLanding,
    /// Another entry is on chain than the one that was sent.
    #[error("the entry on chain has {found}, expected {expected}")]
    OtherEntry {
        /// What was found.
        found: String,
        /// What was expected.
        expected: String,
    },
    /// The revenues cannot be read.
    #[error("the revenues at {place}: {reason}")]
    Revenues {
        /// The file, or the host.
        place: String,
        /// Why.
        reason: String,
    },
}

impl WatchtowerError {
    /// Whether the chain, and not the signal, is why it failed: others of the same chain need not be tried now.
    #[must_use]
    pub fn is_of_the_chain(&self) -> bool {
        match self {
            Self::Unavailable(_) => true,
            Self::Chain(error) | Self::Feedback(FeedbackError::Chain(error)) => {
                error.is_retryable()
            }
            _ => false,
        }
    }

    /// Whether the registry reverts the call: in a simulation, before anything was signed, or in a block, where it
    /// cost its fee.
    #[must_use]
    pub fn is_reverted(&self) -> bool {
        let Self::Feedback(FeedbackError::Chain(error)) = self else {
            return false;
        };
        match error {
            ChainError::SimulationFailed { reason, .. } => reason.contains("revert"),
            ChainError::TransactionFailed { .. } => true,
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use concord_chain::ChainError;
    use concord_x402::feedback::FeedbackError;

    use super::WatchtowerError;

    #[test]
    fn a_call_is_reverted_in_a_simulation_or_in_a_block() {
        let (job, title) = ("a".to_owned(), "a".to_owned());
        let simulated = |reason: &str| ChainError::SimulationFailed {
            title: title.clone(),
            reason: reason.to_owned(),
        };
        let reason = "failed: reverted in block 7".to_owned();
        let mined = ChainError::TransactionFailed { job, reason };
        for (error, expected) in [
            (simulated("execution reverted"), true),
            (simulated("insufficient funds"), false),
            (mined, true),
            (ChainError::RpcUrlMalformed, false),
        ] {
            let text = error.to_string();
            let error = WatchtowerError::from(FeedbackError::from(error));
            assert_eq!(error.is_reverted(), expected, "{text}");
        }
    }

    /// Results carry it by value.
    #[test]
    fn an_error_is_small() {
        let size = size_of::<WatchtowerError>();
        assert!(size < 128, "{size} bytes");
    }
}
