//! Runs that continue what an earlier one began, on a node that forgets or a chain that goes back.
use crate::evm::submission::{
    TIMING, chain, chain_after, node, payment, received, receiver, run, stored,
};
use alloy::{node_bindings::AnvilInstance, primitives::U256};
use concord_chain::{
    Blocking, ChainError,
    evm::{CallChain, CallJob, Confirmations},
    submission::{FileRecord, Timing, TxChain, TxRecord, submit},
};
use concord_testkit::anvil::start;
use serde_json::{Value, json};
use std::{path::Path, time::Duration};

/// Killed after sending, and continued when the node has dropped the receipts of that time: without them, a used nonce does not say
/// that another transaction has it (R36).
#[test]
fn a_node_without_the_receipts_of_its_time_does_not_make_a_job_land_twice() {
    let anvil = start(&["--transaction-block-keeper", "2"]);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("jobs.json");
    let job = payment("only", 5);
    Blocking::new().unwrap().wait(async {
        let node = node(&anvil);
        let mut chain = chain(&anvil).await;
        let signed = chain.sign(&job, 0).await.unwrap();
        let mut record = FileRecord::open(&path).unwrap();
        record.signed(&[("only", signed.clone())]).unwrap();
        chain.send(&signed).await.unwrap();
        fill_blocks(&anvil, 5).await;
        let hash = signed.transaction.parse().unwrap();
        assert!(node.receipt(hash).await.unwrap().is_none());

        let reports = unlanded(&mut chain, &job, &mut record).await;
        let words =
            "may have landed: its nonce is used, and the node has shown no receipt since block 0";
        assert!(reports.iter().any(|it| it.contains(words)), "{reports:#?}");
        assert_eq!(record.transactions("only"), [signed]);
    });
    let blocking = Blocking::new().unwrap();
    assert_eq!(blocking.wait(received(&anvil)), U256::from(5));
}

/// Another of the account's transactions took the nonce, and the node has the receipts that show it. While a reorganisation can take that
/// one back, the job's own could still land.
#[test]
fn a_job_whose_nonce_another_transaction_took_is_signed_again_when_that_is_final() {
    let anvil = start(&[]);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("jobs.json");
    let job = payment("only", 5);
    Blocking::new().unwrap().wait(async {
        let mut chain = chain_after(&anvil, Confirmations::Blocks(4)).await;
        let signed = chain.sign(&job, 0).await.unwrap();
        let mut record = FileRecord::open(&path).unwrap();
        record.signed(&[("only", signed)]).unwrap();
        let mut other = crate::evm::submission::chain(&anvil).await;
        let rival = other.sign(&payment("rival", 1), 0).await.unwrap();
        other.send(&rival).await.unwrap();
        while node(&anvil).block_number().await.unwrap() == 0 {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }

        let reports = unlanded(&mut chain, &job, &mut record).await;
        let words = "in a block that is not final yet";
        assert!(reports.iter().any(|it| it.contains(words)), "{reports:#?}");
        assert_eq!(record.transactions("only").len(), 1);

        fill_blocks(&anvil, 3).await; // 4 confirmations
        drop(record);
        let jobs = std::slice::from_ref(&job);
        let (submitted, ()) = tokio::join!(
            run(&mut chain, jobs, &path),
            fill_blocks_until_final(&anvil, &path)
        );
        submitted.unwrap();
    });
    let stored = stored(&path);
    assert_eq!(stored["only"]["transactions"].as_array().unwrap().len(), 2);
    let signed_at = stored["only"]["transactions"][1]["signedAt"].as_u64();
    assert!(signed_at.unwrap() >= 4, "4 confirmations: {stored}");
    let blocking = Blocking::new().unwrap();
    assert_eq!(blocking.wait(received(&anvil)), U256::from(6));
}

/// A reorganisation takes the failure back, and the transaction succeeds: a second one, signed in between, would land too.
#[test]
fn a_failed_transaction_is_tried_again_only_when_its_failure_is_final() {
    let anvil = start(&[]);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("jobs.json");
    let job = payment("only", 5);
    Blocking::new().unwrap().wait(async {
        let node = node(&anvil);
        let mut chain = chain_after(&anvil, Confirmations::Blocks(4)).await;
        let signed = chain.sign(&job, 0).await.unwrap();
        let mut record = FileRecord::open(&path).unwrap();
        record.signed(&[("only", signed.clone())]).unwrap();
        let code = async |code: &str| {
            let params = json!([receiver(), code]);
            let _: Value = node
                .endpoint()
                .expect("anvil_setCode", params)
                .await
                .unwrap();
        };
        code("0x5f5ffd").await; // REVERT
        chain.send(&signed).await.unwrap();
        while node.block_number().await.unwrap() == 0 {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        code("0x").await;

        let reports = unlanded(&mut chain, &job, &mut record).await;
        let words = "failed in block 1, which is not final yet";
        assert!(reports.iter().any(|it| it.contains(words)), "{reports:#?}");
        assert_eq!(record.transactions("only").len(), 1);

        fill_blocks(&anvil, 3).await; // 4 confirmations
        let groups = [std::slice::from_ref(&job)];
        let mut report = |_: &CallJob, _: &str| ();
        let (submitted, ()) = tokio::join!(
            submit(&mut chain, &groups, &mut record, TIMING, &mut report),
            fill_blocks_until_final(&anvil, &path),
        );
        submitted.unwrap();
        assert_eq!(record.transactions("only").len(), 2);
    });
    let blocking = Blocking::new().unwrap();
    assert_eq!(blocking.wait(received(&anvil)), U256::from(5));
}

/// Submits in vain, and returns what was reported.
async fn unlanded(chain: &mut CallChain, job: &CallJob, record: &mut FileRecord) -> Vec<String> {
    let timing = Timing {
        give_up_after: Duration::from_secs(1),
        ..TIMING
    };
    let mut reports = Vec::new();
    let mut report = |_: &CallJob, words: &str| reports.push(words.to_owned());
    let groups = [std::slice::from_ref(job)];
    let submitted = submit(chain, &groups, record, timing, &mut report).await;
    assert!(matches!(submitted, Err(ChainError::NotLanded { .. })));
    reports
}

/// So many blocks, with a transaction of another account in each.
async fn fill_blocks(anvil: &AnvilInstance, blocks: usize) {
    let endpoint = node(anvil);
    let transfer =
        json!([{ "from": anvil.addresses()[1], "to": anvil.addresses()[2], "value": "0x1" }]);
    for _ in 0..blocks {
        let _: Value = (endpoint.endpoint())
            .expect("eth_sendTransaction", transfer.clone())
            .await
            .unwrap();
    }
}

async fn fill_blocks_until_final(anvil: &AnvilInstance, path: &Path) {
    while stored(path)["only"]["final"] != true {
        fill_blocks(anvil, 1).await;
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}
