//! `concord index run` follows two chains and answers `/v1` meanwhile, until a signal ends it.
use crate::cluster::command::Chains;
use concord_testkit::command::concord;
use concord_testkit::http::get;
use serde_json::Value;
use std::{
    fs,
    io::{BufRead, BufReader},
    path::Path,
    process::{Child, ChildStderr, Command, Stdio},
    sync::mpsc::{Receiver, channel},
    thread,
    time::{Duration, Instant},
};

/// Only to end a test that hangs.
const LIMIT: Duration = Duration::from_secs(600);
/// Between two looks.
const PAUSE: Duration = Duration::from_millis(50);

/// The command, which ends with the test.
struct Running {
    child: Child,
    /// The lines on its stderr.
    said: Receiver<String>,
    /// Where it listens.
    address: String,
}

impl Running {
    fn start(folder: &Path, chains: &Chains) -> Self {
        let book = folder.join("addresses.json");
        fs::write(&book, chains.book().to_string()).unwrap();
        let mut child = concord(&["index"])
            .args(["run", "--rpc", chains.url()])
            .args(["--rpc", &chains.cluster.cluster.url()])
            .args(["--listen", "127.0.0.1:0", "--address-book"])
            .arg(book)
            .current_dir(folder)
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut running = Self {
            said: lines(child.stderr.take().unwrap()),
            child,
            address: String::new(),
        };
        while running.address.is_empty() {
            let line = running.said.recv_timeout(LIMIT);
            let line = line.expect("it says where it listens");
            if let Some(address) = line.strip_prefix("listening on http://") {
                address.clone_into(&mut running.address);
            }
        }
        running
    }

    /// Waits for an answer that is as it should be.
    fn wait_for(&self, path: &str, is_good: impl Fn(&str) -> bool) {
        let begun = Instant::now();
        loop {
            let answer = get(&self.address, path);
            if is_good(&answer) {
                return;
            }
            assert!(begun.elapsed() < LIMIT, "{path}: {answer}");
            thread::sleep(PAUSE);
        }
    }

    /// Waits until so many agents are on each chain.
    fn wait_for_agents(&self, expected: [(&str, u64); 2]) {
        let expected = expected.map(|(chain, count)| (chain.to_owned(), count));
        self.wait_for("/v1/status", |it| is_ok(it) && agents(it) == expected);
    }

    /// Sends SIGTERM. Returns the exit code, and what else was said.
    fn end(mut self) -> (Option<i32>, Vec<String>) {
        let mut kill = Command::new("kill");
        let sent = kill.arg(self.child.id().to_string()).status();
        assert!(sent.unwrap().success());
        let begun = Instant::now();
        let status = loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                break status;
            }
            assert!(begun.elapsed() < LIMIT, "it does not end");
            thread::sleep(PAUSE);
        };
        (status.code(), self.said.iter().collect())
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill(); // it may have ended
        let _ = self.child.wait();
    }
}

fn lines(of: ChildStderr) -> Receiver<String> {
    let (said, lines) = channel();
    thread::spawn(move || {
        for line in BufReader::new(of).lines().map_while(Result::ok) {
            let _ = said.send(line); // the test may have ended
        }
    });
    lines
}

fn is_ok(answer: &str) -> bool {
    answer.starts_with("HTTP/1.1 200 OK\r\n")
}

/// The number of agents on each chain, by `/v1/status`.
fn agents(answer: &str) -> Vec<(String, u64)> {
    let (_, body) = answer.split_once("\r\n\r\n").unwrap();
    let status: Value = serde_json::from_str(body).unwrap();
    let deployments = status["deployments"].as_array().unwrap().iter();
    let found = deployments.map(|it| {
        let chain = it["chain"].as_str().unwrap().to_owned();
        (chain, it["agents"].as_u64().unwrap())
    });
    let mut found: Vec<_> = found.collect();
    found.sort();
    found
}

#[test]
fn one_command_follows_an_anvil_and_a_cluster_and_answers_until_a_signal_ends_it() {
    let mut chains = Chains::start();
    let folder = tempfile::tempdir().unwrap();
    let running = Running::start(folder.path(), &chains);
    let (evm, svm) = ("eip155:31337", "solana:localnet");
    running.wait_for_agents([(evm, 2), (svm, 1)]);
    running.wait_for("/readyz", is_ok);

    // what happens on either chain from now on is followed
    chains.register("ipfs://three");
    chains.cluster.register();
    running.wait_for_agents([(evm, 3), (svm, 2)]);

    let address = running.address.clone();
    let (code, said) = running.end();
    assert_eq!(code, Some(0), "{said:?}");
    assert!(
        said.contains(&format!("no longer listening on {address}")),
        "{said:?}"
    );
    for chain in [evm, svm] {
        let lines = said.iter().filter(|it| it.contains(chain));
        assert!(lines.count() > 0, "{chain}: {said:?}");
    }
}
