//! `concord-watchtower` as an operator starts it.
use crate::{
    services::Services,
    world::{DAY, World, file, network},
};
use alloy::primitives::hex;
use concord_testkit::command::concord;
use concord_testkit::http::{post, read_request, reply};
use concord_watchtower::{Agent, Sample, Store};
use serde_json::{Value, json};
use std::{
    fs,
    io::{BufRead, BufReader},
    net::TcpListener,
    path::Path,
    process::{Command, Output, Stdio},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::{SystemTime, UNIX_EPOCH},
};

fn command(folder: &Path, name: &str, key: &str) -> Command {
    let mut command = concord(&["watchtower"]);
    command
        .args([name, "--config", "watchtower.json"])
        .env("CONCORD_EVM_PRIVATE_KEY", key)
        .current_dir(folder);
    command
}

fn ended(folder: &Path, name: &str, key: &str) -> (i32, Value, String) {
    let Output {
        status,
        stdout,
        stderr,
    } = command(folder, name, key).output().unwrap();
    let report = serde_json::from_slice(&stdout).unwrap_or(Value::Null);
    let words = String::from_utf8(stderr).unwrap();
    assert!(
        !words.contains(key.trim_start_matches("0x")),
        "no secret is printed"
    );
    (status.code().unwrap(), report, words)
}

fn write(folder: &Path, config: &Value) {
    fs::write(folder.join("watchtower.json"), config.to_string()).unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_operator_plans_publishes_once_and_asks_for_the_status() {
    let world = World::start().await;
    let services = Services::start().await;
    let url = services.url("/ok");
    let agent = world.register(world.owner, &file(&[("web", &url)])).await;
    let own = world
        .register(world.watchtower.address(), &file(&[("web", &url)]))
        .await;
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let key = format!("0x{}", hex::encode(world.watchtower.to_bytes()));
    let agents: Vec<Value> = [&agent, &own]
        .map(|it| {
            let registration = it.registration();
            json!({ "agentRegistry": registration.agent_registry, "agentId": registration.agent_id.to_string() })
        })
        .to_vec();
    let mut config = json!({
        "store": "watchtower.sqlite",
        "files": "files",
        "interval": 3_600,
        "minSamples": 1,
        "windows": ["day"],
        "agents": agents,
        "chains": { network(): {
            "rpc": world.url,
            "evm": {
                "identity": world.identity.to_string(),
                "reputation": world.open.to_string(),
                "maxFee": "20",
                "confirmations": "1",
            },
            "budget": { "perDay": "1000000000000000000", "perRun": "1000000000000000000" },
        } },
        "fetch": { "allowHttp": true, "allowPrivate": true },
    });
    refuses(folder, &key, &config);
    write(folder, &config);

    let before = world.balance().await;
    let (code, plan, words) = ended(folder, "plan", &key);
    assert_eq!(code, 0, "{words}");
    let registry = agent.registry_key();
    let costs = &plan["registries"][&registry];
    assert_eq!(
        (
            &costs["agents"],
            &costs["signalsPerDay"],
            &costs["signalsPerWeek"]
        ),
        (&json!(1), &json!(5), &json!(0))
    );
    assert_eq!(plan["own"][0]["agent"], own.key());
    assert!(
        !folder.join("watchtower.sqlite").exists(),
        "nothing is written"
    );
    assert!(services.asked().is_empty(), "nothing is probed");

    keep_yesterday(folder, &agent, &url);
    let store = Store::open(&folder.join("watchtower.sqlite")).unwrap();
    let (code, _, words) = ended(folder, "once", &key);
    assert!(code == 3 && words.contains("another process"), "{words}");
    drop(store);

    config["chains"][network()]["budget"]["perDay"] = json!("1");
    write(folder, &config);
    let (code, plan, _) = ended(folder, "plan", &key);
    assert_eq!(
        (code, &plan["registries"][&registry]["fits"]),
        (1, &json!(false))
    );
    let (code, once, _) = ended(folder, "once", &key);
    assert_eq!(
        (code, &once["registries"][&registry]["overBudget"]),
        (1, &json!(4)),
        "{once}"
    );
    assert_eq!(world.balance().await, before, "nothing was spent");
    let (code, status, _) = ended(folder, "status", &key);
    assert_eq!(code, 0);
    assert!(
        status["late"][0]["reason"]
            .as_str()
            .unwrap()
            .contains("budget"),
        "{status}"
    );

    config["chains"][network()]["budget"]["perDay"] = json!("1000000000000000000");
    write(folder, &config);
    let (code, once, words) = ended(folder, "once", &key);
    assert_eq!(code, 0, "{once} {words}");
    let report = &once["registries"][&registry];
    assert_eq!(
        (&report["published"], &once["samples"]),
        (&json!(4), &json!(1))
    );
    assert_eq!(world.feedbacks(&agent).await, 4);
    let (code, once, _) = ended(folder, "once", &key);
    assert_eq!(
        (code, &once["registries"][&registry]["published"]),
        (0, &json!(0))
    );
    let (code, status, _) = ended(folder, "status", &key);
    assert_eq!(
        (code, &status["signals"]["final"], &status["late"]),
        (0, &json!(4), &json!([]))
    );
    let spent = before - world.balance().await;
    assert_eq!(status["spentToday"][&registry], spent.to_string());
    assert_eq!(
        (world.feedbacks(&agent).await, world.feedbacks(&own).await),
        (4, 0)
    );
    runs(folder, &key).await;
}

/// A node that refuses one method while it is down, in front of another.
fn failing_node(of: &str, is_down: Arc<AtomicBool>) -> String {
    const METHOD: &str = "eth_getTransactionCount";
    let (_, port) = of.trim_end_matches('/').rsplit_once(':').unwrap();
    let port: u16 = port.parse().unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            let Ok(body) = read_request(&mut BufReader::new(&stream)) else {
                continue;
            };
            let request: Value = serde_json::from_slice(&body).unwrap();
            let answer = if is_down.load(Ordering::SeqCst) && request["method"] == METHOD {
                json!({"jsonrpc": "2.0", "id": request["id"], "error": {"code": -32000, "message": "down"}})
                    .to_string()
                    .into_bytes()
            } else {
                post(port, &body)
            };
            let _ = reply(&stream, "200 OK", "Connection: close\r\n", &answer);
        }
    });
    url
}

/// The exit code of `once` reports a failure also while its next attempt is not due yet.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_outage_is_in_the_exit_code() {
    let world = World::start().await;
    let services = Services::start().await;
    let url = services.url("/ok");
    let agent = world.register(world.owner, &file(&[("web", &url)])).await;
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let key = format!("0x{}", hex::encode(world.watchtower.to_bytes()));
    let registration = agent.registration();
    let is_down = Arc::new(AtomicBool::new(true));
    let mut config = json!({
        "store": "watchtower.sqlite",
        "files": "files",
        "interval": 3_600,
        "minSamples": 1,
        "windows": ["day"],
        "agents": [
            { "agentRegistry": registration.agent_registry, "agentId": registration.agent_id.to_string() },
        ],
        "chains": { network(): {
            "rpc": failing_node(&world.url, is_down.clone()),
            "evm": {
                "identity": world.identity.to_string(),
                "reputation": world.open.to_string(),
                "maxFee": "20",
                "confirmations": "1",
            },
            "budget": { "perDay": "1000000000000000000", "perRun": "1000000000000000000" },
        } },
        "fetch": { "allowHttp": true, "allowPrivate": true },
    });
    write(folder, &config);
    keep_yesterday(folder, &agent, &url);
    let registry = agent.registry_key();
    let (code, once, words) = ended(folder, "once", &key);
    let late = &once["registries"][&registry]["late"];
    assert_eq!((code, late), (1, &json!(1)), "{once} {words}");
    assert!(words.contains("eth_getTransactionCount"), "{words}");
    // the first one is not due again for a minute; the next one fails for the same reason
    for _ in 0..4 {
        assert_eq!(ended(folder, "once", &key).0, 1);
    }
    let (code, once, _) = ended(folder, "once", &key);
    let late = &once["registries"][&registry]["late"];
    assert_eq!(
        (code, late),
        (1, &json!(0)),
        "none is due, and all are late"
    );

    is_down.store(false, Ordering::SeqCst);
    config["controls"] = json!(["http://127.0.0.1:1/"]);
    write(folder, &config);
    let (code, once, _) = ended(folder, "once", &key);
    assert_eq!((code, &once["withoutNetwork"]), (3, &json!(true)));

    config["controls"] = json!([url]);
    config["revenues"] = json!({ "source": "revenues.json", "dollars": [] });
    write(folder, &config);
    let (code, once, words) = ended(folder, "once", &key);
    assert_eq!(code, 3, "{once} {words}");
    let reason = once["noRevenues"].as_str().unwrap();
    assert!(reason.contains("revenues.json"), "{reason}");
}

/// A sample of yesterday, as a round of yesterday would have left it.
fn keep_yesterday(folder: &Path, agent: &Agent, url: &str) {
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap()
        .as_secs();
    let store = Store::open(&folder.join("watchtower.sqlite")).unwrap();
    let sample = Sample {
        at: now - now % DAY - DAY / 2,
        kind: "http".to_owned(),
        answered: true,
        succeeded: Some(true),
        millis: 3,
        owned: None,
        finding: "as promised".to_owned(),
    };
    store
        .keep(&agent.key(), &[(url.to_owned(), sample)])
        .unwrap();
}

/// It probes until it is told to stop.
async fn runs(folder: &Path, key: &str) {
    let mut running = command(folder, "run", key)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(running.stderr.take().unwrap()).lines();
    let probed = tokio::task::spawn_blocking(|| {
        lines
            .map_while(Result::ok)
            .any(|line| line.contains("probed") && line.contains("samples=1"))
    });
    assert!(probed.await.unwrap());
    let pid = running.id().to_string();
    assert!(
        Command::new("kill")
            .args(["-TERM", &pid])
            .status()
            .unwrap()
            .success()
    );
    assert_eq!(running.wait().unwrap().code(), Some(0));
}

/// Each names the file and the field.
fn refuses(folder: &Path, key: &str, config: &Value) {
    let (code, _, words) = ended(folder, "run", key);
    assert!(code == 2 && words.contains("watchtower.json"), "{words}");
    let chain = network();
    for (pointer, value, expected) in [
        (
            "/interval".to_owned(),
            json!(1),
            "interval is 1, expected 10 to 86400",
        ),
        ("/interval".to_owned(), json!("x"), "interval: invalid type"),
        ("/timeout".to_owned(), json!(61), "timeout is 61"),
        ("/endpointsMax".to_owned(), json!(0), "endpointsMax is 0"),
        ("/windows".to_owned(), json!(["month"]), "windows[0]"),
        (
            "/signals".to_owned(),
            json!(["uptime", "https://rpc.example/v2/s3cr3t"]),
            "signals[1]: expected one of reachable, uptime",
        ),
        (
            "/signals".to_owned(),
            json!(["revenues"]),
            "signals[0]: expected one of",
        ),
        (
            "/fileBase".to_owned(),
            json!("h".repeat(200)),
            "fileBase has 200 bytes",
        ),
        ("/agents/0/agentId".to_owned(), json!("-1"), "agents[0]"),
        (
            "/agents/1".to_owned(),
            config["agents"][0].clone(),
            "is listed twice",
        ),
        (
            "/agents/0/agentRegistry".to_owned(),
            json!("eip155:1:0x0000000000000000000000000000000000000001"),
            "is not configured",
        ),
        (
            format!("/chains/{chain}/evm/maxFee"),
            json!("https://rpc.example/v2/s3cr3t"),
            "maxFee: expected a number of gwei",
        ),
        (
            format!("/chains/{chain}/evm/confirmations"),
            json!("soon"),
            "confirmations",
        ),
        (
            format!("/chains/{chain}/budget/perDay"),
            json!("-1"),
            "perDay",
        ),
        (
            format!("/chains/{chain}/evm"),
            Value::Null,
            "expected evm for eip155",
        ),
        ("/unknown".to_owned(), json!(1), "unknown"),
        (
            format!("/chains/{chain}"),
            json!("https://rpc.example/v2/s3cr3t"),
            "invalid type, expected struct ChainConfig",
        ),
    ] {
        let mut wrong = config.clone();
        let (parent, name) = pointer.rsplit_once('/').unwrap();
        match wrong.pointer_mut(parent).unwrap() {
            Value::Array(list) => list[name.parse::<usize>().unwrap()] = value,
            parent => parent[name] = value,
        }
        write(folder, &wrong);
        let (code, _, words) = ended(folder, "plan", key);
        assert!(
            code == 2 && words.contains(expected),
            "{pointer}: {code} {words}"
        );
        assert!(!words.contains("s3cr3t"), "{words}");
    }
    write(folder, config);
    let (code, _, words) = ended(folder, "plan", "0x12");
    assert!(
        code == 2 && words.contains("CONCORD_EVM_PRIVATE_KEY"),
        "{words}"
    );
    assert!(!folder.join("watchtower.sqlite").exists());
}
