//! R13: a facilitator states what it settled, and the program believes it.
use crate::{
    cluster::{NETWORK, Solana},
    solana::svm_registry,
    solana_payments::{
        MINT, agent, ask, ask_once, fail_to_pay, keys, next_second, pay, request, start,
    },
};
use concord_aggregator::{Facilitator, payment_proof_router};
use concord_canonical::{caip, payment::PaymentProof, sign::ed25519_verify};
use concord_chain::{Signer, Svm, submission::FileRecord};
use concord_registry::svm::{Address, instructions::Consent};
use concord_x402::{
    feedback::{FeedbackContent, FeedbackJob, FeedbackRegistry, PaymentAttestation, Submission},
    grants::{FeedbackGrant, SvmGrants},
    server::{GRANT_EXPIRY_MAX, GrantIssuer, GrantRequest},
    verify::SvmChains,
};
use serde_json::{Value, json};
use std::sync::Arc;
use tokio::net::TcpListener;

async fn serve(solana: &Solana) -> String {
    let mut payments = SvmChains::default();
    let network = NETWORK.parse().unwrap();
    payments
        .add(&network, solana.cluster.clone())
        .await
        .unwrap();
    let [settler, key] = keys();
    let routes = payment_proof_router(vec![Facilitator {
        network: NETWORK.to_owned(),
        cluster: solana.cluster.clone(),
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

async fn list(solana: &Solana) {
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

/// The client's authorized feedback, with the attestation attached: the program checks it.
async fn prove(solana: &Solana, attestation: &PaymentAttestation) {
    let authority = Arc::new(solana.owner.insecure_clone());
    let grants = SvmGrants::new(solana.cluster.clone(), NETWORK, solana.program, authority);
    let registration = solana.registration();
    let client = Signer::<Svm>::address(&solana.client).to_string();
    let now = u64::try_from(solana.cluster.unix_time().await.unwrap()).unwrap();
    let grant = grants.issue(GrantRequest {
        registration: &registration,
        network: NETWORK,
        payer: &client,
        expiry_max: now + GRANT_EXPIRY_MAX,
    });
    let grant = grant.await.unwrap().unwrap();
    let submission = Submission {
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
    };
    let folder = tempfile::tempdir().unwrap();
    let mut record = FileRecord::open(&folder.path().join("transactions.json")).unwrap();
    let job = FeedbackJob {
        id: "feedback",
        submission: &submission,
    };
    let mut registry = svm_registry(solana).await;
    registry.submit(job, &mut record).await.unwrap();
    let attached = registry.attach_payment_proof(job, 1, attestation, &mut record);
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

    // its wallet at the payment is not known any more; and a payer who acts for the agent proves nothing
    let owner = Signer::<Svm>::address(&solana.owner);
    let client = Signer::<Svm>::address(&solana.client);
    let consent = Some((client, Consent::Signs));
    let set = (solana.program).set_feedback_authority(owner, solana.mint, consent);
    solana
        .send(vec![set], &[&solana.owner, &solana.client])
        .await;
    assert_eq!(class(&good).await, is(400, "AgentChanged"));
    next_second(&solana).await;
    let later = request(&solana, &pay(&solana, &settler, &[6]).await);
    assert_eq!(class(&later).await, is(400, "SelfFeedback"));
}
