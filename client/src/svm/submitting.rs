//! Jobs whose instructions are made when they are signed: they depend on the state of the registry.

use async_trait::async_trait;
use concord_chain::{
    submission::{Finality, Landing, Resend, SendOutcome, SignedTx, TxChain, TxJob, TxStatus},
    svm::{InstructionChain, InstructionJob},
};
use concord_registry::svm::{Address, Instruction};

use super::SvmRegistries;
use crate::{ClientError, Operation};

/// What is to land.
pub(super) enum Content {
    Operation(Box<Operation>),
    Fixed(Vec<Instruction>),
}

pub(super) struct SvmJob {
    /// Without instructions.
    job: InstructionJob,
    content: Content,
}

impl TxJob for SvmJob {
    fn id(&self) -> &str {
        &self.job.id
    }
}

impl SvmJob {
    pub(super) fn new(id: &str, units: u32, content: Content) -> Self {
        let job = InstructionJob {
            id: id.to_owned(),
            instructions: Vec::new(),
            units,
        };
        Self { job, content }
    }
}

/// An [`InstructionChain`] for such jobs.
pub(super) struct Submitting<'a> {
    pub chain: &'a mut InstructionChain,
    pub registries: &'a SvmRegistries,
    pub account: Address,
}

#[async_trait]
impl TxChain for Submitting<'_> {
    type Job = SvmJob;
    type Error = ClientError;

    async fn effects(&mut self, jobs: &[&SvmJob]) -> Result<Vec<Option<bool>>, ClientError> {
        Ok(vec![None; jobs.len()])
    }

    async fn sign(&mut self, job: &SvmJob, expired: usize) -> Result<SignedTx, ClientError> {
        let instructions = match &job.content {
            Content::Operation(operation) => {
                self.registries
                    .instructions(self.account, operation)
                    .await?
            }
            Content::Fixed(instructions) => instructions.clone(),
        };
        let job = InstructionJob {
            instructions,
            ..job.job.clone()
        };
        Ok(self.chain.sign(&job, expired).await?)
    }

    async fn replace(
        &mut self,
        job: &SvmJob,
        transaction: &SignedTx,
    ) -> Result<Option<SignedTx>, ClientError> {
        Ok(self.chain.replace(&job.job, transaction).await?)
    }

    async fn resend(
        &mut self,
        job: &SvmJob,
        transaction: &SignedTx,
    ) -> Result<Resend, ClientError> {
        Ok(self.chain.resend(&job.job, transaction).await?)
    }

    async fn send(&mut self, transaction: &SignedTx) -> Result<SendOutcome, ClientError> {
        Ok(self.chain.send(transaction).await?)
    }

    async fn statuses(&mut self, transactions: &[SignedTx]) -> Result<Vec<TxStatus>, ClientError> {
        Ok(self.chain.statuses(transactions).await?)
    }

    async fn finality(&mut self, landings: &[Landing]) -> Result<Vec<Finality>, ClientError> {
        Ok(self.chain.finality(landings).await?)
    }
}
