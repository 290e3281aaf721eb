//! R57: an audit of an honest aggregator finds nothing, and each lie is found and named.
use crate::{
    revoke::request,
    world::{Running, World, network, node},
};
use axum::{
    Router,
    extract::{Path as Parameter, RawQuery},
    routing::get,
};
use concord_aggregator::audit::{Audit, AuditError, PublishedReceipt, Report, Settlement};
use concord_chain::fetch::{FetchOptions, Fetcher};
use serde_json::{Value, json};
use std::{collections::BTreeMap, path::Path, time::Duration};
use tokio::net::TcpListener;

const GRACE: u64 = 3_600;

/// Lists the receipts that it is given, and serves the files of a folder.
async fn publish(receipts: Vec<Value>, files: &Path) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let origin = format!("http://{}/", listener.local_addr().unwrap());
    let page = move |RawQuery(query): RawQuery| {
        let is_first = query.unwrap().contains("from=1&");
        let page = if is_first {
            receipts.clone()
        } else {
            Vec::new()
        };
        async move { json!({ "receipts": page }).to_string() }
    };
    let files = files.to_owned();
    let file = move |Parameter(cid): Parameter<String>| {
        let path = files.join(cid);
        async move { std::fs::read(path).map_err(|_| axum::http::StatusCode::NOT_FOUND) }
    };
    let routes = Router::new()
        .route("/receipts", get(page))
        .route("/ipfs/{cid}", get(file));
    tokio::spawn(async move { axum::serve(listener, routes).await.unwrap() });
    origin
}

fn audit(world: &World, origin: &str) -> Audit {
    let settlement = Settlement::Evm {
        node: node(&world.chain.url),
        identity: world.chain.registry,
        reputation: world.open,
    };
    Audit {
        url: origin.parse().unwrap(),
        settlements: BTreeMap::from([(network(), settlement)]),
        fetcher: Fetcher::new(FetchOptions::default()).unwrap(),
        grace: GRACE,
        client: Default::default(),
    }
}

async fn report(world: &World, origin: &str, given: &[Value], now: u64) -> Report {
    let given: Vec<PublishedReceipt> = given
        .iter()
        .map(|it| serde_json::from_value(it.clone()).unwrap())
        .collect();
    audit(world, origin).run(&given, now).await.unwrap()
}

/// Numbers and kinds of the problems.
fn problems(report: &Report) -> Vec<(u64, String)> {
    let kind = |it| {
        serde_json::to_value(it)
            .unwrap()
            .as_str()
            .unwrap()
            .to_owned()
    };
    let problems = report.problems.iter();
    problems.map(|it| (it.n, kind(it.kind))).collect()
}

fn lie(honest: &[Value], change: impl FnOnce(&mut Vec<Value>)) -> Vec<Value> {
    let mut receipts = honest.to_vec();
    change(&mut receipts);
    receipts
}

fn remove(entry: &mut Value, key: &str) {
    entry.as_object_mut().unwrap().remove(key).unwrap();
}

/// Three submissions: the second is revoked by its reviewer.
async fn submit_three(world: &World, running: &Running) -> Vec<Value> {
    for value in [90, -10, 50] {
        let mut draft = world.review(&world.pay(1).await);
        draft.value = value;
        assert_eq!(running.submit(&draft).await.status, 200);
        if value == -10 {
            let hash = running.store.get(2).unwrap().unwrap().submission.hash;
            let revoke = request(&draft, &hash, &draft.reviewer_key).to_string();
            assert_eq!(running.post_to("/revocations", revoke).await.status, 200);
        }
    }
    while running.store.get(3).unwrap().unwrap().index.is_none() {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let page = running.get("/receipts").await;
    page.body["receipts"].as_array().unwrap().clone()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r57_each_lie_is_found_and_named() {
    let world = World::start().await;
    let folder = tempfile::tempdir().unwrap();
    let running = Running::start(&world, folder.path()).await;
    let honest = submit_three(&world, &running).await;
    let accepted_at = honest[2]["receipt"]["acceptedAt"].as_u64().unwrap();
    let late = accepted_at + GRACE;
    let origin = format!("{}/", running.origin);
    let kept: Vec<Value> = honest.iter().map(|it| it["receipt"].clone()).collect();
    let clean = report(&world, &origin, &kept, late).await;
    assert_eq!(problems(&clean), []);
    let counts = (
        clean.receipts,
        clean.published,
        clean.revoked,
        clean.pending,
    );
    assert_eq!(counts, (3, 2, 1, 0));
    assert_eq!(clean.public_key.as_deref(), kept[0]["publicKey"].as_str());

    let files = folder.path().join("files");
    let nothing = format!("{}:0x{}", network(), "cd".repeat(32));
    let elsewhere = format!("{}:{}", network(), world.client());
    let second = honest[1]["txRef"].clone();
    let other_file = honest[2]["feedbackURI"].clone();
    let zeros = "bafkreihdwdcefgh4dqkjv67uzcmw7ojee6xedzdetojuzjevtenxquvyku";
    for (what, receipts, expected) in [
        (
            "no transaction",
            lie(&honest, |it| remove(&mut it[0], "txRef")),
            vec![(1, "withheld")],
        ),
        (
            "an invented transaction",
            lie(&honest, |it| it[0]["txRef"] = json!(nothing)),
            vec![(1, "withheld")],
        ),
        (
            "another's transaction",
            lie(&honest, |it| it[0]["txRef"] = second),
            vec![(1, "differs")],
        ),
        (
            "another's file",
            lie(&honest, |it| it[0]["feedbackURI"] = other_file),
            vec![(1, "differs")],
        ),
        (
            "no file",
            lie(&honest, |it| {
                it[0]["feedbackURI"] = json!(format!("ipfs://{zeros}"))
            }),
            vec![(1, "file-missing")],
        ),
        (
            "another registry",
            lie(&honest, |it| it[0]["settlementRegistry"] = json!(elsewhere)),
            vec![(1, "other-registry")],
        ),
        (
            "another chain",
            lie(&honest, |it| {
                it[0]["txRef"] = json!(format!("eip155:1:0x{}", "cd".repeat(32)))
            }),
            vec![(1, "other-registry")],
        ),
        (
            "a revocation without the reviewer",
            lie(&honest, |it| remove(&mut it[1], "revocation")),
            vec![(2, "revoked-by-others")],
        ),
        (
            "a revocation with another signature",
            lie(&honest, |it| {
                it[1]["revocation"]["request"]["feedbackHash"] =
                    json!(format!("0x{}", "11".repeat(32)));
            }),
            vec![(2, "revoked-by-others")],
        ),
        // the third has another number, and does not follow the first
        (
            "a gap",
            lie(&honest, |it| drop(it.remove(1))),
            vec![(3, "chain-broken"), (3, "chain-broken")],
        ),
        (
            "another time",
            lie(&honest, |it| {
                it[2]["receipt"]["acceptedAt"] = json!(accepted_at - 1)
            }),
            vec![(3, "chain-broken"), (3, "differs")],
        ),
        (
            "another payload",
            lie(&honest, |it| {
                it[2]["receipt"]["payloadDigest"] = json!(format!("0x{}", "11".repeat(32)))
            }),
            vec![(3, "chain-broken")],
        ),
        (
            "another signature",
            lie(&honest, |it| {
                let signature = it[1]["receipt"]["signature"].clone();
                it[2]["receipt"]["signature"] = signature;
            }),
            vec![(3, "chain-broken")],
        ),
        (
            "its end is cut off",
            lie(&honest, |it| drop(it.pop())),
            vec![],
        ),
    ] {
        let origin = publish(receipts, &files).await;
        let found = problems(&report(&world, &origin, &[], late).await);
        let expected: Vec<(u64, String)> = expected
            .into_iter()
            .map(|(n, kind)| (n, kind.to_owned()))
            .collect();
        assert_eq!(found, expected, "{what}");
    }
    // only who kept the receipt can know that the end is missing
    let origin = publish(lie(&honest, |it| drop(it.pop())), &files).await;
    let found = problems(&report(&world, &origin, &kept, late).await);
    assert_eq!(found, [(3, "forked".to_owned())]);

    // within the grace period nothing is withheld yet
    let origin = publish(lie(&honest, |it| remove(&mut it[2], "txRef")), &files).await;
    let early = report(&world, &origin, &[], late - 1).await;
    assert_eq!((problems(&early).len(), early.pending), (0, 1));

    // a node that does not answer proves nothing
    world.chain.stop();
    let found = audit(&world, &origin).run(&[], late).await;
    assert!(matches!(found, Err(AuditError::Chain(_))), "{found:?}");
    running.stop().await;
    let found = audit(&world, "http://127.0.0.1:1/").run(&[], late).await;
    assert!(
        matches!(found, Err(AuditError::Aggregator { .. })),
        "{found:?}"
    );
}
