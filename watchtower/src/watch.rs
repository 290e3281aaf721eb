use std::{collections::HashMap, sync::Arc, time::Duration};

use concord_x402::{
    quote::{Origin, OriginProofs},
    verify::{AgentRecord, FileError, RegistrationFiles, Registries},
};
use futures_util::stream::{self, StreamExt as _};

use crate::{
    Agent, OwnAccounts, Prober, Sample, Store, StoreError, Tag, Target, WindowKind, is_owned,
    targets_of,
};

/// Agents that are probed at once. Each agent's services are probed one after the other.
const TOGETHER: usize = 8;
/// How many seconds samples are kept: a month after their window, so that a signal can still be explained.
const KEPT_FOR: u64 = 38 * 86_400;

/// What is probed, how often, and what is published of it.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Between two rounds.
    pub interval: Duration,
    /// For one probe. The prober's fetcher enforces it.
    pub timeout: Duration,
    /// The windows that are published.
    pub windows: Vec<WindowKind>,
    /// What is published of each endpoint.
    pub tags: Vec<Tag>,
    /// Samples without which a window says nothing; `None`: half of those that the interval makes.
    pub samples_min: Option<u64>,
    /// Endpoints of an agent that are probed.
    pub endpoints_max: usize,
    /// URLs of which one must answer, or the watchtower is itself without a network and the round does not count.
    pub controls: Vec<String>,
}

impl Settings {
    /// The samples without which a window says nothing.
    #[must_use]
    pub fn samples_min(&self, kind: WindowKind) -> u64 {
        let expected = kind.seconds() / self.interval.as_secs().max(1);
        self.samples_min.unwrap_or(expected / 2).max(1)
    }
}

/// Probes agents, and keeps what it found.
pub struct Watch {
    /// What is probed, and how often.
    pub settings: Settings,
    /// Who is watched.
    pub agents: Vec<Agent>,
    /// Where samples are kept.
    pub store: Store,
    /// Asks services.
    pub prober: Prober,
    /// Reads agents.
    pub registries: Arc<dyn Registries>,
    /// Reads their files.
    pub files: Arc<dyn RegistrationFiles>,
    /// Reads proofs of domains (R43).
    pub proofs: Arc<dyn OriginProofs>,
    /// Who is not rated (R60).
    pub own: OwnAccounts,
}

/// The result of one round.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RoundReport {
    /// Samples that were kept.
    pub samples: usize,
    /// Agents that are not rated, and why (R60).
    pub own: Vec<(String, String)>,
    /// Agents that could not be read, and why. Services that are known of them were probed.
    pub unreadable: Vec<(String, String)>,
    /// No control answered: nothing was probed.
    pub is_without_network: bool,
}

/// What is known of an agent.
pub struct Survey {
    /// What the registry says; `None` if it cannot be asked.
    pub record: Option<AgentRecord>,
    /// What to probe; `None` if its file cannot be had now.
    pub targets: Option<Vec<Target>>,
    /// Why it is not rated (R60), by its chain.
    pub own_by_chain: Option<String>,
    /// Why it is not rated (R60), by its file.
    pub own_by_file: Option<String>,
    /// Why something could not be read.
    pub unreadable: Option<String>,
}

impl Survey {
    /// Why the agent is not rated (R60).
    #[must_use]
    pub fn own(&self) -> Option<&str> {
        self.own_by_chain.as_deref().or(self.own_by_file.as_deref())
    }
}

impl Watch {
    /// Probes every service of every agent once. `now`: unix seconds.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn round(&self, now: u64) -> Result<RoundReport, StoreError> {
        let mut report = RoundReport::default();
        if !self.has_network().await {
            tracing::error!("no control answers: this round does not count");
            report.is_without_network = true;
            return Ok(report);
        }
        let looks = stream::iter(&self.agents).map(|agent| self.look(agent, now));
        let found: Vec<_> = looks.buffer_unordered(TOGETHER).collect().await;
        for (agent, looked) in found {
            let (survey, samples) = looked?;
            report.samples += samples;
            let own = survey.own().map(|it| (agent.clone(), it.to_owned()));
            report.own.extend(own);
            let unreadable = survey.unreadable.map(|it| (agent, it));
            report.unreadable.extend(unreadable);
        }
        report.own.sort();
        report.unreadable.sort();
        self.store.forget_before(now.saturating_sub(KEPT_FOR))?;
        Ok(report)
    }

    async fn has_network(&self) -> bool {
        for control in &self.settings.controls {
            if self.prober.answers(control).await {
                return true;
            }
        }
        self.settings.controls.is_empty()
    }

    async fn look(&self, agent: &Agent, now: u64) -> (String, Result<(Survey, usize), StoreError>) {
        let key = agent.key();
        let survey = self.survey(agent).await;
        let looked = async {
            if let Some(targets) = &survey.targets {
                self.store
                    .set_targets(&key, targets, survey.own_by_file.as_deref())?;
            }
            if survey.own().is_some() || self.store.own_by_file(&key)?.is_some() {
                return Ok(0);
            }
            let targets = self.store.targets(&key)?;
            let samples = self
                .probe(agent, survey.record.as_ref(), &targets, now)
                .await;
            self.store.keep(&key, &samples)?;
            Ok(samples.len())
        };
        let looked = looked.await;
        (key, looked.map(|samples| (survey, samples)))
    }

    /// Reads an agent and its file. Nothing is kept.
    pub async fn survey(&self, agent: &Agent) -> Survey {
        let mut survey = Survey {
            record: None,
            targets: None,
            own_by_chain: None,
            own_by_file: None,
            unreadable: None,
        };
        let read = self.registries.agent(agent.registration(), None).await;
        let record = match read {
            Ok(Some(record)) => record,
            Ok(None) => {
                survey.targets = Some(Vec::new());
                survey.unreadable = Some("the registry has no such agent".to_owned());
                return survey;
            }
            Err(error) => {
                survey.unreadable = Some(error.0);
                return survey;
            }
        };
        match self.own.by_chain(agent, &record).await {
            Ok(own) => survey.own_by_chain = own,
            Err(error) => {
                survey.unreadable = Some(error.0);
                return survey;
            }
        }
        match self.files.registration(&record.uri, false).await {
            Ok(file) => {
                survey.own_by_file = self.own.by_file(&file);
                survey.targets = Some(targets_of(&file, self.settings.endpoints_max));
            }
            Err(error) => {
                // what is there and cannot be read lists no service
                let is_absent = matches!(error, FileError::Unavailable(_));
                survey.targets = (!is_absent).then(Vec::new);
                survey.unreadable = Some(error.to_string());
            }
        }
        if survey.own().is_some() {
            survey.targets = Some(Vec::new());
        }
        survey.record = Some(record);
        survey
    }

    async fn probe(
        &self,
        agent: &Agent,
        record: Option<&AgentRecord>,
        targets: &[Target],
        now: u64,
    ) -> Vec<(String, Sample)> {
        let mut owned = HashMap::new();
        let mut samples = Vec::new();
        for target in targets {
            let Some(outcome) = self.prober.probe(target).await else {
                continue;
            };
            let sample = Sample {
                at: now,
                kind: target.kind.name().to_owned(),
                answered: outcome.finding.is_answer(),
                succeeded: outcome.finding.is_success(),
                millis: outcome.millis,
                owned: self.owned(agent, record, &target.url, &mut owned).await,
                finding: outcome.finding.words(),
            };
            samples.push((target.endpoint.clone(), sample));
        }
        samples
    }

    /// Each host is asked once in a round.
    async fn owned(
        &self,
        agent: &Agent,
        record: Option<&AgentRecord>,
        url: &str,
        known: &mut HashMap<String, Option<bool>>,
    ) -> Option<bool> {
        let record = record.filter(|_| self.settings.tags.contains(&Tag::OwnerVerified))?;
        let place = Origin::of(url).map_or_else(|| url.to_owned(), |it| it.proof_url());
        if let Some(found) = known.get(&place) {
            return *found;
        }
        let found = is_owned(agent, record, url, &*self.proofs).await;
        known.insert(place, found);
        found
    }
}
