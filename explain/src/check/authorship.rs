//! R49: who the feedback is by.
use super::{
    file::FeedbackFacts,
    verdict::{Checked, Verdict},
};
use crate::{State, Step, evidence::Gap};

/// [`Step::Authorship`]. `proofs`: the states of the signer and of both signatures.
pub(super) fn check(file: &FeedbackFacts, proofs: [Option<State>; 3]) -> Checked {
    let proof = match file.x402() {
        Ok(proof) => proof,
        // a file that cannot be had may name a reviewer
        Err(Gap::Needs(Step::File)) => return Err(Gap::Needs(Step::File)),
        Err(Gap::Needs(step)) => return Err(Gap::Needs(step)),
        Err(_) => None,
    };
    let Some(proof) = proof else {
        return Ok(
            Verdict::verified_since("the account that submitted it").with("authorship", "onchain")
        );
    };
    let reviewer = &proof.proof().reviewer_address;
    let holds = proofs.iter().all(|it| *it == Some(State::Verified)) && file.is_proven();
    Ok(if holds {
        Verdict::verified_since("the reviewer, whose signature counts (R38)")
            .with("authorship", "signed")
    } else {
        Verdict::claimed("the file names a reviewer and does not prove them; the client counts")
            .with("authorship", "claimed")
    }
    .with("reviewer", reviewer))
}
