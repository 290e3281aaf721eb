use std::{cell::RefCell, sync::Arc};

use concord_chain::{
    submission::{Landing, SignedTx},
    svm::PreparedTx,
};
use concord_x402::feedback::Submission;

use super::{
    Store, StoreError,
    db::{Cells, Db, int, text, value},
    limits::Counted,
};
use crate::{
    Claim, Limited, Policy, Sealed,
    policy::{DAY, Subject},
};

const COLUMNS: &str = "id, key, digest, settlement, reviewer, agent, body, feedback_index, message, \
                       valid_until, cost, state, accepted_at, reason, tx, landing";

/// How far a sponsored feedback is (R59).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SponsoredState {
    /// The reviewer has a transaction to sign. Nothing is promised yet.
    Prepared,
    /// Both have signed, and it is on disk.
    Signed,
    /// The cluster has taken it.
    Sent,
    /// It was executed.
    Landed,
    /// It will stay.
    Final,
    /// Its block hash is too old: it can never land.
    Expired,
    /// It was executed and failed: the sponsor paid the fee and nothing else.
    Refused,
}

impl SponsoredState {
    /// Every state.
    pub const ALL: [Self; 7] = [
        Self::Prepared,
        Self::Signed,
        Self::Sent,
        Self::Landed,
        Self::Final,
        Self::Expired,
        Self::Refused,
    ];

    /// The state's stable name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Prepared => "prepared",
            Self::Signed => "signed",
            Self::Sent => "sent",
            Self::Landed => "landed",
            Self::Final => "final",
            Self::Expired => "expired",
            Self::Refused => "refused",
        }
    }

    /// Whether the payment has its feedback by this transaction, or may yet have it.
    #[must_use]
    pub const fn takes_payment(self) -> bool {
        matches!(self, Self::Signed | Self::Sent | Self::Landed | Self::Final)
    }

    /// Whether what becomes of it is not known yet.
    pub(crate) const fn is_pending(self) -> bool {
        matches!(self, Self::Signed | Self::Sent)
    }

    /// Whether nothing else is prepared for the payment. A transaction that failed was paid for once already.
    pub(crate) const fn is_kept(self) -> bool {
        self.takes_payment() || matches!(self, Self::Refused)
    }

    /// Whether the feedback file may be shown: as for submissions, once the chain has its transaction.
    #[must_use]
    pub const fn is_shown(self) -> bool {
        matches!(self, Self::Sent | Self::Landed | Self::Final)
    }
}

impl SponsoredState {
    /// The state with a name.
    fn read(name: &str) -> Result<Self, String> {
        let mut all = Self::ALL.into_iter();
        let found = all.find(|it| it.name() == name);
        found.ok_or_else(|| format!("{name:?} is not a state"))
    }
}

/// A feedback whose transaction the reviewer signs and the sponsor pays (R59).
#[derive(Clone, Debug)]
pub struct SponsoredRow {
    /// Counts from 1.
    pub id: u64,
    /// The payment (R51).
    pub key: String,
    /// keccak256 of the submission's RFC 8785 bytes.
    pub payload_digest: [u8; 32],
    /// The registry that records the feedback, CAIP-10.
    pub settlement: String,
    /// The reviewer, CAIP-10, who is the client.
    pub reviewer: String,
    /// The identity registry, a space, and the agent's id.
    pub agent: String,
    /// What the registry is sent.
    pub submission: Submission,
    /// Counts from 1, per agent and client.
    pub index: u64,
    /// What both sign.
    pub prepared: PreparedTx,
    /// The most lamports that the sponsor pays: fee and rent.
    pub cost: u64,
    /// How far it is.
    pub state: SponsoredState,
    /// When the sponsor signed, in unix seconds.
    pub accepted_at: Option<u64>,
    /// Why it failed, or why the cluster does not take it.
    pub reason: Option<String>,
    /// With both signatures.
    pub transaction: Option<SignedTx>,
    /// What landed.
    pub landing: Option<Landing>,
}

impl SponsoredRow {
    fn read(row: &Cells<'_>) -> Result<Self, String> {
        Ok(Self {
            id: row.get(0)?,
            key: row.get(1)?,
            payload_digest: row.get(2)?,
            settlement: row.get(3)?,
            reviewer: row.get(4)?,
            agent: row.get(5)?,
            submission: row.json(6)?,
            index: row.get(7)?,
            prepared: PreparedTx {
                message: row.get(8)?,
                valid_until: row.get(9)?,
            },
            cost: row.get(10)?,
            state: SponsoredState::read(&row.get::<String>(11)?)?,
            accepted_at: row.get(12)?,
            reason: row.get(13)?,
            transaction: row.json_or_null(14)?,
            landing: row.json_or_null(15)?,
        })
    }
}

/// A transaction for a reviewer to sign.
#[derive(Clone, Debug)]
pub(crate) struct Preparation {
    pub settlement: String,
    pub subject: Subject,
    pub sealed: Sealed,
    pub index: u64,
    pub prepared: PreparedTx,
    pub cost: u64,
    pub limits: SponsorLimits,
}

/// What limits the sponsor.
#[derive(Clone, Debug)]
pub(crate) struct SponsorLimits {
    pub policy: Arc<Policy>,
    /// In a day of UTC.
    pub lamports_per_day: u64,
}

/// What became of a change that depends on others.
#[derive(Clone, Debug)]
pub(crate) enum Sponsoring {
    /// It was made.
    Now(SponsoredRow),
    /// The payment's transaction was signed before, or failed.
    Before(SponsoredRow),
    /// The payment has a submission: the receipt's number.
    Submitted(u64),
    /// A limit of the operator is reached.
    Limited(Limited),
    /// The transaction was prepared anew meanwhile, or has ended.
    Changed,
}

impl Store {
    /// Keeps what a reviewer is to sign, in place of what was prepared for the same payment and never signed.
    ///
    /// # Errors
    /// [`StoreError`].
    pub(crate) async fn prepare_sponsored(
        &self,
        claim: &Claim,
        preparation: Preparation,
    ) -> Result<Sponsoring, StoreError> {
        let (key, digest) = (claim.key.clone(), claim.digest);
        let body = serde_json::to_string(&preparation.sealed.submission);
        let body = body.map_err(|error| self.failed(error))?;
        let prepare = move |it: &mut Db| {
            let before = find_by_key(it, &key)?;
            if let Some(row) = before.filter(|row| row.state.is_kept()) {
                return Ok(Sponsoring::Before(row));
            }
            if let Some(row) = super::find_by_key(it, &key)? {
                return Ok(Sponsoring::Submitted(row.receipt.n));
            }
            let Preparation {
                settlement,
                subject,
                cost,
                limits,
                ..
            } = &preparation;
            if let Some(limited) = limited(it, limits, settlement, subject, *cost)? {
                return Ok(Sponsoring::Limited(limited));
            }
            replace(it, &key, digest, body, &preparation)?;
            let row = find_by_key(it, &key)?;
            row.map(Sponsoring::Now)
                .ok_or_else(|| StoreError::gone("sponsored", 0))
        };
        self.write(prepare).await
    }

    /// Keeps the transaction with both signatures, before it is sent: the payment is taken from here on, and what
    /// it costs is counted. `message`: what the reviewer signed.
    ///
    /// # Errors
    /// [`StoreError`]; then nothing may be sent.
    pub(crate) async fn sign_sponsored(
        &self,
        row: &SponsoredRow,
        transaction: &SignedTx,
        subject: Subject,
        limits: SponsorLimits,
    ) -> Result<Sponsoring, StoreError> {
        let body = serde_json::to_string(transaction).map_err(|error| self.failed(error))?;
        let (id, message, cost) = (row.id, row.prepared.message.clone(), row.cost);
        let sign = move |it: &mut Db| {
            let Some(row) = find(it, id)? else {
                return Ok(Sponsoring::Changed);
            };
            if row.prepared.message != message {
                return Ok(Sponsoring::Changed);
            }
            if row.state.is_kept() {
                return Ok(Sponsoring::Before(row));
            }
            if row.state != SponsoredState::Prepared {
                return Ok(Sponsoring::Changed);
            }
            if let Some(submission) = super::find_by_key(it, &row.key)? {
                return Ok(Sponsoring::Submitted(submission.receipt.n));
            }
            if is_index_taken(it, &row)? {
                return Ok(Sponsoring::Changed);
            }
            if let Some(limited) = limited(it, &limits, &row.settlement, &subject, cost)? {
                return Ok(Sponsoring::Limited(limited));
            }
            let sql =
                "UPDATE sponsored SET state = 'signed', accepted_at = ?2, tx = ?3 WHERE id = ?1";
            it.run(sql, &[int(id), int(subject.now), text(&body)])?;
            limits.policy.note(&subject);
            let row = find(it, id)?;
            row.map(Sponsoring::Now)
                .ok_or_else(|| StoreError::gone("sponsored", id))
        };
        self.write(sign).await
    }

    /// Expires a prepared transaction that has not been signed. Returns the row as it is afterwards.
    ///
    /// # Errors
    /// [`StoreError`].
    pub(crate) async fn expire_prepared(
        &self,
        row: &SponsoredRow,
    ) -> Result<Option<SponsoredRow>, StoreError> {
        let (id, message) = (row.id, row.prepared.message.clone());
        let expire = move |it: &mut Db| {
            let sql = "UPDATE sponsored SET state = 'expired' \
                       WHERE id = ?1 AND message = ?2 AND state = 'prepared'";
            it.run(sql, &[int(id), value(message)])?;
            find(it, id)
        };
        self.write(expire).await
    }

    /// A sponsored feedback.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn sponsored(&self, id: u64) -> Result<Option<SponsoredRow>, StoreError> {
        self.read(|it| find(it, id))
    }

    /// The sponsored feedback for a payment.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn sponsored_by_key(&self, key: &str) -> Result<Option<SponsoredRow>, StoreError> {
        self.read(|it| find_by_key(it, key))
    }

    /// The feedback file of a sponsored feedback, byte for byte.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn sponsored_file(&self, id: u64) -> Result<Option<String>, StoreError> {
        let sql = "SELECT file FROM sponsored WHERE id = ?1";
        self.read(|db| db.cell(sql, &[int(id)]))
    }

    /// Whether the file with this URI may be shown; `None` if no sponsored feedback has it.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn is_sponsored_shown(&self, uri: &str) -> Result<Option<bool>, StoreError> {
        let sql = "SELECT state FROM sponsored WHERE uri = ?1 LIMIT 1";
        let read = |row: &Cells<'_>| SponsoredState::read(&row.get::<String>(0)?);
        let state = self.read(|db| db.one(sql, &[text(uri)], read))?;
        Ok(state.map(SponsoredState::is_shown))
    }

    /// What was signed for a registry and is not final: first what is to be sent, the oldest first, and last what the
    /// cluster did not take, so that others do not wait for it. Counts up to `most`.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn open_sponsored(
        &self,
        settlement: &str,
        most: u64,
    ) -> Result<Vec<SponsoredRow>, StoreError> {
        let sql = format!(
            "SELECT {COLUMNS} FROM sponsored WHERE settlement = ?1 \
             AND state IN ('signed', 'sent', 'landed') \
             ORDER BY CASE WHEN reason IS NOT NULL THEN 2 WHEN state = 'signed' THEN 0 ELSE 1 END, \
             accepted_at, id LIMIT ?2"
        );
        let values = [text(settlement), int(most)];
        self.read(|db| db.all(&sql, &values, SponsoredRow::read))
    }

    /// The ids of those that the sponsor has signed.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn sponsored_signed(&self) -> Result<Vec<u64>, StoreError> {
        let sql = "SELECT id FROM sponsored WHERE accepted_at IS NOT NULL ORDER BY id";
        self.read(|db| db.all(sql, &[], |row| row.get(0)))
    }

    /// How many sponsored feedbacks are in each state.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn sponsored_counts(&self) -> Result<Vec<(SponsoredState, u64)>, StoreError> {
        let sql = "SELECT state, count(*) FROM sponsored GROUP BY state";
        let read = |row: &Cells<'_>| {
            let state = SponsoredState::read(&row.get::<String>(0)?)?;
            Ok((state, row.get::<u64>(1)?))
        };
        let counts = self.read(|db| db.all(sql, &[], read))?;
        let of = |state: SponsoredState| counts.iter().find(|(it, _)| *it == state);
        let count = |state| of(state).map_or(0, |(_, count)| *count);
        Ok(SponsoredState::ALL
            .map(|state| (state, count(state)))
            .to_vec())
    }

    /// The cluster has taken it.
    ///
    /// # Errors
    /// [`StoreError`].
    pub(crate) async fn sponsored_sent(&self, id: u64) -> Result<(), StoreError> {
        let sql =
            "UPDATE sponsored SET state = 'sent', reason = NULL WHERE id = ?1 AND state = 'signed'";
        self.write(move |db| db.run(sql, &[int(id)])).await
    }

    /// The cluster does not take it, for now.
    ///
    /// # Errors
    /// [`StoreError`].
    pub(crate) async fn sponsored_late(&self, id: u64, reason: String) -> Result<(), StoreError> {
        let sql = "UPDATE sponsored SET reason = ?2 WHERE id = ?1";
        self.write(move |db| db.run(sql, &[int(id), text(&reason)]))
            .await
    }

    /// It was executed; `None`: a reorganisation took that back.
    ///
    /// # Errors
    /// [`StoreError`].
    pub(crate) async fn sponsored_landed(
        &self,
        id: u64,
        landing: Option<&Landing>,
    ) -> Result<(), StoreError> {
        let state = match landing {
            Some(_) => SponsoredState::Landed,
            None => SponsoredState::Sent,
        };
        let body = landing.map(serde_json::to_string).transpose();
        let body = body.map_err(|error| self.failed(error))?;
        let sql = "UPDATE sponsored SET state = ?2, landing = ?3, reason = NULL WHERE id = ?1 \
                   AND state IN ('signed', 'sent', 'landed')";
        let values = [int(id), text(state.name()), value(body)];
        self.write(move |db| db.run(sql, &values)).await
    }

    /// It has ended: final, expired, or failed on chain.
    ///
    /// # Errors
    /// [`StoreError`].
    pub(crate) async fn end_sponsored(
        &self,
        id: u64,
        state: SponsoredState,
        reason: Option<String>,
    ) -> Result<(), StoreError> {
        let sql = "UPDATE sponsored SET state = ?2, reason = ?3 WHERE id = ?1 \
                   AND state IN ('signed', 'sent', 'landed')";
        let values = [int(id), text(state.name()), value(reason)];
        self.write(move |db| db.run(sql, &values)).await
    }
}

/// Whether another transaction gives the feedback with this index (R12). Only one of them can land, and the sponsor
/// would pay for the failure of the others.
fn is_index_taken(db: &mut Db, row: &SponsoredRow) -> Result<bool, StoreError> {
    let sql = "SELECT count(*) FROM sponsored WHERE settlement = ?1 AND reviewer = ?2 AND agent = ?3 \
               AND feedback_index = ?4 AND id <> ?5 AND state IN ('signed', 'sent', 'landed', 'final')";
    let values = [
        text(&row.settlement),
        text(&row.reviewer),
        text(&row.agent),
        int(row.index),
        int(row.id),
    ];
    Ok(db.count(sql, &values)? > 0)
}

/// The limits of all submissions, then the sponsor's own.
fn limited(
    db: &mut Db,
    limits: &SponsorLimits,
    settlement: &str,
    subject: &Subject,
    cost: u64,
) -> Result<Option<Limited>, StoreError> {
    let counted = Counted(RefCell::new(&mut *db));
    if let Some(limited) = limits.policy.check(&counted, subject)? {
        return Ok(Some(limited));
    }
    let since = subject.now - subject.now % DAY;
    // what has expired cost nothing
    let sql = "SELECT CAST(coalesce(sum(cost), 0) AS BIGINT) FROM sponsored \
               WHERE accepted_at >= ?1 AND settlement = ?2 AND state <> 'expired'";
    let spent = db.count(sql, &[int(since), text(settlement)])?;
    let most = limits.lamports_per_day;
    let is_within = spent.saturating_add(cost) <= most;
    Ok((!is_within).then(|| Limited {
        class: "SponsorBudget",
        message: format!("the sponsor pays at most {most} lamports a day (UTC); this needs {cost}"),
        retry_after: since + DAY - subject.now,
    }))
}

fn replace(
    db: &mut Db,
    key: &str,
    digest: [u8; 32],
    body: String,
    preparation: &Preparation,
) -> Result<(), StoreError> {
    let id = db.count("SELECT coalesce(max(id), 0) + 1 FROM sponsored", &[])?;
    let sql = "INSERT INTO sponsored (id, key, digest, settlement, reviewer, agent, body, file, uri, \
               feedback_index, message, valid_until, cost) \
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13) \
               ON CONFLICT (key) DO UPDATE SET digest = excluded.digest, body = excluded.body, \
               file = excluded.file, uri = excluded.uri, agent = excluded.agent, \
               settlement = excluded.settlement, feedback_index = excluded.feedback_index, \
               message = excluded.message, valid_until = excluded.valid_until, \
               cost = excluded.cost, state = 'prepared', accepted_at = NULL, reason = NULL, \
               tx = NULL, landing = NULL";
    let Preparation {
        settlement,
        subject,
        sealed,
        index,
        prepared,
        cost,
        ..
    } = preparation;
    let values = [
        int(id),
        text(key),
        value(digest),
        text(settlement),
        text(&subject.reviewer),
        text(&subject.agent),
        value(body),
        text(&sealed.file),
        text(&sealed.submission.uri),
        int(*index),
        value(prepared.message.clone()),
        int(prepared.valid_until),
        int(*cost),
    ];
    db.run(sql, &values)
}

fn find(db: &mut Db, id: u64) -> Result<Option<SponsoredRow>, StoreError> {
    let sql = format!("SELECT {COLUMNS} FROM sponsored WHERE id = ?1");
    db.one(&sql, &[int(id)], SponsoredRow::read)
}

pub(super) fn find_by_key(db: &mut Db, key: &str) -> Result<Option<SponsoredRow>, StoreError> {
    let sql = format!("SELECT {COLUMNS} FROM sponsored WHERE key = ?1");
    db.one(&sql, &[text(key)], SponsoredRow::read)
}
