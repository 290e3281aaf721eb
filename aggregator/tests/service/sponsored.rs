//! R59: reviewers who have no lamports sign, and the sponsor pays for that and for nothing else.
use crate::{
    payload::{Draft, public_key},
    solana::{Host, registries},
    solana_payments::{MINT, SPL_TOKEN, account, holding, mint},
    world::{TIMING, pause, store},
};
use alloy::{primitives::keccak256, transports::http::reqwest};
use base64::{Engine, engine::general_purpose::STANDARD as BASE64};
use concord_aggregator::{
    Aggregator, AllowedAgents, ChainInsiders, Service, Sponsor, SponsorWorker, Sponsored,
    admission::Admission, lane::Lane, router, sponsored_router, store::Store,
};
use concord_canonical::sign::PreparedKey;
use concord_chain::{
    Signer, Svm,
    keys::Keypair,
    svm::{PreparedTx, compute_budget},
};
use concord_registry::svm::{
    AccountMeta, Address, Instruction,
    accounts::{OpenClientIndex, OpenFeedback},
    instructions::{GiveOpenFeedback, sponsored},
};
use concord_testkit::cluster::{NETWORK, Solana};
use concord_x402::{
    feedback::{FileFolder, FileStore, cid_of},
    verify::{Chains, SvmChains},
};
use serde_json::{Value, json};
use std::{collections::BTreeSet, path::Path, sync::Arc, time::Duration};
use tokio::{net::TcpListener, sync::watch, task::JoinHandle};

pub const SYSTEM: &str = "11111111111111111111111111111111";
const REVIEWER_TOKENS: [u8; 32] = [54; 32];
const WALLET_TOKENS: [u8; 32] = [55; 32];
pub const REVIEWER: [u8; 32] = [72; 32];
pub const SPONSOR: [u8; 32] = [71; 32];
/// The sponsor's, of 1,000,000,000 lamports that it has.
pub const LAMPORTS_PER_DAY: u64 = 100_000_000;
const URI: &str = "https://agent.example/agent.json";

pub fn address(seed: [u8; 32]) -> Address {
    Signer::<Svm>::address(&Keypair::new_from_array(seed))
}

/// A reviewer with tokens and no lamports, and a sponsor with lamports.
pub async fn start() -> Solana {
    let owner = address([21; 32]);
    Solana::start_with(vec![
        (MINT.into(), account(SPL_TOKEN, mint())),
        (
            REVIEWER_TOKENS.into(),
            account(SPL_TOKEN, holding(&address(REVIEWER), 900_000)),
        ),
        (
            WALLET_TOKENS.into(),
            account(SPL_TOKEN, holding(&owner, 100_000)),
        ),
        (address(SPONSOR), account(SYSTEM, vec![])),
    ])
    .await
}

/// The reviewer pays the agent; its owner pays the fee. Returns the task's reference.
pub async fn pay(solana: &Solana) -> String {
    let transfer = Instruction {
        program_id: SPL_TOKEN.parse().unwrap(),
        accounts: vec![
            AccountMeta::new(REVIEWER_TOKENS.into(), false),
            AccountMeta::new_readonly(MINT.into(), false),
            AccountMeta::new(WALLET_TOKENS.into(), false),
            AccountMeta::new_readonly(address(REVIEWER), true),
        ],
        data: [&[12][..], &5u64.to_le_bytes(), &[6]].concat(), // TransferChecked
    };
    let reviewer = Keypair::new_from_array(REVIEWER);
    let signature = solana
        .send(vec![transfer], &[&solana.owner, &reviewer])
        .await;
    format!("{NETWORK}:{signature}")
}

pub fn agent_key() -> PreparedKey {
    PreparedKey::ed25519(&[73; 32])
}

/// The agent's registration file.
pub fn registration_file(solana: &Solana) -> String {
    let registration = solana.registration();
    json!({
        "registrations": [{
            "agentRegistry": registration.agent_registry,
            "agentId": registration.agent_id.to_string(),
        }],
        "signers": [{
            "publicKey": public_key(&agent_key()).trim_start_matches("0x"),
            "algorithm": "ed25519", "validFrom": 1, "validUntil": null,
        }],
    })
    .to_string()
}

pub fn review(solana: &Solana, task_ref: &str) -> Draft {
    let registration = solana.registration();
    Draft {
        registry: registration.agent_registry.clone(),
        agent_id: registration.agent_id.to_string(),
        task_ref: task_ref.to_owned(),
        data_hash: [0x62; 32],
        agent_key: agent_key(),
        reviewer: format!("{NETWORK}:{}", address(REVIEWER)),
        reviewer_key: PreparedKey::ed25519(&REVIEWER),
        value: 95,
        decimals: 0,
        tags: ["x402-resource-delivered", "proof-of-participation"].map(str::to_owned),
        comment: "Fresh as promised".to_owned(),
    }
}

/// What a wallet does: it signs the message, and puts the signature in its place. The payer's is the first.
pub async fn sign(transaction: &Value, by: [u8; 32]) -> String {
    let mut bytes = BASE64.decode(transaction.as_str().unwrap()).unwrap();
    assert_eq!(bytes[0], 2, "two signers");
    let (key, mut message) = (Keypair::new_from_array(by), bytes[129..].to_vec());
    let signature = Signer::<Svm>::sign(&key, &mut message).await.unwrap();
    bytes[65..129].copy_from_slice(signature.as_ref());
    BASE64.encode(bytes)
}

pub async fn feedbacks(solana: &Solana) -> u64 {
    let place = (solana.program).open_client_index(&solana.mint, &address(REVIEWER));
    let Some(found) = solana.cluster.account(&place).await.unwrap() else {
        return 0;
    };
    let index: OpenClientIndex = solana.program.decode(&found.owner, &found.data).unwrap();
    index.last_index
}

pub async fn local(solana: &Solana, method: &str, parameters: Value) {
    let endpoint = solana.cluster.endpoint();
    let _: Value = endpoint.expect(method, parameters).await.unwrap();
}

/// No block hash of before can be used any more, and the cluster is sure of that.
async fn expire(solana: &Solana) {
    local(solana, "local_expire_blockhashes", json!([])).await;
    local(solana, "local_advance", json!([200])).await;
}

/// An aggregator that listens, with a lane and a sponsor.
pub struct Front {
    pub origin: String,
    pub store: Store,
    stop: watch::Sender<bool>,
    tasks: Vec<JoinHandle<()>>,
}

pub struct Setting {
    wait: Duration,
    lamports_per_day: u64,
    takes_unchecked: bool,
}

impl Default for Setting {
    fn default() -> Self {
        Self {
            wait: Duration::from_secs(1_800),
            lamports_per_day: LAMPORTS_PER_DAY,
            takes_unchecked: false,
        }
    }
}

impl Front {
    async fn start(solana: &Solana, folder: &Path, setting: Setting) -> Self {
        Self::on(store(folder), solana, folder, setting).await
    }

    pub async fn on(store: Store, solana: &Solana, folder: &Path, setting: Setting) -> Self {
        let owner = Signer::<Svm>::address(&solana.owner);
        let set_uri = solana.program.set_agent_uri(owner, solana.mint, URI);
        solana.send(vec![set_uri], &[&solana.owner]).await;
        let registries = registries(solana).await;
        let settlement = registries.finality.registry();
        let mut svm = SvmChains::default();
        let network = NETWORK.parse().unwrap();
        svm.add(&network, solana.cluster.clone()).await.unwrap();
        let chains = Arc::new(Chains {
            svm,
            ..Chains::default()
        });
        let mut insiders = ChainInsiders::default();
        insiders.add_svm(NETWORK, solana.cluster.clone());
        let insiders = Arc::new(insiders);
        let admission = Admission {
            registries: chains.clone(),
            files: Arc::new(Host(registration_file(solana))),
            payments: chains,
            insiders: insiders.clone(),
            payment_chains: BTreeSet::from([NETWORK.to_owned()]),
            takes_unchecked: setting.takes_unchecked,
            assets: vec![format!("{NETWORK}:{}", Address::from(MINT))],
            served: vec![settlement.clone()],
            agents: AllowedAgents::new(),
        };
        let sponsor = Sponsor {
            network: NETWORK.to_owned(),
            cluster: solana.cluster.clone(),
            program: solana.program,
            key: Box::new(Keypair::new_from_array(SPONSOR)),
            lamports_per_day: setting.lamports_per_day,
            unit_price: 0,
        };
        let files: Arc<dyn FileStore> = Arc::new(FileFolder::ipfs(&folder.join("files")));
        let lane = Lane::new(
            registries,
            &settlement,
            insiders,
            files.clone(),
            store.clone(),
        );
        let places = vec![lane.place().clone()];
        let aggregator = Aggregator::new(store.clone(), admission, files, places);
        let aggregator = Arc::new(aggregator.with_wait(setting.wait));
        let worker = SponsorWorker::new(&sponsor, store.clone(), TIMING.poll);
        let sponsored = Arc::new(Sponsored::new(aggregator.clone(), vec![sponsor]));
        let routes = router(Service {
            aggregator,
            files: folder.join("files"),
            address_header: None,
        });
        let routes = routes.merge(sponsored_router(sponsored, None));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let origin = format!("http://{}", listener.local_addr().unwrap());
        let (stop, stopped) = watch::channel(false);
        let tasks = vec![
            tokio::spawn(lane.run(stopped.clone())),
            tokio::spawn(worker.run(stopped)),
            tokio::spawn(async move { axum::serve(listener, routes).await.unwrap() }),
        ];
        Self {
            origin,
            store,
            stop,
            tasks,
        }
    }

    async fn post(&self, path: &str, body: &Value) -> (u16, Value) {
        post(&format!("{}{path}", self.origin), body).await
    }

    async fn get(&self, path: &str) -> (u16, Value) {
        get(&format!("{}{path}", self.origin)).await
    }

    pub async fn prepare(&self, draft: &Draft) -> Value {
        let (status, body) = self.post("/sponsored/prepare", &draft.json()).await;
        assert_eq!(
            (status, &body["status"]),
            (200, &json!("prepared")),
            "{body}"
        );
        body
    }

    pub async fn submit(&self, prepared: &Value, transaction: &str) -> (u16, Value) {
        let body = json!({ "id": prepared["id"], "transaction": transaction });
        self.post("/sponsored/submit", &body).await
    }

    /// Prepares, signs and submits, as often as a slow machine lets the block hash expire.
    pub async fn give(&self, draft: &Draft) -> (u16, Value) {
        loop {
            let prepared = self.prepare(draft).await;
            let signed = sign(&prepared["transaction"], REVIEWER).await;
            let (status, body) = self.submit(&prepared, &signed).await;
            if status != 410 {
                return (status, body);
            }
        }
    }

    async fn class(&self, path: &str, body: &Value) -> (u16, String) {
        let (status, body) = self.post(path, body).await;
        (
            status,
            body["class"].as_str().unwrap_or_default().to_owned(),
        )
    }

    pub async fn stop(self) {
        self.stop.send_replace(true);
        for task in self.tasks {
            task.abort();
            let _ = task.await;
        }
    }
}

async fn answer(response: reqwest::Response) -> (u16, Value) {
    let status = response.status().as_u16();
    let body = response.bytes().await.unwrap();
    (status, serde_json::from_slice(&body).unwrap_or(Value::Null))
}

pub async fn post(url: &str, body: &Value) -> (u16, Value) {
    let request = reqwest::Client::new().post(url).body(body.to_string());
    answer(request.send().await.unwrap()).await
}

pub async fn get(url: &str) -> (u16, Value) {
    answer(reqwest::Client::new().get(url).send().await.unwrap()).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r59_a_reviewer_without_lamports_is_the_client() {
    let solana = start().await;
    let folder = tempfile::tempdir().unwrap();
    let front = Front::start(&solana, folder.path(), Setting::default()).await;
    let mut spent = 0;
    for (index, value) in [(1u64, 80i128), (2, -7)] {
        let mut draft = review(&solana, &pay(&solana).await);
        draft.value = value;
        let before = solana.cluster.balance(&address(SPONSOR)).await.unwrap();
        let prepared = front.prepare(&draft).await;
        assert_eq!(prepared["sponsor"], address(SPONSOR).to_string());
        let file = prepared["file"].as_str().unwrap();
        assert_eq!(prepared["feedbackHash"], keccak256(file).to_string());
        let uri = format!("ipfs://{}", cid_of(file.as_bytes()));
        assert_eq!(prepared["feedbackURI"], uri);
        let content: Value = serde_json::from_str(file).unwrap();
        assert_eq!(content["clientAddress"], *draft.reviewer, "R59");
        let place = format!("/sponsored/{}", prepared["id"].as_str().unwrap());
        let (status, shown) = front.get(&place).await;
        assert_eq!((status, &shown["state"]), (200, &json!("prepared")));
        for secret in ["transaction", "feedbackURI", "file"] {
            assert_eq!(shown.get(secret), None, "for the reviewer only: {secret}");
        }

        let (status, given) = front.give(&draft).await;
        assert_eq!(
            (status, &given["status"]),
            (200, &json!("submitted")),
            "{given}"
        );
        assert_eq!(given["feedbackIndex"], index.to_string());
        assert_eq!(feedbacks(&solana).await, index);
        let entry = (solana.program).open_feedback(&solana.mint, &address(REVIEWER), index);
        let entry = solana.cluster.account(&entry).await.unwrap().unwrap();
        let entry: OpenFeedback = solana.program.decode(&entry.owner, &entry.data).unwrap();
        assert_eq!((entry.value, entry.client), (value, address(REVIEWER)));
        let cost = before - solana.cluster.balance(&address(SPONSOR)).await.unwrap();
        let row = front.store.sponsored(index).unwrap().unwrap();
        assert_eq!(row.landing.unwrap().cost.0, u128::from(cost));
        assert!(0 < cost && cost <= row.cost, "{cost} of {}", row.cost);
        spent += cost;

        // R51: whatever comes again is the same, or refused
        let signed = &given["transaction"];
        let (status, again) = front.submit(&given, signed.as_str().unwrap()).await;
        assert_eq!((status, &again["txRef"]), (200, &given["txRef"]));
        let (status, again) = front.post("/sponsored/prepare", &draft.json()).await;
        assert_eq!((status, &again["txRef"]), (200, &given["txRef"]));
        let taken = (409, "DuplicateTaskRef".to_owned());
        assert_eq!(front.class("/feedback", &draft.json()).await, taken);
        // R52: the key is known before anything is checked that costs an answer of a node
        let mut unsigned = draft.clone();
        unsigned.reviewer_key = PreparedKey::ed25519(&[9; 32]);
        unsigned.agent_id = address([8; 32]).to_string();
        assert_eq!(front.class("/feedback", &unsigned.json()).await, taken);
        draft.comment.push('!');
        draft.value += 1;
        assert_eq!(
            front.class("/sponsored/prepare", &draft.json()).await,
            taken
        );
    }
    assert_eq!(
        solana.cluster.account(&address(REVIEWER)).await.unwrap(),
        None
    );
    let left = solana.cluster.balance(&address(SPONSOR)).await.unwrap();
    assert_eq!(left, 1_000_000_000 - spent);
    assert_eq!(feedbacks(&solana).await, 2);

    // a payment that was submitted the other way is not sponsored
    let draft = review(&solana, &pay(&solana).await);
    front.prepare(&draft).await; // which promises nothing
    let (status, body) = front.post("/feedback", &draft.json()).await;
    assert_eq!(status, 200, "{body}");
    let taken = (409, "DuplicateTaskRef".to_owned());
    assert_eq!(
        front.class("/sponsored/prepare", &draft.json()).await,
        taken
    );
    front.stop().await;
}

/// The bytes of the prepared instructions with one more, which takes the sponsor's money.
async fn with_theft(solana: &Solana, row: &concord_aggregator::store::SponsoredRow) -> PreparedTx {
    let submission = &row.submission;
    let feedback = GiveOpenFeedback {
        index: row.index,
        value: 95,
        decimals: 0,
        tag1: &submission.tag1,
        tag2: &submission.tag2,
        endpoint: "https://agent.example/weather",
        uri: &submission.uri,
        hash: hex::decode(&submission.hash[2..])
            .unwrap()
            .try_into()
            .unwrap(),
    };
    let give = (solana.program).give_open_feedback(address(REVIEWER), solana.mint, &feedback);
    let give = sponsored(give, address(SPONSOR)).unwrap();
    let theft = Instruction {
        program_id: SYSTEM.parse().unwrap(),
        accounts: vec![
            AccountMeta::new(address(SPONSOR), true),
            AccountMeta::new(address(REVIEWER), false),
        ],
        data: [&2u32.to_le_bytes()[..], &900_000_000u64.to_le_bytes()].concat(), // transfer
    };
    let instructions = [compute_budget(100_000, 0), vec![give, theft]].concat();
    let recent = solana.cluster.recent_blockhash().await.unwrap();
    let mut stolen = PreparedTx::new(&instructions, &address(SPONSOR), &recent);
    // after the header and the keys
    let place = |message: &[u8]| 4 + 32 * usize::from(message[3]);
    let (from, to) = (place(&row.prepared.message), place(&stolen.message));
    let hash = row.prepared.message[from..from + 32].to_vec();
    stolen.message[to..to + 32].copy_from_slice(&hash);
    stolen
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r59_the_sponsor_signs_what_it_prepared_and_nothing_else() {
    let solana = start().await;
    let folder = tempfile::tempdir().unwrap();
    let front = Front::start(&solana, folder.path(), Setting::default()).await;
    let draft = review(&solana, &pay(&solana).await);
    let replaced = front.prepare(&draft).await;
    local(&solana, "local_advance", json!([1])).await; // another block hash
    let prepared = front.prepare(&draft).await;
    let other = review(&solana, &pay(&solana).await);
    let other = front.prepare(&other).await;
    let row = front.store.sponsored(1).unwrap().unwrap();
    let theft = with_theft(&solana, &row).await;
    let signed = async |transaction: &Value| sign(transaction, REVIEWER).await;
    let of_stranger = sign(&prepared["transaction"], [9; 32]).await;
    let unsigned = prepared["transaction"].as_str().unwrap().to_owned();
    for (what, transaction, status, class) in [
        (
            "theft",
            signed(&json!(theft.unsigned())).await,
            400,
            "TransactionDiffers",
        ),
        (
            "replaced",
            signed(&replaced["transaction"]).await,
            400,
            "TransactionDiffers",
        ),
        (
            "of another payment",
            signed(&other["transaction"]).await,
            400,
            "TransactionDiffers",
        ),
        ("a stranger's", of_stranger, 422, "TransactionNotSigned"),
        ("unsigned", unsigned, 422, "TransactionNotSigned"),
        ("no base64", "?".to_owned(), 400, "MalformedTransaction"),
        (
            "no transaction",
            BASE64.encode([2; 9]),
            400,
            "MalformedTransaction",
        ),
        ("too long", "A".repeat(4_000), 400, "MalformedTransaction"),
    ] {
        let body = json!({ "id": prepared["id"], "transaction": transaction });
        let found = front.class("/sponsored/submit", &body).await;
        assert_eq!(found, (status, class.to_owned()), "{what}");
    }
    let good = signed(&prepared["transaction"]).await;
    for (body, status, class) in [
        (json!([]), 400, "FieldMissing"),
        (json!({ "id": 1, "transaction": good }), 400, "WrongType"),
        (
            json!({ "id": "x", "transaction": good }),
            400,
            "MalformedNumber",
        ),
        (
            json!({ "id": "99", "transaction": good }),
            404,
            "UnknownFeedback",
        ),
        (json!({ "id": "1" }), 400, "FieldMissing"),
    ] {
        let found = front.class("/sponsored/submit", &body).await;
        assert_eq!(found, (status, class.to_owned()), "{body}");
    }
    let balance = solana.cluster.balance(&address(SPONSOR)).await.unwrap();
    assert_eq!(balance, 1_000_000_000, "nothing was paid");
    let rows = [1, 2].map(|id| front.store.sponsored(id).unwrap().unwrap());
    assert!(
        rows.iter().all(|row| row.transaction.is_none()),
        "nothing was signed"
    );
    assert_eq!(front.give(&draft).await.0, 200);
    front.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r59_what_expires_is_prepared_again_and_lands_once() {
    let solana = start().await;
    let folder = tempfile::tempdir().unwrap();
    let setting = Setting {
        wait: Duration::ZERO,
        ..Setting::default()
    };
    let front = Front::start(&solana, folder.path(), setting).await;
    let draft = review(&solana, &pay(&solana).await);
    let prepared = front.prepare(&draft).await;
    let signed = sign(&prepared["transaction"], REVIEWER).await;
    expire(&solana).await;
    let (status, body) = front.submit(&prepared, &signed).await;
    let found = (status, &body["code"]);
    assert_eq!(found, (410, &json!("TRANSACTION_EXPIRED")), "{body}");

    // the cluster takes it and does not carry it out until its block hash is too old
    local(&solana, "local_hold", json!([true])).await;
    let (status, given) = front.give(&draft).await;
    assert_eq!(
        (status, &given["status"]),
        (202, &json!("accepted")),
        "{given}"
    );
    assert_eq!(
        given.get("receipt"),
        None,
        "a receipt would promise what may expire"
    );
    let (status, _) = front.post("/feedback", &draft.json()).await;
    assert_eq!(status, 409, "it may yet land");
    expire(&solana).await;
    let place = format!("/sponsored/{}", given["id"].as_str().unwrap());
    loop {
        let (status, body) = front.get(&place).await;
        match status {
            410 => {
                assert_eq!(body["state"], "expired");
                for secret in ["transaction", "txRef", "feedbackURI"] {
                    assert_eq!(body.get(secret), None, "R53: it never landed: {secret}");
                }
                break;
            }
            202 => pause().await,
            other => panic!("{other}: {body}"),
        }
    }
    local(&solana, "local_hold", json!([false])).await;
    assert_eq!(feedbacks(&solana).await, 0);
    let (status, _) = front.give(&draft).await;
    assert!([200, 202].contains(&status));
    loop {
        let (status, body) = front.get(&place).await;
        match status {
            200 if body["state"] == "final" => break,
            410 => drop(front.give(&draft).await), // on a slow machine
            _ => pause().await,
        }
    }
    assert_eq!(feedbacks(&solana).await, 1);
    let row = front.store.sponsored(1).unwrap().unwrap();
    let left = solana.cluster.balance(&address(SPONSOR)).await.unwrap();
    let cost = row.landing.unwrap().cost.0;
    assert_eq!(u128::from(1_000_000_000 - left), cost, "paid once");
    front.stop().await;
}

/// Payments of one reviewer that are prepared before one of them lands have the same index, of which only one can
/// land (R12). The sponsor does not pay for the failure of the other.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r59_an_index_is_paid_for_once() {
    let solana = start().await;
    let folder = tempfile::tempdir().unwrap();
    let front = Front::start(&solana, folder.path(), Setting::default()).await;
    let first = review(&solana, &pay(&solana).await);
    let second = review(&solana, &pay(&solana).await);
    let (one, same) = (front.prepare(&first).await, front.prepare(&second).await);
    assert_eq!(one["feedbackIndex"], same["feedbackIndex"]);
    let signed = sign(&same["transaction"], REVIEWER).await;
    let (status, body) = front.give(&first).await;
    assert_eq!(status, 200, "{body}");
    let (status, body) = front.submit(&same, &signed).await;
    let found = (status, &body["code"]);
    assert_eq!(found, (410, &json!("TRANSACTION_EXPIRED")), "{body}");
    let (status, body) = front.give(&second).await;
    let found = (status, &body["feedbackIndex"]);
    assert_eq!(found, (200, &json!("2")), "{body}");
    assert_eq!(feedbacks(&solana).await, 2);
    front.stop().await;
}

/// A fork without the transaction wins: the same bytes land again.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r59_a_reorganisation_does_not_make_it_land_twice() {
    let solana = start().await;
    let folder = tempfile::tempdir().unwrap();
    let front = Front::start(&solana, folder.path(), Setting::default()).await;
    let draft = review(&solana, &pay(&solana).await);
    local(&solana, "local_checkpoint", json!([])).await;
    let (status, given) = front.give(&draft).await;
    assert_eq!(status, 200, "{given}");
    local(&solana, "local_rollback", json!([])).await;
    let place = format!("/sponsored/{}", given["id"].as_str().unwrap());
    let landed = loop {
        let (status, body) = front.get(&place).await;
        match status {
            200 if body["state"] == "final" && feedbacks(&solana).await == 1 => break body,
            410 => drop(front.give(&draft).await), // its block hash is gone with the fork
            _ => pause().await,
        }
    };
    assert_eq!(landed["status"], "submitted");
    assert_eq!(feedbacks(&solana).await, 1);
    front.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r59_a_sponsor_has_a_budget_and_signs_for_reviewers_of_its_cluster() {
    let solana = start().await;
    let draft = review(&solana, &pay(&solana).await);
    for (lamports_per_day, accepted) in [(3_000_000, 0), (5_000_000, 1)] {
        let folder = tempfile::tempdir().unwrap();
        let setting = Setting {
            lamports_per_day,
            takes_unchecked: true,
            ..Setting::default()
        };
        let front = Front::start(&solana, folder.path(), setting).await;
        let budget = (429, "SponsorBudget".to_owned());
        if accepted == 0 {
            let found = front.class("/sponsored/prepare", &draft.json()).await;
            assert_eq!(found, budget);
            let mut elsewhere = draft.clone();
            let key = PreparedKey::secp256k1(&[5; 32]).unwrap();
            elsewhere.reviewer = format!("eip155:1:{}", crate::generous::address(5));
            elsewhere.reviewer_key = key;
            elsewhere.task_ref = format!("eip155:1:0x{}", "ab".repeat(32));
            let found = front.class("/sponsored/prepare", &elsewhere.json()).await;
            assert_eq!(found, (400, "ReviewerMismatch".to_owned()));
        } else {
            assert_eq!(front.give(&draft).await.0, 200);
            let next = review(&solana, &pay(&solana).await);
            let found = front.class("/sponsored/prepare", &next.json()).await;
            assert_eq!(found, budget, "a budget counts what was signed");
        }
        let owner = Signer::<Svm>::address(&solana.owner);
        let mut refused = draft.clone();
        refused.reviewer = format!("{NETWORK}:{owner}");
        refused.reviewer_key = PreparedKey::ed25519(&[21; 32]);
        let found = front.class("/sponsored/prepare", &refused.json()).await;
        assert_eq!(
            found,
            (400, "PaymentMismatch".to_owned()),
            "R52 comes first"
        );
        front.stop().await;
    }
}
