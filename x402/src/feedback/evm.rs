use alloy::primitives::{Address, B256, U256};
use async_trait::async_trait;
use concord_canonical::tag::Tag;
use concord_chain::{
    Amount, ChainId, Evm, Signer,
    evm::{CallChain, CallJob, Confirmations, FeeLimit, Node},
    submission::{Landing, SignedTx, Timing, TxRecord, submit},
};
use concord_registry::{
    event::Block,
    evm::{Bytes, PlacedLog, RegistryAddresses, calls},
};

use super::{
    FeedbackContent, FeedbackEntry, FeedbackError, FeedbackJob, FeedbackRegistry, Kind,
    PaymentAttestation, RevocationJob, Submission,
};

/// The reputation registries of one deployment on an EVM chain, and the account that submits.
pub struct EvmRegistry {
    chain: CallChain,
    node: Node,
    network: String,
    addresses: RegistryAddresses,
    client: Address,
    timing: Timing,
}

impl EvmRegistry {
    /// Connects to a node, which must be of this chain.
    ///
    /// # Errors
    /// [`FeedbackError::Chain`].
    pub async fn connect(
        node: Node,
        network: &ChainId,
        addresses: RegistryAddresses,
        signer: Box<dyn Signer<Evm>>,
        fees: (FeeLimit, Confirmations),
        timing: Timing,
    ) -> Result<Self, FeedbackError> {
        let client = signer.address();
        let (limit, confirmations) = fees;
        let chain = CallChain::connect(node.clone(), network, signer, limit, confirmations).await?;
        Ok(Self {
            chain,
            node,
            network: network.to_string(),
            addresses,
            client,
            timing,
        })
    }

    async fn land(
        &mut self,
        id: &str,
        (to, input): (Address, Bytes),
        record: &mut (dyn TxRecord + Sync),
    ) -> Result<(), FeedbackError> {
        let call = job(id, to, input);
        let mut report = |job: &CallJob, words: &str| tracing::info!(job = job.id, words);
        let timing = self.timing;
        Ok(submit(&mut self.chain, &[&[call]], record, timing, &mut report).await?)
    }

    fn refused(&self, reason: impl Into<String>) -> FeedbackError {
        FeedbackError::Registry {
            network: self.network.clone(),
            reason: reason.into(),
        }
    }

    fn agent_id(&self, text: &str) -> Result<U256, FeedbackError> {
        (text.parse()).map_err(|_| self.refused(format!("{text} is no agent id")))
    }

    fn open(&self) -> Result<Address, FeedbackError> {
        let missing = || self.refused("no open reputation registry is configured");
        self.addresses.open_reputation.ok_or_else(missing)
    }

    /// The contract and its input.
    fn call(&self, submission: &Submission) -> Result<(Address, Bytes), FeedbackError> {
        let agent_id = self.agent_id(&submission.agent_id)?;
        let hash = submission.hash_word();
        let hash = hash.ok_or_else(|| self.refused("the file's hash is not 32 bytes"))?;
        let Submission {
            tag1, tag2, uri, ..
        } = submission;
        match &submission.content {
            FeedbackContent::Open {
                value,
                decimals,
                endpoint,
            } => {
                let feedback = calls::GiveOpenFeedback {
                    agent_id,
                    value: (value.parse()).map_err(|_| self.refused("the value is no int128"))?,
                    decimals: *decimals,
                    tag1,
                    tag2,
                    endpoint,
                    uri,
                    hash,
                };
                Ok((self.open()?, calls::give_open_feedback(&feedback)))
            }
            FeedbackContent::Authorized { score, grant } => {
                let feedback = calls::GiveFeedback {
                    agent_id,
                    score: *score,
                    tag1: Tag::new(tag1)?.padded(), // R14
                    tag2: Tag::new(tag2)?.padded(),
                    uri,
                    hash,
                    authorization: &grant.authorization_bytes()?,
                };
                let to = self.addresses.authorized_reputation;
                let missing = "no authorized reputation registry is configured";
                let to = to.ok_or_else(|| self.refused(missing))?;
                Ok((to, calls::give_feedback(&feedback)))
            }
        }
    }
}

fn job(id: &str, to: Address, input: Bytes) -> CallJob {
    CallJob {
        id: id.to_owned(),
        to,
        value: U256::ZERO,
        input,
    }
}

#[async_trait]
impl FeedbackRegistry for EvmRegistry {
    fn registry(&self) -> String {
        format!("{}:{}", self.network, self.addresses.identity)
    }

    fn client(&self) -> String {
        format!("{}:{}", self.network, self.client)
    }

    async fn cost(&self, submission: &Submission) -> Result<Amount, FeedbackError> {
        let (to, input) = self.call(submission)?;
        Ok(self.chain.cost(&job("cost", to, input)).await?)
    }

    async fn submit(
        &mut self,
        job: FeedbackJob<'_>,
        record: &mut (dyn TxRecord + Sync),
    ) -> Result<(), FeedbackError> {
        let call = self.call(job.submission)?;
        self.land(job.id, call, record).await
    }

    async fn entry(
        &self,
        job: FeedbackJob<'_>,
        landing: &Landing,
        _signed: &SignedTx,
    ) -> Result<FeedbackEntry, FeedbackError> {
        let gone = || self.refused(format!("transaction {} is gone", landing.transaction));
        let hash: B256 = landing.transaction.parse().map_err(|_| gone())?;
        let receipt = self.node.receipt(hash).await?.ok_or_else(gone)?;
        let block = Block {
            number: landing.block,
            hash: None,
        };
        let logs = receipt.logs().iter().map(|log| PlacedLog {
            block,
            transaction: hash,
            index: log.log_index.unwrap_or_default(),
            log: log.inner.clone(),
        });
        let logs: Vec<PlacedLog> = logs.collect();
        let decoded = self.addresses.events(&self.network, &logs);
        let events = decoded.events.into_iter().map(|it| it.event);
        let found = FeedbackEntry::find(events, self, job, landing);
        found.ok_or_else(|| {
            let kind = match job.submission.content.kind() {
                Kind::Open => "open",
                Kind::Authorized => "authorized",
            };
            let client = self.client;
            self.refused(format!(
                "{hash} has no event of an {kind} feedback by {client}"
            ))
        })
    }

    async fn revoke(
        &mut self,
        job: RevocationJob<'_>,
        record: &mut (dyn TxRecord + Sync),
    ) -> Result<(), FeedbackError> {
        let agent_id = self.agent_id(job.agent_id)?;
        let call = (self.open()?, calls::revoke_feedback(agent_id, job.index));
        self.land(job.id, call, record).await
    }

    /// Declared variance 4: on EVM the payment is in the feedback file.
    async fn attach_payment_proof(
        &mut self,
        _job: FeedbackJob<'_>,
        _index: u64,
        _attestation: &PaymentAttestation,
        _record: &mut (dyn TxRecord + Sync),
    ) -> Result<(), FeedbackError> {
        Err(self.refused("payment proofs exist on Solana only"))
    }
}
