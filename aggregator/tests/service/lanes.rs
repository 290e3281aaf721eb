//! What a lane brings on chain first, side by side, and what it follows.
use crate::{
    generous::{DAY, REGISTRY, aggregator, location, review},
    payload::Draft,
    solana,
    world::{Running, Settings, World, pause},
};
use alloy::{
    consensus::{SignableTransaction, TxEip1559, TxEnvelope},
    eips::Encodable2718,
    primitives::{Address, B256, Bytes},
    providers::Provider,
    signers::{SignerSync, local::PrivateKeySigner},
};
use async_trait::async_trait;
use concord_aggregator::{
    AllowedAgents, Limits, RevocationRequest,
    lane::LaneRegistries,
    store::{Found, Phase, RevocationRow, Row, RowState, Store, StoreRecord, Wanted},
};
use concord_chain::{
    ChainError, Signer, Svm,
    submission::{Landing, SignedTx, TxRecord, TxStatus},
};
use concord_sql::Engine;
use concord_testkit::cluster::Solana;
use concord_testkit::hooked_registry::{Hooked, Hooks};
use concord_x402::feedback::{FeedbackError, FeedbackJob, FeedbackRegistry, FileFolder, FileStore};
use serde_json::{Value, json};
use std::{
    collections::BTreeSet,
    path::Path,
    sync::{Arc, Mutex},
    time::Duration,
};
use tokio::{sync::watch, task::JoinHandle};

/// So many blocks on top of a landing make it final in these tests.
const FINAL_AFTER: u64 = 50;

/// What the lane of the first submission does next.
fn found(store: &Store, phase: Phase, now: u64, busy: &[&str], fresh_first: bool) -> Option<Found> {
    let lane = store.get(1).unwrap().unwrap().lane;
    let busy: BTreeSet<String> = busy.iter().map(|it| (*it).to_owned()).collect();
    let wanted = Wanted {
        lane: &lane,
        now,
        phase,
        busy: &busy,
        fresh_first,
    };
    store.work(wanted).unwrap()
}

/// What a lane does next in a phase.
fn next(store: &Store, phase: Phase, now: u64, busy: &[&str]) -> Option<u64> {
    found(store, phase, now, busy, false).map(|it| it.work.n())
}

fn unsent(name: &str) -> SignedTx {
    SignedTx {
        transaction: name.to_owned(),
        raw: "0x02".to_owned(),
        valid_until: None,
        signed_at: None,
        sent: false,
        failure_cost: None,
    }
}

fn landing_of(name: &str) -> Landing {
    Landing {
        transaction: name.to_owned(),
        block: 7,
        block_hash: None,
        cost: Default::default(),
        refund: Default::default(),
    }
}

/// Four submissions, about the agents 2, 3, 1 and 2.
async fn four(folder: &Path) -> Store {
    let all = aggregator(folder, Limits::default(), AllowedAgents::new());
    for n in 1..=4 {
        let body = review(n, 1, (n % 3 + 1) as u8).json().to_string();
        all.submit(body.as_bytes(), None, DAY).await.unwrap();
    }
    all.store().clone()
}

fn row_record(store: &Store, n: u64) -> StoreRecord {
    store.record(&store.get(n).unwrap().unwrap()).unwrap()
}

/// An agent can make the submission of its feedback fail as long as it likes (R18): a thousand of them do not keep others
/// waiting. What may be in the chain already is never left, because on EVM chains all that is signed later waits for it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r53_what_failed_does_not_keep_others_waiting() {
    let folder = tempfile::tempdir().unwrap();
    let store = &four(folder.path()).await;
    let land = |now| next(store, Phase::Landing, now, &[]);
    let put_off = async |n, due| {
        let late = "later".to_owned();
        store.postpone(n, late, due, false).await.unwrap();
    };
    assert_eq!(land(DAY), Some(1), "what was accepted first");
    put_off(1, DAY + 2).await;
    put_off(2, DAY + 1).await;
    put_off(3, DAY + 9).await;
    assert_eq!(land(DAY + 8), Some(4), "what never failed");
    store.set_stored(4).await.unwrap();
    assert_eq!(land(DAY + 8), Some(4));
    put_off(4, DAY + 9).await;
    assert_eq!(land(DAY + 8), Some(2), "what waits the longest");
    put_off(2, DAY + 7).await;
    assert_eq!(land(DAY + 8), Some(1));
    assert_eq!(land(DAY), None);

    let mut record = row_record(store, 3);
    record.signed(&[("3", unsent("0x03"))]).unwrap();
    record.sent(&[("3", unsent("0x03"))]).unwrap();
    assert_eq!(land(DAY + 8), Some(1), "the third is not due");
    assert_eq!(land(DAY + 9), Some(3), "it may be in the chain");

    let row = store.get(1).unwrap().unwrap();
    let agents = [1, 2, 3].map(|id| format!("{} {id}", row.lane.split(' ').next().unwrap()));
    let busy = |busy: &[&str]| next(store, Phase::Landing, DAY + 9, busy);
    assert_eq!(
        busy(&[&agents[0]]),
        Some(1),
        "the third is about a busy agent"
    );
    assert_eq!(busy(&[&agents[0], &agents[1]]), Some(2));
    assert_eq!(busy(&[&agents[0], &agents[1], &agents[2]]), None);

    let follow = |now| next(store, Phase::Finality, now, &[]);
    assert_eq!(follow(DAY + 9), None);
    record.landed(&[("3", landing_of("0x03"))]).unwrap();
    assert_eq!(land(DAY + 9), Some(1));
    assert_eq!(follow(DAY + 9), Some(3));
    let Found { work, agent, .. } = found(store, Phase::Finality, DAY + 9, &[], false).unwrap();
    assert_eq!((work.kind(), agent), ("submission", agents[0].clone()));
    store.pass(&work, DAY + 20).await.unwrap();
    assert_eq!(follow(DAY + 19), None, "others have their turn");
    assert_eq!(follow(DAY + 20), Some(3));
    assert_eq!(store.get(3).unwrap().unwrap().attempts, 1, "nothing failed");
    record.finalized(&["3"]).unwrap();
    assert_eq!(follow(DAY + 20), Some(3), "until it was read back");
    store.set_entry(3, 1).await.unwrap();
    assert_eq!(follow(DAY + 20), None);
}

/// Those that are begun and hold up no other have their turns by turns with the others, however many there are.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r53_what_is_begun_has_its_turns_by_turns_with_the_others() {
    let folder = tempfile::tempdir().unwrap();
    let store = &four(folder.path()).await;
    for n in [1, 2] {
        let (id, name) = (n.to_string(), format!("0x0{n}"));
        let mut record = row_record(store, n);
        record.signed(&[(&id, unsent(&name))]).unwrap();
        record.sent(&[(&id, unsent(&name))]).unwrap();
    }
    let land = |now, fresh_first| found(store, Phase::Landing, now, &[], fresh_first);
    let n = |found: Option<Found>| found.map(|it| it.work.n());
    assert_eq!(n(land(DAY, false)), Some(1));
    store
        .pass(&land(DAY, false).unwrap().work, DAY + 30)
        .await
        .unwrap();
    assert_eq!(n(land(DAY, false)), Some(2));
    assert_eq!(n(land(DAY, true)), Some(3), "what is not begun");
    assert_eq!(n(land(DAY + 30, true)), Some(3));
    assert_eq!(n(land(DAY + 30, false)), Some(2), "what waits the longest");
    store
        .pass(&land(DAY, false).unwrap().work, DAY + 31)
        .await
        .unwrap();
    assert_eq!(n(land(DAY + 31, false)), Some(1));

    for n in [3, 4] {
        store.set_refused(n, "no".to_owned()).await.unwrap();
    }
    assert_eq!(n(land(DAY + 31, true)), Some(1), "nothing else is due");

    for n in [1, 2] {
        let (id, name) = (n.to_string(), format!("0x0{n}"));
        let landing = landing_of(&name);
        row_record(store, n).landed(&[(&id, landing)]).unwrap();
    }
    let follow = |now| found(store, Phase::Finality, now, &[], false);
    let first = follow(DAY).unwrap();
    assert_eq!(first.work.n(), 1);
    assert!(first.since > DAY, "it has landed now");
    store.pass(&first.work, DAY + 5).await.unwrap();
    assert_eq!(n(follow(DAY)), Some(2), "not only the oldest is looked at");
    store
        .pass(&follow(DAY).unwrap().work, DAY + 4)
        .await
        .unwrap();
    assert_eq!(n(follow(DAY + 5)), Some(2));
    row_record(store, 2).reorganised(&["2"]).unwrap();
    assert_eq!(n(land(DAY, false)), Some(2), "it is sent again at once");
}

/// A node does not count the nonce of what was not sent: another transaction that is signed now would have it too. On
/// Solana the same is true of an agent's index (R12).
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r55_nothing_is_signed_beside_what_the_chain_never_answered() {
    let folder = tempfile::tempdir().unwrap();
    let store = &four(folder.path()).await;
    let land = |now| next(store, Phase::Landing, now, &[]);
    let mut record = row_record(store, 1);
    record.signed(&[("1", unsent("0x01"))]).unwrap();
    let late = || "the node does not answer".to_owned();
    store.postpone(1, late(), DAY + 1, false).await.unwrap();
    assert_eq!(land(DAY), None, "it holds the nonce");
    assert_eq!(land(DAY + 1), Some(1));
    let first = found(store, Phase::Landing, DAY + 1, &[], false).unwrap();
    store.let_others(&first.work).await.unwrap();
    assert_eq!(land(DAY), Some(2), "its nonce is used");
    record.signed(&[("1", unsent("0x11"))]).unwrap();
    assert_eq!(land(DAY), None, "it is signed again");
    record.sent(&[("1", unsent("0x11"))]).unwrap();
    assert_eq!(land(DAY), Some(2));

    let mut database = location(folder.path()).open().unwrap();
    let solana = "UPDATE submission SET lane = 'solana:x y'";
    database.script(solana).unwrap();
    for (n, due) in [(1, DAY + 4), (2, DAY + 2), (3, DAY + 3)] {
        store.postpone(n, late(), due, false).await.unwrap();
    }
    assert_eq!(
        land(DAY),
        None,
        "the fourth is about the agent of the first"
    );
    assert_eq!(
        land(DAY + 4),
        Some(2),
        "the first is no more urgent than others"
    );
    record.landed(&[("1", landing_of("0x11"))]).unwrap();
    assert_eq!(land(DAY), Some(4));
}

fn evm_transaction(nonce: u64, fee: u128) -> SignedTx {
    let key = PrivateKeySigner::from_bytes(&B256::repeat_byte(7)).unwrap();
    let transaction = TxEip1559 {
        chain_id: 1,
        nonce,
        gas_limit: 21_000,
        max_fee_per_gas: fee,
        max_priority_fee_per_gas: 1,
        to: Address::ZERO.into(),
        ..Default::default()
    };
    let signature = key.sign_hash_sync(&transaction.signature_hash()).unwrap();
    let signed = TxEnvelope::from(transaction.into_signed(signature));
    SignedTx {
        raw: Bytes::from(signed.encoded_2718()).to_string(),
        ..unsent(&signed.tx_hash().to_string())
    }
}

/// A fee was raised, and the second transaction failed: the first one has no nonce any more. One with another nonce could
/// still land.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r53_a_failure_is_that_of_all_with_its_nonce() {
    let folder = tempfile::tempdir().unwrap();
    let store = &four(folder.path()).await;
    let state = || store.get(1).unwrap().unwrap().state;
    let [first, raised, other] =
        [(5, 10), (5, 20), (6, 10)].map(|(n, fee)| evm_transaction(n, fee));
    let failed = || TxStatus::Failed {
        reason: "reverted".to_owned(),
        landing: landing_of(&raised.transaction),
    };
    let mut record = row_record(store, 1);
    for signed in [&first, &raised] {
        record.signed(&[("1", signed.clone())]).unwrap();
    }
    record.sent(&[("1", raised.clone())]).unwrap();
    record
        .looked("1", &[TxStatus::Unknown, TxStatus::Pending])
        .unwrap();
    assert_eq!(state(), RowState::Sent);
    let costly = SignedTx {
        failure_cost: Some(Default::default()),
        ..raised.clone()
    };
    record.failed(&[("1", costly)]).unwrap();
    let blocked = || TxStatus::Blocked("its nonce is used".to_owned());
    record.looked("1", &[blocked(), failed()]).unwrap();
    assert_eq!(state(), RowState::Stored);

    record.signed(&[("1", other)]).unwrap();
    record
        .looked("1", &[TxStatus::Expired, failed(), blocked()])
        .unwrap();
    assert_eq!(state(), RowState::Signed, "it has a nonce of its own");
    record
        .looked("1", &[TxStatus::Expired, failed(), TxStatus::Expired])
        .unwrap();
    assert_eq!(state(), RowState::Stored);
}

/// Another program of the operator's took the nonce. The feedback is signed again once that is final, and others land meanwhile.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r53_a_used_nonce_does_not_keep_others_waiting() {
    let world = World::start().await;
    let folder = tempfile::tempdir().unwrap();
    let running = Running::start_final_after(FINAL_AFTER, &world, folder.path()).await;
    let running = Arc::new(running);
    let drafts = [
        world.review(&world.pay(1).await),
        world.review(&world.pay(1).await),
    ];
    world.stop_mining().await;
    let posted = running.submit_beside(&drafts[0]);
    let first = running.reach(1, RowState::Sent).await;
    let record = running.store.record(&first).unwrap();
    let sent = record.transactions("1")[0].transaction.clone();
    let client = world.client();
    let nonce = world.chain.provider.get_transaction_count(client).await;
    let used = json!([client, format!("{:#x}", nonce.unwrap() + 1)]);
    world.ask("anvil_setNonce", used).await;
    world.ask("anvil_dropTransaction", json!([sent])).await;
    world.mine_again().await;

    let waits = land_the_second(&world, &running, &drafts[1]).await;
    let found = (waits.state, waits.attempts);
    assert_eq!(found, (RowState::Sent, 0), "its turns are short");
    sign_the_first_again(&world, &running, posted).await;
    Arc::into_inner(running).unwrap().stop().await;
}

/// The first submission does not keep it waiting. Returns the first one's row.
async fn land_the_second(world: &World, running: &Running, draft: &Draft) -> Row {
    let answer = running.submit(draft).await;
    let found = (answer.status, &answer.body["state"]);
    assert_eq!(found, (200, &json!("landed")), "{}", answer.body);
    assert_eq!(world.feedbacks().await, 1);
    running.store.get(1).unwrap().unwrap()
}

/// What ended the first submission's transaction is final, and it is signed again.
async fn sign_the_first_again(world: &World, running: &Running, posted: JoinHandle<u16>) {
    running.mine_to_the_end(world, FINAL_AFTER).await;
    assert_eq!(posted.await.unwrap(), 200);
    for (n, signatures, index) in [(1, 2, 2), (2, 1, 1)] {
        let row = running.store.get(n).unwrap().unwrap();
        let record = running.store.record(&row).unwrap();
        let found = record.transactions(&n.to_string()).len();
        assert_eq!((found, row.index), (signatures, Some(index)), "{n}");
    }
    assert_eq!(world.feedbacks().await, 2, "one each");
}

/// A node's answer is noted whatever is in it, on Postgres too: else nothing would be put off, and the lane would ask the node
/// without a pause.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r36_what_a_node_says_is_noted_whatever_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let all = aggregator(folder.path(), Limits::default(), AllowedAgents::new());
    let store = all.store();
    let body = review(1, 1, 1).json().to_string();
    all.submit(body.as_bytes(), None, DAY).await.unwrap();
    let said = "no\0\u{7f}\u{202e}\r\n\u{10ffff}".to_owned();
    store
        .postpone(1, said.clone(), DAY + 5, false)
        .await
        .unwrap();
    assert_eq!(next(store, Phase::Landing, DAY + 4, &[]), None);
    assert_eq!(store.get(1).unwrap().unwrap().reason.as_ref(), Some(&said));
    store.set_refused(1, said.clone()).await.unwrap();
    assert_eq!(store.get(1).unwrap().unwrap().reason, Some(said));
}

/// Three landings are not final until a block is mined. A reorganisation then takes all of them back.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r56_feedback_lands_before_the_one_before_it_is_final() {
    let world = World::start().await;
    let folder = tempfile::tempdir().unwrap();
    let running = Running::start_final_after(FINAL_AFTER, &world, folder.path()).await;
    let mut drafts = Vec::new();
    for _ in 0..3 {
        drafts.push(world.review(&world.pay(1).await));
    }
    for draft in &drafts {
        let answer = running.submit(draft).await;
        let found = (answer.status, &answer.body["state"]);
        assert_eq!(found, (200, &json!("landed")), "{}", answer.body);
    }
    let rows = || running.store.page(1, 3).unwrap();
    let landed = rows();
    assert!(landed.iter().all(|it| it.state == RowState::Landed));
    assert_eq!(world.feedbacks().await, 3);

    world.ask("anvil_reorg", json!([3, []])).await;
    assert_eq!(world.feedbacks().await, 0, "none is on the chain any more");
    running.mine_to_the_end(&world, FINAL_AFTER).await;
    for (before, row) in landed.iter().zip(rows()) {
        let [before, after] = [before.landing().unwrap(), row.landing().unwrap()];
        assert_eq!(after.transaction, before.transaction, "the same bytes");
        assert_ne!(after.block_hash, before.block_hash);
        assert_eq!(row.index, Some(row.receipt.n));
        let (n, record) = (row.receipt.n, running.store.record(&row).unwrap());
        assert_eq!(record.transactions(&n.to_string()).len(), 1);
    }
    assert_eq!(world.feedbacks().await, 3, "one each");
    running.stop().await;
}

/// Writes down what is begun, and lets one agent's feedback wait.
#[derive(Clone)]
struct Gate {
    waits: String,
    is_open: watch::Receiver<bool>,
    begun: Arc<Mutex<Vec<String>>>,
}

#[async_trait]
impl Hooks for Gate {
    async fn submit(
        &mut self,
        registry: &mut dyn FeedbackRegistry,
        job: FeedbackJob<'_>,
        record: &mut (dyn TxRecord + Sync),
    ) -> Result<(), FeedbackError> {
        self.begun.lock().unwrap().push(job.id.to_owned());
        if job.submission.agent_id == self.waits {
            self.is_open.wait_for(|it| *it).await.unwrap();
        }
        registry.submit(job, record).await
    }
}

/// A second agent of the owner, with the same file, in which both are.
async fn second_agent(solana: &Solana, file: &str) -> (String, String) {
    let owner = Signer::<Svm>::address(&solana.owner);
    let address = solana.program.agent_mint(&owner, 1);
    let uri = "https://agent.example/agent.json";
    let register = solana.program.register_agent(owner, owner, 1, uri);
    solana.send(vec![register], &[&solana.owner]).await;
    let mut file: Value = serde_json::from_str(file).unwrap();
    let mut second = file["registrations"][0].clone();
    second["agentId"] = json!(address.to_string());
    file["registrations"].as_array_mut().unwrap().push(second);
    (address.to_string(), file.to_string())
}

/// With a gate before those that bring submissions on chain.
async fn gated(solana: &Solana, gate: &Gate) -> LaneRegistries {
    let LaneRegistries { landing, finality } = solana::registries(solana).await;
    let gated = landing.into_iter().map(|registry| {
        let hooks = gate.clone();
        Box::new(Hooked { registry, hooks }) as Box<dyn FeedbackRegistry>
    });
    LaneRegistries {
        landing: gated.collect(),
        finality,
    }
}

async fn start(solana: &Solana, world: &World, gate: &Gate, file: String, at: &Path) -> Running {
    let registries = gated(solana, gate).await;
    let served = registries.finality.registry();
    let admission = solana::admission(world, solana, &served, file).await;
    let files: Arc<dyn FileStore> = Arc::new(FileFolder::ipfs(&at.join("files")));
    let settings = Settings {
        wait: Some(Duration::ZERO),
        ..Settings::default()
    };
    Running::configured(settings, at, registries, &served, admission, files).await
}

/// On Solana feedback states its index (R12), per agent and client: about one agent it lands one after the other, and about
/// another one beside it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r12_feedback_on_solana_lands_side_by_side_for_each_agent() {
    let (world, solana) = (World::start().await, Solana::start().await);
    let folder = tempfile::tempdir().unwrap();
    let file = solana::publish(&world, &solana).await;
    let (second, file) = second_agent(&solana, &file).await;
    let (open, is_open) = watch::channel(false);
    let gate = Gate {
        waits: solana.mint.to_string(),
        is_open,
        begun: Arc::default(),
    };
    let running = start(&solana, &world, &gate, file, folder.path()).await;
    for agent in [None, None, Some(&second)] {
        let mut draft = solana::review(&world, &solana).await;
        if let Some(agent) = agent {
            draft.agent_id.clone_from(agent);
        }
        let answer = running.submit(&draft).await;
        assert_eq!(answer.status, 202, "{}", answer.body);
    }
    let row = |n| running.store.get(n).unwrap().unwrap();
    while row(3).index.is_none() {
        let begun = gate.begun.lock().unwrap().clone();
        let about_first = begun.iter().filter(|it| *it != "3").count();
        assert!(about_first <= 1, "{begun:?}");
        pause().await;
    }
    assert_eq!(*gate.begun.lock().unwrap(), ["1", "3"]);
    assert_eq!(row(2).state, RowState::Accepted);
    open.send_replace(true);
    while running.store.open_count().unwrap() > 0 {
        pause().await;
    }
    for (n, index) in [(1, 1), (2, 2), (3, 1)] {
        let record = running.store.record(&row(n)).unwrap();
        let signed = record.transactions(&n.to_string()).len();
        assert_eq!((row(n).index, signed), (Some(index), 1), "{n}");
    }
    running.stop().await;
}

/// Until a failure is final, the same transaction could succeed after a reorganisation, so it is not signed again. Others land
/// meanwhile: the agent chose the failure by what it did in the same block (R18).
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r53_a_failure_on_chain_does_not_keep_others_waiting() {
    let world = World::start().await;
    let folder = tempfile::tempdir().unwrap();
    let running = Running::start_final_after(FINAL_AFTER, &world, folder.path()).await;
    let running = Arc::new(running);
    let drafts = [
        world.review(&world.pay(1).await),
        world.review(&world.pay(1).await),
    ];
    world.stop_mining().await;
    let posted = running.submit_beside(&drafts[0]);
    running.reach(1, RowState::Sent).await;
    let code = world.chain.provider.get_code_at(world.open).await.unwrap();
    let reverts = json!([world.open, "0x5f5ffd"]); // whatever it is asked
    world.ask("anvil_setCode", reverts).await;
    world.ask("evm_mine", json!([])).await;
    world.ask("anvil_setCode", json!([world.open, code])).await;
    world.mine_again().await;
    let row = || running.store.get(1).unwrap().unwrap();
    while row().attempts == 0 {
        pause().await;
    }
    let reason = row().reason.unwrap();
    assert!(reason.contains("reverted in block"), "{reason}");

    let failed = land_the_second(&world, &running, &drafts[1]).await;
    assert_eq!(failed.state, RowState::Stored, "{:?}", failed.reason);
    sign_the_first_again(&world, &running, posted).await;
    Arc::into_inner(running).unwrap().stop().await;
}

/// Signs a transaction that the chain refuses, whatever its nonce, at every attempt.
struct Refuses;

/// Each error that says so is that of one submission.
const REFUSED: u64 = 4;

fn refusal(id: &str) -> Option<ChainError> {
    let (text, reason) = ("0x00".to_owned(), "no".to_owned());
    match id {
        "1" => Some(ChainError::TransactionRefused {
            job: id.to_owned(),
            transaction: text,
            reason,
        }),
        "2" => Some(ChainError::RecordMalformed {
            transaction: text,
            what: reason,
        }),
        "3" => Some(ChainError::NotSigned {
            signer: text,
            reason,
        }),
        "4" => Some(ChainError::SimulationFailed {
            title: text,
            reason,
        }),
        _ => None,
    }
}

#[async_trait]
impl Hooks for Refuses {
    async fn submit(
        &mut self,
        registry: &mut dyn FeedbackRegistry,
        job: FeedbackJob<'_>,
        record: &mut (dyn TxRecord + Sync),
    ) -> Result<(), FeedbackError> {
        let Some(error) = refusal(job.id) else {
            return registry.submit(job, record).await;
        };
        if record.transactions(job.id).is_empty() {
            record.signed(&[(job.id, unsent(&format!("0x0{}", job.id)))])?;
        }
        Err(error.into())
    }
}

/// What the chain will not take at any nonce holds none, so the next one is signed.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r53_what_the_chain_refuses_does_not_keep_others_waiting() {
    let world = World::start().await;
    let folder = tempfile::tempdir().unwrap();
    let place = world.place();
    let registry = Hooked {
        registry: Box::new(place.registry().await),
        hooks: Refuses,
    };
    let registries = place.registries_landing(registry, 1).await;
    let settings = Settings {
        wait: Some(Duration::ZERO),
        ..Settings::default()
    };
    let running = Running::at(&place, settings, registries, folder.path()).await;
    for _ in 0..=REFUSED {
        let draft = world.review(&world.pay(1).await);
        let answer = running.submit(&draft).await;
        assert_eq!(answer.status, 202, "{}", answer.body);
    }
    let last = running.finish(REFUSED + 1).await;
    assert_eq!((last.state, last.index), (RowState::Final, Some(1)));
    for n in 1..=REFUSED {
        let row = running.store.get(n).unwrap().unwrap();
        assert_eq!(row.state, RowState::Signed, "{n}: {:?}", row.reason);
        assert!(row.attempts > 0, "{n}");
    }
    assert_eq!(world.feedbacks().await, 1);
    running.stop().await;
}

/// A submission of the lane that is final and read back, with its revocation.
async fn revoked(store: &Store, n: u64, accepted_at: u64) -> RevocationRow {
    let (id, name) = (n.to_string(), format!("0x0{n}"));
    let mut record = row_record(store, n);
    record.signed(&[(&id, unsent(&name))]).unwrap();
    record.sent(&[(&id, unsent(&name))]).unwrap();
    record.landed(&[(&id, landing_of(&name))]).unwrap();
    record.finalized(&[&id]).unwrap();
    store.set_entry(n, 1).await.unwrap();
    let request = RevocationRequest {
        agent_registry: REGISTRY.to_owned(),
        agent_id: "2".to_owned(),
        task_ref: String::new(),
        reviewer_address: String::new(),
        feedback_hash: String::new(),
        reviewer_signature: String::new(),
        reviewer_signature_algorithm: String::new(),
    };
    let revocation = store.accept_revocation(n, &request, accepted_at);
    revocation.await.unwrap()
}

/// Submissions and what follows them have one order: what is due first, then what was accepted first.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r58_a_revocation_has_its_turn_among_the_submissions() {
    let folder = tempfile::tempdir().unwrap();
    let store = &four(folder.path()).await;
    let next = |now| {
        let found = found(store, Phase::Landing, now, &[], false);
        found.map(|it| (it.work.kind(), it.work.n()))
    };
    let revocation = revoked(store, 1, DAY + 1).await;
    assert_eq!(next(DAY), Some(("submission", 2)), "it was accepted first");
    for (n, due) in [(2, DAY + 5), (3, DAY + 6), (4, DAY + 7)] {
        let found = found(store, Phase::Landing, DAY, &[], false).unwrap();
        assert_eq!(found.work.n(), n);
        store.pass(&found.work, due).await.unwrap();
    }
    assert_eq!(next(DAY + 9), Some(("revocation", 1)), "it is due longer");
    let found = found(store, Phase::Landing, DAY, &[], false).unwrap();
    store.pass(&found.work, DAY + 6).await.unwrap();
    assert_eq!(next(DAY + 9), Some(("submission", 2)));
    assert_eq!(next(DAY), None);

    let late = || "the node does not answer".to_owned();
    let mut record = store.revocation_record(&revocation).unwrap();
    record.signed(&[("revoke-1", unsent("0x0a"))]).unwrap();
    store
        .postpone_revocation(1, late(), DAY + 8, false)
        .await
        .unwrap();
    assert_eq!(next(DAY + 7), None, "it holds the nonce");
    assert_eq!(next(DAY + 8), Some(("revocation", 1)));
    record.sent(&[("revoke-1", unsent("0x0a"))]).unwrap();
    assert_eq!(next(DAY + 7), Some(("submission", 2)));
}

/// What is done has no later attempt; what waits is due at once by `retry`, with its transactions, of which one may land.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r51_a_retry_forgets_no_transaction() {
    let folder = tempfile::tempdir().unwrap();
    let store = &four(folder.path()).await;
    let row = |n| store.get(n).unwrap().unwrap();
    let late = || "the node does not answer".to_owned();
    let of_first = found(store, Phase::Landing, DAY, &[], false).unwrap();
    revoked(store, 1, DAY).await;
    store.set_refused(3, late()).await.unwrap();
    store.postpone(1, late(), DAY + 1, true).await.unwrap();
    store.pass(&of_first.work, DAY + 1).await.unwrap();
    let done = row(1);
    let found = (done.state, done.attempts, done.reverts, done.reason);
    assert_eq!(found, (RowState::Final, 0, 0, None), "it is done");

    row_record(store, 2)
        .signed(&[("2", unsent("0x02"))])
        .unwrap();
    store.postpone(2, late(), DAY + 99, false).await.unwrap();
    assert_eq!(
        store.retry().await.unwrap(),
        4,
        "all but the first, and its revocation"
    );
    let again = row(2);
    assert_eq!((again.state, again.attempts), (RowState::Signed, 0));
    assert_eq!(row_record(store, 2).transactions("2").len(), 1);
    assert_eq!(row(3).state, RowState::Accepted);
    assert_eq!(next(store, Phase::Landing, DAY, &[]), Some(2), "at once");
    assert_eq!(row(1).state, RowState::Final);
}
