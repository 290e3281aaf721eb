//! The authorized profile.
use super::{
    registry::FACILITATORS,
    value::{any_agent, either, hash, outsider, padded_tag, score, text},
};
use crate::{
    fuzz::{
        dice::Dice,
        world::{TOKENS, World, any_actor},
    },
    model::{
        Actor, Agent, AttachPaymentProof, Authorization, Chain, Feedback, Form, Operation, Payment,
        Response, Revocation, SummaryQuery,
    },
};

pub(super) fn give_feedback(world: &World, time: u64, dice: &mut Dice) -> Option<Operation> {
    let agent = any_agent(world, dice);
    let by = outsider(world, &agent, dice)?;
    let fitting: Vec<_> = world
        .authorizations
        .iter()
        .filter(|made| made.agent == agent && made.client == by)
        .collect();
    let authorization = match dice.pick(&fitting) {
        Some(made) if dice.percent(40) => (*made).clone(),
        _ => authorization(world, &agent, &by, time, dice)?,
    };
    Some(Operation::GiveFeedback(Box::new(Feedback {
        agent,
        by,
        score: score(dice),
        tag1: padded_tag(dice),
        tag2: padded_tag(dice),
        uri: text(dice),
        hash: hash(dice),
        index: None,
        authorization: Some(authorization),
    })))
}

fn authorization(
    world: &World,
    agent: &Agent,
    client: &Actor,
    time: u64,
    dice: &mut Dice,
) -> Option<Authorization> {
    let chain = either(dice);
    let form = match chain {
        Chain::Svm if dice.percent(25) => Form::X84,
        _ if dice.percent(25) => Form::DraftV1,
        _ => Form::Bounded,
    };
    let last_index = world.record(chain, agent)?.authorized.last_index(client);
    Some(Authorization {
        signer: world.model(chain).signer_of(agent)?.clone(),
        agent: agent.clone(),
        client: client.clone(),
        index_limit: last_index + dice.weigh(&[(4, 1), (3, 2), (2, 50)])?,
        expiry: time + dice.weigh(&[(3, 1), (3, 200), (4, 100_000)])?,
        form,
        tamper: None,
    })
}

/// An entry of the authorized profile: its agent, its client, its index.
fn entry(world: &World, dice: &mut Dice) -> Option<(Agent, Actor, u64)> {
    let chain = either(dice);
    let agent = any_agent(world, dice);
    let authorized = &world.record(chain, &agent)?.authorized;
    let client = dice.pick(&authorized.clients)?.clone();
    let index = 1 + dice.below(authorized.last_index(&client));
    Some((agent, client, index))
}

pub(super) fn revoke_feedback(world: &World, _: u64, dice: &mut Dice) -> Option<Operation> {
    let (agent, by, index) = entry(world, dice)?;
    Some(Operation::RevokeFeedback(Revocation { agent, by, index }))
}

pub(super) fn response((agent, client, index): (Agent, Actor, u64), dice: &mut Dice) -> Response {
    Response {
        agent,
        by: any_actor(dice),
        client,
        index,
        uri: "https://a.example/response".to_owned(),
        hash: hash(dice),
    }
}

pub(super) fn append_response(world: &World, _: u64, dice: &mut Dice) -> Option<Operation> {
    let entry = entry(world, dice)?;
    Some(Operation::AppendResponse(response(entry, dice)))
}

/// An entry that could still be paid for: its agent, its client, its index.
fn payable(world: &World, dice: &mut Dice) -> Option<(Agent, Actor, u64)> {
    let mut open = Vec::new();
    for (agent, record) in &world.svm.state().agents {
        for (client, entries) in &record.authorized.entries {
            if record.wallet.as_ref() == Some(client) {
                continue;
            }
            let unpaid = (1..)
                .zip(entries)
                .filter(|(_, entry)| !entry.revoked && entry.payment.is_none())
                .filter(|_| !world.svm.is_insider(agent, client));
            open.extend(unpaid.map(|(index, _)| (agent, client, index)));
        }
    }
    let (agent, client, index) = *dice.pick(&open)?;
    Some((agent.clone(), client.clone(), index))
}

pub(super) fn attach_payment_proof(world: &World, time: u64, dice: &mut Dice) -> Option<Operation> {
    let (agent, client, index) = payable(world, dice)?;
    let actors = |labels: &[&str]| labels.iter().map(|it| Actor::from(*it)).collect::<Vec<_>>();
    let (mut tokens, mut facilitators) = (actors(TOKENS), actors(FACILITATORS));
    tokens.retain(|it| world.svm.lists_token(it));
    facilitators.retain(|it| world.svm.lists_facilitator(it));
    let token = dice.pick(&tokens)?.clone();
    let facilitator = dice.pick(&facilitators)?.clone();
    Some(Operation::AttachPaymentProof(AttachPaymentProof {
        by: client.clone(),
        index,
        payment: Payment {
            facilitator,
            agent: agent.clone(),
            payer: client.clone(),
            payee: any_actor(dice),
            token,
            amount: 1 + dice.below(1_000_000),
            // Now and then one that was spent.
            task: format!("task-{}", dice.below(world.tasks + 10)),
            paid_at: dice.below(time + 1),
            expiry: time + if dice.percent(30) { 1 } else { 100_000 },
            tamper: None,
        },
        agent,
        client,
    }))
}

pub(super) fn summary(world: &World, _: u64, dice: &mut Dice) -> Option<Operation> {
    Some(Operation::Summary(SummaryQuery {
        agent: any_agent(world, dice),
    }))
}
