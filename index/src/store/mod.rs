//! The store: the same SQL for every [`Engine`], one transaction for each batch.
mod binding;
mod columns;
mod commit;
mod cursor;
mod derive;
mod digest;
mod events;
mod files;
mod mend;
mod migrate;
mod reading;
mod reorganizations;
mod schema;
mod sql;
mod state;
mod statistics;
mod undecoded;
mod value;

pub use concord_sql::{
    Cell, Database, Dialect, Engine, Insert, Location, Numbered, Postgres, Sqlite, Value,
};
pub use cursor::Cursor;
pub use events::EventsOf;
pub use reorganizations::{Reorganization, Reorganizations};

pub(crate) use columns::{Stored, average};
pub(crate) use sql::{Sql, columns as columns_of};
pub(crate) use value::Cells;

use crate::{Deployment, StoreError, batch::Header};
use std::collections::BTreeMap;

/// The tables of every deployment in one database.
#[derive(Debug)]
pub struct Store<E> {
    engine: E,
    /// The last block of each deployment, as it was read or written here last. The next batch continues it.
    seen: BTreeMap<DeploymentId, Option<Header>>,
}

/// A deployment in a store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct DeploymentId(pub(crate) i64);

/// A deployment in a store, with its description.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Deployed {
    /// In the store.
    pub id: DeploymentId,
    /// CAIP-2.
    pub chain: String,
    /// The identity registry, or the program.
    pub registry: String,
}

impl<E: Engine> Store<E> {
    /// Opens a database, creates the tables if there are none, and brings those of the versions before
    /// up to date.
    ///
    /// # Errors
    /// [`StoreError::Schema`] for a database of another version, which is left as it is.
    pub fn open(mut engine: E) -> Result<Self, StoreError> {
        match found_version(&mut engine) {
            None => create(&mut engine)?,
            Some(migrate::OLDEST..schema::VERSION) => {
                let mut store = Self::of(engine);
                migrate::migrate(&mut store)?;
                engine = store.engine;
            }
            Some(_) => (),
        }
        Self::open_read_only(engine)
    }

    /// Opens a database that exists, and changes nothing.
    ///
    /// # Errors
    /// [`StoreError::Schema`] for a database of another version.
    pub fn open_read_only(mut engine: E) -> Result<Self, StoreError> {
        let advice = match found_version(&mut engine) {
            Some(schema::VERSION) => return Ok(Self::of(engine)),
            Some(migrate::OLDEST..schema::VERSION) => "run or rebuild brings it up to date",
            Some(found) if found > schema::VERSION => {
                "use the version that wrote it, or a later one"
            }
            _ => "rebuild it from the chain",
        };
        Err(StoreError::Schema {
            found: found_version(&mut engine).unwrap_or_default(),
            expected: schema::VERSION,
            advice,
        })
    }

    const fn of(engine: E) -> Self {
        Self {
            engine,
            seen: BTreeMap::new(),
        }
    }

    /// Returns whether a database has the tables of a store, of whatever version.
    pub fn is_made(engine: &mut E) -> bool {
        found_version(engine).is_some()
    }

    /// Registers what is to be indexed, and claims the right to write it until the store is dropped.
    ///
    /// # Errors
    /// [`StoreError::SecondWriter`] if another process has it; [`StoreError::OtherDeployment`].
    pub fn claim(&mut self, deployment: &Deployment) -> Result<DeploymentId, StoreError> {
        let (chain, registry) = (deployment.chain.to_string(), deployment.registry());
        self.engine.claim(&format!("{chain}/{registry}"))?;
        // Writers of other chains may claim theirs at the same time.
        let begin = self.engine.dialect().begin_alone;
        self.transaction_with(begin, |store| match store.find(deployment)? {
            Some(id) => {
                store.drop_silent(id)?; // this version may know more than the one before
                Ok(id)
            }
            None => store.add(deployment),
        })
    }

    fn add(&mut self, deployment: &Deployment) -> Result<DeploymentId, StoreError> {
        let mut next = 1;
        let sql = "SELECT COALESCE(MAX(id), 0) + 1 FROM deployment";
        self.engine.query(sql, &[], &mut |row| {
            next = Cells::new("deployment", row).take("id")?;
            Ok(())
        })?;
        let values = [
            next.to_value(),
            deployment.chain.to_string().to_value(),
            deployment.registry().to_value(),
            deployment.digest().to_value(),
        ];
        let sql = "INSERT INTO deployment (id, chain, registry, digest) VALUES ($1, $2, $3, $4)";
        self.engine.execute(sql, &values)?;
        Ok(DeploymentId(next))
    }

    /// Returns a deployment that the store has.
    ///
    /// # Errors
    /// [`StoreError::OtherDeployment`] if it was indexed with other contracts or another start.
    pub fn find(&mut self, deployment: &Deployment) -> Result<Option<DeploymentId>, StoreError> {
        let (chain, registry) = (deployment.chain.to_string(), deployment.registry());
        let mut found: Option<(i64, [u8; 32])> = None;
        self.engine.query(
            "SELECT id, digest FROM deployment WHERE chain = $1 AND registry = $2",
            &[chain.to_value(), registry.to_value()],
            &mut |row| {
                let mut cells = Cells::new("deployment", row);
                found = Some((cells.take("id")?, cells.take("digest")?));
                Ok(())
            },
        )?;
        match found {
            None => Ok(None),
            Some((id, digest)) if digest == deployment.digest() => Ok(Some(DeploymentId(id))),
            Some(_) => Err(StoreError::OtherDeployment { chain, registry }),
        }
    }

    /// Returns every deployment that the store has.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn deployments(&mut self) -> Result<Vec<Deployed>, StoreError> {
        let mut found = Vec::new();
        let sql = "SELECT id, chain, registry FROM deployment ORDER BY id";
        self.each(sql, &[], "deployment", &mut |cells| {
            found.push(Deployed {
                id: DeploymentId(cells.take("id")?),
                chain: cells.take("chain")?,
                registry: cells.take("registry")?,
            });
            Ok(())
        })?;
        Ok(found)
    }

    /// Claims the right to write a deployment that the store has.
    ///
    /// # Errors
    /// [`StoreError::SecondWriter`].
    pub fn claim_again(&mut self, deployed: &Deployed) -> Result<(), StoreError> {
        self.engine
            .claim(&format!("{}/{}", deployed.chain, deployed.registry))
    }

    /// Runs `work` in one transaction: all of it is kept, or nothing. Those of one deployment take turns:
    /// a row that is derived from a file while the file changes would keep what it said before.
    fn transaction<T>(
        &mut self,
        deployment: DeploymentId,
        work: impl FnOnce(&mut Self) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let dialect = self.engine.dialect();
        self.transaction_with(dialect.begin, |store| {
            if let Some(lock) = dialect.lock_deployment {
                let values = [deployment.0.to_value()];
                store.engine.query(lock, &values, &mut |_| Ok(()))?;
            }
            work(store)
        })
    }

    fn transaction_with<T>(
        &mut self,
        begin: &str,
        work: impl FnOnce(&mut Self) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        self.engine.script(begin)?;
        match work(self) {
            Ok(done) => match self.engine.script("COMMIT") {
                Ok(()) => Ok(done),
                Err(error) => Err(self.undone(error)),
            },
            Err(error) => Err(self.undone(error)),
        }
    }

    /// Runs `query` on one state of the database, whatever is written meanwhile.
    ///
    /// # Errors
    /// Those of `query`; the store cannot be read.
    pub fn snapshot<T, F: From<StoreError>>(
        &mut self,
        query: impl FnOnce(&mut Self) -> Result<T, F>,
    ) -> Result<T, F> {
        let begin = self.engine.dialect().begin_snapshot;
        self.engine.script(begin)?;
        let answer = query(self);
        let ended = self.engine.script("ROLLBACK");
        let answer = answer?;
        ended?;
        Ok(answer)
    }

    /// A transaction that failed may have been rolled back by the database already.
    fn undone(&mut self, error: StoreError) -> StoreError {
        let _ = self.engine.script("ROLLBACK");
        error
    }

    /// The row of a table with this key.
    fn row<T: Stored>(
        &mut self,
        deployment: DeploymentId,
        key: &T::Key,
    ) -> Result<Option<T::Row>, StoreError> {
        let parameters = by_key::<T>(deployment, key);
        let mut found = None;
        self.engine.query(&select::<T>(), &parameters, &mut |row| {
            found = Some(T::read_row(&mut Cells::new(T::NAME, row))?);
            Ok(())
        })?;
        Ok(found)
    }

    /// The rows of a table with these keys, in their order. A server is asked for all of them at once.
    fn rows_at<'k, T: Stored<Key: 'k>>(
        &mut self,
        deployment: DeploymentId,
        keys: impl IntoIterator<Item = &'k T::Key>,
    ) -> Result<Vec<Option<T::Row>>, StoreError> {
        let keys = keys.into_iter();
        let parameters: Vec<_> = keys.map(|key| by_key::<T>(deployment, key)).collect();
        let mut found: Vec<Option<T::Row>> = vec![None; parameters.len()];
        let select = select::<T>();
        self.each_of(&select, &parameters, T::NAME, &mut |at, cells| {
            found[at] = Some(T::read_row(cells)?);
            Ok(())
        })?;
        Ok(found)
    }

    /// Every row of a table that `condition` matches, in the order of `order`. Its parameters begin
    /// with `$2`.
    fn rows<T: Stored>(
        &mut self,
        deployment: DeploymentId,
        condition: &str,
        parameters: &[Value],
        order: &str,
        each: &mut dyn FnMut(T::Key, T::Row) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        let mut values = vec![deployment.0.to_value()];
        values.extend_from_slice(parameters);
        let sql = format!(
            "SELECT {}, {} FROM {} WHERE deployment = $1{condition} ORDER BY {order}",
            T::KEY.join(", "),
            T::COLUMNS.join(", "),
            T::NAME
        );
        self.engine.query(&sql, &values, &mut |row| {
            let mut cells = Cells::new(T::NAME, row);
            each(T::read_key(&mut cells)?, T::read_row(&mut cells)?)
        })
    }
}

impl<E: Engine> Store<E> {
    /// Passes on each row of a query, of which `table` names the source in an error.
    pub(crate) fn each(
        &mut self,
        sql: &str,
        parameters: &[Value],
        table: &'static str,
        each: &mut dyn FnMut(&mut Cells<'_>) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        self.engine.query(sql, parameters, &mut |row| {
            each(&mut Cells::new(table, row))
        })
    }

    /// As [`Self::each`], with each of these lists of parameters: a row comes with the place of its parameters in the list.
    pub(crate) fn each_of(
        &mut self,
        sql: &str,
        parameters: &[Vec<Value>],
        table: &'static str,
        each: &mut dyn FnMut(usize, &mut Cells<'_>) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        self.engine.query_each(sql, parameters, &mut |at, row| {
            each(at, &mut Cells::new(table, row))
        })
    }

    /// The one number that a query answers.
    pub(crate) fn number(&mut self, sql: &str, parameters: &[Value]) -> Result<u64, StoreError> {
        let mut found = 0;
        self.each(sql, parameters, "count", &mut |cells| {
            found = cells.take("count")?;
            Ok(())
        })?;
        Ok(found)
    }
}

/// One row by its key.
fn select<T: Stored>() -> String {
    format!(
        "SELECT {} FROM {} WHERE deployment = $1{}",
        T::COLUMNS.join(", "),
        T::NAME,
        conditions(T::KEY)
    )
}

fn by_key<T: Stored>(deployment: DeploymentId, key: &T::Key) -> Vec<Value> {
    let mut parameters = vec![deployment.0.to_value()];
    parameters.extend(T::key_values(key));
    parameters
}

/// ` AND a = $2 AND b = $3 …`
fn conditions(columns: &[&str]) -> String {
    let numbered = columns.iter().zip(2..);
    numbered
        .map(|(column, number)| format!(" AND {column} = ${number}"))
        .collect()
}

/// `None` if there are no tables yet.
fn found_version(engine: &mut impl Engine) -> Option<i64> {
    let mut found = None;
    let sql = "SELECT version FROM schema_version";
    let read = engine.query(sql, &[], &mut |row| {
        found = Some(Cells::new("schema_version", row).take("version")?);
        Ok(())
    });
    read.ok().and(found)
}

fn create<E: Engine>(engine: &mut E) -> Result<(), StoreError> {
    let dialect = engine.dialect();
    let tables = schema::tables(dialect);
    let version = schema::VERSION;
    // Another process may have made the tables meanwhile.
    let noted = format!(
        "INSERT INTO schema_version (version) SELECT {version} \
         WHERE NOT EXISTS (SELECT 1 FROM schema_version);"
    );
    engine
        .script(&format!(
            "{}; {tables} {noted} COMMIT;",
            dialect.begin_alone
        ))
        .inspect_err(|_| drop(engine.script("ROLLBACK")))
}
