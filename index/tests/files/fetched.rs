use crate::files::{
    host::Host,
    world::{agent, commit, deployment, header, registered, sound},
};
use crate::worlds::database::{database, fresh};
use concord_chain::{
    Blocking,
    fetch::{FetchOptions, Fetcher},
};
use concord_index::{
    StoreError,
    evidence::{Worker, WorkerOptions},
    query::{AgentFilter, AgentOrder, AgentQuery, FileFilter, Service, TextField},
    store::{Database, DeploymentId, Dialect, Engine, Numbered, Store, Value},
    table::{FileState, FileUse, Registration},
};
use concord_registry::{Event, event::AccountId};
use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

const OWNER: AccountId = AccountId::Evm([0x11; 20]);
const REGISTRY: &str = "eip155:31337:0xabababababababababababababababababababab";

struct Setup {
    worker: Worker<Database>,
    id: DeploymentId,
    blocking: Blocking,
}

impl Setup {
    fn new(allow_private: bool) -> Self {
        Self::with(allow_private, WorkerOptions::default())
    }

    fn with(allow_private: bool, worker: WorkerOptions) -> Self {
        let options = FetchOptions {
            allow_http: true,
            allow_private,
            ..FetchOptions::default()
        };
        Self::of(database(), options, worker)
    }

    fn of(database: Database, options: FetchOptions, worker: WorkerOptions) -> Self {
        let mut store = Store::open(database).unwrap();
        let id = store
            .claim(&deployment("eip155:31337", [0xab; 20]))
            .unwrap();
        let fetcher = Fetcher::new(options).unwrap();
        Self {
            worker: Worker::new(store, id, fetcher, worker),
            id,
            blocking: Blocking::new().unwrap(),
        }
    }

    fn store(&mut self) -> &mut Store<Database> {
        self.worker.store()
    }

    fn commit(&mut self, number: u64, events: Vec<Event>) {
        let id = self.id;
        commit(self.store(), id, number, events);
    }

    /// How many files were tried.
    fn step(&mut self, now: i64) -> usize {
        let tried = self.blocking.wait(self.worker.step(now)).unwrap();
        let id = self.id;
        sound(self.store(), id);
        tried
    }

    fn registration(&mut self, number: u64) -> Registration {
        let id = self.id;
        let found = self.store().registration(id, agent(number)).unwrap();
        found.unwrap()
    }

    /// When its file was asked for, when that was answered, and why it was not.
    fn fetching(&mut self, number: u64) -> (Option<i64>, Option<i64>, Option<String>) {
        let (id, row) = (self.id, self.registration(number));
        let found = (self.store()).with_fetchings(id, vec![Some(row)], |it| it.file);
        let (_, fetching) = found.unwrap().remove(0).unwrap();
        (fetching.checked_at, fetching.fetched_at, fetching.error)
    }

    fn found(&mut self, file: FileFilter) -> Vec<String> {
        let filter = AgentFilter {
            file,
            ..AgentFilter::default()
        };
        let query = AgentQuery {
            deployments: vec![(self.id, filter)],
            order: AgentOrder::Created,
            is_descending: false,
            after: vec![],
            limit: 50,
        };
        let page = self.store().search_agents(&query).unwrap();
        page.rows.iter().map(|it| it.agent.to_string()).collect()
    }
}

fn file(name: &str, active: bool, service: &str, id: u64) -> String {
    format!(
        r#"{{"type":"https://eips.ethereum.org/EIPS/eip-8004#registration-v1","name":"{name}",
        "description":"100% tested","active":{active},"x402Support":false,
        "services":[{{"name":"{service}","endpoint":"https://{name}.example/{service}"}}],
        "registrations":[{{"agentId":{id},"agentRegistry":"{REGISTRY}"}}]}}"#
    )
}

#[test]
fn registration_files_are_fetched_read_and_searched() {
    let host = Host::start();
    let mut setup = Setup::new(true);
    let hosted = host.put("/1", &file("Alice", true, "MCP", 1));
    let inline = file("bob_b", false, "A2A", 99);
    let malformed = host.put("/3", "{\"name\": 7}");
    let events = [&*hosted, &inline, &malformed, "ftp://x.example/4", ""];
    let events = (1..)
        .zip(events)
        .map(|(it, uri)| registered(it, OWNER, uri));
    setup.commit(1, events.collect());
    assert_eq!(setup.registration(1).state, FileUse::Waiting);
    let bob = setup.registration(2);
    assert_eq!((bob.state, bob.is_proven), (FileUse::Read, true));
    assert!(!bob.claims); // it lists agent 99
    assert_eq!(setup.step(1_000), 3);
    assert_eq!(setup.step(1_000), 0);
    let alice = setup.registration(1);
    assert_eq!(alice.name.as_deref(), Some("Alice"));
    assert_eq!(alice.mcp.as_deref(), Some("https://Alice.example/MCP"));
    assert!(alice.claims && !alice.is_proven); // its host could change it
    let reason = |it: Registration| (it.state, it.reason.unwrap_or_default());
    let (state, why) = reason(setup.registration(3));
    assert_eq!(state, FileUse::Unreadable);
    assert!(why.contains("$.name"), "{why}");
    let (state, why) = reason(setup.registration(4));
    assert_eq!(state, FileUse::Unavailable);
    assert!(why.contains("ftp"), "{why}");
    let id = setup.id;
    assert_eq!(setup.store().registration(id, agent(5)).unwrap(), None);

    let none = FileFilter::default;
    let mut cases = vec![(none(), vec!["1", "2", "3", "4", "5"])];
    let mut case = |filter, expected: &[&'static str]| cases.push((filter, expected.to_vec()));
    case(
        FileFilter {
            active: Some(true),
            ..none()
        },
        &["1"],
    );
    case(
        FileFilter {
            active: Some(false),
            ..none()
        },
        &["2"],
    );
    case(
        FileFilter {
            x402: Some(false),
            ..none()
        },
        &["1", "2"],
    );
    case(
        FileFilter {
            is_read: Some(false),
            ..none()
        },
        &["3", "4", "5"],
    );
    let services = vec![(Service::Mcp, true), (Service::A2a, false)];
    case(FileFilter { services, ..none() }, &["1"]);
    let services = vec![(Service::Mcp, false)];
    case(FileFilter { services, ..none() }, &["2", "3", "4", "5"]);
    let contains = vec![(TextField::Name, "ALI".to_owned())];
    case(FileFilter { contains, ..none() }, &["1"]);
    // These are LIKE's own characters.
    let contains = vec![(TextField::Name, "_".to_owned())];
    case(FileFilter { contains, ..none() }, &["2"]);
    case(
        FileFilter {
            keyword: Some("0% T".to_owned()),
            ..none()
        },
        &["1", "2"],
    );
    case(
        FileFilter {
            keyword: Some("!".to_owned()),
            ..none()
        },
        &[],
    );
    for (filter, expected) in cases {
        assert_eq!(setup.found(filter.clone()), expected, "{filter:?}");
    }
}

#[test]
fn what_may_pass_is_tried_again_and_what_was_read_stays() {
    const DAY: i64 = 24 * 3_600;
    let host = Host::start();
    let mut setup = Setup::new(true);
    let url = host.url("/1");
    setup.commit(1, vec![registered(1, OWNER, &url)]);
    // Pauses double.
    for (now, tried) in [(0, 1), (59, 0), (60, 1), (179, 0), (180, 1)] {
        assert_eq!(setup.step(now), tried, "{now}");
    }
    let waiting = setup.registration(1);
    let (checked, fetched, _) = setup.fetching(1);
    assert_eq!((checked, fetched), (Some(180), None));
    assert_eq!(waiting.state, FileUse::Unavailable);
    assert!(waiting.reason.unwrap().contains("503"));
    host.put("/1", &file("old", true, "web", 1));
    assert_eq!(setup.step(1_000), 1);
    assert_eq!(setup.registration(1).name.as_deref(), Some("old"));
    // A day later it is asked for again.
    assert_eq!(setup.step(1_000 + DAY - 1), 0);
    assert_eq!(setup.fetching(1), (Some(1_000), Some(1_000), None));
    host.remove("/1");
    assert_eq!(setup.step(1_000 + DAY), 1);
    assert_eq!(setup.registration(1).name.as_deref(), Some("old"));
    let (checked, fetched, error) = setup.fetching(1);
    assert_eq!((checked, fetched), (Some(1_000 + DAY), Some(1_000)));
    assert!(error.unwrap().contains("503"));
    host.put("/1", &file("new", true, "web", 1));
    assert_eq!(setup.step(1_000 + 2 * DAY), 1);
    assert_eq!(setup.registration(1).name.as_deref(), Some("new"));
}

/// IDX-18: an event can spell a host in many ways, and name another one that redirects to it.
#[test]
fn a_host_is_asked_so_often_in_an_hour_however_it_is_named() {
    const HOUR: i64 = 3_600;
    let host = Host::start();
    let mut setup = Setup::with(
        true,
        WorkerOptions {
            per_host: 2,
            ..WorkerOptions::default()
        },
    );
    for path in ["/1", "/2", "/3", "/4", "/5"] {
        host.put(path, &file("victim", true, "web", 1));
    }
    let to = host.url("/5");
    let named = |from: &str, to: &str| host.url("").replacen(from, to, 1);
    let uris = [
        format!("{}/1", named("http://", "http:/")),
        format!("{}\\2", named("http://", "http:\\\\")),
        format!("{}/3", named("127.0.0.1", "%31%32%37.1")),
        format!("{}/4", named("127.0.0.1", "0x7f000001")),
        host.redirect("/5-elsewhere", &to)
            .replacen("127.0.0.1", "localhost", 1),
    ];
    let registered = (1..)
        .zip(&uris)
        .map(|(number, uri)| registered(number, OWNER, uri));
    setup.commit(1, registered.collect());
    let id = setup.id;
    for (now, fetched) in [(0, 2), (HOUR - 1, 2), (HOUR, 4), (2 * HOUR, 5)] {
        setup.step(now);
        let counts = setup.store().file_counts(id).unwrap();
        let all = [
            (FileState::Wanted, 5 - fetched),
            (FileState::Fetched, fetched),
        ];
        let expected = all.into_iter().filter(|(_, count)| *count > 0);
        assert_eq!(counts, expected.collect::<Vec<_>>(), "{now}");
    }
}

/// A database that counts how often a registration is written, in all and in a transaction at most, and
/// that is busy once so many were.
struct Counting {
    database: Database,
    written: Arc<AtomicUsize>,
    at_once: Arc<AtomicUsize>,
    busy_at: Arc<AtomicUsize>,
    in_this: usize,
}

impl Counting {
    fn new() -> Self {
        Self {
            database: database(),
            written: Arc::default(),
            at_once: Arc::default(),
            busy_at: Arc::new(AtomicUsize::new(usize::MAX)),
            in_this: 0,
        }
    }
}

impl Engine for Counting {
    fn dialect(&self) -> &'static Dialect {
        self.database.dialect()
    }

    fn execute(&mut self, sql: &str, parameters: &[Value]) -> Result<(), StoreError> {
        if sql.contains(" registration ") {
            let written = self.written.fetch_add(1, Ordering::SeqCst) + 1;
            self.in_this += 1;
            self.at_once.fetch_max(self.in_this, Ordering::SeqCst);
            if written == self.busy_at.load(Ordering::SeqCst) {
                return Err(StoreError::Busy("another connection writes".to_owned()));
            }
        }
        self.database.execute(sql, parameters)
    }

    fn query(
        &mut self,
        sql: &str,
        parameters: &[Value],
        each: &mut dyn FnMut(&[Value]) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        self.database.query(sql, parameters, each)
    }

    fn query_each(
        &mut self,
        sql: &str,
        parameters: &[Vec<Value>],
        each: &mut Numbered<'_>,
    ) -> Result<(), StoreError> {
        self.database.query_each(sql, parameters, each)
    }

    fn script(&mut self, sql: &str) -> Result<(), StoreError> {
        self.in_this = 0;
        self.database.script(sql)
    }

    fn claim(&mut self, name: &str) -> Result<(), StoreError> {
        self.database.claim(name)
    }

    fn release(&mut self) -> Result<(), StoreError> {
        self.database.release()
    }
}

fn http() -> Fetcher {
    let fetcher = Fetcher::new(FetchOptions {
        allow_http: true,
        allow_private: true,
        ..FetchOptions::default()
    });
    fetcher.unwrap()
}

/// The indexer waits for the worker's transactions: they are short, however many agents share a file.
#[test]
fn a_file_of_many_agents_is_derived_in_small_transactions_and_completed_after_a_failure() {
    let host = Host::start();
    let engine = Counting::new();
    let (written, at_once) = (Arc::clone(&engine.written), Arc::clone(&engine.at_once));
    let busy_at = Arc::clone(&engine.busy_at);
    let mut store = Store::open(engine).unwrap();
    let id = store
        .claim(&deployment("eip155:31337", [0xab; 20]))
        .unwrap();
    let url = host.put("/1", &file("shared", true, "web", 1));
    let agents = (1..=600).map(|it| registered(it, OWNER, &url));
    commit(&mut store, id, 1, agents.collect());
    let begun = written.load(Ordering::SeqCst);
    at_once.store(0, Ordering::SeqCst);
    busy_at.store(begun + 300, Ordering::SeqCst);
    let mut worker = Worker::new(store, id, http(), WorkerOptions::default());
    let blocking = Blocking::new().unwrap();
    let error = blocking.wait(worker.step(0)).unwrap_err();
    assert!(error.is_passing(), "{error}");
    let rows = (1..=600).map(|it| worker.store().registration(id, agent(it)).unwrap().unwrap());
    assert_eq!(rows.filter(|it| it.name.is_some()).count(), 256); // the second transaction failed
    assert_eq!(blocking.wait(worker.step(1)).unwrap(), 0); // it is not fetched again
    let most = at_once.load(Ordering::SeqCst);
    assert!(most <= 256, "{most}");
    sound(worker.store(), id);
}

#[test]
fn a_text_that_is_very_long_is_not_kept_with_each_agent() {
    let host = Host::start();
    let mut setup = Setup::new(true);
    let long = "x".repeat((12 << 10) + 1);
    let url = host.put("/1", &file("Alice", true, &long, 1));
    let inline = file(&long, true, "web", 2);
    let events = vec![registered(1, OWNER, &url), registered(2, OWNER, &inline)];
    setup.commit(1, events);
    assert_eq!(setup.step(0), 1);
    assert_eq!(setup.registration(1).name.as_deref(), Some("Alice"));
    let second = setup.registration(2);
    assert_eq!(
        (second.state, second.name, second.web),
        (FileUse::Read, None, None)
    );
}

/// Many agents registered with one file must not make each look at it a long transaction.
#[test]
fn a_file_that_says_what_it_said_before_is_derived_from_once() {
    const DAY: i64 = 24 * 3_600;
    let host = Host::start();
    let engine = Counting::new();
    let written = Arc::clone(&engine.written);
    let mut store = Store::open(engine).unwrap();
    let id = store
        .claim(&deployment("eip155:31337", [0xab; 20]))
        .unwrap();
    let url = host.put("/1", &file("same", true, "web", 1));
    let agents = (1..=3).map(|it| registered(it, OWNER, &url));
    commit(&mut store, id, 1, agents.collect());
    let mut worker = Worker::new(store, id, http(), WorkerOptions::default());
    let blocking = Blocking::new().unwrap();
    let mut written_at = |now| {
        let before = written.load(Ordering::SeqCst);
        assert_eq!(blocking.wait(worker.step(now)).unwrap(), 1, "{now}");
        written.load(Ordering::SeqCst) - before
    };
    assert_eq!(written_at(0), 3);
    assert_eq!(written_at(DAY), 0);
    host.put("/1", &file("other", true, "web", 1));
    assert_eq!(written_at(2 * DAY), 3);
    host.remove("/1"); // what was read stays
    assert_eq!(written_at(3 * DAY), 0);
}

#[test]
fn a_reorganisation_takes_back_what_was_derived_and_keeps_the_file() {
    let host = Host::start();
    let mut setup = Setup::new(true);
    let (first, second) = (
        host.put("/1", &file("first", true, "web", 1)),
        host.put("/2", &file("second", true, "web", 1)),
    );
    let moved = |uri: &str| Event::AgentUriSet {
        agent: agent(1),
        by: OWNER,
        uri: uri.to_owned(),
    };
    setup.commit(1, vec![registered(1, OWNER, &first)]);
    setup.commit(2, vec![moved(&second)]);
    assert_eq!(setup.step(0), 1); // nothing refers to the first file any more
    assert_eq!(setup.registration(1).name.as_deref(), Some("second"));
    let id = setup.id;
    setup.store().roll_back(id, &header(1), 5).unwrap();
    sound(setup.store(), id);
    assert_eq!(setup.registration(1).state, FileUse::Waiting);
    assert_eq!(setup.step(10), 1);
    assert_eq!(setup.registration(1).name.as_deref(), Some("first"));
    setup.commit(2, vec![moved(&second)]);
    assert_eq!(setup.registration(1).name.as_deref(), Some("second")); // it was kept
    setup.store().roll_back(id, &header(1), 6).unwrap();
    setup.commit(2, vec![moved(&second), moved("")]);
    assert_eq!(setup.store().registration(id, agent(1)).unwrap(), None);
}

/// IDX-18: a host that answers badly is tried again as one that does not answer. Only what the URI decides is final.
#[test]
fn what_a_host_decides_is_tried_again_and_what_a_uri_decides_is_not() {
    let host = Host::start();
    let mut setup = Setup::new(true);
    let long = "x".repeat((1 << 20) + 1);
    let secret = host.url("/8").replacen("http://", "http://user:secret@", 1);
    let uris = [
        host.put("/1", &long),
        host.encode("/2", "br", "x"),
        host.encode("/3", "gzip", "x"),
        host.redirect("/4", "/4"), // to itself
        host.redirect("/5", "ftp://elsewhere.example/"),
        "ftp://elsewhere.example/".to_owned(),
        "http://".to_owned(),
        secret,
    ];
    let (by_host, by_uri) = (5, 3);
    let events = (1..).zip(&uris).map(|(it, uri)| registered(it, OWNER, uri));
    setup.commit(1, events.collect());
    let id = setup.id;
    let refused = [(FileState::Refused, by_uri), (FileState::Failing, by_host)];
    for (now, tried) in [
        (0, by_host + by_uri),
        (59, 0),
        (60, by_host),
        (179, 0),
        (180, by_host),
    ] {
        assert_eq!(setup.step(now), usize::try_from(tried).unwrap(), "{now}");
        assert_eq!(setup.store().file_counts(id).unwrap(), refused, "{now}");
    }
    for number in 1..=by_host {
        assert_eq!(setup.registration(number).state, FileUse::Unavailable);
        let name = number.to_string();
        host.put(&format!("/{name}"), &file(&name, true, "web", number));
    }
    assert_eq!(setup.step(1_000), 5);
    for number in 1..=by_host {
        let name = setup.registration(number).name;
        assert_eq!(name, Some(number.to_string()));
    }
    let rest = [(FileState::Fetched, by_host), (FileState::Refused, by_uri)];
    assert_eq!(setup.store().file_counts(id).unwrap(), rest);
    let again = setup.step(i64::MAX - 1);
    assert_eq!(again, 5, "never what was refused");
}

#[test]
fn a_file_in_the_operators_own_network_is_not_fetched() {
    let host = Host::start();
    let mut setup = Setup::new(false);
    let url = host.put("/1", &file("inside", true, "web", 1));
    setup.commit(1, vec![registered(1, OWNER, &url)]);
    assert_eq!(setup.step(0), 1);
    let refused = setup.registration(1);
    assert_eq!(refused.state, FileUse::Unavailable);
    let reason = refused.reason.unwrap();
    assert_eq!(reason, "127.0.0.1 is not at a public address");
    assert_eq!(host.asked(), 0);
}

/// IDX-18: an operator allows more than before.
#[test]
fn what_the_options_refused_is_fetched_once_they_allow_it() {
    let host = Host::start();
    let url = host.put("/1", &file("inside", true, "web", 1));
    let fresh = fresh();
    let setup = |allow_http, allow_private| {
        let options = FetchOptions {
            allow_http,
            allow_private,
            ..FetchOptions::default()
        };
        let database = fresh.location.open().unwrap();
        Setup::of(database, options, WorkerOptions::default())
    };
    let mut closed = setup(false, true);
    closed.commit(1, vec![registered(1, OWNER, &url)]);
    assert_eq!(closed.step(0), 1);
    let reason = closed.registration(1).reason.unwrap();
    assert!(reason.contains("\"http\" is not fetched"), "{reason}");
    drop(closed);
    let mut closed = setup(true, false);
    assert_eq!(closed.step(60), 1);
    let reason = closed.registration(1).reason.unwrap();
    assert!(reason.contains("not at a public address"), "{reason}");
    assert_eq!(host.asked(), 0);
    drop(closed);
    let mut open = setup(true, true);
    assert_eq!(open.step(180), 1);
    assert_eq!(open.registration(1).name.as_deref(), Some("inside"));
}
