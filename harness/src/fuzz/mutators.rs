//! Ways to spoil an operation that would have been accepted, each with the class that it must
//! provoke (specification §3a). The class is stated here, apart from the model, and both are held
//! together.
use super::{
    dice::Dice,
    plausible::stranger,
    world::{Move, Mutation, UNLISTED_TOKEN, World, any_actor},
};
use crate::model::{
    Actor, Agent, Authorization, Bytes, Bytes32, Chain, Consent, Feedback, Form, Integer,
    OpenFeedback, Operation, Payment, Profile, Tamper,
};
use concord_canonical::ErrorClass::{self, *};

/// A way to spoil.
struct Mutator {
    name: &'static str,
    evm: Option<ErrorClass>,
    svm: Option<ErrorClass>,
    /// False where the operation cannot be spoilt so.
    spoil: fn(&mut Operation, &World, u64, &mut Dice) -> bool,
}

const fn both(
    name: &'static str,
    class: ErrorClass,
    spoil: fn(&mut Operation, &World, u64, &mut Dice) -> bool,
) -> Mutator {
    Mutator {
        name,
        evm: Some(class),
        svm: Some(class),
        spoil,
    }
}

const fn on_evm(
    name: &'static str,
    class: ErrorClass,
    spoil: fn(&mut Operation, &World, u64, &mut Dice) -> bool,
) -> Mutator {
    Mutator {
        name,
        evm: Some(class),
        svm: None,
        spoil,
    }
}

const fn on_svm(
    name: &'static str,
    class: ErrorClass,
    spoil: fn(&mut Operation, &World, u64, &mut Dice) -> bool,
) -> Mutator {
    Mutator {
        name,
        evm: None,
        svm: Some(class),
        spoil,
    }
}

/// Every way there is. The order means nothing.
const MUTATORS: &[Mutator] = &[
    both("unknown_agent", AgentNotFound, unknown_agent),
    both("unknown_entry_agent", FeedbackNotFound, unknown_entry_agent),
    both("by_a_stranger", NotAuthorized, by_a_stranger),
    both(
        "transfer_by_a_stranger",
        TransferNotAllowed,
        transfer_by_a_stranger,
    ),
    on_svm(
        "into_mutable_account",
        TransferRefused,
        into_mutable_account,
    ),
    both("reserved_key", ReservedKey, reserved_key),
    on_svm("long_uri", LengthLimit, long_uri),
    on_svm("nul_in_uri", LengthLimit, nul_in_uri),
    on_svm("long_metadata_key", LengthLimit, long_metadata_key),
    on_svm("long_metadata_value", LengthLimit, long_metadata_value),
    on_svm("long_tag", LengthLimit, long_tag),
    on_svm("long_endpoint", LengthLimit, long_endpoint),
    both("no_wallet", WalletZero, no_wallet),
    both("no_consent", WalletConsentMissing, no_consent),
    both(
        "consent_of_another",
        WalletConsentMissing,
        consent_of_another,
    ),
    both(
        "consent_to_another_owner",
        WalletConsentMissing,
        consent_to_another_owner,
    ),
    on_evm("deadline_passed", DeadlinePassed, deadline_passed),
    on_evm("deadline_too_far", DeadlineTooFar, deadline_too_far),
    on_evm("consent_used", WalletConsentUsed, consent_used),
    on_svm("unknown_scheme", AuthSchemeUnknown, unknown_scheme),
    both("score_above_100", ScoreOutOfRange, score_above_100),
    both("self_feedback", SelfFeedback, self_feedback),
    on_svm("stale_index", FeedbackIndexStale, stale_index),
    both("no_authorization", AuthMissing, no_authorization),
    both("empty_authorization", AuthMissing, |it, _, _, _| {
        tamper(it, Tamper::Empty)
    }),
    both("truncated", AuthMalformed, |it, _, _, _| {
        tamper(it, Tamper::Truncated)
    }),
    both("extended", AuthMalformed, |it, _, _, _| {
        tamper(it, Tamper::Extended)
    }),
    both("dirty", AuthMalformed, |it, _, _, _| {
        tamper(it, Tamper::Dirty)
    }),
    both("expired", AuthExpired, expired),
    both("limit_reached", AuthIndexLimit, limit_reached),
    both("wrong_chain", AuthNotGranted, |it, _, _, _| {
        tamper_bounded(it, Tamper::WrongChain)
    }),
    both("wrong_registry", AuthNotGranted, |it, _, _, _| {
        tamper_bounded(it, Tamper::WrongRegistry)
    }),
    both("corrupt_signature", AuthNotGranted, |it, _, _, _| {
        tamper(it, Tamper::CorruptSignature)
    }),
    both("malleated_signature", AuthNotGranted, |it, _, _, _| {
        tamper(it, Tamper::MalleateSignature)
    }),
    both("signed_by_another", AuthNotGranted, signed_by_another),
    both("for_another_agent", AuthNotGranted, for_another_agent),
    both("for_another_client", AuthNotGranted, for_another_client),
    both("by_another_signer", AuthNotGranted, by_another_signer),
    both("index_zero", FeedbackNotFound, |it, _, _, _| {
        set_index(it, 0)
    }),
    both("index_beyond_the_last", FeedbackNotFound, |it, _, _, _| {
        set_index(it, 1 << 40)
    }),
    both("revoked_already", AlreadyRevoked, revoked_already),
    both("empty_uri", EmptyUri, empty_uri),
    both("unpaid", PaymentNotAccepted, unpaid),
    both("to_another_payee", PaymentNotAccepted, to_another_payee),
    both("by_another_payer", PaymentNotAccepted, by_another_payer),
    both(
        "in_an_unknown_token",
        PaymentNotAccepted,
        in_an_unknown_token,
    ),
    both(
        "by_an_unknown_facilitator",
        PaymentNotAccepted,
        by_an_unknown_facilitator,
    ),
    both("decimals_above_18", DecimalsOutOfRange, decimals_above_18),
    both(
        "value_above_the_limit",
        ValueOutOfRange,
        value_above_the_limit,
    ),
    both("no_clients", EmptyClients, no_clients),
    both("no_validator", ValidatorZero, no_validator),
    both("request_exists", RequestExists, request_exists),
    on_svm(
        "request_prefix_collides",
        RequestPrefixCollision,
        request_prefix_collides,
    ),
    both("unknown_request", RequestNotFound, unknown_request),
    both("not_the_validator", NotValidator, not_the_validator),
];

/// The names of all mutators.
pub fn names() -> impl Iterator<Item = &'static str> {
    MUTATORS.iter().map(|mutator| mutator.name)
}

/// Spoils an operation that at least one chain would accept; the class is due on the chains that
/// would.
pub fn spoil(world: &World, sound: &Move, time: u64, dice: &mut Dice) -> Option<Move> {
    let [on_evm, on_svm] = Chain::ALL.map(|chain| world.accepts(chain, &sound.operation, time));
    let spoilt: Vec<_> = MUTATORS
        .iter()
        .filter(|it| (on_evm && it.evm.is_some()) || (on_svm && it.svm.is_some()))
        .filter_map(|mutator| {
            let mut operation = sound.operation.clone();
            (mutator.spoil)(&mut operation, world, time, dice).then_some((mutator, operation))
        })
        .collect();
    let (mutator, operation) = dice.pick(&spoilt)?;
    Some(Move {
        operation: operation.clone(),
        wait: sound.wait,
        mutation: Some(Mutation {
            name: mutator.name,
            evm: mutator.evm.filter(|_| on_evm),
            svm: mutator.svm.filter(|_| on_svm),
        }),
    })
}

/// Where a mutator fits, it has changed something.
macro_rules! spoil {
    ($operation:expr, $pattern:pat => $change:expr) => {
        match $operation {
            $pattern => {
                $change;
                true
            }
            _ => false,
        }
    };
}

fn ghost() -> Agent {
    Agent::from("ghost")
}

fn unknown_agent(operation: &mut Operation, _: &World, _: u64, _: &mut Dice) -> bool {
    match operation {
        Operation::SetAgentUri { agent, .. }
        | Operation::SetMetadata { agent, .. }
        | Operation::SetAgentWallet { agent, .. }
        | Operation::UnsetAgentWallet { agent, .. }
        | Operation::SetFeedbackAuthority { agent, .. }
        | Operation::SetAuthSchemes { agent, .. }
        | Operation::ValidationRequest { agent, .. } => *agent = ghost(),
        Operation::GiveFeedback(feedback) => feedback.agent = ghost(),
        Operation::GiveOpenFeedback(feedback) => feedback.agent = ghost(),
        _ => return false,
    }
    true
}

fn unknown_entry_agent(operation: &mut Operation, _: &World, _: u64, _: &mut Dice) -> bool {
    match operation {
        Operation::RevokeFeedback { agent, .. }
        | Operation::RevokeOpenFeedback { agent, .. }
        | Operation::AttachPaymentProof { agent, .. } => *agent = ghost(),
        Operation::AppendResponse(response) | Operation::AppendOpenResponse(response) => {
            response.agent = ghost();
        }
        _ => return false,
    }
    true
}

fn by_a_stranger(operation: &mut Operation, world: &World, _: u64, dice: &mut Dice) -> bool {
    match operation {
        Operation::SetAgentUri { agent, by, .. }
        | Operation::SetMetadata { agent, by, .. }
        | Operation::SetAgentWallet { agent, by, .. }
        | Operation::UnsetAgentWallet { agent, by }
        | Operation::SetFeedbackAuthority { agent, by, .. }
        | Operation::SetAuthSchemes { agent, by, .. }
        | Operation::ValidationRequest { agent, by, .. } => match stranger(world, agent, dice) {
            Some(stranger) => *by = stranger,
            None => return false,
        },
        Operation::ListPaymentToken { by, .. }
        | Operation::ListFacilitator { by, .. }
        | Operation::ProposeRegistryAuthority { by, .. } => {
            return another(by, dice);
        }
        Operation::AcceptRegistryAuthority { by } => return another(by, dice),
        Operation::AttachPaymentProof { by, .. } => return another(by, dice),
        _ => return false,
    }
    true
}

fn another(actor: &mut Actor, dice: &mut Dice) -> bool {
    let other = any_actor(dice);
    let is_another = *actor != other;
    *actor = other;
    is_another
}

fn transfer_by_a_stranger(
    operation: &mut Operation,
    world: &World,
    _: u64,
    dice: &mut Dice,
) -> bool {
    match operation {
        Operation::Transfer { agent, by, .. }
        | Operation::Burn { agent, by }
        | Operation::Approve { agent, by, .. } => match stranger(world, agent, dice) {
            Some(stranger) => *by = stranger,
            None => return false,
        },
        _ => return false,
    }
    true
}

fn into_mutable_account(operation: &mut Operation, _: &World, _: u64, _: &mut Dice) -> bool {
    spoil!(operation, Operation::Transfer { into_mutable_account, .. } => *into_mutable_account = true)
}

fn reserved_key(operation: &mut Operation, _: &World, _: u64, _: &mut Dice) -> bool {
    set_key(operation, "agentWallet")
}

fn long_metadata_key(operation: &mut Operation, _: &World, _: u64, _: &mut Dice) -> bool {
    set_key(operation, &"k".repeat(33))
}

fn set_key(operation: &mut Operation, to: &str) -> bool {
    match operation {
        Operation::SetMetadata { key, .. } => *key = to.to_owned(),
        Operation::Register { metadata, .. } => match metadata.last_mut() {
            Some(entry) => entry.key = to.to_owned(),
            None => return false,
        },
        _ => return false,
    }
    true
}

fn long_metadata_value(operation: &mut Operation, _: &World, _: u64, _: &mut Dice) -> bool {
    spoil!(operation, Operation::SetMetadata { value, .. } => *value = Bytes(vec![1; 257]))
}

fn long_uri(operation: &mut Operation, _: &World, _: u64, _: &mut Dice) -> bool {
    set_uri(operation, &"é".repeat(101))
}

fn nul_in_uri(operation: &mut Operation, _: &World, _: u64, _: &mut Dice) -> bool {
    set_uri(operation, "https://a.example/\0")
}

fn empty_uri(operation: &mut Operation, _: &World, _: u64, _: &mut Dice) -> bool {
    spoil!(operation, Operation::AppendResponse(response) | Operation::AppendOpenResponse(response) => {
        response.uri.clear();
    })
}

fn set_uri(operation: &mut Operation, to: &str) -> bool {
    match operation {
        Operation::Register { uri, metadata, .. } => {
            metadata.clear(); // so that it fits a packet
            *uri = to.to_owned();
        }
        Operation::SetAgentUri { uri, .. } | Operation::ValidationRequest { uri, .. } => {
            *uri = to.to_owned();
        }
        Operation::GiveFeedback(feedback) => feedback.uri = to.to_owned(),
        Operation::GiveOpenFeedback(feedback) => feedback.uri = to.to_owned(),
        Operation::AppendResponse(response) | Operation::AppendOpenResponse(response) => {
            response.uri = to.to_owned();
        }
        Operation::ValidationResponse(answer) => answer.uri = to.to_owned(),
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

fn long_tag(operation: &mut Operation, _: &World, _: u64, dice: &mut Dice) -> bool {
    let Some(feedback) = open(operation) else {
        return false;
    };
    if dice.percent(50) {
        feedback.tag1 = "t".repeat(33);
    } else {
        feedback.tag2 = "é".repeat(17);
    }
    true
}

fn long_endpoint(operation: &mut Operation, _: &World, _: u64, _: &mut Dice) -> bool {
    let changed = open(operation).map(|it| it.endpoint = "e".repeat(201));
    changed.is_some()
}

fn decimals_above_18(operation: &mut Operation, _: &World, _: u64, _: &mut Dice) -> bool {
    open(operation).map(|it| it.decimals = 19).is_some()
}

fn value_above_the_limit(operation: &mut Operation, _: &World, _: u64, dice: &mut Dice) -> bool {
    let limit = 10i128.pow(38);
    let beyond = [limit + 1, -limit - 1, i128::MAX, i128::MIN];
    let value = *dice.pick(&beyond).unwrap_or(&i128::MIN);
    open(operation)
        .map(|it| it.value = Integer(value))
        .is_some()
}

fn no_wallet(operation: &mut Operation, _: &World, _: u64, _: &mut Dice) -> bool {
    spoil!(operation, Operation::SetAgentWallet { wallet, .. } => *wallet = None)
}

/// The consent of a wallet that is not the owner's, who on Solana signs anyway (R3).
fn consent(operation: &mut Operation) -> Option<&mut Option<Consent>> {
    match operation {
        Operation::SetAgentWallet {
            by,
            wallet: Some(wallet),
            consent,
            ..
        } if by != wallet => Some(consent),
        _ => None,
    }
}

fn no_consent(operation: &mut Operation, _: &World, _: u64, _: &mut Dice) -> bool {
    consent(operation).map(|it| *it = None).is_some()
}

fn consent_of_another(operation: &mut Operation, _: &World, _: u64, dice: &mut Dice) -> bool {
    match consent(operation) {
        Some(Some(consent)) => another(&mut consent.signer, dice),
        _ => false,
    }
}

fn consent_to_another_owner(operation: &mut Operation, _: &World, _: u64, dice: &mut Dice) -> bool {
    match consent(operation) {
        Some(Some(consent)) => another(&mut consent.owner, dice),
        _ => false,
    }
}

fn deadline_passed(operation: &mut Operation, _: &World, time: u64, _: &mut Dice) -> bool {
    set_deadline(operation, time - 1)
}

fn deadline_too_far(operation: &mut Operation, _: &World, time: u64, _: &mut Dice) -> bool {
    set_deadline(operation, time + 301)
}

fn set_deadline(operation: &mut Operation, to: u64) -> bool {
    spoil!(operation, Operation::SetAgentWallet { consent: Some(consent), .. } => consent.deadline = to)
}

/// A consent that worked before, while its deadline has not passed and its owner is the owner.
fn consent_used(operation: &mut Operation, world: &World, time: u64, dice: &mut Dice) -> bool {
    let Operation::SetAgentWallet {
        agent,
        by,
        wallet,
        consent,
    } = operation
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
    let Some(used) = dice.pick(&fitting) else {
        return false;
    };
    (*agent, *by) = (used.agent.clone(), used.owner.clone());
    (*wallet, *consent) = (Some(used.wallet.clone()), Some((*used).clone()));
    true
}

fn unknown_scheme(operation: &mut Operation, _: &World, _: u64, dice: &mut Dice) -> bool {
    let unknown = dice.weigh(&[(1, 0), (1, 4), (1, 255)]).unwrap_or(0);
    spoil!(operation, Operation::SetAuthSchemes { schemes, .. } => *schemes = unknown)
}

fn score_above_100(operation: &mut Operation, _: &World, _: u64, dice: &mut Dice) -> bool {
    let above = dice.weigh(&[(1, 101), (1, 255)]).unwrap_or(101);
    match operation {
        Operation::GiveFeedback(feedback) => feedback.score = above,
        Operation::ValidationResponse(answer) => answer.score = above,
        _ => return false,
    }
    true
}

fn self_feedback(operation: &mut Operation, world: &World, _: u64, dice: &mut Dice) -> bool {
    let (agent, by) = match operation {
        Operation::GiveFeedback(feedback) => (&feedback.agent, &mut feedback.by),
        Operation::GiveOpenFeedback(feedback) => (&feedback.agent, &mut feedback.by),
        _ => return false,
    };
    let insider = (0..16).map(|_| any_actor(dice)).find(|actor| {
        let models = [&world.evm, &world.svm];
        models.iter().all(|model| model.is_insider(agent, actor))
    });
    insider.map(|insider| *by = insider).is_some()
}

fn stale_index(operation: &mut Operation, _: &World, _: u64, dice: &mut Dice) -> bool {
    let stale = Some(
        dice.weigh(&[(1, 0), (1, 1 << 40), (1, u64::MAX)])
            .unwrap_or(0),
    );
    match operation {
        Operation::GiveFeedback(feedback) => feedback.index = stale,
        Operation::GiveOpenFeedback(feedback) => feedback.index = stale,
        _ => return false,
    }
    true
}

fn given(operation: &mut Operation) -> Option<(&mut Feedback, Authorization)> {
    match operation {
        Operation::GiveFeedback(feedback) => {
            let made = feedback.authorization.clone()?;
            Some((feedback, made))
        }
        _ => None,
    }
}

fn paid(operation: &mut Operation) -> Option<&mut Payment> {
    match operation {
        Operation::AttachPaymentProof { payment, .. } => Some(payment),
        _ => None,
    }
}

fn no_authorization(operation: &mut Operation, _: &World, _: u64, _: &mut Dice) -> bool {
    // Without its form the operation is one that EVM has too, and refuses as well.
    match given(operation) {
        Some((feedback, made)) if made.form != Form::X84 => {
            feedback.authorization = None;
            true
        }
        _ => false,
    }
}

fn tamper(operation: &mut Operation, how: Tamper) -> bool {
    if let Some(payment) = paid(operation) {
        payment.tamper = Some(how);
        return true;
    }
    change(operation, |made| made.tamper = Some(how))
}

/// X84's message names neither chain nor registry.
fn tamper_bounded(operation: &mut Operation, how: Tamper) -> bool {
    if let Some(payment) = paid(operation) {
        payment.tamper = Some(how);
        return true;
    }
    change_bounded(operation, |made| made.tamper = Some(how))
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

fn expired(operation: &mut Operation, _: &World, time: u64, dice: &mut Dice) -> bool {
    let expiry = dice.weigh(&[(2, time), (1, 0), (1, time - 1)]).unwrap_or(0);
    if let Some(payment) = paid(operation) {
        payment.expiry = expiry;
        return true;
    }
    change_bounded(operation, |made| made.expiry = expiry)
}

fn limit_reached(operation: &mut Operation, world: &World, _: u64, _: &mut Dice) -> bool {
    let Some((feedback, _)) = given(operation) else {
        return false;
    };
    // The fewest of both chains' indices, so that it is reached on both.
    let (agent, client) = (feedback.agent.clone(), feedback.by.clone());
    let last = |chain| {
        let record = world.record(chain, &agent);
        record.map_or(0, |record| record.authorized.last_index(&client))
    };
    let limit = last(Chain::Evm).min(last(Chain::Svm));
    change_bounded(operation, |made| made.index_limit = limit)
}

fn signed_by_another(operation: &mut Operation, _: &World, _: u64, dice: &mut Dice) -> bool {
    let other = any_actor(dice);
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

fn for_another_agent(operation: &mut Operation, _: &World, _: u64, _: &mut Dice) -> bool {
    if let Some(payment) = paid(operation) {
        payment.agent = ghost();
        return true;
    }
    change(operation, |made| made.agent = ghost())
}

fn for_another_client(operation: &mut Operation, _: &World, _: u64, dice: &mut Dice) -> bool {
    let mut is_another = false;
    change(operation, |made| {
        is_another = another(&mut made.client, dice)
    }) && is_another
}

fn by_another_signer(operation: &mut Operation, _: &World, _: u64, dice: &mut Dice) -> bool {
    let mut is_another = false;
    change(operation, |made| {
        is_another = another(&mut made.signer, dice)
    }) && is_another
}

fn set_index(operation: &mut Operation, to: u64) -> bool {
    match operation {
        Operation::RevokeFeedback { index, .. }
        | Operation::RevokeOpenFeedback { index, .. }
        | Operation::AttachPaymentProof { index, .. } => *index = to,
        Operation::AppendResponse(response) | Operation::AppendOpenResponse(response) => {
            response.index = to;
        }
        _ => return false,
    }
    true
}

/// An entry that both chains know as revoked.
fn revoked_already(operation: &mut Operation, world: &World, _: u64, dice: &mut Dice) -> bool {
    let profile = match operation {
        Operation::RevokeOpenFeedback { .. } => Profile::Open,
        Operation::RevokeFeedback { .. } | Operation::AttachPaymentProof { .. } => {
            Profile::Authorized
        }
        _ => return false,
    };
    let on_svm = revoked(world, Chain::Svm, profile);
    let mut on_both = revoked(world, Chain::Evm, profile);
    on_both.retain(|entry| on_svm.contains(entry));
    let Some((of_agent, of_client, at)) = dice.pick(&on_both).cloned() else {
        return false;
    };
    match operation {
        Operation::RevokeFeedback { agent, by, index }
        | Operation::RevokeOpenFeedback { agent, by, index } => {
            (*agent, *by, *index) = (of_agent, of_client, at);
        }
        Operation::AttachPaymentProof {
            agent,
            by,
            client,
            index,
            ..
        } => (*agent, *by, *client, *index) = (of_agent, of_client.clone(), of_client, at),
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

fn unpaid(operation: &mut Operation, _: &World, _: u64, _: &mut Dice) -> bool {
    paid(operation).map(|it| it.amount = 0).is_some()
}

fn to_another_payee(operation: &mut Operation, _: &World, _: u64, dice: &mut Dice) -> bool {
    paid(operation).is_some_and(|it| another(&mut it.payee, dice))
}

fn by_another_payer(operation: &mut Operation, _: &World, _: u64, dice: &mut Dice) -> bool {
    paid(operation).is_some_and(|it| another(&mut it.payer, dice))
}

fn in_an_unknown_token(operation: &mut Operation, _: &World, _: u64, _: &mut Dice) -> bool {
    paid(operation)
        .map(|it| it.token = UNLISTED_TOKEN.into())
        .is_some()
}

fn by_an_unknown_facilitator(operation: &mut Operation, _: &World, _: u64, _: &mut Dice) -> bool {
    paid(operation)
        .map(|it| it.facilitator = "alice".into())
        .is_some()
}

fn no_clients(operation: &mut Operation, _: &World, _: u64, _: &mut Dice) -> bool {
    spoil!(operation, Operation::OpenSummary { clients, .. } => clients.clear())
}

fn no_validator(operation: &mut Operation, _: &World, _: u64, _: &mut Dice) -> bool {
    spoil!(operation, Operation::ValidationRequest { validator, .. } => *validator = None)
}

/// A request that both chains have, of the same agent and validator.
fn request_exists(operation: &mut Operation, world: &World, _: u64, dice: &mut Dice) -> bool {
    let Some((of_agent, of_validator, hash)) = super::plausible::request(world, dice) else {
        return false;
    };
    let is_on = |chain| {
        let record = world.record(chain, &of_agent);
        record
            .and_then(|record| record.validations.requests.get(&hash))
            .is_some_and(|validators| validators.contains_key(&of_validator))
    };
    if !Chain::ALL.into_iter().all(is_on) {
        return false;
    }
    spoil!(operation, Operation::ValidationRequest { agent, validator, request, .. } => {
        (*agent, *validator, *request) = (of_agent, Some(of_validator), hash);
    })
}

fn request_prefix_collides(
    operation: &mut Operation,
    world: &World,
    _: u64,
    dice: &mut Dice,
) -> bool {
    let Operation::ValidationRequest {
        agent,
        validator: Some(validator),
        request,
        ..
    } = operation
    else {
        return false;
    };
    let Some(record) = world.record(Chain::Svm, agent) else {
        return false;
    };
    let mut word = dice.word();
    let requests = record.validations.requests.iter();
    let taken: Vec<_> = requests
        .flat_map(|(hash, validators)| validators.keys().map(move |it| (hash, it)))
        .collect();
    let Some((hash, of_validator)) = dice.pick(&taken) else {
        return false;
    };
    word[..8].copy_from_slice(&hash.0[..8]);
    (*validator, *request) = ((*of_validator).clone(), Bytes32(word));
    true
}

fn unknown_request(operation: &mut Operation, _: &World, _: u64, dice: &mut Dice) -> bool {
    let word = Bytes32(dice.word());
    spoil!(operation, Operation::ValidationResponse(answer) => answer.request = word)
}

fn not_the_validator(operation: &mut Operation, _: &World, _: u64, dice: &mut Dice) -> bool {
    match operation {
        Operation::ValidationResponse(answer) => another(&mut answer.by, dice),
        _ => false,
    }
}
