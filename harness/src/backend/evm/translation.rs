//! Logs, in the model's terms.
use super::{
    Agents, Clock, RegistryAddresses, Requests,
    abi::{AuthorizedReputation, Identity, OpenReputation, Reputation, Validation},
};
use crate::{
    backend::StepFault,
    model::{Bytes, Bytes32, Event, Integer, PaddedTag, Profile},
};
use alloy::{
    primitives::{Address, B256, Log, keccak256},
    sol_types::SolEvent,
};
use concord_canonical::{limits::RESERVED_METADATA_KEY, tag::Tag};

/// What a transaction's logs say, read in order.
pub(super) struct LogReader<'a> {
    pub registries: &'a RegistryAddresses,
    pub agents: &'a Agents,
    pub requests: &'a Requests,
    pub clock: Clock<'a>,
}

type Read<T> = Result<T, StepFault>;

impl LogReader<'_> {
    pub fn read(&self, logs: &[Log]) -> Read<Vec<Event>> {
        let mut events = Vec::new();
        let mut rest = logs;
        while let Some((log, following)) = rest.split_first() {
            let (event, taken) = self.event(log, following)?;
            events.extend(event);
            rest = following.get(taken..).unwrap_or_default();
        }
        Ok(events)
    }

    /// The event of `log`, if it is one, and how many of the logs `following` belong to it.
    fn event(&self, log: &Log, following: &[Log]) -> Read<(Option<Event>, usize)> {
        let emitter = Some(log.address);
        let next = following.first();
        if emitter == Some(self.registries.identity) {
            return self.identity_event(log, next);
        }
        if emitter == self.registries.authorized_reputation {
            return self.authorized_event(log, next);
        }
        if emitter == self.registries.open_reputation {
            return Ok((Some(self.open_event(log)?), 0));
        }
        if emitter == self.registries.validation {
            return Ok((Some(self.validation_event(log)?), 0));
        }
        Err(unexplained(log))
    }

    fn identity_event(&self, log: &Log, next: Option<&Log>) -> Read<(Option<Event>, usize)> {
        if is_native_extra(log) {
            return Ok((None, 0));
        }
        if is::<Identity::Registered>(log) {
            let registered: Identity::Registered = decode(log)?;
            let repeats = next.is_some_and(|next| is_first_wallet(next, &registered));
            let event = Event::AgentRegistered {
                agent: self.agents.agent(registered.agentId),
                owner: self.agents.actor(registered.owner),
                uri: registered.agentURI,
            };
            return Ok((Some(event), usize::from(repeats)));
        }
        if is::<Identity::URIUpdated>(log) {
            let updated: Identity::URIUpdated = decode(log)?;
            let event = Event::AgentUriSet {
                agent: self.agents.agent(updated.agentId),
                by: self.agents.actor(updated.updatedBy),
                uri: updated.newURI,
            };
            return Ok((Some(event), 0));
        }
        let set: Identity::MetadataSet = decode(log)?;
        check_topic(log, set.indexedMetadataKey, &set.metadataKey)?;
        Ok((Some(self.metadata(set)?), 0))
    }

    fn metadata(&self, set: Identity::MetadataSet) -> Read<Event> {
        let agent = self.agents.agent(set.agentId);
        if set.metadataKey != RESERVED_METADATA_KEY {
            return Ok(Event::MetadataSet {
                agent,
                key: set.metadataKey,
                value: Bytes(set.metadataValue.into()),
            });
        }
        let wallet = match set.metadataValue.len() {
            0 => None,
            20 => Some(self.agents.actor(Address::from_slice(&set.metadataValue))),
            length => {
                return Err(StepFault::UnexplainedEvent(format!(
                    "agentWallet of {length} bytes"
                )));
            }
        };
        Ok(Event::AgentWalletSet { agent, wallet })
    }

    fn authorized_event(&self, log: &Log, next: Option<&Log>) -> Read<(Option<Event>, usize)> {
        if !is::<AuthorizedReputation::NewFeedback>(log) {
            return Ok((Some(self.shared_event(log, Profile::Authorized)?), 0));
        }
        let indexed = next.ok_or_else(|| {
            StepFault::UnexplainedEvent("NewFeedback without FeedbackIndexed".to_owned())
        })?;
        Ok((Some(self.feedback(log, indexed)?), 1))
    }

    /// The first draft's event, and ours that follows it with index and time (R15).
    fn feedback(&self, log: &Log, indexed: &Log) -> Read<Event> {
        let given: AuthorizedReputation::NewFeedback = decode(log)?;
        let place: AuthorizedReputation::FeedbackIndexed = decode(indexed)?;
        let is_of_this = (given.agentId, given.clientAddress)
            == (place.agentId, place.clientAddress)
            && indexed.address == log.address;
        if !is_of_this {
            return Err(unexplained(indexed));
        }
        Ok(Event::AuthorizedFeedback {
            agent: self.agents.agent(given.agentId),
            client: self.agents.actor(given.clientAddress),
            index: place.feedbackIndex,
            score: given.score,
            tag1: PaddedTag(given.tag1.0),
            tag2: PaddedTag(given.tag2.0),
            uri: given.feedbackUri,
            hash: Bytes32(given.feedbackHash.0),
            time: self
                .clock
                .seconds(place.timestamp)
                .map_err(StepFault::UnexplainedEvent)?,
        })
    }

    fn open_event(&self, log: &Log) -> Read<Event> {
        if !is::<OpenReputation::NewFeedback>(log) {
            return self.shared_event(log, Profile::Open);
        }
        let given: OpenReputation::NewFeedback = decode(log)?;
        check_topic(log, given.indexedTag1, &given.tag1)?;
        Ok(Event::OpenFeedback {
            agent: self.agents.agent(given.agentId),
            client: self.agents.actor(given.clientAddress),
            index: given.feedbackIndex,
            value: Integer(given.value),
            decimals: given.valueDecimals,
            tag1: given.tag1,
            tag2: given.tag2,
            endpoint: given.endpoint,
            uri: given.feedbackURI,
            hash: Bytes32(given.feedbackHash.0),
        })
    }

    /// What both reputation registries report alike.
    fn shared_event(&self, log: &Log, profile: Profile) -> Read<Event> {
        if is::<Reputation::FeedbackRevoked>(log) {
            let revoked: Reputation::FeedbackRevoked = decode(log)?;
            return Ok(Event::FeedbackRevoked {
                profile,
                agent: self.agents.agent(revoked.agentId),
                client: self.agents.actor(revoked.clientAddress),
                index: revoked.feedbackIndex,
            });
        }
        let appended: Reputation::ResponseAppended = decode(log)?;
        Ok(Event::ResponseAppended {
            profile,
            agent: self.agents.agent(appended.agentId),
            client: self.agents.actor(appended.clientAddress),
            index: appended.feedbackIndex,
            responder: self.agents.actor(appended.responder),
            uri: appended.responseURI,
            hash: Bytes32(appended.responseHash.0),
        })
    }

    fn validation_event(&self, log: &Log) -> Read<Event> {
        if is::<Validation::ValidationRequest>(log) {
            let requested: Validation::ValidationRequest = decode(log)?;
            return Ok(Event::ValidationRequested {
                agent: self.agents.agent(requested.agentId),
                validator: self.agents.actor(requested.validatorAddress),
                request: self.requests.label(requested.requestHash),
                uri: requested.requestURI,
            });
        }
        let responded: Validation::ValidationResponse = decode(log)?;
        Ok(Event::ValidationResponded {
            agent: self.agents.agent(responded.agentId),
            validator: self.agents.actor(responded.validatorAddress),
            request: self.requests.label(responded.requestHash),
            score: responded.response,
            uri: responded.responseURI,
            hash: Bytes32(responded.responseHash.0),
            tag: padded(&responded.tag).map_err(StepFault::UnexplainedEvent)?,
        })
    }
}

/// The 32 bytes of a tag that the contract holds as text (R14).
pub(super) fn padded(text: &str) -> Result<PaddedTag, String> {
    Tag::new(text)
        .map(|tag| PaddedTag(tag.padded()))
        .map_err(|fault| format!("tag: {fault}"))
}

/// R2: a registration is followed by the owner as wallet (specification §3a: not compared).
fn is_first_wallet(log: &Log, registered: &Identity::Registered) -> bool {
    is::<Identity::MetadataSet>(log)
        && decode::<Identity::MetadataSet>(log).is_ok_and(|set| {
            set.agentId == registered.agentId
                && set.metadataKey == RESERVED_METADATA_KEY
                && set.metadataValue[..] == registered.owner[..]
        })
}

fn is_native_extra(log: &Log) -> bool {
    is::<Identity::Transfer>(log)
        || is::<Identity::Approval>(log)
        || is::<Identity::ApprovalForAll>(log)
        || is::<Identity::MetadataUpdate>(log)
}

/// Clients filter by the topic, so it has to be the hash of the text beside it.
fn check_topic(log: &Log, topic: B256, text: &str) -> Read<()> {
    if topic == keccak256(text) {
        return Ok(());
    }
    Err(StepFault::UnexplainedEvent(format!(
        "{} emitted topic {topic} for `{text}`",
        log.address
    )))
}

fn is<E: SolEvent>(log: &Log) -> bool {
    log.topics().first() == Some(&E::SIGNATURE_HASH)
}

fn decode<E: SolEvent>(log: &Log) -> Read<E> {
    E::decode_log_validate(log)
        .map(|decoded| decoded.data)
        .map_err(|_| unexplained(log))
}

fn unexplained(log: &Log) -> StepFault {
    let topic = log.topics().first().copied().unwrap_or_default();
    StepFault::UnexplainedEvent(format!("{} emitted topic {topic}", log.address))
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloy::primitives::U256;

    const REGISTRIES: RegistryAddresses = RegistryAddresses {
        identity: Address::repeat_byte(1),
        open_reputation: Some(Address::repeat_byte(2)),
        authorized_reputation: Some(Address::repeat_byte(3)),
        validation: Some(Address::repeat_byte(4)),
    };

    fn read(logs: &[Log]) -> Read<Vec<Event>> {
        let agents = Agents::default();
        let reader = LogReader {
            registries: &REGISTRIES,
            agents: &agents,
            requests: &Requests::default(),
            clock: Clock {
                start: 0,
                told: None,
            },
        };
        reader.read(logs)
    }

    fn emitted(emitter: Address, event: &impl SolEvent) -> Log {
        Log {
            address: emitter,
            data: event.encode_log_data(),
        }
    }

    fn is_unexplained(logs: &[Log]) -> bool {
        matches!(read(logs), Err(StepFault::UnexplainedEvent(_)))
    }

    #[test]
    fn a_log_that_is_not_in_the_abi_is_a_fault() {
        for byte in 1..=5 {
            let emitter = Address::repeat_byte(byte);
            let topics = vec![B256::repeat_byte(7)];
            let log = Log::new_unchecked(emitter, topics, Default::default());
            assert!(is_unexplained(&[log]), "{emitter}");
        }
    }

    #[test]
    fn an_event_of_another_registry_is_a_fault() {
        let revoked = Reputation::FeedbackRevoked {
            agentId: U256::from(1),
            clientAddress: Address::ZERO,
            feedbackIndex: 1,
        };
        for (byte, is_fault) in [(1, true), (2, false), (3, false), (4, true)] {
            let log = emitted(Address::repeat_byte(byte), &revoked);
            assert_eq!(is_unexplained(&[log]), is_fault, "{byte}");
        }
    }

    fn wallet_set(agent: u64, wallet: Address) -> Log {
        let set = Identity::MetadataSet {
            agentId: U256::from(agent),
            indexedMetadataKey: keccak256(RESERVED_METADATA_KEY),
            metadataKey: RESERVED_METADATA_KEY.to_owned(),
            metadataValue: wallet.to_vec().into(),
        };
        emitted(REGISTRIES.identity, &set)
    }

    #[test]
    fn only_the_owner_as_first_wallet_is_left_out_of_a_registration() {
        let owner = Address::repeat_byte(9);
        let registered = Identity::Registered {
            agentId: U256::from(1),
            agentURI: String::new(),
            owner,
        };
        let registered = emitted(REGISTRIES.identity, &registered);
        let events =
            |wallets: &[Log]| read(&[std::slice::from_ref(&registered), wallets].concat()).unwrap();
        assert_eq!(events(&[wallet_set(1, owner)]).len(), 1);
        assert_eq!(events(&[wallet_set(1, Address::repeat_byte(8))]).len(), 2);
        assert_eq!(events(&[wallet_set(2, owner)]).len(), 2);
        assert_eq!(
            events(&[wallet_set(1, owner), wallet_set(1, owner)]).len(),
            2
        );
    }

    #[test]
    fn a_topic_that_is_not_the_hash_of_its_text_is_a_fault() {
        let set = Identity::MetadataSet {
            agentId: U256::from(1),
            indexedMetadataKey: keccak256("other"),
            metadataKey: "name".to_owned(),
            metadataValue: Default::default(),
        };
        assert!(is_unexplained(&[emitted(REGISTRIES.identity, &set)]));
    }

    #[test]
    fn feedback_without_its_index_is_a_fault() {
        // R15
        let given = AuthorizedReputation::NewFeedback {
            agentId: U256::from(1),
            clientAddress: Address::repeat_byte(9),
            score: 1,
            tag1: B256::ZERO,
            tag2: B256::ZERO,
            feedbackUri: String::new(),
            feedbackHash: B256::ZERO,
        };
        let place = |agent| AuthorizedReputation::FeedbackIndexed {
            agentId: U256::from(agent),
            clientAddress: Address::repeat_byte(9),
            feedbackIndex: 1,
            timestamp: U256::from(5),
        };
        let registry = Address::repeat_byte(3);
        let given = emitted(registry, &given);
        let with = |indexed| read(&[given.clone(), indexed]);
        assert_eq!(with(emitted(registry, &place(1))).unwrap().len(), 1);
        assert!(is_unexplained(std::slice::from_ref(&given)));
        assert!(with(emitted(registry, &place(2))).is_err());
        assert!(with(emitted(Address::repeat_byte(2), &place(1))).is_err());
    }
}
