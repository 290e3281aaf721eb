use super::{Cells, Engine, Store, Value, columns::Stored};
use crate::StoreError;

/// A statement in the making: its text, and its parameters in the order of their numbers.
#[derive(Debug, Clone, Default)]
pub(crate) struct Sql {
    text: String,
    values: Vec<Value>,
}

impl Sql {
    pub fn new(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            values: Vec::new(),
        }
    }

    pub fn text(&self) -> &str {
        &self.text
    }

    pub fn values(&self) -> &[Value] {
        &self.values
    }

    pub fn push(&mut self, text: &str) -> &mut Self {
        self.text.push_str(text);
        self
    }

    /// Appends text in which each `?` is the next of the values.
    pub fn bind(&mut self, text: &str, values: impl IntoIterator<Item = Value>) -> &mut Self {
        let mut values = values.into_iter();
        for (number, part) in text.split('?').enumerate() {
            if number > 0 {
                self.values.extend(values.next());
                let parameter = format!("${}", self.values.len());
                self.text.push_str(&parameter);
            }
            self.text.push_str(part);
        }
        self
    }

    /// The statement as a part of another one.
    pub fn within(self, before: &str, after: &str) -> Self {
        Self {
            text: format!("{before}{}{after}", self.text),
            values: self.values,
        }
    }

    /// Appends ` AND column IN (…)`, or nothing if there are no values.
    pub fn list(&mut self, column: &str, values: impl IntoIterator<Item = Value>) -> &mut Self {
        let values: Vec<Value> = values.into_iter().collect();
        if values.is_empty() {
            return self;
        }
        let marks = vec!["?"; values.len()].join(", ");
        self.bind(&format!(" AND {column} IN ({marks})"), values)
    }
}

/// The columns of a table's rows, under the name that a query gives the table.
pub(crate) fn columns<T: Stored>(name: &str) -> String {
    let named = T::COLUMNS.iter().map(|column| format!("{name}.{column}"));
    named.collect::<Vec<_>>().join(", ")
}

impl<E: Engine> Store<E> {
    /// Passes on each row that a statement selects. `table` names the source in an error.
    pub(crate) fn select(
        &mut self,
        sql: &Sql,
        table: &'static str,
        each: &mut dyn FnMut(&mut Cells<'_>) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        self.each(&sql.text, &sql.values, table, each)
    }

    /// Passes on each row of several statements of one text, with the place of its statement in the list. A server is asked for
    /// all of them at once (IDX-63).
    pub(crate) fn select_each(
        &mut self,
        statements: Vec<Sql>,
        table: &'static str,
        each: &mut dyn FnMut(usize, &mut Cells<'_>) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        let Some(text) = statements.first().map(|it| it.text.clone()) else {
            return Ok(());
        };
        let values: Vec<_> = statements.into_iter().map(|it| it.values).collect();
        self.each_of(&text, &values, table, each)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_numbered_in_the_order_of_their_values() {
        let mut sql = Sql::new("SELECT a FROM b WHERE c = 1");
        sql.bind(" AND (d = ? OR e > ?)", [Value::Int(7), Value::Null])
            .list("f", [Value::Int(8), Value::Int(9)])
            .list("g", [])
            .push(" LIMIT 3");
        let text = "SELECT a FROM b WHERE c = 1 AND (d = $1 OR e > $2) AND f IN ($3, $4) LIMIT 3";
        assert_eq!(sql.text, text);
        let values = [7, 8, 9].map(Value::Int);
        assert_eq!(sql.values[0], values[0]);
        assert_eq!(sql.values[1], Value::Null);
        assert_eq!(sql.values[2..], values[1..]);
    }
}
