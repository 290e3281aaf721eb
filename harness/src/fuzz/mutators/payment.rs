//! What a payment must be for.
use super::{another, statement::paid};
use crate::{
    fuzz::{
        random::Random,
        world::{UNLISTED_TOKEN, World},
    },
    model::{Operation, ProofVersion},
};

pub(super) fn unpaid(operation: &mut Operation, _: &World, _: u64, _: &mut Random) -> bool {
    paid(operation).map(|it| it.amount = 0).is_some()
}

pub(super) fn paid_in_the_future(
    operation: &mut Operation,
    _: &World,
    time: u64,
    random: &mut Random,
) -> bool {
    paid(operation)
        .map(|it| it.paid_at = time + 1 + random.below(1000))
        .is_some()
}

pub(super) fn by_another_payer(
    operation: &mut Operation,
    _: &World,
    _: u64,
    random: &mut Random,
) -> bool {
    paid(operation).is_some_and(|it| another(&mut it.payer, random))
}

pub(super) fn in_an_unknown_token(
    operation: &mut Operation,
    _: &World,
    _: u64,
    _: &mut Random,
) -> bool {
    paid(operation)
        .map(|it| it.token = UNLISTED_TOKEN.into())
        .is_some()
}

pub(super) fn by_an_unknown_facilitator(
    operation: &mut Operation,
    _: &World,
    _: u64,
    _: &mut Random,
) -> bool {
    paid(operation)
        .map(|it| it.facilitator = "alice".into())
        .is_some()
}

pub(super) fn of_the_first_version(
    operation: &mut Operation,
    _: &World,
    _: u64,
    _: &mut Random,
) -> bool {
    paid(operation)
        .map(|it| it.version = ProofVersion::V1)
        .is_some()
}
