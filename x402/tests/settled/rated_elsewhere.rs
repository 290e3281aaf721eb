//! Feedback on Solana: for a purchase on an EVM chain, and by a grant with a facilitator's payment proof.
use crate::settled::{
    elsewhere::{self, Both},
    paying::ID,
    rated::{TIMING, bought, review, reviewer},
};
use concord_canonical::{caip, payment::PaymentProof, sign::ed25519_sign};
use concord_chain::{Signer, keys::Keypair, submission::FileRecord, svm::PriorityFee};
use concord_files::{AgentId, X402Profile};
use concord_registry::{
    event::Event,
    svm::{
        Address,
        accounts::{AgentIdentity, OpenFeedback},
    },
};
use concord_testkit::chain::Chain;
use concord_testkit::cluster::{NETWORK, Solana};
use concord_testkit::shop::{Extras, Shop};
use concord_x402::{
    feedback::{
        FeedbackContent, FeedbackError, FeedbackFolder, FeedbackGiver, FeedbackJob,
        FeedbackRegistry, FileFolder, Kind, PaymentAttestation, Submission, SvmRegistry,
    },
    grants::{FeedbackGrant, SvmGrants},
    quote::{PreClass, PreStep},
    server::{GRANT_EXPIRY_MAX, GrantIssuer, GrantRequest},
};
use std::{fs, sync::Arc};

const NOW: u64 = 1_769_428_800;

async fn registry(solana: &Solana) -> SvmRegistry {
    let signer = Box::new(solana.client.insecure_clone());
    let network = NETWORK.parse().unwrap();
    let (cluster, program) = (solana.cluster.clone(), solana.program);
    let fee = PriorityFee::default();
    let connected = SvmRegistry::connect(cluster, &network, program, signer, fee, TIMING);
    connected.await.unwrap()
}

#[tokio::test]
async fn a_purchase_on_an_evm_chain_is_rated_on_solana() {
    let (chain, solana) = (Chain::start().await, Solana::start().await);
    elsewhere::publish(&solana, &elsewhere::registrations(&chain, &solana)).await;
    let both = Both::at(&chain.url, &solana.url).await;
    let extras = Extras {
        registrations: vec![solana.registration()],
        ..Extras::default()
    };
    let shop = Shop::open_with(&chain, &X402Profile::ALL, extras).await;
    let folder = tempfile::tempdir().unwrap();
    let evidence = bought(&chain, &shop, folder.path()).await;
    let files = folder.path().join("files");
    let store = FileFolder::ipfs(&files);
    let records = FeedbackFolder::beside(folder.path());
    let mut registry = registry(&solana).await;
    let mut giver = FeedbackGiver {
        reads: both.reads(),
        store: &store,
        folder: &records,
        registry: &mut registry,
    };
    let key = reviewer(&chain.payer);
    let given = giver.give(&evidence, review(80), Kind::Open, &key, NOW);
    let given = given.await.unwrap();
    assert_eq!(given.entry.index, 1);
    let (uri, hash) = given.entry.file().unwrap();
    let bytes = fs::read(files.join(uri.strip_prefix("ipfs://").unwrap())).unwrap();
    assert_eq!(alloy::primitives::keccak256(&bytes).0, hash);
    let file: serde_json::Value = serde_json::from_slice(&bytes).unwrap();
    let proof = &file["proofOfParticipation"];
    // R38: two accounts on two chains, and the payer is the reviewer
    let client = format!("{NETWORK}:{}", solana.client.address());
    assert_eq!(file["clientAddress"], *client);
    let payer = format!("eip155:84532:{}", chain.payer.address());
    assert_eq!(proof["reviewerAddress"], *payer);
    assert_eq!(proof["reviewerSignatureAlgorithm"], "secp256k1");
    assert_eq!(file["agentId"], *solana.mint.to_string());

    let resumed = giver.resume(ID).await.unwrap();
    assert_eq!(resumed.record, given.record);
    let place = solana
        .program
        .open_feedback(&solana.mint, &solana.client.address(), 1);
    let account = solana.cluster.account(&place).await.unwrap().unwrap();
    let entry: OpenFeedback = solana
        .program
        .decode(&account.owner, &account.data)
        .unwrap();
    assert_eq!((entry.value, &*entry.tag1), (80, "x402-resource-delivered"));
    let second = solana
        .program
        .open_feedback(&solana.mint, &solana.client.address(), 2);
    assert!(solana.cluster.account(&second).await.unwrap().is_none());
}

/// P6 to P8: a seller announces somebody else's agent as its own, so that the customer's rating goes there.
#[tokio::test]
async fn p8_a_registration_that_only_the_seller_announced_is_not_rated() {
    let (chain, solana) = (Chain::start().await, Solana::start().await);
    let both = Both::at(&chain.url, &solana.url).await;
    let extras = Extras {
        registrations: vec![solana.registration()],
        ..Extras::default()
    };
    let shop = Shop::open_with(&chain, &X402Profile::ALL, extras).await;
    let folder = tempfile::tempdir().unwrap();
    let evidence = bought(&chain, &shop, folder.path()).await;
    let store = FileFolder::ipfs(&folder.path().join("files"));
    let records = FeedbackFolder::beside(folder.path());
    let mut registry = registry(&solana).await;
    let mut giver = FeedbackGiver {
        reads: both.reads(),
        store: &store,
        folder: &records,
        registry: &mut registry,
    };
    let key = reviewer(&chain.payer);
    let [verified, other] = elsewhere::registrations(&chain, &solana);
    let mut neighbour = verified.clone();
    neighbour["agentId"] = serde_json::json!("4242");
    let not_claimed = Some(PreClass::RegistrationNotClaimed);
    for (what, listed, expected) in [
        (
            "its file lists itself only",
            vec![other.clone()],
            not_claimed,
        ),
        ("the verified one only", vec![verified.clone()], not_claimed),
        (
            "another agent of the same registry",
            vec![other.clone(), neighbour],
            not_claimed,
        ),
    ] {
        elsewhere::publish(&solana, &listed).await;
        let given = giver
            .give(&evidence, review(1), Kind::Open, &key, NOW)
            .await;
        let Err(FeedbackError::NotTheAgent(refusal)) = given else {
            panic!("{what}: {given:?}");
        };
        assert_eq!(
            (refusal.step, refusal.class),
            (PreStep::P8, expected),
            "{what}"
        );
    }
    // R36: a host that does not answer says nothing, and it may answer later
    elsewhere::set_uri(&solana, "http://127.0.0.1:1/agent.json").await;
    let given = giver
        .give(&evidence, review(1), Kind::Open, &key, NOW)
        .await;
    let error = given.unwrap_err();
    assert!(error.is_retryable(), "{error}");
    assert!(
        error.to_string().contains("P7 cannot be checked"),
        "{error}"
    );
    elsewhere::set_uri(&solana, "").await;
    let given = giver
        .give(&evidence, review(1), Kind::Open, &key, NOW)
        .await;
    let Err(FeedbackError::NotTheAgent(refusal)) = given else {
        panic!("no file: {given:?}");
    };
    let found = (refusal.step, refusal.class);
    assert_eq!(found, (PreStep::P7, Some(PreClass::RegistrationMalformed)));
    assert!(records.load(ID).unwrap().is_none(), "nothing has begun");

    elsewhere::publish(&solana, &[other, verified]).await;
    let given = giver
        .give(&evidence, review(1), Kind::Open, &key, NOW)
        .await;
    assert_eq!(given.unwrap().entry.index, 1);
}

/// P6: nobody has registered what the seller announced.
#[tokio::test]
async fn p6_a_registration_that_does_not_exist_is_not_rated() {
    let (chain, solana) = (Chain::start().await, Solana::start().await);
    let both = Both::at(&chain.url, &solana.url).await;
    let mut nobody = solana.registration();
    let account = caip::AccountId::parse(&nobody.agent_registry).unwrap();
    let mint = Address::from([77; 32]).to_string();
    nobody.agent_id = AgentId::parse(&account, &mint).unwrap();
    let extras = Extras {
        registrations: vec![nobody],
        ..Extras::default()
    };
    let shop = Shop::open_with(&chain, &X402Profile::ALL, extras).await;
    let folder = tempfile::tempdir().unwrap();
    let evidence = bought(&chain, &shop, folder.path()).await;
    let store = FileFolder::ipfs(&folder.path().join("files"));
    let records = FeedbackFolder::beside(folder.path());
    let mut registry = registry(&solana).await;
    let mut giver = FeedbackGiver {
        reads: both.reads(),
        store: &store,
        folder: &records,
        registry: &mut registry,
    };
    let key = reviewer(&chain.payer);
    let given = giver
        .give(&evidence, review(1), Kind::Open, &key, NOW)
        .await;
    let Err(FeedbackError::NotTheAgent(refusal)) = given else {
        panic!("{given:?}");
    };
    let found = (refusal.step, refusal.class);
    assert_eq!(found, (PreStep::P6, Some(PreClass::AgentNotFound)));
    assert!(records.load(ID).unwrap().is_none(), "nothing has begun");
}

/// A facilitator's statement about a payment on the cluster (R13).
fn attestation(solana: &Solana, facilitator: [u8; 32], token: Address) -> PaymentAttestation {
    let key = Keypair::new_from_array(facilitator);
    let transaction = bs58::encode([5; 64]).into_string();
    let task_ref = format!("{NETWORK}:{transaction}");
    let hash = caip::TaskRef::parse(&task_ref).unwrap().dedupe_key().hash();
    let (paid_at, expiry) = (1, u64::from(u32::MAX));
    let message = PaymentProof {
        agent_mint: solana.mint.to_bytes(),
        payer: solana.client.address().to_bytes(),
        payee: solana.owner.address().to_bytes(),
        token: token.to_bytes(),
        amount: 1_000,
        task_ref_hash: hash,
        paid_at,
        expiry,
        chain: caip::ChainId::parse(NETWORK).unwrap().hash(),
        program_id: solana.program.id().to_bytes(),
        facilitator: key.address().to_bytes(),
    }
    .message();
    PaymentAttestation {
        task_ref,
        payee: solana.owner.address().to_string(),
        token: token.to_string(),
        amount: "1000".to_owned(),
        paid_at,
        expiry,
        facilitator: key.address().to_string(),
        signature: format!("0x{}", hex::encode(ed25519_sign(&facilitator, &message))),
    }
}

#[tokio::test]
async fn r41_and_r13_a_grant_and_a_payment_proof_on_solana() {
    let solana = Solana::start().await;
    let authority = Arc::new(solana.owner.insecure_clone());
    let grants = SvmGrants::new(solana.cluster.clone(), NETWORK, solana.program, authority);
    let registration = solana.registration();
    let payer = solana.client.address().to_string();
    let settled_at = u64::try_from(solana.cluster.unix_time().await.unwrap()).unwrap();
    let request = GrantRequest {
        registration: &registration,
        network: NETWORK,
        payer: &payer,
        expiry_max: settled_at + GRANT_EXPIRY_MAX,
    };
    let grant = grants.issue(request).await.unwrap().unwrap();
    assert_eq!(
        (grant.index_limit, grant.expiry),
        (1, settled_at + 7 * 86_400)
    );
    let elsewhere = GrantRequest {
        network: "eip155:84532",
        ..request
    };
    assert_eq!(grants.issue(elsewhere).await.unwrap(), None);
    let stranger = Arc::new(Keypair::new_from_array([9; 32]));
    let other = SvmGrants::new(solana.cluster.clone(), NETWORK, solana.program, stranger);
    let refused = other.issue(request).await.unwrap_err().to_string();
    assert!(refused.contains("(R7)"), "{refused}");

    let submission = Submission {
        agent_id: solana.mint.to_string(),
        tag1: "x402-resource-delivered".to_owned(),
        tag2: String::new(),
        content: FeedbackContent::Authorized {
            score: 90,
            grant: FeedbackGrant {
                agent_registry: registration.agent_registry.clone(),
                agent_id: solana.mint.to_string(),
                client_address: payer.clone(),
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
    let mut registry = registry(&solana).await;
    registry.submit(job, &mut record).await.unwrap();
    let agent = async || -> AgentIdentity {
        let account = solana
            .cluster
            .account(&solana.program.agent(&solana.mint))
            .await;
        let account = account.unwrap().unwrap();
        solana
            .program
            .decode(&account.owner, &account.data)
            .unwrap()
    };
    assert_eq!(agent().await.unverified_score_sum, 90);

    let (facilitator, token) = ([31; 32], Address::from([32; 32]));
    let authority = solana.owner.address();
    let listed = [
        solana.program.set_payment_token(authority, token, true),
        solana.program.set_facilitator(
            authority,
            Keypair::new_from_array(facilitator).address(),
            true,
        ),
    ];
    solana.send(listed.to_vec(), &[&solana.owner]).await;
    let attestation = attestation(&solana, facilitator, token);
    let edited = PaymentAttestation {
        amount: "1001".to_owned(),
        ..attestation.clone()
    };
    let refused = registry
        .attach_payment_proof(job, 1, &edited, &mut record)
        .await;
    let refused = refused.unwrap_err().to_string();
    assert!(
        refused.contains("the payment attestation's signature"),
        "{refused}"
    );
    for _ in 0..2 {
        let attached = registry
            .attach_payment_proof(job, 1, &attestation, &mut record)
            .await;
        attached.unwrap();
    }
    let proven = agent().await;
    assert_eq!(
        (proven.verified_score_sum, proven.unverified_score_sum),
        (90, 0),
        "R13"
    );
    let landing = concord_chain::submission::TxRecord::landing(&record, "feedback").unwrap();
    let signed = concord_chain::submission::TxRecord::transactions(&record, "feedback");
    let entry = registry.entry(job, landing, &signed[0]).await.unwrap();
    assert!(matches!(
        entry.event,
        Event::AuthorizedFeedback {
            score: 90,
            index: 1,
            ..
        }
    ));

    // R8: the grant is used up
    let mut second = FileRecord::open(&folder.path().join("second.json")).unwrap();
    assert!(registry.submit(job, &mut second).await.is_err());
}
