//! The arguments of lists.
use super::{
    error::QueryError,
    schema::{Entity, Kind},
};
use crate::api::names::excerpt;
use serde_json::{Map, Value};

/// Rows of a page, and of one that does not say.
const FIRST: usize = 1_000;
const DEFAULT: usize = 100;
/// Rows before a page.
const SKIP: usize = 10_000_000;

/// Which of the rows, in which order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Paging {
    pub first: usize,
    pub skip: usize,
    order: String,
}

impl Paging {
    pub fn of(entity: &Entity, arguments: &Map<String, Value>) -> Result<Self, QueryError> {
        let (column, is_nullable) = match arguments.get("orderBy") {
            None | Some(Value::Null) => (None, false),
            Some(name) => order(entity, name)?,
        };
        let direction = match arguments.get("orderDirection") {
            None | Some(Value::Null) => "ASC",
            Some(Value::String(text)) if text == "asc" => "ASC",
            Some(Value::String(text)) if text == "desc" => "DESC",
            Some(other) => {
                let found = excerpt(&other.to_string());
                let message = format!("orderDirection: {found}: expected asc or desc");
                return Err(QueryError::new(message));
            }
        };
        let mut order = Vec::new();
        if let Some(column) = column {
            // Engines differ in where they put nulls.
            let nulls = if is_nullable { " NULLS LAST" } else { "" };
            order.push(format!("{column} {direction}{nulls}"));
        }
        let key = entity.key.iter();
        order.extend(key.map(|column| format!("#.{column} {direction}")));
        Ok(Self {
            first: number(arguments, "first", DEFAULT, FIRST)?,
            skip: number(arguments, "skip", 0, SKIP)?,
            order: order.join(", "),
        })
    }

    /// The order in SQL, for a table that the query calls `name`.
    pub fn order(&self, name: &str) -> String {
        self.order.replace('#', name)
    }
}

/// Whether a page has the first row of a list.
pub fn has_first(arguments: &Map<String, Value>) -> Result<bool, QueryError> {
    let first = number(arguments, "first", DEFAULT, FIRST)?;
    let skip = number(arguments, "skip", 0, SKIP)?;
    Ok(first > 0 && skip == 0)
}

fn order<'a>(entity: &Entity, name: &'a Value) -> Result<(Option<&'static str>, bool), QueryError> {
    let name: &'a str = name.as_str().unwrap_or_default();
    match entity.field(name).map(|it| it.kind) {
        // Ids are in the order of the key, and the chain is the same in every row.
        Some(Kind::Id | Kind::Chain) => Ok((None, false)),
        Some(Kind::Cell(cell)) => {
            let column = cell.sorted.unwrap_or(cell.sql);
            Ok((Some(column), cell.is_nullable))
        }
        _ => {
            let input = format!("{}_orderBy", entity.name);
            Err(QueryError::no_field(&input, name))
        }
    }
}

fn number(
    arguments: &Map<String, Value>,
    name: &str,
    default: usize,
    limit: usize,
) -> Result<usize, QueryError> {
    let value = match arguments.get(name) {
        None | Some(Value::Null) => return Ok(default),
        Some(value) => value,
    };
    let number = value.as_u64().and_then(|it| usize::try_from(it).ok());
    number.filter(|it| *it <= limit).ok_or_else(|| {
        let found = excerpt(&value.to_string());
        QueryError::new(format!("{name}: {found}: expected a number in 0..={limit}"))
    })
}
