//! What this operator settled, once a window, from a file or from a service of its own.
use crate::world::{DAY, GENEROUS, MONDAY, World, file, file_at, files, settings, store};
use concord_chain::fetch::{FetchOptions, Fetcher};
use concord_watchtower::{Agent, RevenueSource, WatchtowerError, revenue_signals};
use serde_json::{Value, json};
use std::fs;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpListener,
};

const USDC: &str = "0x036CbD53842c5426634e7929541eC2318f3dCF7e";

fn revenue(agent: &Agent, asset: &str, total: &str) -> Value {
    let registration = agent.registration();
    json!({
        "agentRegistry": registration.agent_registry,
        "agentId": registration.agent_id.to_string(),
        "network": "eip155:84532",
        "asset": asset,
        "decimals": 6,
        "total": total,
        "from": MONDAY,
        "to": MONDAY + 7_200,
        "count": 12,
    })
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r60_revenues_are_what_this_operator_settled_once_a_window() {
    let world = World::start().await;
    let agent = world.register(world.owner, &file(&[])).await;
    let idle = world.register(world.owner, &file(&[])).await;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("revenues.json");
    let list = json!({ "revenues": [
        revenue(&agent, &USDC.to_lowercase(), "560009999"),
        revenue(&agent, "0x0000000000000000000000000000000000000001", "777000000"),
        revenue(&world.agent(alloy::primitives::U256::from(99)), USDC, "1"),
    ] });
    fs::write(&path, list.to_string()).unwrap();
    let store = store(folder.path());
    let (agents, accounts) = ([agent.clone(), idle.clone()], world.accounts());
    let dollars = [format!("eip155:84532:{USDC}")];
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
    fs::write(&path, "{\"revenues\": [{\"agentId\": 7}]}").unwrap();
    let error = note(&source, now + DAY).await.unwrap_err().to_string();
    assert!(
        error.contains("revenues.json: revenues[0].agentId: invalid type"),
        "{error}"
    );
    let url = served(&list.to_string()).await;
    let options = FetchOptions {
        allow_http: true,
        allow_private: true,
        ..FetchOptions::default()
    };
    let online = RevenueSource::Url(url, Fetcher::new(options).unwrap());
    assert_eq!(note(&online, now + DAY).await.unwrap(), 1, "the next day");
    let gone = RevenueSource::File(folder.path().join("nothing"));
    let error = note(&gone, now + 2 * DAY).await.unwrap_err();
    assert!(matches!(error, WatchtowerError::Revenues { .. }), "{error}");

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
    let file: Value =
        serde_json::from_slice(&file_at(folder.path(), &signal.submission.uri)).unwrap();
    let stated = &file["watchtower"];
    assert_eq!(stated["scope"], "payments that this operator settled");
    assert_eq!(stated["tokens"].as_array().unwrap().len(), 1, "{stated}");
    assert_eq!(stated["tokens"][0]["total"], "560009999");
    assert_eq!(stated["firstPayment"], "2026-11-23T00:00:00Z");
    assert_eq!(file.get("endpoint"), None);
}

/// Serves a list once.
async fn served(list: &str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/revenues", listener.local_addr().unwrap());
    let length = list.len();
    let answer =
        format!("HTTP/1.1 200 OK\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{list}");
    tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            head.push(stream.read_u8().await.unwrap());
        }
        stream.write_all(answer.as_bytes()).await.unwrap();
    });
    url
}
