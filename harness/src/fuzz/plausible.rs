//! Operations that a registry ought to accept, most of the time.
use super::{
    dice::Dice,
    world::{TOKENS, World, any_actor},
};
use crate::model::{
    Actor, Agent, Authorization, Bytes, Bytes32, Chain, Consent, DEPLOYER, Feedback, Form, Integer,
    Metadata, OpenFeedback, Operation, PaddedTag, Payment, Response, ValidationAnswer,
};

const AGENTS_MAX: usize = 5;
const FACILITATORS: &[&str] = &["erin", "frank"];
const TAGS: &[&str] = &["", "uptime", "starred", "é-tag"];

type Generator = fn(&World, u64, &mut Dice) -> Option<Operation>;

/// Seconds until the next step: one mostly, sometimes past a deadline or an expiry.
pub fn wait(dice: &mut Dice) -> u64 {
    let spread = [(80, 1), (10, 7), (6, 150), (3, 301), (1, 86_400)];
    dice.weigh(&spread).unwrap_or(1)
}

/// One operation at `time`.
pub fn operation(world: &World, time: u64, dice: &mut Dice) -> Operation {
    const KINDS: &[(u64, Generator)] = &[
        (4, register),
        (3, set_agent_uri),
        (4, set_metadata),
        (6, set_agent_wallet),
        (2, unset_agent_wallet),
        (5, transfer),
        (1, burn),
        (2, approve),
        (2, set_operator),
        (2, set_feedback_authority),
        (2, set_auth_schemes),
        (3, list_payment_token),
        (3, list_facilitator),
        (1, propose_registry_authority),
        (1, accept_registry_authority),
        (20, give_feedback),
        (6, revoke_feedback),
        (5, append_response),
        (14, attach_payment_proof),
        (3, summary),
        (14, give_open_feedback),
        (5, revoke_open_feedback),
        (4, append_open_response),
        (5, open_summary),
        (6, validation_request),
        (6, validation_response),
    ];
    if world.agents.is_empty() {
        return new_agent(world, dice);
    }
    (0..KINDS.len())
        .find_map(|_| dice.weigh(KINDS)?(world, time, dice))
        .unwrap_or_else(|| new_agent(world, dice))
}

/// Either chain's view: they differ after a declared variance.
pub fn either(dice: &mut Dice) -> Chain {
    if dice.percent(50) {
        Chain::Evm
    } else {
        Chain::Svm
    }
}

pub fn any_agent(world: &World, dice: &mut Dice) -> Agent {
    dice.pick(&world.agents)
        .cloned()
        .unwrap_or_else(|| Agent::from("nobody"))
}

pub fn owner_of(world: &World, agent: &Agent, dice: &mut Dice) -> Option<Actor> {
    let record = world.record(either(dice), agent)?;
    Some(record.owner.clone())
}

/// Somebody who may review the agent on either chain.
pub fn outsider(world: &World, agent: &Agent, dice: &mut Dice) -> Option<Actor> {
    (0..8).map(|_| any_actor(dice)).find(|actor| {
        Chain::ALL
            .iter()
            .all(|chain| !world.model(*chain).is_insider(agent, actor))
    })
}

fn text(dice: &mut Dice) -> String {
    match dice.below(8) {
        0 => String::new(),
        1 => "u".repeat(200),
        number => format!("https://a.example/{number}"),
    }
}

pub fn tag(dice: &mut Dice) -> String {
    dice.pick(TAGS)
        .map_or_else(String::new, |tag| (*tag).to_owned())
}

fn padded_tag(dice: &mut Dice) -> PaddedTag {
    match dice.below(10) {
        0 => PaddedTag(dice.word()), // opaque on chain (R14)
        _ => tag(dice).parse().unwrap_or_default(),
    }
}

fn hash(dice: &mut Dice) -> Bytes32 {
    match dice.percent(50) {
        true => Bytes32(dice.word()),
        false => Bytes32::default(),
    }
}

fn score(dice: &mut Dice) -> u8 {
    let spread = [(1, 0), (1, 100), (1, 99), (1, 1)];
    match dice.percent(30) {
        true => dice.weigh(&spread).unwrap_or(0),
        false => u8::try_from(dice.below(101)).unwrap_or(100),
    }
}

fn new_agent(world: &World, dice: &mut Dice) -> Operation {
    let metadata = (0..dice.below(3)).map(|_| metadata(dice)).collect();
    Operation::Register {
        agent: Agent(format!("agent-{}", world.registrations)),
        by: any_actor(dice),
        uri: text(dice),
        metadata,
    }
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

fn register(world: &World, _: u64, dice: &mut Dice) -> Option<Operation> {
    (world.agents.len() < AGENTS_MAX).then(|| new_agent(world, dice))
}

fn set_agent_uri(world: &World, _: u64, dice: &mut Dice) -> Option<Operation> {
    let agent = any_agent(world, dice);
    Some(Operation::SetAgentUri {
        by: owner_of(world, &agent, dice)?,
        agent,
        uri: text(dice),
    })
}

fn set_metadata(world: &World, _: u64, dice: &mut Dice) -> Option<Operation> {
    let agent = any_agent(world, dice);
    let Metadata { key, value } = metadata(dice);
    Some(Operation::SetMetadata {
        by: owner_of(world, &agent, dice)?,
        agent,
        key,
        value,
    })
}

fn set_agent_wallet(world: &World, time: u64, dice: &mut Dice) -> Option<Operation> {
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
    Some(Operation::SetAgentWallet {
        agent,
        by: owner,
        wallet: Some(wallet),
        consent: Some(consent),
    })
}

fn unset_agent_wallet(world: &World, _: u64, dice: &mut Dice) -> Option<Operation> {
    let agent = any_agent(world, dice);
    Some(Operation::UnsetAgentWallet {
        by: owner_of(world, &agent, dice)?,
        agent,
    })
}

fn transfer(world: &World, _: u64, dice: &mut Dice) -> Option<Operation> {
    let agent = any_agent(world, dice);
    Some(Operation::Transfer {
        by: owner_of(world, &agent, dice)?,
        agent,
        to: any_actor(dice),
        into_mutable_account: false,
    })
}

/// Seldom: a burned agent can do little.
fn burn(world: &World, _: u64, dice: &mut Dice) -> Option<Operation> {
    let agent = any_agent(world, dice);
    let owner = world.record(Chain::Svm, &agent)?.owner.clone();
    dice.percent(40)
        .then_some(Operation::Burn { agent, by: owner })
}

fn approve(world: &World, _: u64, dice: &mut Dice) -> Option<Operation> {
    let agent = any_agent(world, dice);
    Some(Operation::Approve {
        by: world.record(Chain::Evm, &agent)?.owner.clone(),
        agent,
        operator: dice.percent(70).then(|| any_actor(dice)),
    })
}

fn set_operator(_: &World, _: u64, dice: &mut Dice) -> Option<Operation> {
    Some(Operation::SetOperator {
        by: any_actor(dice),
        operator: any_actor(dice),
        approved: dice.percent(40),
    })
}

fn set_feedback_authority(world: &World, _: u64, dice: &mut Dice) -> Option<Operation> {
    let agent = any_agent(world, dice);
    Some(Operation::SetFeedbackAuthority {
        by: world.record(Chain::Svm, &agent)?.owner.clone(),
        agent,
        authority: dice.percent(50).then(|| any_actor(dice)),
    })
}

fn set_auth_schemes(world: &World, _: u64, dice: &mut Dice) -> Option<Operation> {
    let agent = any_agent(world, dice);
    Some(Operation::SetAuthSchemes {
        by: world.record(Chain::Svm, &agent)?.owner.clone(),
        agent,
        schemes: dice.weigh(&[(1, 1), (2, 2), (5, 3)])?,
    })
}

fn list_payment_token(world: &World, _: u64, dice: &mut Dice) -> Option<Operation> {
    Some(Operation::ListPaymentToken {
        by: world.svm.registry_authority().clone(),
        token: (*dice.pick(TOKENS)?).into(),
        listed: dice.percent(85),
    })
}

fn list_facilitator(world: &World, _: u64, dice: &mut Dice) -> Option<Operation> {
    Some(Operation::ListFacilitator {
        by: world.svm.registry_authority().clone(),
        facilitator: (*dice.pick(FACILITATORS)?).into(),
        listed: dice.percent(85),
    })
}

fn propose_registry_authority(world: &World, _: u64, dice: &mut Dice) -> Option<Operation> {
    Some(Operation::ProposeRegistryAuthority {
        by: world.svm.registry_authority().clone(),
        successor: any_actor(dice),
    })
}

fn accept_registry_authority(world: &World, _: u64, dice: &mut Dice) -> Option<Operation> {
    let proposed = world.svm.proposed_authority().cloned();
    Some(Operation::AcceptRegistryAuthority {
        by: proposed.unwrap_or_else(|| any_actor(dice)),
    })
}

fn give_feedback(world: &World, time: u64, dice: &mut Dice) -> Option<Operation> {
    let agent = any_agent(world, dice);
    let by = outsider(world, &agent, dice)?;
    let fitting: Vec<_> = world
        .authorizations
        .iter()
        .filter(|made| made.agent == agent && made.client == by)
        .collect();
    let authorization = match dice.pick(&fitting) {
        Some(made) if dice.percent(40) => (*made).clone(),
        _ => authorization(world, &agent, &by, time, dice)?,
    };
    Some(Operation::GiveFeedback(Box::new(Feedback {
        agent,
        by,
        score: score(dice),
        tag1: padded_tag(dice),
        tag2: padded_tag(dice),
        uri: text(dice),
        hash: hash(dice),
        index: None,
        authorization: Some(authorization),
    })))
}

fn authorization(
    world: &World,
    agent: &Agent,
    client: &Actor,
    time: u64,
    dice: &mut Dice,
) -> Option<Authorization> {
    let chain = either(dice);
    let form = match chain {
        Chain::Svm if dice.percent(25) => Form::X84,
        _ if dice.percent(25) => Form::DraftV1,
        _ => Form::Bounded,
    };
    let last_index = world.record(chain, agent)?.authorized.last_index(client);
    Some(Authorization {
        signer: world.model(chain).signer_of(agent)?.clone(),
        agent: agent.clone(),
        client: client.clone(),
        index_limit: last_index + dice.weigh(&[(4, 1), (3, 2), (2, 50)])?,
        expiry: time + dice.weigh(&[(3, 1), (3, 200), (4, 100_000)])?,
        form,
        tamper: None,
    })
}

/// An entry of the authorized profile: its agent, its client, its index.
pub fn entry(world: &World, dice: &mut Dice) -> Option<(Agent, Actor, u64)> {
    let chain = either(dice);
    let agent = any_agent(world, dice);
    let authorized = &world.record(chain, &agent)?.authorized;
    let client = dice.pick(&authorized.clients)?.clone();
    let index = 1 + dice.below(authorized.last_index(&client));
    Some((agent, client, index))
}

/// As [`entry`], of the open profile.
pub fn open_entry(world: &World, dice: &mut Dice) -> Option<(Agent, Actor, u64)> {
    let chain = either(dice);
    let agent = any_agent(world, dice);
    let open = &world.record(chain, &agent)?.open;
    let client = dice.pick(&open.clients)?.clone();
    let index = 1 + dice.below(open.last_index(&client));
    Some((agent, client, index))
}

fn revoke_feedback(world: &World, _: u64, dice: &mut Dice) -> Option<Operation> {
    let (agent, by, index) = entry(world, dice)?;
    Some(Operation::RevokeFeedback { agent, by, index })
}

fn revoke_open_feedback(world: &World, _: u64, dice: &mut Dice) -> Option<Operation> {
    let (agent, by, index) = open_entry(world, dice)?;
    Some(Operation::RevokeOpenFeedback { agent, by, index })
}

fn response((agent, client, index): (Agent, Actor, u64), dice: &mut Dice) -> Response {
    Response {
        agent,
        by: any_actor(dice),
        client,
        index,
        uri: "https://a.example/response".to_owned(),
        hash: hash(dice),
    }
}

fn append_response(world: &World, _: u64, dice: &mut Dice) -> Option<Operation> {
    let entry = entry(world, dice)?;
    Some(Operation::AppendResponse(response(entry, dice)))
}

fn append_open_response(world: &World, _: u64, dice: &mut Dice) -> Option<Operation> {
    let entry = open_entry(world, dice)?;
    Some(Operation::AppendOpenResponse(response(entry, dice)))
}

/// An entry that could still be paid for: its agent, its client, its index, the agent's wallet.
fn payable(world: &World, dice: &mut Dice) -> Option<(Agent, Actor, u64, Actor)> {
    let mut open = Vec::new();
    for (agent, record) in &world.svm.state().agents {
        for (client, entries) in &record.authorized.entries {
            let Some(wallet) = record.wallet.as_ref().filter(|wallet| *wallet != client) else {
                continue;
            };
            let unpaid = (1..)
                .zip(entries)
                .filter(|(_, entry)| !entry.revoked && entry.payment.is_none())
                .filter(|_| !world.svm.is_insider(agent, client));
            open.extend(unpaid.map(|(index, _)| (agent, client, index, wallet)));
        }
    }
    let (agent, client, index, wallet) = *dice.pick(&open)?;
    Some((agent.clone(), client.clone(), index, wallet.clone()))
}

fn attach_payment_proof(world: &World, time: u64, dice: &mut Dice) -> Option<Operation> {
    let (agent, client, index, payee) = payable(world, dice)?;
    let token = (*dice.pick(TOKENS)?).into();
    let facilitator = (*dice.pick(FACILITATORS)?).into();
    let is_listed = world.svm.lists_token(&token) && world.svm.lists_facilitator(&facilitator);
    is_listed.then(|| Operation::AttachPaymentProof {
        by: client.clone(),
        index,
        payment: Payment {
            facilitator,
            agent: agent.clone(),
            payer: client.clone(),
            payee,
            token,
            amount: 1 + dice.below(1_000_000),
            // Now and then one that was spent.
            task: format!("task-{}", dice.below(world.tasks + 10)),
            expiry: time + if dice.percent(30) { 1 } else { 100_000 },
            tamper: None,
        },
        agent,
        client,
    })
}

fn summary(world: &World, _: u64, dice: &mut Dice) -> Option<Operation> {
    Some(Operation::Summary {
        agent: any_agent(world, dice),
    })
}

fn give_open_feedback(world: &World, _: u64, dice: &mut Dice) -> Option<Operation> {
    let agent = any_agent(world, dice);
    Some(Operation::GiveOpenFeedback(Box::new(OpenFeedback {
        by: outsider(world, &agent, dice)?,
        agent,
        value: Integer(dice.integer(38)),
        decimals: u8::try_from(dice.weigh(&[(4, 0), (2, 2), (2, 18), (1, 7)])?).ok()?,
        tag1: tag(dice),
        tag2: tag(dice),
        endpoint: text(dice),
        uri: text(dice),
        hash: hash(dice),
        index: None,
    })))
}

fn open_summary(world: &World, _: u64, dice: &mut Dice) -> Option<Operation> {
    let agent = any_agent(world, dice);
    let listed = world.record(either(dice), &agent)?.open.clients.clone();
    let clients = (0..=dice.below(4))
        .map(|_| match dice.pick(&listed) {
            Some(client) if dice.percent(85) => client.clone(),
            _ => any_actor(dice),
        })
        .collect();
    Some(Operation::OpenSummary {
        agent,
        clients,
        tag1: tag(dice),
        tag2: if dice.percent(70) {
            String::new()
        } else {
            tag(dice)
        },
    })
}

/// Few validators and hashes with few prefixes, so that they meet.
fn validation_request(world: &World, _: u64, dice: &mut Dice) -> Option<Operation> {
    let agent = any_agent(world, dice);
    Some(Operation::ValidationRequest {
        by: owner_of(world, &agent, dice)?,
        agent,
        validator: Some(any_actor(dice)),
        request: Bytes32(dice.word()),
        uri: text(dice),
    })
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

fn validation_response(world: &World, _: u64, dice: &mut Dice) -> Option<Operation> {
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

/// Not one of the actors' labels in [`plausible`](self)'s worlds that holds a right.
pub fn stranger(world: &World, agent: &Agent, dice: &mut Dice) -> Option<Actor> {
    outsider(world, agent, dice).filter(|actor| actor.0 != DEPLOYER)
}
