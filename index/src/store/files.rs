//! Files that rows refer to: which are to be fetched, and what was.
use super::{Cell, Cells, DeploymentId, Engine, Sql, Store, columns::Stored};
use crate::{Place, StoreError, evidence::Content, table::*};
use concord_registry::event::{AccountId, AgentId};

/// Whether a row refers to the file `f`.
const IS_USED: &str = "(EXISTS (SELECT 1 FROM registration r \
     WHERE r.deployment = f.deployment AND r.file = f.id) \
     OR EXISTS (SELECT 1 FROM evidence e WHERE e.deployment = f.deployment AND e.file = f.id))";

impl<E: Engine> Store<E> {
    /// Notes files that have to be fetched. Each URI is of one that it does not hold itself.
    pub(super) fn want(
        &mut self,
        deployment: DeploymentId,
        uris: &[&str],
    ) -> Result<(), StoreError> {
        let named = |uri: &&str| vec![deployment.0.to_value(), FileKey::of(uri).id.to_value()];
        let values: Vec<_> = uris.iter().map(named).collect();
        let mut is_parked = vec![None; uris.len()];
        let sql = "SELECT parked FROM file WHERE deployment = $1 AND id = $2";
        self.engine.query_each(sql, &values, &mut |at, row| {
            is_parked[at] = Some(Cells::new("file", row).take::<bool>("parked")?);
            Ok(())
        })?;
        let mut new = Vec::new();
        for ((uri, values), is_parked) in uris.iter().zip(&values).zip(is_parked) {
            match is_parked {
                None => new.push((FileKey::of(uri), wanted(uri))),
                Some(false) => (),
                Some(true) => {
                    let sql = "UPDATE file SET parked = 0 WHERE deployment = $1 AND id = $2";
                    self.engine.execute(sql, values)?;
                }
            }
        }
        self.upsert::<Files>(deployment, new.iter().map(|(key, row)| (key, row)))
    }

    /// Returns files that are to be fetched now, those first that wait longest. A file to which no row
    /// refers any more is not fetched until one does.
    ///
    /// # Errors
    /// The store cannot be read or written.
    pub fn due_files(
        &mut self,
        deployment: DeploymentId,
        now: i64,
        limit: usize,
    ) -> Result<Vec<File>, StoreError> {
        loop {
            let mut sql = Sql::new(format!(
                "SELECT {}, {IS_USED} FROM file f",
                super::columns_of::<Files>("f")
            ));
            sql.bind(
                " WHERE f.deployment = ? AND f.state <> 2 AND f.parked = 0 AND f.next_at <= ?",
                [deployment.0.to_value(), now.to_value()],
            )
            .push(&format!(" ORDER BY f.next_at LIMIT {limit}"));
            let (mut due, mut unused) = (Vec::new(), Vec::new());
            self.select(&sql, "file", &mut |cells| {
                let file = Files::read_row(cells)?;
                if cells.take("is_used")? {
                    due.push(file)
                } else {
                    unused.push(FileKey::of(&file.uri))
                }
                Ok(())
            })?;
            if unused.is_empty() {
                return Ok(due);
            }
            self.park(deployment, &unused)?;
        }
    }

    fn park(&mut self, deployment: DeploymentId, files: &[FileKey]) -> Result<(), StoreError> {
        let sql = format!(
            "UPDATE file AS f SET parked = 1 WHERE f.deployment = $1 AND f.id = $2 AND NOT {IS_USED}"
        );
        self.transaction(deployment, |store| {
            for file in files {
                let values = [deployment.0.to_value(), file.id.to_value()];
                store.engine.execute(&sql, &values)?;
            }
            Ok(())
        })
    }

    /// Versions before 10 refused for good what only a host or the options decide (IDX-18), and those before 11 what they could not
    /// read of an `ipfs:` URI. What the URI decides is refused again.
    pub(super) fn fetch_refused_again(&mut self) -> Result<(), StoreError> {
        let states = [FileState::Failing, FileState::Refused].map(|it| it.to_value());
        let sql = "UPDATE file SET state = $1, next_at = 0 WHERE state = $2";
        self.engine.execute(sql, &states)
    }

    /// Returns how many files there are in each state.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn file_counts(
        &mut self,
        deployment: DeploymentId,
    ) -> Result<Vec<(FileState, u64)>, StoreError> {
        let mut sql = Sql::new("SELECT state, COUNT(*) FROM file");
        sql.bind(" WHERE deployment = ?", [deployment.0.to_value()])
            .push(" GROUP BY state ORDER BY state");
        let mut counts = Vec::new();
        self.select(&sql, "file", &mut |cells| {
            counts.push((cells.take("state")?, cells.take("count")?));
            Ok(())
        })?;
        Ok(counts)
    }

    /// Returns how many bytes the files have.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn file_bytes(&mut self, deployment: DeploymentId) -> Result<u64, StoreError> {
        let sql = "SELECT CAST(COALESCE(SUM(LENGTH(bytes)), 0) AS BIGINT) FROM file \
                   WHERE deployment = $1";
        self.number(sql, &[deployment.0.to_value()])
    }

    /// Takes in the result of an attempt to fetch a file, and derives what depends on it. What was begun
    /// and failed, [`Self::derive_behind`] completes.
    ///
    /// # Errors
    /// [`StoreError::Full`], [`StoreError::Busy`] and others.
    pub fn take_file(&mut self, deployment: DeploymentId, file: &File) -> Result<(), StoreError> {
        let key = FileKey::of(&file.uri);
        let content = Content::of_file(Some(file.clone()));
        let is_new = self.transaction(deployment, |store| {
            let known = store.row::<Files>(deployment, &key)?;
            store.write_row::<Files>(deployment, &key, Some(file))?;
            // Any number of rows may refer to it: none is derived again if the content is the same.
            let is_new = known.map(|it| Content::of_file(Some(it))) != Some(content.clone());
            if is_new {
                store.note_behind(deployment, &key, true)?;
            }
            Ok(is_new)
        })?;
        if is_new {
            self.derive_from(deployment, &key, &content)
        } else {
            Ok(())
        }
    }

    /// Returns what an agent's registration file says.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn registration(
        &mut self,
        deployment: DeploymentId,
        agent: AgentId,
    ) -> Result<Option<Registration>, StoreError> {
        self.row::<Registrations>(deployment, &AgentKey { agent })
    }

    /// Returns what the registration file of each agent says, in their order. A server is asked for all of them at once.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn registrations(
        &mut self,
        deployment: DeploymentId,
        agents: impl IntoIterator<Item = AgentId>,
    ) -> Result<Vec<Option<Registration>>, StoreError> {
        let keys = agents.into_iter().map(|agent| AgentKey { agent });
        self.rows_at::<Registrations>(deployment, &keys.collect::<Vec<_>>())
    }

    /// Returns what the file of each feedback supports, in their order. A server is asked for all of them at once.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn evidence_of<'k>(
        &mut self,
        deployment: DeploymentId,
        keys: impl IntoIterator<Item = &'k FeedbackKey>,
    ) -> Result<Vec<Option<Evidence>>, StoreError> {
        self.rows_at::<AllEvidence>(deployment, keys)
    }

    /// Returns what the file of a feedback supports.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn evidence(
        &mut self,
        deployment: DeploymentId,
        key: &FeedbackKey,
    ) -> Result<Option<Evidence>, StoreError> {
        self.row::<AllEvidence>(deployment, key)
    }

    /// Returns when files were fetched, in their order; all `None` for what is not to be fetched. A server is asked for all of them at
    /// once.
    fn fetchings(
        &mut self,
        deployment: DeploymentId,
        files: &[FileKey],
    ) -> Result<Vec<Fetching>, StoreError> {
        let named = |file: &FileKey| vec![deployment.0.to_value(), file.id.to_value()];
        let keys: Vec<_> = files.iter().map(named).collect();
        let sql =
            "SELECT checked_at, fetched_at, reason FROM file WHERE deployment = $1 AND id = $2";
        let mut found = vec![Fetching::default(); files.len()];
        self.each_of(sql, &keys, "file", &mut |at, cells| {
            found[at] = Fetching {
                checked_at: cells.take("checked_at")?,
                fetched_at: cells.take("fetched_at")?,
                error: cells.take("reason")?,
            };
            Ok(())
        })?;
        Ok(found)
    }

    /// Returns what was derived from files with when these were fetched. `file_of` names the file of each.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn with_fetchings<T>(
        &mut self,
        deployment: DeploymentId,
        derived: Vec<Option<T>>,
        file_of: fn(&T) -> [u8; 32],
    ) -> Result<Vec<Option<Fetched<T>>>, StoreError> {
        let files = derived.iter().flatten();
        let files: Vec<_> = files.map(|it| FileKey { id: file_of(it) }).collect();
        let mut fetchings = self.fetchings(deployment, &files)?.into_iter();
        let with = derived.into_iter().map(|derived| {
            let derived = derived?;
            Some((derived, fetchings.next().unwrap_or_default()))
        });
        Ok(with.collect())
    }

    /// Returns the wallet that an agent had at a place.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn wallet_at(
        &mut self,
        deployment: DeploymentId,
        agent: AgentId,
        place: Place,
    ) -> Result<Option<AccountId>, StoreError> {
        let mut sql = Sql::new("SELECT wallet FROM agent_wallet");
        let values = [deployment.0.to_value(), agent.to_value(), place.to_value()];
        sql.bind(" WHERE deployment = ? AND agent = ? AND place <= ?", values)
            .push(" ORDER BY place DESC LIMIT 1");
        let mut wallet = None;
        self.select(&sql, "agent_wallet", &mut |cells| {
            wallet = cells.take("wallet")?;
            Ok(())
        })?;
        Ok(wallet)
    }
}

fn wanted(uri: &str) -> File {
    File {
        uri: uri.to_owned(),
        state: FileState::Wanted,
        attempts: 0,
        next_at: 0,
        checked_at: None,
        fetched_at: None,
        host: None,
        bytes: None,
        reason: None,
    }
}
