//! The differences in wording that a reader bridges. Each is recorded by name: nothing is rewritten in silence.

use core::fmt;

/// One bridged difference, and where it was met.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mapping {
    /// Which difference.
    pub kind: MappingKind,
    /// The JSON path of the value in the file as it was written, or `uri`.
    pub path: String,
}

impl fmt::Display for Mapping {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at {}", self.kind.name(), self.path)
    }
}

/// Collects mappings while a file is read.
#[derive(Default)]
pub(crate) struct Mappings(Vec<Mapping>);

impl Mappings {
    pub(crate) fn note(&mut self, kind: MappingKind, path: impl Into<String>) {
        let path = path.into();
        self.0.push(Mapping { kind, path });
    }

    pub(crate) fn extend(&mut self, other: Self) {
        self.0.extend(other.0);
    }

    pub(crate) fn into_vec(self) -> Vec<Mapping> {
        self.0
    }
}

macro_rules! mapping_kinds {
    ($($(#[$doc:meta])* $variant:ident = $name:literal,)*) => {
        /// The differences that readers bridge (R35, R37, R42).
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[non_exhaustive]
        pub enum MappingKind {
            $($(#[$doc])* $variant,)*
        }

        impl MappingKind {
            /// Every kind.
            pub const ALL: &[Self] = &[$(Self::$variant,)*];

            /// The kind's stable name.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)*
                }
            }
        }
    };
}

mapping_kinds! {
    /// An optional field that is `null`, read as absent.
    NullAsAbsent = "null-as-absent",
    /// `agentId` as a number in a dialect that writes text (R37).
    AgentIdNumber = "agent-id-number",
    /// `agentId` as text in a dialect that writes a number (R37).
    AgentIdText = "agent-id-text",
    /// `agentId` is `null`: the agent was not registered yet (R42).
    AgentIdNull = "agent-id-null",
    /// `value` as decimal text.
    ValueText = "value-text",
    /// `proof_of_payment` or `proofOfPayment`, whichever the dialect does not write (R37).
    ProofOfPaymentKey = "proof-of-payment-key",
    /// `chainId` as a number in a dialect that writes text (R37).
    ChainIdNumber = "chain-id-number",
    /// `chainId` as text in a dialect that writes a number (R37).
    ChainIdText = "chain-id-text",
    /// The other profile's comment field (R26).
    CommentKey = "comment-key",
    /// `endpoints`, the name of `services` before January 2026 (R42).
    EndpointsKey = "endpoints-key",
    /// `type` for a service's `name` (R42).
    ServiceTypeKey = "service-type-key",
    /// `url` for a service's `endpoint` (R42).
    ServiceUrlKey = "service-url-key",
    /// `x402support` for `x402Support` (R42).
    X402SupportKey = "x402support-key",
    /// `supportedTrusts` for `supportedTrust` (R42).
    SupportedTrustsKey = "supported-trusts-key",
    /// A registration with more than its two keys (R42).
    RegistrationKeys = "registration-keys",
    /// A public key with `0x` in `signers`, or without it in signed data (R23).
    PublicKeyPrefix = "public-key-prefix",
    /// Interaction data under `info` (R35).
    InfoWrapper = "info-wrapper",
    /// `feedbackEndpoint` for `feedbackAggregator` (R35).
    FeedbackEndpointKey = "feedback-endpoint-key",
    /// JSON itself in the place of a URI (R42).
    InlineJson = "inline-json",
    /// A `data:` URI of another media type than `application/json` (R42).
    MediaType = "media-type",
    /// Labelled base64, but plain or percent-encoded JSON (R42).
    PlainDespiteBase64 = "plain-despite-base64",
    /// base64 without the label (R42).
    UnlabelledBase64 = "unlabelled-base64",
    /// The URL-safe alphabet of base64.
    UrlSafeBase64 = "url-safe-base64",
    /// base64 without its padding.
    UnpaddedBase64 = "unpadded-base64",
    /// Percent-encoded base64.
    PercentEncodedBase64 = "percent-encoded-base64",
    /// A `%` that begins no escape, read as itself.
    LiteralPercent = "literal-percent",
    /// gzip without the label (R42).
    UnlabelledGzip = "unlabelled-gzip",
    /// Labelled gzip, but not compressed (R42).
    PlainDespiteGzip = "plain-despite-gzip",
}
