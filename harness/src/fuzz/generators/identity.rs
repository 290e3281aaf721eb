//! Agents, their metadata, wallets and settings.
use super::value::{any_agent, owner_of, text};
use crate::{
    fuzz::{
        random::Random,
        world::{World, any_actor},
    },
    model::{
        Agent, Approve, Burn, Bytes, Chain, Consent, Metadata, Operation, Register, SetAgentUri,
        SetAgentWallet, SetAuthSchemes, SetFeedbackAuthority, SetMetadata, SetOperator, Transfer,
        UnsetAgentWallet,
    },
};

const AGENTS_MAX: usize = 5;

pub(super) fn new_agent(world: &World, random: &mut Random) -> Operation {
    let metadata = (0..random.below(3)).map(|_| metadata(random)).collect();
    Operation::Register(Register {
        agent: Agent(format!("agent-{}", world.registrations)),
        by: any_actor(random),
        uri: text(random),
        metadata,
    })
}

fn metadata(random: &mut Random) -> Metadata {
    const KEYS: &[&str] = &["name", "version", "", "agentwallet"];
    let length = random.weigh(&[(6, 4), (2, 0), (1, 64)]).unwrap_or(0);
    Metadata {
        key: random
            .pick(KEYS)
            .map_or_else(String::new, |key| (*key).to_owned()),
        value: Bytes(random.word().iter().copied().cycle().take(length).collect()),
    }
}

pub(super) fn register(world: &World, _: u64, random: &mut Random) -> Option<Operation> {
    (world.agents.len() < AGENTS_MAX).then(|| new_agent(world, random))
}

pub(super) fn set_agent_uri(world: &World, _: u64, random: &mut Random) -> Option<Operation> {
    let agent = any_agent(world, random);
    Some(Operation::SetAgentUri(SetAgentUri {
        by: owner_of(world, &agent, random)?,
        agent,
        uri: text(random),
    }))
}

pub(super) fn set_metadata(world: &World, _: u64, random: &mut Random) -> Option<Operation> {
    let agent = any_agent(world, random);
    let Metadata { mut key, mut value } = metadata(random);
    if random.percent(10) {
        // The longest that R17 allows. Register's transaction has no room for them.
        (key, value) = ("k".repeat(32), Bytes(vec![0x5a; 256]));
    }
    Some(Operation::SetMetadata(SetMetadata {
        by: owner_of(world, &agent, random)?,
        agent,
        key,
        value,
    }))
}

pub(super) fn set_agent_wallet(world: &World, time: u64, random: &mut Random) -> Option<Operation> {
    let agent = any_agent(world, random);
    let owner = owner_of(world, &agent, random)?;
    let wallet = any_actor(random);
    let consent = Consent {
        signer: wallet.clone(),
        agent: agent.clone(),
        wallet: wallet.clone(),
        owner: owner.clone(),
        deadline: time + random.weigh(&[(2, 0), (2, 300), (6, 100)]).unwrap_or(0),
    };
    Some(Operation::SetAgentWallet(SetAgentWallet {
        agent,
        by: owner,
        wallet: Some(wallet),
        consent: Some(consent),
    }))
}

pub(super) fn unset_agent_wallet(world: &World, _: u64, random: &mut Random) -> Option<Operation> {
    let agent = any_agent(world, random);
    Some(Operation::UnsetAgentWallet(UnsetAgentWallet {
        by: owner_of(world, &agent, random)?,
        agent,
    }))
}

pub(super) fn transfer(world: &World, _: u64, random: &mut Random) -> Option<Operation> {
    let agent = any_agent(world, random);
    Some(Operation::Transfer(Transfer {
        by: owner_of(world, &agent, random)?,
        agent,
        to: any_actor(random),
        into_mutable_account: false,
    }))
}

/// Seldom: a burned agent can do little.
pub(super) fn burn(world: &World, _: u64, random: &mut Random) -> Option<Operation> {
    let agent = any_agent(world, random);
    let owner = world.record(Chain::Svm, &agent)?.owner.clone();
    random
        .percent(40)
        .then_some(Operation::Burn(Burn { agent, by: owner }))
}

pub(super) fn approve(world: &World, _: u64, random: &mut Random) -> Option<Operation> {
    let agent = any_agent(world, random);
    Some(Operation::Approve(Approve {
        by: world.record(Chain::Evm, &agent)?.owner.clone(),
        agent,
        operator: random.percent(70).then(|| any_actor(random)),
    }))
}

pub(super) fn set_operator(_: &World, _: u64, random: &mut Random) -> Option<Operation> {
    Some(Operation::SetOperator(SetOperator {
        by: any_actor(random),
        operator: any_actor(random),
        approved: random.percent(40),
    }))
}

pub(super) fn set_feedback_authority(
    world: &World,
    _: u64,
    random: &mut Random,
) -> Option<Operation> {
    let agent = any_agent(world, random);
    Some(Operation::SetFeedbackAuthority(SetFeedbackAuthority {
        by: world.record(Chain::Svm, &agent)?.owner.clone(),
        agent,
        authority: random.percent(50).then(|| any_actor(random)),
        consents: true,
    }))
}

pub(super) fn set_auth_schemes(world: &World, _: u64, random: &mut Random) -> Option<Operation> {
    let agent = any_agent(world, random);
    Some(Operation::SetAuthSchemes(SetAuthSchemes {
        by: world.record(Chain::Svm, &agent)?.owner.clone(),
        agent,
        schemes: random.weigh(&[(1, 1), (2, 2), (5, 3)])?,
    }))
}
