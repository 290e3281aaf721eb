use super::EvmSource;
use crate::{SourceError, batch::Header, source::Source};
use alloy::{
    providers::Provider,
    rpc::types::{Filter, Log},
};
use concord_chain::ChainError;
use concord_registry::{event::Block, evm::PlacedLog};

impl EvmSource {
    /// The logs from a block on, of as many blocks up to `to` as the endpoint answers for at once.
    pub(super) async fn logs_up_to(
        &mut self,
        from: u64,
        to: u64,
    ) -> Result<(u64, Vec<PlacedLog>), SourceError> {
        loop {
            let end = self.range.end(from, to);
            let blocks = end - from + 1;
            let filter = self.filter().from_block(from).to_block(end);
            match self.ask_twice(&filter).await? {
                Ok(logs) => {
                    self.range.grow(blocks, logs.len());
                    return Ok((end, self.placed(logs, from, end)?));
                }
                Err(reason) if !self.range.shrink(blocks) => {
                    return Err(SourceError::BlockRefused {
                        host: self.name(),
                        block: from,
                        reason,
                    });
                }
                Err(_) => (),
            }
        }
    }

    /// The logs of one block, by its hash: a node that does not have the block cannot answer.
    pub(super) async fn logs_of_block(
        &self,
        header: &Header,
    ) -> Result<Vec<PlacedLog>, SourceError> {
        let filter = self.filter().at_block_hash(header.hash);
        let logs = self.ask_twice(&filter).await?;
        let logs = logs.map_err(|reason| self.inconsistent(header.number, reason))?;
        self.placed(logs, header.number, header.number)
    }

    /// An answer without logs is asked for again: it may be that of a node that has none yet.
    async fn ask_twice(&self, filter: &Filter) -> Result<Result<Vec<Log>, String>, SourceError> {
        match self.ask(filter).await? {
            Ok(logs) if logs.is_empty() => self.ask(filter).await,
            answer => Ok(answer),
        }
    }

    fn filter(&self) -> Filter {
        Filter::new().address(self.addresses())
    }

    /// The endpoint's answer, or in its words why it wants to be asked for less. An answer that is
    /// too large also arrives as a broken one.
    async fn ask(&self, filter: &Filter) -> Result<Result<Vec<Log>, String>, SourceError> {
        let request = self.node.provider().get_logs(filter);
        match self.node.endpoint().ask("eth_getLogs", request).await {
            Ok(Ok(logs)) => Ok(Ok(logs)),
            Ok(Err(no)) => Ok(Err(no.message.into_owned())),
            Err(ChainError::Unreachable { reason, .. }) if filter_is_range(filter) => {
                Ok(Err(reason))
            }
            Err(error) => Err(error.into()),
        }
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

fn filter_is_range(filter: &Filter) -> bool {
    match (filter.get_from_block(), filter.get_to_block()) {
        (Some(from), Some(to)) => from < to,
        _ => false,
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
