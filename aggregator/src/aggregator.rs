use std::{net::IpAddr, sync::Arc, time::Duration};

use concord_x402::feedback::FileStore;
use tokio::{
    sync::Semaphore,
    time::{Instant, timeout_at},
};

use crate::{
    Code, Limits, Policy, Refusal,
    admission::Admission,
    content::Seal,
    form::Form,
    policy::Subject,
    revocation::RevocationRequest,
    store::{Acceptance, Accepted, RevocationRow, Row, RowState, Store},
};

/// How long a client waits for a landing before it is told where to ask (R56), if nothing else is set.
const WAIT: Duration = Duration::from_secs(10);
/// Clients that wait at once: each commit wakes all of them, and each reads its row. Others are told at once
/// where to ask.
const WAITING_MAX: usize = 256;

/// The account and the registry of a lane.
#[derive(Clone, Debug)]
pub struct LanePlace {
    /// The identity registry, CAIP-10.
    pub registry: String,
    /// The account that submits, CAIP-10 (R38).
    pub client: String,
    /// The registry that records the feedback, CAIP-10.
    pub settlement: String,
}

impl LanePlace {
    /// The lane's name in the store: one account of one registry. Files name the account, so another account
    /// cannot continue (R55).
    #[must_use]
    pub fn name(&self) -> String {
        format!("{} {}", self.registry, self.client)
    }
}

/// Accepts submissions. What was accepted is submitted by the [`crate::lane`]s.
pub struct Aggregator {
    store: Store,
    admission: Admission,
    files: Arc<dyn FileStore>,
    lanes: Vec<LanePlace>,
    policy: Arc<Policy>,
    wait: Duration,
    waiting: Semaphore,
}

/// What became of a submission.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// As the store has it.
    pub row: Row,
    /// What the answer says.
    pub progress: Progress,
}

/// How far a submission is, as clients see it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// Its transaction landed (R56).
    Landed,
    /// Not yet.
    Pending,
    /// The registry refuses it.
    Refused,
}

impl Aggregator {
    /// `lanes` are those of `admission.served`, in the same order.
    #[must_use]
    pub fn new(
        store: Store,
        admission: Admission,
        files: Arc<dyn FileStore>,
        lanes: Vec<LanePlace>,
    ) -> Self {
        Self {
            store,
            admission,
            files,
            lanes,
            policy: Arc::default(),
            wait: WAIT,
            waiting: Semaphore::new(WAITING_MAX),
        }
    }

    /// Lets clients wait for a landing as long as this, not for ten seconds (R56).
    #[must_use]
    pub const fn with_wait(mut self, wait: Duration) -> Self {
        self.wait = wait;
        self
    }

    /// Enforces limits, which are off by default (R53).
    #[must_use]
    pub fn with_limits(mut self, limits: Limits) -> Self {
        self.policy = Arc::new(Policy::new(limits));
        self
    }

    /// The store.
    #[must_use]
    pub fn store(&self) -> &Store {
        &self.store
    }

    /// Checks a submission in R52's order and accepts it. `address`: where it came from, if that is
    /// known. `now`: unix seconds.
    ///
    /// # Errors
    /// [`Refusal`].
    pub async fn submit(
        &self,
        body: &[u8],
        address: Option<IpAddr>,
        now: u64,
    ) -> Result<Row, Refusal> {
        let Form { claim, content } = Form::read(body)?;
        if let Some(row) = self.store.find(claim.key())? {
            return require_same(row, claim.digest());
        }
        let admitted = self.admission.check(&claim, now).await?;
        let place = self.lanes.get(admitted.lane).ok_or_else(no_lane)?;
        self.admission.require_client(&claim, &place.client).await?;
        let seal = Seal {
            client: &place.client,
            accepted_at: now,
            is_payment_checked: admitted.is_payment_checked,
        };
        let sealed = content.seal(seal, &*self.files);
        let sealed = sealed.map_err(|error| Refusal::of_form(&error, "review".to_owned()))?;
        let subject = Subject {
            agent: format!("{} {}", place.registry, claim.agent_id()),
            reviewer: claim.payer_account(),
            address,
            now,
        };
        let acceptance = Acceptance {
            lane: place.name(),
            settlement: place.settlement.clone(),
            subject,
            policy: self.policy.clone(),
        };
        match self.store.accept(&claim, sealed, acceptance).await? {
            Accepted::Now(row) => {
                tracing::info!(n = row.receipt.n, key = claim.key(), "accepted");
                Ok(row)
            }
            // the same payment came twice at once
            Accepted::Before(row) => require_same(row, claim.digest()),
            Accepted::Limited(limited) => Err(limited.into()),
        }
    }

    /// Accepts the reviewer's revocation of what they submitted (R58). `now`: unix seconds.
    ///
    /// # Errors
    /// [`Refusal`].
    pub async fn revoke(&self, body: &[u8], now: u64) -> Result<RevocationRow, Refusal> {
        let signed = RevocationRequest::read(body)?.verify()?;
        let row = self.store.find(&signed.key)?.ok_or_else(|| {
            let message = format!("no feedback for {} was accepted here", signed.key);
            Refusal::new(Code::UnknownFeedback, "UnknownFeedback", message).of("taskRef")
        })?;
        signed.require(&row)?;
        let n = row.receipt.n;
        let revocation = self.store.accept_revocation(n, &signed.request, now);
        let revocation = revocation.await?;
        tracing::info!(n, "revocation accepted");
        Ok(revocation)
    }

    /// Waits until a revocation landed or was refused, as [`Self::wait`].
    ///
    /// # Errors
    /// [`Refusal`] if the store fails.
    pub async fn wait_revoked(&self, row: RevocationRow) -> Result<RevocationRow, Refusal> {
        let Ok(_place) = self.waiting.try_acquire() else {
            return Ok(row);
        };
        let (n, end) = (row.n, Instant::now() + self.wait);
        let mut changes = self.store.changes();
        let mut row = row;
        loop {
            changes.borrow_and_update();
            if let Some(newer) = self.store.revocation(n)? {
                row = newer;
            }
            if Progress::of(row.state) != Progress::Pending {
                return Ok(row);
            }
            let Ok(Ok(())) = timeout_at(end, changes.changed()).await else {
                return Ok(row);
            };
        }
    }

    /// Waits until a submission landed or was refused, for ten seconds at most unless another time is set (R56).
    ///
    /// # Errors
    /// [`Refusal`] if the store fails.
    pub async fn wait(&self, row: Row) -> Result<Outcome, Refusal> {
        match self.waiting.try_acquire() {
            Ok(_place) => self.wait_until(row, Instant::now() + self.wait).await,
            Err(_) => Ok(Outcome::of(row)),
        }
    }

    /// Whether a feedback file may be shown: not while its submission can still be kept out (R53). A file that no
    /// submission here refers to may.
    ///
    /// # Errors
    /// [`Refusal`] if the store fails.
    pub fn is_shown(&self, file: &[u8]) -> Result<bool, Refusal> {
        let row = self.store.find_by_uri(&self.files.uri(file))?;
        Ok(row.is_none_or(|row| row.state.is_shown()))
    }

    async fn wait_until(&self, row: Row, end: Instant) -> Result<Outcome, Refusal> {
        let n = row.receipt.n;
        let mut changes = self.store.changes();
        let mut outcome = Outcome::of(row);
        while outcome.progress == Progress::Pending {
            changes.borrow_and_update();
            if let Some(row) = self.store.get(n)? {
                outcome = Outcome::of(row);
            }
            if outcome.progress != Progress::Pending {
                break;
            }
            match timeout_at(end, changes.changed()).await {
                Ok(Ok(())) => {}
                _ => break,
            }
        }
        Ok(outcome)
    }
}

impl Progress {
    /// What a state means to clients.
    #[must_use]
    pub const fn of(state: RowState) -> Self {
        match state {
            RowState::Landed | RowState::Final => Self::Landed,
            RowState::Refused => Self::Refused,
            _ => Self::Pending,
        }
    }
}

impl Outcome {
    /// What is known of a submission now.
    #[must_use]
    pub fn of(row: Row) -> Self {
        let progress = Progress::of(row.state);
        Self { row, progress }
    }
}

fn no_lane() -> Refusal {
    Refusal::new(Code::Unavailable, "Unavailable", "the registry has no lane")
}

/// R51
fn require_same(row: Row, digest: &[u8; 32]) -> Result<Row, Refusal> {
    match row.receipt.payload_digest == *digest {
        true => Ok(row),
        false => {
            let message = format!(
                "{} has another submission: receipt {}",
                row.receipt.key, row.receipt.n
            );
            let refusal = Refusal::new(Code::DuplicateTaskRef, "DuplicateTaskRef", message);
            Err(refusal.of("interactionData.taskRef"))
        }
    }
}
