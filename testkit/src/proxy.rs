//! A JSON-RPC node, between which and its client a transaction can be held.
use alloy::transports::http::reqwest;
use axum::{Router, body::Bytes, extract::State, http::header::CONTENT_TYPE};
use serde_json::{Value, json};
use std::{
    future::pending,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
};
use tokio::sync::Notify;

/// What happens to a transaction that is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hold {
    Nothing,
    /// The node never gets it.
    Before,
    /// The node has it, and its answer never leaves.
    After,
}

struct Link {
    node: String,
    client: reqwest::Client,
    hold: Mutex<Hold>,
    held: Arc<Notify>,
    requests: AtomicUsize,
    runs_no_creation_code: AtomicBool,
}

pub struct Proxy {
    pub url: String,
    /// A transaction is held.
    pub held: Arc<Notify>,
    link: Arc<Link>,
}

fn is_sending(request: &[u8]) -> bool {
    let text = String::from_utf8_lossy(request);
    text.contains("\"eth_sendRawTransaction\"") || text.contains("\"sendTransaction\"")
}

/// The refusal of a call that has code and no address.
fn refusal_of_creation(request: &[u8]) -> Option<Bytes> {
    let request: Value = serde_json::from_slice(request).unwrap();
    let is_creation = request["method"] == "eth_call" && request["params"][0]["to"].is_null();
    is_creation.then(|| {
        let error = json!({ "code": -32602, "message": "to is missing" });
        let answer = json!({ "jsonrpc": "2.0", "id": request["id"], "error": error });
        answer.to_string().into()
    })
}

async fn pass(
    State(link): State<Arc<Link>>,
    request: Bytes,
) -> ([(http::HeaderName, &'static str); 1], Bytes) {
    link.requests.fetch_add(1, Ordering::SeqCst);
    let hold = if is_sending(&request) {
        *link.hold.lock().unwrap()
    } else {
        Hold::Nothing
    };
    if hold == Hold::Before {
        link.held.notify_one();
        pending::<()>().await;
    }
    let json = [(CONTENT_TYPE, "application/json")];
    if link.runs_no_creation_code.load(Ordering::SeqCst)
        && let Some(refusal) = refusal_of_creation(&request)
    {
        return (json, refusal);
    }
    let sent = link
        .client
        .post(&link.node)
        .header(CONTENT_TYPE, json[0].1)
        .body(request)
        .send();
    let answer = sent.await.unwrap().bytes().await.unwrap();
    if hold == Hold::After {
        link.held.notify_one();
        pending::<()>().await;
    }
    (json, answer)
}

impl Proxy {
    pub async fn start(node: &str) -> Self {
        let held = Arc::new(Notify::new());
        let link = Arc::new(Link {
            node: node.to_owned(),
            client: reqwest::Client::new(),
            hold: Mutex::new(Hold::Nothing),
            held: held.clone(),
            requests: AtomicUsize::new(0),
            runs_no_creation_code: AtomicBool::new(false),
        });
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let router = Router::new().fallback(pass).with_state(link.clone());
        tokio::spawn(async move { axum::serve(listener, router).await });
        Self { url, held, link }
    }

    pub fn set(&self, hold: Hold) {
        *self.link.hold.lock().unwrap() = hold;
    }

    /// From here on, the node refuses calls that have code and no address.
    pub fn run_no_creation_code(&self) {
        self.link
            .runs_no_creation_code
            .store(true, Ordering::SeqCst);
    }

    /// How many HTTP requests the node got; a batch is one.
    pub fn requests(&self) -> usize {
        self.link.requests.load(Ordering::SeqCst)
    }
}
