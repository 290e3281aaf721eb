//! What an account can do at a registry, in the form that is on disk before anything is sent.

use concord_canonical::{
    Error, ErrorClass, Word,
    error::TextFault,
    limits::{ENDPOINT_MAX, METADATA_KEY_MAX, METADATA_VALUE_MAX, TAG_MAX, URI_MAX},
};
use concord_files::{check_portable_text, published_endpoint};
use concord_registry::event::Profile;
use serde::{Deserialize, Serialize};

use crate::ClientError;

/// Which reputation registry takes a feedback.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// Anyone's feedback: a fixed-point value (R16).
    Open,
    /// Feedback that the agent authorized: a score from 0 to 100 (R5).
    Authorized,
}

impl From<Kind> for Profile {
    fn from(kind: Kind) -> Self {
        match kind {
            Kind::Open => Self::Open,
            Kind::Authorized => Self::Authorized,
        }
    }
}

impl Kind {
    /// The kind's name in the index's API.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Authorized => "authorized",
        }
    }
}

/// One thing that an account does. Agents and accounts are named as the chain writes them: a decimal number and
/// `0x…` on EVM, base58 on Solana.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "operation", rename_all = "kebab-case", deny_unknown_fields)]
#[non_exhaustive]
pub enum Operation {
    /// Registers an agent of the account.
    Register(Registration),
    /// Sets where an agent is paid (R3).
    SetWallet(WalletSetting),
    /// Gives feedback.
    Give(Feedback),
    /// Revokes the account's own feedback.
    Revoke(Revocation),
    /// Responds to a feedback (R19).
    Respond(Response),
    /// Asks a validator to validate an agent of the account (R20).
    RequestValidation(ValidationRequest),
    /// Responds to a request for validation (R20).
    AnswerValidation(ValidationAnswer),
}

impl Operation {
    /// The operation's name, for messages.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Register(_) => "register",
            Self::SetWallet(_) => "set-wallet",
            Self::Give(_) => "give",
            Self::Revoke(_) => "revoke",
            Self::Respond(_) => "respond",
            Self::RequestValidation(_) => "request-validation",
            Self::AnswerValidation(_) => "answer-validation",
        }
    }

    /// Refuses text over its portable length, or with NUL (R17), also on EVM, where the registries take any.
    pub(crate) fn require_portable(&self) -> Result<(), ClientError> {
        match self {
            Self::Register(it) => {
                require_length("uri", &it.uri, URI_MAX)?;
                let mut metadata = it.metadata.iter();
                metadata.try_for_each(|(key, value)| require_metadata(key, value))
            }
            Self::Give(it) => {
                require_length("tag1", &it.tag1, TAG_MAX)?;
                require_length("tag2", &it.tag2, TAG_MAX)?;
                require_length("endpoint", it.rating.endpoint(), ENDPOINT_MAX)?;
                require_length("uri", &it.uri, URI_MAX)
            }
            Self::Respond(it) => require_length("uri", &it.uri, URI_MAX),
            Self::RequestValidation(ValidationRequest { tag, uri, .. })
            | Self::AnswerValidation(ValidationAnswer { tag, uri, .. }) => {
                require_length("tag", tag, TAG_MAX)?;
                require_length("uri", uri, URI_MAX)
            }
            Self::SetWallet(_) | Self::Revoke(_) => Ok(()),
        }
    }

    /// Refuses a feedback about an endpoint that may not be published (R39).
    pub(crate) fn require_published(&self) -> Result<(), ClientError> {
        match self {
            Self::Give(it) => it.rating.require_published(),
            _ => Ok(()),
        }
    }
}

fn require_length(field: &'static str, text: &str, max: usize) -> Result<(), ClientError> {
    check_portable_text(text, max).map_err(|fault| Error::LengthLimit { field, fault }.into())
}

/// A value is bytes on chain: like the program, this takes NUL in it.
fn require_metadata(key: &str, value: &str) -> Result<(), ClientError> {
    require_length("metadata key", key, METADATA_KEY_MAX)?;
    let length = value.len();
    if length <= METADATA_VALUE_MAX {
        return Ok(());
    }
    let (field, min, max) = ("metadata value", 0, METADATA_VALUE_MAX);
    let fault = TextFault::Length { length, min, max };
    Err(Error::LengthLimit { field, fault }.into())
}

/// An agent to register.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Registration {
    /// Where its registration file is, in at most 200 bytes (R17).
    pub uri: String,
    /// Metadata to begin with: keys of at most 32 bytes, values of at most 256 (R17). Values are text; [`Operation`]s of other bytes are rare and sent with `registry/`.
    pub metadata: Vec<(String, String)>,
    /// Solana: which of the account's registrations this is (R4); the agent's id is derived from both. Without one, a
    /// nonce is drawn, and kept in the operation's record. Unused on EVM, where the registry numbers its agents.
    pub nonce: Option<u64>,
}

/// An agent's new wallet, and its consent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct WalletSetting {
    /// The agent.
    pub agent: String,
    /// Where it is paid from now on.
    pub wallet: String,
    /// EVM: the wallet's signature. On Solana the wallet signs the transaction instead.
    pub consent: Option<WalletConsent>,
}

/// A wallet's signature over `AgentWalletSet` (R3).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct WalletConsent {
    /// Unix seconds, at most 300 ahead of the chain's clock.
    pub deadline: u64,
    /// 65 bytes, or what the wallet's contract accepts (ERC-1271); hex with `0x`.
    pub signature: String,
}

/// A feedback that refers to its file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Feedback {
    /// The agent.
    pub agent: String,
    /// First tag.
    pub tag1: String,
    /// Second tag.
    pub tag2: String,
    /// What it says.
    pub rating: Rating,
    /// Where the feedback file is; may be empty.
    pub uri: String,
    /// Its hash (R21); zeros for none.
    #[serde(with = "hex_word")]
    pub hash: Word,
}

/// The part of a feedback that depends on its kind.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Rating {
    /// Anyone's.
    Open {
        /// The integer, in decimal text: JSON numbers are not exact. It means `value / 10^decimals` (R16).
        value: String,
        /// 0 to 18.
        decimals: u8,
        /// What was used of the agent.
        endpoint: String,
    },
    /// With the agent's authorization.
    Authorized {
        /// 0 to 100.
        score: u8,
        /// The authorization.
        auth: FeedbackAuth,
    },
}

impl Rating {
    /// Which registry takes it.
    #[must_use]
    pub const fn kind(&self) -> Kind {
        match self {
            Self::Open { .. } => Kind::Open,
            Self::Authorized { .. } => Kind::Authorized,
        }
    }

    /// What was used of the agent. Authorized feedback has no endpoint.
    const fn endpoint(&self) -> &str {
        match self {
            Self::Open { endpoint, .. } => endpoint.as_str(),
            Self::Authorized { .. } => "",
        }
    }

    /// Refuses an endpoint with a query, a fragment or user info (R39). It is not repeated: it can hold a secret.
    pub(crate) fn require_published(&self) -> Result<(), ClientError> {
        let endpoint = self.endpoint();
        if published_endpoint(endpoint) == endpoint {
            return Ok(());
        }
        let found = "a URL with a query, a fragment or user info";
        Err(malformed("endpoint", found, "a URL without them (R39)"))
    }
}

/// An authorization to give feedback (R5 to R9), as [`authorize`](crate::EvmRegistries::authorize) makes it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct FeedbackAuth {
    /// Valid while the client's last index is below it (R8).
    pub index_limit: u64,
    /// Unix seconds; valid before it (R8).
    pub expiry: u64,
    /// What the registry takes, hex with `0x`. EVM: `abi.encode(fields) ‖ signature` (R6). Solana: the 64 bytes
    /// of the Ed25519 signature (R9).
    pub authorization: String,
}

/// A feedback of the account that is to be revoked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Revocation {
    /// Its kind.
    pub kind: Kind,
    /// The agent.
    pub agent: String,
    /// Counts from 1 (R44).
    pub index: u64,
}

/// A response to a feedback.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Response {
    /// The feedback's kind.
    pub kind: Kind,
    /// The agent.
    pub agent: String,
    /// Whose feedback it is.
    pub client: String,
    /// Counts from 1 (R44).
    pub index: u64,
    /// Where the response file is. Not empty.
    pub uri: String,
    /// Its hash.
    #[serde(with = "hex_word")]
    pub hash: Word,
}

/// A request for validation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ValidationRequest {
    /// The agent.
    pub agent: String,
    /// Who is asked.
    pub validator: String,
    /// The request's hash, which
    /// [`ValidationRequest::hash`](concord_canonical::validation::ValidationRequest::hash) computes.
    #[serde(with = "hex_word")]
    pub request: Word,
    /// Where the request file is.
    pub uri: String,
    /// Solana: a tag of up to 32 bytes. EVM has none in a request.
    pub tag: String,
}

/// A validator's response.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ValidationAnswer {
    /// The agent. EVM finds it by the request.
    pub agent: String,
    /// The request's hash.
    #[serde(with = "hex_word")]
    pub request: Word,
    /// 0 to 100.
    pub score: u8,
    /// Where the evidence is.
    pub uri: String,
    /// Its hash.
    #[serde(with = "hex_word")]
    pub hash: Word,
    /// The tag; on Solana its padded 32 bytes (R14).
    pub tag: String,
}

/// Bytes of hex with `0x`.
pub(crate) fn bytes_of(field: &'static str, text: &str) -> Result<Vec<u8>, ClientError> {
    let bytes = text.strip_prefix("0x").and_then(|it| hex::decode(it).ok());
    bytes.ok_or_else(|| malformed(field, text, "0x and hexadecimal digits"))
}

/// A field of an operation that breaks its form.
pub(crate) fn malformed(field: &'static str, found: &str, expected: &str) -> ClientError {
    ClientError::Malformed {
        field,
        found: found.chars().take(80).collect(),
        expected: expected.to_owned(),
        class: ErrorClass::BadRequest,
    }
}

mod hex_word {
    use concord_canonical::Word;
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    pub(super) fn serialize<S: Serializer>(word: &Word, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&format!("0x{}", hex::encode(word)))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Word, D::Error> {
        let text = String::deserialize(from)?;
        let digits = text.strip_prefix("0x").and_then(|it| hex::decode(it).ok());
        let word = digits.and_then(|it| it.try_into().ok());
        word.ok_or_else(|| D::Error::custom("expected 0x and 64 hexadecimal digits"))
    }
}
