use concord_files::{Error as FileError, Rule};
use concord_x402::verify::Unavailable;
use serde_json::{Value, json};

use crate::store::StoreError;

/// X402's error codes, and ours for what X402 has none for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Code {
    /// The submission breaks a form, or its payment does not hold.
    InvalidPayload,
    /// Another submission for the same payment was accepted.
    DuplicateTaskRef,
    /// The reviewer did not sign this.
    InvalidReviewerSignature,
    /// The registry is not served, or has no such agent.
    UnknownAgent,
    /// The payment has no submission here. X402 has no code for it.
    UnknownFeedback,
    /// The agent did not sign this.
    InvalidAgentSignature,
    /// What was accepted is reverted by the registry, each time. X402 has no code for it.
    RefusedByRegistry,
    /// A prepared transaction can land no more. X402 has no code for it.
    TransactionExpired,
    /// A limit of the operator is reached. X402 has no code for it.
    RateLimited,
    /// A node, a file or the store does not answer. Never a refusal (R36).
    Unavailable,
}

impl Code {
    /// The code on the wire.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::InvalidPayload => "INVALID_PAYLOAD",
            Self::DuplicateTaskRef => "DUPLICATE_TASK_REF",
            Self::InvalidReviewerSignature => "INVALID_REVIEWER_SIGNATURE",
            Self::UnknownAgent => "UNKNOWN_AGENT",
            Self::UnknownFeedback => "UNKNOWN_FEEDBACK",
            Self::InvalidAgentSignature => "INVALID_AGENT_SIGNATURE",
            Self::RefusedByRegistry => "REFUSED_BY_REGISTRY",
            Self::TransactionExpired => "TRANSACTION_EXPIRED",
            Self::RateLimited => "RATE_LIMITED",
            Self::Unavailable => "UNAVAILABLE",
        }
    }

    /// The HTTP status (R52).
    #[must_use]
    pub const fn status(self) -> u16 {
        match self {
            Self::InvalidPayload => 400,
            Self::UnknownAgent | Self::UnknownFeedback => 404,
            Self::DuplicateTaskRef => 409,
            Self::InvalidReviewerSignature
            | Self::InvalidAgentSignature
            | Self::RefusedByRegistry => 422,
            Self::TransactionExpired => 410,
            Self::RateLimited => 429,
            Self::Unavailable => 503,
        }
    }
}

/// Why a submission is not accepted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}: {class}: {message}", code.name())]
pub struct Refusal {
    /// X402's code.
    pub code: Code,
    /// The rule that was broken.
    pub class: String,
    /// The member of the payload, such as `review.value`.
    pub field: Option<String>,
    /// What was found, and what was expected.
    pub message: String,
    /// Seconds until it may be tried again, if that is known.
    pub retry_after: Option<u64>,
}

impl Refusal {
    /// A refusal of the whole payload.
    #[must_use]
    pub fn new(code: Code, class: &str, message: impl Into<String>) -> Self {
        Self {
            code,
            class: class.to_owned(),
            field: None,
            message: message.into(),
            retry_after: None,
        }
    }

    /// The same refusal, of one member.
    #[must_use]
    pub fn of(mut self, field: impl Into<String>) -> Self {
        self.field = Some(field.into());
        self
    }

    /// A member that breaks its form. `field` names it in the payload.
    #[must_use]
    pub fn of_form(error: &FileError, field: String) -> Self {
        let class = match error.rule() {
            Rule::Form(form) => form.class().name(),
            Rule::Size { .. } => "PayloadTooLarge",
            Rule::Utf8 { .. } | Rule::Json(_) => "MalformedJson",
            Rule::Missing => "FieldMissing",
            Rule::Type { .. } => "WrongType",
            _ => "MalformedField",
        };
        let found = error.value().map(|it| format!(" (found {it})"));
        let message = format!("{}{}", error.rule(), found.unwrap_or_default());
        Self::new(Code::InvalidPayload, class, message).of(field)
    }

    /// The answer's body: X402's `status`, `code` and `message`, our `class` and `field`.
    #[must_use]
    pub fn body(&self) -> Value {
        let mut body = json!({
            "status": "error",
            "code": self.code.name(),
            "message": self.message,
            "class": self.class,
        });
        if let Some(field) = &self.field {
            body["field"] = json!(field);
        }
        body
    }
}

impl From<Unavailable> for Refusal {
    fn from(error: Unavailable) -> Self {
        Self::new(Code::Unavailable, "Unavailable", error.0)
    }
}

impl From<StoreError> for Refusal {
    fn from(error: StoreError) -> Self {
        if let StoreError::Overtaken { came, latest } = error {
            tracing::warn!(
                came,
                latest,
                "overtaken: slow checks, or clocks that differ"
            );
            let message = format!("{error}: nothing was accepted, try again");
            return Self::new(Code::Unavailable, "Overtaken", message);
        }
        tracing::error!(%error, "the store failed");
        let message = "the store cannot be used now; nothing was accepted";
        Self::new(Code::Unavailable, "StoreUnavailable", message)
    }
}
