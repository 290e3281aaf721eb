use crate::{StoreError, Value};

/// Bytes of a statement that stays prepared at most: thousands of parameters take megabytes.
pub(crate) const PREPARED_BYTES: usize = 16 << 10;

/// Takes the rows of several queries, each with the number of its query.
pub type Numbered<'a> = dyn FnMut(usize, &[Value]) -> Result<(), StoreError> + 'a;

/// A database. Both engines run the same SQL: `$1` is the first parameter, and parameters are named
/// in the order of their numbers.
pub trait Engine: Send + 'static {
    /// Returns the engine's words for SQL's column types and table options.
    fn dialect(&self) -> &'static Dialect;

    /// Runs one statement that has no answer. In a transaction, its error may be that of a later
    /// statement or of the commit.
    ///
    /// # Errors
    /// [`StoreError::Database`], [`StoreError::Full`].
    fn execute(&mut self, sql: &str, parameters: &[Value]) -> Result<(), StoreError>;

    /// Writes rows of which no two have the same key. A server takes in many with one statement (IDX-63).
    ///
    /// # Errors
    /// As [`Self::execute`].
    fn insert(&mut self, insert: &Insert, rows: &[Vec<Value>]) -> Result<(), StoreError> {
        let one = insert.of_rows(1);
        let mut rows = rows.iter();
        rows.try_for_each(|row| self.execute(&one, row))
    }

    /// Runs one query, and passes each row on.
    ///
    /// # Errors
    /// As [`Self::execute`], and those of `each`.
    fn query(
        &mut self,
        sql: &str,
        parameters: &[Value],
        each: &mut dyn FnMut(&[Value]) -> Result<(), StoreError>,
    ) -> Result<(), StoreError>;

    /// Runs one query with each of these lists of parameters, and passes each row on, with the place of its parameters in
    /// the list. A server is not waited for in between.
    ///
    /// # Errors
    /// As [`Self::query`].
    fn query_each(
        &mut self,
        sql: &str,
        parameters: &[Vec<Value>],
        each: &mut Numbered<'_>,
    ) -> Result<(), StoreError> {
        let mut numbered = parameters.iter().enumerate();
        numbered.try_for_each(|(at, values)| self.query(sql, values, &mut |row| each(at, row)))
    }

    /// Runs one or several statements without parameters, and waits for them. Transactions begin and
    /// end with it.
    ///
    /// # Errors
    /// As [`Self::execute`].
    fn script(&mut self, sql: &str) -> Result<(), StoreError>;

    /// Claims the right to write what `name` says, until the engine is dropped, however the process
    /// ends.
    ///
    /// # Errors
    /// [`StoreError::SecondWriter`].
    fn claim(&mut self, name: &str) -> Result<(), StoreError>;

    /// Gives back what this engine has claimed.
    ///
    /// # Errors
    /// [`StoreError::Database`].
    fn release(&mut self) -> Result<(), StoreError>;
}

/// A statement that writes rows.
#[derive(Debug, Clone)]
pub struct Insert {
    pub(crate) table: String,
    head: String,
    columns: usize,
    tail: String,
}

impl Insert {
    /// `on_conflict` is what follows the rows; it may be empty.
    #[must_use]
    pub fn new(table: &str, columns: &[&str], on_conflict: &str) -> Self {
        Self {
            table: table.to_owned(),
            head: format!("INSERT INTO {table} ({}) VALUES ", columns.join(", ")),
            columns: columns.len(),
            tail: format!(" {on_conflict}"),
        }
    }

    /// Returns SQL that writes so many rows. Its parameters are their values, row after row.
    #[must_use]
    pub fn of_rows(&self, rows: usize) -> String {
        let row = |row: usize| {
            let first = row * self.columns + 1;
            let marks = (first..first + self.columns).map(|number| format!("${number}"));
            format!("({})", marks.collect::<Vec<_>>().join(", "))
        };
        let rows: Vec<_> = (0..rows).map(row).collect();
        format!("{}{}{}", self.head, rows.join(", "), self.tail)
    }
}

/// How an engine writes what SQL leaves open.
#[derive(Debug, Clone, Copy)]
pub struct Dialect {
    /// Begins a transaction that writes.
    pub begin: &'static str,
    /// Begins a transaction during which no other of this kind runs.
    pub begin_alone: &'static str,
    /// Waits for other transactions that write the deployment `$1`; `None` if beginning one does.
    pub lock_deployment: Option<&'static str>,
    /// Begins a transaction that reads one state of the database.
    pub begin_snapshot: &'static str,
    /// 64 bits.
    pub integer: &'static str,
    /// 64 bits.
    pub real: &'static str,
    /// Text that sorts by its bytes.
    pub text: &'static str,
    /// Bytes.
    pub blob: &'static str,
    /// After a table whose rows are in the order of its key.
    pub clustered: &'static str,
    /// Whether each query costs the way to a server and back, so that it is better to ask much at once.
    pub is_distant: bool,
    /// Whether the planner needs fixed statistics about the tables, because it gathers none.
    pub is_told_statistics: bool,
}
