use concord_canonical::hash::keccak256;
use concord_files::{Error, FeedbackFile, RawJson, Timestamp, X402Feedback};
use concord_x402::feedback::{FeedbackContent, FileStore, Submission};

/// The member of a file whose payment was not verified (R54).
const PAYMENTS: &str = "payments";
const UNCHECKED: &str = "unchecked";

/// What the reviewer says. Nothing can be read from it; it can only become a file (R53).
#[derive(Clone, Debug)]
pub struct Content(X402Feedback);

/// A feedback file, and the submission that refers to it. Both are fixed at acceptance (R55).
#[derive(Clone, Debug)]
pub struct Sealed {
    pub(crate) submission: Submission,
    pub(crate) file: String,
}

/// What a file says beside the review.
#[derive(Clone, Copy, Debug)]
pub struct Seal<'a> {
    /// The account that submits, CAIP-10 (R38).
    pub client: &'a str,
    /// Unix seconds (R55).
    pub accepted_at: u64,
    /// Whether the payment was verified on its chain (R54).
    pub is_payment_checked: bool,
}

impl Content {
    /// `draft` has passed every form check; its client and time are placeholders.
    pub(crate) fn new(draft: X402Feedback) -> Self {
        Self(draft)
    }

    /// Builds the file. The same arguments give the same bytes (R55).
    ///
    /// # Errors
    /// The file's, if the time is beyond the year 9999.
    pub fn seal(self, seal: Seal<'_>, store: &dyn FileStore) -> Result<Sealed, Error> {
        let mut file = self.0;
        file.head.client_address = seal.client.to_owned();
        if let Some(time) = Timestamp::from_unix_seconds(seal.accepted_at) {
            file.head.created_at = time;
        }
        if !seal.is_payment_checked {
            let unchecked = RawJson::text(UNCHECKED);
            file.extra.insert(PAYMENTS.to_owned(), unchecked);
        }
        let content = FeedbackContent::Open {
            value: file.value.value.to_string(),
            decimals: file.value.value_decimals,
            endpoint: file.head.endpoint.clone().unwrap_or_default(),
        };
        let tag = |tag: &Option<String>| tag.clone().unwrap_or_default();
        let [tag1, tag2] = [tag(&file.head.tag1), tag(&file.head.tag2)];
        let agent_id = file.agent_id.to_string();
        let text = FeedbackFile::X402(file).to_canonical()?; // R21
        let hash = keccak256(text.as_bytes());
        Ok(Sealed {
            submission: Submission {
                agent_id,
                tag1,
                tag2,
                content,
                uri: store.uri(text.as_bytes()),
                hash: format!("0x{}", hex::encode(hash)),
            },
            file: text,
        })
    }
}
