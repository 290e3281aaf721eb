//! A JSON-RPC node, between which and its client a transaction can be held.
use alloy::transports::http::reqwest;
use axum::{Router, body::Bytes, extract::State, http::header::CONTENT_TYPE};
use std::{
    future::pending,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
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

async fn pass(
    State(link): State<Arc<Link>>,
    request: Bytes,
) -> ([(http::HeaderName, &'static str); 1], Bytes) {
    link.requests.fetch_add(1, Ordering::SeqCst);
    let hold = match is_sending(&request) {
        true => *link.hold.lock().unwrap(),
        false => Hold::Nothing,
    };
    if hold == Hold::Before {
        link.held.notify_one();
        pending::<()>().await;
    }
    let json = [(CONTENT_TYPE, "application/json")];
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

    /// How many HTTP requests the node got; a batch is one.
    pub fn requests(&self) -> usize {
        self.link.requests.load(Ordering::SeqCst)
    }
}
