//! A host whose services behave as strangers' do. It counts what it is asked.
use std::{
    net::SocketAddr,
    sync::{Arc, Mutex},
    time::Duration,
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    task::AbortHandle,
};

pub const MCP_REPLY: &str = r#"{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-03-26","capabilities":{},"serverInfo":{"name":"a","version":"1"}}}"#;
const MCP_REFUSAL: &str = r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"no"}}"#;
const CARD: &str = r#"{"name":"a","description":"b","version":"1","skills":[],"capabilities":{}}"#;
/// By Python: `base64.b64encode(json.dumps({"x402Version": 2, "accepts": [{"scheme": "exact", …}]}))`.
const OFFER: &str = "eyJ4NDAyVmVyc2lvbiI6IDIsICJhY2NlcHRzIjogW3sic2NoZW1lIjogImV4YWN0IiwgIm5ldHdvcmsiOiAiZWlwMTU1Ojg0NTMyIiwgImFtb3VudCI6ICIxMCIsICJhc3NldCI6ICIweDAzNkNiRDUzODQyYzU0MjY2MzRlNzkyOTU0MWVDMjMxOGYzZENGN2UiLCAicGF5VG8iOiAiMHg3MDk5Nzk3MEM1MTgxMmRjM0EwMTBDN2QwMWI1MGUwZDE3ZGM3OUM4IiwgIm1heFRpbWVvdXRTZWNvbmRzIjogNjB9XX0=";

pub struct Services {
    pub address: SocketAddr,
    /// Method and target of each request, and the session that it names.
    asked: Arc<Mutex<Vec<String>>>,
    accepting: AbortHandle,
}

/// A service that is not there any more refuses connections.
impl Drop for Services {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

impl Services {
    pub async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let asked: Arc<Mutex<Vec<String>>> = Arc::default();
        let shared = asked.clone();
        let accepting = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(answer(stream, shared.clone()));
            }
        });
        Self {
            address,
            asked,
            accepting: accepting.abort_handle(),
        }
    }

    pub fn url(&self, target: &str) -> String {
        format!("http://{}{target}", self.address)
    }

    pub fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }
}

/// The head and the body that it announces.
async fn request(stream: &mut TcpStream) -> Option<(String, String)> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await.ok()?);
    }
    let head = String::from_utf8(head).ok()?.to_lowercase();
    let length = head
        .lines()
        .find_map(|it| it.strip_prefix("content-length: "));
    let mut body = vec![0; length.map_or(0, |it| it.trim().parse().unwrap())];
    stream.read_exact(&mut body).await.ok()?;
    Some((head, String::from_utf8(body).ok()?))
}

fn whole(status: &str, headers: &str, body: &str) -> String {
    let length = body.len();
    format!(
        "HTTP/1.1 {status}\r\ncontent-length: {length}\r\nconnection: close\r\n{headers}\r\n{body}"
    )
}

async fn answer(mut stream: TcpStream, asked: Arc<Mutex<Vec<String>>>) -> Option<()> {
    let (head, body) = request(&mut stream).await?;
    let mut line = head.split(' ');
    let (method, target) = (line.next()?.to_owned(), line.next()?.to_owned());
    let session = head.lines().find(|it| it.starts_with("mcp-session-id"));
    let noted = format!("{method} {target} {}", session.unwrap_or_default());
    asked.lock().unwrap().push(noted.trim_end().to_owned());
    let is_initialize = method == "post" && body.contains("\"initialize\"");
    let json = "content-type: application/json\r\n";
    let path = target.split('?').next()?;
    let here = stream.local_addr().ok()?;
    let text = match path {
        "/agent.json" => {
            let file =
                format!(r#"{{"services":[{{"name":"web","endpoint":"http://{here}/ok"}}]}}"#);
            whole("200 OK", json, &file)
        }
        "/ok" => whole("200 OK", "", "hello"),
        "/down" => whole("503 Busy", "", ""),
        "/teapot" => whole("418 Teapot", "", ""),
        "/members" => whole("401 Unauthorized", "", ""),
        "/away" => whole("302 Found", "location: /ok\r\n", ""),
        "/astray" => whole("302 Found", "location: mailto:x@y\r\n", ""),
        "/credentials" => whole("302 Found", "location: http://u:p@a.example/\r\n", ""),
        "/round" => whole("302 Found", "location: /round\r\n", ""),
        "/mcp" if is_initialize => whole(
            "200 OK",
            &format!("{json}mcp-session-id: s-1\r\n"),
            MCP_REPLY,
        ),
        "/mcp-clinging" if is_initialize => whole(
            "200 OK",
            &format!("{json}mcp-session-id: s-2\r\n"),
            MCP_REPLY,
        ),
        "/mcp" if method == "delete" => whole("204 No Content", "", ""),
        "/mcp-no" if is_initialize => whole("200 OK", json, MCP_REFUSAL),
        "/mcp-html" => whole("200 OK", "", "<html>"),
        "/.well-known/agent-card.json" => whole("200 OK", json, CARD),
        "/other/agent.json" => whole("200 OK", json, "{\"name\": 7}"),
        "/paid" => whole(
            "402 Payment Required",
            &format!("payment-required: {OFFER}\r\n"),
            "{}",
        ),
        "/paid-badly" => whole("402 Payment Required", "payment-required: AAAA\r\n", "{}"),
        "/long" => whole("200 OK", json, &"x".repeat(100_000)),
        "/gzip" => whole("200 OK", "content-encoding: gzip\r\n", "plain"),
        "/mcp-stream" if is_initialize => {
            let head =
                "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
            let events = format!("{head}: welcome\n\nevent: message\ndata: {MCP_REPLY}\n\n");
            stream.write_all(events.as_bytes()).await.ok()?;
            tokio::time::sleep(Duration::from_secs(600)).await; // the stream stays open
            return None;
        }
        "/silent" | "/mcp-clinging" => {
            tokio::time::sleep(Duration::from_secs(600)).await;
            return None;
        }
        "/endless" => return endless(stream).await,
        "/head" => {
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\n").await;
            loop {
                stream
                    .write_all(b"x: yyyyyyyyyyyyyyyyyyyyyyyyyyyyyy\r\n")
                    .await
                    .ok()?;
            }
        }
        "/rude" => "SSH-2.0-OpenSSH\r\n".to_owned(),
        _ => whole("404 Not Found", "", ""),
    };
    stream.write_all(text.as_bytes()).await.ok()?;
    stream.shutdown().await.ok()
}

async fn endless(mut stream: TcpStream) -> Option<()> {
    let head = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\n\r\n";
    stream.write_all(head).await.ok()?;
    loop {
        stream.write_all(&[b'['; 4096]).await.ok()?;
    }
}
