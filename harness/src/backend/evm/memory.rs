use alloy::primitives::{Address, B256, U256};
use std::collections::{BTreeMap, BTreeSet};

/// Operations since the reset that no view of the contracts returns, or that views are not believed.
#[derive(Debug, Default)]
pub(super) struct Memory {
    owners: BTreeMap<U256, Address>,
    metadata_keys: BTreeMap<U256, BTreeSet<String>>,
    answered: BTreeSet<B256>,
    consent_deadlines: BTreeSet<u64>,
}

impl Memory {
    pub fn note_owner(&mut self, id: U256, owner: Address) {
        self.owners.insert(id, owner);
    }

    /// Whom the agent belongs to by the operations that were accepted.
    pub fn owner(&self, id: U256) -> Option<Address> {
        self.owners.get(&id).copied()
    }

    pub fn note_metadata(&mut self, id: U256, key: &str) {
        let keys = self.metadata_keys.entry(id).or_default();
        keys.insert(key.to_owned());
    }

    /// Keys ever set.
    pub fn metadata_keys(&self, id: U256) -> impl Iterator<Item = &String> {
        self.metadata_keys.get(&id).into_iter().flatten()
    }

    pub fn note_answer(&mut self, request: B256) {
        self.answered.insert(request);
    }

    pub fn was_answered(&self, request: &B256) -> bool {
        self.answered.contains(request)
    }

    pub fn note_consent(&mut self, deadline: u64) {
        self.consent_deadlines.insert(deadline);
    }

    /// From `now` on the first second that no consent has named: a digest with it is unused (R3).
    pub fn unused_deadline(&self, now: u64) -> u64 {
        (now..)
            .find(|deadline| !self.consent_deadlines.contains(deadline))
            .unwrap_or(now)
    }
}
