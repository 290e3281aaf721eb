//! The reference model: the third participant of every conformance run, and its referee.
//!
//! Plain Rust, written from the specification's rulings and its order of checks, never from
//! the contracts or the program. It checks an authorization symbolically: it knows who signed
//! what for whom, and does no cryptography.
//!
//! - [`operation`]: what an actor can ask of a registry, in labels instead of addresses
//! - [`event`], [`state`], [`outcome`]: what comes of it, in the same terms on every chain
//! - [`registry`]: the rules
mod authorization;
mod chain;
mod event;
mod label;
mod operation;
mod outcome;
mod registry;
mod state;
mod word;

pub use authorization::{Authorization, Damage, Domain};
pub use chain::Chain;
pub use event::Event;
pub use label::{Actor, Agent};
pub use operation::{Feedback, Operation};
pub use outcome::{Outcome, Summary, Verdict};
pub use registry::Model;
pub use state::{
    AgentState, AuthorizedState, CanonicalState, FeedbackState, OpenState, first_difference,
};
pub use word::Bytes32;
