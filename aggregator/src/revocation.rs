//! A reviewer's request to revoke what they submitted (R58). The feedback file names who that is, so the
//! aggregator, whose account the registry knows, revokes for them alone.

use concord_canonical::{Word, caip::TaskRef, interaction::Revocation, json};
use concord_files::Algorithm;
use serde::{Deserialize, Serialize};

use crate::{
    Code, Refusal,
    admission::is_same_account,
    claim::{payer_account, verify_account},
    form::{malformed, member, text_of},
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
        let hash = bytes(&self.feedback_hash, "feedbackHash")?;
        let hash = Word::try_from(hash).map_err(|found| {
            let message = format!("has {} bytes, expected 32", found.len());
            malformed("MalformedField", message).of("feedbackHash")
        })?;
        let signature = bytes(&self.reviewer_signature, "reviewerSignature")?;
        let algorithm = self.algorithm()?;
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
        let key = format!("{}:{}", task_ref.dedupe_key(), payer_account(reviewer));
        Ok(SignedRevocation {
            request: self,
            key,
            hash,
        })
    }

    fn algorithm(&self) -> Result<Algorithm, Refusal> {
        match &*self.reviewer_signature_algorithm {
            "secp256k1" => Ok(Algorithm::Secp256k1),
            "ed25519" => Ok(Algorithm::Ed25519),
            other => {
                let found: String = other.chars().take(32).collect();
                let message = format!("found {found:?}, expected secp256k1 or ed25519");
                let refusal = malformed("MalformedField", message);
                Err(refusal.of("reviewerSignatureAlgorithm"))
            }
        }
    }
}

impl SignedRevocation {
    /// Requires that it is about this submission.
    pub(crate) fn require(&self, row: &Row) -> Result<(), Refusal> {
        let request = &self.request;
        let (registry, _) = row.lane.split_once(' ').unwrap_or_default();
        if !is_same_account(registry, &request.agent_registry) {
            let message = format!("the feedback is about an agent of {registry}");
            return Err(malformed("AgentMismatch", message).of("agentRegistry"));
        }
        if row.submission.agent_id != request.agent_id {
            let message = format!("the feedback is about agent {}", row.submission.agent_id);
            return Err(malformed("AgentMismatch", message).of("agentId"));
        }
        let hash = format!("0x{}", hex::encode(self.hash));
        if row.submission.hash != hash {
            let message = format!("found {hash}, expected {}", row.submission.hash);
            return Err(malformed("FeedbackHashMismatch", message).of("feedbackHash"));
        }
        match row.state {
            RowState::Refused => {
                let message = "the registry refused the feedback: there is nothing to revoke";
                Err(malformed("FeedbackNotPublished", message))
            }
            _ => Ok(()),
        }
    }
}

fn bytes(text: &str, field: &str) -> Result<Vec<u8>, Refusal> {
    let digits = text.strip_prefix("0x");
    let bytes = digits.and_then(|it| hex::decode(it).ok());
    bytes.ok_or_else(|| {
        let message = "expected 0x and pairs of hexadecimal digits";
        malformed("MalformedField", message).of(field)
    })
}
