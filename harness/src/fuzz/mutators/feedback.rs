//! Feedback of both profiles, its entries and summaries.
use super::ghost;
use crate::{
    fuzz::{
        random::Random,
        world::{World, any_actor},
    },
    model::{
        Actor, Agent, AttachPaymentProof, Chain, Integer, OpenFeedback, OpenSummaryQuery,
        Operation, Profile, Revocation,
    },
};

pub(super) fn unknown_entry_agent(
    operation: &mut Operation,
    _: &World,
    _: u64,
    _: &mut Random,
) -> bool {
    match operation {
        Operation::RevokeFeedback(Revocation { agent, .. })
        | Operation::RevokeOpenFeedback(Revocation { agent, .. })
        | Operation::AttachPaymentProof(AttachPaymentProof { agent, .. }) => *agent = ghost(),
        Operation::AppendResponse(response) | Operation::AppendOpenResponse(response) => {
            response.agent = ghost();
        }
        _ => return false,
    }
    true
}

fn open(operation: &mut Operation) -> Option<&mut OpenFeedback> {
    match operation {
        Operation::GiveOpenFeedback(feedback) => Some(feedback),
        _ => None,
    }
}

pub(super) fn long_tag(operation: &mut Operation, _: &World, _: u64, random: &mut Random) -> bool {
    let Some(feedback) = open(operation) else {
        return false;
    };
    if random.percent(50) {
        feedback.tag1 = "t".repeat(33);
    } else {
        feedback.tag2 = "é".repeat(17); // 34 bytes in 17 letters
    }
    true
}

pub(super) fn long_endpoint(operation: &mut Operation, _: &World, _: u64, _: &mut Random) -> bool {
    let changed = open(operation).map(|it| it.endpoint = "e".repeat(201));
    changed.is_some()
}

pub(super) fn decimals_above_18(
    operation: &mut Operation,
    _: &World,
    _: u64,
    _: &mut Random,
) -> bool {
    open(operation).map(|it| it.decimals = 19).is_some()
}

pub(super) fn value_above_the_limit(
    operation: &mut Operation,
    _: &World,
    _: u64,
    random: &mut Random,
) -> bool {
    let limit = 10i128.pow(38);
    let beyond = [limit + 1, -limit - 1, i128::MAX, i128::MIN];
    let value = *random.pick(&beyond).unwrap_or(&i128::MIN);
    open(operation)
        .map(|it| it.value = Integer(value))
        .is_some()
}

pub(super) fn score_above_100(
    operation: &mut Operation,
    _: &World,
    _: u64,
    random: &mut Random,
) -> bool {
    let above = random.weigh(&[(1, 101), (1, 255)]).unwrap_or(101);
    match operation {
        Operation::GiveFeedback(feedback) => feedback.score = above,
        Operation::ValidationResponse(answer) => answer.score = above,
        _ => return false,
    }
    true
}

pub(super) fn self_feedback(
    operation: &mut Operation,
    world: &World,
    _: u64,
    random: &mut Random,
) -> bool {
    let (agent, by) = match operation {
        Operation::GiveFeedback(feedback) => (&feedback.agent, &mut feedback.by),
        Operation::GiveOpenFeedback(feedback) => (&feedback.agent, &mut feedback.by),
        _ => return false,
    };
    let insider = (0..16).map(|_| any_actor(random)).find(|actor| {
        let models = [&world.evm, &world.svm];
        models.iter().all(|model| model.is_insider(agent, actor))
    });
    insider.map(|insider| *by = insider).is_some()
}

/// R12: beside the next index on Solana, or far from it.
pub(super) fn stale_index(
    operation: &mut Operation,
    world: &World,
    _: u64,
    random: &mut Random,
) -> bool {
    let (profile, agent, by, index) = match operation {
        Operation::GiveFeedback(it) => (Profile::Authorized, &it.agent, &it.by, &mut it.index),
        Operation::GiveOpenFeedback(it) => (Profile::Open, &it.agent, &it.by, &mut it.index),
        _ => return false,
    };
    let last = world.last_index(Chain::Svm, profile, agent, by);
    // The last one again, which may be a revoked one (R8).
    *index = random.weigh(&[
        (3, last),
        (2, last + 2),
        (1, last + 3),
        (1, 0),
        (1, 1 << 40),
        (1, u64::MAX),
    ]);
    true
}

/// The index of the client's last entry, which is revoked (R8).
pub(super) fn revoked_index_again(
    operation: &mut Operation,
    world: &World,
    _: u64,
    _: &mut Random,
) -> bool {
    let (profile, agent, by, index) = match operation {
        Operation::GiveFeedback(it) => (Profile::Authorized, &it.agent, &it.by, &mut it.index),
        Operation::GiveOpenFeedback(it) => (Profile::Open, &it.agent, &it.by, &mut it.index),
        _ => return false,
    };
    let last = world.last_index(Chain::Svm, profile, agent, by);
    let entry = (agent.clone(), by.clone(), last);
    let is_revoked = revoked(world, Chain::Svm, profile).contains(&entry);
    *index = Some(last);
    is_revoked
}

/// An operation on an entry: its profile, and its agent, client and index.
type Entry<'a> = (Profile, &'a Agent, &'a mut Actor, &'a mut u64);

fn entry(operation: &mut Operation) -> Option<Entry<'_>> {
    Some(match operation {
        Operation::RevokeFeedback(it) => {
            (Profile::Authorized, &it.agent, &mut it.by, &mut it.index)
        }
        Operation::RevokeOpenFeedback(it) => (Profile::Open, &it.agent, &mut it.by, &mut it.index),
        Operation::AppendResponse(it) => (
            Profile::Authorized,
            &it.agent,
            &mut it.client,
            &mut it.index,
        ),
        Operation::AppendOpenResponse(it) => {
            (Profile::Open, &it.agent, &mut it.client, &mut it.index)
        }
        _ => return None,
    })
}

/// Right after the last index of both chains, or far behind it.
pub(super) fn index_beyond_the_last(
    operation: &mut Operation,
    world: &World,
    _: u64,
    random: &mut Random,
) -> bool {
    let far = random.percent(30);
    let Some((profile, agent, client, index)) = entry(operation).filter(|_| !far) else {
        return set_index(operation, 1 << 40);
    };
    let last = |chain| world.last_index(chain, profile, agent, client);
    *index = last(Chain::Evm).max(last(Chain::Svm)) + 1;
    true
}

/// Somebody without feedback on either chain.
pub(super) fn unknown_client(
    operation: &mut Operation,
    world: &World,
    _: u64,
    random: &mut Random,
) -> bool {
    let Some((profile, agent, client, _)) = entry(operation) else {
        return false;
    };
    let is_unknown = |actor: &Actor| {
        let mut chains = Chain::ALL.into_iter();
        chains.all(|chain| world.last_index(chain, profile, agent, actor) == 0)
    };
    let other = (0..8).map(|_| any_actor(random)).find(is_unknown);
    other.map(|other| *client = other).is_some()
}

pub(super) fn set_index(operation: &mut Operation, to: u64) -> bool {
    match operation {
        Operation::RevokeFeedback(Revocation { index, .. })
        | Operation::RevokeOpenFeedback(Revocation { index, .. })
        | Operation::AttachPaymentProof(AttachPaymentProof { index, .. }) => *index = to,
        Operation::AppendResponse(response) | Operation::AppendOpenResponse(response) => {
            response.index = to;
        }
        _ => return false,
    }
    true
}

/// An entry that both chains know as revoked.
pub(super) fn revoked_already(
    operation: &mut Operation,
    world: &World,
    _: u64,
    random: &mut Random,
) -> bool {
    let profile = match operation {
        Operation::RevokeOpenFeedback(_) => Profile::Open,
        Operation::RevokeFeedback(_) | Operation::AttachPaymentProof(_) => Profile::Authorized,
        _ => return false,
    };
    let on_svm = revoked(world, Chain::Svm, profile);
    let mut on_both = revoked(world, Chain::Evm, profile);
    on_both.retain(|entry| on_svm.contains(entry));
    let Some((of_agent, of_client, at)) = random.pick(&on_both).cloned() else {
        return false;
    };
    match operation {
        Operation::RevokeFeedback(Revocation { agent, by, index })
        | Operation::RevokeOpenFeedback(Revocation { agent, by, index }) => {
            (*agent, *by, *index) = (of_agent, of_client, at);
        }
        Operation::AttachPaymentProof(AttachPaymentProof {
            agent,
            by,
            client,
            index,
            ..
        }) => (*agent, *by, *client, *index) = (of_agent, of_client.clone(), of_client, at),
        _ => return false,
    }
    true
}

fn revoked(world: &World, chain: Chain, profile: Profile) -> Vec<(Agent, Actor, u64)> {
    let mut found = Vec::new();
    for (agent, record) in &world.model(chain).state().agents {
        let flags: Vec<(&Actor, Vec<bool>)> = match profile {
            Profile::Authorized => {
                let entries = record.authorized.entries.iter();
                entries
                    .map(|(client, all)| (client, all.iter().map(|it| it.revoked).collect()))
                    .collect()
            }
            Profile::Open => {
                let entries = record.open.entries.iter();
                entries
                    .map(|(client, all)| (client, all.iter().map(|it| it.revoked).collect()))
                    .collect()
            }
        };
        for (client, flags) in flags {
            let indices = (1..).zip(flags).filter(|(_, revoked)| *revoked);
            found.extend(indices.map(|(index, _)| (agent.clone(), client.clone(), index)));
        }
    }
    found
}

pub(super) fn no_clients(operation: &mut Operation, _: &World, _: u64, _: &mut Random) -> bool {
    mutate!(operation, Operation::OpenSummary(OpenSummaryQuery { clients, .. }) => clients.clear())
}
