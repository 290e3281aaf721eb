//! The reference model: the third participant of every conformance run, and its referee.
//!
//! Plain Rust, written from the specification's rules and its order of checks, never from
//! the contracts or the program. It checks a signed statement symbolically: it knows who signed
//! what for whom, and does no cryptography.
//!
//! - [`operation`]: every call of a registry, in labels instead of addresses
//! - [`payload`]: the arguments of each call
//! - [`statement`]: what actors sign off chain for operations to carry
//! - [`event`], [`state`], [`outcome`]: what comes of it, in the same terms on every chain
//! - [`reads`], [`records`]: what the registries' views must answer
//! - [`registry`]: routes an operation to its rules: [`identity`], [`authorized`], [`open`],
//!   [`ledger`] (what both profiles share), [`payment`], [`validation`]
mod authorized;
mod chain;
mod event;
mod identity;
mod label;
mod ledger;
mod open;
mod operation;
mod outcome;
mod payload;
mod payment;
mod reads;
mod records;
mod registry;
mod state;
mod statement;
mod text;
mod validation;

pub use chain::{Chain, Profile, RegistryProfile};
pub use event::Event;
pub use label::{Actor, Agent, LABEL_MAX, UNLABELLED};
pub use operation::Operation;
pub use outcome::{Outcome, Summary, Verdict};
pub use payload::{
    AcceptRegistryAuthority, Approve, AttachPaymentProof, Burn, Feedback, ListFacilitator,
    ListPaymentToken, Metadata, OpenFeedback, OpenSummaryQuery, ProposeRegistryAuthority, Register,
    Response, Revocation, SetAgentUri, SetAgentWallet, SetAuthSchemes, SetFeedbackAuthority,
    SetMetadata, SetOperator, SummaryQuery, Transfer, UnsetAgentWallet, ValidationAnswer,
    ValidationRequest,
};
pub use payment::DEPLOYER;
pub use reads::{Found, OpenPart, average, indices, open_part, open_summary, window};
pub use records::{AppendedTo, Proven, Records, Requested};
pub use registry::{Model, Referee};
pub use state::{
    AgentState, AnswerState, AuthorizedState, CanonicalState, FeedbackState, OpenFeedbackState,
    OpenState, PaymentState, Totals, ValidationState, ValidationsState, first_difference,
};
pub use statement::{Authorization, Consent, Form, Payment, ProofVersion, Tamper};
pub use text::{Bytes, Bytes32, Integer, PaddedTag, WideInteger};
