use super::{EvmSource, REQUESTS_AT_ONCE};
use crate::{SourceError, batch::Header, source::Source};
use alloy::{
    eips::BlockId,
    primitives::B256,
    providers::Provider,
    rpc::types::{Filter, Log},
};
use concord_chain::{ChainError, Refusable, evm::Node};
use concord_registry::{event::Block, evm::PlacedLog};
use futures_util::future::try_join_all;
use serde::Deserialize;
use std::panic;
use tokio::task::JoinSet;

/// The endpoint's logs, or why it may want to be asked for less.
type Answer = Result<Vec<Log>, No>;

/// Why an endpoint gave no logs.
#[derive(Debug)]
enum No {
    /// In its words.
    Refused(String),
    /// An answer that is too large also arrives as a broken one.
    Unreachable(ChainError),
}

/// A range that was asked for. Without this value the request is dropped.
#[derive(Debug)]
pub(super) struct Asked {
    from: u64,
    end: u64,
    /// One task.
    answer: JoinSet<Result<Answer, SourceError>>,
}

impl Asked {
    async fn answer(mut self) -> Result<Answer, SourceError> {
        match self.answer.join_next().await {
            Some(Ok(answer)) => answer,
            Some(Err(lost)) if lost.is_panic() => panic::resume_unwind(lost.into_panic()),
            _ => Ok(Err(No::Refused("the request was dropped".to_owned()))),
        }
    }
}

impl EvmSource {
    /// The logs from a block on, of as many blocks up to `to` as the endpoint answers for at once.
    pub(super) async fn logs_up_to(
        &mut self,
        from: u64,
        to: u64,
    ) -> Result<(u64, Vec<PlacedLog>), SourceError> {
        loop {
            let asked = self
                .ahead
                .take()
                .filter(|it| it.from == from && it.end <= to);
            let asked = asked.unwrap_or_else(|| self.ask_from(from, to));
            let (end, blocks) = (asked.end, asked.end - from + 1);
            match asked.answer().await? {
                Ok(logs) => {
                    self.range.answered(blocks, logs.len());
                    self.ahead = (end < to).then(|| self.ask_from(end + 1, to));
                    return Ok((end, self.placed(logs, from, end)?));
                }
                Err(no) if !self.range.shrink(blocks) => {
                    let logs = self.instead(no, from.into(), from).await?;
                    let logs = logs.map_err(|reason| SourceError::BlockRefused {
                        host: self.name(),
                        block: from,
                        reason,
                    })?;
                    return Ok((from, self.placed(logs, from, from)?));
                }
                Err(_) => (),
            }
        }
    }

    /// IDX-50: asks for the next range, and does not wait for the answer.
    fn ask_from(&self, from: u64, to: u64) -> Asked {
        let end = self.range.end(from, to);
        let filter = self.filter().from_block(from).to_block(end);
        let node = self.node.clone();
        let mut answer = JoinSet::new();
        answer.spawn(async move { ask_twice(&node, &filter).await });
        Asked { from, end, answer }
    }

    /// The logs of one block, by its hash: a node that does not have the block cannot answer.
    pub(super) async fn logs_of_block(
        &self,
        header: &Header,
    ) -> Result<Vec<PlacedLog>, SourceError> {
        let filter = self.filter().at_block_hash(header.hash);
        let logs = match ask_twice(&self.node, &filter).await? {
            Ok(logs) => logs,
            Err(no) => {
                let block = BlockId::hash(header.hash.into());
                let logs = self.instead(no, block, header.number).await?;
                // which passes: a node that lags behind refuses what it does not have
                logs.map_err(|reason| self.inconsistent(header.number, reason))?
            }
        };
        self.placed(logs, header.number, header.number)
    }

    /// The logs of a block by its receipts, where they help; otherwise the endpoint's words.
    async fn instead(
        &self,
        no: No,
        block: BlockId,
        number: u64,
    ) -> Result<Result<Vec<Log>, String>, SourceError> {
        match (self.logs_of_receipts(block, number).await?, no) {
            (Some(logs), _) => Ok(Ok(logs)),
            (None, No::Refused(reason)) => Ok(Err(reason)),
            (None, No::Unreachable(error)) => Err(error.into()),
        }
    }

    /// IDX-6: the logs of a block whose list is refused, transaction by transaction. Anyone can put more logs into a block
    /// than an endpoint answers at once. `None`: that is not why, because the block has none, or the receipts are refused too.
    async fn logs_of_receipts(
        &self,
        block: BlockId,
        number: u64,
    ) -> Result<Option<Vec<Log>>, SourceError> {
        #[derive(Debug, Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Receipt {
            block_hash: B256,
            logs: Vec<Log>,
        }
        const METHOD: &str = "eth_getTransactionReceipt";
        let (node, addresses) = (&self.node, self.addresses());
        let found = node.provider().get_block(block);
        let found = node.expect("eth_getBlockByNumber", found).await?;
        let found = found.filter(|it| self.may_have_logs(&it.header.logs_bloom));
        let Some(found) = found else {
            return Ok(None);
        };
        let transactions: Vec<B256> = found.transactions.hashes().collect();
        let mut logs = Vec::new();
        for some in transactions.chunks(REQUESTS_AT_ONCE) {
            let receipts = some.iter().map(async |hash| {
                let request = node.provider().raw_request(METHOD.into(), (hash,));
                let answer: Refusable<Option<Receipt>> =
                    node.endpoint().ask(METHOD, request).await?;
                let Ok(answer) = answer else {
                    return Ok(None);
                };
                let of_block = answer.filter(|it| it.block_hash == found.header.hash);
                let missing = || self.inconsistent(number, "a transaction has no receipt");
                of_block.ok_or_else(missing).map(Some)
            });
            for receipt in try_join_all(receipts).await? {
                let Some(receipt) = receipt else {
                    return Ok(None);
                };
                let ours = receipt.logs.into_iter();
                logs.extend(ours.filter(|it| addresses.contains(&it.address())));
            }
        }
        Ok(Some(logs))
    }

    fn filter(&self) -> Filter {
        Filter::new().address(self.addresses())
    }

    /// In the order of the chain, each once: an answer may repeat logs, and may not contradict
    /// itself.
    fn placed(&self, logs: Vec<Log>, from: u64, to: u64) -> Result<Vec<PlacedLog>, SourceError> {
        let mut placed = Vec::with_capacity(logs.len());
        for log in logs.into_iter().filter(|log| !log.removed) {
            let log = place(log).ok_or_else(|| self.inconsistent(from, "a log without a place"))?;
            let number = log.block.number;
            if !(from..=to).contains(&number) {
                return Err(self.inconsistent(number, "a log that was not asked for"));
            }
            placed.push(log);
        }
        placed.sort_by_key(|log| (log.block.number, log.index));
        placed.dedup();
        let twice = |pair: &[PlacedLog]| {
            let [a, b] = pair else { return false };
            (a.block.number, a.index) == (b.block.number, b.index)
        };
        if let Some([log, _]) = placed.windows(2).find(|pair| twice(pair)) {
            return Err(self.inconsistent(log.block.number, "two logs in one place"));
        }
        Ok(placed)
    }
}

/// An answer without logs is asked for again: it may be that of a node that has none yet.
async fn ask_twice(node: &Node, filter: &Filter) -> Result<Answer, SourceError> {
    match ask(node, filter).await? {
        Ok(logs) if logs.is_empty() => ask(node, filter).await,
        answer => Ok(answer),
    }
}

async fn ask(node: &Node, filter: &Filter) -> Result<Answer, SourceError> {
    let request = node.provider().get_logs(filter);
    match node.endpoint().ask("eth_getLogs", request).await {
        Ok(Ok(logs)) => Ok(Ok(logs)),
        Ok(Err(no)) => Ok(Err(No::Refused(no.message.into_owned()))),
        Err(error @ ChainError::Unreachable { .. }) => Ok(Err(No::Unreachable(error))),
        Err(error) => Err(error.into()),
    }
}

fn place(log: Log) -> Option<PlacedLog> {
    Some(PlacedLog {
        block: Block {
            number: log.block_number?,
            hash: Some(log.block_hash?.0),
        },
        transaction: log.transaction_hash?,
        index: log.log_index?,
        log: log.inner,
    })
}
