//! A number, every feedback behind it, and that none is missing: against what the registry itself answers.
use crate::online::{
    anvil::{CHAIN, CLIENT, OWNER, World},
    evm::trust,
    fetcher, flips,
    paid::Paid,
};
use alloy::primitives::{Address, B256, U256};
use concord_chain::{EndpointOptions, evm::Node};
use concord_explain::{
    Counted, ExplainedReputation, Number, Query, ReputationBundle, ReviewerSet, State, Step, Trust,
    complete_reputation, explain_reputation,
    online::{AgentName, At, Online},
};
use concord_registry::{event::Profile, evm::abi::ReputationRegistry::getSummaryCall};

const OTHER: usize = 2;

/// Two clients with two feedbacks each; one of them is revoked.
async fn rated(world: World) -> World {
    let (uri, hash) = world.file(87);
    let give = |client, value, uri: &str, hash| {
        world.send(client, world.open, world.give(value, uri, hash))
    };
    give(CLIENT, 87, &uri, hash).await;
    give(OTHER, 50, "", B256::ZERO).await;
    give(CLIENT, 3, "", B256::ZERO).await;
    give(OTHER, 52, "", B256::ZERO).await;
    world.revoke(2).await;
    world
}

async fn explained(
    world: &World,
    reviewers: ReviewerSet,
    trust: &mut Trust,
) -> (ReputationBundle, ExplainedReputation) {
    let mut online = Online::new(fetcher());
    online.add_evm(world.reader(Some(At::Latest)).await);
    let agent: AgentName = format!("{}:1", world.registry()).parse().expect("an agent");
    let all = online
        .feedback_of(&agent, Profile::Open, trust)
        .await
        .expect("an agent");
    for (chain, _, hash) in online.anchors() {
        trust.add_block(chain, hash);
    }
    let query = Query {
        agent_registry: all.agent_registry,
        reputation_registry: all.reputation_registry,
        profile: "open".to_owned(),
        agent_id: "1".to_owned(),
        reviewers,
        tag1: "starred".to_owned(),
        tag2: String::new(),
        at_block: all.at_block,
    };
    let mut subjects = all.subjects;
    subjects.retain(|it| query.has_reviewer(&it.client));
    let mut bundle = ReputationBundle::new(query, subjects);
    let explained = complete_reputation(&mut bundle, trust, &mut online)
        .await
        .expect("an agent");
    assert!(explained.needs.is_empty(), "{:?}", explained.needs);
    (bundle, explained)
}

/// What the registry answers.
async fn number(world: &World, clients: Vec<Address>) -> Number {
    let node = Node::new(&EndpointOptions::new(world.url())).expect("a node");
    let call = getSummaryCall {
        agentId: U256::from(1),
        clientAddresses: clients,
        tag1: "starred".to_owned(),
        tag2: String::new(),
    };
    let answer = node
        .read(world.open, &call)
        .await
        .expect("it answers")
        .expect("a summary");
    Number {
        count: answer.count,
        value: answer.summaryValue.to_string(),
        decimals: answer.summaryValueDecimals,
    }
}

fn offline(bundle: &ReputationBundle, trust: &Trust) -> ExplainedReputation {
    let text = bundle.to_canonical().expect("JSON");
    let again = ReputationBundle::parse(&text).expect("a bundle");
    explain_reputation(&again, trust).expect("an agent")
}

#[tokio::test(flavor = "multi_thread")]
async fn r46_a_number_over_everyone_is_the_registrys_and_nothing_is_missing() {
    let world = rated(World::start().await).await;
    let mut trust = trust(&world).await;
    let (bundle, explained) = explained(&world, ReviewerSet::Everyone, &mut trust).await;
    let report = &explained.report;
    assert_eq!(report.complete.state, State::Verified, "{report:#?}");
    assert_eq!(report.complete.detail, "4 feedbacks of 2 clients");
    let clients = [CLIENT, OTHER].map(|it| world.accounts[it]).to_vec();
    assert_eq!(report.number, Some(number(&world, clients).await));
    let entries: Vec<_> = report.feedbacks.iter().map(|it| it.entry).collect();
    assert_eq!(entries, ["counted", "counted", "revoked", "counted"]);
    assert_eq!(report.count(State::Verified), 3, "{report:#?}");
    assert_eq!(report.count_of_step(Step::Inclusion, State::Verified), 3);
    assert_eq!(report.state(), State::Verified);
    assert_eq!(offline(&bundle, &trust), explained);
    flips::check_number(&bundle, &trust);

    // one less, and one that is not there
    let mut less = bundle.clone();
    less.feedbacks.pop();
    let less = offline(&less, &trust).report;
    assert_eq!(less.complete.state, State::CannotCheck);
    assert_eq!(less.state(), State::CannotCheck);
    let mut more = bundle.clone();
    let mut invented = more.feedbacks[0].clone();
    invented.index = 9;
    more.feedbacks.push(invented);
    let more = offline(&more, &trust).report;
    assert_eq!(more.complete.state, State::Refuted, "{more:#?}");
    let mut twice = bundle.clone();
    twice.feedbacks.push(bundle.feedbacks[0].clone());
    assert_eq!(
        offline(&twice, &trust).report.complete.state,
        State::Refuted
    );
    // another block hash: nothing is known of the number
    trust.add_block(CHAIN, [7; 32]);
    let untrusted = offline(&bundle, &trust).report;
    assert_ne!(untrusted.complete.state, State::Verified);
    assert_eq!(untrusted.count(State::Verified), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn r48_a_number_over_listed_reviewers_counts_them_as_often_as_they_are_listed() {
    let world = rated(World::start().await).await;
    let mut trust = trust(&world).await;
    let other = world.accounts[OTHER];
    let listed = ReviewerSet::Listed(vec![other.to_string(); 2]);
    let (bundle, explained) = explained(&world, listed, &mut trust).await;
    assert_eq!(bundle.feedbacks.len(), 2);
    let report = &explained.report;
    assert_eq!(
        report.number,
        Some(number(&world, vec![other, other]).await)
    );
    assert_eq!(report.complete.detail, "2 feedbacks of 1 clients");
    assert_eq!(offline(&bundle, &trust), explained);
}

/// The canonical registry has its clients and their last indices in other slots. Its fixture computes no summary: the number is that of
/// 87, 50 and 52.
#[tokio::test(flavor = "multi_thread")]
async fn r46_nothing_is_missing_in_a_canonical_registry_either() {
    let world = rated(World::canonical().await).await;
    let mut trust = trust(&world).await;
    let (bundle, explained) = explained(&world, ReviewerSet::Everyone, &mut trust).await;
    let report = &explained.report;
    assert_eq!(report.complete.state, State::Verified, "{report:#?}");
    assert_eq!(report.complete.detail, "4 feedbacks of 2 clients");
    let number = Number {
        count: 3,
        value: "63".to_owned(),
        decimals: 0,
    };
    assert_eq!(report.number, Some(number));
    assert_eq!(offline(&bundle, &trust), explained);
    let mut less = bundle.clone();
    less.feedbacks.pop();
    let less = offline(&less, &trust).report;
    assert_eq!(less.complete.state, State::CannotCheck);
    let client = world.accounts[OTHER].to_string();
    let listed = ReviewerSet::Listed(vec![client]);
    let (_, of_one) = self::explained(&world, listed, &mut trust).await;
    assert_eq!(of_one.report.complete.detail, "2 feedbacks of 1 clients");
}

#[tokio::test(flavor = "multi_thread")]
async fn r32_a_payment_supports_the_first_feedback_that_uses_it_and_no_other() {
    let world = World::start().await;
    let paid = Paid::to(&world, world.accounts[OWNER]).await;
    for _ in 0..2 {
        paid.rated(&world.key(OWNER)).await;
    }
    let mut trust = trust(&world).await;
    let (mut bundle, found) = explained(&world, ReviewerSet::Everyone, &mut trust).await;
    let uses = |found: &ExplainedReputation| {
        let feedbacks = found.report.feedbacks.iter();
        let state = |it: &Counted| it.report.state_of(Step::PaymentUse);
        feedbacks.map(state).collect::<Vec<_>>()
    };
    let expected = [Some(State::CannotCheck), Some(State::Refuted)];
    assert_eq!(uses(&found), expected, "{:#?}", found.report);
    assert_eq!(found.report.feedbacks[1].state, State::Refuted);
    assert_eq!(offline(&bundle, &trust), found);
    // the chain's order counts, not the bundle's
    bundle.feedbacks.reverse();
    let mut reversed = uses(&offline(&bundle, &trust));
    reversed.reverse();
    assert_eq!(reversed, expected);
}

/// R32: of two feedbacks in one block the one whose transaction comes first, however the bundle lists them.
#[tokio::test(flavor = "multi_thread")]
async fn r32_in_one_block_the_order_of_transactions_counts() {
    let world = World::start().await;
    let paid = Paid::to(&world, world.accounts[OWNER]).await;
    let give = paid.given(&world.key(OWNER));
    let one = (CLIENT, world.open, give);
    world.in_one_block(vec![one.clone(), one]).await;
    let mut trust = trust(&world).await;
    let (mut bundle, found) = explained(&world, ReviewerSet::Everyone, &mut trust).await;
    let used = |found: &ExplainedReputation, index: u64| {
        let ends = format!("/{index}");
        let mut feedbacks = found.report.feedbacks.iter();
        let found = feedbacks.find(|it| it.feedback.ends_with(&ends));
        found.expect("a feedback").report.state_of(Step::PaymentUse)
    };
    for _ in 0..2 {
        let found = offline(&bundle, &trust);
        assert_eq!(used(&found, 1), Some(State::CannotCheck));
        assert_eq!(used(&found, 2), Some(State::Refuted));
        bundle.feedbacks.reverse();
    }
    assert_eq!(used(&found, 2), Some(State::Refuted));
}

/// R32: a copy of a feedback that lands first has its signatures, but not its client.
#[tokio::test(flavor = "multi_thread")]
async fn r32_a_copy_that_came_first_does_not_refute_the_feedback() {
    let world = World::start().await;
    let paid = Paid::to(&world, world.accounts[OWNER]).await;
    paid.copied(&world.key(OWNER), OTHER).await;
    paid.rated(&world.key(OWNER)).await;
    let mut trust = trust(&world).await;
    let (_, found) = explained(&world, ReviewerSet::Everyone, &mut trust).await;
    let client = world.accounts[CLIENT].to_string();
    let [copy, honest] = &found.report.feedbacks[..] else {
        panic!("{:#?}", found.report);
    };
    let (copy, honest) = if copy
        .feedback
        .to_lowercase()
        .contains(&client.to_lowercase())
    {
        (honest, copy)
    } else {
        (copy, honest)
    };
    assert_eq!(copy.report.state_of(Step::FileAgrees), Some(State::Refuted));
    assert_eq!(
        honest.report.state_of(Step::PaymentUse),
        Some(State::CannotCheck)
    );
    assert_ne!(honest.state, State::Refuted);
}
