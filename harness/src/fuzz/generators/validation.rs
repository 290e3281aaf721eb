//! Validation requests and answers.
use super::value::{any_agent, either, hash, owner_of, score, tag, text};
use crate::{
    fuzz::{
        random::Random,
        world::{World, any_actor},
    },
    model::{Actor, Agent, Bytes32, Operation, ValidationAnswer, ValidationRequest},
};

/// Few validators and hashes with few prefixes, so that they meet.
pub(super) fn validation_request(world: &World, _: u64, random: &mut Random) -> Option<Operation> {
    let agent = any_agent(world, random);
    Some(Operation::ValidationRequest(ValidationRequest {
        by: owner_of(world, &agent, random)?,
        agent,
        validator: Some(any_actor(random)),
        request: Bytes32(random.word()),
        uri: text(random),
    }))
}

/// A request: its agent, its validator, its hash.
pub fn request(world: &World, random: &mut Random) -> Option<(Agent, Actor, Bytes32)> {
    let agent = any_agent(world, random);
    let requests = &world.record(either(random), &agent)?.validations.requests;
    let all: Vec<_> = requests
        .iter()
        .flat_map(|(hash, validators)| validators.keys().map(move |it| (it.clone(), *hash)))
        .collect();
    let (validator, hash) = random.pick(&all)?.clone();
    Some((agent, validator, hash))
}

pub(super) fn validation_response(world: &World, _: u64, random: &mut Random) -> Option<Operation> {
    let (agent, validator, request) = request(world, random)?;
    Some(Operation::ValidationResponse(Box::new(ValidationAnswer {
        agent,
        by: validator.clone(),
        validator,
        request,
        score: score(random),
        uri: text(random),
        hash: hash(random),
        tag: tag(random).parse().ok()?,
    })))
}
