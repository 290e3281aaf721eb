use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// What a registry of others has that this harness does not know, because it is of a later version.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct News {
    /// The contract, as its interface is called.
    pub contract: &'static str,
    /// What it answers to `getVersion()`.
    pub version: String,
    /// Functions that change nothing: a signature, or a selector whose function is not known.
    pub views: BTreeSet<String>,
    /// Other functions, and those of which only the selector is known.
    pub functions: BTreeSet<String>,
    /// Signatures or topics, and how often each was emitted.
    pub events: BTreeMap<String, u64>,
}

impl News {
    pub fn of(contract: &'static str, version: String) -> Self {
        Self {
            contract,
            version,
            views: BTreeSet::new(),
            functions: BTreeSet::new(),
            events: BTreeMap::new(),
        }
    }

    /// Is there anything that the harness does not know?
    pub fn is_any(&self) -> bool {
        !self.views.is_empty() || !self.functions.is_empty() || !self.events.is_empty()
    }

    /// In one sentence, for a report.
    pub fn in_words(&self) -> String {
        let list = |what: &str, names: Vec<String>| {
            if names.is_empty() {
                None
            } else {
                Some(format!("{what} {}", names.join(", ")))
            }
        };
        let events = self.events.iter();
        let events = events.map(|(name, count)| match count {
            0 => name.clone(),
            count => format!("{name} (emitted {count}×)"),
        });
        let parts = [
            list("views", self.views.iter().cloned().collect()),
            list("functions", self.functions.iter().cloned().collect()),
            list("events", events.collect()),
        ];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        let Self {
            contract, version, ..
        } = self;
        format!("{contract} {version}: {}", parts.join("; "))
    }
}
