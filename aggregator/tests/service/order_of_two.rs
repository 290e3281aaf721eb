//! R52: of two faults the earlier check answers. These are the pairs that need something accepted before, a role of the payer or
//! a limit; the others are in `order.rs`.
use crate::{
    payload::Draft,
    shut_out::as_owner,
    world::{Running, Settings, World},
};
use alloy::primitives::Address;
use concord_aggregator::Limits;
use concord_canonical::sign::PreparedKey;
use concord_registry::evm::calls;
use serde_json::{Value, json};

fn with(draft: &Draft, pointer: &str, value: Value) -> Value {
    let mut payload = draft.json();
    *payload.pointer_mut(pointer).unwrap() = value;
    payload
}

async fn class_of(running: &Running, payload: &Value) -> (u16, String) {
    let answer = running.post(payload.to_string()).await;
    let class = answer.body["class"].as_str().unwrap_or_default();
    (answer.status, class.to_owned())
}

/// A cool-down that no test outlasts.
fn cooling() -> Settings {
    Settings {
        limits: Limits {
            cool_down: Some(1_000_000),
            ..Limits::default()
        },
        ..Settings::default()
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r52_of_two_faults_the_earlier_check_answers() {
    let world = World::start().await;
    let folder = tempfile::tempdir().unwrap();
    let running = Running::start_with(cooling(), 1, &world, folder.path()).await;
    let known = world.review(&world.pay(1).await);
    assert_eq!(running.submit(&known).await.status, 200);

    let mut unknown = world.review(&world.pay(1).await);
    unknown.agent_id = "4242".to_owned();
    unknown.agent_key = PreparedKey::secp256k1(&[5; 32]).unwrap();
    let mut elsewhere = unknown.clone();
    elsewhere.registry = "eip155:84532:0x8004A818BFB912233c491871b3d84c89A494BD9e".to_owned();
    let to_another = world
        .send_token(&world.chain.payer, world.client(), 1)
        .await;
    let to_another = world.review(&to_another);
    let cool = world.review(&world.pay(1).await);
    // the payer acts for the agent, and has rated it
    let approve = |to| calls::approve(world.chain.agent_id, to).to_vec();
    as_owner(&world, approve(world.chain.payer.address())).await;

    let hash = format!("0x{}", "5a".repeat(32));
    for (what, payload, expected) in [
        (
            "the hash, then the key that is known",
            with(&known, "/interactionData/interactionHash", json!(hash)),
            (400, "InteractionHashMismatch"),
        ),
        (
            "the key that is known, then the reviewer's signature",
            with(&known, "/review/value", json!(1)),
            (409, "DuplicateTaskRef"),
        ),
        (
            "the registry, then the agent",
            elsewhere.json(),
            (404, "RegistryNotServed"),
        ),
        (
            "the agent, then its signature",
            unknown.json(),
            (404, "AgentNotFound"),
        ),
        (
            "the payment, then the payer's role",
            to_another.json(),
            (400, "PaymentMismatch"),
        ),
        (
            "the payer's role, then the limit",
            cool.json(),
            (400, "SelfFeedback"),
        ),
    ] {
        let (status, class) = class_of(&running, &payload).await;
        assert_eq!((status, &*class), expected, "{what}");
    }
    as_owner(&world, approve(Address::ZERO)).await;
    let limited = class_of(&running, &cool.json()).await;
    assert_eq!(limited, (429, "CoolDown".to_owned()), "the limit was there");
    assert_eq!(world.feedbacks().await, 1);
    running.stop().await;
}

/// R51: digits of a transaction in the other case name the same payment, whoever signed what.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r51_another_spelling_of_a_payment_is_the_same_payment() {
    let world = World::start().await;
    let folder = tempfile::tempdir().unwrap();
    let running = Running::start(&world, folder.path()).await;
    let first = world.review(&world.pay(1).await);
    let (chain, transaction) = first.task_ref.rsplit_once(":0x").unwrap();
    let mut shouted = first.clone();
    shouted.task_ref = format!("{chain}:0x{}", transaction.to_uppercase());
    let mut small = first.clone();
    small.reviewer = first.reviewer.to_lowercase();
    assert_eq!(running.submit(&first).await.status, 200);
    for draft in [&shouted, &small] {
        assert_ne!(draft.json(), first.json());
        let found = class_of(&running, &draft.json()).await;
        assert_eq!(found, (409, "DuplicateTaskRef".to_owned()));
    }
    // in either order
    let mut second = world.review(&world.pay(1).await);
    let spelled = second.task_ref.clone();
    second.task_ref = format!("{chain}:0x{}", spelled[chain.len() + 3..].to_uppercase());
    assert_eq!(running.submit(&second).await.status, 200);
    second.task_ref = spelled;
    let found = class_of(&running, &second.json()).await;
    assert_eq!(found, (409, "DuplicateTaskRef".to_owned()));
    assert_eq!(world.feedbacks().await, 2);
    running.stop().await;
}
