//! The open profile.
use super::{
    authorized::{named_index, response},
    value::{any_agent, any_or_unknown_agent, either, hash, index_of, reviewer, tag, text},
};
use crate::{
    fuzz::{
        random::Random,
        world::{World, any_actor},
    },
    model::{
        Actor, Agent, Chain, Integer, OpenFeedback, OpenSummaryQuery, Operation, Profile,
        Revocation,
    },
};

pub(super) fn give_open_feedback(world: &World, _: u64, random: &mut Random) -> Option<Operation> {
    let agent = any_agent(world, random);
    let by = reviewer(world, Profile::Open, &agent, random)?;
    let record = world.record(Chain::Svm, &agent)?;
    let index = named_index(world, record.open.last_index(&by), random);
    Some(Operation::GiveOpenFeedback(Box::new(OpenFeedback {
        agent,
        by,
        value: Integer(random.integer(38)),
        decimals: u8::try_from(random.weigh(&[(4, 0), (2, 2), (2, 18), (1, 7)])?).ok()?,
        tag1: tag(random),
        tag2: tag(random),
        endpoint: text(random),
        uri: text(random),
        hash: hash(random),
        index,
    })))
}

/// As [`entry`], of the open profile.
fn open_entry(world: &World, random: &mut Random) -> Option<(Agent, Actor, u64)> {
    let chain = either(random);
    let agent = any_agent(world, random);
    let open = &world.record(chain, &agent)?.open;
    let client = random.pick(&open.clients)?.clone();
    let index = index_of(world, open.last_index(&client), random);
    Some((agent, client, index))
}

pub(super) fn revoke_open_feedback(
    world: &World,
    _: u64,
    random: &mut Random,
) -> Option<Operation> {
    let (agent, by, index) = open_entry(world, random)?;
    Some(Operation::RevokeOpenFeedback(Revocation {
        agent,
        by,
        index,
    }))
}

pub(super) fn append_open_response(
    world: &World,
    _: u64,
    random: &mut Random,
) -> Option<Operation> {
    let entry = open_entry(world, random)?;
    Some(Operation::AppendOpenResponse(response(entry, random)))
}

pub(super) fn open_summary(world: &World, _: u64, random: &mut Random) -> Option<Operation> {
    let agent = any_or_unknown_agent(world, random);
    let record = world.record(either(random), &agent);
    let listed = record.map_or_else(Vec::new, |record| record.open.clients.clone());
    let clients = (0..=random.below(4))
        .map(|_| match random.pick(&listed) {
            Some(client) if random.percent(85) => client.clone(),
            _ => any_actor(random),
        })
        .collect();
    Some(Operation::OpenSummary(OpenSummaryQuery {
        agent,
        clients,
        tag1: tag(random),
        tag2: if random.percent(70) {
            String::new()
        } else {
            tag(random)
        },
    }))
}
