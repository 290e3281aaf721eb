//! Nodes that answer something else than they know.
use alloy::transports::http::reqwest;
use axum::{
    Router,
    body::Bytes,
    extract::State,
    http::header::CONTENT_TYPE,
    response::{IntoResponse, Response},
};
use serde_json::{Value, json};
use std::sync::Arc;

/// Replaces a node's answer, which is the third argument; `None` keeps it.
pub type Change = dyn Fn(&str, &Value, &Value) -> Option<Result<Value, Value>> + Send + Sync;

/// A node in front of another one.
pub struct Liar {
    pub url: String,
}

struct Link {
    node: String,
    client: reqwest::Client,
    change: Box<Change>,
}

async fn pass(State(link): State<Arc<Link>>, request: Bytes) -> Response {
    let asked: Value = serde_json::from_slice(&request).unwrap();
    let sent = link
        .client
        .post(&link.node)
        .header(CONTENT_TYPE, "application/json")
        .body(request);
    let answer = sent.send().await.unwrap().bytes().await.unwrap();
    let mut answer: Value = serde_json::from_slice(&answer).unwrap();
    let method = asked["method"].as_str().unwrap_or_default();
    match (link.change)(method, &asked["params"], &answer["result"]) {
        None => (),
        Some(Ok(result)) => answer["result"] = result,
        Some(Err(error)) => {
            answer = json!({ "jsonrpc": "2.0", "id": asked["id"], "error": error });
        }
    }
    let json = [(CONTENT_TYPE, "application/json")];
    (json, answer.to_string()).into_response()
}

impl Liar {
    pub async fn start(
        node: &str,
        change: impl Fn(&str, &Value, &Value) -> Option<Result<Value, Value>> + Send + Sync + 'static,
    ) -> Self {
        let link = Arc::new(Link {
            node: node.to_owned(),
            client: reqwest::Client::new(),
            change: Box::new(change),
        });
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let router = Router::new().fallback(pass).with_state(link);
        tokio::spawn(async move { axum::serve(listener, router).await });
        Self { url }
    }
}
