//! Jobs of a service: recorded before they are sent, replaced, found again after a reorganisation.
use alloy::{
    consensus::{SignableTransaction, TxEip1559, TxEnvelope},
    eips::Encodable2718,
    network::TxSignerSync,
    node_bindings::AnvilInstance,
    primitives::{Address, Bytes, U256},
};
use concord_chain::{
    Blocking, ChainError, EndpointOptions,
    evm::{CallChain, CallJob, Confirmations, FeeLimit, Node, decode},
    submission::{FileRecord, SendOutcome, SignedTx, Timing, TxChain, TxRecord, TxStatus, submit},
};
use concord_testkit::anvil::{TIMEOUT, key, start};
use serde_json::{Value, json};
use std::{collections::BTreeSet, path::Path, time::Duration};

pub(crate) const TIMING: Timing = Timing {
    poll: Duration::from_millis(50),
    replace_after: Duration::from_secs(60),
    give_up_after: Duration::from_secs(60),
};

pub(crate) fn node(anvil: &AnvilInstance) -> Node {
    Node::new(&EndpointOptions::new(anvil.endpoint()).with_timeout(TIMEOUT)).unwrap()
}

pub(crate) async fn chain(anvil: &AnvilInstance) -> CallChain {
    chain_after(anvil, Confirmations::Blocks(1)).await
}

pub(crate) async fn chain_after(anvil: &AnvilInstance, confirmations: Confirmations) -> CallChain {
    let id = "eip155:31337".parse().unwrap();
    let (signer, limit) = (Box::new(key(anvil, 0)), FeeLimit::default());
    CallChain::connect(node(anvil), &id, signer, limit, confirmations)
        .await
        .unwrap()
}

/// So many wei to an account of the test's own.
pub(crate) fn payment(id: &str, wei: u64) -> CallJob {
    CallJob {
        id: id.to_owned(),
        to: receiver(),
        value: U256::from(wei),
        input: Bytes::new(),
    }
}

pub(crate) fn receiver() -> Address {
    Address::repeat_byte(0x22)
}

pub(crate) async fn run(
    chain: &mut CallChain,
    jobs: &[CallJob],
    record: &Path,
) -> Result<(), ChainError> {
    let mut record = FileRecord::open(record).unwrap();
    let mut report = |_: &CallJob, _: &str| ();
    let groups: Vec<&[CallJob]> = jobs.chunks(1).collect();
    submit(chain, &groups, &mut record, TIMING, &mut report).await
}

pub(crate) fn stored(path: &Path) -> Value {
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

pub(crate) async fn received(anvil: &AnvilInstance) -> U256 {
    node(anvil).balance(receiver()).await.unwrap()
}

/// At one nonce only one of them lands; were they equal, it would count for all.
#[test]
fn equal_calls_at_one_nonce_are_not_one_transaction() {
    let anvil = start(&[]);
    Blocking::new().unwrap().wait(async {
        let mut chain = chain(&anvil).await;
        let mut signed = BTreeSet::new();
        for _ in 0..5 {
            let transaction = chain.sign(&payment("only", 5), 0).await.unwrap();
            signed.insert(transaction.transaction);
        }
        assert!(signed.len() > 1, "{signed:?}");
    });
}

#[test]
fn each_job_lands_once_however_often_it_is_submitted() {
    let anvil = start(&[]);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("jobs.json");
    let jobs = [payment("first", 5), payment("second", 7)];
    Blocking::new().unwrap().wait(async {
        let mut chain = chain(&anvil).await;
        run(&mut chain, &jobs, &path).await.unwrap();
        run(&mut chain, &jobs, &path).await.unwrap();
        assert_eq!(received(&anvil).await, U256::from(12));
    });
    let stored = stored(&path);
    for (job, block) in [("first", 1), ("second", 2)] {
        assert_eq!(stored[job]["transactions"].as_array().unwrap().len(), 1);
        assert_eq!(stored[job]["landing"]["block"], block);
        assert_eq!(stored[job]["final"], true);
    }
}

/// As after a crash right before or right after sending.
#[test]
fn a_transaction_on_record_is_the_one_that_lands() {
    let anvil = start(&[]);
    let folder = tempfile::tempdir().unwrap();
    for (is_sent, name) in [(false, "before"), (true, "after")] {
        let path = folder.path().join(format!("{name}.json"));
        let job = payment(name, 5);
        Blocking::new().unwrap().wait(async {
            let mut chain = chain(&anvil).await;
            let signed = chain.sign(&job, 0).await.unwrap();
            let mut record = FileRecord::open(&path).unwrap();
            record.signed(&[(name, signed.clone())]).unwrap();
            drop(record);
            if is_sent {
                let sent = chain.send(&signed).await.unwrap();
                assert_eq!(sent, SendOutcome::Accepted);
            }
            run(&mut chain, std::slice::from_ref(&job), &path)
                .await
                .unwrap();
            let landing = stored(&path)[name]["landing"]["transaction"].clone();
            assert_eq!(landing, signed.transaction);
        });
    }
    let blocking = Blocking::new().unwrap();
    assert_eq!(blocking.wait(received(&anvil)), U256::from(10));
}

#[test]
fn the_fee_of_a_pending_transaction_is_raised() {
    let anvil = start(&["--no-mining"]);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("jobs.json");
    let jobs = [payment("only", 5)];
    Blocking::new().unwrap().wait(async {
        let mut chain = chain(&anvil).await;
        let mut record = FileRecord::open(&path).unwrap();
        let timing = Timing {
            replace_after: Duration::ZERO,
            ..TIMING
        };
        let mut report = |_: &CallJob, _: &str| ();
        let groups = [&jobs[..]];
        let submitted = submit(&mut chain, &groups, &mut record, timing, &mut report);
        let mining = async {
            let node = node(&anvil);
            while stored_count(&path) < 3 {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
            let _: Value = node.endpoint().expect("evm_mine", json!([])).await.unwrap();
        };
        let (submitted, ()) = tokio::join!(submitted, mining);
        submitted.unwrap();
        assert_eq!(received(&anvil).await, U256::from(5));
        assert!(record.is_final("only"));
        let landed = record.landing("only").unwrap().transaction.clone();
        assert_ne!(landed, record.transactions("only")[0].transaction);
    });
}

fn stored_count(path: &Path) -> usize {
    let stored: Option<Value> =
        (std::fs::read(path).ok()).and_then(|text| serde_json::from_slice(&text).ok());
    stored.map_or(0, |it| {
        it["only"]["transactions"].as_array().map_or(0, Vec::len)
    })
}

/// A node that lags behind counts a nonce as free whose transaction was seen in a block. Only if it goes on is that a
/// reorganisation.
#[test]
fn a_nonce_that_was_seen_used_is_asked_for_again() {
    let anvil = start(&[]);
    let job = payment("only", 5);
    Blocking::new().unwrap().wait(async {
        let mut chain = chain(&anvil).await;
        let (node, from) = (node(&anvil), key(&anvil, 0).address());
        let first = chain.sign(&job, 0).await.unwrap();
        chain.send(&first).await.unwrap();
        while !matches!(
            chain.statuses(std::slice::from_ref(&first)).await.unwrap()[..],
            [TxStatus::Landed(_)]
        ) {}
        let count = async |nonce: u64| {
            let parameters = json!([from, format!("{nonce:#x}")]);
            let set = node.endpoint().expect("anvil_setNonce", parameters);
            let _: Value = set.await.unwrap();
        };
        count(0).await;
        let catch_up = async {
            tokio::time::sleep(Duration::from_millis(300)).await;
            count(1).await;
        };
        let (signed, ()) = tokio::join!(chain.sign(&job, 0), catch_up);
        assert_eq!(unsigned(&signed.unwrap()).nonce, 1);
        count(0).await;
        let signed = chain.sign(&job, 0).await.unwrap();
        assert_eq!(unsigned(&signed).nonce, 0, "a reorganisation freed it");
    });
}

/// Another program's transaction was dropped, and ours waits behind its nonce.
#[test]
fn a_gap_in_the_nonces_is_reported() {
    let anvil = start(&[]);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("jobs.json");
    let job = payment("only", 5);
    Blocking::new().unwrap().wait(async {
        let mut chain = chain(&anvil).await;
        let first = chain.sign(&job, 0).await.unwrap();
        let mut later = TxEip1559 {
            nonce: 1,
            ..unsigned(&first)
        };
        let signature = key(&anvil, 0).sign_transaction_sync(&mut later).unwrap();
        let later = TxEnvelope::from(later.into_signed(signature));
        let later = SignedTx {
            transaction: later.tx_hash().to_string(),
            raw: Bytes::from(later.encoded_2718()).to_string(),
            ..first
        };
        let mut record = FileRecord::open(&path).unwrap();
        record.signed(&[("only", later)]).unwrap();
        let timing = Timing {
            give_up_after: Duration::from_secs(2),
            ..TIMING
        };
        let mut reports = Vec::new();
        let mut report = |_: &CallJob, words: &str| reports.push(words.to_owned());
        let groups = [std::slice::from_ref(&job)];
        let submitted = submit(&mut chain, &groups, &mut record, timing, &mut report).await;
        assert!(matches!(submitted, Err(ChainError::NotLanded { .. })));
        let gaps = reports
            .iter()
            .filter(|it| it.contains("has nonce 1 and waits for nonce 0"));
        assert_eq!(gaps.count(), 1, "{reports:#?}");
    });
}

fn unsigned(signed: &SignedTx) -> TxEip1559 {
    match decode(signed).unwrap() {
        TxEnvelope::Eip1559(signed) => signed.strip_signature(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn what_a_failed_transaction_cost_is_on_record() {
    let anvil = start(&["--no-mining"]);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("jobs.json");
    Blocking::new().unwrap().wait(async {
        let node = node(&anvil);
        let mut chain = chain(&anvil).await;
        let job = payment("only", 5);
        let signed = chain.sign(&job, 0).await.unwrap();
        chain.send(&signed).await.unwrap();
        let mut record = FileRecord::open(&path).unwrap();
        record.signed(&[("only", signed)]).unwrap();
        // It would succeed when it was signed, and reverts when it is mined.
        let reverting = json!([receiver(), "0x5f5ffd"]);
        let _: Value = node
            .endpoint()
            .expect("anvil_setCode", reverting)
            .await
            .unwrap();
        let _: Value = node.endpoint().expect("evm_mine", json!([])).await.unwrap();
        let groups = [std::slice::from_ref(&job)];
        let mut report = |_: &CallJob, _: &str| ();
        let submitted = submit(&mut chain, &groups, &mut record, TIMING, &mut report).await;
        // It failed before this process, so that it is tried again, in vain.
        assert!(
            matches!(submitted, Err(ChainError::SimulationFailed { .. })),
            "{submitted:?}"
        );
        assert!(
            record.transactions("only")[0]
                .failure_cost
                .is_some_and(|cost| !cost.is_zero())
        );
    });
    assert!(stored(&path)["only"]["transactions"][0]["failureCost"].is_string());
}

#[test]
fn finalized_waits_for_the_chain_s_own_word() {
    let anvil = start(&["--slots-in-an-epoch", "4"]);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("jobs.json");
    Blocking::new().unwrap().wait(async {
        let node = node(&anvil);
        let jobs = [payment("only", 5)];
        let mut chain = chain_after(&anvil, Confirmations::Finalized).await;
        let landed = async {
            while stored_count(&path) == 0 || node.block_number().await.unwrap() < 1 {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
            let mut mined = 0;
            while stored(&path)["only"]["final"] != true {
                let _: Value = node.endpoint().expect("evm_mine", json!([])).await.unwrap();
                mined += 1;
                tokio::time::sleep(Duration::from_millis(200)).await;
            }
            mined
        };
        let (submitted, mined) = tokio::join!(run(&mut chain, &jobs, &path), landed);
        submitted.unwrap();
        assert!(mined >= 4, "{mined} blocks");
    });
}

/// It has landed, and says so.
#[test]
fn a_wait_for_finality_has_an_end_of_its_own() {
    let anvil = start(&["--slots-in-an-epoch", "4"]);
    let folder = tempfile::tempdir().unwrap();
    let mut record = FileRecord::open(&folder.path().join("jobs.json")).unwrap();
    let job = payment("only", 5);
    let timing = Timing {
        give_up_after: Duration::from_secs(1),
        ..TIMING
    };
    let groups = [std::slice::from_ref(&job)];
    let mut report = |_: &CallJob, _: &str| ();
    let error = Blocking::new().unwrap().wait(async {
        let mut chain = chain_after(&anvil, Confirmations::Finalized).await;
        let submitted = submit(&mut chain, &groups, &mut record, timing, &mut report).await;
        submitted.unwrap_err()
    });
    assert!(error.is_retryable() && error.is_from_the_chain());
    let words = error.to_string();
    let expected = "only: landed in block 1, and was not final after 1 seconds";
    assert_eq!(words, expected);
    assert!(record.landing("only").is_some() && !record.is_final("only"));
}

#[test]
fn a_reverting_call_is_refused_before_it_is_signed() {
    let anvil = start(&[]);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("jobs.json");
    Blocking::new().unwrap().wait(async {
        let mut chain = chain(&anvil).await;
        let code: () = node(&anvil)
            .endpoint()
            .expect("anvil_setCode", json!([receiver(), "0x5f5ffd"])) // REVERT
            .await
            .unwrap();
        let () = code;
        let refused = run(&mut chain, &[payment("only", 5)], &path).await;
        assert!(
            matches!(refused, Err(ChainError::SimulationFailed { .. })),
            "{refused:?}"
        );
    });
    assert!(!path.exists());
}

#[test]
fn two_processes_do_not_share_a_record() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("jobs.json");
    let _first = FileRecord::open(&path).unwrap();
    assert!(matches!(
        FileRecord::open(&path),
        Err(ChainError::Locked(_))
    ));
}
