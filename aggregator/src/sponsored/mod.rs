//! Sponsored feedback on Solana (R59): the reviewer signs the transaction and is its client, and the sponsor pays
//! fee and rent.
//!
//! `prepare` checks a submission as `POST /feedback` does, and answers with a transaction for the reviewer to sign.
//! It promises nothing, so there is no receipt (R57). `submit` takes that transaction back; the sponsor signs the
//! bytes that are in the store, and nothing else. Then the transaction is on disk, and only then it is sent. A
//! payment has one such transaction at a time, and another one only once the first can never land.

mod http;
mod prepare;
mod sponsor;
mod submit;
mod worker;

use std::sync::Arc;

use crate::{Aggregator, Code, Refusal, store::SponsoredRow};

pub use http::sponsored_router;
pub use sponsor::Sponsor;
pub use worker::SponsorWorker;

/// Prepares and takes sponsored feedback.
pub struct Sponsored {
    aggregator: Arc<Aggregator>,
    sponsors: Vec<Sponsor>,
}

impl Sponsored {
    /// `sponsors`: at most one for each registry that the aggregator serves.
    #[must_use]
    pub fn new(aggregator: Arc<Aggregator>, sponsors: Vec<Sponsor>) -> Self {
        Self {
            aggregator,
            sponsors,
        }
    }

    fn sponsor_of(&self, registry: &str) -> Result<&Sponsor, Refusal> {
        let mut all = self.sponsors.iter();
        all.find(|it| it.registry() == registry).ok_or_else(|| {
            let message = format!("nobody sponsors feedback about agents of {registry} here");
            let refusal = Refusal::new(Code::UnknownAgent, "SponsorshipNotOffered", message);
            refusal.of("interactionData.agentRegistry")
        })
    }

    /// A sponsored feedback.
    ///
    /// # Errors
    /// [`Refusal`] if the store fails.
    pub fn get(&self, id: u64) -> Result<Option<SponsoredRow>, Refusal> {
        Ok(self.aggregator.store.sponsored(id)?)
    }

    /// Waits until it landed, failed or expired, as [`Aggregator::wait`].
    ///
    /// # Errors
    /// [`Refusal`] if the store fails.
    pub async fn wait(&self, row: SponsoredRow) -> Result<SponsoredRow, Refusal> {
        let (id, store) = (row.id, &self.aggregator.store);
        let is_open = |row: &SponsoredRow| row.state.is_pending();
        let read = || store.sponsored(id);
        self.aggregator.wait_for(row, read, is_open).await
    }
}

/// R51: the payment has another submission.
fn submitted_before(key: &str, n: u64) -> Refusal {
    let message = format!("{key} has a submission: receipt {n}");
    let refusal = Refusal::new(Code::DuplicateTaskRef, "DuplicateTaskRef", message);
    refusal.of("interactionData.taskRef")
}
