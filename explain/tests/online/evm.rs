use crate::online::{
    anvil::{CHAIN, CLIENT, World},
    fetcher, flips, offline, steps_in,
};
use alloy::primitives::B256;
use concord_explain::{
    Bundle, Report, State, Step, Trust, complete,
    online::{At, FeedbackName, Online, OnlineError},
};
use std::collections::BTreeSet;

pub async fn trust(world: &World) -> Trust {
    world.trust().await
}

/// Explains a feedback by what the node says, and trusts the node's block hash.
pub async fn explained(
    world: &World,
    name: &str,
    at: Option<At>,
    trust: &mut Trust,
) -> Result<(Bundle, Report), OnlineError> {
    let mut online = Online::new(fetcher());
    online.add_evm(world.reader(at).await);
    let name: FeedbackName = name.parse().expect("a name");
    let subject = online.subject(&name, trust).await?;
    for (chain, _, hash) in online.anchors() {
        trust.add_block(chain, hash);
    }
    let mut bundle = Bundle::new(subject);
    let completed = complete(&mut bundle, trust, &mut online)
        .await
        .expect("a feedback");
    assert!(completed.needs.is_empty(), "{:?}", completed.needs);
    Ok((bundle, completed.report))
}

/// What holds of a feedback whose file is in its URI.
const SOUND: [Step; 10] = [
    Step::Event,
    Step::Inclusion,
    Step::Registry,
    Step::NotRevoked,
    Step::File,
    Step::FileHash,
    Step::FileAgrees,
    Step::Authorship,
    Step::SelfFeedback,
    Step::Registration,
];

#[tokio::test(flavor = "multi_thread")]
async fn a_feedback_of_a_running_chain_is_verified_down_to_one_block_hash() {
    for world in [World::start().await, World::canonical().await] {
        check_one(&world).await;
    }
}

async fn check_one(world: &World) {
    let mut trust = trust(world).await;
    let (uri, hash) = world.file(87);
    let other = world.give(3, "", B256::ZERO);
    // not alone in its block, and not the first
    let sent = world
        .in_one_block(vec![
            (2, world.open, other.clone()),
            (CLIENT, world.open, world.give(87, &uri, hash)),
            (3, world.open, other),
        ])
        .await;
    world.mine(5).await;
    let name = format!("{CHAIN}:{}", sent[1]);
    let (bundle, report) = explained(world, &name, Some(At::Latest), &mut trust)
        .await
        .unwrap();
    assert_eq!(steps_in(&report, State::Verified), SOUND, "{report:#?}");
    assert_eq!(report.findings.len(), SOUND.len(), "{report:#?}");
    assert_eq!(offline(&bundle, &trust), report);
    let steps = flips::check_evm(&bundle, &trust);
    let expected = [
        Step::Event,
        Step::Inclusion,
        Step::Registry,
        Step::NotRevoked,
        Step::SelfFeedback,
        Step::Registration,
    ];
    assert_eq!(steps, expected.into_iter().collect::<BTreeSet<Step>>());

    // its id means the same
    let id = bundle.feedback.name();
    let (by_id, again) = explained(world, &id, Some(At::Latest), &mut trust)
        .await
        .unwrap();
    assert_eq!((by_id.feedback, again), (bundle.feedback.clone(), report));

    // without the block hash, the same bundle proves no inclusion
    let mut without = world.trust().await;
    let report = offline(&bundle, &without);
    assert_eq!(steps_in(&report, State::CannotCheck), [Step::Inclusion]);
    // another hash refutes it, and nothing is verified
    without.add_block(CHAIN, [7; 32]);
    let report = offline(&bundle, &without);
    assert_eq!(steps_in(&report, State::Refuted), [Step::Inclusion]);
    assert_eq!(steps_in(&report, State::Verified), []);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_revocation_counts_from_its_block_on() {
    for world in [World::start().await, World::canonical().await] {
        check_revocation(&world).await;
    }
}

async fn check_revocation(world: &World) {
    let mut trust = trust(world).await;
    let (uri, hash) = world.file(87);
    let sent = world
        .send(CLIENT, world.open, world.give(87, &uri, hash))
        .await;
    let name = format!("{CHAIN}:{sent}");
    let before = world.reader(Some(At::Latest)).await.anchor().1;
    world.revoke(1).await;
    let (_, report) = explained(world, &name, Some(At::Number(before)), &mut trust)
        .await
        .unwrap();
    assert_eq!(steps_in(&report, State::Refuted), []);
    let (_, report) = explained(world, &name, Some(At::Latest), &mut trust)
        .await
        .unwrap();
    assert_eq!(
        steps_in(&report, State::Refuted),
        [Step::NotRevoked],
        "{report:#?}"
    );
    // a block before the feedback cannot say anything of it
    let early = explained(world, &name, Some(At::Number(1)), &mut trust).await;
    assert!(
        matches!(early, Err(OnlineError::AfterAnchor { anchor: 1, .. })),
        "{early:?}"
    );
    // nothing is final yet, and the block was left open
    let (_, report) = explained(world, &name, None, &mut trust).await.unwrap();
    assert_eq!(steps_in(&report, State::Refuted), [Step::NotRevoked]);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unlisted_registry_and_an_unreachable_file_are_no_success() {
    let world = World::start().await;
    let (_, hash) = world.file(87);
    let uri = "https://127.0.0.1:1/feedback.json";
    let sent = world
        .send(CLIENT, world.open, world.give(87, uri, hash))
        .await;
    let name = format!("{CHAIN}:{sent}");
    let mut nobody = Trust::default();
    let (_, report) = explained(&world, &name, None, &mut nobody).await.unwrap();
    assert_eq!(
        steps_in(&report, State::Refuted),
        [Step::Registry],
        "{report:#?}"
    );
    assert_eq!(
        steps_in(&report, State::Verified),
        [Step::Event, Step::Inclusion]
    );
    let mut trust = trust(&world).await;
    let (bundle, report) = explained(&world, &name, None, &mut trust).await.unwrap();
    // whatever the file would say
    let unread = [
        Step::File,
        Step::FileHash,
        Step::FileAgrees,
        Step::Authorship,
        Step::Signer,
        Step::AgentSignature,
        Step::DataHash,
        Step::ReviewerSignature,
        Step::Payment,
        Step::PaymentProof,
        Step::PaymentUse,
    ];
    assert_eq!(steps_in(&report, State::CannotCheck), unread, "{report:#?}");
    assert_eq!(steps_in(&report, State::Refuted), []);
    assert_eq!(bundle.unavailable.len(), 1, "the reason is in the bundle");
    assert_eq!(offline(&bundle, &trust), report);
}

#[tokio::test(flavor = "multi_thread")]
async fn names_that_mean_no_feedback_or_several_are_refused() {
    let world = World::start().await;
    let mut trust = trust(&world).await;
    let sent = world
        .send(CLIENT, world.open, world.give(87, "", B256::ZERO))
        .await;
    world.revoke(1).await;
    let given = explained(&world, &format!("{CHAIN}:{sent}"), None, &mut trust)
        .await
        .unwrap();
    let name = given.0.feedback.name();
    for (wrong, expected) in [
        (name.replace("/1", "/2"), "gives feedback"),
        (
            name.replace("open", "authorized"),
            "no authorized reputation registry",
        ),
        (
            format!("{CHAIN}:{}", B256::repeat_byte(7)),
            "has no receipt",
        ),
        (format!("eip155:1:{sent}"), "no endpoint for eip155:1"),
    ] {
        let refused = explained(&world, &wrong, None, &mut trust).await;
        let refused = refused.expect_err(&wrong).to_string();
        assert!(refused.contains(expected), "{wrong}: {refused}");
    }
    // the registration gives no feedback
    let registered = world
        .send(
            0,
            world.identity,
            concord_registry::evm::calls::register("", &[]),
        )
        .await;
    let none = explained(&world, &format!("{CHAIN}:{registered}"), None, &mut trust).await;
    assert!(
        matches!(none, Err(OnlineError::NotOne { found: 0, .. })),
        "{none:?}"
    );
}
