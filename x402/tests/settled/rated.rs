//! Feedback from a purchase's evidence on the chain that was paid on: open, and by the agent's grant.
use crate::settled::{customer::Customer, paying::ID, reads::reads};
use alloy::{
    primitives::{Address, U256, keccak256},
    sol_types::SolCall,
};
use concord_canonical::{sign::PreparedKey, value::Value};
use concord_chain::{
    EndpointOptions,
    evm::{Confirmations, FeeLimit, Node},
    keys::PrivateKeySigner,
    submission::Timing,
};
use concord_files::{FeedbackFile, X402Profile, parse_feedback};
use concord_registry::{
    event::Event,
    evm::{
        RegistryAddresses,
        abi::{AuthorizedReputationRegistry as Authorized, Feedback, ReputationRegistry as Open},
    },
};
use concord_testkit::chain::{CHAIN_ID, Chain};
use concord_testkit::gate::Fault;
use concord_testkit::shop::{Extras, Shop};
use concord_x402::{
    feedback::{
        EvmRegistry, FeedbackError, FeedbackFolder, FeedbackGiver, FileFolder, Given, Kind, Review,
    },
    grants::EvmGrants,
    pay::Evidence,
    server::LocalSigner,
    verify::{State, Step},
};
use serde_json::{Value as Json, json};
use std::{
    fs, future::Future, future::poll_fn, path::Path, pin::Pin, sync::Arc, task::Poll,
    time::Duration,
};

const NOW: u64 = 1_769_428_800; // 2026-01-26T12:00:00Z, by GNU date
pub const TIMING: Timing = Timing {
    poll: Duration::from_millis(10),
    replace_after: Duration::from_secs(60),
    give_up_after: Duration::from_secs(60),
};

pub fn review(value: i128) -> Review {
    Review {
        value: Value::new(value, 0).unwrap(),
        tags: None,
        comment: Some("Fresh as promised".to_owned()),
    }
}

pub fn reviewer(key: &PrivateKeySigner) -> LocalSigner {
    LocalSigner::new(PreparedKey::secp256k1(&key.to_bytes().0).unwrap())
}

fn node(chain: &Chain) -> Node {
    Node::new(&EndpointOptions::new(&chain.url)).unwrap()
}

async fn registry(chain: &Chain, addresses: RegistryAddresses) -> EvmRegistry {
    let network = format!("eip155:{CHAIN_ID}").parse().unwrap();
    let fees = (FeeLimit::default(), Confirmations::Blocks(1));
    let signer = Box::new(chain.payer.clone());
    let connected = EvmRegistry::connect(node(chain), &network, addresses, signer, fees, TIMING);
    connected.await.unwrap()
}

async fn read<C: SolCall>(chain: &Chain, contract: Address, call: &C) -> C::Return {
    node(chain).read(contract, call).await.unwrap().unwrap()
}

pub async fn last_index(chain: &Chain, contract: Address) -> u64 {
    let call = Feedback::getLastIndexCall {
        agentId: chain.agent_id,
        clientAddress: chain.payer.address(),
    };
    read(chain, contract, &call).await
}

/// A purchase that was paid and verified.
pub async fn bought(chain: &Chain, shop: &Shop, folder: &Path) -> Evidence {
    let customer = Customer::new(chain, folder);
    let url = format!("{}/weather?city=London", shop.origin);
    customer.pay(ID, &url).await.unwrap();
    customer.folder.load(ID).unwrap().unwrap()
}

/// What any HTTP client finds under the entry's URI, and what the chain has, computed without this crate.
fn assert_file(folder: &Path, given: &Given) -> Json {
    let (uri, hash) = given.entry.file().unwrap();
    let cid = uri.strip_prefix("ipfs://").unwrap();
    let bytes = fs::read(folder.join(cid)).unwrap();
    assert_eq!(keccak256(&bytes).0, hash, "file hash = hash on chain");
    let file = parse_feedback(&bytes).unwrap();
    assert!(file.is_canonical());
    serde_json::from_slice(&bytes).unwrap()
}

/// R39, R40: the endpoint without its query, and the profile's tags.
#[tokio::test]
async fn a_purchase_is_rated_once_and_the_file_is_the_entry_s() {
    for profile in X402Profile::ALL {
        let chain = Chain::start().await;
        let addresses = chain.deploy_reputation().await;
        let shop = Shop::open(&chain, &[profile]).await;
        let folder = tempfile::tempdir().unwrap();
        let evidence = bought(&chain, &shop, folder.path()).await;
        let files = folder.path().join("files");
        let store = FileFolder::ipfs(&files);
        let records = FeedbackFolder::beside(folder.path());
        let mut registry = registry(&chain, addresses).await;
        let mut giver = FeedbackGiver {
            reads: reads(&chain.reads, &chain.files).before(),
            store: &store,
            folder: &records,
            registry: &mut registry,
        };
        let key = reviewer(&chain.payer);
        let given = giver.give(&evidence, review(95), Kind::Open, &key, NOW);
        let given = given.await.unwrap();
        let file = assert_file(&files, &given);
        let payer = format!("eip155:{CHAIN_ID}:{}", chain.payer.address());
        assert_eq!(file["clientAddress"], *payer, "R38");
        assert_eq!(file["agentId"], *chain.agent_id.to_string(), "R37: text");
        assert_eq!(file["createdAt"], "2026-01-26T12:00:00Z");
        assert_eq!(file["endpoint"], *format!("{}/weather", shop.origin), "R39");
        assert_eq!(
            (&file["value"], &file["valueDecimals"]),
            (&json!(95), &json!(0))
        );
        let (proof, comment, tags) = match profile {
            X402Profile::Reputation8004 => (
                "proofOfParticipation",
                "comment",
                ["x402-resource-delivered", "proof-of-participation"],
            ),
            X402Profile::Reputation => ("proofOfInteraction", "reasoning", ["starred", "x402"]),
        };
        assert_eq!(file[proof]["reviewerAddress"], *payer, "R38");
        assert_eq!(file[comment], "Fresh as promised");
        assert_eq!([&file["tag1"], &file["tag2"]], tags, "R40");
        let parsed = parse_feedback(given.record.file.as_bytes()).unwrap();
        let FeedbackFile::X402(x402) = parsed.view() else {
            panic!("{:?}", parsed.view().dialect());
        };
        x402.verify_review().unwrap();
        x402.proof().signed.verify(profile).unwrap();

        let open = addresses.open_reputation.unwrap();
        let entry = Open::readFeedbackCall {
            agentId: chain.agent_id,
            clientAddress: chain.payer.address(),
            feedbackIndex: 1,
        };
        let entry = read(&chain, open, &entry).await;
        assert_eq!(
            (entry.value, &*entry.tag1, &*entry.tag2),
            (95, tags[0], tags[1])
        );
        let again = giver.give(&evidence, review(5), Kind::Open, &key, NOW);
        let again = again.await.unwrap_err();
        assert!(matches!(again, FeedbackError::AlreadyBegun(_)), "{again}");
        let resumed = giver.resume(ID).await.unwrap();
        assert_eq!((resumed.record, resumed.entry), (given.record, given.entry));
        assert_eq!(last_index(&chain, open).await, 1);
    }
}

#[tokio::test]
async fn r41_a_grant_of_the_settled_response_allows_one_feedback() {
    let chain = Chain::start().await;
    let addresses = chain.deploy_reputation().await;
    let authorized = addresses.authorized_reputation.unwrap();
    let owner = Arc::new(chain.owner.clone());
    let grants = EvmGrants::new(node(&chain), CHAIN_ID, chain.registry, authorized, owner);
    let extras = Extras {
        grants: Some(Arc::new(grants)),
        ..Extras::default()
    };
    let shop = Shop::open_with(&chain, &X402Profile::ALL, extras).await;
    let folder = tempfile::tempdir().unwrap();
    let evidence = bought(&chain, &shop, folder.path()).await;
    let interaction = concord_x402::feedback::Interaction::of(&evidence).unwrap();
    assert!(
        !interaction.data.extra.contains_key("authorization"),
        "never in X402's object"
    );
    let grant = interaction.grant.clone().unwrap().unwrap();
    assert_eq!(grant.index_limit, 1, "last index + 1");
    assert_eq!(grant.client_address, chain.payer.address().to_string());

    let files = folder.path().join("files");
    let store = FileFolder::served_at(&files, "https://reviews.example/");
    let records = FeedbackFolder::beside(folder.path());
    let mut registry = registry(&chain, addresses).await;
    let mut giver = FeedbackGiver {
        reads: reads(&chain.reads, &chain.files).before(),
        store: &store,
        folder: &records,
        registry: &mut registry,
    };
    let key = reviewer(&chain.payer);
    let refused = giver.give(&evidence, review(101), Kind::Authorized, &key, NOW);
    let refused = refused.await.unwrap_err();
    assert!(
        matches!(refused, FeedbackError::Review { field: "value", .. }),
        "{refused}"
    );
    let given = giver.give(&evidence, review(95), Kind::Authorized, &key, NOW);
    let given = given.await.unwrap();
    let file: Json = serde_json::from_str(&given.record.file).unwrap();
    assert_eq!(
        (&file["score"], &file["reasoning"]),
        (&json!(95), &json!("Fresh as promised"))
    );
    assert_eq!(file["feedbackAuth"], *grant.authorization);
    assert_eq!(file["proof_of_payment"]["protocol"], "x402");
    assert_eq!(
        file["8004-reputation"]["taskRef"],
        *interaction.data.signed.task_ref
    );
    assert_eq!(
        keccak256(&given.record.file).0,
        given.entry.file().unwrap().1
    );
    let entry = Authorized::readFeedbackCall {
        agentId: chain.agent_id,
        clientAddress: chain.payer.address(),
        feedbackIndex: 1,
    };
    let entry = read(&chain, authorized, &entry).await;
    let mut tag1 = [0; 32];
    tag1[..23].copy_from_slice(b"x402-resource-delivered");
    assert_eq!((entry.score, entry.tag1.0), (95, tag1));

    // R8: the grant is used up
    let second = FeedbackFolder::beside(&folder.path().join("second"));
    let mut giver = FeedbackGiver {
        reads: reads(&chain.reads, &chain.files).before(),
        folder: &second,
        ..giver
    };
    let spent = giver.give(&evidence, review(95), Kind::Authorized, &key, NOW);
    let spent = spent.await.unwrap_err();
    assert!(spent.to_string().contains("simulation failed"), "{spent}");
    assert_eq!(last_index(&chain, authorized).await, 1);
}

#[tokio::test]
async fn what_was_not_verified_is_not_rated_and_nobody_else_rates_it() {
    let chain = Chain::start().await;
    let addresses = chain.deploy_reputation().await;
    let shop = Shop::open(&chain, &X402Profile::ALL).await;
    let folder = tempfile::tempdir().unwrap();
    let evidence = bought(&chain, &shop, folder.path()).await;
    let store = FileFolder::ipfs(&folder.path().join("files"));
    let records = FeedbackFolder::beside(folder.path());
    let mut registry = registry(&chain, addresses).await;
    let mut giver = FeedbackGiver {
        reads: reads(&chain.reads, &chain.files).before(),
        store: &store,
        folder: &records,
        registry: &mut registry,
    };
    let key = reviewer(&chain.payer);
    let with_step_10 = |state: &str| {
        let mut steps: Vec<Json> =
            serde_json::from_str(evidence.report.as_ref().unwrap().get()).unwrap();
        steps[9]["state"] = json!(state);
        Evidence {
            report: Some(serde_json::value::to_raw_value(&steps).unwrap()),
            ..evidence.clone()
        }
    };
    for (word, state) in [
        ("refuted", State::Refuted),
        ("cannot-check", State::CannotCheck),
    ] {
        let evidence = with_step_10(word);
        let refused = giver.give(&evidence, review(1), Kind::Open, &key, NOW);
        match refused.await.unwrap_err() {
            FeedbackError::NotVerified {
                step, state: found, ..
            } => {
                assert_eq!((step, found), (Step::S10, state), "R36");
            }
            other => panic!("{other}"),
        }
    }
    let other = reviewer(&chain.facilitator);
    let refused = giver.give(&evidence, review(1), Kind::Open, &other, NOW);
    let refused = refused.await.unwrap_err();
    assert!(
        matches!(refused, FeedbackError::NotThePayer { .. }),
        "R38: {refused}"
    );
    let refused = giver.give(&evidence, review(1), Kind::Authorized, &key, NOW);
    let refused = refused.await.unwrap_err();
    assert!(matches!(refused, FeedbackError::NoGrant(_)), "{refused}");
    assert_eq!(
        last_index(&chain, addresses.open_reputation.unwrap()).await,
        0
    );
    assert!(records.load(ID).unwrap().is_none());
}

/// What the seller adds unsigned, and how long its URL is, does not decide whether it can be rated.
#[tokio::test]
async fn r41_r17_a_malformed_grant_and_a_long_url_hinder_no_open_feedback() {
    let chain = Chain::start().await;
    let addresses = chain.deploy_reputation().await;
    let shop = Shop::open(&chain, &X402Profile::ALL).await;
    let folder = tempfile::tempdir().unwrap();
    shop.gate.set(Fault::Forge(|said| {
        said["extensions"]["8004-feedback-auth"] = Json::Null;
    }));
    let customer = Customer::new(&chain, folder.path());
    let path = |length: usize| {
        let start = format!("{}/weather/", shop.origin);
        format!("{start}{}", "a".repeat(length - start.len()))
    };
    let files = folder.path().join("files");
    let store = FileFolder::ipfs(&files);
    let records = FeedbackFolder::beside(folder.path());
    let mut registry = registry(&chain, addresses).await;
    let mut giver = FeedbackGiver {
        reads: reads(&chain.reads, &chain.files).before(),
        store: &store,
        folder: &records,
        registry: &mut registry,
    };
    let key = reviewer(&chain.payer);
    for (id, length) in [("longest", 200), ("longer", 201)] {
        let url = path(length);
        customer.pay(id, &format!("{url}?unit=C")).await.unwrap();
        let evidence = customer.folder.load(id).unwrap().unwrap();
        let refused = giver.give(&evidence, review(95), Kind::Authorized, &key, NOW);
        let refused = refused.await.unwrap_err();
        assert!(matches!(refused, FeedbackError::Grant(_)), "{refused}");
        let given = giver.give(&evidence, review(95), Kind::Open, &key, NOW);
        let given = given.await.unwrap();
        let file = assert_file(&files, &given);
        let expected = (length == 200).then_some(&*url);
        assert_eq!(file["endpoint"].as_str(), expected, "R39");
        let Event::OpenFeedback { endpoint, .. } = &given.entry.event else {
            panic!("{:?}", given.entry.event);
        };
        assert_eq!(endpoint, expected.unwrap_or_default());
    }
}

/// Drops a future after so many polls, as a kill would: what has left the process stays out.
async fn polled<F: Future + Unpin>(mut future: F, limit: usize) -> Option<F::Output> {
    let mut count = 0;
    poll_fn(move |context| {
        count += 1;
        if count > limit {
            Poll::Ready(None)
        } else {
            Pin::new(&mut future).poll(context).map(Some)
        }
    })
    .await
}

/// One purchase is rated again and again, with records of its own each time.
#[tokio::test]
async fn an_interruption_at_any_point_leaves_one_feedback() {
    let chain = Chain::start().await;
    let addresses = chain.deploy_reputation().await;
    let open = addresses.open_reputation.unwrap();
    let shop = Shop::open(&chain, &X402Profile::ALL).await;
    let folder = tempfile::tempdir().unwrap();
    let evidence = bought(&chain, &shop, folder.path()).await;
    let store = FileFolder::ipfs(&folder.path().join("files"));
    let key = reviewer(&chain.payer);
    let (mut expected, mut signed_before) = (0, 0);
    for limit in 1.. {
        let records = folder.path().join(limit.to_string());
        let transactions = records.join(format!("feedback/{ID}.transactions.json"));
        let records = FeedbackFolder::beside(&records);
        let mut registry = registry(&chain, addresses).await;
        let mut giver = FeedbackGiver {
            reads: reads(&chain.reads, &chain.files).before(),
            store: &store,
            folder: &records,
            registry: &mut registry,
        };
        let giving = Box::pin(giver.give(&evidence, review(95), Kind::Open, &key, NOW));
        let ended = polled(giving, limit).await;
        let signed = fs::read_to_string(&transactions).unwrap_or_default();
        if ended.is_none() && records.load(ID).unwrap().is_none() {
            assert_eq!(signed, "", "nothing is signed before the record is on disk");
            continue;
        }
        let given = match &ended {
            Some(given) => given.as_ref().unwrap().clone(),
            None => giver.resume(ID).await.unwrap(),
        };
        expected += 1;
        assert_eq!(
            last_index(&chain, open).await,
            expected,
            "after {limit} polls"
        );
        assert_eq!(given.entry.index, expected);
        if signed.contains(&given.entry.transaction) {
            signed_before += 1; // the bytes that were on disk are those that landed
        }
        let record: Json = serde_json::from_slice(&fs::read(&transactions).unwrap()).unwrap();
        let sent = record["feedback"]["transactions"].as_array().unwrap();
        assert_eq!(sent.len(), 1, "after {limit} polls: {sent:?}");
        if ended.is_some() {
            break;
        }
    }
    assert!(signed_before > 3, "{signed_before}");
    assert_eq!(
        U256::from(expected),
        U256::from(last_index(&chain, open).await)
    );
}
