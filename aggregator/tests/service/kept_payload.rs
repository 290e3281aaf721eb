//! R57: an audit compares what was published with the payload that its reviewer kept.
use crate::{
    audit::{GRACE, audit, problems, publish},
    world::{RECEIPT_SEED, Running, World},
};
use alloy::primitives::{hex, keccak256};
use concord_aggregator::audit::{Report, SentPayload};
use concord_canonical::{json, receipt::Receipt, sign::PreparedKey};
use serde_json::{Value, json};
use std::path::Path;

struct Case<'a> {
    world: &'a World,
    files: &'a Path,
    now: u64,
}

impl Case<'_> {
    async fn report(&self, entry: &Value, sent: Option<&Value>) -> Report {
        let origin = publish(vec![entry.clone()], self.files).await;
        let mut audit = audit(self.world, &origin);
        let sent = sent.map(|it| SentPayload::read(it.to_string().as_bytes()).unwrap());
        audit.payloads = sent.into_iter().collect();
        audit.run(&[], self.now).await.unwrap()
    }
}

/// The entry as an aggregator has it that accepted this payload.
fn accepting(entry: &Value, payload: &Value) -> Value {
    let hex = |bytes: &[u8]| format!("0x{}", hex::encode(bytes));
    let text = payload.to_string();
    let digest = keccak256(json::parse(&text).unwrap().to_canonical()).0;
    let receipt = Receipt {
        previous: [0; 32],
        key: entry["receipt"]["key"].as_str().unwrap(),
        payload_digest: digest,
        accepted_at: entry["receipt"]["acceptedAt"].as_u64().unwrap(),
    };
    let key = PreparedKey::ed25519(&RECEIPT_SEED);
    let mut entry = entry.clone();
    entry["receipt"]["payloadDigest"] = json!(hex(&digest));
    entry["receipt"]["receipt"] = json!(hex(&receipt.hash()));
    entry["receipt"]["signature"] = json!(key.sign(&receipt.hash(), hex).unwrap());
    entry
}

fn saying(payload: &Value, member: &str, text: &str) -> Value {
    let mut payload = payload.clone();
    payload["review"][member] = json!(text);
    payload
}

/// The reviewer signs neither, so an aggregator can publish others. Only who kept the payload can see it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r57_a_changed_comment_or_endpoint_is_found_with_the_payload() {
    let world = World::start().await;
    let folder = tempfile::tempdir().unwrap();
    let running = Running::start(&world, folder.path()).await;
    let draft = world.review(&world.pay(1).await);
    assert_eq!(running.submit(&draft).await.status, 200);
    let honest = running.get("/receipts").await.body["receipts"][0].clone();
    let case = Case {
        world: &world,
        files: &folder.path().join("files"),
        now: honest["receipt"]["acceptedAt"].as_u64().unwrap() + GRACE,
    };
    let published = draft.json();
    let comment = saying(&published, "comment", "Stale");
    let endpoint = saying(&published, "endpoint", "https://agent.example/news");
    let query = saying(&published, "endpoint", "https://agent.example/weather?q=1"); // R39
    for (entry, sent, expected) in [
        (&honest, Some(&published), Ok(1)),
        (&accepting(&honest, &query), Some(&query), Ok(1)),
        // what nothing is compared with
        (&honest, None, Ok(0)),
        (&accepting(&honest, &comment), None, Ok(0)),
        (
            &accepting(&honest, &comment),
            Some(&comment),
            Err("comment is \"Fresh as promised\", \"Stale\" was sent"),
        ),
        (
            &accepting(&honest, &endpoint),
            Some(&endpoint),
            Err(
                "endpoint is \"https://agent.example/weather\", \"https://agent.example/news\" was sent",
            ),
        ),
        (
            &honest,
            Some(&comment),
            Err("the receipt is of a payload with digest 0x"),
        ),
    ] {
        let report = case.report(entry, sent).await;
        let detail = report.problems.first().map(|it| it.detail.clone());
        match expected {
            Ok(compared) => {
                assert_eq!(problems(&report), [], "{detail:?}");
                assert_eq!((report.published, report.compared), (1, compared));
            }
            Err(words) => {
                assert_eq!(problems(&report), [(1, "differs".to_owned())]);
                assert!(detail.unwrap().starts_with(words), "{words}");
                assert_eq!((report.published, report.compared), (0, 0));
            }
        }
        assert_eq!(report.unknown, []);
    }
    // a payload that no receipt is of is neither fine nor wrong
    let other = world.review(&world.pay(1).await).json();
    let report = case.report(&honest, Some(&other)).await;
    let unknown: Vec<u64> = report.unknown.iter().map(|it| it.n).collect();
    assert_eq!((problems(&report), unknown), (vec![], vec![0]));
    running.stop().await;
}
