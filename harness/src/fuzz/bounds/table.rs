//! The bounds themselves. The numbers are the specification's, stated here apart from the model.
use super::{
    Bound, Field,
    Limit::{self, Drawn, Fixed},
    Side::{self, Exactly, Least, Most},
};
use crate::{
    fuzz::{
        random::Random,
        world::{FACILITATORS, TOKENS, World},
    },
    model::{Actor, Agent, Authorization, Chain, Consent, Form, Operation, Payment, Profile},
};
use concord_canonical::ErrorClass::{self, *};

/// R17, in bytes of UTF-8.
const TAG: i128 = 32;
const ENDPOINT: i128 = 200;
const URI: i128 = 200;
const METADATA_KEY: i128 = 32;
const METADATA_VALUE: i128 = 256;
/// R16.
const DECIMALS: i128 = 18;
const VALUE: i128 = 10i128.pow(38);
/// R20, X84.
const SCORE: i128 = 100;
/// R3, in seconds.
const DEADLINE_AHEAD: i128 = 300;
/// R10: both schemes.
const SCHEMES: i128 = 1 + 2;
/// R13.
const TOKENS_LISTED: i128 = 8;
const FACILITATORS_LISTED: i128 = 16;

const fn bound(
    name: &'static str,
    side: Side,
    limit: Limit,
    [evm, svm]: [Option<ErrorClass>; 2],
    field: Field,
) -> Bound {
    Bound {
        name,
        side,
        limit,
        evm,
        svm,
        field,
    }
}

const fn both(class: ErrorClass) -> [Option<ErrorClass>; 2] {
    [Some(class), Some(class)]
}

const fn evm(class: ErrorClass) -> [Option<ErrorClass>; 2] {
    [Some(class), None]
}

const fn svm(class: ErrorClass) -> [Option<ErrorClass>; 2] {
    [None, Some(class)]
}

/// A text, by its bytes.
macro_rules! text {
    ($pattern:pat => $text:expr) => {
        Field {
            read: |operation, _| match operation {
                $pattern => length(&$text),
                _ => None,
            },
            write: |operation, value, _, random| match operation {
                $pattern => write_text(&mut $text, value, random),
                _ => false,
            },
        }
    };
}

macro_rules! number {
    ($pattern:pat => $number:expr) => {
        Field {
            read: |operation, _| match operation {
                $pattern => wide($number),
                _ => None,
            },
            write: |operation, value, _, _| match operation {
                $pattern => write_number(&mut $number, value),
                _ => false,
            },
        }
    };
}

/// A number in what `of` finds in the operation.
macro_rules! stated {
    ($of:expr, $member:ident) => {
        Field {
            read: |operation, _| {
                let mut operation = operation.clone();
                $of(&mut operation).map(|it| i128::from(it.$member))
            },
            write: |operation, value, _, _| {
                $of(operation).is_some_and(|it| write_number(&mut it.$member, value))
            },
        }
    };
}

/// Every bound.
#[rustfmt::skip] // a table
pub(super) const BOUNDS: &[Bound] = &[
    bound("register.uri", Most, Fixed(URI), svm(LengthLimit), REGISTERED_URI), // R17
    bound("register.metadata.key", Most, Fixed(METADATA_KEY), svm(LengthLimit), REGISTERED_KEY),
    bound("register.metadata.value", Most, Fixed(METADATA_VALUE), svm(LengthLimit), REGISTERED_VALUE),
    bound("set_agent_uri.uri", Most, Fixed(URI), svm(LengthLimit), text!(Operation::SetAgentUri(it) => it.uri)),
    bound("set_metadata.key", Most, Fixed(METADATA_KEY), svm(LengthLimit), text!(Operation::SetMetadata(it) => it.key)),
    bound("set_metadata.value", Most, Fixed(METADATA_VALUE), svm(LengthLimit), METADATA_VALUE_OF_AGENT),
    bound("set_agent_wallet.deadline, earliest", Least, Drawn(now), evm(DeadlinePassed), stated!(consent, deadline)), // R3
    bound("set_agent_wallet.deadline, latest", Most, Drawn(five_minutes_on), evm(DeadlineTooFar), stated!(consent, deadline)),
    bound("set_auth_schemes.schemes, none", Least, Fixed(1), svm(AuthSchemeUnknown), number!(Operation::SetAuthSchemes(it) => it.schemes)), // R10
    bound("set_auth_schemes.schemes, all", Most, Fixed(SCHEMES), svm(AuthSchemeUnknown), number!(Operation::SetAuthSchemes(it) => it.schemes)),
    bound("list_payment_token.length", Most, Fixed(TOKENS_LISTED), svm(ListTooLong), LISTED_TOKENS), // R13
    bound("list_facilitator.length", Most, Fixed(FACILITATORS_LISTED), svm(ListTooLong), LISTED_FACILITATORS),
    bound("give_feedback.score", Most, Fixed(SCORE), both(ScoreOutOfRange), number!(Operation::GiveFeedback(it) => it.score)),
    bound("give_feedback.uri", Most, Fixed(URI), svm(LengthLimit), text!(Operation::GiveFeedback(it) => it.uri)), // R17
    bound("give_feedback.index", Exactly, Drawn(next_index), svm(FeedbackIndexStale), NAMED_INDEX), // R12
    bound("give_feedback.expiry", Least, Drawn(after_now), both(AuthExpired), stated!(authorization, expiry)), // R8
    bound("give_feedback.index_limit", Least, Drawn(next_index_on_both), both(AuthIndexLimit), stated!(authorization, index_limit)),
    bound("revoke_feedback.index, first", Least, Fixed(1), both(FeedbackNotFound), number!(Operation::RevokeFeedback(it) => it.index)), // R8
    bound("revoke_feedback.index, last", Most, Drawn(last_index), both(FeedbackNotFound), number!(Operation::RevokeFeedback(it) => it.index)),
    bound("append_response.index, first", Least, Fixed(1), both(FeedbackNotFound), number!(Operation::AppendResponse(it) => it.index)), // R19
    bound("append_response.index, last", Most, Drawn(last_index), both(FeedbackNotFound), number!(Operation::AppendResponse(it) => it.index)),
    bound("append_response.uri, least", Least, Fixed(1), both(EmptyUri), text!(Operation::AppendResponse(it) => it.uri)),
    bound("append_response.uri, most", Most, Fixed(URI), svm(LengthLimit), text!(Operation::AppendResponse(it) => it.uri)),
    bound("attach_payment_proof.index, first", Least, Fixed(1), svm(FeedbackNotFound), number!(Operation::AttachPaymentProof(it) => it.index)), // R13
    bound("attach_payment_proof.index, last", Most, Drawn(last_index), svm(FeedbackNotFound), number!(Operation::AttachPaymentProof(it) => it.index)),
    bound("attach_payment_proof.amount", Least, Fixed(1), svm(PaymentNotAccepted), stated!(payment, amount)),
    bound("attach_payment_proof.paid_at", Most, Drawn(now), svm(PaymentNotAccepted), stated!(payment, paid_at)),
    bound("attach_payment_proof.expiry", Least, Drawn(after_now), svm(AuthExpired), stated!(payment, expiry)),
    bound("give_open_feedback.decimals", Most, Fixed(DECIMALS), both(DecimalsOutOfRange), number!(Operation::GiveOpenFeedback(it) => it.decimals)), // R16
    bound("give_open_feedback.value, most", Most, Fixed(VALUE), both(ValueOutOfRange), number!(Operation::GiveOpenFeedback(it) => it.value.0)),
    bound("give_open_feedback.value, least", Least, Fixed(-VALUE), both(ValueOutOfRange), number!(Operation::GiveOpenFeedback(it) => it.value.0)),
    bound("give_open_feedback.tag1", Most, Fixed(TAG), svm(LengthLimit), text!(Operation::GiveOpenFeedback(it) => it.tag1)), // R17
    bound("give_open_feedback.tag2", Most, Fixed(TAG), svm(LengthLimit), text!(Operation::GiveOpenFeedback(it) => it.tag2)),
    bound("give_open_feedback.endpoint", Most, Fixed(ENDPOINT), svm(LengthLimit), text!(Operation::GiveOpenFeedback(it) => it.endpoint)),
    bound("give_open_feedback.uri", Most, Fixed(URI), svm(LengthLimit), text!(Operation::GiveOpenFeedback(it) => it.uri)),
    bound("give_open_feedback.index", Exactly, Drawn(next_index), svm(FeedbackIndexStale), NAMED_OPEN_INDEX), // R12
    bound("revoke_open_feedback.index, first", Least, Fixed(1), both(FeedbackNotFound), number!(Operation::RevokeOpenFeedback(it) => it.index)), // R8
    bound("revoke_open_feedback.index, last", Most, Drawn(last_index), both(FeedbackNotFound), number!(Operation::RevokeOpenFeedback(it) => it.index)),
    bound("append_open_response.index, first", Least, Fixed(1), both(FeedbackNotFound), number!(Operation::AppendOpenResponse(it) => it.index)), // R19
    bound("append_open_response.index, last", Most, Drawn(last_index), both(FeedbackNotFound), number!(Operation::AppendOpenResponse(it) => it.index)),
    bound("append_open_response.uri, least", Least, Fixed(1), both(EmptyUri), text!(Operation::AppendOpenResponse(it) => it.uri)),
    bound("append_open_response.uri, most", Most, Fixed(URI), svm(LengthLimit), text!(Operation::AppendOpenResponse(it) => it.uri)),
    bound("open_summary.clients", Least, Fixed(1), both(EmptyClients), SUMMARY_CLIENTS), // R16
    bound("validation_request.uri", Most, Fixed(URI), svm(LengthLimit), text!(Operation::ValidationRequest(it) => it.uri)), // R17
    bound("validation_response.score", Most, Fixed(SCORE), both(ScoreOutOfRange), number!(Operation::ValidationResponse(it) => it.score)), // R20
    bound("validation_response.uri", Most, Fixed(URI), svm(LengthLimit), text!(Operation::ValidationResponse(it) => it.uri)), // R17
];

/// Solana's transaction has no room for a long URI and metadata.
const REGISTERED_URI: Field = Field {
    read: |operation, _| match operation {
        Operation::Register(it) => length(&it.uri),
        _ => None,
    },
    write: |operation, value, _, random| match operation {
        Operation::Register(it) => {
            it.metadata.clear();
            write_text(&mut it.uri, value, random)
        }
        _ => false,
    },
};

const REGISTERED_KEY: Field = Field {
    read: |operation, _| match operation {
        Operation::Register(it) => it.metadata.last().and_then(|last| length(&last.key)),
        _ => None,
    },
    write: |operation, value, _, random| match operation {
        Operation::Register(it) => it
            .metadata
            .last_mut()
            .is_some_and(|last| write_text(&mut last.key, value, random)),
        _ => false,
    },
};

/// Alone in its transaction, and with short texts beside.
const REGISTERED_VALUE: Field = Field {
    read: |operation, _| match operation {
        Operation::Register(it) => it.metadata.last().and_then(|last| length(&last.value.0)),
        _ => None,
    },
    write: |operation, value, _, _| match operation {
        Operation::Register(it) => {
            it.uri.clear();
            it.metadata.truncate(1);
            it.metadata
                .last_mut()
                .is_some_and(|last| write_bytes(&mut last.value.0, value))
        }
        _ => false,
    },
};

const METADATA_VALUE_OF_AGENT: Field = Field {
    read: |operation, _| match operation {
        Operation::SetMetadata(it) => length(&it.value.0),
        _ => None,
    },
    write: |operation, value, _, _| match operation {
        Operation::SetMetadata(it) => write_bytes(&mut it.value.0, value),
        _ => false,
    },
};

/// The list's length afterwards, if one is added.
const LISTED_TOKENS: Field = Field {
    read: |operation, world| match operation {
        Operation::ListPaymentToken(it) if it.listed && !world.svm.lists_token(&it.token) => {
            Some(tokens(world) + 1)
        }
        _ => None,
    },
    write: |operation, value, world, _| match operation {
        Operation::ListPaymentToken(it) if value == tokens(world) + 1 => {
            let others = TOKENS.iter().map(|it| Actor::from(*it));
            let other = others.into_iter().find(|it| !world.svm.lists_token(it));
            it.listed = true;
            other.map(|other| it.token = other).is_some()
        }
        _ => false,
    },
};

const LISTED_FACILITATORS: Field = Field {
    read: |operation, world| match operation {
        Operation::ListFacilitator(it)
            if it.listed && !world.svm.lists_facilitator(&it.facilitator) =>
        {
            Some(facilitators(world) + 1)
        }
        _ => None,
    },
    write: |operation, value, world, _| match operation {
        Operation::ListFacilitator(it) if value == facilitators(world) + 1 => {
            let others = FACILITATORS.iter().map(|it| Actor::from(*it));
            let other = others
                .into_iter()
                .find(|it| !world.svm.lists_facilitator(it));
            it.listed = true;
            other.map(|other| it.facilitator = other).is_some()
        }
        _ => false,
    },
};

const NAMED_INDEX: Field = Field {
    read: |operation, _| match operation {
        Operation::GiveFeedback(it) => it.index.map(i128::from),
        _ => None,
    },
    write: |operation, value, _, _| match operation {
        Operation::GiveFeedback(it) => write_number(it.index.insert(0), value),
        _ => false,
    },
};

const NAMED_OPEN_INDEX: Field = Field {
    read: |operation, _| match operation {
        Operation::GiveOpenFeedback(it) => it.index.map(i128::from),
        _ => None,
    },
    write: |operation, value, _, _| match operation {
        Operation::GiveOpenFeedback(it) => write_number(it.index.insert(0), value),
        _ => false,
    },
};

/// The first client, listed as often.
const SUMMARY_CLIENTS: Field = Field {
    read: |operation, _| match operation {
        Operation::OpenSummary(it) => i128::try_from(it.clients.len()).ok(),
        _ => None,
    },
    write: |operation, value, _, _| match (operation, usize::try_from(value)) {
        (Operation::OpenSummary(it), Ok(length)) => match it.clients.first().cloned() {
            Some(first) => {
                it.clients = vec![first; length];
                true
            }
            None => length == 0,
        },
        _ => false,
    },
};

fn consent(operation: &mut Operation) -> Option<&mut Consent> {
    match operation {
        Operation::SetAgentWallet(it) => it.consent.as_mut(),
        _ => None,
    }
}

/// One that has bounds: X84's message has none (R10).
fn authorization(operation: &mut Operation) -> Option<&mut Authorization> {
    match operation {
        Operation::GiveFeedback(it) => it.authorization.as_mut().filter(|it| it.form != Form::X84),
        _ => None,
    }
}

fn payment(operation: &mut Operation) -> Option<&mut Payment> {
    match operation {
        Operation::AttachPaymentProof(it) => Some(&mut it.payment),
        _ => None,
    }
}

fn now(_: &Operation, _: &World, time: u64) -> Option<i128> {
    Some(time.into())
}

fn after_now(_: &Operation, _: &World, time: u64) -> Option<i128> {
    Some(i128::from(time) + 1)
}

fn five_minutes_on(_: &Operation, _: &World, time: u64) -> Option<i128> {
    Some(i128::from(time) + DEADLINE_AHEAD)
}

/// Of the client on Solana, where alone it can be named (R12).
fn next_index(operation: &Operation, world: &World, _: u64) -> Option<i128> {
    let (profile, agent, client) = entry(operation)?;
    Some(last_on(world, Chain::Svm, profile, agent, client) + 1)
}

fn next_index_on_both(operation: &Operation, world: &World, time: u64) -> Option<i128> {
    Some(last_index(operation, world, time)? + 1)
}

/// `None` if the chains' last indices differ.
fn last_index(operation: &Operation, world: &World, _: u64) -> Option<i128> {
    let (profile, agent, client) = entry(operation)?;
    let last = last_on(world, Chain::Svm, profile, agent, client);
    let is_elsewhere = matches!(operation, Operation::AttachPaymentProof(_)); // on Solana only
    (is_elsewhere || last == last_on(world, Chain::Evm, profile, agent, client)).then_some(last)
}

/// The profile, the agent and the client of the entry that the operation is about.
fn entry(operation: &Operation) -> Option<(Profile, &Agent, &Actor)> {
    use Profile::{Authorized, Open};
    Some(match operation {
        Operation::GiveFeedback(it) => (Authorized, &it.agent, &it.by),
        Operation::RevokeFeedback(it) => (Authorized, &it.agent, &it.by),
        Operation::AppendResponse(it) => (Authorized, &it.agent, &it.client),
        Operation::AttachPaymentProof(it) => (Authorized, &it.agent, &it.client),
        Operation::GiveOpenFeedback(it) => (Open, &it.agent, &it.by),
        Operation::RevokeOpenFeedback(it) => (Open, &it.agent, &it.by),
        Operation::AppendOpenResponse(it) => (Open, &it.agent, &it.client),
        _ => return None,
    })
}

fn last_on(world: &World, chain: Chain, profile: Profile, agent: &Agent, client: &Actor) -> i128 {
    world.last_index(chain, profile, agent, client).into()
}

fn tokens(world: &World) -> i128 {
    let listed = TOKENS.iter().map(|it| Actor::from(*it));
    count(listed.filter(|it| world.svm.lists_token(it)))
}

fn facilitators(world: &World) -> i128 {
    let listed = FACILITATORS.iter().map(|it| Actor::from(*it));
    count(listed.filter(|it| world.svm.lists_facilitator(it)))
}

fn count(items: impl Iterator) -> i128 {
    items.fold(0, |count, _| count + 1)
}

fn wide(number: impl Into<i128>) -> Option<i128> {
    Some(number.into())
}

fn length(of: impl AsRef<[u8]>) -> Option<i128> {
    i128::try_from(of.as_ref().len()).ok()
}

/// Of letters of one byte, or of two, so that bytes and letters are not taken for each other.
fn write_text(text: &mut String, length: i128, random: &mut Random) -> bool {
    let Ok(length) = usize::try_from(length) else {
        return false;
    };
    *text = if random.percent(50) {
        "u".repeat(length)
    } else {
        "é".repeat(length / 2) + &"u".repeat(length % 2)
    };
    true
}

fn write_bytes(bytes: &mut Vec<u8>, length: i128) -> bool {
    usize::try_from(length)
        .map(|length| *bytes = vec![0x5a; length])
        .is_ok()
}

fn write_number<T: TryFrom<i128>>(number: &mut T, value: i128) -> bool {
    T::try_from(value).map(|value| *number = value).is_ok()
}
