//! From a purchase to its feedback, with everybody's own software: x402-rs's paywall, facilitator and client, our interaction
//! layer, Circle's token, and an aggregator for each chain. The reviewer has no gas on either.
use crate::{
    payload::{Draft, algorithm},
    solana,
    world::{Running, World, node},
};
use alloy::primitives::keccak256;
use base64::{Engine, engine::general_purpose::STANDARD as BASE64};
use concord_canonical::sign::PreparedKey;
use concord_files::{FeedbackFile, X402Profile, parse_feedback};
use concord_registry::{evm::abi::Feedback, svm::accounts::OpenFeedback};
use concord_testkit::cluster::{NETWORK, Solana};
use concord_testkit::shop::{ANSWER, Exchange, Extras, Shop};
use concord_x402::feedback::cid_of;
use serde_json::{Value, json};

/// What the server signed, as the customer received it.
fn interaction(bought: &Exchange) -> Value {
    let header = BASE64.decode(&bought.headers["payment-response"]).unwrap();
    let settlement: Value = serde_json::from_slice(&header).unwrap();
    settlement["extensions"]["8004-reputation"].clone()
}

/// The customer's review: the server's own words, and a signature. `place`: the registration that is rated.
fn review(world: &World, bought: &Exchange, place: [&str; 2], value: i128) -> Value {
    let mut data = interaction(bought);
    [data["agentRegistry"], data["agentId"]] = place.map(|it| json!(it));
    let text = |key: &str| data[key].as_str().unwrap().to_owned();
    let hash = hex::decode(&text("dataHash")[2..]).unwrap();
    let key = PreparedKey::secp256k1(&world.chain.payer.to_bytes().0).unwrap();
    let signed = Draft {
        data_hash: hash.try_into().unwrap(),
        value,
        ..Draft {
            registry: text("agentRegistry"),
            agent_id: text("agentId"),
            task_ref: text("taskRef"),
            ..world.review("0x00")
        }
    };
    let signature = key.sign(&signed.message(), |it| format!("0x{}", hex::encode(it)));
    let mut payload = signed.json();
    payload["interactionData"] = data;
    payload["reviewerSignature"] = json!(signature.unwrap());
    payload["reviewerSignatureAlgorithm"] = json!(algorithm(&key));
    payload
}

/// Submits, and checks the file that is served: its CID, its hash, both signatures, and whose words it has.
async fn submitted(running: &Running, payload: &Value) -> (Value, [u8; 32]) {
    let answer = running.post(payload.to_string()).await;
    assert_eq!(answer.status, 200, "{}", answer.body);
    let uri = answer.body["feedbackURI"].as_str().unwrap();
    let cid = uri.strip_prefix("ipfs://").unwrap();
    let bytes = running.bytes(&format!("/ipfs/{cid}")).await;
    assert_eq!(cid_of(&bytes), cid);
    let file = parse_feedback(&bytes).unwrap();
    let FeedbackFile::X402(view) = file.view() else {
        panic!("another file");
    };
    view.verify_review().unwrap();
    view.proof().signed.verify(view.profile()).unwrap();
    let file: Value = serde_json::from_slice(&bytes).unwrap();
    let (proof, data) = (&file["proofOfParticipation"], &payload["interactionData"]);
    for key in ["taskRef", "dataHash", "agentSignature"] {
        assert_eq!(proof[key], data[key], "{key}");
    }
    assert_eq!(proof["reviewerSignature"], payload["reviewerSignature"]);
    assert_eq!(file["value"], payload["review"]["value"]);
    (answer.body, keccak256(&bytes).0)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_purchase_over_x402_is_rated_on_both_chains_without_gas() {
    let (world, solana) = (World::start().await, Solana::start().await);
    let extras = Extras {
        registrations: vec![solana.registration()],
        ..Extras::default()
    };
    let profiles = [X402Profile::Reputation8004];
    let shop = Shop::open_with(&world.chain, &profiles, extras).await;
    // before the aggregator starts: in this world, facilitator and aggregator have one account
    let mut purchases = Vec::new();
    for _ in 0..2 {
        let bought = shop.buy(&world.chain, "GET", "/weather?city=London").await;
        assert_eq!((bought.status, &*bought.body), (200, ANSWER.as_bytes()));
        assert!(bought.verify(&world.chain).await.is_verified(), "S1 to S11");
        purchases.push(bought);
    }

    let folder = tempfile::tempdir().unwrap();
    let running = Running::start(&world, folder.path()).await;
    let (registry, id) = (world.chain.registry_account(), world.chain.agent_id);
    let place = [&*registry, &id.to_string()];
    let payload = review(&world, &purchases[0], place, 80);
    let (answer, hash) = submitted(&running, &payload).await;
    let transaction = answer["txRef"]
        .as_str()
        .unwrap()
        .rsplit(':')
        .next()
        .unwrap();
    let node = node(&world.chain.url);
    let receipt = node.receipt(transaction.parse().unwrap()).await;
    let receipt = receipt.unwrap().unwrap();
    let event = receipt.logs().iter().find_map(|it| {
        let decoded =
            it.log_decode::<concord_registry::evm::abi::ReputationRegistry::NewFeedback>();
        decoded.ok().map(|it| it.inner.data)
    });
    let event = event.expect("the registry's event");
    assert_eq!((event.value, event.feedbackHash.0), (80, hash));
    assert_eq!(event.clientAddress, world.client());
    let call = Feedback::getLastIndexCall {
        agentId: id,
        clientAddress: world.chain.payer.address(),
    };
    let own = node.read(world.open, &call).await.unwrap();
    assert_eq!(own.unwrap(), 0, "the reviewer sent nothing");
    running.stop().await;

    let folder = tempfile::tempdir().unwrap();
    let (running, registry, client) = solana::open(&world, &solana, folder.path()).await;
    let mint = solana.mint.to_string();
    let payload = review(&world, &purchases[1], [&*registry, &*mint], -7);
    let (answer, _) = submitted(&running, &payload).await;
    assert!(answer["txRef"].as_str().unwrap().starts_with(NETWORK));
    let account = client.rsplit(':').next().unwrap().parse().unwrap();
    let place = solana.program.open_feedback(&solana.mint, &account, 1);
    let found = solana.cluster.account(&place).await.unwrap().unwrap();
    let entry: OpenFeedback = solana.program.decode(&found.owner, &found.data).unwrap();
    assert_eq!(entry.value, -7);
    running.stop().await;
}
