//! A Solana cluster.
use crate::batch::{Batch, Header, IndexedEvent, UndecodedEvent};
use concord_registry::svm::{Program, events::Transaction};

/// The events of a program in slots, whose headers are in order, and not empty. Each transaction has
/// its index in its slot. Transactions are in the order of the chain.
#[must_use]
pub fn batch_of(
    program: &Program,
    chain: &str,
    headers: Vec<Header>,
    transactions: impl IntoIterator<Item = (u32, Transaction)>,
) -> Batch {
    let (mut events, mut undecoded) = (Vec::new(), Vec::new());
    for (index, transaction) in transactions {
        let decoded = program.events(chain, &transaction);
        let time = |slot: u64| {
            let header = headers.iter().find(|header| header.number == slot);
            header.map_or(0, |header| header.time)
        };
        let placed = decoded.events.into_iter();
        events.extend(placed.map(|it| IndexedEvent::of(it, index, time)));
        let unread = decoded.undecoded.into_iter();
        undecoded.extend(unread.map(|it| UndecodedEvent::of(it, index)));
    }
    Batch {
        through: headers.last().copied().unwrap_or(NO_SLOT),
        parent: headers.first().map(|header| header.parent),
        headers,
        events,
        undecoded,
    }
}

const NO_SLOT: Header = Header {
    number: 0,
    hash: [0; 32],
    parent: [0; 32],
    time: 0,
};
