//! A chain of feedback without a node: the same events for the same length, made as they are read.
use async_trait::async_trait;
use concord_chain::ChainId;
use concord_index::{
    Contracts, Deployment, Place, SourceError,
    batch::{Batch, Header, IndexedEvent},
    source::Source,
};
use concord_registry::{
    Event,
    event::{AccountId, AgentId, Position, Profile, TransactionId},
    evm::RegistryAddresses,
};
use std::{
    collections::HashMap,
    time::{Duration, Instant},
};

/// One agent registers before as many feedbacks.
pub const PER_AGENT: u64 = 10;
/// One client comes for as many feedbacks, after the first ones.
pub const PER_CLIENT: u64 = 20;
pub const FIRST_CLIENTS: u64 = 50;
/// Feedbacks of a block.
const PER_BLOCK: u64 = 25;
/// Blocks of a batch: about what a node answers at once.
const AT_ONCE: u64 = 200;
/// Each owner approves one of so many, if any.
const OPERATORS: u64 = 2;
pub const CHAIN: &str = "eip155:31337";
pub const TAGS: [&str; 5] = ["quality", "uptime", "speed", "starred", ""];
const SECOND_TAGS: [&str; 3] = ["", "day", "week"];
const BEGAN: i64 = 1_700_000_000;
const BLOCK_SECONDS: i64 = 2;

pub fn deployment() -> Deployment {
    Deployment {
        chain: ChainId::parse(CHAIN).expect("a CAIP-2 id"),
        contracts: Contracts::Evm(RegistryAddresses {
            identity: [1; 20].into(),
            open_reputation: Some([2; 20].into()),
            authorized_reputation: Some([3; 20].into()),
            validation: Some([4; 20].into()),
        }),
        start: 1,
    }
}

/// Sebastiano Vigna's splitmix64, as a function of a place in its sequence.
fn mixed(number: u64) -> u64 {
    let mut z = number.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Numbers for one thing: each call is another one.
#[derive(Debug, Clone)]
pub struct Draws(u64);

impl Draws {
    pub fn of(number: u64) -> Self {
        Self(mixed(number))
    }

    pub fn below(&mut self, limit: u64) -> u64 {
        self.0 = mixed(self.0);
        self.0 % limit
    }

    /// Below `limit`, and the smaller the likelier: the first of a hundred thousand has 2 %.
    pub fn popular(&mut self, limit: u64) -> u64 {
        let unit = self.below(1 << 53) as f64 / (1u64 << 53) as f64;
        ((unit.powi(3) * limit as f64) as u64).min(limit - 1)
    }

    pub fn one_of<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len() as u64) as usize]
    }
}

/// An address as keys make them: spread over all there are.
pub fn account(kind: u64, number: u64) -> AccountId {
    let mut address = [0; 20];
    let words = [0, 1, 2].map(|word| mixed((kind << 56) ^ (word << 48) ^ number));
    for (to, from) in address
        .iter_mut()
        .zip(words.iter().flat_map(|it| it.to_be_bytes()))
    {
        *to = from;
    }
    AccountId::Evm(address)
}

pub fn client(number: u64) -> AccountId {
    account(1, number)
}

/// Whom the owner of an agent approves for all agents, if any.
pub fn operator(registered: u64) -> AccountId {
    account(6, registered % OPERATORS)
}

/// Counts from 1.
pub fn agent(number: u64) -> AgentId {
    let mut word = [0; 32];
    word[24..].copy_from_slice(&number.to_be_bytes());
    AgentId::Evm(word)
}

/// Agents after so many feedbacks.
pub const fn agents(feedbacks: u64) -> u64 {
    feedbacks.div_ceil(PER_AGENT)
}

/// Clients after so many feedbacks.
pub const fn clients(feedbacks: u64) -> u64 {
    FIRST_CLIENTS + feedbacks / PER_CLIENT
}

/// Grows: what was read stays.
#[derive(Debug, Default)]
pub struct Grown {
    /// How many feedbacks there are.
    pub feedbacks: u64,
    /// How long making them took, which is not the index's time.
    pub making: Duration,
    /// Whether owners approve operators.
    pub approves: bool,
    /// Blocks that were made.
    made: u64,
    /// By agent, client and profile.
    indices: HashMap<(u64, u64, bool), u64>,
}

impl Grown {
    fn head_number(&self) -> u64 {
        self.feedbacks.div_ceil(PER_BLOCK).max(1)
    }

    fn header(number: u64) -> Header {
        let hash = |number: u64| {
            let mut hash = [0; 32];
            hash[..8].copy_from_slice(&number.to_be_bytes());
            hash
        };
        Header {
            number,
            hash: hash(number),
            parent: hash(number - 1),
            time: BEGAN + number.cast_signed() * BLOCK_SECONDS,
        }
    }

    /// The events of a block. Blocks are made in their order, since indices count.
    fn events(&mut self, block: u64) -> Vec<IndexedEvent> {
        let first = (block - 1) * PER_BLOCK;
        let last = (first + PER_BLOCK).min(self.feedbacks);
        let events = (first..last).flat_map(|number| self.events_of(number));
        let events: Vec<Event> = events.collect();
        (0..)
            .zip(events)
            .map(|(log, event)| IndexedEvent {
                place: Place::new(block, 0, Position::Evm { log }),
                registry: account(0, 0),
                transaction: TransactionId::Evm([7; 32].map(|it: u8| it ^ block as u8)),
                time: Self::header(block).time,
                event,
            })
            .collect()
    }

    /// A feedback, and what comes with it.
    fn events_of(&mut self, number: u64) -> Vec<Event> {
        let mut draws = Draws::of(number);
        let mut events = Vec::new();
        if number.is_multiple_of(PER_AGENT) {
            let registered = number / PER_AGENT + 1;
            events.push(Event::AgentRegistered {
                agent: agent(registered),
                owner: account(2, registered),
                uri: format!("https://agents.example/{registered}.json"),
            });
            events.extend(self.approves.then(|| Event::OperatorSet {
                owner: account(2, registered),
                operator: operator(registered),
                approved: true,
            }));
        }
        let (about, by) = (
            draws.popular(agents(number + 1)) + 1,
            draws.below(clients(number)),
        );
        let is_authorized = draws.below(5) == 0;
        let index = self.indices.entry((about, by, is_authorized)).or_default();
        *index += 1;
        let given = Given {
            agent: agent(about),
            client: client(by),
            index: *index,
            number,
        };
        events.push(if is_authorized {
            given.authorized(&mut draws)
        } else {
            given.open(&mut draws)
        });
        let profile = if is_authorized {
            Profile::Authorized
        } else {
            Profile::Open
        };
        let is_paid = is_authorized && draws.below(2) == 0;
        events.extend(is_paid.then(|| given.payment(&mut draws)));
        events.extend((draws.below(20) == 0).then(|| given.response(profile)));
        events.extend((draws.below(50) == 0).then(|| given.revocation(profile)));
        events
    }
}

/// A feedback that is being given.
struct Given {
    agent: AgentId,
    client: AccountId,
    index: u64,
    number: u64,
}

impl Given {
    fn uri(&self) -> String {
        let low = mixed(self.number);
        format!("ipfs://bafkreigh2akiscaildcqabsyg3dfr6chu3fgpregiymsck7e7{low:016x}")
    }

    fn open(&self, draws: &mut Draws) -> Event {
        Event::OpenFeedback {
            agent: self.agent,
            client: self.client,
            index: self.index,
            value: i128::from(draws.below(101)),
            decimals: draws.one_of(&[0, 0, 1]),
            tag1: draws.one_of(&TAGS).to_owned(),
            tag2: draws.one_of(&SECOND_TAGS).to_owned(),
            endpoint: "https://agent.example/mcp".to_owned(),
            uri: self.uri(),
            hash: [9; 32],
        }
    }

    fn authorized(&self, draws: &mut Draws) -> Event {
        let word = |text: &str| {
            let mut word = [0; 32];
            word[..text.len()].copy_from_slice(text.as_bytes());
            word
        };
        Event::AuthorizedFeedback {
            agent: self.agent,
            client: self.client,
            index: self.index,
            score: draws.below(101) as u8,
            tag1: word(draws.one_of(&TAGS)),
            tag2: word(draws.one_of(&SECOND_TAGS)),
            uri: self.uri(),
            hash: [9; 32],
            authorized_by: None,
        }
    }

    fn payment(&self, draws: &mut Draws) -> Event {
        Event::PaymentProven {
            agent: self.agent,
            client: self.client,
            index: self.index,
            payee: account(3, 0),
            token: account(4, draws.below(2)),
            amount: draws.below(1 << 40),
            task_ref_hash: [8; 32],
            paid_at: 1,
            expiry: 2,
            facilitator: account(5, 0),
            signature: [3; 64],
        }
    }

    fn response(&self, profile: Profile) -> Event {
        Event::ResponseAppended {
            profile,
            agent: self.agent,
            client: self.client,
            index: self.index,
            responder: account(3, 0),
            uri: "ipfs://response".to_owned(),
            hash: [8; 32],
        }
    }

    fn revocation(&self, profile: Profile) -> Event {
        Event::FeedbackRevoked {
            profile,
            agent: self.agent,
            client: self.client,
            index: self.index,
        }
    }
}

#[async_trait]
impl Source for Grown {
    fn name(&self) -> String {
        "a grown chain".to_owned()
    }

    async fn head(&mut self) -> Result<Header, SourceError> {
        Ok(Self::header(self.head_number()))
    }

    async fn final_number(&mut self) -> Result<Option<u64>, SourceError> {
        Ok(Some(self.head_number()))
    }

    async fn hash(&mut self, number: u64) -> Result<Option<[u8; 32]>, SourceError> {
        Ok(Some(Self::header(number).hash))
    }

    async fn batch(&mut self, from: u64, to: u64, settled: u64) -> Result<Batch, SourceError> {
        let begun = Instant::now();
        for block in self.made + 1..from {
            self.events(block); // which an earlier run has stored
        }
        let end = to.min(from.saturating_add(AT_ONCE - 1));
        let end = if from <= settled {
            end.min(settled)
        } else {
            end
        };
        let recent = from.max(settled.saturating_add(1));
        let headers = (recent..end).chain([end]).map(Self::header).collect();
        let batch = Batch {
            through: Self::header(end),
            parent: (from > settled).then(|| Self::header(from).parent),
            headers,
            events: (from..=end).flat_map(|it| self.events(it)).collect(),
            undecoded: Vec::new(),
            suspects: Vec::new(),
        };
        self.made = end;
        self.making += begun.elapsed();
        Ok(batch)
    }
}
