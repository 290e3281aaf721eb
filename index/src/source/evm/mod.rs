//! An EVM chain, by `eth_getLogs`.
//!
//! Blocks that are settled are asked for in ranges as large as the endpoint answers. Those that can
//! still be taken back are read one by one: their parents link them, their blooms say whether they
//! can have logs, and their logs are asked for by their hash, so that they are of no other block.
mod binding;
mod logs;
mod range;
mod state;

pub use range::Range;

use super::Source;
use crate::{
    SourceError,
    batch::{Batch, Header, IndexedEvent, UndecodedEvent},
    binding::BindingRead,
    state::{StateRead, Subject},
};
use alloy::{
    eips::BlockNumberOrTag,
    primitives::{Address, Bloom, BloomInput},
    providers::Provider,
    rpc::types::Header as RpcHeader,
};
use async_trait::async_trait;
use concord_chain::{ChainId, evm::Node};
use concord_registry::{event::AgentId, evm::RegistryAddresses};
use futures_util::future::try_join_all;
use logs::Asked;
use std::collections::BTreeMap;

/// Blocks asked for at first: few, so that something can be written while the next are read (IDX-50).
const FIRST_RANGE: u64 = 50;
/// And at most.
const LONGEST_RANGE: u64 = 100_000;
/// Blocks asked for at once.
const REQUESTS_AT_ONCE: usize = 32;

/// A chain of the EVM's kind.
#[derive(Debug)]
pub struct EvmSource {
    node: Node,
    chain: ChainId,
    registries: RegistryAddresses,
    range: Range,
    /// The logs of the settled blocks after those that were read last.
    ahead: Option<Asked>,
}

/// A block that was read, and where its bloom says that logs may be.
#[derive(Debug, Clone, Copy)]
struct Block {
    header: Header,
    bloom: Bloom,
}

impl EvmSource {
    /// The registries of a chain behind a node.
    #[must_use]
    pub fn new(node: Node, chain: ChainId, registries: RegistryAddresses) -> Self {
        Self {
            node,
            chain,
            registries,
            range: Range::new(FIRST_RANGE, LONGEST_RANGE),
            ahead: None,
        }
    }

    /// Sets how many blocks are asked for at once.
    #[must_use]
    pub fn with_range(self, range: Range) -> Self {
        Self { range, ..self }
    }

    fn addresses(&self) -> Vec<Address> {
        let registries = &self.registries;
        let optional = [
            registries.open_reputation,
            registries.authorized_reputation,
            registries.validation,
        ];
        let mut addresses = vec![registries.identity];
        addresses.extend(optional.into_iter().flatten());
        addresses
    }

    async fn block(&self, number: BlockNumberOrTag) -> Result<Option<Block>, SourceError> {
        let block = self.node.provider().get_block_by_number(number);
        let block = self.node.expect("eth_getBlockByNumber", block).await?;
        Ok(block.map(|block| read(&block.header)))
    }

    /// A block that must be there: its number was read from the endpoint before.
    async fn known_block(&self, number: u64) -> Result<Block, SourceError> {
        let block = self.block(number.into()).await?;
        let block = block.ok_or_else(|| self.inconsistent(number, "the block is not there"))?;
        if block.header.number == number {
            Ok(block)
        } else {
            Err(self.inconsistent(number, "another block was returned"))
        }
    }

    /// Blocks in their order.
    async fn blocks(&self, numbers: &[u64]) -> Result<Vec<Block>, SourceError> {
        let mut blocks = Vec::with_capacity(numbers.len());
        for some in numbers.chunks(REQUESTS_AT_ONCE) {
            let some = some.iter().map(|number| self.known_block(*number));
            blocks.extend(try_join_all(some).await?);
        }
        Ok(blocks)
    }

    /// Blocks from one on, up to another, or to the last one that the node has: it may lag behind the
    /// one that knew a newer head.
    async fn blocks_up_to(&self, from: u64, to: u64) -> Result<Vec<Block>, SourceError> {
        let mut blocks = vec![self.known_block(from).await?];
        let numbers: Vec<u64> = (from + 1..=to).collect();
        for some in numbers.chunks(REQUESTS_AT_ONCE) {
            let some = some.iter().map(|number| self.block((*number).into()));
            for block in try_join_all(some).await? {
                match block {
                    Some(block) => blocks.push(block),
                    None => return Ok(blocks),
                }
            }
        }
        Ok(blocks)
    }

    fn inconsistent(&self, block: u64, what: impl Into<String>) -> SourceError {
        SourceError::Inconsistent {
            host: self.name(),
            block,
            what: what.into(),
        }
    }

    /// Settled blocks: logs first, then the headers of blocks that have some, of the first one, which links them to the block
    /// before (IDX-50), and of the last one.
    async fn settled_batch(&mut self, from: u64, to: u64) -> Result<Batch, SourceError> {
        let (to, logs) = self.logs_up_to(from, to).await?;
        let mut numbers: Vec<u64> = logs.iter().map(|log| log.block.number).collect();
        numbers.extend([from, to]);
        numbers.sort_unstable();
        numbers.dedup();
        let blocks = self.blocks(&numbers).await?;
        let parent = blocks.first().map(|block| block.header.parent);
        self.assemble(blocks, logs, parent)
    }

    /// Blocks that can be taken back: every header, linked, and the logs of those whose bloom allows
    /// some, asked for by hash.
    async fn live_batch(&mut self, from: u64, to: u64) -> Result<Batch, SourceError> {
        let to = to.min(from.saturating_add(LIVE_BLOCKS - 1));
        let blocks = self.blocks_up_to(from, to).await?;
        for pair in blocks.windows(2) {
            if let [before, after] = pair
                && after.header.parent != before.header.hash
            {
                let number = after.header.number;
                return Err(self.inconsistent(number, "its parent is not the block before"));
            }
        }
        let with_logs: Vec<&Block> = (blocks.iter())
            .filter(|block| self.may_have_logs(&block.bloom))
            .collect();
        let mut logs = Vec::new();
        for some in with_logs.chunks(REQUESTS_AT_ONCE) {
            let some = some.iter().map(|block| self.logs_of_block(&block.header));
            logs.extend(try_join_all(some).await?.into_iter().flatten());
        }
        let parent = blocks.first().map(|block| block.header.parent);
        self.assemble(blocks, logs, parent)
    }

    /// A bloom never denies a log that is there.
    fn may_have_logs(&self, bloom: &Bloom) -> bool {
        let addresses = self.addresses();
        addresses
            .iter()
            .any(|address| bloom.contains_input(BloomInput::Raw(address.as_slice())))
    }

    fn assemble(
        &self,
        blocks: Vec<Block>,
        logs: Vec<concord_registry::evm::PlacedLog>,
        parent: Option<[u8; 32]>,
    ) -> Result<Batch, SourceError> {
        let by_number: BTreeMap<u64, Header> = (blocks.iter())
            .map(|block| (block.header.number, block.header))
            .collect();
        for log in &logs {
            let number = log.block.number;
            let hash = by_number.get(&number).map(|header| header.hash);
            if hash.is_none() || log.block.hash != hash {
                return Err(self.inconsistent(number, "its logs are of another block"));
            }
        }
        let Some((_, through)) = by_number.last_key_value() else {
            return Err(self.inconsistent(0, "no block was asked for"));
        };
        let time = |number: u64| by_number.get(&number).map_or(0, |header| header.time);
        let decoded = self.registries.events(&self.chain.to_string(), &logs);
        Ok(Batch {
            through: *through,
            parent,
            headers: by_number.values().copied().collect(),
            events: (decoded.events.into_iter())
                .map(|it| IndexedEvent::of(it, 0, time))
                .collect(),
            undecoded: (decoded.undecoded.into_iter())
                .map(|it| UndecodedEvent::of(it, 0))
                .collect(),
            suspects: Vec::new(),
        })
    }
}

/// Blocks that are read one by one, in one batch.
const LIVE_BLOCKS: u64 = 256;

fn read(header: &RpcHeader) -> Block {
    Block {
        header: Header {
            number: header.number,
            hash: header.hash.0,
            parent: header.parent_hash.0,
            time: header.timestamp.cast_signed(),
        },
        bloom: header.logs_bloom,
    }
}

#[async_trait]
impl Source for EvmSource {
    fn name(&self) -> String {
        self.node.endpoint().host().to_owned()
    }

    async fn head(&mut self) -> Result<Header, SourceError> {
        let head = self.block(BlockNumberOrTag::Latest).await?;
        let head = head.ok_or_else(|| self.inconsistent(0, "there is no latest block"))?;
        Ok(head.header)
    }

    async fn final_number(&mut self) -> Result<Option<u64>, SourceError> {
        Ok(self.node.tagged_block(BlockNumberOrTag::Finalized).await?)
    }

    async fn hash(&mut self, number: u64) -> Result<Option<[u8; 32]>, SourceError> {
        Ok(Some(self.known_block(number).await?.header.hash))
    }

    async fn batch(&mut self, from: u64, to: u64, settled: u64) -> Result<Batch, SourceError> {
        if from <= settled {
            self.settled_batch(from, to.min(settled)).await
        } else {
            self.live_batch(from, to).await
        }
    }

    async fn state(
        &mut self,
        subjects: &[Subject],
        at: &Header,
    ) -> Result<Option<StateRead>, SourceError> {
        self.read_state(subjects, at).await.map(Some)
    }

    async fn bindings(
        &mut self,
        declared: &[(AgentId, [u8; 20])],
        at: &Header,
    ) -> Result<Vec<BindingRead>, SourceError> {
        self.ask_bindings(declared, at).await
    }
}
