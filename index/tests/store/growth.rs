//! The chain that growth is measured with is one that registries could have emitted.
#[path = "../../growth/src/chain.rs"]
#[allow(dead_code, reason = "the measurement uses the rest")]
mod chain;

use crate::database::database;
use chain::{Grown, PER_AGENT};
use concord_chain::Blocking;
use concord_index::{
    Indexer, Options, StoreError,
    query::{
        AgentFilter, AgentOrder, AgentQuery, Bounds, FeedbackFilter, FeedbackQuery, FoundAgent,
        ReputationFilter,
    },
    store::{DeploymentId, Dialect, Engine, Sqlite, Store, Value},
};
use concord_registry::event::Profile;
use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex},
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
        let store = indexer.store();
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

/// SQLite, with the plans of its statements.
struct Explaining {
    engine: Sqlite,
    plans: Arc<Mutex<BTreeSet<String>>>,
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
    assert!(found(store, id, operators, AgentOrder::Created).is_empty()); // no owner has approved any
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
}

fn search(store: &mut Store<Explaining>, id: DeploymentId, filter: AgentFilter, order: AgentOrder) {
    assert!(!found(store, id, filter, order).is_empty());
}

fn found(
    store: &mut Store<Explaining>,
    id: DeploymentId,
    filter: AgentFilter,
    order: AgentOrder,
) -> Vec<FoundAgent> {
    let query = AgentQuery {
        deployments: vec![(id, filter)],
        order,
        is_descending: true,
        after: vec![],
        limit: 5,
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
    let all = [
        "PRIMARY KEY (deployment=?):",
        "PRIMARY KEY (deployment=? AND profile=?):",
        "event_by_agent (deployment=?):",
    ];
    !is_small && (plan.starts_with("SCAN ") || all.iter().any(|it| plan.contains(it)))
}

#[test]
fn sqlite_looks_rows_up_by_an_index_whatever_is_asked() {
    let plans = Arc::default();
    let engine = Explaining {
        engine: Sqlite::in_memory().unwrap(),
        plans: Arc::clone(&plans),
    };
    let blocking = Blocking::new().unwrap();
    let store = Store::open(engine).unwrap();
    let options = Options::default();
    let mut indexer = Indexer::new(Grown::default(), store, &chain::deployment(), options).unwrap();
    indexer.source().feedbacks = 500;
    blocking.wait(indexer.catch_up(|_| ())).unwrap();
    let id = indexer.deployment();
    ask_everything(indexer.store(), id);
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
