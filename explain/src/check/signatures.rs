//! What X402's proof in a file says, and whether it holds.
use super::{
    file::FeedbackFacts,
    verdict::{Checked, Verdict},
};
use crate::Exchange;
use concord_canonical::interaction;
use concord_files::X402Feedback;

/// Why the steps of a proof do not apply.
const NO_PROOF: &str = "the feedback has no proof of an interaction";

fn with_proof(facts: &FeedbackFacts, check: impl FnOnce(&X402Feedback) -> Verdict) -> Checked {
    Ok(match facts.x402()? {
        Some(file) => check(file),
        None => Verdict::not_applicable(NO_PROOF),
    })
}

/// [`crate::Step::ReviewerSignature`].
pub(super) fn reviewer(facts: &FeedbackFacts) -> Checked {
    with_proof(facts, |file| {
        match file.verify_review() {
            Ok(()) => Verdict::verified(),
            Err(error) => Verdict::refuted(error),
        }
        .with("reviewer", &file.proof().reviewer_address)
    })
}

/// [`crate::Step::DataHash`], if the caller has request and response.
pub(super) fn data_hash(facts: &FeedbackFacts, exchange: Option<&Exchange>) -> Checked {
    with_proof(facts, |file| {
        let Some(exchange) = exchange else {
            return Verdict::not_applicable("no request and response were given");
        };
        // the method does not enter the hash (R33)
        let request = interaction::request_bytes("GET", &exchange.target, &exchange.request.0);
        let computed = request.and_then(|it| interaction::data_hash(it, &exchange.response.0));
        let stated = file.proof().signed.data_hash.0;
        match computed {
            Ok(computed) if computed == stated => Verdict::verified(),
            Ok(computed) => Verdict::refuted(format!(
                "the file states 0x{}; request and response hash to 0x{}",
                hex::encode(stated),
                hex::encode(computed)
            )),
            Err(error) => Verdict::cannot_check(error),
        }
    })
}

/// [`crate::Step::PaymentUse`].
pub(super) fn payment_use(facts: &FeedbackFacts) -> Checked {
    with_proof(facts, |file| {
        Verdict::cannot_check(
            "nothing proves that no other feedback uses the payment; ask an index",
        )
        .with("task reference", &file.proof().signed.task_ref)
        .with("payer", &file.proof().reviewer_address)
    })
}
