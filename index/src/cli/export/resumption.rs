//! Where an export of lines goes on, and whether what it printed before is still what the log has.
use super::{CliError, position, transaction};
use crate::{
    Place,
    store::{Database, Deployed, Store},
};
use std::{fmt, str::FromStr};

/// So much of the end of a transaction's name is compared.
const NAME: usize = 16;

/// The last event that was printed, and how many there are up to it. A repair only adds events (IDX-54), so that none came between
/// if there are as many up to the same event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resumption {
    pub place: Place,
    pub events: u64,
    /// The end of its transaction's name.
    transaction: String,
}

impl Resumption {
    pub fn after(place: Place, events: u64, transaction: &str) -> Self {
        let end = transaction.len().saturating_sub(NAME);
        let transaction = transaction.get(end..).unwrap_or_default().to_owned();
        Self {
            place,
            events,
            transaction,
        }
    }

    /// R46: an event that was found later, at an earlier place, would be in no line.
    pub(super) fn check(
        &self,
        store: &mut Store<Database>,
        deployed: &Deployed,
    ) -> Result<(), CliError> {
        let events = store.event_count_through(deployed.id, self.place)?;
        let event = store.event_at(deployed.id, self.place)?;
        let found = event.map(|it| Self::after(self.place, events, &transaction(&it)));
        if found.as_ref() == Some(self) {
            Ok(())
        } else {
            Err(CliError::Usage(format!(
                "--after {self}: the events up to there are no longer those that were printed ({} then, {events} now): a repair found some, a reorganisation replaced some, or it is another store; export anew",
                self.events
            )))
        }
    }
}

impl fmt::Display for Resumption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}-{}", self.place, self.events, self.transaction)
    }
}

impl FromStr for Resumption {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        parse(text).ok_or_else(|| "expected the `cursor` of an exported line".to_owned())
    }
}

fn parse(text: &str) -> Option<Resumption> {
    let (place, rest) = text.split_once('-')?;
    let (events, transaction) = rest.split_once('-')?;
    let is_whole = transaction.len() == NAME && !transaction.contains('-');
    is_whole.then_some(Resumption {
        place: position(place).ok()?,
        events: events.parse().ok()?,
        transaction: transaction.to_owned(),
    })
}
