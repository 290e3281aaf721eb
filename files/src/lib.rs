//! ERC-8004 feedback and registration files, typed: read in every dialect that is found, written in the
//! current form, hashed, and compared with the chain. No network.
//!
//! - [`parse_feedback`] and [`parse_registration`] are lossless: a [`Parsed`] holds the typed view, each
//!   difference in wording that was bridged (by name), and the original text. Members that no dialect
//!   names survive as [`Extra`].
//! - Writers (`to_canonical`) emit RFC 8785 text in the current form and refuse what a reader would.
//! - An [`Error`] names the JSON path, the value found there, and the rule with its limit.
//! - [`identify_hash`] names the scheme that made a foreign hash.
//! - [`decode_uri`] decodes `data:` URIs and inline JSON; [`interaction_from_extensions`] and
//!   [`info_from_extensions`] read X402's extension in both profiles.
//! - [`ipfs::IpfsFile`] puts a file together from blocks, each of which must hash to its CID.
//!
//! JSON Schemas of the current forms are in `files/schemas/`. Rulings (`R21` and the like) are those of
//! Concord's specification; `PROFILE`, `BP`, `X402` and `FS` are the source documents.
//!
//! ```
//! use concord_files::{Dialect, FeedbackFile, MappingKind, OnChainEntry, OnChainRating, parse_feedback};
//! use concord_canonical::value::Value;
//!
//! let file = br#"{
//!     "agentRegistry": "eip155:8453:0x8004A169FB4a3325136EB29fA0ceB6D2e539a432",
//!     "agentId": "42",
//!     "clientAddress": "eip155:8453:0x70997970C51812dc3A010C7d01b50e0d17dc79C8",
//!     "createdAt": "2025-09-23T12:00:00Z",
//!     "value": 85,
//!     "valueDecimals": 0,
//!     "tag1": "starred",
//!     "mcp": { "tool": "financial_analyzer" }
//! }"#;
//! let parsed = parse_feedback(file)?;
//! assert_eq!(parsed.view().dialect(), Dialect::BestPractices);
//! assert_eq!(parsed.mappings()[0].kind, MappingKind::AgentIdText); // BP writes numbers
//!
//! let entry = OnChainEntry {
//!     agent_registry: "eip155:8453:0x8004a169fb4a3325136eb29fa0ceb6d2e539a432",
//!     agent_id: "42",
//!     client_address: "eip155:8453:0x70997970C51812dc3A010C7d01b50e0d17dc79C8",
//!     rating: OnChainRating::Open {
//!         value: Value::new(90, 0)?,
//!         tag1: "starred",
//!         tag2: "",
//!         endpoint: "",
//!     },
//!     feedback_hash: parsed.hash(),
//! };
//! let differences = parsed.differences(&entry);
//! assert_eq!((differences[0].field, &*differences[0].on_chain), ("value", "90"));
//!
//! let error = parse_feedback(br#"{"score": 101}"#).unwrap_err();
//! assert_eq!(error.to_string(), "$.agentRegistry: is required and missing");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod agent_id;
mod agent_uri;
mod algorithm;
mod attachment;
mod bytes;
mod error;
mod extra;
mod feedback;
mod hash_scheme;
pub mod ipfs;
mod mapping;
mod parsed;
mod payment;
mod rating_value;
mod reader;
mod registration;
mod reputation;
#[cfg(test)]
mod schema;
mod timestamp;

pub use agent_id::AgentId;
pub use agent_uri::{Inline, UriKind, decode_uri, encode_uri};
pub use algorithm::Algorithm;
pub use attachment::Attachment;
pub use bytes::{Bytes, HexWord};
pub use error::{Error, Rule};
pub use extra::{Extra, RawJson};
pub use feedback::{
    A2aContext, Agent0Feedback, BestPracticesFeedback, CommentField, Dialect, Difference,
    FeedbackFile, FeedbackHead, McpContext, OasfContext, OnChainEntry, OnChainRating,
    ParticipationProof, ProfileFeedback, ProofField, Rating, X402Feedback, parse_feedback,
    published_endpoint,
};
pub use hash_scheme::{FileHashes, HashScheme, identify_hash};
pub use mapping::{Mapping, MappingKind};
pub use parsed::Parsed;
pub use payment::{ChainReference, PaymentField, ProofOfPayment};
pub use rating_value::RatingValue;
pub use reader::FILE_MAX;
pub use registration::{
    AGENT_WALLET, REGISTRATION_TYPE, Registration, RegistrationFile, Service, Signer,
    parse_registration,
};
pub use reputation::{
    Found, InteractionData, RegistrationId, ReputationInfo, SignedInteraction, X402Profile,
    info_from_extensions, info_schema, interaction_from_extensions, parse_info, parse_interaction,
};
pub use timestamp::Timestamp;
