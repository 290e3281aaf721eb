//! The registry account's authority and lists: on chain, on record, and compared.
use super::{
    planning::REGISTRY_TITLE,
    snapshot::{Snapshot, key_or_none},
};
use crate::{Check, Deployment, RegistrySettings};
use concord_registry::svm::accounts::Registry;
use solana_address::Address;

impl From<Registry> for RegistrySettings {
    fn from(registry: Registry) -> Self {
        let texts = |keys: &[Address]| keys.iter().map(ToString::to_string).collect();
        let proposed = registry.proposed_authority;
        Self {
            authority: registry.authority.to_string(),
            proposed_authority: (proposed != Address::default()).then(|| proposed.to_string()),
            payment_tokens: texts(&registry.payment_tokens),
            facilitators: texts(&registry.facilitators),
        }
    }
}

/// One part of the registry's settings, by name.
struct Part {
    fact: &'static str,
    drift: &'static str,
    show: fn(&RegistrySettings) -> String,
}

const PARTS: [Part; 4] = [
    Part {
        fact: "authority",
        drift: "another registry authority than on record",
        show: |it| it.authority.clone(),
    },
    Part {
        fact: "proposed authority",
        drift: "another proposed authority than on record",
        show: |it| it.proposed_authority.clone().unwrap_or("none".to_owned()),
    },
    Part {
        fact: "payment tokens",
        drift: "other payment tokens than on record",
        show: |it| list(&it.payment_tokens),
    },
    Part {
        fact: "facilitators",
        drift: "other facilitators than on record",
        show: |it| list(&it.facilitators),
    },
];

fn list(keys: &[String]) -> String {
    match keys {
        [] => "none".to_owned(),
        keys => keys.join(", "),
    }
}

/// Each part by name, for a table.
pub(crate) fn rows(settings: &RegistrySettings) -> Vec<Vec<String>> {
    let row = |part: &Part| vec![part.fact.to_owned(), (part.show)(settings)];
    PARTS.iter().map(row).collect()
}

impl Snapshot {
    /// R13: who keeps the lists, and what is on them.
    pub(super) fn settings_checks(&self, recorded: &Deployment) -> Vec<Check> {
        let found = self.found_registry();
        let found = found.map(|it| it.map(RegistrySettings::from));
        let check = |part: &Part| {
            let expected = match &recorded.registry {
                Some(settings) => (part.show)(settings),
                None => "not on record".to_owned(),
            };
            let found = match &found {
                Ok(Some(settings)) => (part.show)(settings),
                Ok(None) => "nothing".to_owned(),
                Err(reason) => reason.clone(),
            };
            Check::new(REGISTRY_TITLE, part.fact, expected, found)
        };
        PARTS.iter().map(check).collect()
    }

    /// What differs from the book, in words; nothing if the book has no settings at all, or there are
    /// none on chain.
    pub(super) fn settings_drifts(&self, recorded: Option<&Deployment>) -> Vec<&'static str> {
        let recorded = recorded.and_then(|book| book.registry.as_ref());
        let found = self.found_registry().ok().flatten();
        let found = found.map(RegistrySettings::from);
        let (Some(recorded), Some(found)) = (recorded, found) else {
            return Vec::new();
        };
        let differs = |part: &&Part| (part.show)(recorded) != (part.show)(&found);
        PARTS
            .iter()
            .filter(differs)
            .map(|part| part.drift)
            .collect()
    }

    /// A sentence if the deployer's key keeps the registry and can no longer replace the program.
    pub(super) fn authority_left_behind(&self, recorded: &Deployment) -> Option<String> {
        let registry = self.found_registry().ok().flatten()?;
        let data = self.program_data()?;
        let authority = registry.authority;
        let is_hot = authority.to_string() == recorded.deployer;
        let is_left_behind = is_hot && data.authority != Some(authority);
        is_left_behind.then(|| {
            format!(
                "the deployer's key {authority} still is the registry's authority, and the program's upgrade authority is {}: hand the registry over with `concord registry propose`",
                key_or_none(data.authority)
            )
        })
    }
}
