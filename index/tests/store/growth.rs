//! The chain that growth is measured with is one that registries could have emitted.
#[path = "../../growth/src/chain.rs"]
#[allow(dead_code, reason = "the measurement uses the rest")]
mod chain;

use crate::worlds::database::{database, fresh};
use chain::{Grown, PER_AGENT};
use concord_chain::Blocking;
use concord_index::{
    Indexer, Options, StoreError,
    query::{
        AgentFilter, AgentOrder, AgentQuery, Bounds, FeedbackFilter, FeedbackQuery, FoundAgent,
        ReputationFilter,
    },
    store::{Database, DeploymentId, Dialect, Engine, Location, Sqlite, Store, Value},
};
use concord_registry::event::Profile;
use std::{
    collections::BTreeSet,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
    time::Duration,
};

const FEEDBACKS: u64 = 2_003;

#[test]
fn a_chain_that_grows_lacks_nothing_and_is_the_same_in_one_step() {
    let blocking = Blocking::new().unwrap();
    let fill = |sizes: &[u64]| {
        let store = Store::open(database()).unwrap();
        let options = Options::default();
        let mut indexer =
            Indexer::new(Grown::default(), store, &chain::deployment(), options).unwrap();
        for size in sizes {
            indexer.source().feedbacks = *size;
            blocking.wait(indexer.catch_up(|_| ())).unwrap();
        }
        let id = indexer.deployment();
        let mut store = indexer.store();
        assert!(store.completeness(id).unwrap().is_complete());
        assert_eq!(store.rebuild_digest(id).unwrap(), store.digest(id).unwrap());
        let agents = store.agents(id).unwrap();
        let given: u64 = agents.iter().map(|(_, it)| it.feedback_count).sum();
        assert_eq!(agents.len() as u64, FEEDBACKS.div_ceil(PER_AGENT));
        (given, store.digest(id).unwrap())
    };
    let (given, digest) = fill(&[200, 1_500, FEEDBACKS]);
    assert!(given > FEEDBACKS * 9 / 10, "{given}"); // some are revoked
    assert_eq!(fill(&[FEEDBACKS]), (given, digest));
}

/// IDX-63: a plan that was made while its table was empty took any index that begins with the deployment, and read all of it for
/// each row that is looked up: here 400,000 rows for 2,010.
#[test]
fn a_server_reads_few_rows_for_each_lookup_after_a_batch_that_began_with_nothing() {
    let fresh = fresh();
    let store = Store::open(fresh.location.open().unwrap()).unwrap();
    let options = Options::default();
    let mut indexer = Indexer::new(Grown::default(), store, &chain::deployment(), options).unwrap();
    indexer.source().feedbacks = FEEDBACKS;
    let blocking = Blocking::new().unwrap();
    let id = indexer.deployment();
    let mut reader = Store::open_read_only(fresh.location.open_read_only().unwrap()).unwrap();
    let mut ask_ten_times = |agent| {
        let agent = chain::agent(agent);
        let known = (0..10).filter(|_| {
            let registration = reader.registration(id, agent).unwrap();
            assert_eq!(
                registration.is_some(),
                reader.agent(id, agent).unwrap().is_some()
            );
            registration.is_some()
        });
        known.count()
    };
    assert_eq!(ask_ten_times(1), 0);
    blocking.wait(indexer.catch_up(|_| ())).unwrap();
    let events = indexer.store().event_count(id).unwrap();
    assert!(events > FEEDBACKS, "{events}");
    for agent in 1..=chain::agents(FEEDBACKS) {
        assert_eq!(ask_ten_times(agent), 10, "{agent}");
    }
    drop((indexer, reader));
    if let Location::Server(_) = &fresh.location {
        let mut database = fresh.location.open().unwrap();
        // What a connection did is counted when it has ended.
        let others = "SELECT COUNT(*) FROM pg_stat_activity WHERE datname = current_database() \
            AND backend_type = 'client backend' AND pid <> pg_backend_pid()";
        let mut waits = 0;
        while number(&mut database, others) > 0 {
            waits += 1;
            assert!(waits < 1_000, "a connection is left open");
            thread::sleep(Duration::from_millis(10));
        }
        let lookups = "SELECT SUM(idx_scan)::BIGINT FROM pg_stat_user_indexes";
        assert!(number(&mut database, lookups) > FEEDBACKS as i64);
        let most = "SELECT MAX(idx_tup_read) FROM pg_stat_user_indexes";
        let most = number(&mut database, most);
        assert!(most < 100 * events as i64, "{most} rows of one index");
    }
}

fn number(database: &mut Database, sql: &str) -> i64 {
    let mut found = None;
    let read = database.query(sql, &[], &mut |row| {
        found = Some(row.to_vec());
        Ok(())
    });
    read.unwrap();
    match found.as_deref() {
        Some([Value::Int(number)]) => *number,
        other => panic!("{sql}: {other:?}"),
    }
}

type Plans = Arc<Mutex<BTreeSet<String>>>;

/// SQLite, with the plans of its statements.
struct Explaining {
    engine: Sqlite,
    plans: Plans,
    /// How many statements looked for operators.
    of_operators: Arc<AtomicUsize>,
}

impl Explaining {
    fn explain(&mut self, sql: &str, parameters: &[Value]) {
        let plans = Arc::clone(&self.plans);
        let explained = format!("EXPLAIN QUERY PLAN {sql}");
        // The version of a store that is not made yet cannot be asked for.
        let _ = self.engine.query(&explained, parameters, &mut |row| {
            if let Some(Value::Text(step)) = row.last() {
                plans.lock().unwrap().insert(format!("{step}: {sql}"));
            }
            Ok(())
        });
    }
}

impl Engine for Explaining {
    fn dialect(&self) -> &'static Dialect {
        self.engine.dialect()
    }

    fn execute(&mut self, sql: &str, parameters: &[Value]) -> Result<(), StoreError> {
        self.explain(sql, parameters);
        self.engine.execute(sql, parameters)
    }

    fn query(
        &mut self,
        sql: &str,
        parameters: &[Value],
        each: &mut dyn FnMut(&[Value]) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        let is_of_operators = sql.contains("FROM setting");
        self.of_operators
            .fetch_add(is_of_operators.into(), Ordering::SeqCst);
        self.explain(sql, parameters);
        self.engine.query(sql, parameters, each)
    }

    fn script(&mut self, sql: &str) -> Result<(), StoreError> {
        self.engine.script(sql)
    }

    fn claim(&mut self, name: &str) -> Result<(), StoreError> {
        self.engine.claim(name)
    }

    fn release(&mut self) -> Result<(), StoreError> {
        self.engine.release()
    }
}

/// Everything that is asked of a store while it is indexed and served, but for what reads all of it: `status`, `verify`.
fn ask_everything(store: &mut Store<Explaining>, id: DeploymentId) {
    let listed = || Some(vec![chain::client(1), chain::client(2)]);
    for (reviewers, order) in [
        (None, AgentOrder::Average),
        (None, AgentOrder::Count),
        (listed(), AgentOrder::Average),
    ] {
        let reputation = ReputationFilter {
            profile: Profile::Open,
            reviewers,
            tag: String::new(),
            tag1: "quality".to_owned(),
            tag2: String::new(),
            has_feedback: true,
            min_count: Some(2),
            max_count: None,
            average: Bounds::default(),
        };
        let filter = AgentFilter {
            reputation: Some(reputation),
            ..AgentFilter::default()
        };
        search(store, id, filter, order);
    }
    let owners = AgentFilter {
        owners: vec![chain::account(2, 1)],
        ..AgentFilter::default()
    };
    search(store, id, owners, AgentOrder::Created);
    let operators = AgentFilter {
        operators: vec![chain::account(2, 1)],
        ..AgentFilter::default()
    };
    assert!(found(store, id, operators, AgentOrder::Created, 5).is_empty()); // an owner, whom no other one approved
    let about = (Profile::Open, chain::agent(1));
    for (reviewers, tags) in [
        (None, ("", "")),
        (None, ("quality", "")),
        (listed(), ("", "")),
    ] {
        store.facts(id, about, reviewers.as_deref(), tags).unwrap();
        store.sums(id, about, reviewers.as_deref(), tags).unwrap();
    }
    let agents = FeedbackFilter {
        agents: vec![chain::agent(1)],
        ..FeedbackFilter::default()
    };
    let reviewers = FeedbackFilter {
        reviewers: listed().unwrap(),
        ..FeedbackFilter::default()
    };
    for filter in [agents, reviewers, FeedbackFilter::default()] {
        let query = FeedbackQuery {
            deployments: vec![(id, filter)],
            after: vec![],
            limit: 5,
        };
        assert!(!store.search_feedback(&query).unwrap().rows.is_empty());
    }
    let row = store.agent(id, chain::agent(1)).unwrap().unwrap();
    store.binding(id, chain::agent(1), &row).unwrap();
    assert_eq!(store.unknown_count(id).unwrap(), 0);
}

fn search(store: &mut Store<Explaining>, id: DeploymentId, filter: AgentFilter, order: AgentOrder) {
    assert!(!found(store, id, filter, order, 5).is_empty());
}

fn found(
    store: &mut Store<Explaining>,
    id: DeploymentId,
    filter: AgentFilter,
    order: AgentOrder,
    limit: usize,
) -> Vec<FoundAgent> {
    let query = AgentQuery {
        deployments: vec![(id, filter)],
        order,
        is_descending: true,
        after: vec![],
        limit,
    };
    store.search_agents(&query).unwrap().rows
}

/// What reads all rows of a deployment, or of a profile. Tables of few rows may be read so.
fn reads_everything(plan: &str) -> bool {
    let is_small = ["reorganization", "deployment", "block", "schema_version"]
        .iter()
        .any(|it| {
            plan.starts_with(&format!("SEARCH {it} ")) || plan.starts_with(&format!("SCAN {it}"))
        });
    // Known: a reorganization that takes a setting back folds all of them again (docs/SCALE.md).
    let is_settings = plan.ends_with(": DELETE FROM setting WHERE deployment = $1");
    let all = [
        "PRIMARY KEY (deployment=?):",
        "PRIMARY KEY (deployment=? AND profile=?):",
        "event_by_agent (deployment=?):",
    ];
    !is_small
        && !is_settings
        && (plan.starts_with("SCAN ") || all.iter().any(|it| plan.contains(it)))
}

/// A store with 500 feedbacks about agents whose owners approved operators, and what is counted of it.
fn explaining() -> (Indexer<Grown, Explaining>, Plans, Arc<AtomicUsize>) {
    let (plans, of_operators) = (Arc::default(), Arc::default());
    let engine = Explaining {
        engine: Sqlite::in_memory().unwrap(),
        plans: Arc::clone(&plans),
        of_operators: Arc::clone(&of_operators),
    };
    let blocking = Blocking::new().unwrap();
    let store = Store::open(engine).unwrap();
    let options = Options::default();
    let mut indexer = Indexer::new(Grown::default(), store, &chain::deployment(), options).unwrap();
    let source = indexer.source();
    (source.feedbacks, source.approves) = (500, true);
    blocking.wait(indexer.catch_up(|_| ())).unwrap();
    (indexer, plans, of_operators)
}

#[test]
fn sqlite_looks_rows_up_by_an_index_whatever_is_asked() {
    let (mut indexer, plans, _) = explaining();
    let id = indexer.deployment();
    ask_everything(&mut indexer.store(), id);
    let fork = indexer.store().headers(id).unwrap()[3];
    indexer.store().roll_back(id, &fork, 0).unwrap();
    let plans: BTreeSet<String> = plans.lock().unwrap().clone();
    assert!(
        plans
            .iter()
            .any(|it| it.contains("part_by_client (deployment=? AND profile=? AND client=?"))
    );
    assert!(
        plans
            .iter()
            .any(|it| it.contains("COVERING INDEX total_ranked_by_average"))
    );
    let all: Vec<_> = plans.iter().filter(|it| reads_everything(it)).collect();
    assert_eq!(all, Vec::<&String>::new());
}

/// What an agent has by others, however much, is not read to find what the listed reviewers gave.
#[test]
fn what_listed_reviewers_gave_an_agent_is_looked_up_by_its_key() {
    let (mut indexer, plans, _) = explaining();
    let (id, mut store) = (indexer.deployment(), indexer.store());
    plans.lock().unwrap().clear();
    for profile in [None, Some(Profile::Open)] {
        let filter = FeedbackFilter {
            profile,
            agents: (1..=3).map(chain::agent).collect(),
            reviewers: (1..=9).map(chain::client).collect(),
            ..FeedbackFilter::default()
        };
        let query = FeedbackQuery {
            deployments: vec![(id, filter)],
            after: vec![],
            limit: 5,
        };
        store.search_feedback(&query).unwrap();
    }
    let plans = plans.lock().unwrap();
    let of_feedback = plans.iter().filter(|it| it.starts_with("SEARCH f "));
    let of_feedback: Vec<&String> = of_feedback.collect();
    let by_key = "PRIMARY KEY (deployment=? AND profile=? AND agent=? AND client=?)";
    assert!(!of_feedback.is_empty(), "{plans:?}");
    assert!(
        of_feedback.iter().all(|it| it.contains(by_key)),
        "{of_feedback:?}"
    );
}

/// A statement that looks for operators reads all approvals.
#[test]
fn approvals_are_read_once_for_a_search_and_not_for_each_agent() {
    let (mut indexer, _, of_operators) = explaining();
    let (id, mut store) = (indexer.deployment(), indexer.store());
    let numbers = 1..=chain::agents(500);
    let approved = chain::operator(1);
    let approving: BTreeSet<_> = numbers
        .filter(|it| chain::operator(*it) == approved)
        .map(chain::agent)
        .collect();
    let everyone: Vec<_> = (0..chain::clients(500)).map(chain::client).collect();
    let filter = |has_feedback, reviewers| AgentFilter {
        reputation: Some(ReputationFilter {
            profile: Profile::Open,
            reviewers: Some(reviewers),
            tag: String::new(),
            tag1: String::new(),
            tag2: String::new(),
            has_feedback,
            min_count: None,
            max_count: None,
            average: Bounds::default(),
        }),
        ..AgentFilter::default()
    };
    let few = vec![chain::client(1)];
    // Without feedback, pages double: of 1 + 1 rows, of 4, and so on.
    for (has_feedback, reviewers, order, limit, statements) in [
        (true, everyone.clone(), AgentOrder::Average, 100, 1),
        (true, everyone.clone(), AgentOrder::Created, 100, 1),
        (false, few, AgentOrder::Created, 100, 1),
        (false, everyone, AgentOrder::Created, 1, 5),
    ] {
        let all = filter(has_feedback, reviewers);
        let of_these = AgentFilter {
            operators: vec![approved],
            ..all.clone()
        };
        let ids = |found: Vec<FoundAgent>| found.into_iter().map(|it| it.agent);
        let all = ids(found(&mut store, id, all, order, 100));
        let mut expected: Vec<_> = all.filter(|it| approving.contains(it)).collect();
        expected.truncate(limit);
        of_operators.store(0, Ordering::SeqCst);
        let found: Vec<_> = ids(found(&mut store, id, of_these, order, limit)).collect();
        assert_eq!(found, expected, "{order:?}");
        assert!(limit == 1 || found.len() > 5, "{order:?}: {}", found.len());
        let asked = of_operators.load(Ordering::SeqCst);
        assert!(asked <= statements, "{order:?}, {limit}: {asked}");
    }
}
