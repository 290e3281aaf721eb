//! What changes between a payment and its feedback: the agent, its keys, the fee, the store.
use crate::{
    payload::public_key,
    shut_out::as_owner,
    world::{Answer, Running, Settings, TIMING, World, pause},
};
use alloy::{
    consensus::{Transaction, TxEnvelope},
    eips::Decodable2718,
    primitives::Bytes,
    providers::Provider,
};
use concord_aggregator::store::RowState;
use concord_canonical::sign::PreparedKey;
use concord_chain::{
    evm::FeeLimit,
    submission::{SignedTx, Timing, TxRecord},
};
use concord_files::encode_uri;
use concord_registry::evm::calls;
use serde_json::{Value, json};
use std::{sync::Arc, time::Duration};

fn found(answer: &Answer) -> (u16, &str) {
    (answer.status, answer.body["class"].as_str().unwrap_or(""))
}

/// R27: what counts is the wallet when the payment settled.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_agent_that_is_transferred_after_the_payment_is_rated() {
    let world = World::start().await;
    let folder = tempfile::tempdir().unwrap();
    let running = Running::start(&world, folder.path()).await;
    let before = world.review(&world.pay(1).await);
    world.chain.transfer_agent().await;
    let after = world.review(&world.pay(1).await); // the transfer unset the wallet (R3)
    let answer = running.submit(&after).await;
    assert_eq!(found(&answer), (400, "PaymentMismatch"), "{}", answer.body);
    let answer = running.submit(&before).await;
    assert_eq!(found(&answer), (200, ""), "{}", answer.body);
    assert_eq!(world.feedbacks().await, 1);
    running.stop().await;
}

/// R30: what counts are the keys when the payment settled.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r30_a_key_that_rotates_after_the_payment_has_signed() {
    let world = World::start().await;
    let folder = tempfile::tempdir().unwrap();
    let running = Running::start(&world, folder.path()).await;
    let before = world.review(&world.pay(1).await);
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
    let mut after = world.review(&world.pay(1).await);
    let answer = running.submit(&after).await;
    assert_eq!(found(&answer), (422, "SignerUnknown"), "{}", answer.body);
    after.agent_key = key;
    for draft in [before, after] {
        let answer = running.submit(&draft).await;
        assert_eq!(found(&answer), (200, ""), "{}", answer.body);
    }
    assert_eq!(world.feedbacks().await, 2);
    running.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_fee_above_the_limit_is_waited_for() {
    let world = World::start().await;
    let folder = tempfile::tempdir().unwrap();
    let provider = &world.chain.provider;
    // the fee of the next block
    let set_fee = async |gwei: u64| {
        let fee = format!("{:#x}", gwei * 1_000_000_000);
        let set = "anvil_setNextBlockBaseFeePerGas";
        let set = provider.raw_request::<_, Value>(set.into(), [fee]);
        set.await.unwrap();
        let mine = provider.raw_request::<_, Value>("evm_mine".into(), ());
        mine.await.unwrap();
    };
    let draft = world.review(&world.pay(1).await);
    let place = world.place();
    let limit = FeeLimit::parse(Some("20")).unwrap();
    let registries = place.registry_with(limit, 1).await;
    let registries = place.registries_landing(registries, 1).await;
    let running = Running::at(&place, Settings::default(), registries, folder.path()).await;
    let running = Arc::new(running);
    set_fee(100).await;
    let posted = tokio::spawn({
        let running = running.clone();
        async move { running.submit(&draft).await.status }
    });
    let late = loop {
        match running.store.get(1).unwrap() {
            Some(row) if row.attempts > 0 => break row,
            _ => pause().await,
        }
    };
    assert!(late.reason.unwrap().contains("above the limit of 20"));
    assert_eq!(late.state, RowState::Stored, "nothing is signed");
    let metrics = String::from_utf8(running.bytes("/metrics").await).unwrap();
    for line in [
        "concord_aggregator_submissions{state=\"stored\"} 1",
        "concord_aggregator_late 1",
    ] {
        assert!(metrics.lines().any(|it| it == line), "{line}: {metrics}");
    }
    set_fee(1).await;
    running.store.retry().await.unwrap(); // it would be tried again by itself, later
    assert_eq!(posted.await.unwrap(), 200);
    assert_eq!(world.feedbacks().await, 1);
    Arc::into_inner(running).unwrap().stop().await;
}

/// The fee rises after the transaction was sent: it is replaced by one with the same nonce that offers more.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_fee_that_rises_after_the_sending_costs_a_signature_and_no_feedback() {
    let world = World::start().await;
    let folder = tempfile::tempdir().unwrap();
    let place = world.place();
    let timing = Timing {
        replace_after: Duration::from_millis(200),
        ..TIMING
    };
    let registry = place.registry_timed(FeeLimit::default(), 1, timing).await;
    let registries = place.registries_landing(registry, 1).await;
    let running = Running::at(&place, Settings::default(), registries, folder.path()).await;
    let running = Arc::new(running);
    let draft = world.review(&world.pay(1).await);
    world.stop_mining().await;
    let posted = running.submit_beside(&draft);
    running.reach(1, RowState::Sent).await;
    let row = || running.store.get(1).unwrap();
    let spike = json!([format!("{:#x}", 500_000_000_000u64)]); // far above what was offered
    world.ask("anvil_setNextBlockBaseFeePerGas", spike).await;
    world.ask("evm_mine", json!([])).await;
    assert_eq!(row().unwrap().state, RowState::Sent, "not at that fee");
    while row().unwrap().index.is_none() {
        world.ask("evm_mine", json!([])).await;
        pause().await;
    }
    assert_eq!(posted.await.unwrap(), 200);
    let row = row().unwrap();
    let record = running.store.record(&row).unwrap();
    let signed = record.transactions("1");
    assert!(signed.len() > 1, "{signed:?}");
    let fees: Vec<u128> = signed.iter().map(offered).collect();
    assert!(fees.is_sorted_by(|a, b| a < b), "{fees:?}");
    assert_eq!(world.feedbacks().await, 1);
    Arc::into_inner(running).unwrap().stop().await;
}

/// The most that a transaction offers for a unit of gas.
fn offered(signed: &SignedTx) -> u128 {
    let bytes: Bytes = signed.raw.parse().unwrap();
    let envelope = TxEnvelope::decode_2718_exact(&bytes).unwrap();
    envelope.max_fee_per_gas()
}

/// Nothing is accepted that is not on disk, and the service continues when it can write again.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_store_that_cannot_be_written_accepts_nothing() {
    let world = World::start().await;
    let folder = tempfile::tempdir().unwrap();
    let running = Running::start(&world, folder.path()).await;
    let draft = world.review(&world.pay(1).await);
    let path = folder.path().join("aggregator.sqlite");
    let other = rusqlite::Connection::open(path).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let answer = running.submit(&draft).await;
    assert_eq!(found(&answer), (503, "StoreUnavailable"), "{}", answer.body);
    assert!(answer.body.get("receipt").is_none());
    other.execute_batch("ROLLBACK").unwrap();
    assert_eq!(running.store.page(1, 1).unwrap().len(), 0);
    let answer = running.submit(&draft).await;
    assert_eq!(found(&answer), (200, ""), "{}", answer.body);
    running.stop().await;
}

/// R53: what is said changes nothing of the order. Praise and scorn that come one after the other land so.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r53_feedback_lands_in_the_order_of_its_receipts() {
    let world = World::start().await;
    let folder = tempfile::tempdir().unwrap();
    let settings = Settings {
        wait: Some(Duration::ZERO),
        ..Settings::default()
    };
    let running = Running::start_with(settings, 1, &world, folder.path()).await;
    let said: [(i128, &str); 6] = [
        (100, "excellent"),
        (-100, "never again"),
        (0, ""),
        (-1, "late"),
        (95, "x402-resource-delivered"),
        (-(1 << 53) + 1, "theft"),
    ];
    for (value, tag) in said {
        let mut draft = world.review(&world.pay(1).await);
        (draft.value, draft.tags[0]) = (value, tag.to_owned());
        let status = running.submit(&draft).await.status;
        assert!([200, 202].contains(&status), "{value}: {status}");
    }
    while running.store.open_count().unwrap() > 0 {
        pause().await;
    }
    for n in 1..=said.len() as u64 {
        let row = running.store.get(n).unwrap().unwrap();
        assert_eq!((row.state, row.index), (RowState::Final, Some(n)));
    }
    running.stop().await;
}
