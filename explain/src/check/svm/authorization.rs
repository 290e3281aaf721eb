//! R9 to R11: the authorization that the Ed25519 precompile verified, verified again.
use super::SvmHome;
use crate::{
    check::{
        given::Given,
        verdict::{Checked, Verdict},
    },
    evidence::{Gap, SvmExecuted},
};
use concord_canonical::{
    auth::{SvmFeedbackAuth, x84_message},
    caip::ChainId,
    sign::ed25519_verify,
};
use concord_registry::{
    event::{AuthorizedBy, Event},
    svm::instructions::{FeedbackAuthorization, GiveFeedback},
};

/// The scheme of X84's message (R10).
const X84: u8 = 1;

/// [`crate::Step::Authorization`] on Solana. The signer is the one of now: a cluster keeps no earlier state.
pub(super) fn check(home: &SvmHome<'_>, given: &Given) -> Checked {
    let by = given.authorized_by();
    let by = by.ok_or_else(|| Gap::broken("the event states no authorization"))?;
    let signer = home.registered()?.authorization_signer();
    let message = match by.scheme {
        X84 => x84_message(home.client.as_array(), home.mint.as_array()).to_vec(),
        _ => match bounded(home, given, &home.transaction()?, signer.to_bytes())? {
            Ok(message) => message,
            Err(verdict) => return Ok(verdict),
        },
    };
    Ok(verdict(&by, signer.as_ref(), &message)
        .with("signer", signer)
        .with("scheme", by.scheme))
}

fn verdict(by: &AuthorizedBy, signer: &[u8], message: &[u8]) -> Verdict {
    match ed25519_verify(signer, message, &by.signature) {
        Ok(()) if by.scheme == X84 => {
            Verdict::verified_since("its message is replayable for ever (R10)")
        }
        Ok(()) => Verdict::verified(),
        Err(error) => Verdict::cannot_check(format!(
            "the signature is not the present authority's ({error}); who had the right then is not known"
        )),
    }
}

/// R9: the 56 bytes, with the limits that the instruction states.
fn bounded(
    home: &SvmHome<'_>,
    given: &Given,
    executed: &SvmExecuted,
    signer: [u8; 32],
) -> Result<Result<Vec<u8>, Verdict>, Gap> {
    let Some((index_limit, expiry)) = limits(home, &given.event, executed) else {
        return Ok(Err(Verdict::cannot_check(
            "no instruction of the transaction states the authorization's limits",
        )));
    };
    let last = home.named.index.saturating_sub(1);
    if last >= index_limit {
        let detail = format!("its index limit is {index_limit}; the client had given {last} (R8)");
        return Ok(Err(Verdict::refuted(detail)));
    }
    if given.time.is_none_or(|time| time >= expiry) {
        return Ok(Err(Verdict::refuted(format!(
            "it expired at {expiry} (R8)"
        ))));
    }
    let chain = ChainId::parse(&home.named.chain).map_err(Gap::broken)?;
    let auth = SvmFeedbackAuth {
        agent_mint: home.mint.to_bytes(),
        client: home.client.to_bytes(),
        index_limit,
        expiry,
        chain: chain.hash(),
        program_id: home.program.id().to_bytes(),
        signer,
    };
    Ok(Ok(auth.message().to_vec()))
}

/// The limits in the instruction that gave the feedback: the one whose data the registry's own builder makes of
/// them and of the event.
fn limits(home: &SvmHome<'_>, event: &Event, executed: &SvmExecuted) -> Option<(u64, u64)> {
    let own = executed.signed.message.instructions().iter();
    let own = own.filter_map(|it| {
        let program = executed.keys.get(usize::from(it.program_id_index))?;
        (*program == home.program.id()).then_some(it.data.as_slice())
    });
    let calls = executed
        .transaction
        .instructions
        .iter()
        .flat_map(|it| &it.calls);
    let calls = calls
        .filter(|it| it.program == home.program.id())
        .map(|it| it.data.as_slice());
    own.chain(calls)
        .find_map(|data| limits_in(home, event, data))
}

fn limits_in(home: &SvmHome<'_>, event: &Event, data: &[u8]) -> Option<(u64, u64)> {
    let Event::AuthorizedFeedback {
        score,
        tag1,
        tag2,
        uri,
        hash,
        ..
    } = event
    else {
        return None;
    };
    let (_, tail) = data.split_last_chunk::<16>()?;
    let (index_limit, expiry) = tail.split_at(8);
    let [index_limit, expiry] =
        [index_limit, expiry].map(|it| it.try_into().map(u64::from_le_bytes));
    let (index_limit, expiry) = (index_limit.ok()?, expiry.ok()?);
    let made = home.program.give_feedback(
        home.client,
        home.mint,
        &GiveFeedback {
            index: home.named.index,
            score: *score,
            tag1: *tag1,
            tag2: *tag2,
            uri,
            hash: *hash,
            authorization: FeedbackAuthorization::Bounded {
                index_limit,
                expiry,
            },
        },
    );
    (made.data == data).then_some((index_limit, expiry))
}
