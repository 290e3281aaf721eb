//! Accounts that are not what they seem, in the place of an operation's own.
use super::Observed;
use crate::model::{Agent, AgentState};
use concord_canonical::ErrorClass;
use std::{collections::BTreeMap, fmt};

/// Where an account is in a transaction, or what was put there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Impostor {
    Place {
        instruction: &'static str,
        account: &'static str,
    },
    Kind(&'static str),
}

/// An operation that was played with impostors, and taken back.
#[derive(Clone, Debug)]
pub struct Trial {
    /// Each place, and each kind of account that was put there.
    pub impostors: Vec<Impostor>,
    pub observed: Observed,
    /// The agents as the trial left them, or why they cannot be read. Of a refused trial, the one that the operation is about.
    pub states: Result<BTreeMap<Agent, Option<AgentState>>, String>,
    /// The classes that fit the refusal of a sound operation for them.
    pub refusals: &'static [ErrorClass],
    /// Nothing is read of the account, or anybody may be in its place: the operation may come to what it comes to without
    /// impostors.
    pub may_do_as_well: bool,
}

impl fmt::Display for Impostor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Place {
                instruction,
                account,
            } => write!(f, "in place of {instruction}.{account}"),
            Self::Kind(kind) => write!(f, "kind {kind}"),
        }
    }
}
