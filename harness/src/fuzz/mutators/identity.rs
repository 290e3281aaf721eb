//! Who may do what with an agent, its metadata, wallet and settings.
use super::{another, ghost};
use crate::{
    fuzz::{generators::stranger, random::Random, world::World},
    model::{
        AcceptRegistryAuthority, Approve, AttachPaymentProof, Burn, Bytes, Chain, Consent,
        ListFacilitator, ListPaymentToken, Operation, ProposeRegistryAuthority, Register,
        SetAgentUri, SetAgentWallet, SetAuthSchemes, SetFeedbackAuthority, SetMetadata, Transfer,
        UnsetAgentWallet, ValidationRequest,
    },
};

pub(super) fn unknown_agent(operation: &mut Operation, _: &World, _: u64, _: &mut Random) -> bool {
    match operation {
        Operation::SetAgentUri(SetAgentUri { agent, .. })
        | Operation::SetMetadata(SetMetadata { agent, .. })
        | Operation::SetAgentWallet(SetAgentWallet { agent, .. })
        | Operation::UnsetAgentWallet(UnsetAgentWallet { agent, .. })
        | Operation::SetFeedbackAuthority(SetFeedbackAuthority { agent, .. })
        | Operation::SetAuthSchemes(SetAuthSchemes { agent, .. })
        | Operation::Transfer(Transfer { agent, .. })
        | Operation::Burn(Burn { agent, .. })
        | Operation::Approve(Approve { agent, .. })
        | Operation::ValidationRequest(ValidationRequest { agent, .. }) => *agent = ghost(),
        Operation::GiveFeedback(feedback) => feedback.agent = ghost(),
        Operation::GiveOpenFeedback(feedback) => feedback.agent = ghost(),
        _ => return false,
    }
    true
}

pub(super) fn by_a_stranger(
    operation: &mut Operation,
    world: &World,
    _: u64,
    random: &mut Random,
) -> bool {
    match operation {
        Operation::SetAgentUri(SetAgentUri { agent, by, .. })
        | Operation::SetMetadata(SetMetadata { agent, by, .. })
        | Operation::SetAgentWallet(SetAgentWallet { agent, by, .. })
        | Operation::UnsetAgentWallet(UnsetAgentWallet { agent, by })
        | Operation::SetFeedbackAuthority(SetFeedbackAuthority { agent, by, .. })
        | Operation::SetAuthSchemes(SetAuthSchemes { agent, by, .. })
        | Operation::ValidationRequest(ValidationRequest { agent, by, .. }) => {
            match stranger(world, agent, random) {
                Some(stranger) => *by = stranger,
                None => return false,
            }
        }
        Operation::ListPaymentToken(ListPaymentToken { by, .. })
        | Operation::ListFacilitator(ListFacilitator { by, .. })
        | Operation::ProposeRegistryAuthority(ProposeRegistryAuthority { by, .. }) => {
            return another(by, random);
        }
        Operation::AcceptRegistryAuthority(AcceptRegistryAuthority { by }) => {
            return another(by, random);
        }
        Operation::AttachPaymentProof(AttachPaymentProof { by, .. }) => return another(by, random),
        _ => return false,
    }
    true
}

pub(super) fn transfer_by_a_stranger(
    operation: &mut Operation,
    world: &World,
    _: u64,
    random: &mut Random,
) -> bool {
    match operation {
        Operation::Transfer(Transfer { agent, by, .. })
        | Operation::Burn(Burn { agent, by })
        | Operation::Approve(Approve { agent, by, .. }) => match stranger(world, agent, random) {
            Some(stranger) => *by = stranger,
            None => return false,
        },
        _ => return false,
    }
    true
}

pub(super) fn into_mutable_account(
    operation: &mut Operation,
    _: &World,
    _: u64,
    _: &mut Random,
) -> bool {
    mutate!(operation, Operation::Transfer(Transfer { into_mutable_account, .. }) => *into_mutable_account = true)
}

pub(super) fn reserved_key(operation: &mut Operation, _: &World, _: u64, _: &mut Random) -> bool {
    set_key(operation, "agentWallet")
}

pub(super) fn long_metadata_key(
    operation: &mut Operation,
    _: &World,
    _: u64,
    _: &mut Random,
) -> bool {
    set_key(operation, &"k".repeat(33))
}

fn set_key(operation: &mut Operation, to: &str) -> bool {
    match operation {
        Operation::SetMetadata(SetMetadata { key, .. }) => *key = to.to_owned(),
        Operation::Register(Register { metadata, .. }) => match metadata.last_mut() {
            Some(entry) => entry.key = to.to_owned(),
            None => return false,
        },
        _ => return false,
    }
    true
}

pub(super) fn long_metadata_value(
    operation: &mut Operation,
    _: &World,
    _: u64,
    _: &mut Random,
) -> bool {
    mutate!(operation, Operation::SetMetadata(SetMetadata { value, .. }) => *value = Bytes(vec![1; 257]))
}

pub(super) fn no_wallet(operation: &mut Operation, _: &World, _: u64, _: &mut Random) -> bool {
    mutate!(operation, Operation::SetAgentWallet(SetAgentWallet { wallet, .. }) => *wallet = None)
}

/// The consent of a wallet that is not the owner's, who on Solana signs anyway (R3).
fn consent(operation: &mut Operation) -> Option<&mut Option<Consent>> {
    match operation {
        Operation::SetAgentWallet(SetAgentWallet {
            by,
            wallet: Some(wallet),
            consent,
            ..
        }) if by != wallet => Some(consent),
        _ => None,
    }
}

pub(super) fn no_consent(operation: &mut Operation, _: &World, _: u64, _: &mut Random) -> bool {
    consent(operation).map(|it| *it = None).is_some()
}

pub(super) fn consent_of_another(
    operation: &mut Operation,
    _: &World,
    _: u64,
    random: &mut Random,
) -> bool {
    match consent(operation) {
        Some(Some(consent)) => another(&mut consent.signer, random),
        _ => false,
    }
}

pub(super) fn consent_to_another_owner(
    operation: &mut Operation,
    _: &World,
    _: u64,
    random: &mut Random,
) -> bool {
    match consent(operation) {
        Some(Some(consent)) => another(&mut consent.owner, random),
        _ => false,
    }
}

pub(super) fn consent_for_another_agent(
    operation: &mut Operation,
    _: &World,
    _: u64,
    _: &mut Random,
) -> bool {
    let made = consent(operation).and_then(Option::as_mut);
    made.map(|consent| consent.agent = ghost()).is_some()
}

pub(super) fn consent_for_another_wallet(
    operation: &mut Operation,
    _: &World,
    _: u64,
    random: &mut Random,
) -> bool {
    let made = consent(operation).and_then(Option::as_mut);
    made.is_some_and(|consent| another(&mut consent.wallet, random))
}

/// R7: the authority is somebody besides the owner.
pub(super) fn authority_without_consent(
    operation: &mut Operation,
    _: &World,
    _: u64,
    random: &mut Random,
) -> bool {
    mutate!(operation, Operation::SetFeedbackAuthority(it) => {
        let mut named = it.by.clone();
        if !another(&mut named, random) {
            return false;
        }
        (it.authority, it.consents) = (Some(named), false);
    })
}

pub(super) fn deadline_passed(
    operation: &mut Operation,
    _: &World,
    time: u64,
    _: &mut Random,
) -> bool {
    set_deadline(operation, time - 1)
}

pub(super) fn deadline_too_far(
    operation: &mut Operation,
    _: &World,
    time: u64,
    _: &mut Random,
) -> bool {
    set_deadline(operation, time + 301)
}

fn set_deadline(operation: &mut Operation, to: u64) -> bool {
    mutate!(operation, Operation::SetAgentWallet(SetAgentWallet { consent: Some(consent), .. }) => consent.deadline = to)
}

/// A consent that worked before, while its deadline has not passed and its owner is the owner.
pub(super) fn consent_used(
    operation: &mut Operation,
    world: &World,
    time: u64,
    random: &mut Random,
) -> bool {
    let Operation::SetAgentWallet(SetAgentWallet {
        agent,
        by,
        wallet,
        consent,
    }) = operation
    else {
        return false;
    };
    let fitting: Vec<_> = world
        .used_consents
        .iter()
        .filter(|used| (time..=time + 300).contains(&used.deadline))
        .filter(|used| {
            let record = world.record(Chain::Evm, &used.agent);
            record.is_some_and(|record| record.owner == used.owner)
                && world.evm.has_used_consent(used)
        })
        .collect();
    let Some(used) = random.pick(&fitting) else {
        return false;
    };
    (*agent, *by) = (used.agent.clone(), used.owner.clone());
    (*wallet, *consent) = (Some(used.wallet.clone()), Some((*used).clone()));
    true
}

pub(super) fn unknown_scheme(
    operation: &mut Operation,
    _: &World,
    _: u64,
    random: &mut Random,
) -> bool {
    let unknown = random.weigh(&[(1, 0), (1, 4), (1, 255)]).unwrap_or(0);
    mutate!(operation, Operation::SetAuthSchemes(SetAuthSchemes { schemes, .. }) => *schemes = unknown)
}
