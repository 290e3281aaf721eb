use core::fmt;
use serde::Serialize;

/// The steps of an explanation, in the order in which a report lists them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Step {
    /// A transaction that succeeded emitted the feedback's event.
    Event,
    /// The transaction is in a block that leads to the trusted block hash.
    Inclusion,
    /// The registry is one that counts (R28), and runs the code that it should.
    Registry,
    /// The feedback is not revoked at the bundle's block, and the state agrees with the event.
    NotRevoked,
    /// The feedback's file is there; its CID, if it has one, matches.
    File,
    /// The hash on chain is the file's, and by which scheme (R21).
    FileHash,
    /// The file states what the event states.
    FileAgrees,
    /// Who the feedback is by (R49).
    Authorship,
    /// The reviewer is not the agent itself (R18).
    SelfFeedback,
    /// The agent authorized the feedback (R6, R9, R10).
    Authorization,
    /// The agent's registration file lists the agent, as the agent's URI names the file.
    Registration,
    /// The key that signed for the agent is one of its signers, and was valid (R29, R30).
    Signer,
    /// The interaction hash is recomputed, and the agent's signature holds.
    AgentSignature,
    /// The data hash is that of the given request and response.
    DataHash,
    /// The reviewer's signature over the review holds.
    ReviewerSignature,
    /// The payment is on chain, from the reviewer to the agent (R27, R32).
    Payment,
    /// A facilitator's or a file's own proof of the payment agrees with it.
    PaymentProof,
    /// No other feedback uses the same payment.
    PaymentUse,
}

impl Step {
    /// Every step, in order.
    pub const ALL: [Self; 18] = [
        Self::Event,
        Self::Inclusion,
        Self::Registry,
        Self::NotRevoked,
        Self::File,
        Self::FileHash,
        Self::FileAgrees,
        Self::Authorship,
        Self::SelfFeedback,
        Self::Authorization,
        Self::Registration,
        Self::Signer,
        Self::AgentSignature,
        Self::DataHash,
        Self::ReviewerSignature,
        Self::Payment,
        Self::PaymentProof,
        Self::PaymentUse,
    ];

    /// The step's stable name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Event => "event",
            Self::Inclusion => "inclusion",
            Self::Registry => "registry",
            Self::NotRevoked => "not-revoked",
            Self::File => "file",
            Self::FileHash => "file-hash",
            Self::FileAgrees => "file-agrees",
            Self::Authorship => "authorship",
            Self::SelfFeedback => "self-feedback",
            Self::Authorization => "authorization",
            Self::Registration => "registration",
            Self::Signer => "signer",
            Self::AgentSignature => "agent-signature",
            Self::DataHash => "data-hash",
            Self::ReviewerSignature => "reviewer-signature",
            Self::Payment => "payment",
            Self::PaymentProof => "payment-proof",
            Self::PaymentUse => "payment-use",
        }
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
