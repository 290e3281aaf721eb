//! R57: an audit of an honest aggregator finds nothing, and each lie is found and named.
use crate::{
    revoke::request,
    solana,
    world::{Running, World, network, node, pause},
};
use axum::{
    Router,
    extract::{Path as Parameter, RawQuery},
    routing::get,
};
use concord_aggregator::audit::{Audit, AuditError, PublishedReceipt, Report, Settlement};
use concord_chain::{
    Endpoint, EndpointOptions,
    fetch::{FetchOptions, Fetcher},
};
use concord_testkit::cluster::{NETWORK, Solana};
use serde_json::{Value, json};
use std::{collections::BTreeMap, path::Path};
use tokio::net::TcpListener;

pub const GRACE: u64 = 3_600;

/// Lists the receipts that it is given, and serves the files of a folder.
pub async fn publish(receipts: Vec<Value>, files: &Path) -> String {
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

pub fn audit(world: &World, origin: &str) -> Audit {
    let settlement = Settlement::Evm {
        node: node(&world.chain.url),
        identity: world.chain.registry,
        reputation: world.open,
    };
    audit_at(&network(), settlement, origin)
}

fn audit_at(chain: &str, settlement: Settlement, origin: &str) -> Audit {
    Audit {
        url: origin.parse().unwrap(),
        settlements: BTreeMap::from([(chain.to_owned(), settlement)]),
        fetcher: Fetcher::new(FetchOptions::default()).unwrap(),
        grace: GRACE,
        payloads: Vec::new(),
        client: Default::default(),
    }
}

pub async fn report(world: &World, origin: &str, given: &[Value], now: u64) -> Report {
    let given: Vec<PublishedReceipt> = given
        .iter()
        .map(|it| serde_json::from_value(it.clone()).unwrap())
        .collect();
    audit(world, origin).run(&given, now).await.unwrap()
}

/// Numbers and kinds of the problems.
pub fn problems(report: &Report) -> Vec<(u64, String)> {
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
        pause().await;
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

/// Dated ahead, a receipt without feedback would be "pending" for as long as its author likes.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r57_a_receipt_from_the_future_is_not_pending() {
    let world = World::start().await;
    let folder = tempfile::tempdir().unwrap();
    let running = Running::start(&world, folder.path()).await;
    let draft = world.review(&world.pay(1).await);
    assert_eq!(running.submit(&draft).await.status, 200);
    let page = running.get("/receipts").await;
    let mut receipts = page.body["receipts"].as_array().unwrap().clone();
    let accepted_at = receipts[0]["receipt"]["acceptedAt"].as_u64().unwrap();
    remove(&mut receipts[0], "txRef");
    let origin = publish(receipts, &folder.path().join("files")).await;
    let young = report(&world, &origin, &[], accepted_at - 60).await;
    assert_eq!((problems(&young), young.pending), (vec![], 1));
    let ahead = report(&world, &origin, &[], accepted_at - 61).await;
    let expected = [(1, "chain-broken"), (1, "withheld")].map(|(n, kind)| (n, kind.to_owned()));
    assert_eq!((problems(&ahead), ahead.pending), (expected.to_vec(), 0));
    running.stop().await;
}

/// An aggregator that starts, and has submitted one more feedback for good.
async fn submit_on_solana(world: &World, solana: &Solana, folder: &Path) -> Running {
    let (running, ..) = solana::open(world, solana, folder).await;
    let draft = solana::review(world, solana).await;
    assert_eq!(running.submit(&draft).await.status, 200);
    while running.store.open_count().unwrap() > 0 {
        pause().await;
    }
    running
}

/// R36: one entry about which a node knows nothing any more does not end the audit, whatever time its author gave it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r36_what_a_node_has_dropped_is_unknown_and_the_audit_goes_on() {
    let (world, solana) = (World::start().await, Solana::start().await);
    let folder = tempfile::tempdir().unwrap();
    let endpoint = Endpoint::new(&EndpointOptions::new(&solana.url)).unwrap();
    submit_on_solana(&world, &solana, folder.path())
        .await
        .stop()
        .await;
    let expire = "local_expire_blockhashes"; // two minutes on the cluster's clock
    for method in [expire, expire, "local_forget"] {
        let _: Value = endpoint.expect(method, json!([])).await.unwrap();
    }
    // what is signed next is not valid in a block that is forgotten
    let advance = endpoint.expect("local_advance", json!([200]));
    let _: Value = advance.await.unwrap();
    let running = submit_on_solana(&world, &solana, folder.path()).await;
    let page = running.get("/receipts").await;
    let honest = page.body["receipts"].as_array().unwrap().clone();
    let late = honest[1]["receipt"]["acceptedAt"].as_u64().unwrap() + GRACE;
    let found = async |receipts: Vec<Value>, now: u64| {
        let origin = publish(receipts, &folder.path().join("files")).await;
        let settlement = Settlement::Svm {
            cluster: solana.cluster.clone(),
            program: solana.program,
        };
        let audit = audit_at(NETWORK, settlement, &origin);
        let report = audit.run(&[], now).await.unwrap();
        let unknown: Vec<u64> = report.unknown.iter().map(|it| it.n).collect();
        (unknown, problems(&report), report.published)
    };
    assert_eq!(found(honest.clone(), late).await, (vec![1], vec![], 1));
    let invented = format!("{NETWORK}:{}", bs58::encode([7; 64]).into_string());
    let bogus = lie(&honest, |it| it[0]["txRef"] = json!(invented));
    assert_eq!(found(bogus, late).await, (vec![1], vec![], 1));
    // what no transaction can be called is on no chain, whatever a node has dropped
    let nameless = lie(&honest, |it| it[0]["txRef"] = json!(format!("{NETWORK}:x")));
    let withheld = vec![(1, "withheld".to_owned())];
    assert_eq!(found(nameless, late).await, (vec![], withheld.clone(), 1));
    // nor what would take hours to decode
    let long = format!("{NETWORK}:{}", "z".repeat(15_000_000));
    let long = lie(&honest, |it| it[0]["txRef"] = json!(long));
    assert_eq!(found(long, late).await, (vec![], withheld, 1));
    running.stop().await;
}
