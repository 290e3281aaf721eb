//! An agent's request to respond to feedback that was submitted here (R19, R58). On chain anybody may respond, and the
//! responder of a relayed response is the aggregator's account: the agent's signature is what shows that the agent asked.

use concord_canonical::{
    Word,
    caip::{AccountId, TaskRef},
    hash::keccak256,
    interaction::AgentResponse,
    json::{self, Value},
    limits::URI_MAX,
    sign::PublicKey,
};
use concord_files::{AgentId, Algorithm, RegistrationId};
use serde::{Deserialize, Serialize};

use crate::{
    Aggregator, Code, Progress, Refusal,
    aggregator::in_time,
    claim::payment_key,
    form::{algorithm_of, bytes_of, malformed, member, text_of, word_of},
    revocation::{require_feedback, unknown_feedback},
    store::{AcceptedResponse, ResponseRow},
};

/// The members of a request; any other is refused.
const MEMBERS: [&str; 10] = [
    "agentRegistry",
    "agentId",
    "taskRef",
    "reviewerAddress",
    "responseURI",
    "feedbackHash",
    "responseHash",
    "agentSignerPublicKey",
    "agentSignature",
    "agentSignatureAlgorithm",
];

/// What the agent sent: the fields of R58's response, and a signature over them. Anyone can verify it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ResponseRequest {
    /// As in the review.
    pub agent_registry: String,
    /// As in the review.
    pub agent_id: String,
    /// As in the review.
    pub task_ref: String,
    /// As in the review, CAIP-10.
    pub reviewer_address: String,
    /// Where the response file is, 1 to 200 bytes (R17).
    #[serde(rename = "responseURI")]
    pub response_uri: String,
    /// keccak256 of the feedback file, hex with `0x`.
    pub feedback_hash: String,
    /// Hash of the response file (R21), hex with `0x`.
    pub response_hash: String,
    /// A key that may sign for the agent now (R29), hex with `0x`.
    pub agent_signer_public_key: String,
    /// Over R58's message, hex with `0x`.
    pub agent_signature: String,
    /// `secp256k1` or `ed25519`.
    pub agent_signature_algorithm: String,
}

/// A well-formed request. Its signature is another question.
#[derive(Clone, Debug)]
pub struct ResponseForm {
    pub(crate) request: ResponseRequest,
    pub(crate) agent: RegistrationId,
    pub(crate) public_key: PublicKey,
    pub(crate) algorithm: Algorithm,
    pub(crate) signature: Vec<u8>,
    /// What the agent signs.
    pub(crate) message: Word,
    /// The feedback's key (R51).
    pub(crate) key: String,
    /// keccak256 of the request's RFC 8785 bytes (R57).
    pub(crate) digest: Word,
    pub(crate) feedback_hash: Word,
}

impl ResponseRequest {
    /// Reads a request's body: the checks of R52 that need nothing else.
    ///
    /// # Errors
    /// [`Code::InvalidPayload`], with the member that breaks its form.
    pub fn read(body: &[u8]) -> Result<ResponseForm, Refusal> {
        let payload = json::parse(text_of(body)?)
            .map_err(|error| malformed("MalformedJson", format!("is not strict JSON: {error}")))?;
        let request = Self {
            agent_registry: member(&payload, "agentRegistry")?,
            agent_id: member(&payload, "agentId")?,
            task_ref: member(&payload, "taskRef")?,
            reviewer_address: member(&payload, "reviewerAddress")?,
            response_uri: member(&payload, "responseURI")?,
            feedback_hash: member(&payload, "feedbackHash")?,
            response_hash: member(&payload, "responseHash")?,
            agent_signer_public_key: member(&payload, "agentSignerPublicKey")?,
            agent_signature: member(&payload, "agentSignature")?,
            agent_signature_algorithm: member(&payload, "agentSignatureAlgorithm")?,
        };
        require_known(&payload)?;
        request.form(keccak256(payload.to_canonical().as_bytes()))
    }

    /// The hash of the response file.
    pub(crate) fn response_word(&self) -> Result<Word, Refusal> {
        word_of(&self.response_hash, "responseHash")
    }

    fn form(self, digest: Word) -> Result<ResponseForm, Refusal> {
        let of = |error: concord_canonical::Error, field: &str| {
            malformed(error.class().name(), error.to_string()).of(field)
        };
        let registry = AccountId::parse(&self.agent_registry);
        let registry = registry.map_err(|error| of(error, "agentRegistry"))?;
        let agent_id = AgentId::parse(&registry, &self.agent_id);
        let agent_id = agent_id.map_err(|error| of(error, "agentId"))?;
        let task_ref = TaskRef::parse(&self.task_ref).map_err(|error| of(error, "taskRef"))?;
        let reviewer = &self.reviewer_address;
        AccountId::parse(reviewer).map_err(|error| of(error, "reviewerAddress"))?;
        require_uri(&self.response_uri)?;
        let feedback_hash = word_of(&self.feedback_hash, "feedbackHash")?;
        let message = AgentResponse {
            agent_registry: &self.agent_registry,
            agent_id: &self.agent_id,
            task_ref: &self.task_ref,
            reviewer_address: reviewer,
            response_uri: &self.response_uri,
            feedback_hash,
            response_hash: self.response_word()?,
        };
        let message = message
            .message()
            .map_err(|error| of(error, "responseURI"))?;
        let public_key = PublicKey::from_hex(&self.agent_signer_public_key);
        let public_key = public_key.map_err(|error| of(error, "agentSignerPublicKey"))?;
        Ok(ResponseForm {
            agent: RegistrationId {
                agent_registry: self.agent_registry.clone(),
                agent_id,
            },
            public_key,
            algorithm: algorithm_of(&self.agent_signature_algorithm, "agentSignatureAlgorithm")?,
            signature: bytes_of(&self.agent_signature, "agentSignature")?,
            message,
            key: payment_key(&task_ref, reviewer),
            digest,
            feedback_hash,
            request: self,
        })
    }
}

/// What is shown must be all that the receipt's digest covers (R57).
fn require_known(payload: &Value<'_>) -> Result<(), Refusal> {
    let members = payload.as_object().into_iter();
    let mut members = members.flat_map(|it| it.iter());
    match members.find(|(key, _)| !MEMBERS.contains(key)) {
        None => Ok(()),
        Some((key, _)) => {
            let message = format!("is none of: {}", MEMBERS.join(", "));
            Err(malformed("UnknownMember", message).of(key.chars().take(32).collect::<String>()))
        }
    }
}

/// R17, R19
fn require_uri(uri: &str) -> Result<(), Refusal> {
    let length = uri.len();
    if (1..=URI_MAX).contains(&length) {
        Ok(())
    } else {
        let message = format!("has {length} bytes, expected 1 to {URI_MAX} (R17)");
        Err(malformed("LengthLimit", message).of("responseURI"))
    }
}

impl Aggregator {
    /// Accepts an agent's response to a feedback that was accepted here, in R52's order: forms; the feedback is known;
    /// it has no other response; agent and file, signer, signature. One response is relayed for each feedback. `now`: unix
    /// seconds.
    ///
    /// # Errors
    /// [`Refusal`].
    pub async fn respond(&self, body: &[u8], now: u64) -> Result<ResponseRow, Refusal> {
        let form = ResponseRequest::read(body)?;
        let row = self.store.find(&form.key)?;
        let row = row.ok_or_else(|| unknown_feedback(&form.key))?;
        let ResponseRequest {
            agent_registry,
            agent_id,
            ..
        } = &form.request;
        require_feedback(&row, agent_registry, agent_id, &form.feedback_hash)?;
        let n = row.receipt.n;
        if let Some(before) = self.store.response_to(n)? {
            return require_same(before, &form.digest);
        }
        in_time(self.admission.check_response(&form, now)).await?;
        match self.store.accept_response(&row, &form, now).await? {
            AcceptedResponse::Now(response) => {
                tracing::info!(n = response.receipt.n, to = n, "response accepted");
                Ok(response)
            }
            // two came at once
            AcceptedResponse::Before(response) => require_same(response, &form.digest),
        }
    }

    /// Waits until a response landed or was refused, as [`Self::wait`].
    ///
    /// # Errors
    /// [`Refusal`] if the store fails.
    pub async fn wait_responded(&self, row: ResponseRow) -> Result<ResponseRow, Refusal> {
        let n = row.receipt.n;
        let is_open = |row: &ResponseRow| Progress::of(row.state) == Progress::Pending;
        self.wait_for(row, || self.store.response(n), is_open).await
    }
}

/// R51, of a response: the same request gets the stored answer.
fn require_same(row: ResponseRow, digest: &Word) -> Result<ResponseRow, Refusal> {
    if row.receipt.payload_digest == *digest {
        Ok(row)
    } else {
        let (key, n) = (&row.receipt.key, row.receipt.n);
        let message = format!("the feedback for {key} has another response: receipt {n}");
        let refusal = Refusal::new(Code::DuplicateTaskRef, "DuplicateResponse", message);
        Err(refusal.of("taskRef"))
    }
}
