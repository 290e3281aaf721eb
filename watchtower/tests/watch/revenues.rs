//! What this operator settled, once a window, from a file or from an aggregator of its own.
use crate::world::{DAY, GENEROUS, MONDAY, World, file, file_at, files, settings, store};
use concord_chain::fetch::{FetchOptions, Fetcher};
use concord_watchtower::{Agent, RevenueSource, WatchtowerError, revenue_signals};
use serde_json::{Value, json};
use std::fs;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpListener,
};

const USDC: &str = "eip155:84532:0x036CbD53842c5426634e7929541eC2318f3dCF7e";
const WEEK: u64 = 7 * DAY;

/// As an aggregator answers.
fn revenues(agent: &Agent, window: &str, from: u64, to: u64) -> Value {
    let registration = agent.registration();
    let of = |asset: &str, amount: &str| {
        json!({
            "asset": asset, "payments": 12, "payers": 3, "amount": amount,
            "signal": { "tag1": "revenues", "tag2": window, "value": amount, "valueDecimals": 6 },
        })
    };
    json!({
        "agentRegistry": registration.agent_registry,
        "agentId": registration.agent_id.to_string(),
        "window": { "name": window, "from": from, "to": to },
        "isComplete": true,
        "revenues": [
            of(&USDC.to_lowercase(), "560009999"),
            of("eip155:84532:0x0000000000000000000000000000000000000001", "777000000"),
        ],
    })
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r60_revenues_are_what_this_operator_settled_once_a_window() {
    let world = World::start().await;
    let agent = world.register(world.owner, &file(&[])).await;
    let idle = world.register(world.owner, &file(&[])).await;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("revenues.json");
    let other = world.agent(alloy::primitives::U256::from(99));
    let day = revenues(&agent, "day", MONDAY, MONDAY + DAY);
    let list = json!([
        day,
        revenues(&agent, "day", MONDAY - DAY, MONDAY),
        revenues(&agent, "week", MONDAY - WEEK, MONDAY),
        revenues(&other, "day", MONDAY, MONDAY + DAY),
    ]);
    fs::write(&path, list.to_string()).unwrap();
    let store = store(folder.path());
    let (agents, accounts) = ([agent.clone(), idle.clone()], world.accounts());
    let dollars = [USDC.to_owned()];
    let evidence = files(folder.path());
    let source = RevenueSource::File(path.clone());
    let note = async |source: &RevenueSource, now| {
        let list = (source, &dollars[..]);
        revenue_signals(
            &store,
            &settings(),
            list,
            &agents,
            &accounts,
            &evidence,
            now,
        )
        .await
    };
    let now = MONDAY + DAY + 60;
    assert_eq!(note(&source, now).await.unwrap(), 2, "a day and a week");
    assert_eq!(note(&source, now + 3_600).await.unwrap(), 0);

    for (wrong, words) in [
        (
            json!([{ "agentId": 7 }]),
            "revenues.json: [0].agentId: invalid type",
        ),
        (json!({}), "invalid type: map"),
        (
            with(&agent, "/isComplete", json!(false)),
            "isComplete is false",
        ),
        (with(&agent, "/revenues/0/amount", json!("-1")), "amount is"),
    ] {
        fs::write(&path, wrong.to_string()).unwrap();
        let error = note(&source, now + DAY).await.unwrap_err().to_string();
        assert!(error.contains(words), "{error}");
    }
    let gone = RevenueSource::File(folder.path().join("nothing"));
    let error = note(&gone, now + DAY).await.unwrap_err();
    assert!(matches!(error, WatchtowerError::Revenues { .. }), "{error}");

    let (first, second) = (
        idle.key(),
        revenues(&agent, "day", MONDAY + DAY, MONDAY + 2 * DAY),
    );
    assert_ne!(first, agent.key());
    let online = aggregator(second.to_string()).await;
    assert_eq!(note(&online, now + DAY).await.unwrap(), 1, "the next day");
    let error = note(&online, now + 2 * DAY).await.unwrap_err().to_string();
    assert!(error.contains("another agent or window"), "{error}");

    let mut publisher = world.publisher(folder.path(), &store, GENEROUS).await;
    let report = publisher.pass(now + DAY).await.unwrap();
    assert_eq!((report.published, report.late, report.refused), (3, 0, 0));
    let expected = (56_000, 2, "revenues".to_owned());
    for (index, window) in [(1, "day"), (2, "week"), (3, "day")] {
        let (value, decimals, tag1, tag2) = world.feedback(&agent, index).await;
        assert_eq!(
            ((value, decimals, tag1), &*tag2),
            (expected.clone(), window)
        );
    }
    assert_eq!(
        world.feedbacks(&idle).await,
        0,
        "nothing was settled for it"
    );
    let signal = store.signal(1).unwrap().unwrap();
    let stated = file_at(folder.path(), &signal.submission.uri);
    let stated: Value = serde_json::from_slice(&stated).unwrap();
    assert_eq!(stated.get("endpoint"), None);
    let stated = &stated["watchtower"];
    assert_eq!(stated["scope"], "payments that this operator settled");
    assert_eq!(stated["window"]["start"], "2026-11-23T00:00:00Z");
    assert_eq!(stated["tokens"].as_array().unwrap().len(), 1, "{stated}");
    assert_eq!(stated["tokens"][0]["amount"], "560009999");
}

/// The next day's revenues with one member changed, in a list.
fn with(agent: &Agent, pointer: &str, value: Value) -> Value {
    let mut changed = revenues(agent, "day", MONDAY + DAY, MONDAY + 2 * DAY);
    *changed.pointer_mut(pointer).unwrap() = value;
    json!([changed])
}

/// An aggregator that serves one agent: any other is unknown to it.
async fn aggregator(answer: String) -> RevenueSource {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/revenues", listener.local_addr().unwrap());
    let of = |status: &str, body: &str| {
        let length = body.len();
        format!("HTTP/1.1 {status}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}")
    };
    let (found, missing) = (of("200 OK", &answer), of("404 Not Found", ""));
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let mut head = Vec::new();
            while !head.ends_with(b"\r\n\r\n") {
                head.push(stream.read_u8().await.unwrap());
            }
            let head = String::from_utf8(head).unwrap();
            let is_known = head.contains("&agentId=1&window=day&end=");
            let text = if is_known { &found } else { &missing };
            stream.write_all(text.as_bytes()).await.unwrap();
        }
    });
    let options = FetchOptions {
        allow_http: true,
        allow_private: true,
        ..FetchOptions::default()
    };
    RevenueSource::Url(url, Fetcher::new(options).unwrap())
}
