use concord_canonical::{Word, hash::keccak256};
use concord_files::{
    AgentId, BestPracticesFeedback, Bytes, Extra, FeedbackFile, FeedbackHead, OnChainEntry,
    OnChainRating, ProfileFeedback, RatingValue, Timestamp, parse_feedback, published_endpoint,
};

use crate::{
    ClientError, FileStore, Rating,
    operation::{bytes_of, malformed},
};
use concord_canonical::{caip::AccountId, tag::Tag, value::Value};

/// A file that an operation refers to.
#[derive(Clone, Copy, Debug)]
pub enum Document<'a> {
    /// None.
    None,
    /// One that is published already.
    Published {
        /// Where it is.
        uri: &'a str,
        /// Its hash; opaque (R21).
        hash: Word,
    },
    /// A feedback file. It is stored before the transaction is signed, and must say what is sent.
    Feedback(&'a FeedbackFile),
    /// Any other file. It is stored before the transaction is signed; its hash is `keccak256` of its bytes.
    Bytes(&'a [u8]),
}

impl Document<'_> {
    /// Stores the file, if it is not published yet: where it is, and its hash.
    pub(crate) async fn store(self, files: &dyn FileStore) -> Result<(String, Word), ClientError> {
        match self {
            Self::None | Self::Published { .. } => {}
            Self::Feedback(file) => files.store(file.to_canonical()?.as_bytes()).await?, // R21
            Self::Bytes(bytes) => files.store(bytes).await?,
        }
        self.place(files)
    }

    /// Where the file is once it is stored, and its hash.
    pub(crate) fn place(self, files: &dyn FileStore) -> Result<(String, Word), ClientError> {
        match self {
            Self::None => Ok((String::new(), [0; 32])),
            Self::Published { uri, hash } => Ok((uri.to_owned(), hash)),
            Self::Feedback(file) => {
                let text = file.to_canonical()?; // R21
                Ok((files.uri(text.as_bytes()), file.hash()?))
            }
            Self::Bytes(bytes) => Ok((files.uri(bytes), keccak256(bytes))),
        }
    }
}

/// A feedback as its reviewer states it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Review {
    /// The agent, as the chain writes it.
    pub agent: String,
    /// First tag; may be empty.
    pub tag1: String,
    /// Second tag; may be empty.
    pub tag2: String,
    /// What it says.
    pub rating: Rating,
}

impl Review {
    /// An open feedback without tags (BP's `giveFeedback(agentId, value)`).
    #[must_use]
    pub fn open(agent: &str, value: Value) -> Self {
        let rating = Rating::Open {
            value: value.value().to_string(),
            decimals: value.decimals(),
            endpoint: String::new(),
        };
        Self::new(agent, rating)
    }

    /// A feedback without tags.
    #[must_use]
    pub fn new(agent: &str, rating: Rating) -> Self {
        Self {
            agent: agent.to_owned(),
            tag1: String::new(),
            tag2: String::new(),
            rating,
        }
    }

    /// With these tags.
    #[must_use]
    pub fn tagged(self, tag1: &str, tag2: &str) -> Self {
        Self {
            tag1: tag1.to_owned(),
            tag2: tag2.to_owned(),
            ..self
        }
    }

    /// About this service, without query, fragment and user info (R39). Authorized feedback has no endpoint.
    #[must_use]
    pub fn about(mut self, used: &str) -> Self {
        if let Rating::Open { endpoint, .. } = &mut self.rating {
            *endpoint = published_endpoint(used).into_owned();
        }
        self
    }

    /// The file of this review (BP's `prepareFeedbackFile`), to which a context or a payment can be added: BP's form
    /// for open feedback, PROFILE's for authorized. `place`: the identity registry and the client, CAIP-10.
    ///
    /// # Errors
    /// [`ClientError`] if the agent's id or the value breaks its form.
    pub fn file(
        &self,
        place: (&str, &str),
        created_at: Timestamp,
    ) -> Result<FeedbackFile, ClientError> {
        let (registry, client) = place;
        let agent_id = AgentId::parse(&AccountId::parse(registry)?, &self.agent)?;
        let text = |it: &str| (!it.is_empty()).then(|| it.to_owned());
        let endpoint = match &self.rating {
            Rating::Open { endpoint, .. } => text(endpoint),
            Rating::Authorized { .. } => None,
        };
        let head = FeedbackHead {
            agent_registry: registry.to_owned(),
            client_address: client.to_owned(),
            created_at,
            tag1: text(&self.tag1),
            tag2: text(&self.tag2),
            endpoint,
        };
        Ok(match &self.rating {
            Rating::Open { .. } => {
                let value = self.value()?;
                FeedbackFile::BestPractices(open_file(head, agent_id, value))
            }
            Rating::Authorized { score, auth } => {
                let auth = Bytes(bytes_of("authorization", &auth.authorization)?);
                FeedbackFile::Profile(authorized_file(head, agent_id, *score, auth))
            }
        })
    }

    fn value(&self) -> Result<Value, ClientError> {
        let Rating::Open {
            value, decimals, ..
        } = &self.rating
        else {
            return Err(malformed("rating", "a score", "a value"));
        };
        let number = value.parse();
        let number = number.map_err(|_| malformed("value", value, "an int128"))?;
        Ok(Value::new(number, *decimals)?)
    }

    /// Requires that a feedback file says what is sent.
    pub(crate) fn require_file(
        &self,
        file: &FeedbackFile,
        place: (&str, &str),
    ) -> Result<(), ClientError> {
        let text = file.to_canonical()?;
        let file = parse_feedback(text.as_bytes())?;
        let (agent_registry, client_address) = place;
        let rating = match &self.rating {
            Rating::Open { endpoint, .. } => OnChainRating::Open {
                value: self.value()?,
                tag1: &self.tag1,
                tag2: &self.tag2,
                endpoint,
            },
            Rating::Authorized { score, .. } => OnChainRating::Authorized {
                score: *score,
                tag1: Tag::new(&self.tag1)?.padded(),
                tag2: Tag::new(&self.tag2)?.padded(),
            },
        };
        let entry = OnChainEntry {
            agent_registry,
            agent_id: &self.agent,
            client_address,
            rating,
            feedback_hash: file.hash(),
        };
        let Some(first) = file.differences(&entry).into_iter().next() else {
            return Ok(());
        };
        let shown = |value: String| match first.field {
            "endpoint" => "(not shown)".to_owned(), // it can hold a secret
            _ => value,
        };
        Err(ClientError::FileDiffers {
            field: first.field,
            in_file: shown(first.in_file.unwrap_or_default()),
            sent: shown(first.on_chain),
        })
    }
}

fn open_file(head: FeedbackHead, agent_id: AgentId, value: Value) -> BestPracticesFeedback {
    BestPracticesFeedback {
        head,
        agent_id,
        value: RatingValue {
            value: value.value(),
            value_decimals: value.decimals(),
        },
        mcp: None,
        a2a: None,
        oasf: None,
        payment: None,
        extra: Extra::default(),
    }
}

fn authorized_file(
    head: FeedbackHead,
    agent_id: AgentId,
    score: u8,
    auth: Bytes,
) -> ProfileFeedback {
    ProfileFeedback {
        head,
        agent_id,
        feedback_auth: Some(auth),
        score,
        reasoning: None,
        skill: None,
        context: None,
        task: None,
        capability: None,
        name: None,
        payment: None,
        attachments: Vec::new(),
        extra: Extra::default(),
    }
}
