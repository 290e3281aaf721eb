//! The Solana registry's lists and authority.
use crate::{
    fuzz::{
        random::Random,
        world::{TOKENS, World, any_actor},
    },
    model::{
        AcceptRegistryAuthority, ListFacilitator, ListPaymentToken, Operation,
        ProposeRegistryAuthority,
    },
};

pub(super) const FACILITATORS: &[&str] = &["erin", "frank"];

pub(super) fn list_payment_token(world: &World, _: u64, random: &mut Random) -> Option<Operation> {
    Some(Operation::ListPaymentToken(ListPaymentToken {
        by: world.svm.registry_authority().clone(),
        token: (*random.pick(TOKENS)?).into(),
        listed: random.percent(85),
    }))
}

pub(super) fn list_facilitator(world: &World, _: u64, random: &mut Random) -> Option<Operation> {
    Some(Operation::ListFacilitator(ListFacilitator {
        by: world.svm.registry_authority().clone(),
        facilitator: (*random.pick(FACILITATORS)?).into(),
        listed: random.percent(85),
    }))
}

pub(super) fn propose_registry_authority(
    world: &World,
    _: u64,
    random: &mut Random,
) -> Option<Operation> {
    Some(Operation::ProposeRegistryAuthority(
        ProposeRegistryAuthority {
            by: world.svm.registry_authority().clone(),
            successor: any_actor(random),
        },
    ))
}

pub(super) fn accept_registry_authority(
    world: &World,
    _: u64,
    random: &mut Random,
) -> Option<Operation> {
    let proposed = world.svm.proposed_authority().cloned();
    Some(Operation::AcceptRegistryAuthority(
        AcceptRegistryAuthority {
            by: proposed.unwrap_or_else(|| any_actor(random)),
        },
    ))
}
