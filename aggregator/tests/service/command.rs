//! `concord-aggregator` as an operator starts it.
use crate::world::{World, network};
use alloy::transports::http::reqwest;
use concord_canonical::sign::ed25519_public_key;
use concord_testkit::chain::hex_key;
use concord_testkit::command::concord;
use serde_json::{Value, json};
use std::{
    fs,
    io::{BufRead, BufReader},
    path::Path,
    process::{Command, Output, Stdio},
    time::Duration,
};

const RECEIPT_SEED: [u8; 32] = [31; 32];

fn command(folder: &Path, arguments: &[&str], key: &str) -> Command {
    let mut command = concord(&["aggregator"]);
    command
        .args(arguments)
        .args(["--config", "aggregator.json"])
        .env("CONCORD_EVM_PRIVATE_KEY", key)
        .current_dir(folder);
    command
}

fn ended(folder: &Path, arguments: &[&str], key: &str) -> (i32, Output) {
    let output = command(folder, arguments, key).output().unwrap();
    (output.status.code().unwrap(), output)
}

/// A command without a configuration.
fn other(folder: &Path, arguments: &[&str]) -> (i32, Output) {
    let mut command = concord(&["aggregator"]);
    let output = command.args(arguments).current_dir(folder).output();
    let output = output.unwrap();
    (output.status.code().unwrap(), output)
}

/// The conformance kit, with keys in files; a payment that was rated already makes it fail.
async fn check(world: &World, folder: &Path, origin: &str) {
    let mut payments = Vec::new();
    for _ in 0..3 {
        payments.push(format!("{}:{}", network(), world.pay(1).await));
    }
    let materials = json!({
        "agentRegistry": world.chain.registry_account(),
        "agentId": world.chain.agent_id.to_string(),
        "agentKey": "agent.key",
        "reviewerKey": "reviewer.key",
        "payments": payments,
    });
    fs::write(folder.join("materials.json"), materials.to_string()).unwrap();
    let reviewer = hex_key(&world.chain.payer);
    fs::write(folder.join("reviewer.key"), &reviewer).unwrap();
    fs::write(folder.join("agent.key"), "0x12").unwrap();
    let url = format!("{origin}/feedback");
    let arguments = ["check", &url, "--with", "materials.json"];
    let (code, output) = other(folder, &arguments);
    let words = String::from_utf8(output.stderr).unwrap();
    assert!(
        code == 2 && words.contains("agent.key: expected 32 bytes"),
        "{words}"
    );
    fs::write(folder.join("agent.key"), hex::encode([9; 32])).unwrap();
    let (code, output) = other(folder, &arguments);
    let result: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((code, &result["failed"]), (0, &json!(0)), "{result:#}");
    fs::write(folder.join("agent.key"), &reviewer).unwrap(); // not the agent's
    let (code, output) = other(folder, &arguments);
    let result: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(code, 1, "{result:#}");
}

fn configure(world: &World, folder: &Path) {
    let keypair = [RECEIPT_SEED, ed25519_public_key(&RECEIPT_SEED)].concat();
    fs::write(folder.join("receipts.json"), json!(keypair).to_string()).unwrap();
    let config = json!({
        "listen": "127.0.0.1:0",
        "store": "aggregator.sqlite",
        "files": "files",
        "receiptKey": "receipts.json",
        "chains": {
            network(): {
                "rpc": world.chain.url,
                "assets": [world.chain.token.to_string()],
                "evm": {
                    "identity": world.chain.registry.to_string(),
                    "reputation": world.open.to_string(),
                    "confirmations": "1",
                    "settlers": [world.client().to_string()],
                },
            },
        },
    });
    fs::write(folder.join("aggregator.json"), config.to_string()).unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_operator_runs_it_and_stops_it() {
    let world = World::start().await;
    let folder = tempfile::tempdir().unwrap();
    let key = hex_key(&world.chain.facilitator);
    let (code, output) = ended(folder.path(), &["run"], &key);
    assert_eq!(code, 2, "{output:?}");
    fs::write(folder.path().join("aggregator.json"), "{\"listen\": 7}").unwrap();
    let (code, output) = ended(folder.path(), &["run"], &key);
    let words = String::from_utf8(output.stderr).unwrap();
    assert!(
        code == 2 && words.contains("aggregator.json: listen:"),
        "{words}"
    );
    configure(&world, folder.path());

    let mut running = command(folder.path(), &["run"], &key)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut address = String::new();
    let mut stdout = BufReader::new(running.stdout.take().unwrap());
    stdout.read_line(&mut address).unwrap();
    let url = format!("http://{}/feedback", address.trim());
    let draft = world.review(&world.pay(1).await);
    let client = reqwest::Client::new();
    let post = client.post(url).body(draft.json().to_string());
    let mut answer = post.send().await.unwrap();
    while answer.status().as_u16() == 202 {
        let location = answer.headers()["location"].to_str().unwrap();
        let polled = answer.url().join(location).unwrap();
        tokio::time::sleep(Duration::from_millis(50)).await;
        answer = client.get(polled).send().await.unwrap();
    }
    assert_eq!(answer.status().as_u16(), 200);
    let answer: Value = serde_json::from_slice(&answer.bytes().await.unwrap()).unwrap();
    assert_eq!(answer["status"], "submitted");

    let registries = ["--registries", "aggregator.json"]; // the operator's own file has them
    let origin = format!("http://{}", address.trim());
    fs::write(folder.path().join("sent.json"), draft.json().to_string()).unwrap();
    let payload = ["--payload", "sent.json"];
    let arguments = [&["audit", &origin][..], &registries, &payload].concat();
    let (code, output) = other(folder.path(), &arguments);
    assert_eq!(code, 0, "{output:?}");
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(
        (&report["receipts"], &report["problems"]),
        (&json!(1), &json!([]))
    );
    assert_eq!(report["compared"], 1);
    check(&world, folder.path(), &origin).await;
    // R60: nothing was settled here
    let (registry, id) = (world.chain.registry_account(), world.chain.agent_id);
    let query = format!("agentRegistry={registry}&agentId={id}&window=day");
    let (status, revenues) = crate::sponsored::get(&format!("{origin}/revenues?{query}")).await;
    let found = (status, &revenues["revenues"], &revenues["isComplete"]);
    assert_eq!(found, (200, &json!([]), &json!(true)));

    let (code, output) = ended(folder.path(), &["status"], &key);
    let words = String::from_utf8(output.stderr).unwrap();
    assert!(code == 3 && words.contains("another process"), "{words}");
    let pid = running.id().to_string();
    let told = Command::new("kill").args(["-TERM", &pid]).status().unwrap();
    assert!(told.success());
    let output = running.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let log = String::from_utf8(output.stderr).unwrap();
    let lines: Vec<Value> = log
        .lines()
        .map(|it| serde_json::from_str(it).unwrap())
        .collect();
    assert!(lines.iter().any(|it| it["message"] == "accepted"), "{log}");
    assert!(
        !log.contains(key.trim_start_matches("0x")),
        "no secret is logged"
    );

    let (code, output) = ended(folder.path(), &["drain"], &key);
    assert_eq!(code, 0, "{output:?}");
    let (code, output) = ended(folder.path(), &["status"], &key);
    assert_eq!(code, 0, "{output:?}");
    let status: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(status["submissions"]["final"], 4, "{status}");
    assert_eq!(status["late"], json!([]));
    let (code, output) = ended(folder.path(), &["retry"], &key);
    assert_eq!((code, &*output.stdout), (0, &b"0\n"[..]));
    assert_eq!(world.feedbacks().await, 4);
    without_account(folder.path(), &key);
    without_assets(&world, folder.path(), &key);
    without_settlers(&world, folder.path(), &key);
}

/// R60: an empty list would record nothing, and look as if nothing were earned.
fn without_settlers(world: &World, folder: &Path, key: &str) {
    configure(world, folder);
    let path = folder.join("aggregator.json");
    let mut config: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    config["chains"][network()]["evm"]["settlers"] = json!([]);
    fs::write(&path, config.to_string()).unwrap();
    let (code, output) = ended(folder, &["run"], key);
    let words = String::from_utf8(output.stderr).unwrap();
    assert!(
        code == 2 && words.contains("evm.settlers is empty"),
        "{words}"
    );
}

/// What waits for another account is named, and nobody waits for it.
fn without_account(folder: &Path, key: &str) {
    let store = rusqlite::Connection::open(folder.join("aggregator.sqlite")).unwrap();
    let other = "UPDATE submission SET is_done = 0, lane = 'another account' WHERE n = 2";
    store.execute_batch(other).unwrap();
    drop(store);
    let (code, output) = ended(folder, &["drain"], key);
    let words = String::from_utf8(output.stderr).unwrap();
    assert!(code == 2 && words.contains("another account"), "{words}");
}

/// R54: without a token in which payments count, none can be verified.
fn without_assets(world: &World, folder: &Path, key: &str) {
    configure(world, folder);
    let path = folder.join("aggregator.json");
    let mut config: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    config["chains"][network()]["assets"] = json!([]);
    fs::write(&path, config.to_string()).unwrap();
    let (code, output) = ended(folder, &["run"], key);
    let words = String::from_utf8(output.stderr).unwrap();
    assert!(code == 2 && words.contains("assets"), "{words}");
}
