//! A reviewer's request to revoke what they submitted (R58). The feedback file names who that is, so the
//! aggregator, whose account the registry knows, revokes for them alone.

use concord_canonical::{Word, caip::TaskRef, interaction::Revocation, json};
use serde::{Deserialize, Serialize};

use crate::{
    Code, Refusal,
    admission::is_same_account,
    claim::{payment_key, verify_account},
    form::{algorithm_of, bytes_of, malformed, member, text_of, word_of},
    store::{Row, RowState},
};

/// What the reviewer sent: R58's fields, and their signature over them. Anyone can verify it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RevocationRequest {
    /// As in the review.
    pub agent_registry: String,
    /// As in the review.
    pub agent_id: String,
    /// As in the review.
    pub task_ref: String,
    /// As in the review, CAIP-10.
    pub reviewer_address: String,
    /// keccak256 of the feedback file, hex with `0x`.
    pub feedback_hash: String,
    /// Over R58's message, hex with `0x`.
    pub reviewer_signature: String,
    /// `secp256k1` or `ed25519`.
    pub reviewer_signature_algorithm: String,
}

/// A request whose signature holds.
#[derive(Clone, Debug)]
pub struct SignedRevocation {
    pub(crate) request: RevocationRequest,
    /// The submission's key (R51).
    pub(crate) key: String,
    hash: Word,
}

impl RevocationRequest {
    /// Reads a request's body.
    ///
    /// # Errors
    /// [`Code::InvalidPayload`], with the member that breaks its form.
    pub fn read(body: &[u8]) -> Result<Self, Refusal> {
        let payload = json::parse(text_of(body)?)
            .map_err(|error| malformed("MalformedJson", format!("is not strict JSON: {error}")))?;
        Ok(Self {
            agent_registry: member(&payload, "agentRegistry")?,
            agent_id: member(&payload, "agentId")?,
            task_ref: member(&payload, "taskRef")?,
            reviewer_address: member(&payload, "reviewerAddress")?,
            feedback_hash: member(&payload, "feedbackHash")?,
            reviewer_signature: member(&payload, "reviewerSignature")?,
            reviewer_signature_algorithm: member(&payload, "reviewerSignatureAlgorithm")?,
        })
    }

    /// Checks the forms and the reviewer's signature over R58's message.
    ///
    /// # Errors
    /// [`Code::InvalidPayload`], [`Code::InvalidReviewerSignature`].
    pub fn verify(self) -> Result<SignedRevocation, Refusal> {
        let unusable =
            |error: concord_canonical::Error| malformed(error.class().name(), error.to_string());
        let hash = word_of(&self.feedback_hash, "feedbackHash")?;
        let signature = bytes_of(&self.reviewer_signature, "reviewerSignature")?;
        let algorithm = &self.reviewer_signature_algorithm;
        let algorithm = algorithm_of(algorithm, "reviewerSignatureAlgorithm")?;
        let task_ref =
            TaskRef::parse(&self.task_ref).map_err(|error| unusable(error).of("taskRef"))?;
        let message = Revocation {
            agent_registry: &self.agent_registry,
            agent_id: &self.agent_id,
            task_ref: &self.task_ref,
            reviewer_address: &self.reviewer_address,
            feedback_hash: hash,
        };
        let message = message.message().map_err(unusable)?;
        let reviewer = &self.reviewer_address;
        verify_account(reviewer, algorithm, &message, &signature).map_err(|error| {
            let class = error.class().name();
            let refusal = Refusal::new(Code::InvalidReviewerSignature, class, error.to_string());
            refusal.of("reviewerSignature")
        })?;
        let key = payment_key(&task_ref, reviewer);
        Ok(SignedRevocation {
            request: self,
            key,
            hash,
        })
    }
}

impl SignedRevocation {
    /// Requires that it is about this submission.
    pub(crate) fn require(&self, row: &Row) -> Result<(), Refusal> {
        let request = &self.request;
        require_feedback(row, &request.agent_registry, &request.agent_id, &self.hash)
    }
}

/// Requires that a request names the agent and the file of this submission.
pub(crate) fn require_feedback(
    row: &Row,
    agent_registry: &str,
    agent_id: &str,
    hash: &Word,
) -> Result<(), Refusal> {
    let (registry, _) = row.lane.split_once(' ').unwrap_or_default();
    if !is_same_account(registry, agent_registry) {
        let message = format!("the feedback is about an agent of {registry}");
        return Err(malformed("AgentMismatch", message).of("agentRegistry"));
    }
    if row.submission.agent_id != agent_id {
        let message = format!("the feedback is about agent {}", row.submission.agent_id);
        return Err(malformed("AgentMismatch", message).of("agentId"));
    }
    let hash = format!("0x{}", hex::encode(hash));
    if row.submission.hash != hash {
        // the file's own hash is not said: until it is on chain, nobody else can know what was rated (R53)
        let message = format!(
            "{hash} is not the hash of the feedback file of receipt {}",
            row.receipt.n
        );
        return Err(malformed("FeedbackHashMismatch", message).of("feedbackHash"));
    }
    match row.state {
        RowState::Refused => {
            let message = "the registry refused the feedback: there is none on chain";
            Err(malformed("FeedbackNotPublished", message))
        }
        _ => Ok(()),
    }
}

pub(crate) fn unknown_feedback(key: &str) -> Refusal {
    let message = format!("no feedback for {key} was accepted here");
    Refusal::new(Code::UnknownFeedback, "UnknownFeedback", message).of("taskRef")
}
