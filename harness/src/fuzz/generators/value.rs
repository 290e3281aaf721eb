//! Values that operations are made of.
use crate::{
    fuzz::{
        random::Random,
        world::{Focus, World, any_actor},
    },
    model::{Actor, Agent, Bytes32, Chain, DEPLOYER, PaddedTag, Profile},
};

/// The last one has the most bytes that a tag may have (R14).
const TAGS: &[&str] = &[
    "",
    "uptime",
    "starred",
    "é-tag",
    "thirty-two bytes in a single tag",
];

/// Either chain's view: they differ after a declared variance.
pub(super) fn either(random: &mut Random) -> Chain {
    if random.percent(50) {
        Chain::Evm
    } else {
        Chain::Svm
    }
}

pub(super) fn any_agent(world: &World, random: &mut Random) -> Agent {
    random
        .pick(&world.agents)
        .cloned()
        .unwrap_or_else(|| Agent::from("nobody"))
}

/// Sometimes one that nobody registers.
pub(super) fn any_or_unknown_agent(world: &World, random: &mut Random) -> Agent {
    if random.percent(10) {
        Agent::from("nobody")
    } else {
        any_agent(world, random)
    }
}

pub(super) fn owner_of(world: &World, agent: &Agent, random: &mut Random) -> Option<Actor> {
    let record = world.record(either(random), agent)?;
    Some(record.owner.clone())
}

/// Somebody who may review the agent on either chain.
pub(super) fn outsider(world: &World, agent: &Agent, random: &mut Random) -> Option<Actor> {
    (0..8).map(|_| any_actor(random)).find(|actor| {
        Chain::ALL
            .iter()
            .all(|chain| !world.model(*chain).is_insider(agent, actor))
    })
}

/// Somebody who may review the agent, now and then one who revoked what they said last (R8).
pub(super) fn reviewer(
    world: &World,
    profile: Profile,
    agent: &Agent,
    random: &mut Random,
) -> Option<Actor> {
    let often = if world.focus == Focus::LastEntries {
        60
    } else {
        15
    };
    let known = revoked_last(world, profile, agent);
    match random.pick(&known) {
        Some(client) if random.percent(often) => Some(client.clone()),
        _ => outsider(world, agent, random),
    }
}

/// Those who may review the agent, and whose last entry on Solana is revoked.
fn revoked_last(world: &World, profile: Profile, agent: &Agent) -> Vec<Actor> {
    let Some(record) = world.record(Chain::Svm, agent) else {
        return Vec::new();
    };
    let is_insider = |actor: &Actor| {
        let mut chains = Chain::ALL.iter();
        chains.any(|chain| world.model(*chain).is_insider(agent, actor))
    };
    let mut clients: Vec<Actor> = match profile {
        Profile::Authorized => {
            let entries = record.authorized.entries.iter();
            let revoked = entries.filter(|(_, own)| own.last().is_some_and(|it| it.revoked));
            revoked.map(|(client, _)| client.clone()).collect()
        }
        Profile::Open => {
            let entries = record.open.entries.iter();
            let revoked = entries.filter(|(_, own)| own.last().is_some_and(|it| it.revoked));
            revoked.map(|(client, _)| client.clone()).collect()
        }
    };
    clients.retain(|it| !is_insider(it));
    clients
}

/// One of a client's entries, the last one more often.
pub(super) fn index_of(world: &World, last: u64, random: &mut Random) -> u64 {
    let often = if world.focus == Focus::LastEntries {
        80
    } else {
        30
    };
    if random.percent(often) {
        last
    } else {
        1 + random.below(last)
    }
}

/// Not one of the actors' labels in [`generators`](self)'s worlds that holds a right.
pub fn stranger(world: &World, agent: &Agent, random: &mut Random) -> Option<Actor> {
    outsider(world, agent, random).filter(|actor| actor.0 != DEPLOYER)
}

pub(super) fn text(random: &mut Random) -> String {
    match random.below(8) {
        0 => String::new(),
        1 => "u".repeat(200),
        number => format!("https://a.example/{number}"),
    }
}

pub(super) fn tag(random: &mut Random) -> String {
    random
        .pick(TAGS)
        .map_or_else(String::new, |tag| (*tag).to_owned())
}

pub(super) fn padded_tag(random: &mut Random) -> PaddedTag {
    match random.below(10) {
        0 => PaddedTag(random.word()), // opaque on chain (R14)
        _ => tag(random).parse().unwrap_or_default(),
    }
}

pub(super) fn hash(random: &mut Random) -> Bytes32 {
    if random.percent(50) {
        Bytes32(random.word())
    } else {
        Bytes32::default()
    }
}

pub(super) fn score(random: &mut Random) -> u8 {
    let spread = [(1, 0), (1, 100), (1, 99), (1, 1)];
    if random.percent(30) {
        random.weigh(&spread).unwrap_or(0)
    } else {
        u8::try_from(random.below(101)).unwrap_or(100)
    }
}
