use async_trait::async_trait;
use concord_canonical::{auth::SvmFeedbackAuth, caip, tag::Tag};
use concord_chain::{
    Amount, ChainError, ChainId, Signer, Svm,
    submission::{
        Finality, Landing, Resend, SendOutcome, SignedTx, Timing, TxChain, TxJob, TxRecord,
        TxStatus, submit,
    },
    svm::{Cluster, ExecutedTx, InstructionChain, InstructionJob, PriorityFee, decode},
};
use concord_registry::{
    event::Block,
    svm::{
        Address, Instruction, Program,
        accounts::{
            AccountType, AgentIdentity, ClientIndex, FeedbackEntry as Entry, OpenClientIndex,
            OpenFeedback,
        },
        ed25519,
        events::{Call, TopLevel, Transaction},
        instructions::{AttachPaymentProof, FeedbackAuthorization, GiveFeedback, GiveOpenFeedback},
    },
};

use super::{
    FeedbackContent, FeedbackEntry, FeedbackError, FeedbackJob, FeedbackRegistry,
    PaymentAttestation, RevocationJob, Submission,
};
use crate::grants::FeedbackGrant;

/// Compute units of a feedback with its precompile; the largest flow takes about 25,000.
const UNITS: u32 = 100_000;

/// The program on a Solana cluster, and the account that submits.
pub struct SvmRegistry {
    chain: InstructionChain,
    place: Place,
    timing: Timing,
}

/// Where the registry is, and who submits.
#[derive(Clone)]
struct Place {
    cluster: Cluster,
    network: String,
    program: Program,
    client: Address,
}

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
        let place = Place {
            cluster: cluster.clone(),
            network: network.to_string(),
            program,
            client: signer.address(),
        };
        let signers = vec![signer];
        let chain = InstructionChain::connect(cluster, network, signers, priority_fee).await?;
        Ok(Self {
            chain,
            place,
            timing,
        })
    }
}

impl Place {
    fn refused(&self, reason: impl Into<String>) -> FeedbackError {
        FeedbackError::Registry {
            network: self.network.clone(),
            reason: reason.into(),
        }
    }

    fn mint(&self, agent_id: &str) -> Result<Address, FeedbackError> {
        let mint = agent_id.parse();
        mint.map_err(|_| self.refused(format!("{agent_id} is no mint")))
    }

    async fn read<T: AccountType>(&self, address: &Address) -> Result<Option<T>, FeedbackError> {
        let Some(account) = self.cluster.account(address).await? else {
            return Ok(None);
        };
        let found = self.program.find(&account.owner, &account.data);
        found.map_err(|error| self.refused(format!("{address}: {error}")))
    }

    /// The instructions of a feedback at the client's next index (R12), which is read each time: they are only
    /// made if every earlier transaction can no longer land.
    async fn instructions(
        &self,
        submission: &Submission,
    ) -> Result<Vec<Instruction>, FeedbackError> {
        let mint = self.mint(&submission.agent_id)?;
        match &submission.content {
            FeedbackContent::Open {
                value,
                decimals,
                endpoint,
            } => {
                let address = self.program.open_client_index(&mint, &self.client);
                let last: Option<OpenClientIndex> = self.read(&address).await?;
                let feedback = GiveOpenFeedback {
                    index: last.map_or(0, |it| it.last_index).saturating_add(1),
                    value: (value.parse()).map_err(|_| self.refused("the value is no int128"))?,
                    decimals: *decimals,
                    tag1: &submission.tag1,
                    tag2: &submission.tag2,
                    endpoint,
                    uri: &submission.uri,
                    hash: self.hash(submission)?,
                };
                let give = self
                    .program
                    .give_open_feedback(self.client, mint, &feedback);
                Ok(vec![give])
            }
            FeedbackContent::Authorized { score, grant } => {
                let address = self.program.client_index(&mint, &self.client);
                let last: Option<ClientIndex> = self.read(&address).await?;
                let feedback = GiveFeedback {
                    index: last.map_or(0, |it| it.last_index).saturating_add(1),
                    score: *score,
                    tag1: Tag::new(&submission.tag1)?.padded(), // R14
                    tag2: Tag::new(&submission.tag2)?.padded(),
                    uri: &submission.uri,
                    hash: self.hash(submission)?,
                    authorization: FeedbackAuthorization::Bounded {
                        index_limit: grant.index_limit,
                        expiry: grant.expiry,
                    },
                };
                let verify = self.authorization(mint, grant).await?;
                let give = self.program.give_feedback(self.client, mint, &feedback);
                Ok(vec![verify, give]) // R11: directly before
            }
        }
    }

    /// The rent of the accounts that a feedback makes, in lamports. Tags that are shorter than they may be make
    /// it less.
    async fn rent_max(&self, submission: &Submission) -> Result<u64, FeedbackError> {
        let mint = self.mint(&submission.agent_id)?;
        let (entry, index, index_size) = match &submission.content {
            FeedbackContent::Open { .. } => {
                let index = self.program.open_client_index(&mint, &self.client);
                (OpenFeedback::SPACE, index, OpenClientIndex::SPACE)
            }
            FeedbackContent::Authorized { .. } => {
                let index = self.program.client_index(&mint, &self.client);
                (Entry::SPACE, index, ClientIndex::SPACE)
            }
        };
        let entry = self.cluster.rent(entry).await?;
        match self.cluster.account(&index).await? {
            Some(_) => Ok(entry),
            None => Ok(entry.saturating_add(self.cluster.rent(index_size).await?)),
        }
    }

    fn hash(&self, submission: &Submission) -> Result<[u8; 32], FeedbackError> {
        let hash = submission.hash_word();
        hash.ok_or_else(|| self.refused("the file's hash is not 32 bytes"))
    }

    /// The precompile's instruction for a grant (R9), by the one key that counts (R7).
    async fn authorization(
        &self,
        mint: Address,
        grant: &FeedbackGrant,
    ) -> Result<Instruction, FeedbackError> {
        let agent: Option<AgentIdentity> = self.read(&self.program.agent(&mint)).await?;
        let agent = agent.ok_or_else(|| self.refused(format!("there is no agent {mint}")))?;
        let signer = agent.authorization_signer();
        let message = SvmFeedbackAuth {
            agent_mint: mint.to_bytes(),
            client: self.client.to_bytes(),
            index_limit: grant.index_limit,
            expiry: grant.expiry,
            chain: caip::ChainId::parse(&self.network)?.hash(),
            program_id: self.program.id().to_bytes(),
            signer: signer.to_bytes(),
        }
        .message();
        let signature = grant.authorization_bytes()?;
        let length = signature.len();
        let signature: [u8; 64] = (signature.try_into())
            .map_err(|_| self.refused(format!("the grant has {length} bytes, expected 64 (R9)")))?;
        let verify = ed25519::verify(signer.as_array(), &signature, &message);
        verify.map_err(|error| self.refused(error.to_string()))
    }
}

/// A job whose instructions are made when they are signed.
struct SvmJob {
    /// Without instructions.
    job: InstructionJob,
    content: JobContent,
}

enum JobContent {
    Feedback(Box<Submission>),
    Fixed(Vec<Instruction>),
}

impl TxJob for SvmJob {
    fn id(&self) -> &str {
        &self.job.id
    }
}

impl SvmJob {
    fn new(id: String, content: JobContent) -> Self {
        let job = InstructionJob {
            id,
            instructions: Vec::new(),
            units: UNITS,
        };
        Self { job, content }
    }
}

/// An [`InstructionChain`] for jobs whose instructions depend on the state of the registry.
struct Submitting<'a> {
    chain: &'a mut InstructionChain,
    place: Place,
}

#[async_trait]
impl TxChain for Submitting<'_> {
    type Job = SvmJob;
    type Error = FeedbackError;

    async fn effects(&mut self, jobs: &[&SvmJob]) -> Result<Vec<Option<bool>>, FeedbackError> {
        Ok(vec![None; jobs.len()])
    }

    async fn sign(&mut self, job: &SvmJob, expired: usize) -> Result<SignedTx, FeedbackError> {
        let instructions = match &job.content {
            JobContent::Feedback(submission) => self.place.instructions(submission).await?,
            JobContent::Fixed(instructions) => instructions.clone(),
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
    ) -> Result<Option<SignedTx>, FeedbackError> {
        Ok(self.chain.replace(&job.job, transaction).await?)
    }

    async fn resend(
        &mut self,
        job: &SvmJob,
        transaction: &SignedTx,
    ) -> Result<Resend, FeedbackError> {
        Ok(self.chain.resend(&job.job, transaction).await?)
    }

    async fn send(&mut self, transaction: &SignedTx) -> Result<SendOutcome, FeedbackError> {
        Ok(self.chain.send(transaction).await?)
    }

    async fn statuses(
        &mut self,
        transactions: &[SignedTx],
    ) -> Result<Vec<TxStatus>, FeedbackError> {
        Ok(self.chain.statuses(transactions).await?)
    }

    async fn finality(&mut self, landings: &[Landing]) -> Result<Vec<Finality>, FeedbackError> {
        Ok(self.chain.finality(landings).await?)
    }
}

impl SvmRegistry {
    async fn land(
        &mut self,
        job: SvmJob,
        record: &mut (dyn TxRecord + Sync),
    ) -> Result<(), FeedbackError> {
        let mut report = |job: &SvmJob, words: &str| tracing::info!(job = job.id(), words);
        let mut chain = Submitting {
            chain: &mut self.chain,
            place: self.place.clone(),
        };
        submit(&mut chain, &[&[job]], record, self.timing, &mut report).await
    }
}

#[async_trait]
impl FeedbackRegistry for SvmRegistry {
    fn registry(&self) -> String {
        format!("{}:{}", self.place.network, self.place.program.id())
    }

    fn client(&self) -> String {
        format!("{}:{}", self.place.network, self.place.client)
    }

    async fn cost(&self, submission: &Submission) -> Result<Amount, FeedbackError> {
        let rent = Amount(self.place.rent_max(submission).await?.into());
        Ok(self.chain.fee_max(UNITS).saturating_add(rent))
    }

    async fn submit(
        &mut self,
        job: FeedbackJob<'_>,
        record: &mut (dyn TxRecord + Sync),
    ) -> Result<(), FeedbackError> {
        let content = JobContent::Feedback(Box::new(job.submission.clone()));
        self.land(SvmJob::new(job.id.to_owned(), content), record)
            .await
    }

    async fn entry(
        &self,
        job: FeedbackJob<'_>,
        landing: &Landing,
        signed: &SignedTx,
    ) -> Result<FeedbackEntry, FeedbackError> {
        let place = &self.place;
        let gone = || place.refused(format!("transaction {} is gone", landing.transaction));
        let executed = place.cluster.transaction(&landing.transaction).await?;
        let transaction = carried(signed, &executed.ok_or_else(gone)?)?.ok_or_else(gone)?;
        let decoded = place.program.events(&place.network, &transaction);
        let events = decoded.events.into_iter().map(|it| it.event);
        FeedbackEntry::find(events, self, job, landing).ok_or_else(|| {
            let (transaction, client) = (&landing.transaction, place.client);
            place.refused(format!(
                "{transaction} has no event of a feedback by {client}"
            ))
        })
    }

    async fn revoke(
        &mut self,
        job: RevocationJob<'_>,
        record: &mut (dyn TxRecord + Sync),
    ) -> Result<(), FeedbackError> {
        let place = &self.place;
        let mint = place.mint(job.agent_id)?;
        let revoke = place
            .program
            .revoke_open_feedback(place.client, mint, job.index);
        let content = JobContent::Fixed(vec![revoke]);
        self.land(SvmJob::new(job.id.to_owned(), content), record)
            .await
    }

    async fn attach_payment_proof(
        &mut self,
        job: FeedbackJob<'_>,
        index: u64,
        attestation: &PaymentAttestation,
        record: &mut (dyn TxRecord + Sync),
    ) -> Result<(), FeedbackError> {
        let place = &self.place;
        let mint = place.mint(&job.submission.agent_id)?;
        let program = &place.program;
        let attested = attestation.read(&place.network, program.id(), mint, place.client)?;
        let facilitator = attested.payment.facilitator;
        let proof = AttachPaymentProof {
            reviewer: place.client,
            index,
            payment: attested.payment,
        };
        let verify = ed25519::verify(
            facilitator.as_array(),
            &attested.signature,
            &attested.message,
        );
        let verify = verify.map_err(|error| place.refused(error.to_string()))?;
        let attach = program.attach_payment_proof(place.client, mint, &proof);
        let id = format!("{}-payment-proof", job.id);
        let content = JobContent::Fixed(vec![verify, attach]);
        self.land(SvmJob::new(id, content), record).await
    }
}

/// What events are decoded from: the signed bytes have the accounts, the cluster has the calls.
fn carried(signed: &SignedTx, executed: &ExecutedTx) -> Result<Option<Transaction>, ChainError> {
    let sent = decode(signed)?;
    let keys = &sent.message.account_keys;
    let program = |index: u8| keys.get(usize::from(index)).copied();
    let mut instructions = Vec::new();
    for instruction in &sent.message.instructions {
        let Some(program) = program(instruction.program_id_index) else {
            return Ok(None);
        };
        let calls = Vec::new();
        instructions.push(TopLevel { program, calls });
    }
    for list in executed.meta.inner_instructions.iter().flatten() {
        let Some(top) = instructions.get_mut(usize::from(list.index)) else {
            return Ok(None);
        };
        for call in &list.instructions {
            let data = bs58::decode(&call.data).into_vec().unwrap_or_default();
            let call = Call::resolve(keys, call.program_id_index, &call.accounts, data);
            top.calls.extend(call);
        }
    }
    Ok(sent.signatures.first().map(|signature| Transaction {
        signature: (*signature).into(),
        block: Block {
            number: executed.slot,
            hash: None,
        },
        instructions,
        logs: executed.meta.log_messages.clone().unwrap_or_default(),
    }))
}
