use async_trait::async_trait;
use concord_chain::{
    Amount,
    submission::{Landing, SignedTx, TxRecord},
};
use concord_client::Account;

use super::{
    FeedbackEntry, FeedbackError, FeedbackJob, FeedbackRegistry, PaymentAttestation, ResponseJob,
    RevocationJob, Submission,
};

/// The reputation registries of one deployment on a chain, and the account that submits.
pub struct AccountRegistry<A> {
    pub(super) account: A,
    /// CAIP-2.
    pub(super) network: String,
}

/// What differs between the chains of [`AccountRegistry`].
#[async_trait]
pub trait ReviewAccount: Account {
    /// As [`FeedbackRegistry::cost`].
    ///
    /// # Errors
    /// As [`FeedbackRegistry::cost`].
    async fn most(&self, network: &str, submission: &Submission) -> Result<Amount, FeedbackError>;

    /// As [`FeedbackRegistry::attach_payment_proof`]. `at`: the chain, CAIP-2, and the feedback's index.
    ///
    /// # Errors
    /// As [`FeedbackRegistry::attach_payment_proof`].
    async fn attach(
        &mut self,
        at: (&str, u64),
        job: FeedbackJob<'_>,
        attestation: &PaymentAttestation,
        record: &mut (dyn TxRecord + Sync),
    ) -> Result<(), FeedbackError>;
}

#[async_trait]
impl<A: ReviewAccount> FeedbackRegistry for AccountRegistry<A> {
    fn registry(&self) -> String {
        self.account.registries().registry()
    }

    fn client(&self) -> String {
        self.account.account()
    }

    async fn cost(&self, submission: &Submission) -> Result<Amount, FeedbackError> {
        self.account.most(&self.network, submission).await
    }

    async fn submit(
        &mut self,
        job: FeedbackJob<'_>,
        record: &mut (dyn TxRecord + Sync),
    ) -> Result<(), FeedbackError> {
        let operation = job.submission.operation(&self.network)?;
        Ok(self.account.land(job.id, &operation, record).await?)
    }

    async fn entry(
        &self,
        job: FeedbackJob<'_>,
        landing: &Landing,
        signed: &SignedTx,
    ) -> Result<FeedbackEntry, FeedbackError> {
        let events = self.account.events(landing, signed).await?;
        FeedbackEntry::find(events, self, job, landing)
    }

    async fn revoke(
        &mut self,
        job: RevocationJob<'_>,
        record: &mut (dyn TxRecord + Sync),
    ) -> Result<(), FeedbackError> {
        Ok(self.account.land(job.id, &job.operation(), record).await?)
    }

    async fn respond(
        &mut self,
        job: ResponseJob<'_>,
        record: &mut (dyn TxRecord + Sync),
    ) -> Result<(), FeedbackError> {
        let operation = job.operation(&self.account.account());
        Ok(self.account.land(job.id, &operation, record).await?)
    }

    async fn attach_payment_proof(
        &mut self,
        job: FeedbackJob<'_>,
        index: u64,
        attestation: &PaymentAttestation,
        record: &mut (dyn TxRecord + Sync),
    ) -> Result<(), FeedbackError> {
        let at = (&*self.network, index);
        self.account.attach(at, job, attestation, record).await
    }
}
