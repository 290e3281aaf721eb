use crate::{
    Options, RpcError,
    blocks::{Block, Commitment, HASH_LIFETIME, Schedule},
    ledger::Ledger,
    rpc,
};
use litesvm::MAINNET_DEFAULT_SLOT;
use serde_json::Value;
use sha2::{Digest, Sha256};
use solana_hash::Hash;
use solana_keypair::Keypair;
use solana_signature::Signature;
use solana_transaction::versioned::VersionedTransaction;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// A cluster of one node. Nothing changes between two requests: the slots that passed are made up
/// for when the next one is asked.
pub struct LocalCluster {
    pub(crate) ledger: Ledger,
    schedule: Schedule,
    started: Instant,
    /// The first block that is still answered for.
    first: Block,
    /// Slots that passed without wall time.
    skipped: u64,
    /// How often blocks were taken back: blocks of another fork have other hashes.
    fork: u64,
    checkpoint: Option<Ledger>,
    /// Sent while transactions are held.
    held: Option<Vec<VersionedTransaction>>,
    airdrops: u64,
}

impl LocalCluster {
    pub fn new(options: Options) -> Self {
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        let now = now.unwrap_or_default().as_secs();
        let schedule = Schedule {
            genesis: options.genesis_hash,
            first_slot: MAINNET_DEFAULT_SLOT,
            first_time: i64::try_from(now).unwrap_or(i64::MAX),
            slot_duration: options.slot_duration.max(Duration::from_millis(1)),
        };
        Self {
            ledger: Ledger::new(&options, &schedule),
            first: schedule.first_block(),
            schedule,
            started: Instant::now(),
            skipped: 0,
            fork: 0,
            checkpoint: None,
            held: None,
            airdrops: 0,
        }
    }

    /// Answers one question of JSON-RPC.
    ///
    /// # Errors
    /// Those of Solana's nodes, with their codes.
    pub fn answer(&mut self, method: &str, params: &Value) -> Result<Value, RpcError> {
        self.catch_up();
        rpc::answer(self, method, params)
    }

    pub(crate) fn genesis_hash(&self) -> Hash {
        self.schedule.genesis
    }

    pub(crate) fn first(&self) -> Block {
        self.first
    }

    /// Drops every transaction until now, and the blocks before the newest final one, as a node with a full disk does.
    pub(crate) fn forget(&mut self) {
        self.first = self.at(Commitment::Finalized);
        self.ledger.forget();
    }

    pub(crate) fn newest(&self) -> Block {
        self.ledger.blocks.newest()
    }

    pub(crate) fn at(&self, commitment: Commitment) -> Block {
        self.ledger.blocks.at(commitment)
    }

    fn catch_up(&mut self) {
        let passed = self.started.elapsed().as_nanos() / self.schedule.slot_duration.as_nanos();
        let passed = u64::try_from(passed).unwrap_or(u64::MAX);
        let slot = self.schedule.first_slot + self.skipped + passed;
        self.ledger
            .advance(&self.schedule, slot, self.fork, self.skipped);
    }

    /// So many slots pass at once.
    pub(crate) fn skip(&mut self, slots: u64) {
        self.skipped += slots;
        self.catch_up();
    }

    /// No transaction signed until now can land any more, unless it already has.
    pub(crate) fn expire_block_hashes(&mut self) {
        self.skip(HASH_LIFETIME + 1);
    }

    pub(crate) fn keep_checkpoint(&mut self) {
        self.checkpoint = Some(self.ledger.clone());
    }

    /// Another fork has won, and lacks everything since the checkpoint. False: there is none.
    pub(crate) fn roll_back(&mut self) -> bool {
        let Some(ledger) = self.checkpoint.take() else {
            return false;
        };
        self.ledger = ledger;
        self.fork += 1;
        self.skip(1);
        true
    }

    /// Takes a transaction that may land. The sender is not told whether it does.
    pub(crate) fn submit(&mut self, transaction: VersionedTransaction) {
        match &mut self.held {
            Some(held) => held.push(transaction),
            None => self.land(transaction),
        }
    }

    /// From now on transactions are taken and kept back, or, with false, those kept back are
    /// carried out as far as they still can be.
    pub(crate) fn hold(&mut self, hold: bool) {
        match (hold, self.held.take()) {
            (true, held) => self.held = Some(held.unwrap_or_default()),
            (false, held) => {
                let held = held.unwrap_or_default();
                held.into_iter()
                    .for_each(|transaction| self.land(transaction));
            }
        }
    }

    fn land(&mut self, transaction: VersionedTransaction) {
        let hash = transaction.message.recent_blockhash();
        let is_recent = self
            .ledger
            .blocks
            .valid(hash, Commitment::Processed)
            .is_some();
        if is_recent && is_signed(&transaction) {
            self.ledger.carry_out(transaction);
        }
    }

    /// A new faucet for each airdrop, so that no two have the same signature.
    pub(crate) fn next_faucet(&mut self) -> Keypair {
        self.airdrops += 1;
        let secret = Sha256::new()
            .chain_update(b"concord local cluster faucet")
            .chain_update(self.airdrops.to_le_bytes());
        Keypair::new_from_array(secret.finalize().into())
    }

    /// How far a transaction has got, if it was carried out.
    pub(crate) fn commitment_of(&self, signature: &Signature) -> Option<Commitment> {
        let slot = self.ledger.record(signature)?.slot;
        Some(Commitment::at_depth(self.ledger.blocks.depth(slot)))
    }
}

pub(crate) fn is_signed(transaction: &VersionedTransaction) -> bool {
    let results = transaction.verify_with_results();
    !results.is_empty() && results.into_iter().all(|is_valid| is_valid)
}
