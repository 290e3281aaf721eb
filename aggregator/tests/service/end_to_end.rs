//! Pay, POST, landed: and everything that the answer says is verified on the chain, or by hand.
use crate::world::{RECEIPT_SEED, Running, World, network, node};
use alloy::primitives::{B256, hex, keccak256};
use concord_canonical::sign::{ed25519_public_key, ed25519_verify};
use concord_files::{FeedbackFile, X402Profile, parse_feedback};
use concord_registry::evm::abi::ReputationRegistry as Open;
use concord_testkit::chain::{CHAIN_ID, root};
use concord_x402::feedback::cid_of;
use serde_json::{Value, json};
use std::fs;

fn bytes(value: &Value) -> Vec<u8> {
    hex::decode(value.as_str().unwrap()).unwrap()
}

/// R57, from its text.
pub fn check_receipt(receipt: &Value, previous: &[u8]) -> Vec<u8> {
    let accepted_at = receipt["acceptedAt"].as_u64().unwrap();
    let preimage = [
        b"ERC8004/RECEIPT/v1".as_slice(),
        previous,
        keccak256(receipt["key"].as_str().unwrap()).as_slice(),
        &bytes(&receipt["payloadDigest"]),
        &accepted_at.to_be_bytes(),
    ]
    .concat();
    let hash = keccak256(preimage);
    assert_eq!(bytes(&receipt["previous"]), previous);
    assert_eq!(bytes(&receipt["receipt"]), hash.as_slice());
    let key = ed25519_public_key(&RECEIPT_SEED);
    assert_eq!(bytes(&receipt["publicKey"]), key);
    ed25519_verify(&key, hash.as_slice(), &bytes(&receipt["signature"])).unwrap();
    hash.to_vec()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_paid_service_is_rated_without_gas() {
    let world = World::start().await;
    let folder = tempfile::tempdir().unwrap();
    let running = Running::start(&world, folder.path()).await;
    let transaction = world.pay(1_000).await;
    let draft = world.review(&transaction);
    let payload = draft.json();

    let answer = running.submit(&draft).await;
    assert_eq!(
        (answer.status, &answer.body["status"]),
        (200, &json!("submitted")),
        "{}",
        answer.body
    );
    let settlement = format!("{}:{}", network(), world.open);
    assert_eq!(answer.body["settlementRegistry"], *settlement);
    let uri = answer.body["feedbackURI"].as_str().unwrap();
    let cid = uri.strip_prefix("ipfs://").unwrap();

    // the transaction is on chain, by the aggregator's account, and is the entry
    let tx_ref = answer.body["txRef"].as_str().unwrap();
    let hash: B256 = tx_ref
        .strip_prefix(&format!("{}:", network()))
        .unwrap()
        .parse()
        .unwrap();
    let receipt = node(&world.chain.url).receipt(hash).await.unwrap().unwrap();
    assert!(receipt.status());
    assert_eq!(
        (receipt.from, receipt.to),
        (world.client(), Some(world.open))
    );
    let entry = Open::readFeedbackCall {
        agentId: world.chain.agent_id,
        clientAddress: world.client(),
        feedbackIndex: 1,
    };
    let entry = node(&world.chain.url)
        .read(world.open, &entry)
        .await
        .unwrap()
        .unwrap();
    assert_eq!((entry.value, entry.valueDecimals), (95, 0));
    assert_eq!(
        (&*entry.tag1, &*entry.tag2),
        ("x402-resource-delivered", "proof-of-participation")
    );

    // the file is what its CID and the event's hash name, and both signatures in it hold
    let file = running.bytes(&format!("/ipfs/{cid}")).await;
    assert_eq!(cid_of(&file), cid);
    let logs = receipt.logs().iter();
    let mut events = logs.filter_map(|log| log.log_decode::<Open::NewFeedback>().ok());
    let event = events.next().expect("one event").inner.data;
    assert_eq!(
        (&*event.feedbackURI, event.feedbackHash),
        (uri, keccak256(&file))
    );
    let parsed = parse_feedback(&file).unwrap();
    assert!(parsed.is_canonical(), "R21");
    let FeedbackFile::X402(x402) = parsed.view() else {
        panic!("{:?}", parsed.view().dialect());
    };
    x402.verify_review().unwrap();
    x402.proof()
        .signed
        .verify(X402Profile::Reputation8004)
        .unwrap();
    let file: Value = serde_json::from_slice(&file).unwrap();
    assert_eq!(
        file["clientAddress"],
        *format!("eip155:{CHAIN_ID}:{}", world.client()),
        "R38"
    );
    assert_eq!(
        file["proofOfParticipation"]["reviewerAddress"], *draft.reviewer,
        "R38"
    );
    assert_eq!(file["endpoint"], "https://agent.example/weather", "R39");
    assert_eq!(file["comment"], "Fresh as promised");
    assert_eq!(file.get("payments"), None, "it was checked (R54)");

    // R57
    let receipt = &answer.body["receipt"];
    let key = format!(
        "{}:{transaction}:{}",
        network(),
        draft.reviewer.to_lowercase()
    );
    assert_eq!(receipt["key"], *key);
    let canonical = concord_canonical::json::canonicalize(&payload.to_string()).unwrap();
    assert_eq!(
        bytes(&receipt["payloadDigest"]),
        keccak256(canonical).as_slice()
    );
    let first = check_receipt(receipt, &[0; 32]);

    // R51: the same again, in another order of members, and something else
    let spaced = serde_json::to_string_pretty(&payload).unwrap();
    let again = running.post(spaced).await;
    assert_eq!(again.status, 200);
    assert_eq!(again.body["txRef"], answer.body["txRef"]);
    assert_eq!(again.body["receipt"], *receipt);
    let mut other = draft.clone();
    other.value = 5;
    let other = running.submit(&other).await;
    assert_eq!(
        (other.status, &other.body["code"]),
        (409, &json!("DUPLICATE_TASK_REF"))
    );
    assert_eq!(other.body["field"], "interactionData.taskRef");
    assert_eq!(world.feedbacks().await, 1);

    let mut second = world.review(&world.pay(1).await);
    (second.value, second.tags) = (-3, [String::new(), "x".to_owned()]);
    let second = running.submit(&second).await;
    assert_eq!(second.status, 200, "whatever it says: {}", second.body);
    check_receipt(&second.body["receipt"], &first);
    assert_eq!(world.feedbacks().await, 2);

    let page = running.get("/receipts?from=1&limit=5").await;
    let receipts = page.body["receipts"].as_array().unwrap();
    let mut previous = vec![0; 32];
    for entry in receipts {
        previous = check_receipt(&entry["receipt"], &previous);
        assert!(entry["txRef"].is_string());
    }
    assert_eq!(receipts.len(), 2);
    let metrics = String::from_utf8(running.bytes("/metrics").await).unwrap();
    let documented = fs::read_to_string(root("docs/AGGREGATOR.md")).unwrap();
    for name in metrics.lines().filter_map(|it| it.strip_prefix("# TYPE ")) {
        let (name, kind) = name.split_once(' ').unwrap();
        assert_eq!(kind, "gauge");
        assert!(documented.contains(&format!("| `{name}")), "{name}");
    }
    let total: u64 = metrics
        .lines()
        .filter(|it| it.starts_with("concord_aggregator_submissions{"))
        .filter_map(|it| it.rsplit_once(' ')?.1.parse::<u64>().ok())
        .sum();
    assert_eq!(total, 2, "{metrics}");
    for path in [
        "/ipfs/../aggregator.sqlite",
        "/ipfs/bafkreihdwdcefgh4dqkjv67uzcmw7ojee6xedzdetojuzjevtenxquvyku",
        "/submissions/9",
    ] {
        assert_eq!(running.get(path).await.status, 404, "{path}");
    }
    running.stop().await;
}
