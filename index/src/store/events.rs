//! The event log: the source of truth (R45).
use super::{Cell, Cells, DeploymentId, Engine, Insert, Sql, Store, Value};
use crate::{Place, StoreError, batch::IndexedEvent, table::Transaction};
use concord_registry::event::{AgentId, Event, TransactionId};
use std::{collections::BTreeSet, ops::RangeInclusive};

const COLUMNS: &str = "place, registry, tx, time, body";

impl<E: Engine> Store<E> {
    /// Appends events. One that the log has already is an error: nothing is indexed twice.
    pub(super) fn append(
        &mut self,
        deployment: DeploymentId,
        events: &[IndexedEvent],
    ) -> Result<(), StoreError> {
        let columns = [
            "deployment",
            "place",
            "registry",
            "tx",
            "time",
            "agent",
            "body",
        ];
        let values = |event: &IndexedEvent| {
            Ok(vec![
                deployment.0.to_value(),
                event.place.to_value(),
                event.registry.to_value(),
                Transaction::from(event.transaction).to_value(),
                event.time.to_value(),
                event.event.agent().to_value(),
                body(&event.event)?,
            ])
        };
        self.insert(
            &Insert::new("event", &columns, ""),
            events.iter().map(values),
        )
    }

    /// Passes on every event in the order of the chain: of one agent, of none (what concerns whole
    /// registries), or all.
    ///
    /// # Errors
    /// The store cannot be read, and those of `each`.
    pub fn events(
        &mut self,
        deployment: DeploymentId,
        of: EventsOf,
        each: &mut dyn FnMut(IndexedEvent) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        let mut values = vec![deployment.0.to_value()];
        let condition = match of {
            EventsOf::All => "",
            EventsOf::Registry => " AND agent IS NULL",
            EventsOf::Agent(agent) => {
                values.push(agent.to_value());
                " AND agent = $2"
            }
        };
        let sql =
            format!("SELECT {COLUMNS} FROM event WHERE deployment = $1{condition} ORDER BY place");
        self.engine
            .query(&sql, &values, &mut |row| each(read(row)?))
    }

    /// Returns events in the order of the chain, at most `limit`: those after a place, to the end of
    /// a block.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn events_after(
        &mut self,
        deployment: DeploymentId,
        after: Option<Place>,
        last: u64,
        limit: usize,
    ) -> Result<Vec<IndexedEvent>, StoreError> {
        let mut sql = Sql::new(format!("SELECT {COLUMNS} FROM event"));
        let end = Place::start_of(last.saturating_add(1));
        sql.bind(
            " WHERE deployment = ? AND place < ?",
            [deployment.0.to_value(), end.to_value()],
        );
        if let Some(after) = after {
            sql.bind(" AND place > ?", [after.to_value()]);
        }
        sql.push(&format!(" ORDER BY place LIMIT {limit}"));
        let mut events = Vec::new();
        self.engine.query(sql.text(), sql.values(), &mut |row| {
            events.push(read(row)?);
            Ok(())
        })?;
        Ok(events)
    }

    /// Returns the event at a place.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn event_at(
        &mut self,
        deployment: DeploymentId,
        place: Place,
    ) -> Result<Option<IndexedEvent>, StoreError> {
        let sql = format!("SELECT {COLUMNS} FROM event WHERE deployment = $1 AND place = $2");
        let values = [deployment.0.to_value(), place.to_value()];
        let mut found = None;
        self.engine.query(&sql, &values, &mut |row| {
            found = Some(read(row)?);
            Ok(())
        })?;
        Ok(found)
    }

    /// Returns how many events the log has up to a place, and there.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn event_count_through(
        &mut self,
        deployment: DeploymentId,
        last: Place,
    ) -> Result<u64, StoreError> {
        let sql = "SELECT COUNT(*) FROM event WHERE deployment = $1 AND place <= $2";
        self.number(sql, &[deployment.0.to_value(), last.to_value()])
    }

    /// Deletes the events of some blocks, and adds to `touched` what they were about.
    pub(super) fn delete_blocks(
        &mut self,
        deployment: DeploymentId,
        blocks: RangeInclusive<u64>,
        touched: &mut Touched,
    ) -> Result<(), StoreError> {
        let values = of_blocks(deployment, &blocks);
        let of_blocks = "WHERE deployment = $1 AND place >= $2 AND place < $3";
        let sql = format!("SELECT agent FROM event {of_blocks}");
        self.each(&sql, &values, "event", &mut |cells| {
            touched.note(cells.take("agent")?);
            Ok(())
        })?;
        for table in ["event", "undecoded"] {
            let sql = format!("SELECT COUNT(*) FROM {table} {of_blocks}");
            touched.events += self.number(&sql, &values)?;
            let sql = format!("DELETE FROM {table} {of_blocks}");
            self.engine.execute(&sql, &values)?;
        }
        Ok(())
    }
}

/// A deployment, the first place of some blocks, and the first one after them.
pub(super) fn of_blocks(deployment: DeploymentId, blocks: &RangeInclusive<u64>) -> [Value; 3] {
    let next = blocks.end().saturating_add(1);
    [
        deployment.0.to_value(),
        Place::start_of(*blocks.start()).to_value(),
        Place::start_of(next).to_value(),
    ]
}

/// Which events.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EventsOf {
    /// All.
    All,
    /// Those about one agent.
    Agent(AgentId),
    /// Those about none.
    Registry,
}

/// What events were about.
#[derive(Debug, Default)]
pub(super) struct Touched {
    pub agents: BTreeSet<AgentId>,
    pub registry: bool,
    /// How many there were, those that could not be decoded among them.
    pub events: u64,
}

impl Touched {
    /// Notes an agent, or a whole registry.
    pub fn note(&mut self, agent: Option<AgentId>) {
        match agent {
            Some(agent) => self.agents.insert(agent),
            None => std::mem::replace(&mut self.registry, true),
        };
    }
}

fn body(event: &Event) -> Result<Value, StoreError> {
    let bytes = borsh::to_vec(event);
    bytes
        .map(Value::Blob)
        .map_err(|error| StoreError::Database(error.to_string()))
}

fn read(row: &[Value]) -> Result<IndexedEvent, StoreError> {
    let malformed = |column| StoreError::Malformed {
        table: "event",
        column,
    };
    let mut cells = Cells::new("event", row);
    let place = cells.take("place")?;
    let registry = cells.take("registry")?;
    let transaction: Transaction = cells.take("tx")?;
    let transaction = match <[u8; 32]>::try_from(transaction.0.as_slice()) {
        Ok(hash) => TransactionId::Evm(hash),
        Err(_) => {
            let signature = transaction.0.as_slice().try_into();
            TransactionId::Svm(signature.map_err(|_| malformed("tx"))?)
        }
    };
    let time = cells.take("time")?;
    let body: Vec<u8> = cells.take("body")?;
    Ok(IndexedEvent {
        place,
        registry,
        transaction,
        time,
        event: borsh::from_slice(&body).map_err(|_| malformed("body"))?,
    })
}
