//! The index's own types as cells.
use crate::{
    Place, StoreError,
    table::{FileState, FileUse, Lines, Transaction},
};
use concord_sql::{Cell, Value, cells};

cells! {
    Lines: it => Value::Text(it.0.clone()), Value::Text(it) => Some(Lines(it.clone()));
    Place: it => Value::Blob(it.as_bytes().to_vec()), Value::Blob(it) => Some(Place::from_bytes(it.as_slice().try_into().ok()?));
    Transaction: it => Value::Blob(it.0.clone()), Value::Blob(it) => Some(Transaction(it.clone()));
    FileState: it => Value::Int(*it as i64), Value::Int(it) => match it {
        0 => Some(FileState::Wanted),
        1 => Some(FileState::Fetched),
        2 => Some(FileState::Refused),
        3 => Some(FileState::Failing),
        _ => None,
    };
    FileUse: it => Value::Int(*it as i64), Value::Int(it) => match it {
        0 => Some(FileUse::Waiting),
        1 => Some(FileUse::Unavailable),
        2 => Some(FileUse::Unreadable),
        3 => Some(FileUse::Read),
        _ => None,
    };
}

/// The cells of one row, taken one after the other.
#[derive(Debug)]
pub(crate) struct Cells<'a> {
    pub table: &'static str,
    pub cells: std::slice::Iter<'a, Value>,
}

impl<'a> Cells<'a> {
    pub fn new(table: &'static str, cells: &'a [Value]) -> Self {
        Self {
            table,
            cells: cells.iter(),
        }
    }

    /// The next cell as it is.
    pub fn next(&mut self) -> Value {
        self.cells.next().cloned().unwrap_or(Value::Null)
    }

    /// The next cell, which `column` names in an error.
    pub fn take<T: Cell>(&mut self, column: &'static str) -> Result<T, StoreError> {
        let found = self.cells.next().and_then(T::from_value);
        found.ok_or(StoreError::Malformed {
            table: self.table,
            column,
        })
    }
}
