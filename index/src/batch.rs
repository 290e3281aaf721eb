//! What a source delivers: blocks, and the registries' events in them.
use crate::Place;
use concord_registry::event::{
    AccountId, AgentId, Emitted, Event, EventError, Origin, RawEvent, TransactionId, Undecoded,
};

/// A block, linked to the one before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Header {
    /// Its number; on Solana the slot.
    pub number: u64,
    /// Its hash.
    pub hash: [u8; 32],
    /// The hash of the block before.
    pub parent: [u8; 32],
    /// Unix seconds.
    pub time: i64,
}

/// An event, with its place and time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IndexedEvent {
    /// Where it is.
    pub place: Place,
    /// The contract that emitted it, or the program.
    pub registry: AccountId,
    /// Its transaction.
    pub transaction: TransactionId,
    /// Unix seconds: what the event states, else its block's time.
    pub time: i64,
    /// What happened.
    pub event: Event,
}

/// What a registry emitted and this version cannot decode. It is kept as it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UndecodedEvent {
    /// Where it is.
    pub place: Place,
    /// Its transaction.
    pub transaction: TransactionId,
    /// Its bytes.
    pub raw: RawEvent,
    /// Why it does not decode.
    pub reason: String,
    /// Whether no event of this version begins so: it is of a later version of the registry. Else its bytes are not those of
    /// the event that it says it is.
    pub is_unknown: bool,
}

/// The blocks from the one asked for to `through`, completely.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Batch {
    /// The last of the blocks.
    pub through: Header,
    /// The parent of the first block, if the source read its header. It must be the block that was
    /// indexed last.
    pub parent: Option<[u8; 32]>,
    /// Blocks of which a later answer may differ, in order, and `through`.
    pub headers: Vec<Header>,
    /// In the order of their places, each place once.
    pub events: Vec<IndexedEvent>,
    /// Likewise.
    pub undecoded: Vec<UndecodedEvent>,
    /// S: agents of which an event may have been cut off the log (R4), so that their state is to be read. Some may not exist.
    pub suspects: Vec<AgentId>,
}

impl Batch {
    /// Adds the blocks that follow.
    pub(crate) fn append(&mut self, next: Self) {
        self.through = next.through;
        self.headers.extend(next.headers);
        self.events.extend(next.events);
        self.undecoded.extend(next.undecoded);
        self.suspects.extend(next.suspects);
    }
}

impl IndexedEvent {
    /// Places an event. `transaction` is its transaction's index in its block, on Solana; `time`
    /// knows the blocks' times.
    pub(crate) fn of(emitted: Emitted, transaction: u32, time: impl Fn(u64) -> i64) -> Self {
        let Origin {
            block, registry, ..
        } = emitted.origin;
        Self {
            place: Place::new(block.number, transaction, emitted.origin.position),
            registry,
            transaction: emitted.origin.transaction,
            time: emitted.timestamp.unwrap_or_else(|| time(block.number)),
            event: emitted.event,
        }
    }
}

impl UndecodedEvent {
    /// As [`IndexedEvent::of`].
    pub(crate) fn of(undecoded: Undecoded, transaction: u32) -> Self {
        let origin = undecoded.origin;
        Self {
            place: Place::new(origin.block.number, transaction, origin.position),
            transaction: origin.transaction,
            raw: undecoded.raw,
            is_unknown: undecoded.reason == EventError::Unknown,
            reason: undecoded.reason.to_string(),
        }
    }
}
