//! Events that could not be decoded when they were read, until a version can decode them (IDX-1).
use super::{Cell, Cells, DeploymentId, Engine, Store, events::of_blocks};
use crate::{Place, StoreError, batch::UndecodedEvent, table::Transaction};
use concord_registry::event::RawEvent;

/// The length of a transaction's hash on EVM chains. A signature, on Solana, is longer.
const EVM_TRANSACTION: usize = 32;

/// An event that is kept raw.
pub(super) struct RawRow {
    pub place: Place,
    pub transaction: Transaction,
    pub raw: RawEvent,
}

impl<E: Engine> Store<E> {
    pub(super) fn append_undecoded(
        &mut self,
        deployment: DeploymentId,
        events: &[UndecodedEvent],
    ) -> Result<(), StoreError> {
        let sql = "INSERT INTO undecoded (deployment, place, tx, raw, reason, is_unknown) \
                   VALUES ($1, $2, $3, $4, $5, $6)";
        for event in events {
            let values = [
                deployment.0.to_value(),
                event.place.to_value(),
                Transaction::from(event.transaction).to_value(),
                encode(&event.raw).to_value(),
                event.reason.to_value(),
                event.is_unknown.to_value(),
            ];
            self.engine.execute(sql, &values)?;
        }
        Ok(())
    }

    pub(super) fn delete_undecoded(
        &mut self,
        deployment: DeploymentId,
        place: Place,
    ) -> Result<(), StoreError> {
        let sql = "DELETE FROM undecoded WHERE deployment = $1 AND place = $2";
        let values = [deployment.0.to_value(), place.to_value()];
        self.engine.execute(sql, &values)
    }

    /// The raw events of a block.
    pub(super) fn undecoded_of(
        &mut self,
        deployment: DeploymentId,
        block: u64,
    ) -> Result<Vec<RawRow>, StoreError> {
        let sql = "SELECT place, tx, raw FROM undecoded \
                   WHERE deployment = $1 AND place >= $2 AND place < $3 ORDER BY place";
        let mut found = Vec::new();
        let values = of_blocks(deployment, &(block..=block));
        self.each(sql, &values, "undecoded", &mut |cells| {
            found.push(read(cells)?);
            Ok(())
        })?;
        Ok(found)
    }

    /// R46: the first block with a raw event that this version can decode.
    pub(super) fn first_decodable(
        &mut self,
        deployment: DeploymentId,
    ) -> Result<Option<u64>, StoreError> {
        let is_event = |row: &RawRow| matches!(row.raw.decode(), Ok(Some(_)));
        let first = self
            .undecoded_that(deployment, is_event)?
            .into_iter()
            .next();
        Ok(first.map(|it| it.block()))
    }

    /// IDX-1: drops raw events of which this version knows that they say nothing by themselves.
    pub(super) fn drop_silent(&mut self, deployment: DeploymentId) -> Result<(), StoreError> {
        let is_silent = |row: &RawRow| row.raw.decode() == Ok(None);
        let silent = self.undecoded_that(deployment, is_silent)?;
        let mut silent = silent.into_iter();
        silent.try_for_each(|place| self.delete_undecoded(deployment, place))
    }

    /// The places of some raw events, in the order of the chain.
    fn undecoded_that(
        &mut self,
        deployment: DeploymentId,
        matches: impl Fn(&RawRow) -> bool,
    ) -> Result<Vec<Place>, StoreError> {
        let sql = "SELECT place, tx, raw FROM undecoded WHERE deployment = $1 ORDER BY place";
        let mut found = Vec::new();
        self.each(sql, &[deployment.0.to_value()], "undecoded", &mut |cells| {
            let row = read(cells)?;
            found.extend(matches(&row).then_some(row.place));
            Ok(())
        })?;
        Ok(found)
    }
}

fn encode(raw: &RawEvent) -> Vec<u8> {
    match raw {
        RawEvent::Evm { topics, data } => {
            let count = u8::try_from(topics.len()).unwrap_or(u8::MAX);
            [&[count], topics.as_flattened(), data].concat()
        }
        RawEvent::Svm(data) => data.clone(),
    }
}

fn read(cells: &mut Cells<'_>) -> Result<RawRow, StoreError> {
    let (place, transaction): (_, Transaction) = (cells.take("place")?, cells.take("tx")?);
    let bytes: Vec<u8> = cells.take("raw")?;
    let raw = match transaction.0.len() {
        EVM_TRANSACTION => decode_log(&bytes).ok_or(StoreError::Malformed {
            table: "undecoded",
            column: "raw",
        })?,
        _ => RawEvent::Svm(bytes),
    };
    Ok(RawRow {
        place,
        transaction,
        raw,
    })
}

fn decode_log(bytes: &[u8]) -> Option<RawEvent> {
    let (count, rest) = bytes.split_first()?;
    let (topics, data) = rest.split_at_checked(usize::from(*count) * 32)?;
    Some(RawEvent::Evm {
        topics: topics.as_chunks().0.to_vec(),
        data: data.to_vec(),
    })
}
