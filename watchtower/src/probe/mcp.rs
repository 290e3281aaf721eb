//! MCP's `initialize` over its streamable HTTP transport, whose answer is JSON or a stream of events.

use concord_chain::fetch::{Answer, FetchError, Fetcher, Method, Question};
use serde_json::Value;

use super::{Finding, USER_AGENT, post};

/// `protocolVersion`: a server that does not know it answers with one that it knows.
const INITIALIZE: &str = concat!(
    r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"#,
    r#""clientInfo":{"name":"concord-watchtower","version":""#,
    env!("CARGO_PKG_VERSION"),
    r#""}}}"#
);
const SESSION: &str = "mcp-session-id";

pub(super) async fn initialize(fetcher: &Fetcher, url: &str) -> Result<Answer, FetchError> {
    let headers = [
        USER_AGENT,
        ("content-type", "application/json"),
        ("accept", "application/json, text/event-stream"),
    ];
    let question = Question {
        is_enough: has_reply,
        ..post(url, &headers, INITIALIZE.as_bytes())
    };
    fetcher.ask(&question).await
}

pub(super) fn judge(answer: &Answer) -> Finding {
    if answer.status != 200 {
        return Finding::Status(answer.status);
    }
    let result = reply(&answer.body).map(|it| it["result"]["protocolVersion"].is_string());
    match result {
        Some(true) => Finding::AsPromised,
        Some(false) => Finding::Unlike("MCP's initialize is refused"),
        None => Finding::Unlike("not an answer of MCP"),
    }
}

/// A probe must not fill the server with sessions. Whether it can end them is its own affair.
pub(super) async fn end_session(fetcher: &Fetcher, url: &str, answer: &Answer) {
    let id = answer.headers.get(SESSION).and_then(|it| it.to_str().ok());
    let Some(id) = id else { return };
    let headers = [USER_AGENT, (SESSION, id)];
    let end = Question {
        method: Method::Delete,
        headers: &headers,
        ..Question::get(url)
    };
    let _ = fetcher.ask(&end).await;
}

/// An event stream need not end after the reply. Each event ends with an empty line.
fn has_reply(body: &[u8]) -> bool {
    let ends_event = body.ends_with(b"\n\n") || body.ends_with(b"\r\n\r\n");
    let is_json = body.trim_ascii_start().starts_with(b"{");
    ends_event && !is_json && reply(body).is_some()
}

/// The reply to the request, in a body or among events.
fn reply(body: &[u8]) -> Option<Value> {
    let text = str::from_utf8(body).ok()?;
    if text.trim_start().starts_with('{') {
        return read(text);
    }
    let text = text.replace("\r\n", "\n");
    text.split("\n\n").find_map(|event| {
        let data = event.lines().filter_map(|it| it.strip_prefix("data:"));
        let data: Vec<&str> = data.map(str::trim_start).collect();
        read(&data.join("\n"))
    })
}

fn read(text: &str) -> Option<Value> {
    let message: Value = serde_json::from_str(text).ok()?;
    let is_reply = message["jsonrpc"] == "2.0" && message["id"] == 1;
    let has_outcome = message.get("result").is_some() || message.get("error").is_some();
    (is_reply && has_outcome).then_some(message)
}

#[cfg(test)]
mod tests {
    use super::*;

    const REPLY: &str = r#"{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-03-26","capabilities":{},"serverInfo":{"name":"a","version":"1"}}}"#;

    #[test]
    fn the_request_is_json() {
        let request: Value = serde_json::from_str(INITIALIZE).unwrap();
        assert_eq!(request["method"], "initialize");
    }

    #[test]
    fn a_reply_is_found_in_json_and_among_events() {
        let pretty = REPLY.replace(":{", ":\n\n {");
        let late = format!(": ping\n\nid: 0\ndata:\n\nevent: message\ndata: {REPLY}\n\n");
        let crlf = late.replace('\n', "\r\n");
        for body in [REPLY, &*pretty, &*late, &*crlf] {
            assert!(reply(body.as_bytes()).is_some(), "{body}");
        }
        assert!(has_reply(late.as_bytes()) && has_reply(crlf.as_bytes()));
        assert!(!has_reply(b": ping\n\n") && !has_reply(pretty.as_bytes()));
    }

    #[test]
    fn anything_else_is_none() {
        for body in [
            "",
            "hello",
            "{}",
            "[]",
            "data: {}\n\n",
            r#"{"jsonrpc":"2.0","id":2,"result":{}}"#,
            r#"{"jsonrpc":"2.0","id":1}"#,
            "\u{fffd}",
        ] {
            assert!(reply(body.as_bytes()).is_none(), "{body}");
        }
        assert!(reply(&[0xff]).is_none());
    }
}
