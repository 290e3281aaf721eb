//! Accepts feedback from clients without gas, and submits it on chain (X402 §3, R51 to R59).
//!
//! A submission passes the checks of [`form`] and [`admission`] in R52's order. Then it gets a receipt,
//! and a [`lane`] stores its file, signs, sends and follows one transaction until it is final. Everything is
//! in the [`store`] before it leaves the process, so a restart continues from any state, and a payment has
//! one feedback.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod admission;
mod aggregator;
pub mod audit;
pub mod check;
mod claim;
pub mod cli;
mod content;
mod evm_settler;
pub mod form;
mod http;
pub mod lane;
mod metrics;
mod payment_proofs;
mod policy;
mod refusal;
mod response;
mod revenues;
mod revocation;
mod settler;
mod sponsored;
pub mod store;

pub use concord_x402::verify::{ChainInsiders, Insiders};

pub use aggregator::{Aggregator, LanePlace, Outcome, Progress};
pub use claim::Claim;
pub use concord_client::PinnedFiles;
pub use content::{Content, Seal, Sealed};
pub use evm_settler::EvmSettler;
pub use http::{Service, router};
pub use payment_proofs::{Facilitator, payment_proof_router};
pub use policy::{AllowedAgents, Limited, Limits, Policy, Rate};
pub use refusal::{Code, Refusal};
pub use response::{ResponseForm, ResponseRequest};
pub use revenues::{Revenues, revenue_router};
pub use revocation::{RevocationRequest, SignedRevocation};
pub use settler::{PaymentReport, Settler};
pub use sponsored::{Sponsor, SponsorWorker, Sponsored, sponsored_router};
