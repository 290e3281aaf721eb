//! R19, R58: an agent responds without gas to feedback that was submitted here, and no one else can respond in its name.
use crate::{
    audit::{problems, report},
    end_to_end::check_receipt,
    killed,
    payload::{Draft, algorithm, public_key},
    shut_out::as_owner,
    solana,
    world::{Answer, Place, Running, Settings, World, network, node, pause, store},
};
use alloy::{
    network::TransactionBuilder,
    primitives::{Address, keccak256},
    rpc::types::TransactionRequest,
    signers::local::PrivateKeySigner,
};
use concord_aggregator::{
    Aggregator,
    lane::Lane,
    store::{Receipted, RowState},
};
use concord_canonical::{json::canonicalize, sign::PreparedKey};
use concord_chain::submission::TxRecord;
use concord_files::encode_uri;
use concord_registry::{
    evm::{
        abi::Feedback,
        calls::{self, AppendResponse, GiveOpenFeedback},
    },
    svm::accounts::OpenFeedback,
};
use concord_testkit::cluster::{NETWORK, Solana};
use concord_testkit::errand;
use concord_x402::feedback::{FileFolder, FileStore};
use serde_json::{Value, json};
use std::{
    path::Path,
    sync::Arc,
    time::{Duration, SystemTime, UNIX_EPOCH},
};
use tokio::sync::{Notify, watch};

pub const URI: &str = "https://agent.example/response.json";

/// R58's response, from its text.
pub fn request(draft: &Draft, feedback_hash: &str, key: &PreparedKey) -> Value {
    let response_hash = keccak256(b"{\"sorry\":true}");
    let mut preimage = b"ERC8004/RESPOND/v1".to_vec();
    let texts = [
        &*draft.registry,
        &draft.agent_id,
        &draft.task_ref,
        &draft.reviewer,
        URI,
    ];
    for text in texts {
        preimage.push(0);
        preimage.extend(text.as_bytes());
    }
    preimage.push(0);
    preimage.extend(hex::decode(&feedback_hash[2..]).unwrap());
    preimage.extend(response_hash);
    let message = keccak256(preimage).0;
    let signature = key
        .sign(&message, |it| format!("0x{}", hex::encode(it)))
        .unwrap();
    json!({
        "agentRegistry": draft.registry,
        "agentId": draft.agent_id,
        "taskRef": draft.task_ref,
        "reviewerAddress": draft.reviewer,
        "responseURI": URI,
        "feedbackHash": feedback_hash,
        "responseHash": response_hash.to_string(),
        "agentSignerPublicKey": public_key(key),
        "agentSignature": signature,
        "agentSignatureAlgorithm": algorithm(key),
    })
}

fn with(request: &Value, key: &str, value: Value) -> Value {
    let mut changed = request.clone();
    changed[key] = value;
    changed
}

/// Responses of the aggregator's account to its feedback with this index.
async fn responses(world: &World, index: u64) -> u64 {
    let call = Feedback::getResponseCountCall {
        agentId: world.chain.agent_id,
        clientAddress: world.client(),
        feedbackIndex: index,
        responders: vec![world.client()],
    };
    let read = node(&world.chain.url).read(world.open, &call).await;
    read.unwrap().unwrap()
}

fn found(answer: &Answer) -> (u16, &str, &str, &str) {
    let text = |key: &str| answer.body[key].as_str().unwrap_or("");
    (answer.status, text("code"), text("class"), text("field"))
}

/// A submission that is final; the hash of its file.
pub async fn submitted(running: &Running, draft: &Draft) -> String {
    let answer = running.submit(draft).await;
    assert_eq!(answer.status, 200, "{}", answer.body);
    let n = answer.body["receipt"]["n"].as_u64().unwrap();
    while running.store.get(n).unwrap().unwrap().index.is_none() {
        pause().await;
    }
    running.store.get(n).unwrap().unwrap().submission.hash
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r58_only_the_agent_responds() {
    let world = World::start().await;
    let folder = tempfile::tempdir().unwrap();
    let running = Running::start(&world, folder.path()).await;
    let draft = world.review(&world.pay(1).await);
    let hash = submitted(&running, &draft).await;
    let good = request(&draft, &hash, &draft.agent_key);
    let stranger = PreparedKey::secp256k1(&[5; 32]).unwrap();
    let mut other_agent = draft.clone();
    other_agent.agent_id = "4242".to_owned();
    let mut other_registry = draft.clone();
    other_registry.registry = "eip155:84532:0x8004A818BFB912233c491871b3d84c89A494BD9e".to_owned();
    let mut unknown = draft.clone();
    unknown.task_ref = format!("{}:0x{}", network(), "ab".repeat(32));
    let key = &draft.agent_key;
    let malformed = "INVALID_PAYLOAD";
    let other_hash = format!("0x{}", "11".repeat(32));
    let form = |class, field| (400, malformed, class, field);
    let unsigned = |class| (422, "INVALID_AGENT_SIGNATURE", class, "agentSignature");
    for (request, expected) in [
        (json!({}), form("FieldMissing", "agentRegistry")),
        (
            with(&good, "agentId", json!(7)),
            form("WrongType", "agentId"),
        ),
        (
            with(&good, "note", json!("x")),
            form("UnknownMember", "note"),
        ),
        (
            with(&good, "responseURI", json!("")),
            form("LengthLimit", "responseURI"),
        ),
        (
            with(&good, "responseURI", json!("x".repeat(201))),
            form("LengthLimit", "responseURI"),
        ),
        (
            with(&good, "responseURI", json!("a\0")),
            form("LengthLimit", "responseURI"),
        ),
        (
            with(&good, "responseHash", json!("0x00")),
            form("MalformedField", "responseHash"),
        ),
        (
            with(&good, "feedbackHash", json!("00")),
            form("MalformedField", "feedbackHash"),
        ),
        (
            with(&good, "taskRef", json!("eip155:1")),
            form("MalformedTaskRef", "taskRef"),
        ),
        (
            with(&good, "reviewerAddress", json!("0x12")),
            form("MalformedAccountId", "reviewerAddress"),
        ),
        (
            with(&good, "agentSignatureAlgorithm", json!("rsa")),
            form("MalformedField", "agentSignatureAlgorithm"),
        ),
        (
            request(&unknown, &hash, key),
            (404, "UNKNOWN_FEEDBACK", "UnknownFeedback", "taskRef"),
        ),
        (
            request(&other_registry, &hash, key),
            form("AgentMismatch", "agentRegistry"),
        ),
        (
            request(&other_agent, &hash, key),
            form("AgentMismatch", "agentId"),
        ),
        (
            request(&draft, &other_hash, key),
            form("FeedbackHashMismatch", "feedbackHash"),
        ),
        // what the agent signed is bound: where the file is, and what it says
        (
            with(&good, "responseURI", json!("https://agent.example/x")),
            unsigned("SignatureInvalid"),
        ),
        (
            with(&good, "responseHash", json!(other_hash.clone())),
            unsigned("SignatureInvalid"),
        ),
        (request(&draft, &hash, &stranger), unsigned("SignerUnknown")),
        // the reviewer may respond on chain, in their own name
        (
            request(&draft, &hash, &draft.reviewer_key),
            unsigned("SignerUnknown"),
        ),
        (
            with(&good, "agentSignature", json!("0x00")),
            unsigned("SignatureInvalid"),
        ),
    ] {
        let answer = running.post_to("/responses", request.to_string()).await;
        assert_eq!(found(&answer), expected, "{request} {}", answer.body);
        if expected.2 == "FeedbackHashMismatch" {
            let words = answer.body["message"].as_str().unwrap();
            assert!(
                !words.contains(&hash[2..]),
                "R53: the file is not shown yet: {words}"
            );
        }
    }
    assert_eq!(responses(&world, 1).await, 0);
    assert!(
        running.store.response_to(1).unwrap().is_none(),
        "nothing was accepted"
    );

    let answer = running.post_to("/responses", good.to_string()).await;
    let status = (answer.status, &answer.body["status"]);
    assert_eq!(status, (200, &json!("submitted")), "{}", answer.body);
    let transaction = answer.body["txRef"].as_str().unwrap().rsplit(':').next();
    let node = node(&world.chain.url);
    let receipt = node.receipt(transaction.unwrap().parse().unwrap());
    let receipt = receipt.await.unwrap().unwrap();
    assert_eq!(
        (receipt.from, receipt.to),
        (world.client(), Some(world.open))
    );
    let event = receipt.logs()[0].log_decode::<Feedback::ResponseAppended>();
    let event = event.unwrap().inner.data;
    assert_eq!((&*event.responseURI, event.feedbackIndex), (URI, 1));
    assert_eq!(event.responseHash.to_string(), good["responseHash"]);
    while running.store.open_responses().unwrap() > 0 {
        pause().await;
    }

    // R57: the receipt is of what the agent signed, and follows the feedback's
    let page = running.get("/receipts").await;
    let entries = page.body["receipts"].as_array().unwrap();
    assert_eq!(entries.len(), 2);
    let previous = check_receipt(&entries[0]["receipt"], &[0; 32]);
    check_receipt(&entries[1]["receipt"], &previous);
    let digest = keccak256(canonicalize(&good.to_string()).unwrap());
    assert_eq!(entries[1]["receipt"]["payloadDigest"], digest.to_string());
    assert_eq!(entries[1]["receipt"]["key"], entries[0]["receipt"]["key"]);
    for shown in [&entries[1], &entries[0]["response"]] {
        assert_eq!(
            (&shown["request"], &shown["responseTo"]),
            (&good, &json!(1))
        );
    }
    assert_eq!(running.get("/submissions/2").await.body["request"], good);
    assert_eq!(
        running.get("/submissions/1").await.body["response"]["request"],
        good
    );

    // R51: the same again is the same transaction, and another one is refused
    let again = running.post_to("/responses", good.to_string()).await;
    let repeated = (again.status, &again.body["txRef"]);
    assert_eq!(repeated, (200, &answer.body["txRef"]));
    let other = with(&good, "responseHash", json!(other_hash));
    let answer = running.post_to("/responses", other.to_string()).await;
    let taken = (409, "DUPLICATE_TASK_REF", "DuplicateResponse", "taskRef");
    assert_eq!(found(&answer), taken);
    assert_eq!(responses(&world, 1).await, 1);
    running.stop().await;
}

/// R29, R30: the signer must be valid when the agent asks, not when it was paid.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r58_the_key_that_counts_is_the_agents_now() {
    let world = World::start().await;
    let folder = tempfile::tempdir().unwrap();
    let running = Running::start(&world, folder.path()).await;
    let draft = world.review(&world.pay(1).await);
    let hash = submitted(&running, &draft).await;
    let key = PreparedKey::secp256k1(&[8; 32]).unwrap();
    let id = world.chain.agent_id;
    let file = json!({
        "registrations": [{
            "agentRegistry": world.chain.registry_account(), "agentId": id.to_string(),
        }],
        "signers": [{
            "publicKey": public_key(&key).trim_start_matches("0x"),
            "algorithm": "secp256k1", "validFrom": 1, "validUntil": null,
        }],
    });
    let uri = encode_uri(file.to_string().as_bytes());
    as_owner(&world, calls::set_agent_uri(id, &uri).to_vec()).await;
    let old = request(&draft, &hash, &draft.agent_key).to_string();
    let answer = running.post_to("/responses", old).await;
    let unsigned = (
        422,
        "INVALID_AGENT_SIGNATURE",
        "SignerUnknown",
        "agentSignature",
    );
    assert_eq!(found(&answer), unsigned, "{}", answer.body);
    let new = request(&draft, &hash, &key).to_string();
    let answer = running.post_to("/responses", new).await;
    assert_eq!(answer.status, 200, "{}", answer.body);
    assert_eq!(responses(&world, 1).await, 1);
    running.stop().await;
}

/// Two different ones at once: one is relayed, and the other is refused.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r58_one_response_is_relayed_for_each_feedback() {
    let world = World::start().await;
    let folder = tempfile::tempdir().unwrap();
    let running = Arc::new(Running::start(&world, folder.path()).await);
    let draft = world.review(&world.pay(1).await);
    let hash = submitted(&running, &draft).await;
    let mut other = draft.clone();
    // the same account, as EVM addresses have no case
    other.reviewer = other.reviewer.to_ascii_lowercase();
    let mut posts = tokio::task::JoinSet::new();
    for draft in [&draft, &other, &draft, &other] {
        let body = request(draft, &hash, &draft.agent_key).to_string();
        let running = running.clone();
        posts.spawn(async move { running.post_to("/responses", body).await });
    }
    let answers = posts.join_all().await;
    let count = |status| answers.iter().filter(|it| it.status == status).count();
    assert_eq!((count(200), count(409)), (2, 2));
    assert_eq!(responses(&world, 1).await, 1);
    let listed = running.store.receipts(1, 10).unwrap();
    assert_eq!(listed.len(), 2, "one receipt");
    assert!(matches!(&listed[1], Receipted::Response(row) if row.submission == 1));
    Arc::into_inner(running).unwrap().stop().await;
}

/// Accepted before its feedback is final, then the process ends: it lands after the start, once.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r58_a_response_waits_for_its_feedback_and_survives_a_restart() {
    let world = World::start().await;
    let folder = tempfile::tempdir().unwrap();
    let settings = Settings {
        wait: Some(Duration::ZERO),
        ..Settings::default()
    };
    let running = Running::start_with(settings, 3, &world, folder.path()).await;
    let draft = world.review(&world.pay(1).await);
    assert_eq!(running.submit(&draft).await.status, 202);
    while running.store.get(1).unwrap().unwrap().state != RowState::Landed {
        pause().await;
    }
    let hash = running.store.get(1).unwrap().unwrap().submission.hash;
    let good = request(&draft, &hash, &draft.agent_key).to_string();
    let answer = running.post_to("/responses", good).await;
    let accepted = (answer.status, &answer.body["status"]);
    assert_eq!(accepted, (202, &json!("accepted")), "{}", answer.body);
    assert_eq!(answer.location.as_deref(), Some("./submissions/2"));
    assert_eq!(responses(&world, 1).await, 0, "the feedback is not final");
    assert_eq!(running.store.open_responses().unwrap(), 1);
    running.stop().await;

    let running = Running::start_final_after(1, &world, folder.path()).await;
    world.mine(3).await;
    while running.store.open_responses().unwrap() > 0 {
        pause().await;
    }
    assert_eq!(responses(&world, 1).await, 1);
    let row = running.store.response(2).unwrap().unwrap();
    assert_eq!((row.state, row.reason.as_deref()), (RowState::Final, None));
    running.stop().await;
}

/// The registry reverts the response. It stays, with the reason and its receipt, and can be retried.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r58_a_response_that_the_registry_refuses_is_shown_and_can_be_retried() {
    let world = World::start().await;
    let folder = tempfile::tempdir().unwrap();
    let running = Running::start(&world, folder.path()).await;
    let draft = world.review(&world.pay(1).await);
    let hash = submitted(&running, &draft).await;
    let code = world.break_registry().await;
    let good = request(&draft, &hash, &draft.agent_key).to_string();
    let answer = running.post_to("/responses", good).await;
    let class = answer.body["class"].as_str();
    assert_eq!((answer.status, class), (422, Some("RefusedByRegistry")));
    assert_eq!(answer.body["receipt"]["n"], 2, "the receipt stays");
    let late = running.store.late_responses().unwrap();
    let refused: Vec<_> = late.iter().map(|it| (it.submission, it.state)).collect();
    assert_eq!(refused, [(1, RowState::Refused)]);

    world.set_code(&code).await;
    assert_eq!(running.store.retry().await.unwrap(), 1);
    while running.store.open_responses().unwrap() > 0 {
        pause().await;
    }
    assert_eq!(responses(&world, 1).await, 1);
    assert!(running.store.late_responses().unwrap().is_empty());
    running.stop().await;
}

/// An audit follows the receipts of responses too, and a feedback cannot be withheld by calling it a response.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r57_an_audit_checks_the_receipts_of_responses() {
    let world = World::start().await;
    let folder = tempfile::tempdir().unwrap();
    let running = Running::start(&world, folder.path()).await;
    let draft = world.review(&world.pay(1).await);
    let hash = submitted(&running, &draft).await;
    let good = request(&draft, &hash, &draft.agent_key);
    let answer = running.post_to("/responses", good.to_string()).await;
    assert_eq!(answer.status, 200, "{}", answer.body);
    while running.store.open_responses().unwrap() > 0 {
        pause().await;
    }
    let page = running.get("/receipts").await;
    let honest = page.body["receipts"].as_array().unwrap().clone();
    let late = honest[1]["receipt"]["acceptedAt"].as_u64().unwrap() + crate::audit::GRACE;
    let origin = format!("{}/", running.origin);
    let clean = report(&world, &origin, &[], late).await;
    assert_eq!(problems(&clean), []);
    let counts = (clean.receipts, clean.published, clean.responded);
    assert_eq!(counts, (2, 1, 1));
    let files = folder.path().join("files");
    for (what, change, expected) in [
        ("no transaction", ("txRef", Value::Null), "withheld"),
        (
            "another's transaction",
            ("txRef", honest[0]["txRef"].clone()),
            "differs",
        ),
        (
            "another request",
            ("request", with(&good, "responseURI", json!("ipfs://x"))),
            "differs",
        ),
        // it is looked for as a feedback then
        ("no request", ("request", Value::Null), "file-missing"),
    ] {
        let mut receipts = honest.clone();
        receipts[1][change.0] = change.1;
        let origin = crate::audit::publish(receipts, &files).await;
        let found = problems(&report(&world, &origin, &[], late).await);
        assert_eq!(found, [(2, expected.to_owned())], "{what}");
    }
    let mut receipts = honest.clone();
    receipts[0]["request"] = good;
    receipts[0]["txRef"] = honest[1]["txRef"].clone();
    let origin = crate::audit::publish(receipts, &files).await;
    let found = problems(&report(&world, &origin, &[], late).await);
    // and the response has no feedback that it could be to
    let both = [1, 2].map(|n| (n, "differs".to_owned()));
    assert_eq!(found, both, "a feedback called a response");
    running.stop().await;
}

/// The aggregator's account can respond to whatever it likes on chain. What the agent signed names one payment and one file,
/// so the same words at another feedback are not that response.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r57_a_response_to_another_feedback_is_not_the_one_that_was_signed() {
    let world = World::start().await;
    let folder = tempfile::tempdir().unwrap();
    let running = Running::start(&world, folder.path()).await;
    let (first, second) = (
        world.review(&world.pay(1).await),
        world.review(&world.pay(1).await),
    );
    let hash = submitted(&running, &first).await;
    let other_hash = submitted(&running, &second).await;
    let signed = request(&first, &hash, &first.agent_key);
    let answer = running.post_to("/responses", signed.to_string()).await;
    assert_eq!(answer.status, 200, "{}", answer.body);
    while running.store.open_responses().unwrap() > 0 {
        pause().await;
    }
    let page = running.get("/receipts").await;
    let honest = page.body["receipts"].as_array().unwrap().clone();
    let files = folder.path().join("files");
    running.stop().await;

    // another client's feedback has the same index as the one that was answered
    let client = world.chain.payer.address();
    let give = calls::give_open_feedback(&GiveOpenFeedback {
        agent_id: world.chain.agent_id,
        value: 1,
        decimals: 0,
        tag1: "",
        tag2: "",
        endpoint: "",
        uri: "ipfs://x",
        hash: [1; 32],
    });
    assert!(sent_by(&world, &world.chain.payer, give.to_vec()).await.1);
    let respond = async |client: Address, index: u64| {
        let call = calls::append_response(&AppendResponse {
            agent_id: world.chain.agent_id,
            client,
            index,
            uri: URI,
            hash: keccak256(b"{\"sorry\":true}").0,
        });
        let (transaction, succeeded) =
            sent_by(&world, &world.chain.facilitator, call.to_vec()).await;
        assert!(succeeded);
        json!(format!("{}:{transaction}", network()))
    };
    let late = honest[2]["receipt"]["acceptedAt"].as_u64().unwrap() + crate::audit::GRACE;
    for (what, tx_ref, expected) in [
        ("the honest one", honest[2]["txRef"].clone(), vec![]),
        ("the same again", respond(world.client(), 1).await, vec![]),
        (
            "at the client's other feedback",
            respond(world.client(), 2).await,
            vec![(3, "differs".to_owned())],
        ),
        (
            "at another client's feedback",
            respond(client, 1).await,
            vec![(3, "differs".to_owned())],
        ),
    ] {
        let mut receipts = honest.clone();
        receipts[2]["txRef"] = tx_ref;
        let origin = crate::audit::publish(receipts, &files).await;
        let found = problems(&report(&world, &origin, &[], late).await);
        assert_eq!(found, expected, "{what}");
    }
    // the feedback is not shown, or is another: nothing says to which one the agent responded
    let mut hidden = honest.clone();
    hidden[0]["txRef"] = Value::Null;
    let mut swapped = honest.clone();
    swapped[0]["txRef"] = honest[1]["txRef"].clone();
    for (what, receipts, first) in [
        ("hidden", hidden, "withheld"),
        ("swapped", swapped, "differs"),
    ] {
        let origin = crate::audit::publish(receipts, &files).await;
        let found = problems(&report(&world, &origin, &[], late).await);
        let expected = [(1, first), (3, "differs")].map(|(n, it)| (n, it.to_owned()));
        assert_eq!(found, expected, "{what}");
    }
    assert_ne!(hash, other_hash);
}

/// The hash of an account's call of the reputation registry, and whether it succeeded.
pub async fn sent_by(world: &World, key: &PrivateKeySigner, input: Vec<u8>) -> (String, bool) {
    let request = TransactionRequest::default()
        .with_to(world.open)
        .with_input(input);
    let receipt = world.send(key, request).await;
    (receipt.transaction_hash.to_string(), receipt.status())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r58_an_agent_responds_on_solana() {
    let (world, solana) = (World::start().await, Solana::start().await);
    let folder = tempfile::tempdir().unwrap();
    let (running, _, client) = solana::open(&world, &solana, folder.path()).await;
    let draft = solana::review(&world, &solana).await;
    let hash = submitted(&running, &draft).await;
    let stranger = PreparedKey::secp256k1(&[5; 32]).unwrap();
    let bad = request(&draft, &hash, &stranger).to_string();
    let answer = running.post_to("/responses", bad).await;
    let unsigned = (
        422,
        "INVALID_AGENT_SIGNATURE",
        "SignerUnknown",
        "agentSignature",
    );
    assert_eq!(found(&answer), unsigned);
    let good = request(&draft, &hash, &draft.agent_key);
    for _ in 0..2 {
        let answer = running.post_to("/responses", good.to_string()).await;
        assert_eq!(answer.status, 200, "{}", answer.body);
        assert!(answer.body["txRef"].as_str().unwrap().starts_with(NETWORK));
    }
    let account = client.rsplit(':').next().unwrap().parse().unwrap();
    let place = solana.program.open_feedback(&solana.mint, &account, 1);
    let entry = solana.cluster.account(&place).await.unwrap().unwrap();
    let entry: OpenFeedback = solana.program.decode(&entry.owner, &entry.data).unwrap();
    assert_eq!(entry.response_count, 1);
    running.stop().await;
}

/// The states of a response, in which nothing later is on disk.
const POINTS: [&str; 5] = ["accepted", "signed", "sent", "landed", "final"];

/// SIGKILL in each state, and in the next one if it comes there after it continued: one response.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r58_one_response_wherever_it_is_killed() {
    if let Some(errand) = errand::errand() {
        return run_errand(&errand).await;
    }
    let world = World::start().await;
    let folder = tempfile::tempdir().unwrap();
    let mut reached = Vec::new();
    for (index, point) in (1u64..).zip(POINTS) {
        let next = POINTS.into_iter().skip_while(|it| *it != point).nth(1);
        let running = Running::start(&world, folder.path()).await;
        let draft = world.review(&world.pay(1).await);
        let hash = submitted(&running, &draft).await;
        running.stop().await;
        let request = request(&draft, &hash, &draft.agent_key);
        for point in [Some(point), next].into_iter().flatten() {
            let is_there = kill_at(&world, folder.path(), &request, point).await;
            reached.extend(is_there.then_some(point));
            let store = store(folder.path());
            let row = store.response(2 * index).unwrap().unwrap();
            assert!(!is_there || row.state.name() == point, "{point}");
            let record = store.response_record(&row).unwrap();
            let signed = record.transactions(&row.job_id()).len();
            assert_eq!(
                signed,
                usize::from(point != "accepted"),
                "{point}: signed once"
            );
        }
        let running = Running::start(&world, folder.path()).await;
        while running.store.open_responses().unwrap() > 0 {
            pause().await;
        }
        assert_eq!(responses(&world, index).await, 1, "{point}: one response");
        running.stop().await;
    }
    for point in POINTS {
        assert!(reached.contains(&point), "{point} was never reached");
    }
}

async fn kill_at(world: &World, folder: &Path, request: &Value, point: &str) -> bool {
    let errand = json!({
        "rpc": world.chain.url,
        "identity": world.chain.registry.to_string(),
        "open": world.open.to_string(),
        "token": world.chain.token.to_string(),
        "key": hex::encode(world.chain.facilitator.to_bytes()),
        "folder": folder,
        "request": request.to_string(),
        "stop": point,
    });
    let test = "respond::r58_one_response_wherever_it_is_killed";
    errand::kill(test, &errand, &Notify::new()).await
}

/// The child: accepts the response, and relays it up to the point it was given.
async fn run_errand(errand: &Value) {
    let text = |key: &str| errand[key].as_str().unwrap();
    let place = Place {
        url: text("rpc").to_owned(),
        identity: text("identity").parse().unwrap(),
        open: text("open").parse().unwrap(),
        token: text("token").parse().unwrap(),
        key: text("key").parse().unwrap(),
    };
    let folder = Path::new(text("folder"));
    let registries = killed::stopping(&place, text("stop")).await;
    let registry_account = format!("{}:{}", network(), place.identity);
    let admission = place.admission(vec![registry_account]).await;
    let files: Arc<dyn FileStore> = Arc::new(FileFolder::ipfs(&folder.join("files")));
    let store = store(folder);
    let lane = Lane::new(
        registries,
        &place.settlement(),
        admission.insiders.clone(),
        files.clone(),
        store.clone(),
    );
    let places = vec![lane.place().clone()];
    let aggregator = Aggregator::new(store.clone(), admission, files, places);
    let (_go_on, stopped) = watch::channel(false);
    let body = text("request").as_bytes();
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    aggregator.respond(body, now.as_secs()).await.unwrap();
    tokio::spawn(lane.run(stopped));
    while store.open_responses().unwrap() > 0 {
        pause().await;
    }
    errand::end();
}
