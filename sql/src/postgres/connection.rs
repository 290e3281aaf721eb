//! A thread that speaks to the server: the store waits for answers in any thread, also in one that a
//! runtime has.
use crate::{Numbered, StoreError, Value, engine::PREPARED_BYTES};
use futures_util::TryStreamExt;
use std::{
    collections::HashMap,
    future::poll_fn,
    pin::pin,
    sync::{
        Arc,
        mpsc::{Receiver, SyncSender, sync_channel},
    },
    task::Poll,
    thread::{self, JoinHandle},
};
use tokio::{
    runtime::{Builder, Handle},
    sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel},
};
use tokio_postgres::{
    CancelToken, Client, Config, NoTls, Row, Statement,
    error::SqlState,
    types::{ToSql, Type},
};

/// Statements that stay prepared. Searches have many forms.
const PREPARED: usize = 256;
/// Rows that are passed on together.
const ROWS: usize = 256;

/// A statement without an answer.
#[derive(Debug)]
pub struct Write {
    pub sql: String,
    pub values: Vec<Value>,
}

type Reply<T> = SyncSender<Result<T, StoreError>>;
type Rows = Vec<Vec<Value>>;

#[derive(Debug)]
enum Request {
    Write(Vec<Write>, Reply<()>),
    /// Answered by rows, and by none at the end.
    Query(Write, Reply<Rows>),
    /// One query with each of these lists of parameters, answered as a query is: the first column is the place in the list.
    Each(String, Vec<Vec<Value>>, Reply<Rows>),
    Script(String, Reply<()>),
}

/// A connection.
pub struct Connection {
    /// `None` only while it ends.
    requests: Option<UnboundedSender<Request>>,
    runtime: Handle,
    cancel: CancelToken,
    thread: Option<JoinHandle<()>>,
    /// The answer to the last writes, of which nothing is known yet.
    writing: Option<Receiver<Result<(), StoreError>>>,
}

impl std::fmt::Debug for Connection {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Connection").finish_non_exhaustive()
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.requests = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join(); // a panic of it was printed
        }
    }
}

impl Connection {
    pub fn open(config: &Config) -> Result<Self, StoreError> {
        let (requests, received) = unbounded_channel();
        let (reply, connected) = sync_channel(1);
        let mut config = config.clone();
        if config.get_application_name().is_none() {
            config.application_name("concord-index");
        }
        let thread = thread::spawn(move || serve(&config, received, &reply));
        let (runtime, cancel) = answer(&connected)?;
        Ok(Self {
            requests: Some(requests),
            runtime,
            cancel,
            thread: Some(thread),
            writing: None,
        })
    }

    /// Carries out statements in their order, once those before them are; waits for those only.
    pub fn write(&mut self, writes: Vec<Write>) -> Result<(), StoreError> {
        let (reply, done) = sync_channel(1);
        self.send(Request::Write(writes, reply))?;
        let before = self.writing.replace(done);
        before.map_or(Ok(()), |it| answer(&it))
    }

    /// Waits until all statements are carried out.
    pub fn wait_for_writes(&mut self) -> Result<(), StoreError> {
        self.writing.take().map_or(Ok(()), |it| answer(&it))
    }

    pub fn script(&self, sql: &str) -> Result<(), StoreError> {
        let (reply, done) = sync_channel(1);
        self.send(Request::Script(sql.to_owned(), reply))?;
        answer(&done)
    }

    pub fn query(
        &self,
        sql: &str,
        values: &[Value],
        each: &mut dyn FnMut(&[Value]) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        let query = Write {
            sql: sql.to_owned(),
            values: values.to_vec(),
        };
        self.pass_rows(|reply| Request::Query(query, reply), each)
    }

    /// The rows of one query for each list of parameters, with the place of their parameters in the list.
    pub fn query_each(
        &self,
        sql: &str,
        values: &[Vec<Value>],
        each: &mut Numbered<'_>,
    ) -> Result<(), StoreError> {
        let (sql, values) = (sql.to_owned(), values.to_vec());
        let asked = |reply| Request::Each(sql, values, reply);
        self.pass_rows(asked, &mut |row| match row {
            [Value::Int(number), row @ ..] => {
                each(usize::try_from(*number).unwrap_or_default(), row)
            }
            _ => Err(lost()),
        })
    }

    fn pass_rows(
        &self,
        asked: impl FnOnce(Reply<Rows>) -> Request,
        each: &mut dyn FnMut(&[Value]) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        let (reply, found) = sync_channel(2);
        self.send(asked(reply))?;
        loop {
            let rows: Rows = answer(&found)?;
            if rows.is_empty() {
                return Ok(());
            }
            rows.iter().try_for_each(|row| each(row))?;
        }
    }

    pub fn interrupt(&self) -> Arc<dyn Fn() + Send + Sync> {
        let (runtime, cancel) = (self.runtime.clone(), self.cancel.clone());
        Arc::new(move || {
            let cancel = cancel.clone();
            // A server that cannot be reached will not answer the statement either.
            runtime.spawn(async move { cancel.cancel_query(NoTls).await });
        })
    }

    fn send(&self, request: Request) -> Result<(), StoreError> {
        let sent = self.requests.as_ref().map(|it| it.send(request));
        match sent {
            Some(Ok(())) => Ok(()),
            _ => Err(lost()),
        }
    }
}

fn answer<T>(from: &Receiver<Result<T, StoreError>>) -> Result<T, StoreError> {
    from.recv().unwrap_or_else(|_| Err(lost()))
}

fn lost() -> StoreError {
    StoreError::Database("the connection to the server is lost; start again".to_owned())
}

/// Connects, and answers requests until there are no more.
fn serve(
    config: &Config,
    mut requests: UnboundedReceiver<Request>,
    connected: &Reply<(Handle, CancelToken)>,
) {
    let runtime = match Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            let _ = connected.send(Err(StoreError::Database(error.to_string())));
            return;
        }
    };
    runtime.block_on(async {
        let (client, connection) = match config.connect(NoTls).await {
            Ok(both) => both,
            Err(error) => {
                let reason = words(&error);
                let _ = connected.send(Err(StoreError::Server { reason }));
                return;
            }
        };
        let connection = tokio::spawn(connection);
        let _ = connected.send(Ok((Handle::current(), client.cancel_token())));
        let mut session = Session {
            client,
            prepared: HashMap::new(),
        };
        while let Some(request) = requests.recv().await {
            session.answer(request).await;
        }
        drop(session);
        let _ = connection.await; // it closes the session
    });
}

struct Session {
    client: Client,
    prepared: HashMap<String, Statement>,
}

impl Session {
    /// An answer that cannot be sent is dropped: its caller has gone.
    async fn answer(&mut self, request: Request) {
        match request {
            Request::Write(writes, reply) => drop(reply.send(self.write(&writes).await)),
            Request::Script(sql, reply) => {
                let done = self.client.batch_execute(&sql).await;
                drop(reply.send(done.map_err(failed)));
            }
            Request::Query(query, reply) => {
                let end = self.query(&query.sql, &query.values, &reply).await;
                drop(reply.send(end.map(|()| Rows::new())));
            }
            Request::Each(sql, values, reply) => {
                let end = self.query_each(&sql, &values, &reply).await;
                drop(reply.send(end.map(|()| Rows::new())));
            }
        }
    }

    /// All are sent before the first answer is waited for.
    async fn write(&mut self, writes: &[Write]) -> Result<(), StoreError> {
        let mut statements = Vec::with_capacity(writes.len());
        for write in writes {
            statements.push(self.prepare(&write.sql).await?);
        }
        let mut running = Vec::with_capacity(writes.len());
        for (statement, write) in statements.iter().zip(writes) {
            let mut sent = Box::pin(self.client.execute_raw(statement, &write.values));
            let first = poll_fn(|cx| Poll::Ready(sent.as_mut().poll(cx))).await;
            running.push((sent, first));
        }
        let mut first_error = None;
        for (sent, first) in running {
            let done = match first {
                Poll::Ready(done) => done,
                Poll::Pending => sent.await,
            };
            // The server refuses those after it, and the caller rolls back.
            first_error = first_error.or(done.err());
        }
        first_error.map_or(Ok(()), |error| Err(failed(error)))
    }

    async fn query(
        &mut self,
        sql: &str,
        values: &[impl ToSql + Sync],
        reply: &Reply<Rows>,
    ) -> Result<(), StoreError> {
        let statement = self.prepare(sql).await?;
        let found = self.client.query_raw(&statement, values).await;
        let mut found = pin!(found.map_err(failed)?);
        let mut rows = Rows::with_capacity(ROWS);
        while let Some(row) = found.try_next().await.map_err(failed)? {
            rows.push(cells(&row)?);
            if rows.len() == ROWS && reply.send(Ok(std::mem::take(&mut rows))).is_err() {
                return Ok(()); // the rest is not wanted
            }
        }
        if !rows.is_empty() {
            let _ = reply.send(Ok(rows)); // as above
        }
        Ok(())
    }

    /// One statement asks for all of them (IDX-63): each parameter is an array.
    async fn query_each(
        &mut self,
        sql: &str,
        values: &[Vec<Value>],
        reply: &Reply<Rows>,
    ) -> Result<(), StoreError> {
        let statement = self.prepare(sql).await?;
        let mut arrays = vec![Vec::with_capacity(values.len()); statement.params().len()];
        for values in values {
            if values.len() != arrays.len() {
                let (found, expected) = (values.len(), arrays.len());
                let words = format!("{found} parameters, expected {expected}: {sql}");
                return Err(StoreError::Database(words));
            }
            for (array, value) in arrays.iter_mut().zip(values) {
                array.push(value);
            }
        }
        let sql = for_each(sql, statement.params());
        self.query(&sql, &arrays, reply).await
    }

    async fn prepare(&mut self, sql: &str) -> Result<Statement, StoreError> {
        if let Some(statement) = self.prepared.get(sql) {
            return Ok(statement.clone());
        }
        if self.prepared.len() == PREPARED {
            self.prepared.clear();
        }
        let statement = self.client.prepare(sql).await.map_err(failed)?;
        if sql.len() <= PREPARED_BYTES {
            self.prepared.insert(sql.to_owned(), statement.clone());
        }
        Ok(statement)
    }
}

/// The query with each element of arrays of these types as its parameters; the first column is its place.
fn for_each(sql: &str, types: &[Type]) -> String {
    let numbers = 1..=types.len();
    let names: Vec<_> = numbers.clone().map(|it| format!("p{it}")).collect();
    let arrays = numbers.zip(types);
    let arrays: Vec<_> = arrays
        .map(|(number, of)| format!("${number}::{}[]", of.name()))
        .collect();
    let one = sql.replace('$', "q.p");
    format!(
        "SELECT q.n - 1, r.* FROM unnest({}) WITH ORDINALITY AS q ({}, n) CROSS JOIN LATERAL ({one}) r",
        arrays.join(", "),
        names.join(", ")
    )
}

fn cells(row: &Row) -> Result<Vec<Value>, StoreError> {
    (0..row.len())
        .map(|column| row.try_get(column).map_err(failed))
        .collect()
}

fn failed(error: tokio_postgres::Error) -> StoreError {
    let Some(code) = error.code() else {
        return StoreError::Database(words(&error));
    };
    // Two writers of the same rows, such as the indexer and the worker that fetches files.
    let busy = [
        SqlState::T_R_DEADLOCK_DETECTED,
        SqlState::T_R_SERIALIZATION_FAILURE,
        SqlState::LOCK_NOT_AVAILABLE,
    ];
    match code {
        code if *code == SqlState::DISK_FULL => StoreError::Full(words(&error)),
        code if busy.contains(code) => StoreError::Busy(words(&error)),
        _ => StoreError::Database(words(&error)),
    }
}

/// The server's message, or the messages of the error and its causes.
fn words(error: &tokio_postgres::Error) -> String {
    if let Some(of_server) = error.as_db_error() {
        return of_server.message().to_owned();
    }
    let mut words = error.to_string();
    let mut cause = std::error::Error::source(error);
    while let Some(error) = cause {
        words = format!("{words}: {error}");
        cause = error.source();
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_parameter_is_not_taken_for_the_beginning_of_another() {
        let mut types = vec![Type::INT8; 11];
        types[1] = Type::BYTEA;
        let asked = for_each(
            "SELECT a FROM b WHERE c = $1 AND d = $11 AND e = $2",
            &types,
        );
        let one = "(SELECT a FROM b WHERE c = q.p1 AND d = q.p11 AND e = q.p2) r";
        assert!(asked.ends_with(one), "{asked}");
        assert!(
            asked.contains("unnest($1::int8[], $2::bytea[], "),
            "{asked}"
        );
        assert!(asked.contains(", $11::int8[]) "), "{asked}");
        assert!(asked.contains(" AS q (p1, p2, "), "{asked}");
    }
}
