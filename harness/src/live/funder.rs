use super::{LiveFault, Record};
use crate::model::Actor;
use concord_chain::{Amount, Coin};
use std::{collections::BTreeMap, path::Path};

/// Who pays for a live run: what it gives the actors, and takes back.
pub trait Funder {
    fn coin(&self) -> Coin;

    /// The address that pays.
    fn address(&self) -> String;

    /// What the funder has.
    ///
    /// # Errors
    /// The chain does not answer.
    fn balance(&self) -> Result<Amount, LiveFault>;

    /// Gives the actors of a run what they need. `record` is stored at `path` with each gift before the gift is sent.
    ///
    /// # Errors
    /// A transaction that does not land. Others may still land.
    fn fund(
        &mut self,
        record: &mut Record,
        path: &Path,
        funding: &Funding,
    ) -> Result<(), LiveFault>;

    /// Waits for the gifts on record, and takes back what the actors of a run have left. Does what it can, and reports
    /// the rest. HARN-58: a gift that may still land is a failure.
    fn sweep(&mut self, record: &Record) -> Swept;
}

/// What the actors of a run get.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Funding {
    pub to: BTreeMap<Actor, Amount>,
    /// What all of it can cost the funder.
    pub total: Amount,
    /// The actors', those that give, and those that give back.
    pub transactions: u64,
}

/// What a run's actors gave back.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Swept {
    pub returned: Amount,
    /// What its return would have cost, or more; or what did not come back.
    pub left: Amount,
    /// What could not be taken back, in words.
    pub failures: Vec<String>,
}
