//! A process that is stopped (SIGSTOP) for longer than its lease, while another one takes its lane over: when it goes on
//! it sends nothing of what the other one has done.
use crate::{
    instances::{Process, address_of, open},
    world::World,
};
use alloy::{providers::Provider, transports::http::reqwest};
use axum::{Router, body::Bytes, extract::State, routing};
use concord_chain::submission::TxRecord;
use concord_testkit::postgres::{Server, create};
use std::{
    future::pending,
    process::Command,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};
use tokio::{
    net::TcpListener,
    sync::{Mutex, watch},
};

const SEND: &str = "eth_sendRawTransaction";

/// A proxy between one process and its node. It can hold the first request of a kind.
#[derive(Clone)]
struct Line {
    node: String,
    held_kind: Arc<Mutex<Option<&'static str>>>,
    /// Whether a request is held. A transaction that is held never arrives, and is never answered.
    is_holding: Arc<watch::Sender<bool>>,
    /// Transactions that were passed on.
    sent: Arc<AtomicU64>,
}

impl Line {
    async fn to(node: &str) -> (Self, String) {
        let line = Self {
            node: node.to_owned(),
            held_kind: Arc::default(),
            is_holding: Arc::new(watch::channel(false).0),
            sent: Arc::default(),
        };
        let routes = Router::new().route("/", routing::post(pass));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let origin = format!("http://{}", listener.local_addr().unwrap());
        let routes = routes.with_state(line.clone());
        tokio::spawn(async move { axum::serve(listener, routes).await.unwrap() });
        (line, origin)
    }

    async fn hold(&self, kind: &'static str) {
        *self.held_kind.lock().await = Some(kind);
    }

    async fn wait_until_held(&self) {
        let mut is_holding = self.is_holding.subscribe();
        is_holding.wait_for(|it| *it).await.unwrap();
    }

    fn let_go(&self) {
        self.is_holding.send_replace(false);
    }
}

async fn pass(State(line): State<Line>, body: Bytes) -> Vec<u8> {
    let text = String::from_utf8_lossy(&body).into_owned();
    let is_held = {
        let mut kind = line.held_kind.lock().await;
        let is_held = kind.is_some_and(|it| text.contains(it));
        if is_held {
            *kind = None;
        }
        is_held
    };
    if is_held {
        let mut is_holding = line.is_holding.subscribe();
        line.is_holding.send_replace(true);
        is_holding.wait_for(|it| !*it).await.unwrap();
        if text.contains(SEND) {
            return pending().await;
        }
    }
    if text.contains(SEND) {
        line.sent.fetch_add(1, Ordering::SeqCst);
    }
    let request = reqwest::Client::new().post(&line.node);
    let request = request.header("content-type", "application/json");
    let answer = request.body(text).send().await.unwrap();
    answer.bytes().await.unwrap().to_vec()
}

fn signal(process: &Process, name: &str) {
    let id = process.child.id().to_string();
    let sent = Command::new("kill").args([name, &id]).status().unwrap();
    assert!(sent.success());
}

/// Before anything is signed, and between the record of a signature and its way to the node.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r55_a_process_that_was_paused_longer_than_its_lease_sends_nothing() {
    let server = Server::start();
    let location = create(&server.address(), "template1");
    let store = address_of(&server, &location);
    let world = World::start().await;
    let nonce = async || {
        let counted = world.chain.provider.get_transaction_count(world.client());
        counted.await.unwrap()
    };
    let (first_nonce, mut n) = (nonce().await, 0);
    for kind in ["eth_estimateGas", SEND] {
        let folders = [(); 2].map(|()| tempfile::tempdir().unwrap());
        let (line, url) = Line::to(&world.chain.url).await;
        let mut paused = Process::start_at(&url, &world, &store, folders[0].path());
        // it has the lane: no other process runs
        let draft = world.review(&world.pay(1).await);
        n += 1;
        paused.post(draft.json().to_string());
        paused.reach(n, "final").await;
        let before = line.sent.load(Ordering::SeqCst);
        assert_eq!(before, 1, "{kind}");
        let mut other = Process::start_at(&world.chain.url, &world, &store, folders[1].path());

        let draft = world.review(&world.pay(1).await);
        n += 1;
        line.hold(kind).await;
        other.post(draft.json().to_string());
        line.wait_until_held().await;
        signal(&paused, "-STOP");
        line.let_go(); // what comes back waits in its socket
        other.reach(n, "final").await; // after the lease ended
        assert_eq!(world.feedbacks().await, n, "{kind}");
        signal(&paused, "-CONT");

        // it works again: the other one ends, and it takes the lane back
        let draft = world.review(&world.pay(1).await);
        paused.reach(n, "final").await;
        other.child.kill().unwrap();
        other.child.wait().unwrap();
        n += 1;
        paused.post(draft.json().to_string());
        paused.reach(n, "final").await;
        let sent = line.sent.load(Ordering::SeqCst) - before;
        assert_eq!(
            sent, 1,
            "{kind}: what came last, and nothing of what the other one sent"
        );
        assert_eq!(world.feedbacks().await, n, "{kind}: one each");
        let transactions = nonce().await - first_nonce;
        assert_eq!(
            transactions, n,
            "{kind}: no other transaction of the account"
        );
        paused.child.kill().unwrap();
        paused.child.wait().unwrap();
    }
    let watching = open(&location);
    for n in 1..=n {
        let row = watching.get(n).unwrap().unwrap();
        let record = watching.record(&row).unwrap();
        assert_eq!(
            record.transactions(&n.to_string()).len(),
            1,
            "{n}: signed once"
        );
    }
}
