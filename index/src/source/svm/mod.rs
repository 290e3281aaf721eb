//! A Solana cluster, by the signatures of the program's event authority.
//!
//! Everything is read at one commitment: a list at one and a cursor at another lose what is between
//! them. Within a slot signatures are listed in no order, so the block says in which one its
//! transactions were carried out. A list, its blocks and its transactions are read in many requests,
//! and count only if the newest block stood before and after them: otherwise they can be of two forks. URIs, endpoints and hashes are in events only, so accounts cannot
//! stand in for them.
mod rpc;
mod state;
mod transaction;

use rpc::FINALIZED;

use super::Source;
use crate::{
    SourceError,
    batch::{Batch, Header, IndexedEvent, UndecodedEvent},
    state::{StateRead, Subject},
};
use async_trait::async_trait;
use concord_chain::{ChainId, svm::Cluster};
use concord_registry::{
    event::AgentId,
    svm::{Address, Program, events::Transaction},
};
use futures_util::future::try_join_all;
use std::collections::BTreeMap;

/// How far the cluster must have agreed on what is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReadAt {
    /// Hardly ever undone.
    Confirmed,
    /// Never undone.
    Finalized,
}

/// Transactions of one batch; a slot is never divided.
const TRANSACTIONS: usize = 256;
/// Requests at once.
const REQUESTS_AT_ONCE: usize = 32;
/// In so many slots in a row there is a block.
const SKIPPED_AT_MOST: u64 = 64;

/// A Solana cluster.
#[derive(Debug)]
pub struct SvmSource {
    cluster: Cluster,
    chain: ChainId,
    program: Program,
    read_at: ReadAt,
    transactions_at_once: usize,
    /// The newest block, if it was read since the last batch.
    newest: Option<Header>,
    /// The last slot that was final when the cluster was asked.
    final_slot: Option<u64>,
    listed: Listed,
}

/// Signatures that were listed and not read yet, by slot.
#[derive(Debug)]
struct Listed {
    /// Every signature from this slot on is here, up to the slot of `witness`.
    from: u64,
    /// The block of the last slot, as it was before the list was read.
    witness: Header,
    signatures: BTreeMap<u64, Vec<String>>,
}

/// No slots at all, the first one included.
impl Default for Listed {
    fn default() -> Self {
        Self {
            from: 1,
            witness: NO_SLOT,
            signatures: BTreeMap::new(),
        }
    }
}

impl SvmSource {
    /// The program of a cluster.
    #[must_use]
    pub fn new(cluster: Cluster, chain: ChainId, program: Address, read_at: ReadAt) -> Self {
        Self {
            cluster,
            chain,
            program: Program::new(program),
            read_at,
            transactions_at_once: TRANSACTIONS,
            newest: None,
            final_slot: None,
            listed: Listed::default(),
        }
    }

    /// The same source with other batches: of so many transactions, or of one slot that has more. 256 if nothing is said.
    #[must_use]
    pub fn with_batches_of(self, transactions: usize) -> Self {
        Self {
            transactions_at_once: transactions,
            ..self
        }
    }

    fn inconsistent(&self, block: u64, what: impl Into<String>) -> SourceError {
        SourceError::Inconsistent {
            host: self.name(),
            block,
            what: what.into(),
        }
    }

    async fn known_header(&self, slot: u64) -> Result<Header, SourceError> {
        let block = self.block(slot, false).await?;
        let block = block.ok_or_else(|| self.inconsistent(slot, "the block is not there"))?;
        Ok(block.header)
    }

    /// The next slots with signatures, and the last slot that is complete with them.
    async fn next_slots(
        &mut self,
        from: u64,
        to: u64,
    ) -> Result<(Vec<(u64, Vec<String>)>, u64), SourceError> {
        let newest = self.newest.take();
        if from != self.listed.from || from > self.listed.witness.number {
            let witness = match newest {
                Some(newest) if newest.number == to => newest,
                _ => self.known_header(to).await?,
            };
            if self.listed.witness.number.checked_add(1) != Some(from) {
                self.require_kept_from(from).await?; // otherwise the list continues the one before
            }
            let signatures = self.signatures(from, to, self.commitment()).await?;
            self.listed = Listed {
                from,
                witness,
                signatures,
            };
        }
        let mut slots = Vec::new();
        let mut count = 0;
        while let Some(next) = self.listed.signatures.first_entry() {
            if count > 0 && count + next.get().len() > self.transactions_at_once {
                break;
            }
            count += next.get().len();
            slots.push(next.remove_entry());
        }
        let is_rest = self.listed.signatures.is_empty();
        let end = self.listed.witness.number;
        let last = slots.last().map_or(end, |(slot, _)| *slot);
        let through = if is_rest { end } else { last };
        self.listed.from = through.saturating_add(1);
        Ok((slots, through))
    }

    /// R45: what was listed and read since is of one fork, which also has what was indexed before it: the indexer looked
    /// for that after it had asked for the newest block.
    async fn require_fork(&self) -> Result<(), SourceError> {
        let witness = &self.listed.witness;
        if self.known_header(witness.number).await?.hash == witness.hash {
            Ok(())
        } else {
            let what = "it was replaced while the transactions before it were read";
            Err(self.inconsistent(witness.number, what))
        }
    }

    /// Of one slot, in the order in which they were carried out.
    async fn ordered(
        &self,
        slot: u64,
        signatures: Vec<String>,
    ) -> Result<Vec<String>, SourceError> {
        if signatures.len() < 2 {
            return Ok(signatures);
        }
        let block = self.block(slot, true).await?;
        let order = block.map(|block| block.signatures).unwrap_or_default();
        let missing = signatures.iter().any(|it| !order.contains(it));
        if missing {
            return Err(self.inconsistent(slot, "a listed transaction is not in its block"));
        }
        Ok(order
            .into_iter()
            .filter(|it| signatures.contains(it))
            .collect())
    }

    async fn read_slots(
        &self,
        slots: Vec<(u64, Vec<String>)>,
    ) -> Result<Vec<(u32, Transaction)>, SourceError> {
        let mut names = Vec::new();
        for (slot, signatures) in slots {
            let ordered = self.ordered(slot, signatures).await?;
            names.extend((0..).zip(ordered).map(|(index, name)| (slot, index, name)));
        }
        let mut transactions = Vec::with_capacity(names.len());
        for some in names.chunks(REQUESTS_AT_ONCE) {
            let some = some.iter().map(async |(slot, index, name)| {
                let transaction = self.transaction(*slot, name).await?;
                Ok::<_, SourceError>((*index, transaction))
            });
            transactions.extend(try_join_all(some).await?);
        }
        Ok(transactions)
    }

    async fn read_batch(&mut self, from: u64, to: u64) -> Result<Batch, SourceError> {
        let (slots, through) = self.next_slots(from, to).await?;
        let transactions = self.read_slots(slots).await?;
        let mut headers = vec![self.known_header(through).await?];
        if let Some(slot) = self.final_slot.filter(|it| (from..through).contains(it)) {
            // where forks part, however many slots the batch has
            headers.insert(0, self.known_header(slot).await?);
        }
        self.require_fork().await?;
        let chain = self.chain.to_string();
        Ok(Batch {
            parent: None, // other slots may lie between
            ..batch_of(&self.program, &chain, headers, transactions)
        })
    }
}

#[async_trait]
impl Source for SvmSource {
    fn name(&self) -> String {
        self.cluster.endpoint().host().to_owned()
    }

    async fn head(&mut self) -> Result<Header, SourceError> {
        let newest = self.slot(self.commitment()).await?;
        for slot in (newest.saturating_sub(SKIPPED_AT_MOST)..=newest).rev() {
            if let Some(block) = self.block(slot, false).await? {
                self.newest = Some(block.header);
                return Ok(block.header);
            }
        }
        Err(self.inconsistent(newest, "no block in the last 64 slots"))
    }

    async fn final_number(&mut self) -> Result<Option<u64>, SourceError> {
        self.final_slot = Some(self.slot(FINALIZED).await?);
        Ok(self.final_slot)
    }

    async fn hash(&mut self, number: u64) -> Result<Option<[u8; 32]>, SourceError> {
        match self.block(number, false).await? {
            Some(block) => Ok(Some(block.header.hash)),
            None if self.is_skipped(number).await? => Ok(None),
            None => Err(self.inconsistent(number, "the block is not there")),
        }
    }

    async fn batch(&mut self, from: u64, to: u64, _settled: u64) -> Result<Batch, SourceError> {
        let batch = self.read_batch(from, to).await;
        if batch.is_err() {
            self.listed = Listed::default(); // its list may be of a fork that lost
        }
        batch
    }

    async fn state(
        &mut self,
        subjects: &[Subject],
        at: &Header,
    ) -> Result<Option<StateRead>, SourceError> {
        self.read_state(subjects, at).await.map(Some)
    }
}

/// The events of a program in slots, whose headers are in order, and not empty. Each transaction has
/// its index among those of its slot. Transactions are in the order of the chain.
#[must_use]
pub fn batch_of(
    program: &Program,
    chain: &str,
    headers: Vec<Header>,
    transactions: impl IntoIterator<Item = (u32, Transaction)>,
) -> Batch {
    let (mut events, mut undecoded, mut suspects) = (Vec::new(), Vec::new(), Vec::new());
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
        if decoded.is_log_truncated {
            suspects.extend(program.hooked(&transaction).map(AgentId::from));
        }
    }
    Batch {
        through: headers.last().copied().unwrap_or(NO_SLOT),
        parent: headers.first().map(|header| header.parent),
        headers,
        events,
        undecoded,
        suspects,
    }
}

const NO_SLOT: Header = Header {
    number: 0,
    hash: [0; 32],
    parent: [0; 32],
    time: 0,
};

#[cfg(test)]
mod tests {
    use super::*;
    use concord_registry::{
        event::Block,
        svm::events::{Call, TopLevel},
    };

    /// R4: of a log that was cut off, the calls of the hook tell whose state is to be read.
    #[test]
    fn r45_a_log_that_was_cut_off_names_the_agents_whose_hook_was_called() {
        let program = Program::new(Address::from([1; 32]));
        let hook = [105, 37, 101, 197, 75, 251, 102, 26, 1]; // with an amount
        let call = |of: u8, mint: u8, data: &[u8]| Call {
            program: Address::from([of; 32]),
            accounts: [9, mint, 9].map(|it| Address::from([it; 32])).to_vec(),
            data: data.to_vec(),
        };
        let mut cut_off = call(1, 4, &hook);
        cut_off.accounts.truncate(1);
        let calls = vec![
            call(1, 2, &hook),
            call(2, 3, &hook),
            cut_off,
            call(1, 5, b"other"),
        ];
        let suspects = |line: &str| {
            let transaction = Transaction {
                signature: [7; 64],
                block: Block {
                    number: 5,
                    hash: None,
                },
                instructions: vec![TopLevel {
                    program: Address::from([8; 32]),
                    calls: calls.clone(),
                }],
                logs: vec![line.to_owned()],
            };
            batch_of(
                &program,
                "solana:localnet",
                vec![NO_SLOT],
                [(0, transaction)],
            )
            .suspects
        };
        let agent = AgentId::Svm(Address::from([2; 32]));
        assert_eq!(suspects("Log truncated"), [agent]);
        assert_eq!(suspects("Program log: Log truncated"), []);
    }
}
