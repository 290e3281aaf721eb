//! R57: times of receipts do not go back by more than an audit accepts, however long checks and the wait for the database took.
use crate::{
    generous::{DAY, aggregator, review},
    payload::Draft,
    respond::request,
};
use concord_aggregator::{Aggregator, AllowedAgents, Limits, Refusal};

async fn submit(to: &Aggregator, draft: &Draft, came: u64) -> Result<u64, Refusal> {
    let body = draft.json().to_string();
    let row = to.submit(body.as_bytes(), None, came).await;
    row.map(|it| it.receipt.n)
}

async fn respond(to: &Aggregator, draft: &Draft, n: u64, came: u64) -> Result<u64, Refusal> {
    let hash = to.store().get(n).unwrap().unwrap().submission.hash;
    let body = request(draft, &hash, &draft.agent_key).to_string();
    let row = to.respond(body.as_bytes(), came).await;
    row.map(|it| it.receipt.n)
}

fn overtaken(found: Result<u64, Refusal>) {
    let refusal = found.unwrap_err();
    let found = (refusal.code.status(), &*refusal.body()["class"].to_string());
    assert_eq!(found, (503, "\"Overtaken\""), "{refusal}");
}

/// Each time counts from when it came, and is compared with the latest receipt, of either kind.
#[tokio::test]
async fn r57_what_was_overtaken_gets_no_receipt() {
    let folder = tempfile::tempdir().unwrap();
    let all = aggregator(folder.path(), Limits::default(), AllowedAgents::new());
    let drafts = [1, 2, 3, 4].map(|payment| review(payment, 1, 1));
    assert_eq!(submit(&all, &drafts[0], DAY + 51).await, Ok(1));
    overtaken(submit(&all, &drafts[1], DAY).await);
    assert_eq!(submit(&all, &drafts[1], DAY + 1).await, Ok(2));
    // the last receipt is not the latest
    overtaken(submit(&all, &drafts[2], DAY).await);
    overtaken(respond(&all, &drafts[0], 1, DAY).await);
    assert!(
        all.store().response_to(1).unwrap().is_none(),
        "nothing was accepted"
    );
    assert_eq!(respond(&all, &drafts[0], 1, DAY + 1).await, Ok(3));
    assert_eq!(respond(&all, &drafts[1], 2, DAY + 200).await, Ok(4));
    overtaken(submit(&all, &drafts[2], DAY + 149).await);
    assert_eq!(submit(&all, &drafts[2], DAY + 150).await, Ok(5));
    overtaken(respond(&all, &drafts[2], 5, DAY + 149).await);
    // R51: what has a receipt is answered
    assert_eq!(submit(&all, &drafts[0], DAY).await, Ok(1));
    assert_eq!(respond(&all, &drafts[0], 1, DAY).await, Ok(3));
    assert_eq!(all.store().receipts(1, 10).unwrap().len(), 5);
}
