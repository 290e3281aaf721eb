//! What this crate refuses, each error with the field, its value and the limit it broke.

mod text;

pub use text::{Excerpt, TextFault};

use crate::ErrorClass;

/// A rule that an input broke. [`Error::class`] gives the class that every chain shares.
///
/// No variant holds a secret: keys appear with their length or the broken rule only.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A score above [`crate::limits::SCORE_MAX`].
    #[error("score is {score}, at most {limit}")]
    ScoreOutOfRange {
        /// The score given.
        score: u64,
        /// The highest score.
        limit: u8,
    },
    /// More decimals than [`crate::limits::DECIMALS_MAX`] (R16).
    #[error("value_decimals is {decimals}, at most {limit}")]
    DecimalsOutOfRange {
        /// The decimals given.
        decimals: u64,
        /// The most decimals.
        limit: u8,
    },
    /// A value whose magnitude exceeds [`crate::limits::VALUE_MAX`] (R16).
    #[error("value is {value}, between -{limit} and {limit}")]
    ValueOutOfRange {
        /// The value given.
        value: i128,
        /// The largest magnitude.
        limit: i128,
    },
    /// A value outside the range of its standard tag (BP).
    #[error("value {value} with {decimals} decimals is outside {tag}'s range, {range}")]
    TagValueOutOfRange {
        /// The tag.
        tag: &'static str,
        /// The value given.
        value: i128,
        /// Its decimals.
        decimals: u8,
        /// The range, in words.
        range: &'static str,
    },
    /// A star rating outside 1 to 5 (BP).
    #[error("stars is {stars}, must be 1 to {limit}")]
    StarsOutOfRange {
        /// The rating given.
        stars: u8,
        /// The highest rating.
        limit: u8,
    },
    /// A counter that has reached the end of its type (R8).
    #[error("{counter} is {limit}, its maximum")]
    CounterExhausted {
        /// Which counter.
        counter: &'static str,
        /// The largest value it can hold.
        limit: u64,
    },
    /// A summary over no clients (R16).
    #[error("clients is empty, at least 1 is needed")]
    EmptyClients,
    /// Text longer than a portable limit, or with a NUL byte (R17).
    #[error("{field} {fault}")]
    LengthLimit {
        /// Which field.
        field: &'static str,
        /// What is wrong with it.
        fault: TextFault,
    },
    /// The metadata key that only the wallet operations write (R2).
    #[error("metadata key is \"agentWallet\", which only the wallet operations may write")]
    ReservedKey,

    /// A feedback authorization without any bytes (§3a).
    #[error("feedbackAuth is empty, at least {limit} bytes are needed")]
    AuthMissing {
        /// The least length in bytes.
        limit: usize,
    },
    /// A feedback authorization of a length that the form does not have (R6).
    #[error("feedbackAuth is {length} bytes, {limit} are needed")]
    AuthLength {
        /// The length given, in bytes.
        length: usize,
        /// The length needed, in bytes.
        limit: usize,
    },
    /// An ABI word of a feedback authorization whose unused high bytes are not zero (R6).
    #[error("feedbackAuth word {word} ({field}) has bits set above its {width} bytes")]
    AuthDirtyWord {
        /// Index of the word, from 0.
        word: usize,
        /// The field it holds.
        field: &'static str,
        /// Bytes that the field's type uses.
        width: usize,
    },

    /// Parts of a summary that contradict each other.
    #[error("summary's {field} {rule}")]
    SummaryMismatch {
        /// Which part.
        field: &'static str,
        /// The rule it breaks.
        rule: &'static str,
    },
    /// A request whose length does not fit the data hash's 4-byte prefix (X402 §1).
    #[error("request is {length} bytes, at most {limit}")]
    RequestTooLong {
        /// The declared length in bytes.
        length: u64,
        /// The largest length in bytes.
        limit: u64,
    },
    /// A request without a method, or without body and target (R24).
    #[error("{field} is empty, at least 1 character is needed")]
    EmptyRequest {
        /// Which field.
        field: &'static str,
    },
    /// A request or response that did not have its declared length.
    #[error("request is {length} bytes, {declared} were declared")]
    RequestLengthMismatch {
        /// Bytes received.
        length: u64,
        /// Bytes announced.
        declared: u64,
    },
    /// An output buffer that is too short.
    #[error("output buffer is {length} bytes, {needed} are needed")]
    BufferTooShort {
        /// Its length in bytes.
        length: usize,
        /// The length needed in bytes.
        needed: usize,
    },

    /// Text that is not a decimal integer of the form `-?(0|[1-9][0-9]*)`.
    #[error("{field} \"{value}\" {fault}")]
    MalformedNumber {
        /// Which field.
        field: &'static str,
        /// Its text.
        value: Excerpt,
        /// What is wrong with it.
        fault: TextFault,
    },
    /// A number that its type, or a profile's integer rule (R22), cannot hold.
    #[error("{field} is {value}, must be {limit}")]
    NumberOutOfRange {
        /// Which field.
        field: &'static str,
        /// Its text.
        value: Excerpt,
        /// The range, in words.
        limit: &'static str,
    },
    /// A name that the field's list of names does not hold.
    #[error("{field} is \"{value}\", must be {allowed}")]
    UnknownName {
        /// Which field.
        field: &'static str,
        /// Its text.
        value: Excerpt,
        /// The names it may have, in words.
        allowed: &'static str,
    },

    /// Not a CAIP-2 chain id.
    #[error("chain id's {field} \"{value}\" {fault}")]
    MalformedChainId {
        /// Which part.
        field: &'static str,
        /// Its text.
        value: Excerpt,
        /// What is wrong with it.
        fault: TextFault,
    },
    /// Not a CAIP-10 account id.
    #[error("account id's {field} \"{value}\" {fault}")]
    MalformedAccountId {
        /// Which part.
        field: &'static str,
        /// Its text.
        value: Excerpt,
        /// What is wrong with it.
        fault: TextFault,
    },
    /// Not an address of the kind its chain uses.
    #[error("{field} \"{value}\" {fault}")]
    MalformedAddress {
        /// Which field.
        field: &'static str,
        /// Its text.
        value: Excerpt,
        /// What is wrong with it.
        fault: TextFault,
    },
    /// Not a task reference (X402 §1, R24).
    #[error("task reference's {field} \"{value}\" {fault}")]
    MalformedTaskRef {
        /// Which part.
        field: &'static str,
        /// Its text.
        value: Excerpt,
        /// What is wrong with it.
        fault: TextFault,
    },
    /// Not a canonical tag (R14).
    #[error("{field} {fault}")]
    MalformedTag {
        /// Which tag.
        field: &'static str,
        /// What is wrong with it.
        fault: TextFault,
    },
    /// Not a feedback id `agentId:client:index` (BP).
    #[error("feedback id's {field} \"{value}\" {fault}")]
    MalformedFeedbackId {
        /// Which part.
        field: &'static str,
        /// Its text.
        value: Excerpt,
        /// What is wrong with it.
        fault: TextFault,
    },

    /// Text that is not JSON.
    #[error("JSON at byte {offset}: {what}")]
    MalformedJson {
        /// Byte offset into the text.
        offset: usize,
        /// What was found or missed there.
        what: &'static str,
    },
    /// An object that names one key twice (R22).
    #[error("JSON at byte {offset}: key \"{key}\" occurs twice in one object")]
    DuplicateKey {
        /// Byte offset of the second occurrence.
        offset: usize,
        /// The key.
        key: Excerpt,
    },
    /// A surrogate escape without its other half (R22).
    #[error("JSON at byte {offset}: surrogate without its pair")]
    LoneSurrogate {
        /// Byte offset of the escape.
        offset: usize,
    },

    /// A signature of the wrong length.
    #[error("signature is {length} bytes, must be {limit}")]
    SignatureLength {
        /// Its length in bytes.
        length: usize,
        /// The length needed in bytes.
        limit: usize,
    },
    /// A recovery id outside its form's range (R23).
    #[error("signature's v is {v}, must be {allowed}")]
    RecoveryIdOutOfRange {
        /// The byte given.
        v: u8,
        /// The values it may have, in words.
        allowed: &'static str,
    },
    /// A signature whose parts break the form, such as a high s (R23).
    #[error("signature's {field} {rule}")]
    MalformedSignature {
        /// Which part: `r`, `s`, `R`, `S`…
        field: &'static str,
        /// The rule it breaks, as in "is above half the group order".
        rule: &'static str,
    },
    /// A well-formed signature that does not hold for this message and signer.
    #[error("{algorithm} signature does not hold for this message and signer")]
    BadSignature {
        /// `secp256k1` or `ed25519`.
        algorithm: &'static str,
    },
    /// A public or secret key of the wrong length. Its bytes are not repeated.
    #[error("{field} is {length} bytes, must be {limit}")]
    KeyLength {
        /// Which key.
        field: &'static str,
        /// Its length in bytes.
        length: usize,
        /// The lengths it may have, in words.
        limit: &'static str,
    },
    /// A key that is not one of its curve. Its bytes are not repeated.
    #[error("{field} {rule}")]
    MalformedKey {
        /// Which key.
        field: &'static str,
        /// The rule it breaks, as in "is not a point of secp256k1".
        rule: &'static str,
    },
}

impl Error {
    /// The class of this error, the same on every chain (R25).
    pub const fn class(&self) -> ErrorClass {
        match self {
            Self::ScoreOutOfRange { .. } => ErrorClass::ScoreOutOfRange,
            Self::DecimalsOutOfRange { .. } => ErrorClass::DecimalsOutOfRange,
            Self::ValueOutOfRange { .. } | Self::TagValueOutOfRange { .. } => {
                ErrorClass::ValueOutOfRange
            }
            Self::CounterExhausted { .. } => ErrorClass::CounterExhausted,
            Self::EmptyClients => ErrorClass::EmptyClients,
            Self::LengthLimit { .. } => ErrorClass::LengthLimit,
            Self::ReservedKey => ErrorClass::ReservedKey,
            Self::AuthMissing { .. } => ErrorClass::AuthMissing,
            Self::AuthLength { .. } | Self::AuthDirtyWord { .. } => ErrorClass::AuthMalformed,
            Self::RequestTooLong { .. } => ErrorClass::RequestTooLong,
            Self::EmptyRequest { .. }
            | Self::SummaryMismatch { .. }
            | Self::RequestLengthMismatch { .. }
            | Self::BufferTooShort { .. }
            | Self::MalformedNumber { .. }
            | Self::UnknownName { .. } => ErrorClass::BadRequest,
            Self::NumberOutOfRange { .. } | Self::StarsOutOfRange { .. } => {
                ErrorClass::NumberOutOfRange
            }
            Self::MalformedChainId { .. } => ErrorClass::MalformedChainId,
            Self::MalformedAccountId { .. } => ErrorClass::MalformedAccountId,
            Self::MalformedAddress { .. } => ErrorClass::MalformedAddress,
            Self::MalformedTaskRef { .. } => ErrorClass::MalformedTaskRef,
            Self::MalformedTag { .. } => ErrorClass::MalformedTag,
            Self::MalformedFeedbackId { .. } => ErrorClass::MalformedFeedbackId,
            Self::MalformedJson { .. } => ErrorClass::MalformedJson,
            Self::DuplicateKey { .. } => ErrorClass::DuplicateKey,
            Self::LoneSurrogate { .. } => ErrorClass::LoneSurrogate,
            Self::SignatureLength { .. }
            | Self::RecoveryIdOutOfRange { .. }
            | Self::MalformedSignature { .. } => ErrorClass::MalformedSignature,
            Self::BadSignature { .. } => ErrorClass::BadSignature,
            Self::KeyLength { .. } | Self::MalformedKey { .. } => ErrorClass::MalformedKey,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::ToString;

    #[test]
    fn messages_name_field_value_and_limit() {
        let error = Error::RequestTooLong {
            length: 4_294_967_296,
            limit: crate::limits::REQUEST_MAX,
        };
        assert_eq!(
            error.to_string(),
            "request is 4294967296 bytes, at most 4294967295"
        );
        let error = Error::AuthDirtyWord {
            word: 1,
            field: "clientAddress",
            width: 20,
        };
        assert_eq!(
            error.to_string(),
            "feedbackAuth word 1 (clientAddress) has bits set above its 20 bytes"
        );
        assert_eq!(error.class(), ErrorClass::AuthMalformed);
    }
}
