//! Blocks of events as registries emit them, made of a seed.
use async_trait::async_trait;
use concord_chain::ChainId;
use concord_index::{
    Contracts, Deployment, Place, SourceError,
    batch::{Batch, Header, IndexedEvent},
    source::Source,
};
use concord_registry::{
    Event,
    event::{AccountId, AgentId, Position, Profile, TransactionId, ValidationTag},
    evm::RegistryAddresses,
};

pub fn deployment() -> Deployment {
    Deployment {
        chain: ChainId::parse("eip155:31337").unwrap(),
        contracts: Contracts::Evm(RegistryAddresses {
            identity: [1; 20].into(),
            open_reputation: Some([2; 20].into()),
            authorized_reputation: Some([3; 20].into()),
            validation: Some([4; 20].into()),
        }),
        start: 1,
    }
}

pub fn agent(number: u8) -> AgentId {
    let mut word = [0; 32];
    word[31] = number;
    AgentId::Evm(word)
}

pub fn account(number: u8) -> AccountId {
    AccountId::Evm([number; 20])
}

pub fn open(agent_number: u8, client: u8, index: u64, value: i128) -> Event {
    Event::OpenFeedback {
        agent: agent(agent_number),
        client: account(client),
        index,
        value,
        decimals: client % 19,
        tag1: ["", "starred", "uptime"][usize::from(client % 3)].to_owned(),
        tag2: String::new(),
        endpoint: "https://agent.example".to_owned(),
        uri: String::new(),
        hash: [7; 32],
    }
}

pub fn registered(number: u8) -> Event {
    Event::AgentRegistered {
        agent: agent(number),
        owner: account(100 + number),
        uri: format!("ipfs://agent-{number}"),
    }
}

/// The first blocks register one agent each. Then each client reviews each agent, and again.
const AGENTS: u64 = 5;
const CLIENTS: u64 = 7;

/// The events of one block, in an order that every registry would accept.
pub fn events_of(block: u64) -> Vec<Event> {
    let small = |number: u64| u8::try_from(number).unwrap();
    let Some(turn) = block.checked_sub(AGENTS + 1) else {
        return vec![registered(small(block))];
    };
    let (number, client) = (small(turn % AGENTS) + 1, small(turn / AGENTS % CLIENTS) + 1);
    let (index, profile) = (turn / AGENTS / CLIENTS + 1, Profile::Open);
    let mut events = vec![open(
        number,
        client,
        index,
        i128::from(block) * 1_000_003 - 9,
    )];
    let (agent, client) = (agent(number), account(client));
    events.extend(block.is_multiple_of(3).then(|| Event::ResponseAppended {
        profile,
        agent,
        client,
        index,
        responder: account(9),
        uri: "ipfs://response".to_owned(),
        hash: [8; 32],
    }));
    events.extend(block.is_multiple_of(4).then_some(Event::FeedbackRevoked {
        profile,
        agent,
        client,
        index,
    }));
    events.extend(block.is_multiple_of(6).then(|| Event::MetadataSet {
        agent,
        key: format!("key {}\0", block % 12),
        value: block.to_be_bytes().to_vec(),
    }));
    events.extend(block.is_multiple_of(7).then(|| Event::ValidationRequested {
        agent,
        validator: account(50),
        request: [u8::try_from(block % 256).unwrap(); 32],
        uri: String::new(),
        tag: None,
    }));
    events.extend(
        block
            .is_multiple_of(14)
            .then(|| Event::ValidationResponded {
                agent,
                validator: account(50),
                request: [u8::try_from(block % 256).unwrap(); 32],
                score: 80,
                uri: String::new(),
                hash: [0; 32],
                tag: ValidationTag::Text("done".to_owned()),
            }),
    );
    events
}

/// The event at a place.
pub fn at(block: u64, log: u64, event: Event) -> IndexedEvent {
    IndexedEvent {
        place: Place::new(block, 0, Position::Evm { log }),
        registry: account(2),
        transaction: TransactionId::Evm([6; 32]),
        time: 1_700_000_000 + block.cast_signed(),
        event,
    }
}

/// A chain of blocks. From `fork` on, they are of another fork.
pub struct World {
    pub blocks: u64,
    /// Blocks that one batch has.
    pub at_once: u64,
    pub fork: u64,
    pub name: u8,
}

impl World {
    pub fn header(&self, number: u64) -> Header {
        let hash = |number: u64| {
            let mut hash = [if number < self.fork { 0 } else { self.name }; 32];
            hash[..8].copy_from_slice(&number.to_be_bytes());
            hash
        };
        Header {
            number,
            hash: hash(number),
            parent: hash(number - 1),
            time: 1_700_000_000 + number.cast_signed(),
        }
    }

    pub fn events(&self, block: u64) -> Vec<IndexedEvent> {
        // The other fork has the agents, and none of the rest.
        let is_left_out = block >= self.fork && block > AGENTS;
        let events = if is_left_out {
            vec![]
        } else {
            events_of(block)
        };
        (0..)
            .zip(events)
            .map(|(log, it)| at(block, log, it))
            .collect()
    }
}

#[async_trait]
impl Source for World {
    fn name(&self) -> String {
        "a world".to_owned()
    }

    async fn head(&mut self) -> Result<Header, SourceError> {
        Ok(self.header(self.blocks))
    }

    async fn final_number(&mut self) -> Result<Option<u64>, SourceError> {
        Ok(None)
    }

    async fn hash(&mut self, number: u64) -> Result<Option<[u8; 32]>, SourceError> {
        Ok(Some(self.header(number).hash))
    }

    async fn batch(&mut self, from: u64, to: u64, _settled: u64) -> Result<Batch, SourceError> {
        let to = to.min(from + self.at_once - 1);
        let headers: Vec<_> = (from..=to).map(|number| self.header(number)).collect();
        Ok(Batch {
            through: self.header(to),
            parent: Some(self.header(from).parent),
            headers,
            events: (from..=to).flat_map(|number| self.events(number)).collect(),
            undecoded: Vec::new(),
            suspects: Vec::new(),
        })
    }
}
