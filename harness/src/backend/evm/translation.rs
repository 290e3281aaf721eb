//! Native errors and logs, in the model's terms.
use super::{
    Agents,
    abi::{AuthorizedReputation, Identity},
};
use crate::{backend::StepFault, model::Bytes32, model::Event};
use alloy::{
    primitives::{Address, Bytes, Log, U256},
    sol_types::SolEvent,
};
use concord_canonical::{ErrorClass, error_class::class_of_selector};

/// The class of revert data: the first four bytes choose it (R25).
pub(super) fn class_of(revert_data: &Bytes) -> Result<ErrorClass, StepFault> {
    revert_data
        .first_chunk()
        .and_then(|selector| class_of_selector(*selector))
        .ok_or_else(|| StepFault::UnmappedError(native_words(revert_data)))
}

pub(super) fn native_words(revert_data: &Bytes) -> String {
    if revert_data.is_empty() {
        return "revert without data".to_owned();
    }
    format!("revert {revert_data}")
}

/// What a transaction's logs say, read in order.
pub(super) struct LogReader<'a> {
    pub identity: Address,
    pub reputation: Address,
    pub agents: &'a Agents,
    /// Unix seconds of the scenario's start.
    pub start: u64,
}

impl LogReader<'_> {
    pub fn read(&self, logs: &[Log]) -> Result<Vec<Event>, StepFault> {
        let mut events = Vec::new();
        let mut rest = logs;
        while let Some((log, following)) = rest.split_first() {
            rest = following;
            if log.address == self.identity {
                events.extend(self.identity_event(log, &events)?);
            } else if log.address == self.reputation && is::<AuthorizedReputation::NewFeedback>(log)
            {
                let (indexed, following) = following.split_first().ok_or_else(|| {
                    StepFault::UnexplainedEvent("NewFeedback without FeedbackIndexed".to_owned())
                })?;
                rest = following;
                events.push(self.feedback(log, indexed)?);
            } else if log.address == self.reputation {
                events.push(self.revocation(log)?);
            } else {
                return Err(unexplained(log));
            }
        }
        Ok(events)
    }

    fn identity_event(&self, log: &Log, earlier: &[Event]) -> Result<Option<Event>, StepFault> {
        if is_native_extra(log) {
            return Ok(None);
        }
        if is::<Identity::Registered>(log) {
            let registered: Identity::Registered = decode(log)?;
            return Ok(Some(Event::AgentRegistered {
                agent: self.agents.agent(registered.agentId),
                owner: self.agents.actor(registered.owner),
                uri: registered.agentURI,
            }));
        }
        let set: Identity::MetadataSet = decode(log)?;
        if set.metadataKey != "agentWallet" {
            return Err(unexplained(log));
        }
        let event = self.wallet(set)?;
        Ok((!repeats_registration(&event, earlier)).then_some(event))
    }

    fn wallet(&self, set: Identity::MetadataSet) -> Result<Event, StepFault> {
        let wallet = match set.metadataValue.len() {
            0 => None,
            20 => Some(self.agents.actor(Address::from_slice(&set.metadataValue))),
            length => {
                return Err(StepFault::UnexplainedEvent(format!(
                    "agentWallet of {length} bytes"
                )));
            }
        };
        Ok(Event::AgentWalletSet {
            agent: self.agents.agent(set.agentId),
            wallet,
        })
    }

    /// The first draft's event, and ours that follows it with index and time (R15).
    fn feedback(&self, log: &Log, indexed: &Log) -> Result<Event, StepFault> {
        let given: AuthorizedReputation::NewFeedback = decode(log)?;
        let place: AuthorizedReputation::FeedbackIndexed = decode(indexed)?;
        if (given.agentId, given.clientAddress) != (place.agentId, place.clientAddress) {
            return Err(unexplained(indexed));
        }
        Ok(Event::AuthorizedFeedback {
            agent: self.agents.agent(given.agentId),
            client: self.agents.actor(given.clientAddress),
            index: place.feedbackIndex,
            score: given.score,
            tag1: Bytes32(given.tag1.0),
            tag2: Bytes32(given.tag2.0),
            uri: given.feedbackUri,
            hash: Bytes32(given.feedbackHash.0),
            time: self.seconds_after_start(place.timestamp)?,
        })
    }

    fn revocation(&self, log: &Log) -> Result<Event, StepFault> {
        let revoked: AuthorizedReputation::FeedbackRevoked = decode(log)?;
        Ok(Event::FeedbackRevoked {
            agent: self.agents.agent(revoked.agentId),
            client: self.agents.actor(revoked.clientAddress),
            index: revoked.feedbackIndex,
        })
    }

    fn seconds_after_start(&self, timestamp: U256) -> Result<u64, StepFault> {
        u64::try_from(timestamp)
            .ok()
            .and_then(|timestamp| timestamp.checked_sub(self.start))
            .ok_or_else(|| StepFault::UnexplainedEvent(format!("timestamp {timestamp}")))
    }
}

/// R2's registration emits the owner as wallet once more (specification §3a: not compared).
fn repeats_registration(event: &Event, earlier: &[Event]) -> bool {
    let Event::AgentWalletSet {
        agent,
        wallet: Some(wallet),
    } = event
    else {
        return false;
    };
    earlier.iter().any(|event| {
        matches!(event, Event::AgentRegistered { agent: registered, owner, .. }
            if registered == agent && owner == wallet)
    })
}

fn is_native_extra(log: &Log) -> bool {
    is::<Identity::Transfer>(log)
        || is::<Identity::Approval>(log)
        || is::<Identity::ApprovalForAll>(log)
        || is::<Identity::MetadataUpdate>(log)
}

fn is<E: SolEvent>(log: &Log) -> bool {
    log.topics().first() == Some(&E::SIGNATURE_HASH)
}

fn decode<E: SolEvent>(log: &Log) -> Result<E, StepFault> {
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
    use alloy::primitives::{B256, hex};

    fn class(data: &[u8]) -> Result<ErrorClass, StepFault> {
        class_of(&Bytes::copy_from_slice(data))
    }

    #[test]
    fn revert_data_is_read_by_its_selector() {
        // cast sig 'AuthIndexLimit(uint64,uint64)', and two words
        let index_limit = [&hex!("42f26e01")[..], &[0; 64]].concat();
        assert_eq!(class(&index_limit).unwrap(), ErrorClass::AuthIndexLimit);
        // cast sig 'ERC721InsufficientApproval(address,uint256)'
        let stranger = hex!("177e802f");
        assert_eq!(class(&stranger).unwrap(), ErrorClass::TransferNotAllowed);
    }

    #[test]
    fn an_error_without_a_class_is_a_fault() {
        // R25; InvalidInitialization(), a bare revert, half a selector
        for data in [&hex!("f92ee8a9")[..], &[], &hex!("42f2")] {
            assert!(matches!(class(data), Err(StepFault::UnmappedError(_))));
        }
    }

    #[test]
    fn a_log_that_is_not_in_the_abi_is_a_fault() {
        let (identity, reputation) = (Address::repeat_byte(1), Address::repeat_byte(2));
        let reader = LogReader {
            identity,
            reputation,
            agents: &Agents::default(),
            start: 0,
        };
        for emitter in [identity, reputation, Address::repeat_byte(3)] {
            let log = Log::new_unchecked(emitter, vec![B256::repeat_byte(7)], Bytes::new());
            let read = reader.read(&[log]);
            assert!(matches!(read, Err(StepFault::UnexplainedEvent(_))));
        }
    }
}
