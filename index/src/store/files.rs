//! Files, and what they come to (R45): what was derived of a row and a file is written with either.
use super::{DeploymentId, Engine, Sql, Store, columns::Stored, value::Cell};
use crate::{
    Place, StoreError,
    evidence::{Content, evidence, registration},
    table::*,
};
use concord_registry::event::{AccountId, AgentId, Profile};

/// The names of a deployment's registry.
struct Names {
    /// CAIP-2.
    chain: String,
    /// CAIP-10.
    registry: String,
}

impl<E: Engine> Store<E> {
    /// Derives what the changed rows' files come to.
    pub(super) fn derive(
        &mut self,
        deployment: DeploymentId,
        tables: &Tables,
    ) -> Result<(), StoreError> {
        let names = self.names(deployment)?;
        for (key, agent) in tables.agents.changes() {
            let uri = agent.map_or("", |it| it.uri.as_str());
            let known = self.row::<Registrations>(deployment, key)?;
            if known.map(|it| it.file) != (!uri.is_empty()).then(|| FileKey::of(uri).id) {
                self.want(deployment, uri)?;
                let derived = self.derive_registration(deployment, &names, key, uri)?;
                self.write_row::<Registrations>(deployment, key, derived.as_ref())?;
            }
        }
        for (key, feedback) in tables.feedbacks.changes() {
            let Some(feedback) = feedback.filter(|it| !it.uri.is_empty()) else {
                continue;
            };
            // What a feedback says never changes; only its file's arrival changes the evidence.
            if self.row::<AllEvidence>(deployment, key)?.is_none() {
                self.want(deployment, &feedback.uri)?;
                let derived = self.derive_evidence(deployment, &names, key, feedback)?;
                self.write_row::<AllEvidence>(deployment, key, Some(&derived))?;
            }
        }
        Ok(())
    }

    fn names(&mut self, deployment: DeploymentId) -> Result<Names, StoreError> {
        let deployments = self.deployments()?;
        let found = deployments.into_iter().find(|it| it.id == deployment);
        let found = found.ok_or(StoreError::Malformed {
            table: "deployment",
            column: "id",
        })?;
        Ok(Names {
            registry: format!("{}:{}", found.chain, found.registry),
            chain: found.chain,
        })
    }

    /// `None` without a URI.
    fn derive_registration(
        &mut self,
        deployment: DeploymentId,
        names: &Names,
        key: &AgentKey,
        uri: &str,
    ) -> Result<Option<Registration>, StoreError> {
        if uri.is_empty() {
            return Ok(None);
        }
        let content = self.content(deployment, uri)?;
        let agent = key.agent.to_string();
        Ok(Some(registration(&names.registry, &agent, uri, &content)))
    }

    fn derive_evidence(
        &mut self,
        deployment: DeploymentId,
        names: &Names,
        key: &FeedbackKey,
        feedback: &Feedback,
    ) -> Result<Evidence, StoreError> {
        let content = self.content(deployment, &feedback.uri)?;
        Ok(evidence(
            (&names.chain, &names.registry),
            key,
            feedback,
            &content,
        ))
    }

    /// What is known of a URI's content.
    fn content(&mut self, deployment: DeploymentId, uri: &str) -> Result<Content, StoreError> {
        match Content::inline(uri) {
            Some(content) => Ok(content),
            None => {
                let file = self.row::<Files>(deployment, &FileKey::of(uri))?;
                Ok(Content::of_file(file))
            }
        }
    }

    /// Notes a file that has to be fetched.
    fn want(&mut self, deployment: DeploymentId, uri: &str) -> Result<(), StoreError> {
        if uri.is_empty() || Content::inline(uri).is_some() {
            return Ok(());
        }
        let key = FileKey::of(uri);
        if self.row::<Files>(deployment, &key)?.is_some() {
            return Ok(());
        }
        let wanted = File {
            uri: uri.to_owned(),
            state: FileState::Wanted,
            attempts: 0,
            next_at: 0,
            checked_at: None,
            host: None,
            bytes: None,
            reason: None,
        };
        self.write_row::<Files>(deployment, &key, Some(&wanted))
    }

    /// Returns files that are to be fetched now, those first that wait longest.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn due_files(
        &mut self,
        deployment: DeploymentId,
        now: i64,
        limit: usize,
    ) -> Result<Vec<File>, StoreError> {
        let mut sql = Sql::new(format!("SELECT {} FROM file", Files::COLUMNS.join(", ")));
        sql.bind(
            " WHERE deployment = ? AND state <> 2 AND next_at <= ?",
            [deployment.0.to_value(), now.to_value()],
        )
        .push(&format!(" ORDER BY next_at LIMIT {limit}"));
        let mut due = Vec::new();
        self.select(&sql, "file", &mut |cells| {
            due.push(Files::read_row(cells)?);
            Ok(())
        })?;
        Ok(due)
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

    /// Takes in what an attempt to fetch a file came to, and derives what depends on it. All of it is
    /// kept, or nothing.
    ///
    /// # Errors
    /// [`StoreError::Full`] and others; the store is as it was.
    pub fn take_file(&mut self, deployment: DeploymentId, file: &File) -> Result<(), StoreError> {
        let key = FileKey::of(&file.uri);
        self.transaction(|store| {
            let known = store.row::<Files>(deployment, &key)?;
            store.write_row::<Files>(deployment, &key, Some(file))?;
            // Any number of rows may refer to it, and each is work: none if it says what it said before.
            let said = known.map(|it| Content::of_file(Some(it)));
            if said == Some(Content::of_file(Some(file.clone()))) {
                return Ok(());
            }
            let names = store.names(deployment)?;
            for agent in store.agents_of_file(deployment, &key)? {
                let derived = store.derive_registration(deployment, &names, &agent, &file.uri)?;
                store.write_row::<Registrations>(deployment, &agent, derived.as_ref())?;
            }
            for feedback in store.feedback_of_file(deployment, &key)? {
                if let Some(row) = store.row::<Feedbacks>(deployment, &feedback)? {
                    let derived = store.derive_evidence(deployment, &names, &feedback, &row)?;
                    store.write_row::<AllEvidence>(deployment, &feedback, Some(&derived))?;
                }
            }
            Ok(())
        })
    }

    fn agents_of_file(
        &mut self,
        deployment: DeploymentId,
        file: &FileKey,
    ) -> Result<Vec<AgentKey>, StoreError> {
        let mut keys = Vec::new();
        let sql = of_file::<Registrations>(deployment, file);
        self.select(&sql, "registration", &mut |cells| {
            keys.push(Registrations::read_key(cells)?);
            Ok(())
        })?;
        Ok(keys)
    }

    fn feedback_of_file(
        &mut self,
        deployment: DeploymentId,
        file: &FileKey,
    ) -> Result<Vec<FeedbackKey>, StoreError> {
        let mut keys = Vec::new();
        let sql = of_file::<AllEvidence>(deployment, file);
        self.select(&sql, "evidence", &mut |cells| {
            keys.push(AllEvidence::read_key(cells)?);
            Ok(())
        })?;
        Ok(keys)
    }

    /// Returns what an agent's registration file comes to.
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

    /// R45: returns the digest that [`Self::file_digest`] must have: of what files come to, derived
    /// again.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn derived_digest(&mut self, deployment: DeploymentId) -> Result<[u8; 32], StoreError> {
        let names = self.names(deployment)?;
        let mut digest = Digest::default();
        let agents = self.agents(deployment)?;
        for (key, agent) in &agents {
            let derived = self.derive_registration(deployment, &names, key, &agent.uri)?;
            if let Some(derived) = derived {
                digest.row::<Registrations>(key, &derived);
            }
        }
        for profile in [Profile::Authorized, Profile::Open] {
            for (key, _) in &agents {
                for (key, row) in self.feedback_with_files(deployment, profile, key.agent)? {
                    let derived = self.derive_evidence(deployment, &names, &key, &row)?;
                    digest.row::<AllEvidence>(&key, &derived);
                }
            }
        }
        Ok(digest.finish())
    }

    fn feedback_with_files(
        &mut self,
        deployment: DeploymentId,
        profile: Profile,
        agent: AgentId,
    ) -> Result<Vec<(FeedbackKey, Feedback)>, StoreError> {
        let condition = " AND profile = $2 AND agent = $3 AND uri <> ''";
        let values = [profile.to_value(), agent.to_value()];
        let mut found = Vec::new();
        let order = "client, idx";
        self.rows::<Feedbacks>(deployment, condition, &values, order, &mut |key, row| {
            found.push((key, row));
            Ok(())
        })?;
        Ok(found)
    }
}

/// The keys of rows that refer to a file.
fn of_file<T: Stored>(deployment: DeploymentId, file: &FileKey) -> Sql {
    let mut sql = Sql::new(format!("SELECT {} FROM {}", T::KEY.join(", "), T::NAME));
    sql.bind(
        " WHERE deployment = ? AND file = ?",
        [deployment.0.to_value(), file.id.to_value()],
    );
    sql
}
