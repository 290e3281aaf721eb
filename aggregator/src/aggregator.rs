use std::{net::IpAddr, sync::Arc, time::Duration};

use concord_x402::feedback::FileStore;
use tokio::{
    sync::Semaphore,
    time::{Instant, sleep_until, timeout},
};

use crate::{
    Claim, Code, Limits, Policy, Refusal,
    admission::Admission,
    content::Seal,
    form::Form,
    revocation::{RevocationRequest, unknown_feedback},
    store::{Acceptance, Accepted, RevocationRow, Row, RowState, Store, StoreError},
};

/// How long a client waits for a landing before it is told where to ask (R56), if nothing else is set.
const WAIT: Duration = Duration::from_secs(10);
/// How long each part of a submission's checks may take.
const CHECKS_TIME: Duration = Duration::from_secs(25);
/// Maximum number of clients waiting at once. Beyond it, a response says where to check the status.
const WAITING_MAX: usize = 256;
/// How often a waiting client reads its row. Waking it at each commit costs more: a lane makes about seven for each feedback.
const LOOK: Duration = Duration::from_millis(100);

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
    pub(crate) store: Store,
    pub(crate) admission: Admission,
    pub(crate) files: Arc<dyn FileStore>,
    pub(crate) lanes: Vec<LanePlace>,
    pub(crate) policy: Arc<Policy>,
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
        if let Some(known) = self.store.known(claim.key())? {
            return answered(known, &claim); // R52: before anything else is checked
        }
        let admitted = in_time(self.admission.check(&claim, now)).await?;
        let place = self.lanes.get(admitted.lane).ok_or_else(no_lane)?;
        in_time(self.admission.require_client(&claim, &place.client)).await?;
        let seal = Seal {
            client: &place.client,
            accepted_at: now,
            is_payment_checked: admitted.is_payment_checked,
        };
        let sealed = content.seal(seal, &*self.files);
        let sealed = sealed.map_err(|error| Refusal::of_form(&error, "review".to_owned()))?;
        let acceptance = Acceptance::new(place, &claim, self.policy.clone(), (address, now));
        // the same payment may have come twice at once
        let accepted = self.store.accept(&claim, sealed, acceptance).await?;
        if let Accepted::Now(row) = &accepted {
            tracing::info!(n = row.receipt.n, key = claim.key(), "accepted");
        }
        answered(accepted, &claim)
    }

    /// Accepts the reviewer's revocation of what they submitted (R58). `now`: unix seconds.
    ///
    /// # Errors
    /// [`Refusal`].
    pub async fn revoke(&self, body: &[u8], now: u64) -> Result<RevocationRow, Refusal> {
        let signed = RevocationRequest::read(body)?.verify()?;
        let row = self.store.find(&signed.key)?;
        let row = row.ok_or_else(|| unknown_feedback(&signed.key))?;
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
        let n = row.n;
        let is_open = |row: &RevocationRow| Progress::of(row.state) == Progress::Pending;
        self.wait_for(row, || self.store.revocation(n), is_open)
            .await
    }

    /// Reads a row every [`LOOK`] until it is no longer open or the time limit is reached.
    pub(crate) async fn wait_for<R>(
        &self,
        row: R,
        read: impl Fn() -> Result<Option<R>, StoreError>,
        is_open: impl Fn(&R) -> bool,
    ) -> Result<R, Refusal> {
        let Ok(_place) = self.waiting.try_acquire() else {
            return Ok(row);
        };
        let (end, mut row) = (Instant::now() + self.wait, row);
        while is_open(&row) && Instant::now() < end {
            sleep_until(end.min(Instant::now() + LOOK)).await;
            if let Some(newer) = read()? {
                row = newer;
            }
        }
        Ok(row)
    }

    /// Waits until a submission landed or was refused, for ten seconds at most unless another time is set (R56).
    ///
    /// # Errors
    /// [`Refusal`] if the store fails.
    pub async fn wait(&self, row: Row) -> Result<Outcome, Refusal> {
        let n = row.receipt.n;
        let is_open = |row: &Row| Progress::of(row.state) == Progress::Pending;
        let row = self.wait_for(row, || self.store.get(n), is_open).await?;
        Ok(Outcome::of(row))
    }

    /// Whether a feedback file may be shown: not while its submission can still be kept out (R53). A file that no
    /// submission here refers to may not: that of a sponsored feedback that was prepared again is one.
    ///
    /// # Errors
    /// [`Refusal`] if the store fails.
    pub fn is_shown(&self, file: &[u8]) -> Result<bool, Refusal> {
        let uri = self.files.uri(file);
        if let Some(row) = self.store.find_by_uri(&uri)? {
            return Ok(row.state.is_shown());
        }
        Ok(self.store.is_sponsored_shown(&uri)?.unwrap_or(false))
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

/// A receipt has the time at which its submission came. Receipts have an order, and an audit does not accept times that go
/// back by more than clocks differ (R57), so checks that take longer than that end as if a node did not answer (R36).
pub(crate) async fn in_time<T>(
    checks: impl Future<Output = Result<T, Refusal>>,
) -> Result<T, Refusal> {
    let checked = timeout(CHECKS_TIME, checks).await;
    checked.unwrap_or_else(|_| {
        let seconds = CHECKS_TIME.as_secs();
        let message = format!("nodes and files did not answer within {seconds} seconds");
        Err(Refusal::new(Code::Unavailable, "Unavailable", message))
    })
}

pub(crate) fn no_lane() -> Refusal {
    Refusal::new(Code::Unavailable, "Unavailable", "the registry has no lane")
}

/// R51, R59: the reviewer has signed a transaction for the same payment.
fn sponsored_before(key: &str, id: u64) -> Refusal {
    let message = format!("{key} has a sponsored feedback: {id}");
    let refusal = Refusal::new(Code::DuplicateTaskRef, "DuplicateTaskRef", message);
    refusal.of("interactionData.taskRef")
}

/// What a submission is answered.
fn answered(accepted: Accepted, claim: &Claim) -> Result<Row, Refusal> {
    match accepted {
        Accepted::Now(row) => Ok(row),
        Accepted::Before(row) => require_same(row, claim.digest()),
        Accepted::Sponsored(id) => Err(sponsored_before(claim.key(), id)),
        Accepted::Limited(limited) => Err(limited.into()),
    }
}

/// R51
fn require_same(row: Row, digest: &[u8; 32]) -> Result<Row, Refusal> {
    if row.receipt.payload_digest == *digest {
        Ok(row)
    } else {
        let message = format!(
            "{} has another submission: receipt {}",
            row.receipt.key, row.receipt.n
        );
        let refusal = Refusal::new(Code::DuplicateTaskRef, "DuplicateTaskRef", message);
        Err(refusal.of("interactionData.taskRef"))
    }
}
