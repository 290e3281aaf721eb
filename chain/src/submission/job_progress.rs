use super::{SignedTx, TxJob, TxStatus};
use crate::ChainError;
use std::time::Instant;

/// What one process has tried for one job.
pub(super) struct JobProgress<'j, J> {
    pub job: &'j J,
    /// How many transactions were on record before.
    pub earlier: usize,
    /// When this process first looked at the job.
    pub begun: Option<Instant>,
    /// When its last transaction was sent.
    pub sent_at: Instant,
    /// How many were expired when the chain was last asked.
    expired: usize,
    pub refusals: usize,
    pub raises: usize,
    /// What was last reported of why it waits.
    blocked_by: String,
}

/// What to do next about a job that is not done.
pub(super) enum Next {
    Wait,
    /// As [`Self::Wait`], for a reason that the operator must know.
    Blocked(String),
    Send(SignedTx),
    Sign {
        expired: usize,
    },
}

impl<'j, J: TxJob> JobProgress<'j, J> {
    pub(crate) fn new(job: &'j J, earlier: usize) -> Self {
        Self {
            job,
            earlier,
            begun: None,
            sent_at: Instant::now(),
            expired: 0,
            refusals: 0,
            raises: 0,
            blocked_by: String::new(),
        }
    }

    /// Returns whether as many were expired when the chain was last asked. An endpoint with many
    /// nodes may count a nonce on one that has the transaction, and look for its receipt on one that
    /// does not have it yet.
    pub(crate) fn saw_expired(&mut self, expired: usize) -> bool {
        std::mem::replace(&mut self.expired, expired) == expired
    }

    /// Forgets how many were expired: something else was seen since.
    pub(crate) fn forget_expired(&mut self) {
        self.expired = 0;
    }

    /// Returns whether this reason for waiting is a new one.
    pub(crate) fn is_newly_blocked_by(&mut self, reason: &str) -> bool {
        let is_new = self.blocked_by != reason;
        reason.clone_into(&mut self.blocked_by);
        is_new
    }

    /// Decides by the newest transaction first. A failure from before this process is what the run
    /// was resumed for.
    ///
    /// # Errors
    /// [`ChainError::TransactionFailed`].
    pub(crate) fn next(
        &self,
        transactions: &[SignedTx],
        statuses: &[TxStatus],
    ) -> Result<Next, ChainError> {
        let mut unknown = None;
        let mut expired = 0;
        for (index, (transaction, status)) in transactions.iter().zip(statuses).enumerate().rev() {
            match status {
                // Landed, and yet the effect was not there a moment ago: ask again.
                TxStatus::Landed(_) | TxStatus::Pending => return Ok(Next::Wait),
                TxStatus::Blocked(reason) => return Ok(Next::Blocked(reason.clone())),
                TxStatus::Unknown => unknown = unknown.or(Some(transaction)),
                TxStatus::Expired => expired += 1,
                TxStatus::Failed { .. } if index < self.earlier => expired += 1,
                TxStatus::Failed { reason, .. } => {
                    return Err(ChainError::TransactionFailed {
                        job: self.job.id().to_owned(),
                        reason: format!("{} failed: {reason}", transaction.transaction),
                    });
                }
            }
        }
        Ok(unknown.map_or(Next::Sign { expired }, |transaction| {
            Next::Send(transaction.clone())
        }))
    }
}
