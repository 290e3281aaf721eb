//! What becomes of a run on EVM when the node is not there, is another, lies, stalls or is left
//! behind. Needs what `scripts/build` makes, and anvil on PATH or in CONCORD_ANVIL.

use crate::invocation::{answer, clone_root, concord};
use concord_harness::backend::{
    SetupError,
    evm::{AttachFault, Dialect, Endpoint, EvmAnvil, EvmNode, RegistryAddresses},
};
use serde_json::{Value, json};
use std::{
    io::{Read, Write},
    net::TcpListener,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
    time::Duration,
};

fn anvil() -> EvmAnvil {
    EvmAnvil::start(None, &clone_root().join("contracts/out")).expect("anvil starts")
}

fn attach(url: &str, chain_id: u64, addresses: RegistryAddresses) -> AttachFault {
    let endpoint = Endpoint {
        answer_limit: Duration::from_millis(500),
        ..Endpoint::new(url)
    };
    EvmNode::attach(&endpoint, chain_id, addresses, Dialect::Concord)
        .err()
        .expect("there is nothing to attach to")
}

fn nowhere() -> RegistryAddresses {
    RegistryAddresses {
        identity: "0x00000000000000000000000000000000000000ff"
            .parse()
            .unwrap(),
        open_reputation: None,
        authorized_reputation: None,
        validation: None,
    }
}

/// A server that answers each connection with what `answer` makes of its request; the URL has a
/// path that must not be repeated.
fn server(answer: impl Fn(&str) -> Option<String> + Send + 'static) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/secret-key", listener.local_addr().unwrap());
    thread::spawn(move || {
        let mut kept = Vec::new();
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut request = vec![0; 65_536];
            let length = stream.read(&mut request).unwrap_or(0);
            let request = String::from_utf8_lossy(&request[..length]).into_owned();
            if let Some(body) = answer(&request) {
                let head = format!(
                    "HTTP/1.1 200 OK\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
                    body.len()
                );
                let _ = stream.write_all((head + &body).as_bytes());
            } else {
                kept.push(stream);
            }
        }
    });
    url
}

fn assert_says(fault: &AttachFault, words: &str) {
    let said = fault.to_string();
    assert!(said.contains(words), "{said}");
    assert!(!said.contains("secret-key"), "{said}");
    assert_eq!(said.lines().count(), 1, "{said}");
    assert!(said.len() < 400, "{said}");
}

/// Chunk after chunk, for as long as anybody reads.
fn endless() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/secret-key", listener.local_addr().unwrap());
    thread::spawn(move || {
        let mut stream = listener.accept().unwrap().0;
        let _ = stream.read(&mut [0; 65_536]);
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
        let chunk = ["100000\r\n", &"x".repeat(1 << 20), "\r\n"].concat();
        while stream.write_all(chunk.as_bytes()).is_ok() {}
    });
    url
}

#[test]
fn an_answer_without_an_end_is_given_up() {
    let attached = EvmNode::attach(&Endpoint::new(endless()), 1, nowhere(), Dialect::Concord);
    assert_says(
        &attached.err().expect("no answer"),
        "an answer is longer than 67108864 bytes",
    );
}

#[test]
fn an_endpoint_that_is_no_url_is_said_to_be_none() {
    for url in [
        "",
        "localhost:8545",
        "ftp://host/secret-key",
        "http://",
        "not a secret-key",
    ] {
        assert_says(&attach(url, 1, nowhere()), "not an http:// URL with a host");
    }
}

#[test]
fn an_endpoint_where_nobody_listens_does_not_answer() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/secret-key", listener.local_addr().unwrap());
    drop(listener);
    assert_says(
        &attach(&url, 1, nowhere()),
        "does not answer as an EVM node does: ",
    );
}

#[test]
fn an_endpoint_that_stalls_is_waited_for_no_longer_than_the_limit() {
    let url = server(|_| None);
    assert_says(&attach(&url, 1, nowhere()), "no answer within 500ms");
}

#[test]
fn an_endpoint_that_answers_garbage_does_not_answer_as_a_node() {
    for garbage in [
        "",
        "<html>welcome</html>",
        "{}",
        r#"{"jsonrpc":"2.0","id":0,"result":"x"}"#,
    ] {
        let garbage = garbage.to_owned() + &" ".repeat(100_000);
        let url = server(move |_| Some(garbage.clone()));
        assert_says(
            &attach(&url, 1, nowhere()),
            "does not answer as an EVM node does: ",
        );
    }
}

#[test]
fn another_chain_is_named_with_both_ids() {
    let anvil = anvil();
    let fault = attach(anvil.ledger().url(), 84_532, *anvil.addresses());
    assert_says(&fault, "chain id is 31337, not 84532");
}

/// anvil may know the latest block's number before it has the block.
#[test]
fn a_block_that_is_not_there_yet_is_asked_for_again() {
    let asked = Arc::new(AtomicUsize::new(0));
    let count = asked.clone();
    let url = server(move |request| {
        let question: Value = serde_json::from_str(request.split("\r\n\r\n").nth(1)?).ok()?;
        let Some(batch) = question.as_array() else {
            let result = match question["method"].as_str()? {
                "eth_chainId" => json!("0x7a69"),
                _ => json!("0x01"),
            };
            let answer = json!({"jsonrpc": "2.0", "id": question["id"], "result": result});
            return Some(answer.to_string());
        };
        let id = &batch[0]["id"];
        let answer = match count.fetch_add(1, Ordering::SeqCst) {
            0 | 1 => {
                let error = json!({"code": -32001, "message": "Resource not found"});
                json!([{"jsonrpc": "2.0", "id": id, "error": error}])
            }
            _ => {
                let bound = format!("0x{:0>64}", "ee");
                json!([{"jsonrpc": "2.0", "id": id, "result": bound}])
            }
        };
        Some(answer.to_string())
    });
    let addresses = RegistryAddresses {
        open_reputation: nowhere().identity.into(),
        ..nowhere()
    };
    let fault = attach(&url, 31_337, addresses);
    assert_says(
        &fault,
        "is about the identity registry 0x00000000000000000000000000000000000000eE",
    );
    assert_eq!(asked.load(Ordering::SeqCst), 3);
}

#[test]
fn a_node_that_is_not_for_development_is_said_to_be_none() {
    let url = server(|request| {
        let id: String = request
            .rsplit_once("\"id\":")?
            .1
            .chars()
            .take_while(char::is_ascii_digit)
            .collect();
        let answer = if request.contains("eth_chainId") {
            r#""result":"0x1""#
        } else if request.contains("eth_getCode") {
            r#""result":"0x60""#
        } else {
            r#""error":{"code":-32601,"message":"no such method"}"#
        };
        Some(format!(r#"{{"jsonrpc":"2.0","id":{id},{answer}}}"#))
    });
    let fault = attach(&url, 1, nowhere());
    assert!(
        matches!(fault, AttachFault::NotADevelopmentNode { .. }),
        "{fault}"
    );
    assert_says(&fault, "no such method");
}

#[test]
fn a_port_in_use_is_what_anvil_says_of_it() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port();
    let artifacts = clone_root().join("contracts/out");
    let Err(fault) = EvmAnvil::start_at(Some(port), None, &artifacts) else {
        panic!("anvil listens at a port that is taken");
    };
    assert!(matches!(fault, SetupError::AnvilDoesNotStart { .. }));
    let said = fault.to_string();
    assert!(said.contains("in use"), "{said}");
    assert_eq!(said.lines().count(), 1, "{said}");
}

#[test]
fn a_program_that_is_not_anvil_is_exit_code_3() {
    let arguments = ["conform", "--backend", "evm-anvil", "--anvil", "/bin/true"];
    let answer = answer(&mut concord(&arguments));
    let words = "concord: /bin/true does not start as anvil: it does not say where it listens\n";
    assert_eq!((answer.code, answer.stdout.as_str()), (3, ""));
    assert_eq!(answer.stderr, words);
}
