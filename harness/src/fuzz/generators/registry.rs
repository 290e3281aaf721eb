//! The Solana registry's lists and authority.
use crate::{
    fuzz::{
        random::Random,
        world::{FACILITATORS, Focus, TOKENS, USUAL, World, any_actor},
    },
    model::{
        AcceptRegistryAuthority, Actor, ListFacilitator, ListPaymentToken, Operation,
        ProposeRegistryAuthority,
    },
};

/// Of all labels, the usual ones; where lists are to be filled, mostly those that are not listed.
fn candidate(
    world: &World,
    all: &[&str],
    is_listed: impl Fn(&Actor) -> bool,
    random: &mut Random,
) -> Option<Actor> {
    let is_filling = world.focus == Focus::Lists;
    let labels = if is_filling { all } else { &all[..USUAL] };
    let mut labels: Vec<_> = labels.iter().map(|it| Actor::from(*it)).collect();
    if is_filling && random.percent(85) && !labels.iter().all(&is_listed) {
        labels.retain(|it| !is_listed(it));
    }
    random.pick(&labels).cloned()
}

/// Seldom taken off again, where lists are to be filled.
fn listed(world: &World, random: &mut Random) -> bool {
    random.percent(if world.focus == Focus::Lists { 97 } else { 85 })
}

pub(super) fn list_payment_token(world: &World, _: u64, random: &mut Random) -> Option<Operation> {
    Some(Operation::ListPaymentToken(ListPaymentToken {
        by: world.svm.registry_authority().clone(),
        token: candidate(world, TOKENS, |it| world.svm.lists_token(it), random)?,
        listed: listed(world, random),
    }))
}

pub(super) fn list_facilitator(world: &World, _: u64, random: &mut Random) -> Option<Operation> {
    Some(Operation::ListFacilitator(ListFacilitator {
        by: world.svm.registry_authority().clone(),
        facilitator: candidate(
            world,
            FACILITATORS,
            |it| world.svm.lists_facilitator(it),
            random,
        )?,
        listed: listed(world, random),
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
