use crate::verify::{
    purchase,
    purchase::{BLOCK, verify},
    vectors,
};
use concord_x402::verify::{Class, State};
use serde_json::Value;

fn file_of(name: &str) -> Value {
    let id = format!("x402/purchase/{name}");
    let vectors = vectors();
    vectors.iter().find(|it| it["id"] == *id).unwrap()["purchase"]["file"].clone()
}

#[tokio::test]
async fn s9_reads_the_file_past_every_cache_before_it_refutes() {
    let refuted = purchase("key-not-listed");
    let report = verify(&refuted).await;
    assert_eq!(report.refused_for(), Some(Class::SignerUnknown));
    assert!(refuted.fresh.lock().unwrap().contains(&true));

    let mut rotated = purchase("key-not-listed");
    rotated.renewed = Some(file_of("ed25519"));
    let report = verify(&rotated).await;
    assert_eq!(
        report.state(),
        State::Verified,
        "the new file lists the key"
    );
    assert_eq!(*rotated.fresh.lock().unwrap(), [false, true]);
}

#[tokio::test]
async fn s10_reads_the_file_past_every_cache_before_it_refutes() {
    let refuted = purchase("v-flipped");
    verify(&refuted).await;
    assert_eq!(*refuted.fresh.lock().unwrap(), [false, true]);
}

#[tokio::test]
async fn a_cached_file_is_enough_to_verify() {
    let verified = purchase("typical");
    verify(&verified).await;
    assert_eq!(*verified.fresh.lock().unwrap(), [false]);
}

#[tokio::test]
async fn the_agent_is_read_at_the_settlement_s_block_if_that_is_its_chain() {
    let same = purchase("typical");
    verify(&same).await;
    assert!(
        same.blocks
            .lock()
            .unwrap()
            .iter()
            .all(|it| *it == Some(BLOCK))
    );
    let crossed = purchase("crossed");
    verify(&crossed).await;
    assert!(crossed.blocks.lock().unwrap().iter().all(Option::is_none));
}
