//! R13: a facilitator states what it settled, and the program believes it.
use crate::{
    solana::svm_registry_of,
    solana_payments::{
        CLIENT_TOKENS, MINT, OWNER_TOKENS, SECOND_TOKENS, WALLET_TOKENS, agent, ask, ask_once,
        fail_to_pay, keys, next_second, pay, request, second_client, start, transfer_between,
    },
};
use concord_aggregator::{Facilitator, payment_proof_router};
use concord_canonical::{caip, payment::PaymentProof, sign::ed25519_verify};
use concord_chain::{Signer, Svm, keys::Keypair, submission::FileRecord, svm::Cluster};
use concord_registry::svm::Address;
use concord_testkit::cluster::{NETWORK, Solana};
use concord_x402::{
    feedback::{
        FeedbackContent, FeedbackError, FeedbackJob, FeedbackRegistry, PaymentAttestation,
        Submission,
    },
    grants::{FeedbackGrant, SvmGrants},
    server::{GRANT_EXPIRY_MAX, GrantIssuer, GrantRequest},
    verify::SvmChains,
};
use serde_json::{Value, json};
use std::sync::Arc;
use tokio::net::TcpListener;

pub async fn serve(solana: &Solana) -> String {
    serve_from(solana, solana.cluster.clone()).await
}

/// A facilitator that reads agents from this node.
pub async fn serve_from(solana: &Solana, cluster: Cluster) -> String {
    let mut payments = SvmChains::default();
    let network = NETWORK.parse().unwrap();
    payments
        .add(&network, solana.cluster.clone())
        .await
        .unwrap();
    let [settler, key] = keys();
    let routes = payment_proof_router(vec![Facilitator {
        network: NETWORK.to_owned(),
        cluster,
        program: solana.program,
        payments: Arc::new(payments),
        key: Box::new(key),
        settlers: vec![Signer::<Svm>::address(&settler)],
        validity: 1_000,
    }]);
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/payment-proofs", listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, routes).await.unwrap() });
    url
}

pub async fn list(solana: &Solana) {
    let authority = Signer::<Svm>::address(&solana.owner);
    let key = Signer::<Svm>::address(&keys()[1]);
    let listed = vec![
        solana
            .program
            .set_payment_token(authority, MINT.into(), true),
        solana.program.set_facilitator(authority, key, true),
    ];
    solana.send(listed, &[&solana.owner]).await;
}

/// What a client gives with the owner's authorization.
async fn submission(solana: &Solana, client: &Keypair) -> Submission {
    let authority = Arc::new(solana.owner.insecure_clone());
    let grants = SvmGrants::new(solana.cluster.clone(), NETWORK, solana.program, authority);
    let registration = solana.registration();
    let client = Signer::<Svm>::address(client).to_string();
    let now = u64::try_from(solana.cluster.unix_time().await.unwrap()).unwrap();
    let grant = grants.issue(GrantRequest {
        registration: &registration,
        network: NETWORK,
        payer: &client,
        expiry_max: now + GRANT_EXPIRY_MAX,
    });
    let grant = grant.await.unwrap().unwrap();
    Submission {
        agent_id: solana.mint.to_string(),
        tag1: String::new(),
        tag2: String::new(),
        content: FeedbackContent::Authorized {
            score: 90,
            grant: FeedbackGrant {
                agent_registry: registration.agent_registry.clone(),
                agent_id: solana.mint.to_string(),
                client_address: client,
                index_limit: grant.index_limit,
                expiry: grant.expiry,
                authorization: format!("0x{}", hex::encode(&grant.authorization)),
            },
        },
        uri: "ipfs://bafkreihdwdcefgh4dqkjv67uzcmw7ojee6xedzdetojuzjevtenxquvyku".to_owned(),
        hash: format!("0x{}", "ab".repeat(32)),
    }
}

/// The client gives their authorized feedback.
pub async fn give(solana: &Solana, client: &Keypair) -> Submission {
    let submission = submission(solana, client).await;
    let folder = tempfile::tempdir().unwrap();
    let mut record = FileRecord::open(&folder.path().join("transactions.json")).unwrap();
    let job = FeedbackJob {
        id: "feedback",
        submission: &submission,
    };
    let mut registry = svm_registry_of(solana, client).await;
    registry.submit(job, &mut record).await.unwrap();
    submission
}

/// Attaches the attestation to the client's `index`th feedback: the program checks it.
pub async fn attach(
    solana: &Solana,
    client: &Keypair,
    (submission, index): (&Submission, u64),
    attestation: &PaymentAttestation,
) -> Result<(), FeedbackError> {
    let folder = tempfile::tempdir().unwrap();
    let mut record = FileRecord::open(&folder.path().join("transactions.json")).unwrap();
    let job = FeedbackJob {
        id: "proof",
        submission,
    };
    let mut registry = svm_registry_of(solana, client).await;
    let attached = registry.attach_payment_proof(job, index, attestation, &mut record);
    attached.await
}

/// The client's authorized feedback, with the attestation attached.
async fn prove(solana: &Solana, attestation: &PaymentAttestation) {
    let given = give(solana, &solana.client).await;
    let attached = attach(solana, &solana.client, (&given, 1), attestation);
    attached.await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r13_a_payment_that_was_settled_here_is_proven_on_chain() {
    let solana = start().await;
    list(&solana).await;
    let url = serve(&solana).await;
    next_second(&solana).await;
    let [settler, key] = keys();
    let task_ref = pay(&solana, &settler, &[700, 300]).await;
    let (status, body) = ask(&url, &request(&solana, &task_ref)).await;
    assert_eq!(status, 200, "{body}");
    let attestation: PaymentAttestation = serde_json::from_value(body).unwrap();
    let facilitator = Signer::<Svm>::address(&key);
    let payee = agent(&solana).await.agent_wallet;
    assert_eq!(attestation.task_ref, task_ref);
    assert_eq!(attestation.payee, payee.to_string());
    assert_eq!(attestation.token, Address::from(MINT).to_string());
    assert_eq!(
        attestation.amount, "1000",
        "R32: both transfers are the payer's"
    );
    assert_eq!(attestation.facilitator, facilitator.to_string());
    let transaction = task_ref.strip_prefix(&format!("{NETWORK}:")).unwrap();
    let executed = solana
        .cluster
        .transaction(transaction)
        .await
        .unwrap()
        .unwrap();
    let paid_at = u64::try_from(executed.block_time.unwrap()).unwrap();
    assert_eq!(attestation.paid_at, paid_at);
    let message = PaymentProof {
        agent_mint: solana.mint.to_bytes(),
        payer: Signer::<Svm>::address(&solana.client).to_bytes(),
        payee: payee.to_bytes(),
        token: MINT,
        amount: 1_000,
        task_ref_hash: caip::TaskRef::parse(&task_ref).unwrap().dedupe_key().hash(),
        paid_at,
        expiry: attestation.expiry,
        chain: caip::ChainId::parse(NETWORK).unwrap().hash(),
        program_id: solana.program.id().to_bytes(),
        facilitator: facilitator.to_bytes(),
    };
    let signature = hex::decode(&attestation.signature[2..]).unwrap();
    ed25519_verify(facilitator.as_array(), &message.message(), &signature).unwrap();

    prove(&solana, &attestation).await;
    let proven = agent(&solana).await;
    let sums = (proven.verified_score_sum, proven.unverified_score_sum);
    assert_eq!(sums, (90, 0));
}

/// R36: on another fork a payment that failed could still succeed. Slots pass by themselves, so one that was final before
/// it was asked for says nothing, and another is made.
async fn not_final_yet(solana: &Solana, url: &str, good: &Value) -> String {
    for _ in 0..50 {
        let mut asked = good.clone();
        let failed = fail_to_pay(solana, &keys()[0]).await;
        asked["taskRef"] = json!(failed);
        let (status, body) = ask_once(url, &asked).await;
        if (status, &body["class"]) == (503, &json!("NotFinal")) {
            return failed;
        }
    }
    panic!("a failed payment is refused before it is final");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r13_nothing_else_is_stated() {
    let solana = start().await;
    let url = serve(&solana).await;
    next_second(&solana).await;
    let [settler, _] = keys();
    let task_ref = pay(&solana, &settler, &[5]).await;
    let good = request(&solana, &task_ref);
    let class = async |request: &Value| {
        let (status, body) = ask(&url, request).await;
        (status, body["class"].as_str().unwrap().to_owned())
    };
    let is = |status: u16, class: &str| (status, class.to_owned());
    assert_eq!(class(&good).await, is(503, "FacilitatorNotListed"));
    list(&solana).await;
    let with = |field: &str, value: &str| {
        let mut changed = good.clone();
        changed[field] = json!(value);
        changed
    };
    let stranger = Address::from([9; 32]).to_string();
    let other_chain = format!("eip155:1:0x{}", "ab".repeat(32));
    let unpaid = format!("{NETWORK}:{}", bs58::encode([7; 64]).into_string());
    let elsewhere = pay(&solana, &solana.client, &[5]).await;
    let failed = not_final_yet(&solana, &url, &good).await;
    // R36: the node may not have it yet
    let (status, body) = ask_once(&url, &with("taskRef", &unpaid)).await;
    assert_eq!((status, &body["class"]), (503, &json!("NotFinal")));
    let other_registry = format!("{NETWORK}:{stranger}");
    for (request, expected) in [
        (json!([]), is(400, "FieldMissing")),
        (with("token", "x"), is(400, "MalformedAddress")),
        (with("taskRef", "x"), is(400, "MalformedTaskRef")),
        (
            with("agentRegistry", &other_registry),
            is(404, "RegistryNotServed"),
        ),
        (
            with("taskRef", &other_chain),
            is(400, "PaymentChainNotServed"),
        ),
        (with("token", &stranger), is(400, "TokenNotListed")),
        (with("agentId", &stranger), is(404, "AgentNotFound")),
        (with("taskRef", &failed), is(400, "PaymentNotFound")),
        (with("taskRef", &elsewhere), is(400, "NotSettledHere")),
        (with("payer", &stranger), is(400, "PaymentMismatch")),
    ] {
        assert_eq!(class(&request).await, expected, "{request}");
    }
    assert_eq!(ask(&url, &good).await.0, 200);

    // a payment to oneself proves nothing
    let own = Signer::<Svm>::address(&solana.owner).to_string();
    let transfer = transfer_between([OWNER_TOKENS, WALLET_TOKENS], &solana.owner, 6);
    let sent = solana
        .send(vec![transfer], &[&settler, &solana.owner])
        .await;
    let mut asked = request(&solana, &format!("{NETWORK}:{sent}"));
    asked["payer"] = json!(own);
    assert_eq!(class(&asked).await, is(400, "SelfFeedback"));
}

/// R32: one transaction holds the payments of two payers. Each proves its own payer's feedback, and no other.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r32_r13_two_payers_of_one_transaction_prove_both_their_payments() {
    let solana = start().await;
    list(&solana).await;
    let url = serve(&solana).await;
    let [settler, _] = keys();
    let second = second_client();
    let transfers = vec![
        transfer_between([CLIENT_TOKENS, WALLET_TOKENS], &solana.client, 700),
        transfer_between([SECOND_TOKENS, WALLET_TOKENS], &second, 40),
    ];
    let signers = [&settler, &solana.client, &second];
    let task_ref = format!("{NETWORK}:{}", solana.send(transfers, &signers).await);
    let mut attestations = Vec::new();
    for (client, amount) in [(&solana.client, "700"), (&second, "40")] {
        let mut asked = request(&solana, &task_ref);
        asked["payer"] = json!(Signer::<Svm>::address(client).to_string());
        let (status, body) = ask(&url, &asked).await;
        assert_eq!((status, &body["amount"]), (200, &json!(amount)), "{body}");
        let attestation: PaymentAttestation = serde_json::from_value(body).unwrap();
        attestations.push(attestation);
    }
    for (client, [own, others]) in [(&solana.client, [0, 1]), (&second, [1, 0])] {
        let given = give(&solana, client).await;
        let refused = attach(&solana, client, (&given, 1), &attestations[others]).await;
        assert!(refused.is_err(), "the other's payment");
        let attached = attach(&solana, client, (&given, 1), &attestations[own]);
        attached.await.unwrap();
        // once: the same payment proves no second feedback
        let given = give(&solana, client).await;
        let again = attach(&solana, client, (&given, 2), &attestations[own]).await;
        assert!(again.is_err(), "the same payment twice");
    }
    let proven = agent(&solana).await;
    let counts = (
        proven.verified_feedback_count,
        proven.unverified_feedback_count,
    );
    assert_eq!(counts, (2, 2));
}
