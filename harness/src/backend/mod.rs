//! Backends: real registries on real chains, behind one trait.
//!
//! A backend knows addresses, transactions, native errors and native events. What it answers is in
//! the model's terms: labels, error classes, canonical events, canonical state.
mod directory;
pub mod evm;
mod fault;
mod secrets;
pub mod svm;

pub use directory::Directory;
pub use fault::{Missing, StepFault};

use crate::model::{Actor, CanonicalState, Chain, Operation, Outcome};

/// One deployment of the registries, on one chain.
pub trait Backend {
    /// The participant's name in reports, such as `evm-anvil`.
    fn name(&self) -> &'static str;

    /// Whose variances apply.
    fn chain(&self) -> Chain;

    /// The operations (by [`Operation::name`]) that this backend can express. A runner reports
    /// what is absent; it never leaves it out silently.
    fn capabilities(&self) -> &'static [&'static str];

    /// Empty registries, funded actors, and a clock that the next transaction may set to `start`
    /// (unix seconds) or later.
    ///
    /// # Errors
    /// The chain does not answer as it should.
    fn reset(&mut self, start: u64, actors: &[Actor]) -> Result<(), StepFault>;

    /// Runs one operation at `time`, in seconds after the start.
    ///
    /// # Errors
    /// A native error without an error class (R25), an event that canonical terms cannot express,
    /// a chain that does not answer. A refusal with a class is an [`Outcome`], not an error.
    fn execute(&mut self, operation: &Operation, time: u64) -> Result<Observed, StepFault>;

    /// Everything the registries know, read back from the chain.
    ///
    /// # Errors
    /// As [`Self::execute`].
    fn state(&mut self) -> Result<CanonicalState, StepFault>;
}

/// What a chain did with an operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Observed {
    pub outcome: Outcome,
    /// The chain's own words for a refusal.
    pub native_error: Option<String>,
}

impl From<Outcome> for Observed {
    fn from(outcome: Outcome) -> Self {
        Self {
            outcome,
            native_error: None,
        }
    }
}
