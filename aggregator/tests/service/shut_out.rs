//! An agent that makes the aggregator's account one of its operators, so that the registry refuses what the
//! account submits (R18). It must not end the submission of what was accepted (R53).
use crate::{
    solana,
    world::{Answer, Running, Settings, World, pause},
};
use alloy::{
    network::TransactionBuilder,
    primitives::{Address, Bytes},
    rpc::types::TransactionRequest,
    sol,
    sol_types::SolCall,
};
use async_trait::async_trait;
use concord_aggregator::{lane::LaneRegistries, store::RowState};
use concord_chain::{ChainError, Signer, Svm, keys::Keypair, submission::TxRecord};
use concord_registry::svm::instructions::Consent;
use concord_testkit::cluster::Solana;
use concord_testkit::hooked_registry::{Hooked, Hooks};
use concord_x402::feedback::{FeedbackError, FeedbackJob, FeedbackRegistry, FileFolder, FileStore};
use serde_json::json;
use std::{path::Path, sync::Arc};
use tokio::sync::oneshot;

sol! {
    function setApprovalForAll(address operator, bool approved) external;
    function approve(address to, uint256 tokenId) external;
}

/// The agent's owner calls the identity registry.
pub async fn as_owner(world: &World, input: impl Into<Bytes>) {
    let request = TransactionRequest::default()
        .with_to(world.chain.registry)
        .with_input(input);
    assert!(world.send(&world.chain.owner, request).await.status());
}

fn approval_for_all(world: &World, approved: bool) -> Vec<u8> {
    let operator = world.client();
    setApprovalForAllCall { operator, approved }.abi_encode()
}

fn approval(world: &World, to: Address) -> Vec<u8> {
    let call = approveCall {
        to,
        tokenId: world.chain.agent_id,
    };
    call.abi_encode()
}

fn assert_shut_out(answer: &Answer) {
    let found = ["code", "class"].map(|it| answer.body[it].as_str().unwrap_or(""));
    assert_eq!(
        (answer.status, found),
        (503, ["UNAVAILABLE", "ClientIsInsider"]),
        "{}",
        answer.body
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r18_an_agent_that_shuts_the_account_out_is_not_rated_until_that_ends() {
    let world = World::start().await;
    let folder = tempfile::tempdir().unwrap();
    let running = Running::start(&world, folder.path()).await;
    let client = world.client();
    for (number, [set, withdraw]) in (1..).zip([
        [true, false].map(|it| approval_for_all(&world, it)),
        [client, Address::ZERO].map(|it| approval(&world, it)),
    ]) {
        let draft = world.review(&world.pay(1).await);
        as_owner(&world, set).await;
        assert_shut_out(&running.submit(&draft).await);
        assert_eq!(
            running.store.page(number, 1).unwrap().len(),
            0,
            "no receipt"
        );
        as_owner(&world, withdraw).await;
        let answer = running.submit(&draft).await;
        assert_eq!(answer.status, 200, "{}", answer.body);
        assert_eq!(world.feedbacks().await, number);
    }
    running.stop().await;
}

/// At its first call the registry lets the test go on, and waits until it is told what to do.
struct FirstCall(Option<(oneshot::Sender<()>, oneshot::Receiver<Option<ChainError>>)>);

#[async_trait]
impl Hooks for FirstCall {
    async fn submit(
        &mut self,
        registry: &mut dyn FeedbackRegistry,
        job: FeedbackJob<'_>,
        record: &mut (dyn TxRecord + Sync),
    ) -> Result<(), FeedbackError> {
        if let Some((reached, answer)) = self.0.take() {
            reached.send(()).unwrap();
            if let Some(failure) = answer.await.unwrap() {
                return Err(failure.into());
            }
        }
        registry.submit(job, record).await
    }
}

/// Until this many attempts failed: more than make a submission refused.
async fn fail(running: &Running, attempts: u32) {
    while running.store.get(1).unwrap().unwrap().attempts < attempts {
        pause().await;
    }
}

/// The review waits, and nobody but its reviewer knows what it says.
async fn assert_waits(running: &Running, folder: &Path) {
    let row = running.store.get(1).unwrap().unwrap();
    assert_eq!(row.state, RowState::Stored);
    assert!(row.reason.unwrap().contains("R18"));
    let answer = running.get("/submissions/1").await;
    assert_eq!(
        (answer.status, &answer.body["status"]),
        (202, &json!("accepted"))
    );
    assert_eq!(answer.body.get("feedbackURI"), None);
    let page = running.get("/receipts").await;
    assert_eq!(page.body["receipts"][0].get("feedbackURI"), None);
    let cid = row.submission.uri.trim_start_matches("ipfs://").to_owned();
    assert!(folder.join("files").join(&cid).is_file());
    assert_eq!(running.get(&format!("/ipfs/{cid}")).await.status, 404);
}

async fn assert_shown(running: &Running) {
    let answer = running.get("/submissions/1").await;
    let uri = answer.body["feedbackURI"].as_str().unwrap();
    let cid = uri.trim_start_matches("ipfs://");
    assert!(!running.bytes(&format!("/ipfs/{cid}")).await.is_empty());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r53_a_review_outlasts_an_agent_that_shuts_the_account_out() {
    let world = World::start().await;
    let folder = tempfile::tempdir().unwrap();
    let place = world.place();
    let ((reached, is_reached), (go, answer)) = (oneshot::channel(), oneshot::channel());
    let registry = Hooked {
        registry: Box::new(place.registry().await),
        hooks: FirstCall(Some((reached, answer))),
    };
    let registries = place.registries_landing(registry, 1).await;
    let running = Running::at(&place, Settings::default(), registries, folder.path()).await;
    let running = Arc::new(running);
    let draft = world.review(&world.pay(1).await);
    let posted = running.submit_beside(&draft);
    // accepted, and shut out before the account submits it
    is_reached.await.unwrap();
    as_owner(&world, approval_for_all(&world, true)).await;
    go.send(None).unwrap();
    fail(&running, 4).await;
    assert_waits(&running, folder.path()).await;
    assert_shut_out(&running.submit(&world.review(&world.pay(1).await)).await);

    as_owner(&world, approval_for_all(&world, false)).await;
    running.store.retry().await.unwrap(); // it would be tried again by itself, later
    assert_eq!(posted.await.unwrap(), 200);
    assert_shown(&running).await;
    assert_eq!(world.feedbacks().await, 1);
    Arc::into_inner(running).unwrap().stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r53_a_review_outlasts_a_feedback_authority_on_solana() {
    let (world, solana) = (World::start().await, Solana::start().await);
    let file = solana::publish(&world, &solana).await;
    let folder = tempfile::tempdir().unwrap();
    let ((reached, is_reached), (go, answer)) = (oneshot::channel(), oneshot::channel());
    let registry = Hooked {
        registry: Box::new(solana::svm_registry(&solana).await),
        hooks: FirstCall(Some((reached, answer))),
    };
    let served = registry.registry();
    let registries = LaneRegistries {
        landing: vec![Box::new(registry)],
        finality: Box::new(solana::svm_registry(&solana).await),
    };
    let admission = solana::admission(&world, &solana, &served, file).await;
    let files: Arc<dyn FileStore> = Arc::new(FileFolder::ipfs(&folder.path().join("files")));
    let running = Running::with(folder.path(), registries, &served, admission, files).await;
    let running = Arc::new(running);
    let draft = solana::review(&world, &solana).await;
    let posted = running.submit_beside(&draft);
    is_reached.await.unwrap();
    let owner = Signer::<Svm>::address(&solana.owner);
    let client = Signer::<Svm>::address(&solana.client);
    let set = async |authority, signers: &[&Keypair]| {
        let set = (solana.program).set_feedback_authority(owner, solana.mint, authority);
        solana.send(vec![set], signers).await;
    };
    let consent = Some((client, Consent::Signs));
    set(consent, &[&solana.owner, &solana.client]).await;
    let job = "1".to_owned();
    go.send(Some(ChainError::NotLanded { job, seconds: 1 }))
        .unwrap();
    fail(&running, 4).await;
    assert_waits(&running, folder.path()).await;
    assert_shut_out(&running.submit(&solana::review(&world, &solana).await).await);

    set(None, &[&solana.owner]).await;
    running.store.retry().await.unwrap();
    assert_eq!(posted.await.unwrap(), 200);
    assert_shown(&running).await;
    Arc::into_inner(running).unwrap().stop().await;
}
