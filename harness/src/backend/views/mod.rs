//! What clients read: every view of the registries' interfaces, and how a backend is asked them.
//!
//! The state digest is compared after every step, and reads a part of the views only. At the end of
//! a scenario, and of a fuzzer's world, each backend is asked every view that it has, with drawn
//! filters and windows. The answers that must come are the model's ([`crate::model::Records`] and
//! the canonical state), never a registry's.
//!
//! - [`list`]: every view, by interface
//! - [`draw`]: the filters and windows
//! - [`asked`]: the views that an adapter can be asked, with the form of their answers
//! - `evm/views`, `svm/views`: the questions of each kind of chain
mod asked;
mod draw;
mod list;
mod shape;

pub use asked::{AskedView, asked_by_name, asked_of_adapters};
pub use draw::Draw;
pub use list::{AUTHORIZED, CANONICAL, EVM, IDENTITY, Interfaces, OPEN, SVM, VALIDATION};
pub use shape::Shape;

use crate::{
    model::{CanonicalState, Chain, Records, RegistryProfile},
    scenario::Rule,
};
use concord_canonical::ErrorClass;
use serde::{Serialize, Serializer};
use serde_json::Value;
use std::{collections::BTreeSet, fmt};

/// A view, by its interface and its signature in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ViewName {
    /// The contract's name, or `instruction` or `account` on Solana.
    pub interface: &'static str,
    /// A function with its argument types, or the name of an instruction or an account.
    pub signature: &'static str,
}

/// What must be answered at the end of a scenario.
#[derive(Clone, Copy, Debug)]
pub struct Known<'a> {
    pub state: &'a CanonicalState,
    pub records: &'a Records,
}

/// A view to be asked, in canonical terms.
#[derive(Clone, Debug)]
pub struct ViewQuestion {
    pub view: ViewName,
    pub arguments: Value,
    /// What must be returned, or the class of the refusal.
    pub expected: Result<Value, ErrorClass>,
}

/// One view that was asked once.
#[derive(Clone, Debug)]
pub struct ViewAnswer {
    pub view: ViewName,
    /// In canonical terms.
    pub arguments: Value,
    pub difference: Option<ViewDifference>,
}

/// How an answer differs from the one that must come.
#[derive(Clone, Debug)]
pub struct ViewDifference {
    /// JSON path inside the answer.
    pub path: String,
    pub expected: Value,
    pub actual: Value,
    /// The chain's own words for a refusal.
    pub native_error: Option<String>,
}

impl ViewDifference {
    pub(super) fn of(path: String, expected: Value, actual: Value) -> Self {
        Self {
            path,
            expected,
            actual,
            native_error: None,
        }
    }
}

/// The expectation as a report shows it.
pub(super) fn shown(expected: &Result<Value, ErrorClass>) -> Value {
    match expected {
        Ok(value) => value.clone(),
        Err(class) => class.name().into(),
    }
}

impl fmt::Display for ViewName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let separator = if self.signature.contains('(') {
            "."
        } else {
            " "
        };
        write!(f, "{}{separator}{}", self.interface, self.signature)
    }
}

impl ViewName {
    /// The rule that the interface follows.
    pub fn rules(&self) -> &'static [Rule] {
        match self.interface {
            IDENTITY => &[Rule::Ruling(2)],
            OPEN | "instruction" => &[Rule::Ruling(16)],
            AUTHORIZED => &[Rule::Ruling(15)],
            VALIDATION => &[Rule::Ruling(20)],
            _ => &[Rule::Ruling(12)],
        }
    }

    /// The part of the registries that it reads.
    pub fn profile(&self) -> RegistryProfile {
        match (self.interface, self.signature) {
            (OPEN | "instruction", _) | (_, "OpenClientIndex" | "OpenFeedback") => {
                RegistryProfile::Open
            }
            (VALIDATION, _) | (_, "ValidationRequest" | "ValidationResponse") => {
                RegistryProfile::Validation
            }
            (IDENTITY, _) | (_, "AgentIdentity" | "MetadataEntry") => RegistryProfile::Identity,
            _ => RegistryProfile::Authorized,
        }
    }
}

impl Serialize for ViewName {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// Every view of an interface.
pub fn named(interface: &'static str, signatures: &'static [&'static str]) -> BTreeSet<ViewName> {
    let name = |signature: &&'static str| ViewName {
        interface,
        signature,
    };
    signatures.iter().map(name).collect()
}

/// Every view of these interfaces.
pub fn all(interfaces: Interfaces) -> BTreeSet<ViewName> {
    interfaces
        .iter()
        .flat_map(|(interface, signatures)| named(interface, signatures))
        .collect()
}

/// Every view that Concord's registries have on this kind of chain.
pub fn of(chain: Chain) -> BTreeSet<ViewName> {
    match chain {
        Chain::Evm => all(EVM),
        Chain::Svm => all(SVM),
    }
}
