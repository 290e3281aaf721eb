//! The authorized profile.
use super::value::{
    any_agent, any_or_unknown_agent, either, hash, index_of, padded_tag, reviewer, score, text,
};
use crate::{
    fuzz::{
        random::Random,
        world::{FACILITATORS, Focus, TOKENS, World, any_actor},
    },
    model::{
        Actor, Agent, AttachPaymentProof, Authorization, Chain, Feedback, Form, Operation, Payment,
        Profile, ProofVersion, Response, Revocation, SummaryQuery,
    },
};

pub(super) fn give_feedback(world: &World, time: u64, random: &mut Random) -> Option<Operation> {
    let agent = any_agent(world, random);
    let by = reviewer(world, Profile::Authorized, &agent, random)?;
    let fitting: Vec<_> = world
        .authorizations
        .iter()
        .filter(|made| made.agent == agent && made.client == by)
        .collect();
    let authorization = match random.pick(&fitting) {
        Some(made) if random.percent(40) => (*made).clone(),
        _ => authorization(world, &agent, &by, time, random)?,
    };
    let record = world.record(Chain::Svm, &agent)?;
    let index = named_index(world, record.authorized.last_index(&by), random);
    Some(Operation::GiveFeedback(Box::new(Feedback {
        index,
        agent,
        by,
        score: score(random),
        tag1: padded_tag(random),
        tag2: padded_tag(random),
        uri: text(random),
        hash: hash(random),
        authorization: Some(authorization),
    })))
}

/// R12: Solana's instruction may name the next index. EVM has no such argument.
pub(super) fn named_index(world: &World, last: u64, random: &mut Random) -> Option<u64> {
    let often = if world.focus == Focus::LastEntries {
        40
    } else {
        15
    };
    random.percent(often).then_some(last + 1)
}

fn authorization(
    world: &World,
    agent: &Agent,
    client: &Actor,
    time: u64,
    random: &mut Random,
) -> Option<Authorization> {
    let chain = either(random);
    let form = match chain {
        Chain::Svm if random.percent(25) => Form::X84,
        _ if random.percent(25) => Form::DraftV1,
        _ => Form::Bounded,
    };
    let last_index = world.record(chain, agent)?.authorized.last_index(client);
    Some(Authorization {
        signer: world.model(chain).signer_of(agent)?.clone(),
        agent: agent.clone(),
        client: client.clone(),
        index_limit: last_index + random.weigh(&[(4, 1), (3, 2), (2, 50)])?,
        expiry: time + random.weigh(&[(3, 1), (3, 200), (4, 100_000)])?,
        form,
        tamper: None,
    })
}

/// An entry of the authorized profile: its agent, its client, its index.
fn entry(world: &World, random: &mut Random) -> Option<(Agent, Actor, u64)> {
    let chain = either(random);
    let agent = any_agent(world, random);
    let authorized = &world.record(chain, &agent)?.authorized;
    let client = random.pick(&authorized.clients)?.clone();
    let index = index_of(world, authorized.last_index(&client), random);
    Some((agent, client, index))
}

pub(super) fn revoke_feedback(world: &World, _: u64, random: &mut Random) -> Option<Operation> {
    let (agent, by, index) = entry(world, random)?;
    Some(Operation::RevokeFeedback(Revocation { agent, by, index }))
}

pub(super) fn response(
    (agent, client, index): (Agent, Actor, u64),
    random: &mut Random,
) -> Response {
    Response {
        agent,
        by: any_actor(random),
        client,
        index,
        uri: "https://a.example/response".to_owned(),
        hash: hash(random),
    }
}

pub(super) fn append_response(world: &World, _: u64, random: &mut Random) -> Option<Operation> {
    let entry = entry(world, random)?;
    Some(Operation::AppendResponse(response(entry, random)))
}

/// An entry that could still be paid for: its agent, its client, its index.
fn payable(world: &World, random: &mut Random) -> Option<(Agent, Actor, u64)> {
    let mut open = Vec::new();
    for (agent, record) in &world.svm.state().agents {
        for (client, entries) in &record.authorized.entries {
            let unpaid = (1..)
                .zip(entries)
                .filter(|(_, entry)| !entry.revoked && entry.payment.is_none())
                .filter(|(index, _)| world.svm.is_by_stranger(agent, client, *index));
            open.extend(unpaid.map(|(index, _)| (agent, client, index)));
        }
    }
    let (agent, client, index) = *random.pick(&open)?;
    Some((agent.clone(), client.clone(), index))
}

pub(super) fn attach_payment_proof(
    world: &World,
    time: u64,
    random: &mut Random,
) -> Option<Operation> {
    let (agent, client, index) = payable(world, random)?;
    let actors = |labels: &[&str]| labels.iter().map(|it| Actor::from(*it)).collect::<Vec<_>>();
    let (mut tokens, mut facilitators) = (actors(TOKENS), actors(FACILITATORS));
    tokens.retain(|it| world.svm.lists_token(it));
    facilitators.retain(|it| world.svm.lists_facilitator(it));
    let token = random.pick(&tokens)?.clone();
    let facilitator = random.pick(&facilitators)?.clone();
    Some(Operation::AttachPaymentProof(AttachPaymentProof {
        by: client.clone(),
        index,
        payment: Payment {
            facilitator,
            agent: agent.clone(),
            payer: client.clone(),
            payee: any_actor(random),
            token,
            amount: 1 + random.below(1_000_000),
            // Often one that another payer spent, now and then one that this payer did.
            task: format!("task-{}", random.below(world.spent.len() as u64 + 10)),
            paid_at: random.below(time + 1),
            expiry: time + if random.percent(30) { 1 } else { 100_000 },
            version: ProofVersion::V2,
            tamper: None,
        },
        agent,
        client,
    }))
}

pub(super) fn summary(world: &World, _: u64, random: &mut Random) -> Option<Operation> {
    Some(Operation::Summary(SummaryQuery {
        agent: any_or_unknown_agent(world, random),
    }))
}
