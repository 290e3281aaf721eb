//! Backends: real registries on real chains, behind one trait.
//!
//! A backend knows addresses, transactions, native errors and native events. What it answers is in
//! the model's terms: labels, error classes, canonical events, canonical state.
pub mod adapter;
mod canonical_events;
mod child;
mod directory;
pub mod evm;
mod fault;
pub mod impostor;
pub(crate) mod line_program;
mod news;
mod secrets;
pub mod svm;
pub mod views;

pub use child::leave_interrupts;
pub use directory::Directory;
pub use fault::{SetupError, StepFault};
pub use news::News;
pub use secrets::RunSecret;

use crate::model::{
    Actor, Agent, AgentState, CanonicalState, Chain, Operation, Outcome, RegistryProfile,
};
use impostor::{Impostor, Trial};
use serde::{Deserialize, Serialize};
use std::{collections::BTreeSet, fmt};
use views::{Draw, Known, ViewAnswer, ViewName};

/// One deployment of the registries, on one chain.
pub trait Backend: Send {
    /// The participant's name in reports, such as `evm-anvil`.
    fn name(&self) -> &str;

    /// Whose variances apply.
    fn chain(&self) -> Chain;

    /// What scenarios call the registries, if they are not ours and known to differ in places.
    fn foreign(&self) -> Option<&str> {
        None
    }

    /// The parts of the registries that it says it has. A scenario is checked up to the first step
    /// of another one, which is reported as not declared.
    fn profiles(&self) -> BTreeSet<RegistryProfile> {
        RegistryProfile::ALL.into()
    }

    /// Can this backend express the operation? What only the other chain has
    /// ([`Operation::only_on`]) it cannot; whatever else it cannot express, the run reports as
    /// missing, and never leaves out silently.
    fn supports(&self, operation: &Operation) -> bool;

    /// Are the registries known not to have this operation at all, because they are not ours
    /// ([`Self::foreign`]) or were deployed without it (R6)? Then a scenario is checked up to it.
    fn is_known_to_lack(&self, _operation: &Operation) -> bool {
        false
    }

    /// What registries that are not ours have that is not known here, up to now.
    fn news(&self) -> Vec<News> {
        Vec::new()
    }

    /// Empty registries, funded actors, and a clock that the next transaction may set to `start`
    /// (unix seconds) or later.
    ///
    /// # Errors
    /// The chain does not answer as it should.
    fn reset(&mut self, start: u64, actors: &[Actor]) -> Result<(), StepFault>;

    /// Starts again what the backend itself started and has lost: a program that ended, is silent
    /// or answers nonsense. Where it started nothing, the next reset tries what there is.
    ///
    /// # Errors
    /// It does not start, or is another one now.
    fn restart(&mut self) -> Result<(), StepFault> {
        Ok(())
    }

    /// Takes what the last scenario did off the chain again. Called once, after the last one; for
    /// registries that others go on to use.
    ///
    /// # Errors
    /// As [`Self::reset`].
    fn leave(&mut self) -> Result<(), StepFault> {
        Ok(())
    }

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

    /// What [`Self::state`] says of one agent; `None` if it is not registered. For runs that
    /// look after every step at what the step touched.
    ///
    /// # Errors
    /// As [`Self::execute`].
    fn agent_state(&mut self, agent: &Agent) -> Result<Option<AgentState>, StepFault>;

    /// What [`Self::try_impostor`] puts where.
    fn impostors(&self) -> BTreeSet<Impostor> {
        BTreeSet::new()
    }

    /// Plays an operation with accounts in it that are not what they seem, chosen by `draw`, and takes back whatever comes
    /// of it. `None`: it cannot be played so here.
    ///
    /// # Errors
    /// As [`Self::execute`].
    fn try_impostor(
        &mut self,
        _operation: &Operation,
        _time: u64,
        _draw: u64,
    ) -> Result<Option<Trial>, StepFault> {
        Ok(None)
    }

    /// Every view of the registries' interfaces, whether or not it can be asked: what the run
    /// reports as not asked otherwise.
    fn interface(&self) -> BTreeSet<ViewName> {
        views::of(self.chain())
    }

    /// The views that this backend can be asked ([`Self::ask_views`]).
    fn views(&self) -> BTreeSet<ViewName> {
        BTreeSet::new()
    }

    /// Asks every one of [`Self::views`] that `known` gives occasion for, with the filters and
    /// windows of `draw`, and says which answers are not those that `known` has.
    ///
    /// # Errors
    /// As [`Self::execute`].
    fn ask_views(
        &mut self,
        _known: Known<'_>,
        _draw: &mut Draw,
    ) -> Result<Vec<ViewAnswer>, StepFault> {
        Ok(Vec::new())
    }
}

/// What a chain did with an operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Observed {
    pub outcome: Outcome,
    /// The chain's own words for a refusal.
    pub native_error: Option<String>,
    /// `None` for a read.
    pub cost: Option<Cost>,
    /// The transaction's id on a chain that others can look it up on. `None` if nothing was sent.
    pub transaction: Option<String>,
    /// HARN-62: how the token's events differ from what was accepted.
    pub token_events: Option<TokenEventsDifference>,
}

/// Events that say nothing in canonical terms, and that others read (R2, R3).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TokenEventsDifference {
    pub expected: String,
    pub actual: String,
}

/// What a transaction used up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Cost {
    Gas(u64),
    ComputeUnits(u64),
}

impl fmt::Display for Cost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Gas(gas) => write!(f, "{gas} gas"),
            Self::ComputeUnits(units) => write!(f, "{units} CU"),
        }
    }
}

impl From<Outcome> for Observed {
    fn from(outcome: Outcome) -> Self {
        Self {
            outcome,
            native_error: None,
            cost: None,
            transaction: None,
            token_events: None,
        }
    }
}
