//! What buyers ask: a proxy that removes a prefix from the path (R33) and passes requests on to a server.
use alloy::transports::http::reqwest::{self, redirect::Policy};
use axum::{
    Router,
    body::{Body, Bytes},
    extract::State,
    http::{HeaderMap, Method, Uri, header},
    middleware::from_fn_with_state,
    response::{IntoResponse, Response},
};
use concord_testkit::gate::{Gate, pass};
use std::sync::{Arc, OnceLock};

pub const PREFIX: &str = "/shop";

pub struct Entrance {
    pub origin: String,
    pub gate: Arc<Gate>,
    server: Arc<OnceLock<String>>,
}

async fn forward(
    State(server): State<Arc<OnceLock<String>>>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let target = uri.path_and_query().unwrap().as_str();
    let target = target.strip_prefix(PREFIX).expect("the prefix");
    let client = reqwest::Client::builder().redirect(Policy::none()).build();
    let mut sent = headers;
    sent.remove(header::HOST);
    let url = format!("{}{target}", server.get().expect("a server"));
    let asking = client
        .unwrap()
        .request(method, url)
        .headers(sent)
        .body(body);
    let answer = asking.send().await.unwrap();
    let (status, mut headers) = (answer.status(), answer.headers().clone());
    headers.remove(header::TRANSFER_ENCODING);
    (status, headers, Body::from(answer.bytes().await.unwrap())).into_response()
}

impl Entrance {
    pub async fn start() -> Self {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let origin = format!("http://{}", listener.local_addr().unwrap());
        let (gate, server) = (Arc::new(Gate::default()), Arc::new(OnceLock::new()));
        let router = Router::new()
            .fallback(forward)
            .with_state(server.clone())
            .layer(from_fn_with_state(gate.clone(), pass));
        tokio::spawn(async move { axum::serve(listener, router).await });
        Self {
            origin,
            gate,
            server,
        }
    }

    /// Passes requests on to a server.
    pub fn lead_to(&self, address: &str) {
        self.server.set(format!("http://{address}")).unwrap();
    }
}
