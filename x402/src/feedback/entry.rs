use concord_canonical::{Word, value::Value};
use concord_chain::submission::Landing;
use concord_files::{FeedbackFile, OnChainEntry, OnChainRating, Parsed};
use concord_registry::event::Event;

use super::{FeedbackError, FeedbackJob, FeedbackRegistry, Kind};
use crate::account::is_same_address;

/// A feedback as the registry's event has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FeedbackEntry {
    /// The block or slot.
    pub block: u64,
    /// The transaction.
    pub transaction: String,
    /// Counts from 1, per agent and client.
    pub index: u64,
    /// The identity registry, CAIP-10.
    pub registry: String,
    /// The account that submitted it, CAIP-10.
    pub client: String,
    /// What the registry emitted.
    pub event: Event,
}

impl FeedbackEntry {
    /// The entry of a submission among the events of the transaction that landed.
    pub(super) fn find(
        events: impl IntoIterator<Item = Event>,
        registry: &dyn FeedbackRegistry,
        job: FeedbackJob<'_>,
        landing: &Landing,
    ) -> Result<Self, FeedbackError> {
        let client = registry.client();
        Self::among(events, registry, job, landing).ok_or_else(|| {
            let kind = match job.submission.content.kind() {
                Kind::Open => "open",
                Kind::Authorized => "authorized",
            };
            let (network, client) = client.rsplit_once(':').unwrap_or_default();
            let transaction = &landing.transaction;
            FeedbackError::Registry {
                network: network.to_owned(),
                reason: format!("{transaction} has no event of an {kind} feedback by {client}"),
            }
        })
    }

    fn among(
        events: impl IntoIterator<Item = Event>,
        registry: &dyn FeedbackRegistry,
        job: FeedbackJob<'_>,
        landing: &Landing,
    ) -> Option<Self> {
        let place = registry.client();
        let (network, client) = place.rsplit_once(':')?;
        let (event, index) = events.into_iter().find_map(|event| {
            let (by, about, index) = match &event {
                Event::OpenFeedback {
                    client,
                    agent,
                    index,
                    ..
                }
                | Event::AuthorizedFeedback {
                    client,
                    agent,
                    index,
                    ..
                } => (client.to_string(), agent.to_string(), *index),
                _ => return None,
            };
            let is_own = is_same_address(network, &by, client);
            (is_own && about == job.submission.agent_id).then_some((event, index))
        })?;
        Some(Self {
            block: landing.block,
            transaction: landing.transaction.clone(),
            index,
            registry: registry.registry(),
            client: place,
            event,
        })
    }

    /// The feedback file's URI and hash, as the chain has them.
    #[must_use]
    pub fn file(&self) -> Option<(&str, Word)> {
        match &self.event {
            Event::OpenFeedback { uri, hash, .. } | Event::AuthorizedFeedback { uri, hash, .. } => {
                Some((uri, *hash))
            }
            _ => None,
        }
    }

    /// Requires that a file agrees with the entry in every statement, its hash included.
    pub(super) fn require_file(
        &self,
        file: &Parsed<FeedbackFile>,
        uri: &str,
    ) -> Result<(), FeedbackError> {
        let differs = |what: &str| FeedbackError::Differs(what.to_owned());
        let (found, hash) = self.file().ok_or_else(|| differs("its kind"))?;
        if found != uri {
            return Err(differs(&format!("feedbackURI: {found}, sent {uri}")));
        }
        if hash != file.hash() {
            return Err(differs(&format!("feedbackHash: 0x{}", hex::encode(hash))));
        }
        let (rating, agent) = self.rating()?;
        let entry = OnChainEntry {
            agent_registry: &self.registry,
            agent_id: &agent,
            client_address: &self.client,
            rating,
            feedback_hash: hash,
        };
        let differences = file.differences(&entry);
        match differences.first() {
            None => Ok(()),
            Some(first) => Err(differs(&format!("{}: {}", first.field, first.on_chain))),
        }
    }

    fn rating(&self) -> Result<(OnChainRating<'_>, String), FeedbackError> {
        Ok(match &self.event {
            Event::OpenFeedback {
                agent,
                value,
                decimals,
                tag1,
                tag2,
                endpoint,
                ..
            } => {
                let rating = OnChainRating::Open {
                    value: Value::new(*value, *decimals)?,
                    tag1,
                    tag2,
                    endpoint,
                };
                (rating, agent.to_string())
            }
            Event::AuthorizedFeedback {
                agent,
                score,
                tag1,
                tag2,
                ..
            } => {
                let rating = OnChainRating::Authorized {
                    score: *score,
                    tag1: *tag1,
                    tag2: *tag2,
                };
                (rating, agent.to_string())
            }
            _ => return Err(FeedbackError::Differs("its kind".to_owned())),
        })
    }
}
