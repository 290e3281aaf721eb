//! A server with fixed answers, which counts requests.
use async_trait::async_trait;
use concord_chain::fetch::{FetchOptions, HostLookup};
use std::{
    collections::HashMap,
    io,
    net::{IpAddr, SocketAddr},
    sync::{Arc, Mutex},
    time::Duration,
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpListener,
};

#[derive(Clone)]
pub(crate) struct Server {
    pub address: SocketAddr,
    /// The targets that were asked for.
    pub asked: Arc<Mutex<Vec<String>>>,
    answers: Arc<Mutex<HashMap<String, Vec<u8>>>>,
}

impl Server {
    pub(crate) async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let server = Self {
            address: listener.local_addr().unwrap(),
            asked: Arc::default(),
            answers: Arc::default(),
        };
        let shared = server.clone();
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                let shared = shared.clone();
                tokio::spawn(async move {
                    let mut head = Vec::new();
                    while !head.ends_with(b"\r\n\r\n") {
                        head.push(stream.read_u8().await?);
                    }
                    let target = String::from_utf8_lossy(&head)
                        .split(' ')
                        .nth(1)
                        .unwrap()
                        .to_owned();
                    let answer = shared.answers.lock().unwrap().get(&target).cloned();
                    shared.asked.lock().unwrap().push(target);
                    let missing = b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n".to_vec();
                    stream.write_all(&answer.unwrap_or(missing)).await?;
                    stream.shutdown().await
                });
            }
        });
        server
    }

    /// Answers with status 200.
    pub(crate) fn serve(&self, target: &str, headers: &str, body: &[u8]) {
        let length = body.len();
        let head = format!(
            "HTTP/1.1 200 OK\r\ncontent-length: {length}\r\nconnection: close\r\n{headers}\r\n"
        );
        self.serve_raw(target, [head.as_bytes(), body].concat());
    }

    pub(crate) fn redirect(&self, target: &str, status: u16, to: &str) {
        let head = format!(
            "HTTP/1.1 {status} R\r\nlocation: {to}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
        );
        self.serve_raw(target, head.into_bytes());
    }

    pub(crate) fn serve_raw(&self, target: &str, answer: Vec<u8>) {
        self.answers
            .lock()
            .unwrap()
            .insert(target.to_owned(), answer);
    }

    pub(crate) fn url(&self, target: &str) -> String {
        format!("http://{}{target}", self.address)
    }

    pub(crate) fn asked(&self) -> usize {
        self.asked.lock().unwrap().len()
    }
}

/// A name server of the attacker's.
pub(crate) struct Names(pub HashMap<&'static str, Vec<IpAddr>>);

#[async_trait]
impl HostLookup for Names {
    async fn addresses(&self, host: &str) -> io::Result<Vec<IpAddr>> {
        let found = self.0.get(host).cloned();
        found.ok_or_else(|| io::Error::other("no such host"))
    }
}

pub(crate) fn names(entries: &[(&'static str, &[&str])]) -> Arc<Names> {
    let parsed = |texts: &[&str]| texts.iter().map(|it| it.parse().unwrap()).collect();
    Arc::new(Names(
        entries
            .iter()
            .map(|(host, texts)| (*host, parsed(texts)))
            .collect(),
    ))
}

/// As by default, but over `http:`.
pub(crate) fn strict() -> FetchOptions {
    FetchOptions {
        allow_http: true,
        timeout: Duration::from_secs(5),
        ..FetchOptions::default()
    }
}

pub(crate) fn local() -> FetchOptions {
    FetchOptions {
        allow_private: true,
        ..strict()
    }
}
