//! Validation requests and answers.
use super::value::{any_agent, either, hash, owner_of, score, tag, text};
use crate::{
    fuzz::{
        dice::Dice,
        world::{World, any_actor},
    },
    model::{Actor, Agent, Bytes32, Operation, ValidationAnswer, ValidationRequest},
};

/// Few validators and hashes with few prefixes, so that they meet.
pub(super) fn validation_request(world: &World, _: u64, dice: &mut Dice) -> Option<Operation> {
    let agent = any_agent(world, dice);
    Some(Operation::ValidationRequest(ValidationRequest {
        by: owner_of(world, &agent, dice)?,
        agent,
        validator: Some(any_actor(dice)),
        request: Bytes32(dice.word()),
        uri: text(dice),
    }))
}

/// A request: its agent, its validator, its hash.
pub fn request(world: &World, dice: &mut Dice) -> Option<(Agent, Actor, Bytes32)> {
    let agent = any_agent(world, dice);
    let requests = &world.record(either(dice), &agent)?.validations.requests;
    let all: Vec<_> = requests
        .iter()
        .flat_map(|(hash, validators)| validators.keys().map(move |it| (it.clone(), *hash)))
        .collect();
    let (validator, hash) = dice.pick(&all)?.clone();
    Some((agent, validator, hash))
}

pub(super) fn validation_response(world: &World, _: u64, dice: &mut Dice) -> Option<Operation> {
    let (agent, validator, request) = request(world, dice)?;
    Some(Operation::ValidationResponse(Box::new(ValidationAnswer {
        agent,
        by: validator.clone(),
        validator,
        request,
        score: score(dice),
        uri: text(dice),
        hash: hash(dice),
        tag: tag(dice).parse().ok()?,
    })))
}
