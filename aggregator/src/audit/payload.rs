use concord_canonical::{
    caip::TaskRef,
    hash::keccak256,
    json::{self, Value},
};
use concord_files::{CommentField, X402Feedback, published_endpoint};

use super::{PublishedReceipt, Unknown};
use crate::{claim::payment_key, form::text_of};

/// Characters of a text of others that a report repeats.
const SHOWN: usize = 64;

/// A submission as its reviewer sent it. The reviewer does not sign comment and endpoint, so nothing else shows that they were
/// published as they were sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SentPayload {
    /// The payment (R51).
    pub(super) key: String,
    /// As the receipt has it (R57).
    digest: String,
    comment: String,
    endpoint: String,
}

impl SentPayload {
    /// Reads the body of a request to `POST /feedback`.
    ///
    /// # Errors
    /// In words, if it is no such body.
    pub fn read(body: &[u8]) -> Result<Self, String> {
        let text = text_of(body).map_err(|refusal| refusal.message)?;
        let payload = json::parse(text).map_err(|error| format!("is not strict JSON: {error}"))?;
        let missing = |path: &str| format!("{path} is missing, or not a string");
        let task_ref = text_at(&payload, &["interactionData", "taskRef"]);
        let task_ref = task_ref.ok_or_else(|| missing("interactionData.taskRef"))?;
        let task_ref = TaskRef::parse(task_ref).map_err(|error| error.to_string())?;
        let reviewer = text_at(&payload, &["reviewerAddress"]);
        let reviewer = reviewer.ok_or_else(|| missing("reviewerAddress"))?;
        let of_review = |member| text_at(&payload, &["review", member]).unwrap_or_default();
        Ok(Self {
            key: payment_key(&task_ref, reviewer),
            digest: hex_of(&keccak256(payload.to_canonical().as_bytes())),
            comment: of_review("comment").to_owned(),
            endpoint: of_review("endpoint").to_owned(),
        })
    }

    /// A payload without a receipt: only its reviewer can know whether it was accepted.
    pub(super) fn unknown(&self) -> Unknown {
        Unknown {
            n: 0,
            key: self.key.clone(),
            detail: format!("no receipt of a feedback is of the payload {}", self.digest),
        }
    }

    /// Compares the receipt and the published review with what was sent.
    pub(super) fn require_published(
        &self,
        receipt: &PublishedReceipt,
        review: &X402Feedback,
    ) -> Result<(), String> {
        let (found, sent) = (&receipt.payload_digest, &self.digest);
        if found != sent {
            return Err(format!(
                "the receipt is of a payload with digest {found}, {sent} was sent"
            ));
        }
        let comment = match &review.comment {
            Some(CommentField::Comment(text) | CommentField::Reasoning(text)) => text,
            None => "",
        };
        if comment != self.comment {
            return Err(other("comment", comment, &self.comment));
        }
        let endpoint = review.head.endpoint.as_deref().unwrap_or_default();
        // R39
        if endpoint != published_endpoint(&self.endpoint) {
            return Err(other("endpoint", endpoint, &self.endpoint));
        }
        Ok(())
    }
}

fn other(member: &str, found: &str, sent: &str) -> String {
    let shown = |text: &str| text.chars().take(SHOWN).collect::<String>();
    let (found, sent) = (shown(found), shown(sent));
    format!("{member} is {found:?}, {sent:?} was sent")
}

fn hex_of(bytes: &[u8]) -> String {
    format!("0x{}", hex::encode(bytes))
}

fn text_at<'v>(payload: &'v Value<'v>, path: &[&str]) -> Option<&'v str> {
    let found = path.iter().try_fold(payload, |it, key| it.get(key));
    found?.as_str()
}
