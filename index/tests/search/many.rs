//! Reviewers who rated thousands of agents.
use crate::worlds::asked::{Log, Noting};
use crate::worlds::database::database;
use crate::worlds::given::{account, batch, deployment};
use concord_index::{
    query::{AgentFilter, AgentOrder, AgentQuery, Bounds, FoundAgent, ReputationFilter},
    store::{DeploymentId, Store},
};
use concord_registry::{
    Event,
    event::{AccountId, AgentId, Profile},
};
use std::cmp::Ordering;

const AGENTS: u64 = 4_500;
/// Those that the third client rated: the oldest.
const OLDEST: u64 = 2_100;
const OWNERS: u64 = 50;
const BLOCKS: u64 = 30;

/// An agent, and what the clients 1 to 3 gave it.
struct Rated {
    number: u64,
    values: [Option<i128>; 3],
}

impl Rated {
    fn of(number: u64) -> Self {
        let value = i128::from(number * 7_919 % 1_000);
        Self {
            number,
            values: [
                Some(value),
                number.is_multiple_of(3).then_some(value / 2 - 100),
                (number <= OLDEST).then_some(50),
            ],
        }
    }

    fn id(&self) -> AgentId {
        let mut word = [0; 32];
        word[24..].copy_from_slice(&self.number.to_be_bytes());
        AgentId::Evm(word)
    }

    fn owner(&self) -> AccountId {
        account(100 + u8::try_from(self.number % OWNERS).unwrap())
    }

    /// The older ones have the smaller numbers.
    fn created(&self) -> u64 {
        1 + self.number * BLOCKS / (AGENTS + 1)
    }

    /// The last feedback about it is in this block.
    fn updated(&self) -> u64 {
        BLOCKS + 1 + self.number % 7
    }

    fn tag(&self) -> &'static str {
        ["", "starred"][usize::from(self.number.is_multiple_of(2))]
    }

    /// The feedback of some clients with one tag, or with any.
    fn given(&self, clients: &[usize], tag: &str) -> Vec<i128> {
        let is_meant = tag.is_empty() || tag == self.tag();
        let given = clients.iter().filter_map(|client| self.values[client - 1]);
        given.filter(|_| is_meant).collect()
    }

    fn events(&self) -> Vec<Event> {
        let given = (1..).zip(self.values);
        let given = given.filter_map(|(client, value)| {
            Some(Event::OpenFeedback {
                agent: self.id(),
                client: account(client),
                index: 1,
                value: value?,
                decimals: 0,
                tag1: self.tag().to_owned(),
                tag2: String::new(),
                endpoint: String::new(),
                uri: String::new(),
                hash: [0; 32],
            })
        });
        given.collect()
    }
}

fn filled() -> (Store<Noting>, DeploymentId, Log) {
    let (noting, log) = Noting::of(database());
    let mut store = Store::open(noting).unwrap();
    let id = store.claim(&deployment(0)).unwrap();
    let all: Vec<Rated> = (1..=AGENTS).map(Rated::of).collect();
    for block in 1..=BLOCKS + 7 {
        let created = all.iter().filter(|it| it.created() == block);
        let registered = created.map(|it| Event::AgentRegistered {
            agent: it.id(),
            owner: it.owner(),
            uri: String::new(),
        });
        let updated = all.iter().filter(|it| it.updated() == block);
        let given = updated.flat_map(Rated::events);
        let batch = batch(0, block, registered.chain(given).collect());
        store.commit(id, &batch, None, 64).unwrap();
    }
    (store, id, log)
}

/// An agent with the sum and the count of what is asked for.
type Summed = (Rated, i128, i128);

/// A search: whose feedback, with which tag, about agents of which owner.
#[derive(Debug, Clone, Copy)]
struct Asked {
    clients: Option<&'static [usize]>,
    tag: &'static str,
    owner: Option<u8>,
}

impl Asked {
    fn filter(self) -> AgentFilter {
        let listed = |clients: &[usize]| {
            let numbers = clients.iter().map(|it| u8::try_from(*it).unwrap());
            numbers.map(account).collect()
        };
        AgentFilter {
            owners: self.owner.map(account).into_iter().collect(),
            reputation: Some(ReputationFilter {
                profile: Profile::Open,
                reviewers: self.clients.map(listed),
                tag: self.tag.to_owned(),
                tag1: String::new(),
                tag2: String::new(),
                has_feedback: true,
                min_count: None,
                max_count: None,
                average: Bounds::default(),
            }),
            ..AgentFilter::default()
        }
    }

    /// Every agent, its count and its sum, in an order.
    fn expected(self, order: AgentOrder, is_descending: bool) -> Vec<(AgentId, u64)> {
        let clients = self.clients.unwrap_or(&[1, 2, 3]);
        let mut found: Vec<Summed> = Vec::new();
        for it in (1..=AGENTS).map(Rated::of) {
            let given = it.given(clients, self.tag);
            let is_owned = self.owner.is_none_or(|owner| it.owner() == account(owner));
            if !given.is_empty() && is_owned {
                let (sum, count) = (given.iter().sum(), given.len() as i128);
                found.push((it, sum, count));
            }
        }
        let all = |it: &Rated| it.values.iter().flatten().count();
        let by_order = |a: &Summed, b: &Summed| match order {
            AgentOrder::Created => a.0.created().cmp(&b.0.created()),
            AgentOrder::Updated => a.0.updated().cmp(&b.0.updated()),
            AgentOrder::FeedbackCount => all(&a.0).cmp(&all(&b.0)),
            AgentOrder::Average => (a.1 * b.2).cmp(&(b.1 * a.2)),
            AgentOrder::Count => a.2.cmp(&b.2),
        };
        found.sort_by(|a, b| {
            let ordering: Ordering = by_order(a, b).then(a.0.number.cmp(&b.0.number));
            if is_descending {
                ordering.reverse()
            } else {
                ordering
            }
        });
        let found = found.iter();
        found
            .map(|(it, _, count)| (it.id(), u64::try_from(*count).unwrap()))
            .collect()
    }
}

const ORDERS: [AgentOrder; 5] = [
    AgentOrder::Created,
    AgentOrder::Updated,
    AgentOrder::FeedbackCount,
    AgentOrder::Average,
    AgentOrder::Count,
];

#[test]
fn a_page_of_thousands_of_rated_agents_takes_few_statements() {
    let (mut store, id, log) = filled();
    let listed = |clients, owner| Asked {
        clients: Some(clients),
        tag: "",
        owner,
    };
    let everyone = |tag, owner| Asked {
        clients: None,
        tag,
        owner,
    };
    // Each with the most statements of a page. 2,100 agents are looked up by 5, after 6 that met none of them.
    for (asked, most) in [
        (listed(&[1], None), 3),
        (listed(&[1, 2], None), 3),
        (listed(&[3], None), 12),
        (listed(&[1], Some(107)), 3),
        (everyone("starred", None), 6),
        (everyone("starred", Some(108)), 6),
        (everyone("", Some(107)), 1),
    ] {
        for order in ORDERS {
            for is_descending in [true, false] {
                let mut query = AgentQuery {
                    deployments: vec![(id, asked.filter())],
                    order,
                    is_descending,
                    after: vec![],
                    limit: 50,
                };
                let mut found: Vec<FoundAgent> = Vec::new();
                for page in 0..2 {
                    log.begin();
                    let rows = store.search_agents(&query).unwrap();
                    let statements = log.end();
                    let count = statements.len();
                    let at = format!("{asked:?} {order:?} {is_descending} {page}");
                    assert!(count <= most, "{at}: {count}");
                    if asked.owner.is_some() {
                        let reads_ranking = |it: &str| it.contains("total_ranked_by");
                        let first = statements.iter().filter(|it| it.sql.contains("total k"));
                        let plans: Vec<&str> = first.map(|it| it.plan.as_str()).collect();
                        assert!(!plans.iter().any(|it| reads_ranking(it)), "{at}: {plans:?}");
                    }
                    found.extend(rows.rows);
                    query.after = rows.next;
                }
                let found: Vec<_> = (found.iter())
                    .map(|it| (it.agent, it.sums.unwrap().all.count()))
                    .collect();
                let mut expected = asked.expected(order, is_descending);
                expected.truncate(100);
                assert!(found.len() > 80, "{asked:?}: {}", found.len());
                assert_eq!(found, expected, "{asked:?} {order:?} {is_descending}");
            }
        }
    }
}
