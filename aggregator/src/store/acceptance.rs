use std::{cell::RefCell, net::IpAddr, sync::Arc};

use concord_canonical::{Word, sign::PreparedKey};

use super::{
    Row, RowState, SignedReceipt, Store, StoreError,
    db::{Cells, Db, int, text, value},
    find_by_key,
    limits::Counted,
    receipt::ChainEnd,
    sponsored,
};
use crate::{Claim, LanePlace, Limited, Policy, Sealed, policy::Subject};

/// What [`Store::accept`] found.
#[derive(Clone, Debug)]
pub enum Accepted {
    /// It is on disk now, with a receipt.
    Now(Row),
    /// The payment has a submission already (R51).
    Before(Row),
    /// The reviewer signed a sponsored transaction for the payment (R59): its number.
    Sponsored(u64),
    /// A limit of the operator is reached: nothing was accepted.
    Limited(Limited),
}

/// Where and when a submission is accepted, and within which limits.
#[derive(Clone, Debug)]
pub struct Acceptance {
    /// The lane: registry and account that submits.
    pub lane: String,
    /// The registry that records the feedback, CAIP-10.
    pub settlement: String,
    pub(crate) subject: Subject,
    pub(crate) policy: Arc<Policy>,
}

impl Acceptance {
    /// For a claim that passed its checks. `address`: where it came from, if that is known. `now`: unix seconds.
    #[must_use]
    pub fn new(
        place: &LanePlace,
        claim: &Claim,
        policy: Arc<Policy>,
        (address, now): (Option<IpAddr>, u64),
    ) -> Self {
        let subject = Subject {
            agent: format!("{} {}", place.registry, claim.agent_id()),
            reviewer: claim.payer_account(),
            address,
            now,
        };
        Self {
            lane: place.name(),
            settlement: place.settlement.clone(),
            subject,
            policy,
        }
    }
}

impl Store {
    /// What a payment has already (R51): its submission, or a sponsored feedback that both have signed.
    ///
    /// # Errors
    /// [`StoreError`].
    pub(crate) fn known(&self, key: &str) -> Result<Option<Accepted>, StoreError> {
        self.read(|db| before(db, key))
    }

    /// Accepts a submission, unless its payment has one already.
    ///
    /// # Errors
    /// [`StoreError`]; then nothing was accepted.
    pub async fn accept(
        &self,
        claim: &Claim,
        sealed: Sealed,
        acceptance: Acceptance,
    ) -> Result<Accepted, StoreError> {
        let (key, digest) = (claim.key.clone(), claim.digest);
        let body = serde_json::to_string(&sealed.submission);
        let body = body.map_err(|error| self.failed(error))?;
        let signer = self.0.key.clone();
        let accept = move |db: &mut Db| {
            if let Some(before) = before(db, &key)? {
                return Ok(before);
            }
            let Acceptance {
                subject, policy, ..
            } = &acceptance;
            if let Some(limited) = policy.check(&Counted(RefCell::new(&mut *db)), subject)? {
                return Ok(Accepted::Limited(limited));
            }
            let receipt = next_receipt(db, (&key, digest), subject.now, &signer)?;
            insert(db, &receipt, body, &sealed, &acceptance)?;
            policy.note(subject);
            Ok(Accepted::Now(row_of(receipt, sealed, acceptance)))
        };
        self.write(accept).await
    }
}

/// What the payment has already. Most have nothing, which is one question: on a server each costs a round trip, while
/// every other acceptance waits.
fn before(db: &mut Db, key: &str) -> Result<Option<Accepted>, StoreError> {
    let sql = "SELECT (SELECT count(*) FROM submission WHERE key = ?1) + \
               (SELECT count(*) FROM sponsored WHERE key = ?1)";
    if db.count(sql, &[text(key)])? == 0 {
        return Ok(None);
    }
    if let Some(row) = find_by_key(db, key)? {
        return Ok(Some(Accepted::Before(row)));
    }
    let sponsored = sponsored::find_by_key(db, key)?;
    let taken = sponsored.filter(|row| row.state.takes_payment());
    Ok(taken.map(|row| Accepted::Sponsored(row.id)))
}

/// Signs the next receipt of the chain (R57), for a payment and what a payload's digest is. `came`: unix seconds.
pub(super) fn next_receipt(
    db: &mut Db,
    (key, digest): (&str, Word),
    came: u64,
    signer: &PreparedKey,
) -> Result<SignedReceipt, StoreError> {
    let end = chain_end(db)?;
    end.require_not_overtaken(came)?;
    let receipt = SignedReceipt::after(&end, key, digest, came, signer);
    let receipt = receipt.map_err(|error| db.failed(error))?;
    db.last_receipt = Some(end.with(&receipt)); // forgotten if the change fails
    Ok(receipt)
}

/// It is read once for each commit.
fn chain_end(db: &mut Db) -> Result<ChainEnd, StoreError> {
    if let Some(end) = db.last_receipt {
        return Ok(end);
    }
    let sql = "SELECT n, receipt, (SELECT max(latest) FROM \
               (SELECT max(accepted_at) AS latest FROM submission UNION ALL \
               SELECT max(accepted_at) FROM response) AS times) FROM \
               (SELECT n, receipt FROM submission UNION ALL SELECT n, receipt FROM response \
               ORDER BY n DESC LIMIT 1) AS last";
    let read = |row: &Cells<'_>| {
        Ok(ChainEnd {
            n: row.get(0)?,
            hash: row.get(1)?,
            latest: row.get(2)?,
        })
    };
    let end = db.one(sql, &[], read)?;
    Ok(end.unwrap_or_default())
}

fn insert(
    db: &mut Db,
    receipt: &SignedReceipt,
    body: String,
    sealed: &Sealed,
    acceptance: &Acceptance,
) -> Result<(), StoreError> {
    let sql = "INSERT INTO submission (n, key, digest, accepted_at, previous, receipt, signature, \
               lane, settlement, agent, reviewer, body, file, uri) \
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)";
    let values = [
        int(receipt.n),
        text(&receipt.key),
        value(receipt.payload_digest),
        int(receipt.accepted_at),
        value(receipt.previous),
        value(receipt.hash),
        value(receipt.signature.clone()),
        text(&acceptance.lane),
        text(&acceptance.settlement),
        text(&acceptance.subject.agent),
        text(&acceptance.subject.reviewer),
        value(body),
        text(&sealed.file),
        text(&sealed.submission.uri),
    ];
    db.run(sql, &values)
}

/// What was inserted.
fn row_of(receipt: SignedReceipt, sealed: Sealed, acceptance: Acceptance) -> Row {
    Row {
        receipt,
        lane: acceptance.lane,
        settlement: acceptance.settlement,
        submission: sealed.submission,
        state: RowState::Accepted,
        reason: None,
        attempts: 0,
        reverts: 0,
        landing: None,
        index: None,
    }
}
