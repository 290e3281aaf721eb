use async_trait::async_trait;
use concord_chain::{
    Amount, ChainId, Signer, Svm,
    submission::{Timing, TxRecord},
    svm::{Cluster, PriorityFee},
};
use concord_client::{SvmAccount, SvmRegistries};
use concord_registry::svm::{Address, Program, ed25519, instructions::AttachPaymentProof};

use super::{
    FeedbackError, FeedbackJob, PaymentAttestation, Submission,
    account_registry::{AccountRegistry, ReviewAccount},
};

/// The program on a Solana cluster, and the account that submits.
pub type SvmRegistry = AccountRegistry<SvmAccount>;

impl SvmRegistry {
    /// Connects to a cluster, which must be `network`: the CAIP-2 id that the registry was initialized with.
    ///
    /// # Errors
    /// [`FeedbackError::Chain`].
    pub async fn connect(
        cluster: Cluster,
        network: &ChainId,
        program: Program,
        signer: Box<dyn Signer<Svm>>,
        priority_fee: PriorityFee,
        timing: Timing,
    ) -> Result<Self, FeedbackError> {
        let registries = SvmRegistries::new(cluster, network, program);
        Ok(Self {
            account: SvmAccount::connect(registries, signer, priority_fee, timing).await?,
            network: network.to_string(),
        })
    }
}

#[async_trait]
impl ReviewAccount for SvmAccount {
    async fn most(&self, network: &str, submission: &Submission) -> Result<Amount, FeedbackError> {
        Ok(self.cost(&submission.feedback(network)?).await?)
    }

    async fn attach(
        &mut self,
        (network, index): (&str, u64),
        job: FeedbackJob<'_>,
        attestation: &PaymentAttestation,
        record: &mut (dyn TxRecord + Sync),
    ) -> Result<(), FeedbackError> {
        let refused = |reason: String| FeedbackError::Registry {
            network: network.to_owned(),
            reason,
        };
        let (client, program) = (self.address(), self.reads().program());
        let agent = &job.submission.agent_id;
        let mint: Address = (agent.parse()).map_err(|_| refused(format!("{agent} is no mint")))?;
        let attested = attestation.read(network, program.id(), mint, client)?;
        let facilitator = attested.payment.facilitator;
        let proof = AttachPaymentProof {
            reviewer: client,
            index,
            payment: attested.payment,
        };
        let verify = ed25519::verify(
            facilitator.as_array(),
            &attested.signature,
            &attested.message,
        );
        let verify = verify.map_err(|error| refused(error.to_string()))?;
        let attach = program.attach_payment_proof(client, mint, &proof);
        let id = format!("{}-payment-proof", job.id);
        let instructions = vec![verify, attach];
        Ok(self.land_instructions(&id, instructions, record).await?)
    }
}
