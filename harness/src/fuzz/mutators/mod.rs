//! Ways to mutate an operation that would have been accepted, each with the class that it must
//! provoke (specification §3a). The class is stated here, apart from the model, and both are held
//! together.
/// Where a mutator fits, it has changed something.
macro_rules! mutate {
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

mod feedback;
mod identity;
mod payment;
mod statement;
mod text;
mod validation;

use super::{
    random::Random,
    world::{Mutation, Transition, World, any_actor},
};
use crate::model::{Actor, Agent, Chain, Operation, Tamper};
use concord_canonical::ErrorClass::{self, *};
use feedback::{
    decimals_above_18, index_beyond_the_last, long_endpoint, long_tag, no_clients, revoked_already,
    revoked_index_again, score_above_100, self_feedback, set_index, stale_index, unknown_client,
    unknown_entry_agent, value_above_the_limit,
};
use identity::{
    authority_without_consent, by_a_stranger, consent_for_another_agent,
    consent_for_another_wallet, consent_of_another, consent_to_another_owner, consent_used,
    deadline_passed, deadline_too_far, into_mutable_account, long_metadata_key,
    long_metadata_value, no_consent, no_wallet, reserved_key, transfer_by_a_stranger,
    unknown_agent, unknown_scheme,
};
use payment::{
    by_an_unknown_facilitator, by_another_payer, for_a_review_by_the_wallet, in_an_unknown_token,
    list_full, of_the_first_version, paid_in_the_future, proven_already, spent, unpaid,
};
use statement::{
    by_another_signer, expired, for_another_agent, for_another_client, is_of_a_contract,
    limit_reached, no_authorization, signed_by_another, tamper, tamper_bounded,
};
use std::collections::BTreeSet;
use text::{empty_uri, long_uri, nul_in_uri};
use validation::{
    no_validator, not_the_validator, request_exists, request_prefix_collides, unknown_request,
};

/// A way to mutate.
struct Mutator {
    name: &'static str,
    evm: Option<ErrorClass>,
    svm: Option<ErrorClass>,
    /// False where the operation cannot be mutated so.
    mutate: fn(&mut Operation, &World, u64, &mut Random) -> bool,
    /// How often it is taken, beside the others that fit.
    weight: u64,
}

impl Mutator {
    /// Taken more often: it fits few operations, and many others fit those too.
    const fn favoured(self) -> Self {
        self.weighing(8)
    }

    const fn weighing(mut self, weight: u64) -> Self {
        self.weight = weight;
        self
    }
}

const fn both(
    name: &'static str,
    class: ErrorClass,
    mutate: fn(&mut Operation, &World, u64, &mut Random) -> bool,
) -> Mutator {
    Mutator {
        name,
        evm: Some(class),
        svm: Some(class),
        mutate,
        weight: 1,
    }
}

const fn on_evm(
    name: &'static str,
    class: ErrorClass,
    mutate: fn(&mut Operation, &World, u64, &mut Random) -> bool,
) -> Mutator {
    Mutator {
        name,
        evm: Some(class),
        svm: None,
        mutate,
        weight: 1,
    }
}

const fn on_svm(
    name: &'static str,
    class: ErrorClass,
    mutate: fn(&mut Operation, &World, u64, &mut Random) -> bool,
) -> Mutator {
    Mutator {
        name,
        evm: None,
        svm: Some(class),
        mutate,
        weight: 1,
    }
}

/// Refused on both chains, for different rules.
const fn split(
    name: &'static str,
    [evm, svm]: [ErrorClass; 2],
    mutate: fn(&mut Operation, &World, u64, &mut Random) -> bool,
) -> Mutator {
    Mutator {
        name,
        evm: Some(evm),
        svm: Some(svm),
        mutate,
        weight: 1,
    }
}

/// Every way there is. The order means nothing.
const MUTATORS: &[Mutator] = &[
    both("unknown_agent", AgentNotFound, unknown_agent),
    both("unknown_entry_agent", FeedbackNotFound, unknown_entry_agent),
    both("unknown_client", FeedbackNotFound, unknown_client),
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
    both(
        "consent_for_another_agent",
        WalletConsentMissing,
        consent_for_another_agent,
    ),
    both(
        "consent_for_another_wallet",
        WalletConsentMissing,
        consent_for_another_wallet,
    ),
    on_svm(
        "authority_without_consent",
        AuthorityConsentMissing,
        authority_without_consent,
    )
    .favoured(),
    on_evm("deadline_passed", DeadlinePassed, deadline_passed),
    on_evm("deadline_too_far", DeadlineTooFar, deadline_too_far),
    on_evm("consent_used", WalletConsentUsed, consent_used).favoured(),
    on_svm("unknown_scheme", AuthSchemeUnknown, unknown_scheme),
    both("score_above_100", ScoreOutOfRange, score_above_100),
    both("self_feedback", SelfFeedback, self_feedback),
    on_svm("stale_index", FeedbackIndexStale, stale_index),
    on_svm(
        "revoked_index_again",
        FeedbackIndexStale,
        revoked_index_again,
    )
    .favoured(),
    both("no_authorization", AuthMissing, no_authorization),
    both("empty_authorization", AuthMissing, |it, _, _, _| {
        tamper(it, Tamper::Empty)
    }),
    both("truncated", AuthMalformed, |it, _, _, _| {
        !is_of_a_contract(it) && tamper(it, Tamper::Truncated)
    }),
    both("extended", AuthMalformed, |it, _, _, _| {
        !is_of_a_contract(it) && tamper(it, Tamper::Extended)
    }),
    // R6: a contract judges signatures of any length.
    split(
        "truncated_for_a_contract",
        [AuthNotGranted, AuthMalformed],
        |it, _, _, _| is_of_a_contract(it) && tamper(it, Tamper::Truncated),
    )
    .favoured(),
    split(
        "extended_for_a_contract",
        [AuthNotGranted, AuthMalformed],
        |it, _, _, _| is_of_a_contract(it) && tamper(it, Tamper::Extended),
    )
    .favoured(),
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
    both(
        "index_beyond_the_last",
        FeedbackNotFound,
        index_beyond_the_last,
    ),
    both("revoked_already", AlreadyRevoked, revoked_already),
    both("empty_uri", EmptyUri, empty_uri),
    on_svm("spent", PaymentSpent, spent).weighing(48),
    on_svm("proven_already", PaymentAlreadyProven, proven_already).weighing(16),
    on_svm("list_full", ListTooLong, list_full).favoured(),
    both("unpaid", PaymentNotAccepted, unpaid).favoured(),
    both("paid_in_the_future", PaymentNotAccepted, paid_in_the_future).favoured(),
    both("by_another_payer", PaymentNotAccepted, by_another_payer).favoured(),
    both(
        "in_an_unknown_token",
        PaymentNotAccepted,
        in_an_unknown_token,
    )
    .favoured(),
    both(
        "by_an_unknown_facilitator",
        PaymentNotAccepted,
        by_an_unknown_facilitator,
    )
    .favoured(),
    both(
        "for_a_review_by_the_wallet",
        PaymentNotAccepted,
        for_a_review_by_the_wallet,
    )
    .weighing(192),
    both("of_the_first_version", AuthNotGranted, of_the_first_version).favoured(),
    both("decimals_above_18", DecimalsOutOfRange, decimals_above_18),
    both(
        "value_above_the_limit",
        ValueOutOfRange,
        value_above_the_limit,
    ),
    both("no_clients", EmptyClients, no_clients),
    both("no_validator", ValidatorZero, no_validator),
    both("request_exists", RequestExists, request_exists).favoured(),
    on_svm(
        "request_prefix_collides",
        RequestPrefixCollision,
        request_prefix_collides,
    )
    .favoured(),
    both("unknown_request", RequestNotFound, unknown_request),
    both("not_the_validator", NotValidator, not_the_validator),
];

/// The names of all mutators.
pub fn names() -> impl Iterator<Item = &'static str> {
    MUTATORS.iter().map(|mutator| mutator.name)
}

/// The classes that mutators provoke by themselves.
pub fn classes() -> BTreeSet<ErrorClass> {
    let classes = MUTATORS.iter().flat_map(|it| [it.evm, it.svm]);
    classes.flatten().collect()
}

/// Breaks a rule with an operation that at least one chain would accept. The class is due on the
/// chains that would.
pub fn mutate(
    world: &World,
    sound: &Transition,
    time: u64,
    random: &mut Random,
) -> Option<Transition> {
    let [on_evm, on_svm] = Chain::ALL.map(|chain| world.accepts(chain, &sound.operation, time));
    let is_due = |it: &Mutator| (on_evm && it.evm.is_some()) || (on_svm && it.svm.is_some());
    let (mutator, operation) = changed(world, &sound.operation, time, random, is_due)?;
    Some(Transition {
        operation,
        mutation: Some(Mutation {
            name: mutator.name,
            evm: mutator.evm.filter(|_| on_evm),
            svm: mutator.svm.filter(|_| on_svm),
        }),
        ..sound.clone()
    })
}

/// Breaks a second rule, or the same one again. The model alone says which error is due.
pub fn mutate_again(
    world: &World,
    mutated: Transition,
    time: u64,
    random: &mut Random,
) -> Transition {
    let Some((_, operation)) = changed(world, &mutated.operation, time, random, |_| true) else {
        return mutated;
    };
    Transition {
        operation,
        mutation: Some(Mutation {
            name: "two_mutations",
            evm: None,
            svm: None,
        }),
        ..mutated
    }
}

/// The operation after one of those mutators that change it, by weight.
fn changed(
    world: &World,
    operation: &Operation,
    time: u64,
    random: &mut Random,
    is_meant: impl Fn(&Mutator) -> bool,
) -> Option<(&'static Mutator, Operation)> {
    let mutators = MUTATORS.iter().filter(|mutator| is_meant(mutator));
    let mutated: Vec<_> = mutators
        .filter_map(|mutator| {
            let mut operation = operation.clone();
            (mutator.mutate)(&mut operation, world, time, random).then_some((mutator, operation))
        })
        .collect();
    let weights: Vec<_> = mutated.iter().map(|it| (it.0.weight, it)).collect();
    random.weigh(&weights).cloned()
}

fn ghost() -> Agent {
    Agent::from("ghost")
}

fn another(actor: &mut Actor, random: &mut Random) -> bool {
    let other = any_actor(random);
    let is_another = *actor != other;
    *actor = other;
    is_another
}
