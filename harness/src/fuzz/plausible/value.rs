//! Values that operations are made of.
use crate::{
    fuzz::{
        dice::Dice,
        world::{World, any_actor},
    },
    model::{Actor, Agent, Bytes32, Chain, DEPLOYER, PaddedTag},
};

const TAGS: &[&str] = &["", "uptime", "starred", "é-tag"];

/// Either chain's view: they differ after a declared variance.
pub(super) fn either(dice: &mut Dice) -> Chain {
    if dice.percent(50) {
        Chain::Evm
    } else {
        Chain::Svm
    }
}

pub(super) fn any_agent(world: &World, dice: &mut Dice) -> Agent {
    dice.pick(&world.agents)
        .cloned()
        .unwrap_or_else(|| Agent::from("nobody"))
}

pub(super) fn owner_of(world: &World, agent: &Agent, dice: &mut Dice) -> Option<Actor> {
    let record = world.record(either(dice), agent)?;
    Some(record.owner.clone())
}

/// Somebody who may review the agent on either chain.
pub(super) fn outsider(world: &World, agent: &Agent, dice: &mut Dice) -> Option<Actor> {
    (0..8).map(|_| any_actor(dice)).find(|actor| {
        Chain::ALL
            .iter()
            .all(|chain| !world.model(*chain).is_insider(agent, actor))
    })
}

/// Not one of the actors' labels in [`plausible`](self)'s worlds that holds a right.
pub fn stranger(world: &World, agent: &Agent, dice: &mut Dice) -> Option<Actor> {
    outsider(world, agent, dice).filter(|actor| actor.0 != DEPLOYER)
}

pub(super) fn text(dice: &mut Dice) -> String {
    match dice.below(8) {
        0 => String::new(),
        1 => "u".repeat(200),
        number => format!("https://a.example/{number}"),
    }
}

pub(super) fn tag(dice: &mut Dice) -> String {
    dice.pick(TAGS)
        .map_or_else(String::new, |tag| (*tag).to_owned())
}

pub(super) fn padded_tag(dice: &mut Dice) -> PaddedTag {
    match dice.below(10) {
        0 => PaddedTag(dice.word()), // opaque on chain (R14)
        _ => tag(dice).parse().unwrap_or_default(),
    }
}

pub(super) fn hash(dice: &mut Dice) -> Bytes32 {
    match dice.percent(50) {
        true => Bytes32(dice.word()),
        false => Bytes32::default(),
    }
}

pub(super) fn score(dice: &mut Dice) -> u8 {
    let spread = [(1, 0), (1, 100), (1, 99), (1, 1)];
    match dice.percent(30) {
        true => dice.weigh(&spread).unwrap_or(0),
        false => u8::try_from(dice.below(101)).unwrap_or(100),
    }
}
