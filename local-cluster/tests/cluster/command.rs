//! The program that runs a cluster.
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

#[test]
fn runs_until_it_is_ended() {
    let genesis = "EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxPkrZBG";
    let funding = format!("{FRIEND}=3");
    let arguments = [
        "--slot-ms",
        "5",
        "--genesis-hash",
        genesis,
        "--fund",
        &funding,
    ];
    let child = command().args(arguments).stdout(Stdio::piped()).spawn();
    let mut running = Running(child.unwrap());
    let mut lines = BufReader::new(running.0.stdout.take().unwrap()).lines();
    let url = lines.next().unwrap().unwrap();
    assert_eq!(
        lines.next().unwrap().unwrap(),
        "solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1"
    );
    let mut stream = TcpStream::connect(url.strip_prefix("http://").unwrap()).unwrap();
    let body = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"getBalance","params":["{FRIEND}"]}}"#);
    let head = format!(
        "POST / HTTP/1.1\r\nConnection: close\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    stream
        .write_all(&[head.as_bytes(), body.as_bytes()].concat())
        .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.contains(r#""value":3000000000}"#), "{answer}");
    let process = running.0.id().to_string();
    assert!(
        Command::new("kill")
            .args(["-TERM", &process])
            .status()
            .unwrap()
            .success()
    );
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
