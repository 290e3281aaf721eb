//! What a batch reads from a server is asked for at once (IDX-63): of a row that events change, no query is made alone.
use crate::store::world::{World, deployment};
use concord_chain::Blocking;
use concord_index::{
    Indexer, Options, StoreError,
    fold::fold,
    store::{Dialect, Engine, Numbered, Sqlite, Store, Value},
};
use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex, OnceLock,
        atomic::{AtomicUsize, Ordering},
    },
};

const BLOCKS: u64 = 120;
/// What a fold reads.
const FOLDED: [&str; 6] = ["agent", "client", "feedback", "validation", "part", "total"];

/// How many queries were made, by their table.
type Counts = Arc<Mutex<BTreeMap<&'static str, usize>>>;

/// SQLite, which may be as if it were a server.
struct Watched {
    engine: Sqlite,
    is_distant: bool,
    alone: Counts,
    together: Counts,
    /// The most files that were read at once.
    files: Arc<AtomicUsize>,
}

impl Watched {
    fn new(is_distant: bool) -> Self {
        Self {
            engine: Sqlite::in_memory().unwrap(),
            is_distant,
            alone: Counts::default(),
            together: Counts::default(),
            files: Arc::default(),
        }
    }
}

/// Whole tables, which a digest reads, are not counted.
fn count(counts: &Counts, sql: &str, queries: usize) {
    let is_of = |it: &&&str| sql.contains(&format!(" FROM {it} ")) && !sql.contains(" ORDER BY ");
    if let Some(table) = FOLDED.iter().find(is_of) {
        *counts.lock().unwrap().entry(table).or_default() += queries;
    }
}

impl Engine for Watched {
    fn dialect(&self) -> &'static Dialect {
        static DIALECT: OnceLock<Dialect> = OnceLock::new();
        if !self.is_distant {
            return self.engine.dialect();
        }
        DIALECT.get_or_init(|| Dialect {
            is_distant: true,
            ..*self.engine.dialect()
        })
    }

    fn execute(&mut self, sql: &str, parameters: &[Value]) -> Result<(), StoreError> {
        self.engine.execute(sql, parameters)
    }

    fn query(
        &mut self,
        sql: &str,
        parameters: &[Value],
        each: &mut dyn FnMut(&[Value]) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        count(&self.alone, sql, 1);
        self.engine.query(sql, parameters, each)
    }

    fn query_each(
        &mut self,
        sql: &str,
        parameters: &[Vec<Value>],
        each: &mut Numbered<'_>,
    ) -> Result<(), StoreError> {
        count(&self.together, sql, parameters.len());
        if sql.contains(" bytes") && sql.contains(" FROM file ") {
            self.files.fetch_max(parameters.len(), Ordering::SeqCst);
        }
        self.engine.query_each(sql, parameters, each)
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

fn world() -> World {
    World {
        blocks: BLOCKS,
        at_once: 15,
        fork: u64::MAX,
        name: 1,
    }
}

/// The tables' digest.
fn index(engine: Watched) -> [u8; 32] {
    let store = Store::open(engine).unwrap();
    let mut indexer = Indexer::new(world(), store, &deployment(), Options::default()).unwrap();
    let blocking = Blocking::new().unwrap();
    blocking.wait(indexer.catch_up(|_| ())).unwrap();
    let id = indexer.deployment();
    indexer.store().digest(id).unwrap()
}

#[test]
fn no_row_that_events_change_is_asked_for_alone() {
    let engine = Watched::new(true);
    let (alone, together) = (Arc::clone(&engine.alone), Arc::clone(&engine.together));
    let world = world();
    let events: Vec<_> = (1..=BLOCKS).flat_map(|it| world.events(it)).collect();
    assert_eq!(index(engine), fold(&events).unwrap().digest());
    assert_eq!(*alone.lock().unwrap(), BTreeMap::new());
    let asked: Vec<_> = together.lock().unwrap().keys().copied().collect();
    assert_eq!(asked.len(), FOLDED.len(), "{asked:?}");
}

/// A file has up to 1 MiB.
#[test]
fn files_are_read_together_from_a_server_only() {
    for (is_distant, expected) in [(true, 5), (false, 1)] {
        let engine = Watched::new(is_distant);
        let files = Arc::clone(&engine.files);
        index(engine);
        assert_eq!(files.load(Ordering::SeqCst), expected, "{is_distant}");
    }
}
