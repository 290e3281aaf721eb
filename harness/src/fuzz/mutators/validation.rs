//! Validation requests and answers.
use super::another;
use crate::{
    fuzz::{generators, random::Random, world::World},
    model::{Bytes32, Chain, Operation, ValidationRequest},
};

pub(super) fn no_validator(operation: &mut Operation, _: &World, _: u64, _: &mut Random) -> bool {
    mutate!(operation, Operation::ValidationRequest(ValidationRequest { validator, .. }) => *validator = None)
}

/// A request that both chains have, of the same agent and validator.
pub(super) fn request_exists(
    operation: &mut Operation,
    world: &World,
    _: u64,
    random: &mut Random,
) -> bool {
    let Some((of_agent, of_validator, hash)) = generators::request(world, random) else {
        return false;
    };
    let is_on = |chain| {
        let record = world.record(chain, &of_agent);
        record
            .and_then(|record| record.validations.requests.get(&hash))
            .is_some_and(|validators| validators.contains_key(&of_validator))
    };
    if !Chain::ALL.into_iter().all(is_on) {
        return false;
    }
    mutate!(operation, Operation::ValidationRequest(ValidationRequest { agent, validator, request, .. }) => {
        (*agent, *validator, *request) = (of_agent, Some(of_validator), hash);
    })
}

pub(super) fn request_prefix_collides(
    operation: &mut Operation,
    world: &World,
    _: u64,
    random: &mut Random,
) -> bool {
    let Operation::ValidationRequest(ValidationRequest {
        agent,
        validator: Some(validator),
        request,
        ..
    }) = operation
    else {
        return false;
    };
    let Some(record) = world.record(Chain::Svm, agent) else {
        return false;
    };
    let mut word = random.word();
    let requests = record.validations.requests.iter();
    let taken: Vec<_> = requests
        .flat_map(|(hash, validators)| validators.keys().map(move |it| (hash, it)))
        .collect();
    let Some((hash, of_validator)) = random.pick(&taken) else {
        return false;
    };
    word[..8].copy_from_slice(&hash.0[..8]);
    (*validator, *request) = ((*of_validator).clone(), Bytes32(word));
    true
}

pub(super) fn unknown_request(
    operation: &mut Operation,
    _: &World,
    _: u64,
    random: &mut Random,
) -> bool {
    let word = Bytes32(random.word());
    mutate!(operation, Operation::ValidationResponse(answer) => answer.request = word)
}

pub(super) fn not_the_validator(
    operation: &mut Operation,
    _: &World,
    _: u64,
    random: &mut Random,
) -> bool {
    match operation {
        Operation::ValidationResponse(answer) => another(&mut answer.by, random),
        _ => false,
    }
}
