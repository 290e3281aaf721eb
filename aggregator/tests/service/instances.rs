//! Several processes on one database of Postgres.
use crate::{
    end_to_end::check_receipt,
    generous::{DAY, aggregator_with, review},
    world::{RECEIPT_SEED, Running, Settings, World, network, pause},
};
use alloy::transports::http::reqwest;
use concord_aggregator::{
    AllowedAgents, Limits,
    store::{LEASE_SECONDS, Location, RowState, Store, StoreError},
};
use concord_canonical::sign::{PreparedKey, ed25519_public_key};
use concord_chain::submission::{SignedTx, TxRecord};
use concord_sql::Engine;
use concord_testkit::chain::hex_key;
use concord_testkit::command::concord;
use concord_testkit::postgres::{Server, create};
use serde_json::{Value, json};
use std::{
    fs,
    io::{BufRead, BufReader},
    path::Path,
    process::{Child, Stdio},
};

pub fn open(location: &Location) -> Store {
    Store::open_at(location, PreparedKey::ed25519(&RECEIPT_SEED)).unwrap()
}

/// The same payments at two processes at once: one feedback each, and one chain of receipts.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r51_two_instances_give_one_feedback_for_each_payment() {
    const PAYMENTS: u64 = 6;
    let server = Server::start();
    let location = create(&server.address(), "template1");
    let world = World::start().await;
    let folder = tempfile::tempdir().unwrap(); // files are named by what they are, so it can be shared
    let mut instances = Vec::new();
    for _ in 0..2 {
        let settings = Settings::default();
        let store = open(&location);
        instances.push(Running::sharing(store, settings, &world, folder.path()).await);
    }
    let mut posts = tokio::task::JoinSet::new();
    for _ in 0..PAYMENTS {
        let good = world.review(&world.pay(1).await);
        let mut other = good.clone();
        other.value = 1;
        for (instance, draft) in [(0, &good), (1, &good), (0, &good), (1, &other)] {
            let url = format!("{}/feedback", instances[instance].origin);
            let (key, body) = (draft.task_ref.clone(), draft.json().to_string());
            posts.spawn(async move {
                let request = reqwest::Client::new().post(url).body(body);
                let answer = request.send().await.unwrap();
                let status = answer.status().as_u16();
                let body = answer.bytes().await.unwrap();
                let body: Value = serde_json::from_slice(&body).unwrap();
                (key, status, body["receipt"].clone())
            });
        }
    }
    let mut answers = posts.join_all().await;
    answers.sort_by_key(|it| it.0.clone());
    for group in answers.chunks(4) {
        let taken: Vec<_> = group.iter().filter(|it| it.1 == 200).collect();
        let refused = group.iter().filter(|it| it.1 == 409).count();
        assert!([1, 3].contains(&taken.len()), "{group:?}");
        assert_eq!(taken.len() + refused, 4, "{group:?}");
        assert!(taken.iter().all(|it| it.2 == taken[0].2), "one receipt");
    }
    let store = &instances[1].store;
    while store
        .page(1, 100)
        .unwrap()
        .iter()
        .any(|it| it.index.is_none())
    {
        pause().await;
    }
    assert_eq!(world.feedbacks().await, PAYMENTS);
    for instance in &instances {
        let page = instance.get("/receipts").await;
        let receipts = page.body["receipts"].as_array().unwrap();
        assert_eq!(receipts.len() as u64, PAYMENTS);
        let mut previous = vec![0; 32];
        for entry in receipts {
            assert_eq!(entry["state"], "final");
            previous = check_receipt(&entry["receipt"], &previous);
        }
    }
    for instance in instances {
        instance.stop().await;
    }
}

/// Each change of a lane checks the epoch of its lease: whoever had the lane before changes nothing.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_holder_of_an_old_lease_changes_nothing() {
    let server = Server::start();
    let location = create(&server.address(), "template1");
    let folder = tempfile::tempdir().unwrap();
    let (first, second) = (open(&location), open(&location));
    let all = aggregator_with(
        first.clone(),
        folder.path(),
        Limits::default(),
        AllowedAgents::new(),
    );
    let body = review(1, 1, 1).json().to_string();
    let row = all.submit(body.as_bytes(), None, DAY).await.unwrap();
    let lane = &row.lane;
    let old = first.lease(lane, DAY).await.unwrap().unwrap();
    assert_eq!(old.epoch, 1);
    assert_eq!(
        second.lease(lane, DAY + LEASE_SECONDS - 1).await.unwrap(),
        None
    );
    assert_eq!(
        first.lease(lane, DAY).await.unwrap(),
        Some(old.clone()),
        "renewed"
    );
    let old = first.under(old);
    let record = |store: &Store| store.record(&row).unwrap();
    let mut stale = record(&old);
    let new = second
        .lease(lane, DAY + LEASE_SECONDS)
        .await
        .unwrap()
        .unwrap();
    assert_eq!(new.epoch, 2);
    let new = second.under(new);

    let lost = |found: &StoreError| {
        matches!(
            found,
            StoreError::LeaseLost {
                held: 1,
                found: 2,
                ..
            }
        )
    };
    for refused in [
        old.set_stored(1).await,
        old.set_entry(1, 1).await,
        old.set_refused(1, "no".to_owned()).await,
        old.postpone(1, "later".to_owned(), DAY, true).await,
        old.set_revoked(1).await,
        old.refuse_revocation(1, "no".to_owned()).await,
        old.postpone_revocation(1, "later".to_owned(), DAY, true)
            .await,
        old.set_responded(2).await,
        old.refuse_response(2, "no".to_owned()).await,
        old.postpone_response(2, "later".to_owned(), DAY, true)
            .await,
    ] {
        let refused = refused.unwrap_err();
        assert!(lost(&refused), "{refused}");
    }
    let signed = SignedTx {
        transaction: "0x01".to_owned(),
        raw: "0x02".to_owned(),
        valid_until: None,
        signed_at: None,
        sent: false,
        failure_cost: None,
    };
    let not_signed = stale.signed(&[("1", signed.clone())]).unwrap_err();
    assert!(not_signed.to_string().contains("lease"), "{not_signed}");
    assert!(stale.finalized(&["1"]).is_err());
    let seen = second.get(1).unwrap().unwrap();
    assert_eq!((seen.state, seen.attempts), (RowState::Accepted, 0));
    assert!(record(&second).transactions("1").is_empty());

    for (is_reverted, reverts) in [(true, 1), (true, 2), (false, 0)] {
        let later = "later".to_owned();
        new.postpone(1, later, DAY, is_reverted).await.unwrap();
        assert_eq!(first.get(1).unwrap().unwrap().reverts, reverts);
    }
    new.set_stored(1).await.unwrap();
    record(&new).signed(&[("1", signed)]).unwrap();
    assert_eq!(first.get(1).unwrap().unwrap().state, RowState::Signed);
    assert_eq!(
        first.lease(lane, DAY + LEASE_SECONDS + 1).await.unwrap(),
        None
    );
    second
        .release(&second.lease(lane, DAY).await.unwrap().unwrap())
        .await
        .unwrap();
    let third = first.lease(lane, DAY).await.unwrap().unwrap();
    assert_eq!(third.epoch, 3, "what is given back is free at once");
}

/// A database's address, as a configuration has it.
pub fn address_of(server: &Server, location: &Location) -> String {
    let Location::Server(config) = location else {
        panic!("no server");
    };
    format!("{}/{}", server.address(), config.get_dbname().unwrap())
}

/// A process of the aggregator on the server's database.
pub struct Process {
    pub child: Child,
    pub origin: String,
}

impl Process {
    fn start(world: &World, store: &str, folder: &Path) -> Self {
        Self::start_at(&world.chain.url, world, store, folder)
    }

    /// `rpc`: its way to the node.
    pub fn start_at(rpc: &str, world: &World, store: &str, folder: &Path) -> Self {
        let keypair = [RECEIPT_SEED, ed25519_public_key(&RECEIPT_SEED)].concat();
        fs::write(folder.join("receipts.json"), json!(keypair).to_string()).unwrap();
        let config = json!({
            "listen": "127.0.0.1:0",
            "store": store,
            "files": "files",
            "receiptKey": "receipts.json",
            "chains": {
                network(): {
                    "rpc": rpc,
                    "assets": [world.chain.token.to_string()],
                    "evm": {
                        "identity": world.chain.registry.to_string(),
                        "reputation": world.open.to_string(),
                        "confirmations": "1",
                    },
                },
            },
        });
        fs::write(folder.join("aggregator.json"), config.to_string()).unwrap();
        let mut child = concord(&["aggregator"])
            .args(["run", "--config", "aggregator.json"])
            .env("CONCORD_EVM_PRIVATE_KEY", hex_key(&world.chain.facilitator))
            .current_dir(folder)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut line = String::new();
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        stdout.read_line(&mut line).unwrap();
        let origin = format!("http://{}", line.trim());
        Self { child, origin }
    }

    pub async fn state(&self, n: u64) -> String {
        let url = format!("{}/submissions/{n}", self.origin);
        let answer = reqwest::Client::new().get(url).send().await.unwrap();
        let body = answer.bytes().await.unwrap();
        let body: Value = serde_json::from_slice(&body).unwrap();
        body["state"].as_str().unwrap_or_default().to_owned()
    }

    pub async fn reach(&self, n: u64, state: &str) {
        while self.state(n).await != state {
            pause().await;
        }
    }

    /// Without waiting for the answer.
    pub fn post(&self, body: String) {
        let url = format!("{}/feedback", self.origin);
        tokio::spawn(async move {
            let request = reqwest::Client::new().post(url).body(body);
            let _ = request.send().await; // the process may be killed meanwhile
        });
    }
}

/// A test that fails leaves no process behind.
impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill(); // it may have ended
        let _ = self.child.wait();
    }
}

/// SIGKILL while its transaction is sent and not mined: another process, which was there all the time, goes on.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_killed_instance_is_replaced_by_another() {
    let server = Server::start();
    let location = create(&server.address(), "template1");
    let store = address_of(&server, &location);
    let world = World::start().await;
    let folders = [(); 2].map(|()| tempfile::tempdir().unwrap());
    let [mut first, mut second] =
        [0, 1].map(|it: usize| Process::start(&world, &store, folders[it].path()));
    let drafts = [
        world.review(&world.pay(1).await),
        world.review(&world.pay(1).await),
    ];
    world.stop_mining().await;
    first.post(drafts[0].json().to_string());
    second.reach(1, "sent").await;
    second.post(drafts[1].json().to_string());
    second.reach(2, "accepted").await;
    first.child.kill().unwrap(); // SIGKILL
    first.child.wait().unwrap();
    world.mine_again().await;
    for n in [1, 2] {
        second.reach(n, "final").await;
    }
    assert_eq!(world.feedbacks().await, 2, "one each");
    let watching = open(&location);
    let row = watching.get(1).unwrap().unwrap();
    let signed = watching.record(&row).unwrap();
    assert_eq!(signed.transactions("1").len(), 1, "signed once");
    second.child.kill().unwrap();
    second.child.wait().unwrap();
}

/// The server refuses changes, as a standby does, and ends connections: nothing is accepted that is not on disk, and
/// the service goes on by itself.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_database_that_is_read_only_for_a_while_loses_nothing() {
    let server = Server::start();
    let location = create(&server.address(), "template1");
    let admin: Location = format!("{}/postgres", server.address()).parse().unwrap();
    let mut admin = admin.open().unwrap();
    let world = World::start().await;
    let folder = tempfile::tempdir().unwrap();
    let store = open(&location);
    let running = Running::sharing(store, Settings::default(), &world, folder.path()).await;
    let first = world.review(&world.pay(1).await);
    assert_eq!(running.submit(&first).await.status, 200);

    let mut set = |value: &str| {
        admin
            .script(&format!(
                "ALTER SYSTEM SET default_transaction_read_only = {value}"
            ))
            .unwrap();
        admin.script("SELECT pg_reload_conf()").unwrap();
        let others = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity \
                      WHERE datname LIKE 'test_%' AND pid <> pg_backend_pid()";
        admin.script(others).unwrap();
    };
    set("on");
    let second = world.review(&world.pay(1).await);
    let answer = running.submit(&second).await;
    let found = (answer.status, &answer.body["class"]);
    assert_eq!(found, (503, &json!("StoreUnavailable")), "{}", answer.body);
    assert_eq!(
        running.get("/submissions/1").await.status,
        200,
        "it is read"
    );
    assert_eq!(running.get("/submissions/2").await.status, 404);
    set("off");
    let answer = loop {
        let answer = running.submit(&second).await;
        if answer.status != 503 {
            break answer;
        }
        pause().await;
    };
    assert_eq!(answer.status, 200, "{}", answer.body);
    assert_eq!(answer.body["receipt"]["n"], 2);
    assert_eq!(world.feedbacks().await, 2);
    running.stop().await;
}
