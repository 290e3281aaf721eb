//! Logs and revert data in the model's terms.
use super::{Agents, Clock, RegistryAddresses, Requests};
use crate::{
    backend::{
        StepFault,
        canonical_events::{Labels, canonical_events},
    },
    model::{Actor, Agent, Bytes32, Event},
};
use alloy::primitives::{Address, B256, Bytes, Log, U256};
use concord_registry::{
    event::{AccountId, AgentId, Block},
    evm::{PlacedLog, revert_text},
};

/// The labels behind a transaction's logs.
pub(super) struct LogLabels<'a> {
    pub registries: &'a RegistryAddresses,
    pub agents: &'a Agents,
    pub requests: &'a Requests,
    pub clock: Clock<'a>,
}

impl LogLabels<'_> {
    /// What the logs of one transaction say, in order.
    ///
    /// # Errors
    /// A log of another contract, or one that canonical terms cannot express.
    pub fn read(&self, logs: &[Log]) -> Result<Vec<Event>, StepFault> {
        if let Some(log) = logs.iter().find(|log| !self.is_ours(log)) {
            return Err(StepFault::UnexplainedEvent(format!("{log:?}")));
        }
        let placed: Vec<_> = (0..).zip(logs).map(placed).collect();
        // Nobody asks where the events are from.
        canonical_events(self.registries.events("", &placed), self)
    }

    fn is_ours(&self, log: &Log) -> bool {
        let emitter = Some(log.address);
        let registries = self.registries;
        emitter == Some(registries.identity)
            || emitter == registries.authorized_reputation
            || emitter == registries.open_reputation
            || emitter == registries.validation
    }
}

pub(super) fn placed((index, log): (u64, &Log)) -> PlacedLog {
    PlacedLog {
        block: Block {
            number: 0,
            hash: None,
        },
        transaction: B256::ZERO,
        index,
        log: log.clone(),
    }
}

impl Labels for LogLabels<'_> {
    fn agent(&self, id: &AgentId) -> Agent {
        match id {
            AgentId::Evm(id) => self.agents.agent(U256::from_be_bytes(*id)),
            AgentId::Svm(_) => Agent(format!("unlabelled:{id}")),
        }
    }

    fn actor(&self, id: &AccountId) -> Actor {
        match id {
            AccountId::Evm(address) => self.agents.actor(Address::from(*address)),
            AccountId::Svm(_) => Actor(format!("unlabelled:{id}")),
        }
    }

    fn request(&self, hash: [u8; 32]) -> Bytes32 {
        self.requests.label(hash.into())
    }

    fn start(&self) -> u64 {
        self.clock.start
    }

    fn seconds(&self, timestamp: Option<i64>) -> Result<u64, StepFault> {
        let timestamp = timestamp.and_then(|it| u64::try_from(it).ok());
        let timestamp = timestamp.map_or(U256::ZERO, U256::from);
        self.clock
            .seconds(timestamp)
            .map_err(StepFault::UnexplainedEvent)
    }
}

/// What a refusal said, for people.
pub(super) fn native_words(revert_data: &Bytes) -> String {
    if revert_data.is_empty() {
        return "revert without data".to_owned();
    }
    match revert_text(revert_data) {
        Some(text) => format!("revert `{text}`"),
        None => format!("revert {revert_data}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloy::sol_types::SolEvent;
    use concord_registry::evm::abi::{Feedback, IdentityRegistry as Identity};

    const REGISTRIES: RegistryAddresses = RegistryAddresses {
        identity: Address::repeat_byte(1),
        open_reputation: Some(Address::repeat_byte(2)),
        authorized_reputation: Some(Address::repeat_byte(3)),
        validation: Some(Address::repeat_byte(4)),
    };

    fn read(logs: &[Log]) -> Result<Vec<Event>, StepFault> {
        let labels = LogLabels {
            registries: &REGISTRIES,
            agents: &Agents::default(),
            requests: &Requests::default(),
            clock: Clock {
                start: 0,
                times: None,
            },
        };
        labels.read(logs)
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
        let revoked = Feedback::FeedbackRevoked {
            agentId: U256::from(1),
            clientAddress: Address::ZERO,
            feedbackIndex: 1,
        };
        for (byte, is_fault) in [(1, true), (2, false), (3, false), (4, true), (5, true)] {
            let log = emitted(Address::repeat_byte(byte), &revoked);
            assert_eq!(is_unexplained(&[log]), is_fault, "{byte}");
        }
    }

    #[test]
    fn native_extras_are_left_out() {
        // §3a
        let moved = Identity::Transfer {
            from: Address::repeat_byte(8),
            to: Address::repeat_byte(9),
            tokenId: U256::from(1),
        };
        let set = Identity::ApprovalForAll {
            owner: Address::repeat_byte(8),
            operator: Address::repeat_byte(9),
            approved: true,
        };
        let identity = REGISTRIES.identity;
        let logs = [emitted(identity, &moved), emitted(identity, &set)];
        assert_eq!(read(&logs).unwrap(), []);
    }
}
