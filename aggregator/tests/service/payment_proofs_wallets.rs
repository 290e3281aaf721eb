//! R13: what an agent's owner does after a payment voids no honest proof, and blesses no false one.
use crate::{
    payment_proofs::{attach, give, list, serve, serve_from},
    solana_payments::{agent, ask, ask_once, keys, next_second, pay, request, start},
};
use axum::{Router, extract::State, routing::post};
use concord_chain::{EndpointOptions, Signer, Svm, keys::Keypair, svm::Cluster};
use concord_registry::svm::{
    Address, Instruction, associated_token_account, instructions::Consent,
    token::create_associated_account,
};
use concord_testkit::cluster::Solana;
use concord_x402::feedback::PaymentAttestation;
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};
use tokio::net::TcpListener;

fn key(keypair: &Keypair) -> Address {
    Signer::<Svm>::address(keypair)
}

/// Another wallet, which consents.
fn other() -> Keypair {
    Keypair::new_from_array([71; 32])
}

fn set_wallet(solana: &Solana, wallet: &Keypair) -> Instruction {
    let owner = key(&solana.owner);
    (solana.program).set_agent_wallet(owner, solana.mint, key(wallet), Consent::Signs)
}

async fn paid_to(solana: &Solana, wallet: &Keypair) {
    let set = set_wallet(solana, wallet);
    if key(wallet) == key(&solana.owner) {
        solana.send(vec![set], &[&solana.owner]).await
    } else {
        solana.send(vec![set], &[&solana.owner, wallet]).await
    };
}

async fn by_owner(solana: &Solana, instruction: Instruction) {
    solana.send(vec![instruction], &[&solana.owner]).await;
}

/// The reviewer consents; `None` takes them off again.
async fn name_authority(solana: &Solana, authority: Option<&Keypair>) {
    let owner = key(&solana.owner);
    let named = authority.map(|it| (key(it), Consent::Signs));
    let set = (solana.program).set_feedback_authority(owner, solana.mint, named);
    let signers: Vec<&Keypair> = [&solana.owner].into_iter().chain(authority).collect();
    solana.send(vec![set], &signers).await;
}

async fn send_agent(solana: &Solana, from: &Keypair, to: &Keypair) {
    let (holder, receiver, mint) = (key(from), key(to), solana.mint);
    let account = associated_token_account(&receiver, &mint);
    let instructions = vec![
        create_associated_account(holder, receiver, mint),
        (solana.program).transfer_agent(holder, holder, account, mint),
    ];
    solana.send(instructions, &[from]).await;
}

/// What an owner does right after a payment, and undoes later.
#[derive(Clone, Copy, Debug)]
enum Change {
    Metadata,
    SameWallet,
    ThereAndBack,
    OtherWallet,
    NoWallet,
    NamedReviewer,
    SentToReviewer,
}

const CHANGES: [Change; 7] = [
    Change::Metadata,
    Change::SameWallet,
    Change::ThereAndBack,
    Change::OtherWallet,
    Change::NoWallet,
    Change::NamedReviewer,
    Change::SentToReviewer,
];

impl Change {
    async fn make(self, solana: &Solana) {
        let (owner, mint) = (key(&solana.owner), solana.mint);
        match self {
            Self::Metadata => {
                by_owner(solana, solana.program.set_metadata(owner, mint, "a", b"b")).await;
            }
            Self::SameWallet => paid_to(solana, &solana.owner).await,
            Self::ThereAndBack => {
                paid_to(solana, &other()).await;
                paid_to(solana, &solana.owner).await;
            }
            Self::OtherWallet => paid_to(solana, &other()).await,
            Self::NoWallet => {
                by_owner(solana, solana.program.unset_agent_wallet(owner, mint)).await
            }
            Self::NamedReviewer => name_authority(solana, Some(&solana.client)).await,
            Self::SentToReviewer => send_agent(solana, &solana.owner, &solana.client).await,
        }
    }

    async fn undo(self, solana: &Solana) {
        match self {
            Self::NamedReviewer => name_authority(solana, None).await,
            Self::SentToReviewer => {
                send_agent(solana, &solana.client, &solana.owner).await;
                paid_to(solana, &solana.owner).await;
            }
            Self::OtherWallet | Self::NoWallet => paid_to(solana, &solana.owner).await,
            _ => {}
        }
    }
}

/// Before and after the second in which the wallet was written, which is the one of the payment more often than not.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r13_what_an_owner_does_after_a_payment_voids_no_proof() {
    let solana = start().await;
    list(&solana).await;
    let url = serve(&solana).await;
    let mut amount = 10;
    for change in CHANGES {
        for waits in [true, false] {
            amount += 1; // two equal transactions of one block hash are one
            let task_ref = pay(&solana, &keys()[0], &[amount]).await;
            if waits {
                next_second(&solana).await;
            }
            change.make(&solana).await;
            let (status, body) = ask(&url, &request(&solana, &task_ref)).await;
            assert_eq!(status, 200, "{change:?}: {body}");
            let payee = key(&solana.owner).to_string();
            let found = (&body["payee"], &body["amount"]);
            assert_eq!(
                found,
                (&json!(payee), &json!(amount.to_string())),
                "{change:?}"
            );
            change.undo(&solana).await;
        }
    }
}

/// The entry keeps that its reviewer was a stranger.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r13_a_reviewer_who_is_named_or_gets_the_agent_still_proves_their_payment() {
    let solana = start().await;
    list(&solana).await;
    let url = serve(&solana).await;
    for (index, change) in (1..).zip([Change::NamedReviewer, Change::SentToReviewer]) {
        let task_ref = pay(&solana, &keys()[0], &[100 + index]).await;
        let given = give(&solana, &solana.client).await;
        change.make(&solana).await;
        let (status, body) = ask(&url, &request(&solana, &task_ref)).await;
        assert_eq!(status, 200, "{change:?}: {body}");
        let attestation: PaymentAttestation = serde_json::from_value(body).unwrap();
        let attached = attach(&solana, &solana.client, (&given, index), &attestation);
        attached.await.unwrap();
        let proven = agent(&solana).await;
        let counts = (
            proven.verified_feedback_count,
            proven.unverified_feedback_count,
        );
        assert_eq!(counts, (index, 0), "{change:?}");
        change.undo(&solana).await;
    }
}

async fn class(url: &str, request: &Value) -> (u16, String) {
    let (status, body) = ask(url, request).await;
    (
        status,
        body["class"].as_str().unwrap_or_default().to_owned(),
    )
}

/// Paid to what was not the agent's wallet then, whatever it is now.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r13_a_wallet_that_was_replaced_or_set_later_proves_nothing() {
    let solana = start().await;
    list(&solana).await;
    let url = serve(&solana).await;
    let refused = (400, "PaymentMismatch".to_owned());
    let mut amount = 200;
    for change in [
        Change::OtherWallet,
        Change::NoWallet,
        Change::SentToReviewer,
    ] {
        for waits in [true, false] {
            amount += 1;
            change.make(&solana).await;
            if waits {
                next_second(&solana).await;
            }
            let task_ref = pay(&solana, &keys()[0], &[amount]).await;
            let asked = request(&solana, &task_ref);
            assert_eq!(class(&url, &asked).await, refused, "{change:?}: replaced");
            change.undo(&solana).await;
            assert_eq!(class(&url, &asked).await, refused, "{change:?}: set later");
        }
    }
}

/// How a node answers wrongly.
#[derive(Clone, Debug, PartialEq)]
enum Fault {
    None,
    /// So many of an account's transactions on a page.
    Pages(usize),
    /// An account's transactions are gone.
    Pruned,
    /// Each transaction is gone but this one.
    Forgets(String),
    /// It lists an account's newest transactions, whatever is asked for.
    Newest,
    /// It keeps the calls, and of the logs nothing.
    CutLogs,
    NoLogs,
}

#[derive(Clone)]
struct Node {
    url: String,
    fault: Arc<Mutex<Fault>>,
}

async fn answer(State(node): State<Node>, body: String) -> String {
    let mut asked: Value = serde_json::from_str(&body).unwrap();
    let (fault, method) = (node.fault.lock().unwrap().clone(), asked["method"].clone());
    if method == "getSignaturesForAddress" && fault == Fault::Newest {
        asked["params"][1].as_object_mut().unwrap().remove("before");
    }
    let (_, mut answer) = ask_once(&node.url, &asked).await;
    let result = &mut answer["result"];
    match (method.as_str(), fault) {
        (Some("getSignaturesForAddress"), Fault::Pages(most)) => {
            result.as_array_mut().unwrap().truncate(most);
        }
        (Some("getSignaturesForAddress"), Fault::Pruned) => *result = json!([]),
        (Some("getTransaction"), Fault::Forgets(but)) if asked["params"][0] != but => {
            *result = Value::Null;
        }
        (Some("getTransaction"), Fault::CutLogs) => {
            result["meta"]["logMessages"] = json!(["Log truncated"]);
        }
        (Some("getTransaction"), Fault::NoLogs) => result["meta"]["logMessages"] = Value::Null,
        _ => {}
    }
    answer.to_string()
}

/// A node before the cluster's own.
async fn node(solana: &Solana) -> (Cluster, Arc<Mutex<Fault>>) {
    let fault = Arc::new(Mutex::new(Fault::None));
    let node = Node {
        url: solana.url.clone(),
        fault: fault.clone(),
    };
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let routes = Router::new().route("/", post(answer)).with_state(node);
    tokio::spawn(async move { axum::serve(listener, routes).await.unwrap() });
    (Cluster::new(&EndpointOptions::new(&url)).unwrap(), fault)
}

/// R36: what cannot be read is not known. It is never a statement.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r13_r36_a_wallet_that_cannot_be_read_proves_nothing() {
    let solana = start().await;
    list(&solana).await;
    let (cluster, fault) = node(&solana).await;
    let url = serve_from(&solana, cluster).await;
    let owner = key(&solana.owner);
    for value in 0..5_u8 {
        let set = solana
            .program
            .set_metadata(owner, solana.mint, "a", &[value]);
        by_owner(&solana, set).await;
    }
    let task_ref = pay(&solana, &keys()[0], &[300]).await;
    paid_to(&solana, &solana.owner).await;
    let asked = request(&solana, &task_ref);
    assert_eq!(ask(&url, &asked).await.0, 200);
    let own = task_ref.rsplit_once(':').unwrap().1.to_owned();
    for (node, status, class_) in [
        (Fault::Pages(1), 400, "AgentChanged"), // more pages than are looked through
        (Fault::Pages(2), 200, ""),
        (Fault::Pruned, 503, "Unavailable"),
        (Fault::Forgets(own), 503, "Unavailable"),
        (Fault::Newest, 503, "Unavailable"),
        (Fault::CutLogs, 200, ""), // no transfer among them
        (Fault::NoLogs, 200, ""),
        (Fault::None, 200, ""),
    ] {
        *fault.lock().unwrap() = node.clone();
        assert_eq!(
            class(&url, &asked).await,
            (status, class_.to_owned()),
            "{node:?}"
        );
    }

    // R4: of a transfer at the deepest level of calls the log has the only trace
    *fault.lock().unwrap() = Fault::None;
    send_agent(&solana, &solana.owner, &solana.client).await;
    let unowned = request(&solana, &pay(&solana, &keys()[0], &[301]).await);
    Change::SentToReviewer.undo(&solana).await;
    let later = request(&solana, &pay(&solana, &keys()[0], &[302]).await);
    paid_to(&solana, &solana.owner).await;
    for (node, of_unowned) in [
        (Fault::None, "PaymentMismatch"),
        (Fault::CutLogs, "AgentChanged"),
        (Fault::NoLogs, "AgentChanged"),
    ] {
        *fault.lock().unwrap() = node.clone();
        assert_eq!(
            class(&url, &unowned).await,
            (400, of_unowned.to_owned()),
            "{node:?}"
        );
        assert_eq!(
            class(&url, &later).await,
            (200, String::new()),
            "{node:?}: set afterwards"
        );
    }
}
