//! The blocks of the cluster, one a slot, and which block hash a transaction may still name.
use sha2::{Digest, Sha256};
use solana_hash::Hash;
use std::{collections::VecDeque, time::Duration};

/// How many blocks after its own a block hash is valid.
pub const HASH_LIFETIME: u64 = 150;
/// As many as the sysvar of slot hashes holds.
const KEPT: u64 = 512;
/// What a slot is worth on the cluster's clock where none passed by wall time, in milliseconds.
const NOMINAL_SLOT_MS: u64 = 400;

/// How sure a block is to stay.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Commitment {
    Processed,
    Confirmed,
    Finalized,
}

impl Commitment {
    /// The least number of blocks on top of one with this commitment.
    pub fn depth(self) -> u64 {
        match self {
            Self::Processed => 0,
            Self::Confirmed => 1,
            Self::Finalized => 32,
        }
    }

    /// The highest that a block with so many on it has reached.
    pub fn at_depth(depth: u64) -> Self {
        [Self::Finalized, Self::Confirmed]
            .into_iter()
            .find(|level| depth >= level.depth())
            .unwrap_or(Self::Processed)
    }

    pub fn name(self) -> &'static str {
        match self {
            Self::Processed => "processed",
            Self::Confirmed => "confirmed",
            Self::Finalized => "finalized",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block {
    pub slot: u64,
    pub height: u64,
    pub hash: Hash,
    /// Unix time in seconds.
    pub time: i64,
}

impl Block {
    /// The last block height at which a transaction that names this block can land.
    pub fn last_valid_height(&self) -> u64 {
        self.height.saturating_add(HASH_LIFETIME)
    }
}

/// When slots begin.
#[derive(Clone, Copy, Debug)]
pub struct Schedule {
    pub genesis: Hash,
    pub first_slot: u64,
    /// Unix time of the first slot, in seconds.
    pub first_time: i64,
    pub slot_duration: Duration,
}

impl Schedule {
    /// Heights lag behind slots, as on every cluster that ever left a slot without a block.
    fn height(&self, slot: u64) -> u64 {
        slot.saturating_sub(self.first_slot / 10)
    }

    /// The oldest block of a new cluster, which is as if it had run for long.
    pub fn first_block(&self) -> Block {
        self.block(self.first_slot.saturating_sub(KEPT - 1), 0, 0)
    }

    /// `skipped` slots passed at once, not by wall time.
    fn block(&self, slot: u64, fork: u64, skipped: u64) -> Block {
        let waited = slot.saturating_sub(self.first_slot).saturating_sub(skipped);
        let millis = self.slot_duration.as_millis() * u128::from(waited)
            + u128::from(NOMINAL_SLOT_MS * skipped);
        let seconds = i64::try_from(millis / 1000).unwrap_or(i64::MAX);
        Block {
            slot,
            height: self.height(slot),
            hash: self.hash(slot, fork),
            time: self.first_time.saturating_add(seconds),
        }
    }

    fn hash(&self, slot: u64, fork: u64) -> Hash {
        let digest = Sha256::new()
            .chain_update(b"concord local cluster block")
            .chain_update(self.genesis)
            .chain_update(fork.to_le_bytes())
            .chain_update(slot.to_le_bytes());
        Hash::new_from_array(digest.finalize().into())
    }
}

/// The last blocks of one fork. Never empty.
#[derive(Clone, Debug)]
pub struct Blocks {
    newest: Block,
    kept: VecDeque<Block>,
}

impl Blocks {
    /// Up to the schedule's first slot, as if the cluster had run for long.
    pub fn new(schedule: &Schedule) -> Self {
        let block = |slot| schedule.block(slot, 0, 0);
        let first = schedule.first_block().slot;
        Self {
            newest: block(schedule.first_slot),
            kept: (first..=schedule.first_slot).map(block).collect(),
        }
    }

    /// Blocks for every slot up to this one.
    pub fn extend(&mut self, schedule: &Schedule, slot: u64, fork: u64, skipped: u64) {
        let from = (self.newest.slot + 1).max(slot.saturating_sub(KEPT - 1));
        for slot in from..=slot {
            self.newest = schedule.block(slot, fork, skipped);
            self.kept.push_back(self.newest);
        }
        while self.kept.len() as u64 > KEPT {
            self.kept.pop_front();
        }
    }

    pub fn newest(&self) -> Block {
        self.newest
    }

    /// The newest of this commitment.
    pub fn at(&self, commitment: Commitment) -> Block {
        let height = self.newest.height.saturating_sub(commitment.depth());
        let block = self.kept.iter().rev().find(|block| block.height <= height);
        block.copied().unwrap_or(self.newest)
    }

    /// The number of blocks on top of the one of this slot.
    pub fn depth(&self, slot: u64) -> u64 {
        self.newest.slot.saturating_sub(slot)
    }

    /// Newest first.
    pub fn iter(&self) -> impl Iterator<Item = &Block> {
        self.kept.iter().rev()
    }

    /// The block that a transaction names, where a bank of this commitment knows it and it is not
    /// too old there.
    pub fn valid(&self, hash: &Hash, commitment: Commitment) -> Option<Block> {
        let height = self.at(commitment).height;
        let block = self.kept.iter().rev().find(|block| block.hash == *hash)?;
        (block.height <= height && height <= block.last_valid_height()).then_some(*block)
    }
}
