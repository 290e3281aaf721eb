//! A registry that fails, or stops its process, at the point that a test names.
use async_trait::async_trait;
use concord_chain::{
    Amount,
    submission::{Landing, SignedTx, TxRecord},
};
use concord_x402::feedback::{
    FeedbackEntry, FeedbackError, FeedbackJob, FeedbackRegistry, PaymentAttestation, ResponseJob,
    RevocationJob, Submission,
};

/// What happens around the calls of a registry.
#[async_trait]
pub trait Hooks: Send + Sync {
    async fn submit(
        &mut self,
        registry: &mut dyn FeedbackRegistry,
        job: FeedbackJob<'_>,
        record: &mut (dyn TxRecord + Sync),
    ) -> Result<(), FeedbackError>;

    async fn respond(
        &mut self,
        registry: &mut dyn FeedbackRegistry,
        job: ResponseJob<'_>,
        record: &mut (dyn TxRecord + Sync),
    ) -> Result<(), FeedbackError> {
        registry.respond(job, record).await
    }

    /// Called after an entry was read.
    fn read(&self) {}
}

/// A registry with hooks.
pub struct Hooked<H> {
    pub registry: Box<dyn FeedbackRegistry>,
    pub hooks: H,
}

#[async_trait]
impl<H: Hooks> FeedbackRegistry for Hooked<H> {
    fn registry(&self) -> String {
        self.registry.registry()
    }

    fn client(&self) -> String {
        self.registry.client()
    }

    async fn cost(&self, submission: &Submission) -> Result<Amount, FeedbackError> {
        self.registry.cost(submission).await
    }

    async fn submit(
        &mut self,
        job: FeedbackJob<'_>,
        record: &mut (dyn TxRecord + Sync),
    ) -> Result<(), FeedbackError> {
        self.hooks.submit(&mut *self.registry, job, record).await
    }

    async fn entry(
        &self,
        job: FeedbackJob<'_>,
        landing: &Landing,
        signed: &SignedTx,
    ) -> Result<FeedbackEntry, FeedbackError> {
        let entry = self.registry.entry(job, landing, signed).await?;
        self.hooks.read();
        Ok(entry)
    }

    async fn revoke(
        &mut self,
        job: RevocationJob<'_>,
        record: &mut (dyn TxRecord + Sync),
    ) -> Result<(), FeedbackError> {
        self.registry.revoke(job, record).await
    }

    async fn respond(
        &mut self,
        job: ResponseJob<'_>,
        record: &mut (dyn TxRecord + Sync),
    ) -> Result<(), FeedbackError> {
        self.hooks.respond(&mut *self.registry, job, record).await
    }

    async fn attach_payment_proof(
        &mut self,
        job: FeedbackJob<'_>,
        index: u64,
        attestation: &PaymentAttestation,
        record: &mut (dyn TxRecord + Sync),
    ) -> Result<(), FeedbackError> {
        let registry = &mut self.registry;
        registry
            .attach_payment_proof(job, index, attestation, record)
            .await
    }
}
