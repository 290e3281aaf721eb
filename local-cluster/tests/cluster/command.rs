//! The program that runs a cluster.
use serde_json::json;
use std::{
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
    process::{Child, Command, Stdio},
};

const FRIEND: &str = "4dqu3YHQaBRRG7MPP4KRapDWK2XoAcHuAjTRwTuZCxbB";

struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn command() -> Command {
    Command::new(env!("CARGO_BIN_EXE_concord-local-cluster"))
}

/// The text of the answer.
fn ask(url: &str, method: &str, address: &str) -> String {
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": [address]});
    let body = body.to_string();
    let length = body.len();
    let head = format!("POST / HTTP/1.1\r\nConnection: close\r\nContent-Length: {length}\r\n\r\n");
    let mut stream = TcpStream::connect(url.strip_prefix("http://").unwrap()).unwrap();
    stream
        .write_all(&[head, body].concat().into_bytes())
        .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

#[test]
fn runs_as_it_is_told_until_it_is_ended() {
    let genesis = "EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxPkrZBG";
    let feature = "5cC3foj77CWun58pC51ebHFUWavHWKarWyR5UUik7dnC";
    let funding = format!("{FRIEND}=3");
    let child = command()
        .args([
            "--slot-ms",
            "5",
            "--genesis-hash",
            genesis,
            "--fund",
            &funding,
        ])
        .args(["--without-feature", feature])
        .stdout(Stdio::piped())
        .spawn();
    let mut running = Running(child.unwrap());
    let mut lines = BufReader::new(running.0.stdout.take().unwrap()).lines();
    let url = lines.next().unwrap().unwrap();
    let chain = lines.next().unwrap().unwrap();
    assert_eq!(chain, "solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1");
    let balance = ask(&url, "getBalance", FRIEND);
    assert!(balance.contains(r#""value":3000000000}"#), "{balance}");
    let account = ask(&url, "getAccountInfo", feature);
    assert!(account.contains(r#""value":null}"#), "{account}");
    let process = running.0.id().to_string();
    let killed = Command::new("kill").args(["-TERM", &process]).status();
    assert!(killed.unwrap().success());
    assert!(running.0.wait().unwrap().success());
}

#[test]
fn refuses_arguments_by_name() {
    for (argument, value) in [
        ("--fund", "abc=1"),
        ("--fund", FRIEND),
        ("--slot-ms", "0"),
        ("--genesis-hash", "abc"),
    ] {
        let output = command().args([argument, value]).output().unwrap();
        let message = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2));
        assert!(
            message.contains(argument) && message.contains(value),
            "{message}"
        );
    }
}
