//! R58: the reviewer revokes what they submitted, and nobody else does.
use crate::{
    payload::{Draft, algorithm},
    solana,
    world::{Answer, Running, Settings, World, network, node, pause},
};
use alloy::primitives::keccak256;
use concord_aggregator::store::RowState;
use concord_canonical::sign::PreparedKey;
use concord_registry::evm::abi::ReputationRegistry as Open;
use concord_registry::svm::accounts::OpenFeedback;
use concord_testkit::cluster::{NETWORK, Solana};
use serde_json::{Value, json};
use std::time::Duration;

/// R58, from its text.
pub fn request(draft: &Draft, hash: &str, key: &PreparedKey) -> Value {
    let hash_bytes = hex::decode(&hash[2..]).unwrap();
    let mut preimage = b"ERC8004/REVOKE/v1".to_vec();
    let texts = [
        &draft.registry,
        &draft.agent_id,
        &draft.task_ref,
        &draft.reviewer,
    ];
    for text in texts {
        preimage.push(0);
        preimage.extend(text.as_bytes());
    }
    preimage.push(0);
    preimage.extend(hash_bytes);
    let message = keccak256(preimage).0;
    let signature = key
        .sign(&message, |it| format!("0x{}", hex::encode(it)))
        .unwrap();
    json!({
        "agentRegistry": draft.registry,
        "agentId": draft.agent_id,
        "taskRef": draft.task_ref,
        "reviewerAddress": draft.reviewer,
        "feedbackHash": hash,
        "reviewerSignature": signature,
        "reviewerSignatureAlgorithm": algorithm(key),
    })
}

fn with(request: &Value, key: &str, value: Value) -> Value {
    let mut changed = request.clone();
    changed[key] = value;
    changed
}

async fn is_revoked(world: &World) -> bool {
    let call = Open::readFeedbackCall {
        agentId: world.chain.agent_id,
        clientAddress: world.client(),
        feedbackIndex: 1,
    };
    let read = node(&world.chain.url).read(world.open, &call).await;
    read.unwrap().unwrap().isRevoked
}

fn found(answer: &Answer) -> (u16, &str, &str, &str) {
    let text = |key: &str| answer.body[key].as_str().unwrap_or("");
    (answer.status, text("code"), text("class"), text("field"))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r58_only_the_reviewer_revokes() {
    let world = World::start().await;
    let folder = tempfile::tempdir().unwrap();
    let running = Running::start(&world, folder.path()).await;
    let draft = world.review(&world.pay(1).await);
    assert_eq!(running.submit(&draft).await.status, 200);
    let hash = running.store.get(1).unwrap().unwrap().submission.hash;
    let good = request(&draft, &hash, &draft.reviewer_key);
    let stranger = PreparedKey::secp256k1(&[5; 32]).unwrap();
    let mut other_agent = draft.clone();
    other_agent.agent_id = "4242".to_owned();
    let mut other_registry = draft.clone();
    other_registry.registry = "eip155:84532:0x8004A818BFB912233c491871b3d84c89A494BD9e".to_owned();
    let mut unknown = draft.clone();
    unknown.task_ref = format!("{}:0x{}", network(), "ab".repeat(32));
    let key = &draft.reviewer_key;
    let other_hash = format!("0x{}", "11".repeat(32));
    let malformed = "INVALID_PAYLOAD";
    let unsigned = (
        422,
        "INVALID_REVIEWER_SIGNATURE",
        "BadSignature",
        "reviewerSignature",
    );
    for (request, expected) in [
        (json!({}), (400, malformed, "FieldMissing", "agentRegistry")),
        (
            with(&good, "agentId", json!(7)),
            (400, malformed, "WrongType", "agentId"),
        ),
        (
            with(&good, "feedbackHash", json!("0x00")),
            (400, malformed, "MalformedField", "feedbackHash"),
        ),
        (
            with(&good, "taskRef", json!("eip155:1")),
            (400, malformed, "MalformedTaskRef", "taskRef"),
        ),
        (
            with(&good, "reviewerSignatureAlgorithm", json!("rsa")),
            (
                400,
                malformed,
                "MalformedField",
                "reviewerSignatureAlgorithm",
            ),
        ),
        (
            with(&good, "feedbackHash", json!(other_hash.clone())),
            unsigned,
        ),
        (request(&draft, &hash, &stranger), unsigned),
        // the agent would like bad feedback to go away
        (request(&draft, &hash, &draft.agent_key), unsigned),
        (
            request(&unknown, &hash, key),
            (404, "UNKNOWN_FEEDBACK", "UnknownFeedback", "taskRef"),
        ),
        (
            request(&other_registry, &hash, key),
            (400, malformed, "AgentMismatch", "agentRegistry"),
        ),
        (
            request(&other_agent, &hash, key),
            (400, malformed, "AgentMismatch", "agentId"),
        ),
        (
            request(&draft, &other_hash, key),
            (400, malformed, "FeedbackHashMismatch", "feedbackHash"),
        ),
    ] {
        let answer = running.post_to("/revocations", request.to_string()).await;
        assert_eq!(found(&answer), expected, "{request} {}", answer.body);
        if expected.2 == "FeedbackHashMismatch" {
            let words = answer.body["message"].as_str().unwrap();
            assert!(
                !words.contains(&hash[2..]),
                "R53: the file is not shown yet: {words}"
            );
        }
    }
    assert!(!is_revoked(&world).await);
    assert!(
        running.store.revocation(1).unwrap().is_none(),
        "nothing was accepted"
    );

    let answer = running.post_to("/revocations", good.to_string()).await;
    assert_eq!(
        (answer.status, &answer.body["status"]),
        (200, &json!("submitted")),
        "{}",
        answer.body
    );
    assert!(is_revoked(&world).await);
    let hash = answer.body["txRef"]
        .as_str()
        .unwrap()
        .rsplit(':')
        .next()
        .unwrap()
        .parse();
    let receipt = node(&world.chain.url)
        .receipt(hash.unwrap())
        .await
        .unwrap()
        .unwrap();
    assert_eq!(
        (receipt.from, receipt.to),
        (world.client(), Some(world.open))
    );
    while running.store.revocation(1).unwrap().unwrap().state != RowState::Final {
        pause().await;
    }

    // the same again is the same transaction, and everybody sees what the reviewer signed
    let again = running.post_to("/revocations", good.to_string()).await;
    assert_eq!(
        (again.status, &again.body["txRef"]),
        (200, &answer.body["txRef"])
    );
    let submission = running.get("/submissions/1").await;
    assert_eq!(submission.body["revocation"]["request"], good);
    let page = running.get("/receipts").await;
    assert_eq!(page.body["receipts"][0]["revocation"]["request"], good);
    assert_eq!(running.store.open_revocations().unwrap(), 0);
    running.stop().await;
}

/// Accepted while the node is silent, then killed with the process: it lands after the start, once.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r58_a_revocation_waits_for_its_feedback_and_survives_a_restart() {
    let world = World::start().await;
    let folder = tempfile::tempdir().unwrap();
    let running = Running::start_final_after(3, &world, folder.path()).await;
    let draft = world.review(&world.pay(1).await);
    let answer = running.submit(&draft).await;
    assert_eq!(
        (answer.status, &answer.body["state"]),
        (200, &json!("landed"))
    );
    let hash = running.store.get(1).unwrap().unwrap().submission.hash;
    let good = request(&draft, &hash, &draft.reviewer_key);
    running.stop().await;
    let settings = Settings {
        wait: Some(Duration::ZERO),
        ..Settings::default()
    };
    let running = Running::start_with(settings, 3, &world, folder.path()).await;
    let answer = running.post_to("/revocations", good.to_string()).await;
    assert_eq!(
        (answer.status, &answer.body["status"]),
        (202, &json!("accepted"))
    );
    assert_eq!(answer.location.as_deref(), Some("./submissions/1"));
    assert!(!is_revoked(&world).await, "the feedback is not final");
    assert_eq!(running.store.open_revocations().unwrap(), 1);
    running.stop().await;

    let running = Running::start_final_after(1, &world, folder.path()).await;
    world.mine(3).await;
    while running.store.open_revocations().unwrap() > 0 {
        pause().await;
    }
    assert!(is_revoked(&world).await);
    let row = running.store.revocation(1).unwrap().unwrap();
    assert_eq!((row.state, row.reason.as_deref()), (RowState::Final, None));
    running.stop().await;
}

/// The registry reverts the revocation. It stays, with the reason, and can be retried.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r58_a_revocation_that_the_registry_refuses_is_shown_and_can_be_retried() {
    let world = World::start().await;
    let folder = tempfile::tempdir().unwrap();
    let running = Running::start(&world, folder.path()).await;
    let draft = world.review(&world.pay(1).await);
    assert_eq!(running.submit(&draft).await.status, 200);
    while running.store.get(1).unwrap().unwrap().index.is_none() {
        pause().await;
    }
    let code = world.break_registry().await;
    let hash = running.store.get(1).unwrap().unwrap().submission.hash;
    let good = request(&draft, &hash, &draft.reviewer_key).to_string();
    let answer = running.post_to("/revocations", good).await;
    let found = (answer.status, answer.body["class"].as_str());
    assert_eq!(found, (422, Some("RefusedByRegistry")), "{}", answer.body);
    let late = running.store.late_revocations().unwrap();
    let found: Vec<_> = late.iter().map(|it| (it.n, it.state)).collect();
    assert_eq!(found, [(1, RowState::Refused)]);
    assert!(late[0].reason.as_ref().unwrap().contains("revert"));

    world.set_code(&code).await;
    assert_eq!(running.store.retry().await.unwrap(), 1);
    while running.store.open_revocations().unwrap() > 0 {
        pause().await;
    }
    assert!(is_revoked(&world).await);
    assert_eq!(running.store.late_revocations().unwrap().len(), 0);
    running.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r58_a_reviewer_revokes_on_solana() {
    let (world, solana) = (World::start().await, Solana::start().await);
    let folder = tempfile::tempdir().unwrap();
    let (running, _, client) = solana::open(&world, &solana, folder.path()).await;
    let draft = solana::review(&world, &solana).await;
    let answer = running.submit(&draft).await;
    assert_eq!(answer.status, 200, "{}", answer.body);
    let hash = running.store.get(1).unwrap().unwrap().submission.hash;
    let good = request(&draft, &hash, &draft.reviewer_key);
    let answer = running.post_to("/revocations", good.to_string()).await;
    assert_eq!(answer.status, 200, "{}", answer.body);
    assert!(answer.body["txRef"].as_str().unwrap().starts_with(NETWORK));
    let account = client.rsplit(':').next().unwrap().parse().unwrap();
    let place = solana.program.open_feedback(&solana.mint, &account, 1);
    let found = solana.cluster.account(&place).await.unwrap().unwrap();
    let entry: OpenFeedback = solana.program.decode(&found.owner, &found.data).unwrap();
    assert!(entry.revoked);
    running.stop().await;
}
