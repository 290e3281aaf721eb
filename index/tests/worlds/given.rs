//! Feedback in two deployments, and the store that indexed it.
use concord_chain::ChainId;
use concord_index::{
    Contracts, Deployment, Place,
    batch::{Batch, Header, IndexedEvent},
    store::{DeploymentId, Engine, Store},
};
use concord_registry::{
    Event,
    event::{AccountId, AgentId, Position, Profile, TransactionId},
    evm::RegistryAddresses,
};

pub const CHAINS: [&str; 2] = ["eip155:31337", "eip155:1"];
pub const AGENTS: u8 = 12;
pub const CLIENTS: [u8; 7] = [1, 2, 3, 4, 5, 103, 104];
pub const TAGS: [&str; 4] = ["", "starred", "uptime", "speed"];
const FEEDBACKS: u64 = 300;

/// One feedback, as a client gave it.
#[derive(Debug, Clone)]
pub struct Given {
    /// Its chain's place in [`CHAINS`].
    pub chain: usize,
    pub profile: Profile,
    pub agent: u8,
    pub client: u8,
    pub index: u64,
    pub value: i128,
    pub decimals: u8,
    pub tag1: &'static str,
    pub tag2: &'static str,
    pub at: i64,
    pub block: u64,
    pub is_revoked: bool,
    pub has_response: bool,
    /// A token and an amount.
    pub paid: Option<(u8, u64)>,
}

/// The wallet of agent 3 is account 103, and so on.
pub fn account(number: u8) -> AccountId {
    AccountId::Evm([number; 20])
}

pub fn agent(number: u8) -> AgentId {
    let mut word = [0; 32];
    word[31] = number;
    AgentId::Evm(word)
}

/// Feedback by an account, about an agent.
pub fn open(by: u8, about: u8, index: u64) -> Event {
    Event::OpenFeedback {
        agent: agent(about),
        client: account(by),
        index,
        value: 1,
        decimals: 0,
        tag1: String::new(),
        tag2: String::new(),
        endpoint: String::new(),
        uri: String::new(),
        hash: [0; 32],
    }
}

pub fn deployment(chain: usize) -> Deployment {
    Deployment {
        chain: ChainId::parse(CHAINS[chain]).unwrap(),
        contracts: Contracts::Evm(RegistryAddresses {
            identity: [0xab; 20].into(),
            open_reputation: Some([2; 20].into()),
            authorized_reputation: Some([3; 20].into()),
            validation: Some([4; 20].into()),
        }),
        start: 1,
    }
}

/// The CAIP-10 id of the registry, and the agent's id.
pub fn name(chain: usize, agent: u8) -> String {
    format!("{}:0x{}:{agent}", CHAINS[chain], "ab".repeat(20))
}

/// Knuth's MMIX generator.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }

    fn one_of<T: Copy>(&mut self, of: &[T]) -> T {
        let at = self.below(of.len() as u64);
        of[usize::try_from(at).unwrap()]
    }
}

/// Agent 12 has none.
pub fn all_given(chain: usize) -> Vec<Given> {
    let mut numbers = Numbers(7 + chain as u64);
    let mut all: Vec<Given> = Vec::new();
    for turn in 0..FEEDBACKS {
        let profile = numbers.one_of(&[Profile::Open, Profile::Open, Profile::Authorized]);
        let agent = u8::try_from(numbers.below(u64::from(AGENTS) - 1)).unwrap() + 1;
        let client = numbers.one_of(&CLIENTS);
        let before = all
            .iter()
            .filter(|it| (it.profile, it.agent, it.client) == (profile, agent, client));
        let index = before.count() as u64 + 1;
        let is_score = profile == Profile::Authorized;
        let decimals = if is_score {
            0
        } else {
            numbers.one_of(&[0, 0, 1, 2])
        };
        let value = i128::from(numbers.below(100));
        let value = if is_score { value } else { value - 20 };
        let is_paid = is_score && numbers.below(3) == 0;
        let block = turn + u64::from(AGENTS) + 1;
        all.push(Given {
            chain,
            profile,
            agent,
            client,
            index,
            value,
            decimals,
            tag1: numbers.one_of(&TAGS),
            tag2: numbers.one_of(&TAGS),
            at: time(chain, block),
            block,
            is_revoked: numbers.below(6) == 0,
            has_response: numbers.below(5) == 0,
            paid: is_paid.then(|| (numbers.one_of(&[200, 201]), numbers.below(1 << 40))),
        });
    }
    all
}

/// When a block was; the chains' blocks lie between each other's.
pub fn time(chain: usize, block: u64) -> i64 {
    1_700_000_000 + block.cast_signed() * 10 + i64::try_from(chain).unwrap() * 5
}

fn word(tag: &str) -> [u8; 32] {
    let mut word = [0; 32];
    word[..tag.len()].copy_from_slice(tag.as_bytes());
    word
}

fn events_of(it: &Given) -> Vec<Event> {
    let (profile, agent, client, index) =
        (it.profile, agent(it.agent), account(it.client), it.index);
    let (uri, hash) = (String::new(), [7; 32]);
    let mut events = vec![match profile {
        Profile::Open => Event::OpenFeedback {
            agent,
            client,
            index,
            value: it.value,
            decimals: it.decimals,
            tag1: it.tag1.to_owned(),
            tag2: it.tag2.to_owned(),
            endpoint: "https://agent.example".to_owned(),
            uri,
            hash,
        },
        Profile::Authorized => Event::AuthorizedFeedback {
            agent,
            client,
            index,
            score: u8::try_from(it.value).unwrap(),
            tag1: word(it.tag1),
            tag2: word(it.tag2),
            uri,
            hash,
            authorized_by: None,
        },
    }];
    events.extend(it.paid.map(|(token, amount)| Event::PaymentProven {
        agent,
        client,
        index,
        payee: account(9),
        token: account(token),
        amount,
        task_ref_hash: [1; 32],
        paid_at: 1,
        expiry: 2,
        facilitator: account(8),
        signature: [3; 64],
    }));
    events.extend(it.has_response.then(|| Event::ResponseAppended {
        profile,
        agent,
        client,
        index,
        responder: account(9),
        uri: "ipfs://response".to_owned(),
        hash: [8; 32],
    }));
    events.extend(it.is_revoked.then_some(Event::FeedbackRevoked {
        profile,
        agent,
        client,
        index,
    }));
    events
}

/// Each agent in a block of its own, then each feedback.
pub fn blocks(chain: usize) -> Vec<(u64, Vec<Event>)> {
    let registered = (1..=AGENTS).map(|number| {
        let event = Event::AgentRegistered {
            agent: agent(number),
            owner: account(100 + number),
            uri: format!("ipfs://agent-{number}"),
        };
        (u64::from(number), vec![event])
    });
    let given = all_given(chain);
    let given = given.iter().map(|it| (it.block, events_of(it)));
    registered.chain(given).collect()
}

/// A batch of one block.
pub fn batch(chain: usize, number: u64, events: Vec<Event>) -> Batch {
    let header = Header {
        number,
        hash: [1; 32],
        parent: [0; 32],
        time: time(chain, number),
    };
    let events = (0..).zip(events).map(|(log, event)| IndexedEvent {
        place: Place::new(number, 0, Position::Evm { log }),
        registry: account(2),
        transaction: TransactionId::Evm([6; 32]),
        time: time(chain, number),
        event,
    });
    Batch {
        through: header,
        parent: None,
        headers: vec![header],
        events: events.collect(),
        undecoded: vec![],
        suspects: Vec::new(),
    }
}

/// Indexes both chains.
pub fn fill<E: Engine>(store: &mut Store<E>) -> [DeploymentId; 2] {
    [0, 1].map(|chain| {
        let id = store.claim(&deployment(chain)).unwrap();
        for (number, events) in blocks(chain) {
            store
                .commit(id, &batch(chain, number, events), None, 64)
                .unwrap();
        }
        assert_eq!(store.rebuild_digest(id).unwrap(), store.digest(id).unwrap()); // R45
        id
    })
}
