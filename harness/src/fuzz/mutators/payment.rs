//! What a payment must be for.
use super::{another, statement::paid};
use crate::{
    fuzz::{
        random::Random,
        world::{FACILITATORS, TOKENS, UNLISTED_TOKEN, World},
    },
    model::{Actor, AttachPaymentProof, Chain, Operation, ProofVersion},
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

/// Of a task that this payer has not spent: that is looked at before (R32).
pub(super) fn by_another_payer(
    operation: &mut Operation,
    world: &World,
    _: u64,
    random: &mut Random,
) -> bool {
    paid(operation).is_some_and(|it| {
        let is_another = another(&mut it.payer, random);
        let payment = (it.task.clone(), it.payer.clone());
        is_another && !world.spent.contains(&payment)
    })
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

/// A payment by the same payer that counted before, for another entry (R32).
pub(super) fn spent(operation: &mut Operation, world: &World, _: u64, random: &mut Random) -> bool {
    let Some(payment) = paid(operation) else {
        return false;
    };
    let own = world.spent.iter().filter(|(_, by)| *by == payment.payer);
    let own: Vec<_> = own.map(|(task, _)| task.clone()).collect();
    let task = random.pick(&own).cloned();
    task.map(|task| payment.task = task).is_some()
}

/// An entry whose reviewer was the agent's wallet when it was given, by that reviewer.
pub(super) fn for_a_review_by_the_wallet(
    operation: &mut Operation,
    world: &World,
    _: u64,
    random: &mut Random,
) -> bool {
    let Operation::AttachPaymentProof(attached) = operation else {
        return false;
    };
    let mut found = Vec::new();
    for (agent, record) in &world.svm.state().agents {
        for (client, entries) in &record.authorized.entries {
            let own = (1..).zip(entries).filter(|(index, entry)| {
                let is_open = entry.payment.is_none() && !entry.revoked;
                is_open && !world.svm.is_by_stranger(agent, client, *index)
            });
            found.extend(own.map(|(index, _)| (agent.clone(), client.clone(), index)));
        }
    }
    let Some((agent, client, index)) = random.pick(&found).cloned() else {
        return false;
    };
    attached.payment.agent = agent.clone();
    attached.payment.payer = client.clone();
    attached.payment.task = "task of a wallet".to_owned();
    (attached.agent, attached.index) = (agent, index);
    (attached.by, attached.client) = (client.clone(), client);
    true
}

/// An entry whose payment is proven, by its reviewer.
pub(super) fn proven_already(
    operation: &mut Operation,
    world: &World,
    _: u64,
    random: &mut Random,
) -> bool {
    let Operation::AttachPaymentProof(attached) = operation else {
        return false;
    };
    let mut proven = Vec::new();
    for (agent, record) in &world.model(Chain::Svm).state().agents {
        for (client, entries) in &record.authorized.entries {
            let own = (1..).zip(entries);
            let own = own.filter(|(_, entry)| entry.payment.is_some() && !entry.revoked);
            proven.extend(own.map(|(index, _)| (agent, client, index)));
        }
    }
    let Some((of_agent, of_client, at)) = random.pick(&proven) else {
        return false;
    };
    let AttachPaymentProof {
        agent,
        by,
        client,
        index,
        ..
    } = attached;
    (*agent, *index) = ((*of_agent).clone(), *at);
    (*by, *client) = ((*of_client).clone(), (*of_client).clone());
    true
}

/// One more than the list takes: 8 tokens, 16 facilitators (R13).
pub(super) fn list_full(operation: &mut Operation, world: &World, _: u64, _: &mut Random) -> bool {
    let first_other = |labels: &[&str], is_listed: &dyn Fn(&Actor) -> bool, limit: usize| {
        let all = labels.iter().map(|it| Actor::from(*it));
        let (listed, others): (Vec<_>, Vec<_>) = all.partition(is_listed);
        others.into_iter().next().filter(|_| listed.len() == limit)
    };
    let svm = &world.svm;
    match operation {
        Operation::ListPaymentToken(it) => first_other(TOKENS, &|token| svm.lists_token(token), 8)
            .is_some_and(|other| {
                (it.token, it.listed) = (other, true);
                true
            }),
        Operation::ListFacilitator(it) => {
            first_other(FACILITATORS, &|one| svm.lists_facilitator(one), 16).is_some_and(|other| {
                (it.facilitator, it.listed) = (other, true);
                true
            })
        }
        _ => false,
    }
}
