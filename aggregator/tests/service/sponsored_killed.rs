//! The sponsor's process is killed (SIGKILL) wherever it may be, and the cluster's answers are lost: it pays at most
//! once for each payment.
use crate::{
    solana_payments::MINT,
    sponsored::{
        LAMPORTS_PER_DAY, SPONSOR, address, feedbacks, get, pay, post, registration_file, review,
        sign, start,
    },
    world::RECEIPT_SEED,
};
use alloy::transports::http::reqwest;
use axum::{Router, body::Bytes, extract::State, routing};
use concord_canonical::sign::ed25519_public_key;
use concord_chain::{Signer, Svm};
use concord_registry::svm::Address;
use concord_testkit::cluster::{NETWORK, Solana};
use concord_testkit::command::concord;
use serde_json::{Value, json};
use std::{
    fs,
    future::pending,
    io::{BufRead, BufReader},
    path::Path,
    process::{Child, Stdio},
    sync::{
        Arc,
        atomic::{AtomicU8, Ordering},
    },
    time::Duration,
};
use tokio::net::TcpListener;

/// What happens to transactions on their way to the cluster.
pub const PASS: u8 = 0;
/// They never arrive.
const DROP: u8 = 1;
/// They arrive, and the answer does not.
const DEAF: u8 = 2;

#[derive(Clone)]
pub struct Proxy {
    pub cluster: String,
    pub mode: Arc<AtomicU8>,
    pub file: String,
}

async fn forward(State(proxy): State<Proxy>, body: Bytes) -> Vec<u8> {
    let is_sending = String::from_utf8_lossy(&body).contains("sendTransaction");
    let mode = proxy.mode.load(Ordering::SeqCst);
    if is_sending && mode == DROP {
        return pending().await;
    }
    let request = reqwest::Client::new().post(&proxy.cluster);
    let request = request.header("content-type", "application/json");
    let answer = request.body(body.to_vec()).send().await.unwrap();
    let answer = answer.bytes().await.unwrap().to_vec();
    if is_sending && mode == DEAF {
        pending().await
    } else {
        answer
    }
}

/// The way to the cluster, and the host of the agent's file.
pub async fn serve(proxy: Proxy) -> String {
    let file = |State(proxy): State<Proxy>| async move { proxy.file };
    let routes = Router::new()
        .route("/", routing::post(forward))
        .route("/agent.json", routing::get(file))
        .with_state(proxy);
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let origin = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, routes).await.unwrap() });
    origin
}

fn keypair(folder: &Path, name: &str, seed: [u8; 32]) {
    let bytes = [seed, ed25519_public_key(&seed)].concat();
    fs::write(folder.join(name), json!(bytes).to_string()).unwrap();
}

pub fn configure(solana: &Solana, rpc: &str, folder: &Path, store: &str) {
    keypair(folder, "receipts.json", RECEIPT_SEED);
    keypair(folder, "client.json", [22; 32]);
    keypair(folder, "sponsor.json", SPONSOR);
    let config = json!({
        "listen": "127.0.0.1:0",
        "store": store,
        "files": "files",
        "receiptKey": "receipts.json",
        "fetch": { "allowHttp": true, "allowPrivate": true },
        "chains": {
            NETWORK: {
                "rpc": rpc,
                "assets": [Address::from(MINT).to_string()],
                "solana": {
                    "program": solana.program.id().to_string(),
                    "keypair": "client.json",
                    "sponsored": {
                        "keypair": "sponsor.json",
                        "lamportsPerDay": LAMPORTS_PER_DAY,
                    },
                },
            },
        },
    });
    fs::write(folder.join("aggregator.json"), config.to_string()).unwrap();
}

/// A process of the aggregator.
pub struct Process {
    child: Child,
    pub origin: String,
}

impl Process {
    pub fn start(folder: &Path) -> Self {
        let mut child = concord(&["aggregator"])
            .args(["run", "--config", "aggregator.json"])
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

    pub fn kill(mut self) {
        self.child.kill().unwrap(); // SIGKILL
        self.child.wait().unwrap();
    }

    async fn prepare(&self, payload: &Value) -> Value {
        let (status, body) = post(&format!("{}/sponsored/prepare", self.origin), payload).await;
        assert_eq!(status, 200, "{body}");
        body
    }

    /// Without waiting for the answer.
    async fn submit(&self, prepared: &Value) {
        let signed = sign(&prepared["transaction"], [72; 32]).await;
        let body = json!({ "id": prepared["id"], "transaction": signed });
        let url = format!("{}/sponsored/submit", self.origin);
        tokio::spawn(async move {
            let request = reqwest::Client::new().post(url).body(body.to_string());
            let _ = request.send().await; // the process may be killed meanwhile
        });
    }

    async fn state(&self, id: &str) -> String {
        let (_, body) = get(&format!("{}/sponsored/{id}", self.origin)).await;
        body["state"].as_str().unwrap_or_default().to_owned()
    }

    /// Waits for one of the states; returns the one that came.
    async fn reach(&self, id: &str, states: &[&str]) -> String {
        loop {
            let state = self.state(id).await;
            if states.contains(&&*state) {
                return state;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    /// As a reviewer who does not give up.
    async fn finish(&self, payload: &Value, id: &str) {
        loop {
            match &*self.state(id).await {
                "final" => return,
                "prepared" | "expired" => {
                    let prepared = self.prepare(payload).await;
                    if prepared["status"] == "prepared" {
                        self.submit(&prepared).await;
                        let next = ["signed", "sent", "landed", "final", "expired"];
                        let submitted = self.reach(id, &next);
                        let _ = tokio::time::timeout(Duration::from_secs(5), submitted).await;
                    }
                }
                _ => tokio::time::sleep(Duration::from_millis(20)).await,
            }
        }
    }
}

/// A test that fails leaves no process behind.
impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill(); // it may have ended
        let _ = self.child.wait();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r59_it_is_paid_once_wherever_the_sponsor_is_killed() {
    let solana = start().await;
    let mode = Arc::new(AtomicU8::new(PASS));
    let rpc = serve(Proxy {
        cluster: solana.url.clone(),
        mode: mode.clone(),
        file: registration_file(&solana),
    })
    .await;
    let owner = Signer::<Svm>::address(&solana.owner);
    let uri = format!("{rpc}/agent.json");
    let set_uri = solana.program.set_agent_uri(owner, solana.mint, &uri);
    solana.send(vec![set_uri], &[&solana.owner]).await;
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    configure(&solana, &rpc, folder, "aggregator.sqlite");
    let mut costs = 0;
    // after which state it is killed, and what happens to what it sends
    for (round, (killed, sending)) in (1u64..).zip([
        ("prepared", PASS),
        ("signed", DROP),
        ("signed", DEAF),
        ("sent", PASS),
        ("landed", PASS),
        ("final", PASS),
    ]) {
        let case = format!("{killed}, {sending}");
        let payload = review(&solana, &pay(&solana).await).json();
        let before = solana.cluster.balance(&address(SPONSOR)).await.unwrap();
        let first = Process::start(folder);
        let prepared = first.prepare(&payload).await;
        let id = prepared["id"].as_str().unwrap();
        mode.store(sending, Ordering::SeqCst);
        if killed != "prepared" {
            first.submit(&prepared).await;
            let later = ["signed", "sent", "landed", "final", "expired"];
            let from = later.iter().position(|it| *it == killed).unwrap();
            let reached = first.reach(id, &later[from..]).await;
            assert!(sending == PASS || reached == killed, "{case}: {reached}");
        }
        first.kill();
        mode.store(PASS, Ordering::SeqCst);
        let second = Process::start(folder);
        second.finish(&payload, id).await;
        second.kill();
        assert_eq!(feedbacks(&solana).await, round, "{case}: one feedback");
        let cost = before - solana.cluster.balance(&address(SPONSOR)).await.unwrap();
        assert!(cost > 0, "{case}");
        costs = costs.max(cost);
    }
    let left = solana.cluster.balance(&address(SPONSOR)).await.unwrap();
    // only the first has the rent of the client's index
    assert!(1_000_000_000 - left < 6 * costs, "the others cost less");
}
