#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

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
mod reviewers;
#[cfg(test)]
mod schema;
mod timestamp;

pub use agent_id::AgentId;
pub use agent_uri::{Inline, UriKind, decode_uri, decode_uri_bytes, encode_uri};
pub use algorithm::Algorithm;
pub use attachment::Attachment;
pub use bytes::{Bytes, HexWord};
pub use error::{Error, Rule};
pub use extra::{Extra, RawJson};
pub use feedback::{
    A2aContext, Agent0Feedback, BestPracticesFeedback, CommentField, Dialect, Difference,
    FeedbackFile, FeedbackHead, McpContext, OasfContext, OnChainEntry, OnChainRating,
    ParticipationProof, ProfileFeedback, ProofField, Rating, X402Feedback, check_portable_text,
    parse_feedback, published_endpoint,
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
pub use reviewers::{
    ListSignature, REVIEWER_LIST_TYPE, Reviewer, ReviewerList, parse_reviewer_list,
};
pub use timestamp::Timestamp;
