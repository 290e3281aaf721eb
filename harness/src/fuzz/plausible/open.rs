//! The open profile.
use super::{
    authorized::response,
    value::{any_agent, either, hash, outsider, tag, text},
};
use crate::{
    fuzz::{
        dice::Dice,
        world::{World, any_actor},
    },
    model::{Actor, Agent, Integer, OpenFeedback, OpenSummaryQuery, Operation, Revocation},
};

pub(super) fn give_open_feedback(world: &World, _: u64, dice: &mut Dice) -> Option<Operation> {
    let agent = any_agent(world, dice);
    Some(Operation::GiveOpenFeedback(Box::new(OpenFeedback {
        by: outsider(world, &agent, dice)?,
        agent,
        value: Integer(dice.integer(38)),
        decimals: u8::try_from(dice.weigh(&[(4, 0), (2, 2), (2, 18), (1, 7)])?).ok()?,
        tag1: tag(dice),
        tag2: tag(dice),
        endpoint: text(dice),
        uri: text(dice),
        hash: hash(dice),
        index: None,
    })))
}

/// As [`entry`], of the open profile.
fn open_entry(world: &World, dice: &mut Dice) -> Option<(Agent, Actor, u64)> {
    let chain = either(dice);
    let agent = any_agent(world, dice);
    let open = &world.record(chain, &agent)?.open;
    let client = dice.pick(&open.clients)?.clone();
    let index = 1 + dice.below(open.last_index(&client));
    Some((agent, client, index))
}

pub(super) fn revoke_open_feedback(world: &World, _: u64, dice: &mut Dice) -> Option<Operation> {
    let (agent, by, index) = open_entry(world, dice)?;
    Some(Operation::RevokeOpenFeedback(Revocation {
        agent,
        by,
        index,
    }))
}

pub(super) fn append_open_response(world: &World, _: u64, dice: &mut Dice) -> Option<Operation> {
    let entry = open_entry(world, dice)?;
    Some(Operation::AppendOpenResponse(response(entry, dice)))
}

pub(super) fn open_summary(world: &World, _: u64, dice: &mut Dice) -> Option<Operation> {
    let agent = any_agent(world, dice);
    let listed = world.record(either(dice), &agent)?.open.clients.clone();
    let clients = (0..=dice.below(4))
        .map(|_| match dice.pick(&listed) {
            Some(client) if dice.percent(85) => client.clone(),
            _ => any_actor(dice),
        })
        .collect();
    Some(Operation::OpenSummary(OpenSummaryQuery {
        agent,
        clients,
        tag1: tag(dice),
        tag2: if dice.percent(70) {
            String::new()
        } else {
            tag(dice)
        },
    }))
}
