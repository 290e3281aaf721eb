//! What is derived from files (R45): a new row is written with what its file says of it; a new file's rows
//! follow it in small transactions.
use super::{Cell, DeploymentId, Engine, Sql, Store, columns::Stored};
use crate::{
    StoreError,
    evidence::{Content, FeedbackContent, RegistrationContent},
    table::*,
};
use concord_canonical::caip::EIP155;
use concord_files::UriKind;
use concord_registry::{
    event::{AgentId, Profile},
    evm::text::bytes_of,
};
use std::collections::{BTreeMap, BTreeSet};

/// Rows of a file that are derived in one transaction: the indexer waits for its end.
const ROWS: usize = 256;
/// Changed rows of which the files are read from a server at once. A file has up to 1 MiB.
const FILES: usize = 64;

/// The names of a deployment's registry.
struct Names {
    /// CAIP-2.
    chain: String,
    /// CAIP-10.
    registry: String,
}

impl Names {
    fn both(&self) -> (&str, &str) {
        (&self.chain, &self.registry)
    }

    fn is_evm(&self) -> bool {
        self.chain.starts_with(EIP155)
    }
}

impl<E: Engine> Store<E> {
    /// Derives what the changed rows' files say of them. Each file is read once: rows are ordered by their
    /// URIs.
    pub(super) fn derive(
        &mut self,
        deployment: DeploymentId,
        tables: &Tables,
    ) -> Result<(), StoreError> {
        let names = self.names(deployment)?;
        self.derive_agents(deployment, &names, tables)?;
        let changes = tables.feedbacks.changes();
        let mut changed: Vec<_> = changes.filter_map(|(key, row)| Some((key, row?))).collect();
        changed.retain(|(_, row)| !row.uri.is_empty());
        changed.sort_by(|(_, one), (_, other)| one.uri.cmp(&other.uri));
        let mut read: Option<(&str, FeedbackContent)> = None;
        for changed in changed.chunks(self.files_at_once()) {
            let known = self.rows_at::<AllEvidence>(deployment, changed.iter().map(|it| it.0))?;
            // What a feedback says never changes; only its file's arrival changes the evidence.
            let new = changed
                .iter()
                .zip(&known)
                .filter(|(_, known)| known.is_none());
            let new: Vec<_> = new.map(|(it, _)| it).collect();
            let uris = new.iter().map(|(_, row)| row.uri.as_str());
            let mut contents = self.contents(deployment, uris, read.as_ref().map(|it| it.0))?;
            let mut derived = Vec::with_capacity(new.len());
            for (key, row) in new {
                let uri = row.uri.as_str();
                let content = match (read.take(), contents.remove(uri)) {
                    (_, Some(content)) => FeedbackContent::of(&content),
                    (Some((of, content)), _) if of == uri => content,
                    _ => FeedbackContent::of(&self.content(deployment, uri)?),
                };
                derived.push((*key, content.evidence(names.both(), key, row)));
                read = Some((uri, content));
            }
            self.upsert::<AllEvidence>(deployment, derived.iter().map(|(key, row)| (*key, row)))?;
        }
        Ok(())
    }

    fn files_at_once(&self) -> usize {
        if self.engine.dialect().is_distant {
            FILES
        } else {
            1
        }
    }

    /// What is known of the contents of URIs, which are wanted now, but for that of one that was read already.
    fn contents<'u>(
        &mut self,
        deployment: DeploymentId,
        uris: impl Iterator<Item = &'u str>,
        read: Option<&str>,
    ) -> Result<BTreeMap<&'u str, Content>, StoreError> {
        let uris: BTreeSet<&str> = uris.filter(|it| Some(*it) != read).collect();
        let mut contents = BTreeMap::new();
        let mut others = Vec::new();
        for uri in uris {
            match self.inline(deployment, uri)? {
                Some(content) => drop(contents.insert(uri, content)),
                None => others.push(uri),
            }
        }
        self.want(deployment, &others)?;
        let keys: Vec<FileKey> = others.iter().map(|uri| FileKey::of(uri)).collect();
        let files = self.rows_at::<Files>(deployment, &keys)?;
        contents.extend(
            others
                .into_iter()
                .zip(files.into_iter().map(Content::of_file)),
        );
        Ok(contents)
    }

    fn derive_agents(
        &mut self,
        deployment: DeploymentId,
        names: &Names,
        tables: &Tables,
    ) -> Result<(), StoreError> {
        let changes = tables.agents.changes();
        let uri_of = |row: Option<&Agent>| row.map_or("", |it| it.uri.as_str()).to_owned();
        let mut changed: Vec<_> = changes.map(|(key, row)| (uri_of(row), key)).collect();
        changed.sort();
        let mut read: Option<(&str, RegistrationContent)> = None;
        for changed in changed.chunks(self.files_at_once()) {
            let known = self.rows_at::<Registrations>(deployment, changed.iter().map(|it| it.1))?;
            let of = |uri: &str| (!uri.is_empty()).then(|| FileKey::of(uri).id);
            let pairs = changed.iter().zip(known);
            let new = pairs.filter(|((uri, _), known)| known.as_ref().map(|it| it.file) != of(uri));
            let new: Vec<_> = new.map(|(it, _)| it).collect();
            let uris = new.iter().map(|it| it.0.as_str());
            let uris = uris.filter(|it| !it.is_empty());
            let mut contents = self.contents(deployment, uris, read.as_ref().map(|it| it.0))?;
            let mut derived = Vec::with_capacity(new.len());
            for (uri, key) in new {
                if uri.is_empty() {
                    self.write_row::<Registrations>(deployment, key, None)?;
                    continue;
                }
                let content = match (read.take(), contents.remove(uri.as_str())) {
                    (_, Some(content)) => RegistrationContent::of(&content),
                    (Some((of, content)), _) if of == uri => content,
                    _ => RegistrationContent::of(&self.content(deployment, uri)?),
                };
                let agent = key.agent.to_string();
                derived.push((*key, content.registration(&names.registry, &agent, uri)));
                read = Some((uri, content));
            }
            self.upsert::<Registrations>(deployment, derived.iter().map(|(key, row)| (*key, row)))?;
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

    /// What is known of a URI's content.
    pub(crate) fn content(
        &mut self,
        deployment: DeploymentId,
        uri: &str,
    ) -> Result<Content, StoreError> {
        match self.inline(deployment, uri)? {
            Some(content) => Ok(content),
            None => {
                let file = self.row::<Files>(deployment, &FileKey::of(uri))?;
                Ok(Content::of_file(file))
            }
        }
    }

    /// The content of a URI that holds it; `None` if it has to be fetched.
    fn inline(
        &mut self,
        deployment: DeploymentId,
        uri: &str,
    ) -> Result<Option<Content>, StoreError> {
        if !matches!(UriKind::of(uri), UriKind::Data | UriKind::InlineJson) {
            return Ok(None);
        }
        let bytes = bytes_of(uri);
        // EVM-31: on Solana, a text is its own bytes
        let is_other = bytes != uri.as_bytes() && self.names(deployment)?.is_evm();
        Ok(Some(if is_other {
            Content::inline(&bytes)
        } else {
            Content::inline(uri.as_bytes())
        }))
    }

    /// Derives what depends on files that were taken in, if that was interrupted.
    ///
    /// # Errors
    /// As [`Self::take_file`].
    pub fn derive_behind(&mut self, deployment: DeploymentId) -> Result<(), StoreError> {
        let mut behind: Vec<FileKey> = Vec::new();
        let sql = "SELECT id FROM file WHERE deployment = $1 AND behind = 1";
        self.each(sql, &[deployment.0.to_value()], "file", &mut |cells| {
            behind.push(Files::read_key(cells)?);
            Ok(())
        })?;
        for key in behind {
            let content = Content::of_file(self.row::<Files>(deployment, &key)?);
            self.derive_from(deployment, &key, &content)?;
        }
        Ok(())
    }

    /// The rows of a file may be many, and its content long: it is read once, and the indexer can write
    /// after every few rows.
    pub(super) fn derive_from(
        &mut self,
        deployment: DeploymentId,
        key: &FileKey,
        content: &Content,
    ) -> Result<(), StoreError> {
        let names = self.names(deployment)?;
        let agents = self.keys_of_file::<Registrations>(deployment, key)?;
        if !agents.is_empty() {
            let content = RegistrationContent::of(content);
            for agents in agents.chunks(ROWS) {
                self.transaction(deployment, |store| {
                    let mut each = agents.iter();
                    each.try_for_each(|it| store.renew_agent(deployment, &names, it, key, &content))
                })?;
            }
        }
        let feedbacks = self.keys_of_file::<AllEvidence>(deployment, key)?;
        if !feedbacks.is_empty() {
            let content = FeedbackContent::of(content);
            for feedbacks in feedbacks.chunks(ROWS) {
                self.transaction(deployment, |store| {
                    let mut each = feedbacks.iter();
                    each.try_for_each(|it| {
                        store.renew_feedback(deployment, &names, it, key, &content)
                    })
                })?;
            }
        }
        self.note_behind(deployment, key, false)
    }

    /// A reorganisation may have taken the row back, or given it another file.
    fn renew_agent(
        &mut self,
        deployment: DeploymentId,
        names: &Names,
        key: &AgentKey,
        file: &FileKey,
        content: &RegistrationContent,
    ) -> Result<(), StoreError> {
        let found = self.row::<Agents>(deployment, key)?;
        let Some(row) = found.filter(|it| FileKey::of(&it.uri) == *file) else {
            return Ok(());
        };
        let agent = key.agent.to_string();
        let derived = content.registration(&names.registry, &agent, &row.uri);
        self.write_row::<Registrations>(deployment, key, Some(&derived))
    }

    fn renew_feedback(
        &mut self,
        deployment: DeploymentId,
        names: &Names,
        key: &FeedbackKey,
        file: &FileKey,
        content: &FeedbackContent,
    ) -> Result<(), StoreError> {
        let found = self.row::<Feedbacks>(deployment, key)?;
        let Some(row) = found.filter(|it| FileKey::of(&it.uri) == *file) else {
            return Ok(());
        };
        let derived = content.evidence(names.both(), key, &row);
        self.write_row::<AllEvidence>(deployment, key, Some(&derived))
    }

    pub(super) fn note_behind(
        &mut self,
        deployment: DeploymentId,
        file: &FileKey,
        is_behind: bool,
    ) -> Result<(), StoreError> {
        let sql = "UPDATE file SET behind = $1 WHERE deployment = $2 AND id = $3";
        let values = [
            is_behind.to_value(),
            deployment.0.to_value(),
            file.id.to_value(),
        ];
        self.engine.execute(sql, &values)
    }

    fn keys_of_file<T: Stored>(
        &mut self,
        deployment: DeploymentId,
        file: &FileKey,
    ) -> Result<Vec<T::Key>, StoreError> {
        let mut keys = Vec::new();
        let sql = of_file::<T>(deployment, file);
        self.select(&sql, T::NAME, &mut |cells| {
            keys.push(T::read_key(cells)?);
            Ok(())
        })?;
        Ok(keys)
    }

    /// R45: returns the digest that [`Self::file_digest`] must have: of what files say, derived again.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn derived_digest(&mut self, deployment: DeploymentId) -> Result<[u8; 32], StoreError> {
        let names = self.names(deployment)?;
        let mut digest = Digest::default();
        let agents = self.agents(deployment)?;
        for (key, row) in agents.iter().filter(|(_, it)| !it.uri.is_empty()) {
            let content = RegistrationContent::of(&self.content(deployment, &row.uri)?);
            let agent = key.agent.to_string();
            let derived = content.registration(&names.registry, &agent, &row.uri);
            digest.row::<Registrations>(key, &derived);
        }
        for profile in [Profile::Authorized, Profile::Open] {
            for (key, _) in &agents {
                for (key, row) in self.feedback_with_files(deployment, profile, key.agent)? {
                    let content = FeedbackContent::of(&self.content(deployment, &row.uri)?);
                    let derived = content.evidence(names.both(), &key, &row);
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
