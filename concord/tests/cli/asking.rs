//! `concord search`, `summary` and `feedback`, of a server that answers everything with JSON and is no index.
use super::assert_sentence;
use crate::invocation::{Answer, answer, concord};
use serde_json::{Value, json};
use std::{
    io::{BufRead, BufReader, Read, Write},
    net::{TcpListener, TcpStream},
    thread,
};

const SILENT: i32 = 3;
const AGENT: &str = "eip155:84532:0xabababababababababababababababababababab:42";
const REVIEWER: &str = "0xcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcd";

/// Answers each request with status 200 and this body. Returns its URL.
fn answering(body: &Value) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let body = body.to_string();
    thread::spawn(move || {
        for stream in listener.incoming() {
            respond(stream.unwrap(), &body);
        }
    });
    url
}

fn respond(mut stream: TcpStream, body: &str) {
    let mut request = BufReader::new(&stream);
    let mut length = 0;
    loop {
        let mut line = String::new();
        request.read_line(&mut line).unwrap();
        let line = line.trim_end().to_ascii_lowercase();
        if let Some(bytes) = line.strip_prefix("content-length: ") {
            length = bytes.parse().unwrap();
        }
        if line.is_empty() {
            break;
        }
    }
    request.read_exact(&mut vec![0; length]).unwrap();
    let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close";
    let length = body.len();
    write!(stream, "{head}\r\ncontent-length: {length}\r\n\r\n{body}").unwrap();
}

fn asked(command: &[&str], body: &Value) -> Answer {
    let url = answering(body);
    answer(&mut concord(&[command, &["--index", &url]].concat()))
}

fn summary() -> Value {
    json!({
        "agent": AGENT,
        "profile": "open",
        "clientAddresses": [REVIEWER],
        "tag": "",
        "tag1": "uptime",
        "tag2": "",
        "summary": { "count": 2, "decimal": "87.5" },
        "facts": {},
        "incomplete": false,
    })
}

fn feedback() -> Value {
    json!({ "agent": AGENT, "profile": "open", "clientAddress": REVIEWER, "feedbackIndex": 7, "decimal": "87.5" })
}

/// The same with one member changed.
fn changed(answer: &Value, member: &str, value: Value) -> Value {
    let mut changed = answer.clone();
    changed[member] = value;
    changed
}

/// R36: only an index answers as one.
#[test]
fn r36_what_is_no_index_is_exit_code_3() {
    let commands = [
        &["search"][..],
        &["feedback", "list"],
        &["feedback", "get", AGENT, REVIEWER, "7"],
        &["summary", AGENT, "--reviewer", REVIEWER],
        &["summary", AGENT, "--everyone"],
    ];
    for body in [
        json!({}),
        json!(null),
        json!([]),
        json!({ "jsonrpc": "2.0", "id": 1, "result": null }),
        json!({ "items": {} }),
        json!({ "items": [], "nextCursor": 7 }),
    ] {
        for command in commands {
            let answered = asked(command, &body);
            assert_sentence(&answered, SILENT, " does not answer: the answer");
            let json = asked(&[command, &["--json"]].concat(), &body);
            assert_sentence(&json, SILENT, " does not answer: the answer");
        }
    }
}

#[test]
fn a_summary_is_of_what_was_asked_for() {
    let page = |summary: Value| json!({ "items": [summary] });
    let command = ["summary", AGENT, "--reviewer", REVIEWER, "--tag1", "uptime"];
    let good = asked(&command, &page(summary()));
    assert_eq!(good.code, 0, "{good:?}");
    assert!(good.stdout.contains("reviewers  1 listed\n"), "{good:?}");
    assert!(good.stdout.contains("average    87.5\n"), "{good:?}");
    // by BP's name, and addresses of EVM in either case
    let upper = REVIEWER.replace("cd", "CD");
    let short = [
        "summary",
        "84532:42",
        "--reviewer",
        &upper,
        "--tag1",
        "uptime",
    ];
    assert_eq!(asked(&short, &page(summary())).code, 0);

    let other = AGENT.replace(":42", ":43");
    for (member, value, words) in [
        ("agent", json!(other), "not of open feedback of eip155"),
        ("profile", json!("authorized"), "not of open feedback of"),
        (
            "clientAddresses",
            json!("everyone"),
            "reviewers that were named",
        ),
        ("clientAddresses", json!(null), "reviewers that were named"),
        ("clientAddresses", json!([]), "reviewers that were named"),
        (
            "clientAddresses",
            json!([REVIEWER, REVIEWER]),
            "reviewers that were named",
        ),
        (
            "clientAddresses",
            json!([REVIEWER.replace("cd", "ce")]),
            "reviewers that were named",
        ),
        ("tag1", json!("starred"), "tags that were named"),
        ("tag", json!("uptime"), "tags that were named"),
    ] {
        let answered = asked(&command, &page(changed(&summary(), member, value)));
        assert_sentence(&answered, SILENT, words);
    }
    let everyone = ["summary", AGENT, "--everyone", "--tag1", "uptime"];
    let answered = asked(&everyone, &page(summary()));
    assert_sentence(&answered, SILENT, "reviewers that were named");
    assert_sentence(
        &asked(&command, &json!({ "items": [] })),
        SILENT,
        "the answer has no summary",
    );
}

#[test]
fn a_feedback_is_the_one_that_was_asked_for() {
    let command = ["feedback", "get", AGENT, REVIEWER, "7"];
    let good = asked(&command, &feedback());
    assert_eq!(good.code, 0, "{good:?}");
    assert!(good.stdout.contains("open 0xcd"), "{good:?}");
    let other = AGENT.replace("84532", "8453");
    for (member, value) in [
        ("agent", json!(other)),
        ("profile", json!("authorized")),
        ("clientAddress", json!(REVIEWER.replace("cd", "ce"))),
        ("feedbackIndex", json!(8)),
        ("feedbackIndex", json!("7")),
    ] {
        let answered = asked(&command, &changed(&feedback(), member, value));
        assert_sentence(&answered, SILENT, "not of open feedback 7 of 0xcd");
    }
}

/// A page is printed as it is, its cursor and what an index adds included.
#[test]
fn a_page_is_printed_whole() {
    let body = json!({ "items": [], "nextCursor": "after-7", "filesWaiting": 2 });
    let printed = asked(&["search", "--json"], &body);
    assert_eq!(printed.code, 0, "{printed:?}");
    let found: Value = serde_json::from_str(&printed.stdout).unwrap();
    assert_eq!(found, body);
    let printed = asked(&["search"], &body);
    let lines = "no agent is like that\n2 files were not fetched yet: what they say is not known\nmore: --cursor after-7\n";
    assert_eq!((printed.code, &*printed.stdout), (0, lines));
}
