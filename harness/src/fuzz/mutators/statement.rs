//! What was signed: authorizations and payments.
use super::{another, ghost};
use crate::{
    fuzz::{
        random::Random,
        world::{World, any_actor},
    },
    model::{AttachPaymentProof, Authorization, Chain, Feedback, Form, Operation, Payment, Tamper},
};

fn given(operation: &mut Operation) -> Option<(&mut Feedback, Authorization)> {
    match operation {
        Operation::GiveFeedback(feedback) => {
            let made = feedback.authorization.clone()?;
            Some((feedback, made))
        }
        _ => None,
    }
}

pub(super) fn paid(operation: &mut Operation) -> Option<&mut Payment> {
    match operation {
        Operation::AttachPaymentProof(AttachPaymentProof { payment, .. }) => Some(payment),
        _ => None,
    }
}

pub(super) fn no_authorization(
    operation: &mut Operation,
    _: &World,
    _: u64,
    _: &mut Random,
) -> bool {
    // Without its form the operation is one that EVM has too, and refuses as well.
    match given(operation) {
        Some((feedback, made)) if made.form != Form::X84 => {
            feedback.authorization = None;
            true
        }
        _ => false,
    }
}

pub(super) fn tamper(operation: &mut Operation, how: Tamper) -> bool {
    if let Some(payment) = paid(operation) {
        payment.tamper = Some(how);
        return true;
    }
    change(operation, |made| made.tamper = Some(how))
}

/// X84's message names neither chain nor registry.
pub(super) fn tamper_bounded(operation: &mut Operation, how: Tamper) -> bool {
    if let Some(payment) = paid(operation) {
        payment.tamper = Some(how);
        return true;
    }
    change_bounded(operation, |made| made.tamper = Some(how))
}

/// Is it an authorization by an account that on EVM is a contract (R6)?
pub(super) fn is_of_a_contract(operation: &mut Operation) -> bool {
    given(operation).is_some_and(|(_, made)| made.signer.is_contract())
}

fn change(operation: &mut Operation, how: impl FnOnce(&mut Authorization)) -> bool {
    match given(operation) {
        Some((feedback, mut made)) => {
            how(&mut made);
            feedback.authorization = Some(made);
            true
        }
        None => false,
    }
}

fn change_bounded(operation: &mut Operation, how: impl FnOnce(&mut Authorization)) -> bool {
    let is_bounded = given(operation).is_some_and(|(_, made)| made.form != Form::X84);
    is_bounded && change(operation, how)
}

pub(super) fn expired(
    operation: &mut Operation,
    _: &World,
    time: u64,
    random: &mut Random,
) -> bool {
    let expiry = random
        .weigh(&[(2, time), (1, 0), (1, time - 1)])
        .unwrap_or(0);
    if let Some(payment) = paid(operation) {
        payment.expiry = expiry;
        return true;
    }
    change_bounded(operation, |made| made.expiry = expiry)
}

pub(super) fn limit_reached(
    operation: &mut Operation,
    world: &World,
    _: u64,
    _: &mut Random,
) -> bool {
    let Some((feedback, _)) = given(operation) else {
        return false;
    };
    // The smaller limit of the two chains, so that both reach it.
    let (agent, client) = (feedback.agent.clone(), feedback.by.clone());
    let last = |chain| {
        let record = world.record(chain, &agent);
        record.map_or(0, |record| record.authorized.last_index(&client))
    };
    let limit = last(Chain::Evm).min(last(Chain::Svm));
    change_bounded(operation, |made| made.index_limit = limit)
}

pub(super) fn signed_by_another(
    operation: &mut Operation,
    _: &World,
    _: u64,
    random: &mut Random,
) -> bool {
    let other = any_actor(random);
    if let Some(payment) = paid(operation) {
        let is_another = payment.facilitator != other;
        payment.tamper = Some(Tamper::SignedBy(other));
        return is_another;
    }
    let mut is_another = false;
    change(operation, |made| {
        is_another = made.signer != other;
        made.tamper = Some(Tamper::SignedBy(other));
    }) && is_another
}

pub(super) fn for_another_agent(
    operation: &mut Operation,
    _: &World,
    _: u64,
    _: &mut Random,
) -> bool {
    if let Some(payment) = paid(operation) {
        payment.agent = ghost();
        return true;
    }
    change(operation, |made| made.agent = ghost())
}

pub(super) fn for_another_client(
    operation: &mut Operation,
    _: &World,
    _: u64,
    random: &mut Random,
) -> bool {
    let mut is_another = false;
    change(operation, |made| {
        is_another = another(&mut made.client, random)
    }) && is_another
}

pub(super) fn by_another_signer(
    operation: &mut Operation,
    _: &World,
    _: u64,
    random: &mut Random,
) -> bool {
    let mut is_another = false;
    change(operation, |made| {
        is_another = another(&mut made.signer, random)
    }) && is_another
}
