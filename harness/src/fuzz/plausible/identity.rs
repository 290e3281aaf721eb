//! Agents, their metadata, wallets and settings.
use super::value::{any_agent, owner_of, text};
use crate::{
    fuzz::{
        dice::Dice,
        world::{World, any_actor},
    },
    model::{
        Agent, Approve, Burn, Bytes, Chain, Consent, Metadata, Operation, Register, SetAgentUri,
        SetAgentWallet, SetAuthSchemes, SetFeedbackAuthority, SetMetadata, SetOperator, Transfer,
        UnsetAgentWallet,
    },
};

const AGENTS_MAX: usize = 5;

pub(super) fn new_agent(world: &World, dice: &mut Dice) -> Operation {
    let metadata = (0..dice.below(3)).map(|_| metadata(dice)).collect();
    Operation::Register(Register {
        agent: Agent(format!("agent-{}", world.registrations)),
        by: any_actor(dice),
        uri: text(dice),
        metadata,
    })
}

fn metadata(dice: &mut Dice) -> Metadata {
    const KEYS: &[&str] = &["name", "version", "", "agentwallet"];
    let length = dice.weigh(&[(6, 4), (2, 0), (1, 64)]).unwrap_or(0);
    Metadata {
        key: dice
            .pick(KEYS)
            .map_or_else(String::new, |key| (*key).to_owned()),
        value: Bytes(dice.word().iter().copied().cycle().take(length).collect()),
    }
}

pub(super) fn register(world: &World, _: u64, dice: &mut Dice) -> Option<Operation> {
    (world.agents.len() < AGENTS_MAX).then(|| new_agent(world, dice))
}

pub(super) fn set_agent_uri(world: &World, _: u64, dice: &mut Dice) -> Option<Operation> {
    let agent = any_agent(world, dice);
    Some(Operation::SetAgentUri(SetAgentUri {
        by: owner_of(world, &agent, dice)?,
        agent,
        uri: text(dice),
    }))
}

pub(super) fn set_metadata(world: &World, _: u64, dice: &mut Dice) -> Option<Operation> {
    let agent = any_agent(world, dice);
    let Metadata { key, value } = metadata(dice);
    Some(Operation::SetMetadata(SetMetadata {
        by: owner_of(world, &agent, dice)?,
        agent,
        key,
        value,
    }))
}

pub(super) fn set_agent_wallet(world: &World, time: u64, dice: &mut Dice) -> Option<Operation> {
    let agent = any_agent(world, dice);
    let owner = owner_of(world, &agent, dice)?;
    let wallet = any_actor(dice);
    let consent = Consent {
        signer: wallet.clone(),
        agent: agent.clone(),
        wallet: wallet.clone(),
        owner: owner.clone(),
        deadline: time + dice.weigh(&[(2, 0), (2, 300), (6, 100)]).unwrap_or(0),
    };
    Some(Operation::SetAgentWallet(SetAgentWallet {
        agent,
        by: owner,
        wallet: Some(wallet),
        consent: Some(consent),
    }))
}

pub(super) fn unset_agent_wallet(world: &World, _: u64, dice: &mut Dice) -> Option<Operation> {
    let agent = any_agent(world, dice);
    Some(Operation::UnsetAgentWallet(UnsetAgentWallet {
        by: owner_of(world, &agent, dice)?,
        agent,
    }))
}

pub(super) fn transfer(world: &World, _: u64, dice: &mut Dice) -> Option<Operation> {
    let agent = any_agent(world, dice);
    Some(Operation::Transfer(Transfer {
        by: owner_of(world, &agent, dice)?,
        agent,
        to: any_actor(dice),
        into_mutable_account: false,
    }))
}

/// Seldom: a burned agent can do little.
pub(super) fn burn(world: &World, _: u64, dice: &mut Dice) -> Option<Operation> {
    let agent = any_agent(world, dice);
    let owner = world.record(Chain::Svm, &agent)?.owner.clone();
    dice.percent(40)
        .then_some(Operation::Burn(Burn { agent, by: owner }))
}

pub(super) fn approve(world: &World, _: u64, dice: &mut Dice) -> Option<Operation> {
    let agent = any_agent(world, dice);
    Some(Operation::Approve(Approve {
        by: world.record(Chain::Evm, &agent)?.owner.clone(),
        agent,
        operator: dice.percent(70).then(|| any_actor(dice)),
    }))
}

pub(super) fn set_operator(_: &World, _: u64, dice: &mut Dice) -> Option<Operation> {
    Some(Operation::SetOperator(SetOperator {
        by: any_actor(dice),
        operator: any_actor(dice),
        approved: dice.percent(40),
    }))
}

pub(super) fn set_feedback_authority(world: &World, _: u64, dice: &mut Dice) -> Option<Operation> {
    let agent = any_agent(world, dice);
    Some(Operation::SetFeedbackAuthority(SetFeedbackAuthority {
        by: world.record(Chain::Svm, &agent)?.owner.clone(),
        agent,
        authority: dice.percent(50).then(|| any_actor(dice)),
    }))
}

pub(super) fn set_auth_schemes(world: &World, _: u64, dice: &mut Dice) -> Option<Operation> {
    let agent = any_agent(world, dice);
    Some(Operation::SetAuthSchemes(SetAuthSchemes {
        by: world.record(Chain::Svm, &agent)?.owner.clone(),
        agent,
        schemes: dice.weigh(&[(1, 1), (2, 2), (5, 3)])?,
    }))
}
