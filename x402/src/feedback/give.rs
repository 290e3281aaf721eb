use concord_chain::submission::{FileRecord, TxRecord};
use concord_files::{RegistrationId, parse_feedback};

use super::{
    FeedbackContent, FeedbackEntry, FeedbackError, FeedbackFolder, FeedbackJob, FeedbackRecord,
    FeedbackRegistry, FileStore, Interaction, Kind, PaymentAttestation, RecordedEntry, Review,
    Submission,
    file::{Draft, require_uri},
    folder::Held,
};
use crate::{
    account::is_same_agent,
    pay::Evidence,
    quote::{QuoteReads, registered_elsewhere},
    server::ResponseSigner,
};

/// The id of the feedback among the transactions of its purchase.
const JOB: &str = "feedback";

/// Gives feedback for purchases, once for each.
pub struct FeedbackGiver<'a> {
    /// Reads agents and their files: a registration beside the verified one is checked before it is rated.
    pub reads: QuoteReads<'a>,
    /// Keeps the files.
    pub store: &'a dyn FileStore,
    /// Keeps the records.
    pub folder: &'a FeedbackFolder,
    /// Takes the feedback.
    pub registry: &'a mut dyn FeedbackRegistry,
}

/// A feedback that is in the registry and was read back.
#[derive(Clone, Debug)]
pub struct Given {
    /// Its record.
    pub record: FeedbackRecord,
    /// The entry, as the chain has it: its hash is the file's.
    pub entry: FeedbackEntry,
}

impl FeedbackGiver<'_> {
    /// Rates a purchase. `reviewer` is the payer's key (R38); `now` is the file's time, in unix seconds.
    ///
    /// # Errors
    /// [`FeedbackError`]. After [`FeedbackError::is_retryable`] call [`Self::resume`].
    pub async fn give(
        &mut self,
        evidence: &Evidence,
        review: Review,
        kind: Kind,
        reviewer: &dyn ResponseSigner,
        now: u64,
    ) -> Result<Given, FeedbackError> {
        let interaction = Interaction::of(evidence)?;
        let held = self.folder.hold(&interaction.id)?;
        if held.load(&interaction.id)?.is_some() {
            return Err(FeedbackError::AlreadyBegun(interaction.id));
        }
        let record = self
            .prepare(&interaction, &review, kind, reviewer, now)
            .await?;
        held.save(&record)?;
        self.proceed(&held, record).await
    }

    /// Continues a feedback that was interrupted, with the same file and the same bytes.
    ///
    /// # Errors
    /// As [`Self::give`].
    pub async fn resume(&mut self, id: &str) -> Result<Given, FeedbackError> {
        let held = self.folder.hold(id)?;
        let record = held.load(id)?;
        let record = record.ok_or_else(|| FeedbackError::NotBegun(id.to_owned()))?;
        self.proceed(&held, record).await
    }

    /// Attaches a facilitator's payment proof to an authorized feedback that was given (R13).
    ///
    /// # Errors
    /// As [`Self::give`].
    pub async fn attach_payment_proof(
        &mut self,
        id: &str,
        attestation: &PaymentAttestation,
        task_ref: &str,
    ) -> Result<FeedbackRecord, FeedbackError> {
        attestation.require_task_ref(task_ref)?;
        let held = self.folder.hold(id)?;
        let record = held.load(id)?;
        let mut record = record.ok_or_else(|| FeedbackError::NotBegun(id.to_owned()))?;
        self.require_place(&record)?;
        let not_begun = || FeedbackError::NotBegun(id.to_owned());
        let index = record.entry.as_ref().ok_or_else(not_begun)?.index;
        let mut transactions = held.transactions()?;
        let job = FeedbackJob {
            id: JOB,
            submission: &record.submission,
        };
        let attaching =
            self.registry
                .attach_payment_proof(job, index, attestation, &mut transactions);
        attaching.await?;
        if let Some(entry) = &mut record.entry {
            entry.has_payment_proof = true;
        }
        held.save(&record)?;
        Ok(record)
    }

    /// The file, signed, and the submission that refers to it.
    async fn prepare(
        &self,
        interaction: &Interaction,
        review: &Review,
        kind: Kind,
        reviewer: &dyn ResponseSigner,
        now: u64,
    ) -> Result<FeedbackRecord, FeedbackError> {
        let (registry, client) = (self.registry.registry(), self.registry.client());
        let agent = interaction.registration_at(&registry)?;
        self.require_same_agent(interaction, agent).await?;
        let draft = Draft {
            interaction,
            review,
            agent,
            client: &client,
            created_at: now,
        };
        let (file, content) = match kind {
            Kind::Open => {
                let content = FeedbackContent::Open {
                    value: review.value.value().to_string(),
                    decimals: review.value.decimals(),
                    endpoint: interaction.endpoint.clone().unwrap_or_default(),
                };
                (draft.open(reviewer).await?, content)
            }
            Kind::Authorized => {
                let grant = interaction.grant.clone()?;
                let grant = grant.ok_or_else(|| FeedbackError::NoGrant(interaction.id.clone()))?;
                let file = draft.authorized(&grant)?;
                let score = review.score()?;
                (file, FeedbackContent::Authorized { score, grant })
            }
        };
        let [tag1, tag2] = draft.tags();
        let text = file.to_canonical()?; // R21
        let uri = self.store.uri(text.as_bytes());
        require_uri(&uri)?;
        let submission = Submission {
            agent_id: draft.agent.agent_id.to_string(),
            tag1,
            tag2,
            content,
            uri,
            hash: format!("0x{}", hex::encode(file.hash()?)),
        };
        let place = (registry.clone(), client.clone());
        Ok(FeedbackRecord::new(
            &interaction.id,
            place,
            submission,
            text,
        ))
    }

    /// P6 to P8 on the registration that is rated. What was checked before the payment was another one if the seller
    /// announced several, and a seller can announce the registration of an agent that is not theirs.
    async fn require_same_agent(
        &self,
        interaction: &Interaction,
        agent: &RegistrationId,
    ) -> Result<(), FeedbackError> {
        if is_same_agent(agent, &interaction.verified) {
            Ok(())
        } else {
            Ok(registered_elsewhere(agent, &interaction.verified, self.reads).await?)
        }
    }

    /// Stores the file, lands the transaction, and reads the entry back.
    async fn proceed(
        &mut self,
        held: &Held,
        mut record: FeedbackRecord,
    ) -> Result<Given, FeedbackError> {
        self.require_place(&record)?;
        let file = parse_feedback(record.file.as_bytes())?;
        let hash = format!("0x{}", hex::encode(file.hash()));
        record.require("hash", &record.submission.hash, &hash)?;
        // a file that cannot be read must not be referred to on chain
        self.store.store(record.file.as_bytes()).await?;
        let mut transactions = held.transactions()?;
        let job = FeedbackJob {
            id: JOB,
            submission: &record.submission,
        };
        self.registry.submit(job, &mut transactions).await?;
        let entry = self.read_back(job, &transactions).await?;
        entry.require_file(&file, &record.submission.uri)?;
        let had_proof = record.entry.as_ref().is_some_and(|it| it.has_payment_proof);
        record.entry = Some(RecordedEntry {
            index: entry.index,
            transaction: entry.transaction.clone(),
            block: entry.block,
            has_payment_proof: had_proof,
        });
        held.save(&record)?;
        Ok(Given { record, entry })
    }

    async fn read_back(
        &self,
        job: FeedbackJob<'_>,
        transactions: &FileRecord,
    ) -> Result<FeedbackEntry, FeedbackError> {
        let differs = || FeedbackError::Differs("its transaction, which is not on record".into());
        let landing = transactions.landing(JOB).ok_or_else(differs)?;
        let signed = transactions.transactions(JOB).iter();
        let signed = signed
            .clone()
            .find(|it| it.transaction == landing.transaction);
        let signed = signed.ok_or_else(differs)?;
        self.registry.entry(job, landing, signed).await
    }

    /// A record is continued by the account, and on the registry, that began it.
    fn require_place(&self, record: &FeedbackRecord) -> Result<(), FeedbackError> {
        record.require("registry", &record.registry, &self.registry.registry())?;
        record.require("client", &record.client, &self.registry.client())
    }
}
