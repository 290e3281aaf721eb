//! R47, R48: summaries of the reviewers that the caller names.
use crate::world::{Role, World, worlds};
use concord_canonical::{
    ErrorClass, caip, payment::PaymentProof, sign::ed25519_sign, summary::Summary, value::Value,
};
use concord_chain::{Signer, keys::Keypair, reviewers::parse_account};
use concord_client::{
    ClientError, Document, Kind, Rating, Review, Reviewers, ReviewersError, StoredRating, Tags,
    Weighting, summarize, summarize_authorized,
};
use concord_files::{Extra, Reviewer, ReviewerList, Timestamp};
use concord_registry::svm::{
    Address, ed25519,
    instructions::{AttachPaymentProof, Payment},
};
use concord_testkit::cluster::{NETWORK, Solana};
use std::{fs, path::Path};

/// Who gives what: two feedbacks by the first reviewer, one by the second.
async fn rate(world: &World, folder: &Path, agent: &str) {
    for (id, role, (value, decimals), tag) in [
        ("a", Role::Reviewer, (9977, 2), "uptime"),
        ("b", Role::Reviewer, (80, 0), "starred"),
        ("c", Role::Second, (61, 0), "starred"),
    ] {
        let mut client = world.client(role, folder).await;
        let review = Review::open(agent, Value::new(value, decimals).unwrap());
        let given = client.give(id, review.tagged(tag, ""), Document::None);
        given.await.unwrap();
    }
}

const fn summary(count: u64, value: i128, decimals: u8) -> Summary {
    Summary {
        count,
        value,
        decimals,
    }
}

/// The figures by hand, from R16: values are summed with 18 decimals, and the mean is cut to the most frequent
/// number of decimals, of several the fewest.
#[tokio::test]
async fn r47_r48_a_summary_is_of_the_reviewers_that_are_named() {
    for world in worlds().await {
        let folder = tempfile::tempdir().unwrap();
        let agent = world.register("rated", folder.path(), Document::None).await;
        let agent = &agent.agent;
        let registries = world.registries();
        let none = summarize(&*registries, agent, &Reviewers::Everyone, Tags::default());
        assert_eq!(none.await.unwrap().summary, summary(0, 0, 0));
        rate(&world, folder.path(), agent).await;
        let [first, second] = [Role::Reviewer, Role::Second].map(|it| world.address(it));
        let listed = |texts: &[&String]| {
            let accounts = texts.iter().map(|it| parse_account(it).unwrap());
            Reviewers::Listed(accounts.collect())
        };
        let path = folder.path().join("list.json");
        fs::write(
            &path,
            list(&[(world.name(), &second), ("eip155:1", &first)]),
        )
        .unwrap();
        let file = Reviewers::List {
            path,
            network: world.name().to_owned(),
        };
        let starred = Tags {
            tag1: "starred",
            tag2: "",
        };
        let all = Tags::default();
        for (reviewers, tags, expected) in [
            (Reviewers::Everyone, starred, summary(2, 70, 0)), // 70.5
            (Reviewers::Everyone, all, summary(3, 80, 0)),     // 80.256…
            (listed(&[&first]), all, summary(2, 89, 0)), // 89.885; 2 and 0 decimals, once each
            (
                listed(&[&first, &first, &second]),
                starred,
                summary(3, 73, 0),
            ), // twice counts twice
            (file, all, summary(1, 61, 0)),
        ] {
            let stated = summarize(&*registries, agent, &reviewers, tags)
                .await
                .unwrap();
            assert_eq!(stated.summary, expected, "{} {reviewers:?}", world.name());
            assert_eq!(stated.reviewers, reviewers.accounts().unwrap(), "R48");
            assert_eq!(stated.tags, [tags.tag1, tags.tag2]);
        }
        let nobody = Reviewers::Listed(Vec::new());
        let empty = summarize(&*registries, agent, &nobody, all).await;
        let error = empty.unwrap_err();
        let is_empty = matches!(error, ClientError::Reviewers(ReviewersError::Empty));
        assert!(is_empty, "R48: {error}");
        assert_eq!(error.class(), Some(ErrorClass::EmptyClients), "R25");
        // §3a: an agent that nobody registered has no feedback
        let unknown = match &world {
            World::Evm(_) => "77".to_owned(),
            World::Svm(_) => world.address(Role::Wallet),
        };
        let none = summarize(&*registries, &unknown, &Reviewers::Everyone, all).await;
        assert_eq!(none.unwrap().summary, summary(0, 0, 0), "{}", world.name());
        scores(&world, folder.path(), agent).await;
    }
}

/// A reviewer list with accounts of several chains.
fn list(accounts: &[(&str, &String)]) -> String {
    let reviewers = accounts.iter().map(|(chain, address)| Reviewer {
        // an address of this chain has no meaning on another
        account: if chain.starts_with("eip155") && !address.starts_with("0x") {
            format!("{chain}:0x70997970C51812dc3A010C7d01b50e0d17dc79C8")
        } else {
            format!("{chain}:{address}")
        },
        reason: None,
        extra: Extra::default(),
    });
    let created = Timestamp::parse("2026-11-23T00:00:00Z").unwrap();
    let list = ReviewerList::new("ours", created, reviewers.collect());
    list.to_canonical().unwrap()
}

/// Figures by hand. Without payment proofs both weightings are the mean: (90 + 45) / 2 = 67.5, rounded down. With one for
/// the 90, X84's is (3 · 90 + 45) / 4 = 78.75.
async fn scores(world: &World, folder: &Path, agent: &str) {
    let expiry = world.now().await + 1_000;
    for (id, role, score) in [("d", Role::Reviewer, 90), ("e", Role::Second, 45)] {
        let auth = world.authorize(agent, role, (1, expiry)).await;
        let review = Review::new(agent, Rating::Authorized { score, auth });
        let mut client = world.client(role, folder).await;
        let given = client.give(id, review.tagged("starred", ""), Document::None);
        given.await.unwrap();
    }
    assert_scores(world, agent, [67, 67], false).await;
    if let World::Svm(solana) = world {
        prove_payment(solana, agent, &Role::Reviewer.keypair()).await;
        assert_scores(world, agent, [67, 78], true).await;
    }
}

/// `of_both`: what the two feedbacks come to, by each weighting. `is_proven`: whether the first one has a payment proof.
async fn assert_scores(world: &World, agent: &str, of_both: [u64; 2], is_proven: bool) {
    let registries = world.registries();
    let starred = Tags {
        tag1: "starred",
        tag2: "",
    };
    let listed = |role| {
        let account = parse_account(&world.address(role)).unwrap();
        Reviewers::Listed(vec![account])
    };
    let proven = u64::from(is_proven);
    for (reviewers, expected, verified) in [
        (Reviewers::Everyone, of_both.map(|score| (2, score)), proven),
        (listed(Role::Reviewer), [(1, 90); 2], proven),
        (listed(Role::Second), [(1, 45); 2], 0),
    ] {
        let weightings = [Weighting::Equal, Weighting::PaymentProof];
        for (weighting, expected) in weightings.into_iter().zip(expected) {
            let stated = summarize_authorized(&*registries, agent, &reviewers, starred, weighting);
            let stated = stated.await.unwrap();
            let found = stated.summary;
            let at = format!("{} {reviewers:?} {weighting:?}", world.name());
            assert_eq!((found.count, found.score), expected, "{at}");
            assert_eq!(
                (found.verified_count, found.weighting),
                (verified, weighting)
            );
            assert_eq!(stated.reviewers, reviewers.accounts().unwrap(), "R48");
        }
    }
    for (role, is_proven) in [(Role::Reviewer, is_proven), (Role::Second, false)] {
        let client = world.address(role);
        let read = registries.feedback(Kind::Authorized, agent, &client, 1);
        let rating = read.await.unwrap().unwrap().rating;
        let StoredRating::Authorized {
            has_payment_proof, ..
        } = rating
        else {
            panic!("{rating:?}");
        };
        assert_eq!(has_payment_proof, is_proven, "{} {role:?}", world.name());
    }
}

/// R13: a facilitator that the registry lists states that the reviewer paid the agent's owner.
async fn prove_payment(solana: &Solana, agent: &str, reviewer: &Keypair) {
    let (program, authority) = (solana.program, solana.owner.address());
    let (facilitator, token) = (Keypair::new_from_array([31; 32]), Address::from([32; 32]));
    let listed = [
        program.set_payment_token(authority, token, true),
        program.set_facilitator(authority, facilitator.address(), true),
    ];
    solana.send(listed.to_vec(), &[&solana.owner]).await;
    let (mint, client): (Address, _) = (agent.parse().unwrap(), reviewer.address());
    let payment = Payment {
        payer: client,
        payee: Role::Owner.keypair().address(),
        token,
        amount: 1_000,
        task_ref_hash: [5; 32],
        paid_at: 1,
        expiry: u64::from(u32::MAX),
        facilitator: facilitator.address(),
    };
    let message = PaymentProof {
        agent_mint: mint.to_bytes(),
        payer: payment.payer.to_bytes(),
        payee: payment.payee.to_bytes(),
        token: token.to_bytes(),
        amount: payment.amount,
        task_ref_hash: payment.task_ref_hash,
        paid_at: payment.paid_at,
        expiry: payment.expiry,
        chain: caip::ChainId::parse(NETWORK).unwrap().hash(),
        program_id: program.id().to_bytes(),
        facilitator: payment.facilitator.to_bytes(),
    }
    .message();
    let signature = ed25519_sign(facilitator.secret_bytes(), &message);
    let verify = ed25519::verify(payment.facilitator.as_array(), &signature, &message);
    let proof = AttachPaymentProof {
        reviewer: client,
        index: 1,
        payment,
    };
    let attach = program.attach_payment_proof(client, mint, &proof);
    solana
        .send(vec![verify.unwrap(), attach], &[reviewer])
        .await;
}
