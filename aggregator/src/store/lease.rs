//! Who works on a lane, if several processes share a database.

use std::{
    hash::{BuildHasher, Hasher, RandomState},
    time::Duration,
};

use super::{
    Store, StoreError,
    db::{Db, int, text},
};
use crate::lane::now;

/// Seconds that a lease lasts. It is renewed much earlier; a process that is killed is replaced after this.
pub const LEASE_SECONDS: u64 = 15;
const RENEW_AFTER: Duration = Duration::from_secs(LEASE_SECONDS / 3);
/// Between two attempts to get a lease that another process has.
const RETRY_AFTER: Duration = Duration::from_secs(1);

/// The right to work on a lane. Every change that is made with it checks the epoch in the same transaction, so a
/// process that was stopped for longer than its lease lasted changes nothing any more, whatever its clock says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lease {
    /// The lane.
    pub lane: String,
    /// Counts the holders.
    pub epoch: u64,
}

/// A name that no other process has.
pub(super) fn holder() -> String {
    let random = || RandomState::new().build_hasher().finish();
    format!("{}-{:016x}{:016x}", std::process::id(), random(), random())
}

/// Requires that the lease is still held.
pub(super) fn require(db: &mut Db, lease: Option<&Lease>) -> Result<(), StoreError> {
    let Some(lease) = lease else {
        return Ok(());
    };
    let sql = "SELECT epoch FROM lease WHERE lane = ?1";
    let found: Option<u64> = db.cell(sql, &[text(&lease.lane)])?;
    if found == Some(lease.epoch) {
        Ok(())
    } else {
        Err(StoreError::LeaseLost {
            lane: lease.lane.clone(),
            held: lease.epoch,
            found: found.unwrap_or(0),
        })
    }
}

impl Store {
    /// Takes the lease of a lane, or renews it; `None` if another process has it. `now`: unix seconds.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn lease(&self, lane: &str, now: u64) -> Result<Option<Lease>, StoreError> {
        let (lane, holder) = (lane.to_owned(), self.0.holder.clone());
        let take = move |db: &mut Db| {
            let sql = "SELECT holder, epoch, until FROM lease WHERE lane = ?1";
            let found = db.one(sql, &[text(&lane)], |row| {
                Ok((
                    row.get::<String>(0)?,
                    row.get::<u64>(1)?,
                    row.get::<u64>(2)?,
                ))
            })?;
            let until = now.saturating_add(LEASE_SECONDS);
            let epoch = match found {
                Some((by, epoch, _)) if by == holder => epoch,
                // the former process that had the file has ended
                Some((_, epoch, until)) if until <= now || db.is_file() => epoch + 1,
                Some(_) => return Ok(None),
                None => 1,
            };
            let sql = "INSERT INTO lease (lane, holder, epoch, until) VALUES (?1, ?2, ?3, ?4) \
                       ON CONFLICT (lane) DO UPDATE SET holder = excluded.holder, \
                       epoch = excluded.epoch, until = excluded.until";
            db.run(sql, &[text(&lane), text(&holder), int(epoch), int(until)])?;
            Ok(Some(Lease { lane, epoch }))
        };
        self.0.writer.write(take).await
    }

    /// Lets another process take the lease at once.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn release(&self, lease: &Lease) -> Result<(), StoreError> {
        let Lease { lane, epoch } = lease.clone();
        let sql = "UPDATE lease SET until = 0, holder = '' WHERE lane = ?1 AND epoch = ?2";
        let release = move |db: &mut Db| db.run(sql, &[text(&lane), int(epoch)]);
        self.0.writer.write(release).await
    }

    /// The store for changes under a lease: each fails with [`StoreError::LeaseLost`] once another process has it.
    #[must_use]
    pub fn under(&self, lease: Lease) -> Self {
        Self(self.0.clone(), Some(lease))
    }

    /// The store under the lease of a lane, as soon as no other process has it.
    pub(crate) async fn leased(&self, lane: &str) -> Self {
        loop {
            match self.lease(lane, now()).await {
                Ok(Some(lease)) => return self.under(lease),
                Ok(None) => {}
                Err(error) => tracing::error!(%error, lane, "the store failed"),
            }
            tokio::time::sleep(RETRY_AFTER).await;
        }
    }

    /// Renews the lease of this store, and returns once it is lost.
    pub(crate) async fn keep_lease(&self) {
        let Some(own) = self.1.as_ref().filter(|_| self.is_shared()) else {
            return std::future::pending().await;
        };
        loop {
            tokio::time::sleep(RENEW_AFTER).await;
            match self.lease(&own.lane, now()).await {
                Ok(Some(lease)) if lease == *own => {}
                Ok(_) => return tracing::warn!(lane = own.lane, "another process has the lane"),
                // its changes fail as well, and their lease is checked again then
                Err(error) => tracing::error!(%error, "the lease is not renewed"),
            }
        }
    }

    /// Gives the lease of this store back.
    pub(crate) async fn let_go(&self) {
        if let Some(lease) = &self.1
            && let Err(error) = self.release(lease).await
        {
            tracing::warn!(%error, "the lease stays until it ends");
        }
    }
}
