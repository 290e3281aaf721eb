use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use concord_chain::{
    ChainError,
    submission::{FileRecord, TxRecord},
};
use concord_registry::event::Event;

use crate::{
    Account, ClientError, Document, Feedback, FileStore, Given, Kind, Operation, OperationError,
    Outcome, Registered, Registration, Registries, Response, Review, Revocation, Sent,
    ValidationAnswer, ValidationRequest, WalletSetting,
    outcome::{By, FeedbackRef},
    record::{Held, OperationRecord, sent},
};

/// An account's operations, each of which happens at most once.
///
/// Every operation has an id that the caller chooses. A second call with the same id, in this process or after it
/// was killed, never sends a second transaction: it continues the first call, or returns what came of it.
pub struct Client {
    account: Box<dyn Account>,
    records: PathBuf,
    files: Arc<dyn FileStore>,
}

impl Client {
    /// A client of one account. `records` is the folder in which operations are on disk before they are sent; `files`
    /// takes the files that they refer to.
    #[must_use]
    pub fn new(account: Box<dyn Account>, records: &Path, files: Arc<dyn FileStore>) -> Self {
        Self {
            account,
            records: records.to_owned(),
            files,
        }
    }

    /// What can be read of the registries.
    #[must_use]
    pub fn registries(&self) -> &dyn Registries {
        self.account.registries()
    }

    /// The account, CAIP-10.
    #[must_use]
    pub fn account(&self) -> String {
        self.account.account()
    }

    /// Registers an agent of the account. `file` is its registration file; with [`Document::None`], the URI of
    /// `agent` is used as it is. A `data:` URI of more than 200 bytes is refused (R17).
    ///
    /// # Errors
    /// [`OperationError`], with the class of the rule that it breaks, and whether something may have been sent.
    pub async fn register(
        &mut self,
        id: &str,
        mut agent: Registration,
        file: Document<'_>,
    ) -> Result<Registered, OperationError> {
        if !matches!(file, Document::None) {
            (agent.uri, _) = self.store(id, file).await?;
        }
        let outcome = self.run(id, Operation::Register(agent)).await?;
        let agent = match &outcome.event {
            Event::AgentRegistered { agent, .. } => agent.to_string(),
            _ => return Err(unexpected(&outcome)),
        };
        Ok(Registered { agent, outcome })
    }

    /// Sets where an agent is paid (R3).
    ///
    /// # Errors
    /// As [`Self::register`].
    pub async fn set_wallet(
        &mut self,
        id: &str,
        setting: WalletSetting,
    ) -> Result<Outcome, OperationError> {
        self.run(id, Operation::SetWallet(setting)).await
    }

    /// Gives feedback. A feedback file must say what `review` says, whose endpoint has neither query, fragment nor user
    /// info ([`Review::about`] cuts them, R39).
    ///
    /// # Errors
    /// As [`Self::register`].
    pub async fn give(
        &mut self,
        id: &str,
        review: Review,
        file: Document<'_>,
    ) -> Result<Given, OperationError> {
        let published = review.rating.require_published(); // before any error that shows what is sent
        published.map_err(|fault| self.so_far(id, fault))?;
        if let Document::Feedback(file) = file {
            let registry = self.registries().registry();
            let place = (&*registry, &*self.account());
            let says = review.require_file(file, place);
            says.map_err(|fault| self.so_far(id, fault))?;
        }
        let (uri, hash) = self.store(id, file).await?;
        let Review {
            agent,
            tag1,
            tag2,
            rating,
        } = review;
        let feedback = Feedback {
            agent,
            tag1,
            tag2,
            rating,
            uri,
            hash,
        };
        let outcome = self.run(id, Operation::Give(feedback)).await?;
        given(outcome)
    }

    /// Revokes a feedback of the account. `index` counts from 1 (R44).
    ///
    /// # Errors
    /// As [`Self::register`].
    pub async fn revoke(
        &mut self,
        id: &str,
        kind: Kind,
        agent: &str,
        index: u64,
    ) -> Result<Outcome, OperationError> {
        let agent = agent.to_owned();
        let revocation = Revocation { kind, agent, index };
        self.run(id, Operation::Revoke(revocation)).await
    }

    /// Responds to a feedback (R19).
    ///
    /// # Errors
    /// As [`Self::register`].
    pub async fn respond(
        &mut self,
        id: &str,
        kind: Kind,
        feedback: &FeedbackRef,
        file: Document<'_>,
    ) -> Result<Outcome, OperationError> {
        let (uri, hash) = self.store(id, file).await?;
        let response = Response {
            kind,
            agent: feedback.agent.clone(),
            client: feedback.client.clone(),
            index: feedback.index,
            uri,
            hash,
        };
        self.run(id, Operation::Respond(response)).await
    }

    /// Asks a validator to validate an agent of the account (R20).
    ///
    /// # Errors
    /// As [`Self::register`].
    pub async fn request_validation(
        &mut self,
        id: &str,
        mut request: ValidationRequest,
        file: Document<'_>,
    ) -> Result<Outcome, OperationError> {
        if !matches!(file, Document::None) {
            (request.uri, _) = self.store(id, file).await?;
        }
        self.run(id, Operation::RequestValidation(request)).await
    }

    /// Responds to a request for validation (R20).
    ///
    /// # Errors
    /// As [`Self::register`].
    pub async fn answer_validation(
        &mut self,
        id: &str,
        mut answer: ValidationAnswer,
        file: Document<'_>,
    ) -> Result<Outcome, OperationError> {
        if !matches!(file, Document::None) {
            (answer.uri, answer.hash) = self.store(id, file).await?;
        }
        self.run(id, Operation::AnswerValidation(answer)).await
    }

    /// Stores a file before anything refers to it. What landed is read back without the store.
    async fn store(
        &self,
        id: &str,
        file: Document<'_>,
    ) -> Result<(String, [u8; 32]), OperationError> {
        let (_held, transactions) = self.hold(id)?;
        let stored = match transactions.landing(id) {
            None => file.store(&*self.files).await,
            Some(_) => file.place(&*self.files),
        };
        stored.map_err(|fault| OperationError::new(fault, sent(&transactions, id)))
    }

    /// A fault before the operation's record is held: an earlier call may have sent.
    fn so_far(&self, id: &str, fault: ClientError) -> OperationError {
        match self.hold(id) {
            Ok((_held, transactions)) => OperationError::new(fault, sent(&transactions, id)),
            Err(held) => OperationError::new(fault, held.sent),
        }
    }

    /// Carries out an operation once, and returns when its event was seen in the transaction that landed.
    ///
    /// # Errors
    /// As [`Self::register`].
    pub async fn run(&mut self, id: &str, operation: Operation) -> Result<Outcome, OperationError> {
        let (held, mut transactions) = self.hold(id)?;
        let (registry, account) = (self.registries().registry(), self.account());
        let record = OperationRecord::new(registry, account, operation);
        let ran = self.carry_out(id, &held, record, &mut transactions).await;
        ran.map_err(|fault| OperationError::new(fault, sent(&transactions, id)))
    }

    /// Continues an operation that is on record, and sends what a killed call had not sent yet; `None` if no operation is on
    /// record under this id. One of another registry or account is refused, signed or not.
    ///
    /// # Errors
    /// As [`Self::register`].
    pub async fn resume(&mut self, id: &str) -> Result<Option<Outcome>, OperationError> {
        let (held, transactions) = self.hold(id)?;
        let loaded = self.load_own(&held);
        let loaded = loaded.map_err(|fault| OperationError::new(fault, sent(&transactions, id)))?;
        drop((held, transactions));
        match loaded {
            None => Ok(None),
            Some(record) => self.run(id, record.operation).await.map(Some),
        }
    }

    fn load_own(&self, held: &Held) -> Result<Option<OperationRecord>, ClientError> {
        let loaded = held.load()?;
        if let Some(found) = &loaded {
            let (registry, account) = (self.registries().registry(), self.account());
            held.require_place(found, &registry, &account)?;
        }
        Ok(loaded)
    }

    fn hold(&self, id: &str) -> Result<(Held, FileRecord), OperationError> {
        let open = || {
            let held = Held::open(&self.records, id)?;
            let transactions = held.transactions()?;
            Ok((held, transactions))
        };
        open().map_err(|fault| match &fault {
            // the process that holds it may be sending
            ClientError::Chain(ChainError::Locked(_) | ChainError::File { .. }) => {
                let transactions = Vec::new();
                OperationError::new(fault, Sent::Maybe { transactions })
            }
            _ => unsent(fault),
        })
    }

    async fn carry_out(
        &mut self,
        id: &str,
        held: &Held,
        mut record: OperationRecord,
        transactions: &mut FileRecord,
    ) -> Result<Outcome, ClientError> {
        let found = held.load()?;
        let earlier = found.as_ref().map(|it| &it.operation);
        self.account.complete(&mut record.operation, earlier);
        let operation = &record.operation;
        operation.require_published()?; // also of one that was signed
        if transactions.transactions(id).is_empty() {
            operation.require_portable()?;
            // what the registry would refuse costs nothing
            self.account.try_out(operation).await?;
            held.save(&record)?;
        } else if let Some(found) = &found {
            held.require_same(found, &record)?;
        }
        if let Err(fault) = self.account.land(id, operation, transactions).await {
            return Err(self.explained(fault, operation).await);
        }
        self.outcome(id, operation, transactions).await
    }

    /// Finds the class of a transaction that failed: the registry says it again.
    async fn explained(&self, fault: ClientError, operation: &Operation) -> ClientError {
        let is_refusal = matches!(
            &fault,
            ClientError::Chain(
                ChainError::TransactionFailed { .. }
                    | ChainError::SimulationFailed { .. }
                    | ChainError::TransactionRefused { .. }
            )
        );
        if is_refusal {
            match self.account.try_out(operation).await {
                Err(refused @ ClientError::Refused { .. }) => refused,
                _ => fault,
            }
        } else {
            fault
        }
    }

    async fn outcome(
        &self,
        id: &str,
        operation: &Operation,
        transactions: &FileRecord,
    ) -> Result<Outcome, ClientError> {
        let missing = |what: String| ClientError::Registry {
            network: self.registries().network().to_owned(),
            reason: what,
        };
        let gone = || missing(format!("the transaction of {id} is not on record"));
        let landing = transactions.landing(id).ok_or_else(gone)?;
        let mut signed = transactions.transactions(id).iter();
        let signed = signed.find(|it| it.transaction == landing.transaction);
        let events = self.account.events(landing, signed.ok_or_else(gone)?);
        let by = By::new(&self.account());
        let mut events = events.await?.into_iter();
        let event = events.find(|event| by.did(operation, event));
        let event = event.ok_or_else(|| {
            let (transaction, name) = (&landing.transaction, operation.name());
            missing(format!("{transaction} has no event of {name}"))
        })?;
        Ok(Outcome {
            transaction: landing.transaction.clone(),
            block: landing.block,
            event,
        })
    }
}

/// Nothing was signed yet.
fn unsent(fault: ClientError) -> OperationError {
    OperationError::new(fault, Sent::Nothing)
}

/// An event of another kind, which [`By::did`] rules out.
fn unexpected(outcome: &Outcome) -> OperationError {
    let transaction = outcome.transaction.clone();
    let fault = ClientError::Registry {
        network: String::new(),
        reason: format!("{transaction} has another event"),
    };
    OperationError::new(fault, Sent::Landed { transaction })
}

fn given(outcome: Outcome) -> Result<Given, OperationError> {
    let feedback = match &outcome.event {
        Event::OpenFeedback {
            agent,
            client,
            index,
            ..
        }
        | Event::AuthorizedFeedback {
            agent,
            client,
            index,
            ..
        } => FeedbackRef {
            agent: agent.to_string(),
            client: client.to_string(),
            index: *index,
        },
        _ => return Err(unexpected(&outcome)),
    };
    Ok(Given { feedback, outcome })
}
