//! `where` as SQL. What is not known is an error that names it, and never left out.
use super::{
    error::QueryError,
    scalar::Scope,
    schema::{Entity, Kind, Scalar},
};
use crate::{
    api::names::excerpt,
    store::{Cell as _, Sql, Value as Stored},
    table::Lines,
};
use serde_json::{Map, Value};

/// Filters in filters.
const DEPTH: usize = 6;
/// Conditions of one query: SQLite's expressions have a depth of 1,000.
const CONDITIONS: usize = 400;

/// Entries of a list of which each is a condition.
const ENTRIES: usize = 100;
/// Values of one query, and entries of a list of ids or accounts: SDKs name all that they found in one query. SQLite takes
/// 32,766 values, Postgres 65,535.
const VALUES: usize = 10_000;

/// What follows a field's name, longest first where one ends like another.
const OPERATORS: [(&str, Operator); 16] = [
    (
        "_not_contains_nocase",
        Operator::text(At::Anywhere, true, true),
    ),
    ("_not_contains", Operator::text(At::Anywhere, true, false)),
    (
        "_contains_nocase",
        Operator::text(At::Anywhere, false, true),
    ),
    ("_contains", Operator::text(At::Anywhere, false, false)),
    (
        "_starts_with_nocase",
        Operator::text(At::Start, false, true),
    ),
    ("_starts_with", Operator::text(At::Start, false, false)),
    ("_ends_with_nocase", Operator::text(At::End, false, true)),
    ("_ends_with", Operator::text(At::End, false, false)),
    ("_not_in", Operator::In { is_not: true }),
    ("_in", Operator::In { is_not: false }),
    ("_not", Operator::Equals { is_not: true }),
    ("_gte", Operator::Order(">=")),
    ("_lte", Operator::Order("<=")),
    ("_gt", Operator::Order(">")),
    ("_lt", Operator::Order("<")),
    ("", Operator::Equals { is_not: false }),
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Operator {
    Equals {
        is_not: bool,
    },
    In {
        is_not: bool,
    },
    Order(&'static str),
    Text {
        at: At,
        is_not: bool,
        is_nocase: bool,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum At {
    Start,
    End,
    Anywhere,
}

impl Operator {
    const fn text(at: At, is_not: bool, is_nocase: bool) -> Self {
        Self::Text {
            at,
            is_not,
            is_nocase,
        }
    }
}

/// Turns filters into conditions.
pub struct Filters<'a> {
    /// What ids are of.
    pub scope: &'a Scope,
    /// Entries of a list, but for ids and accounts.
    pub list: usize,
    /// Bytes of a text that is looked for in others.
    pub text: usize,
    conditions: usize,
    tables: usize,
}

impl<'a> Filters<'a> {
    pub const fn new(scope: &'a Scope, list: usize, text: usize) -> Self {
        Self {
            scope,
            list,
            text,
            conditions: 0,
            tables: 0,
        }
    }

    /// Appends the condition that a filter makes of the entity that the query calls `name`.
    pub fn push(
        &mut self,
        sql: &mut Sql,
        (entity, name): (&'static Entity, &str),
        filter: &Value,
    ) -> Result<(), QueryError> {
        let before = sql.values().len();
        sql.push(" AND ");
        self.object(sql, (entity, name), filter, 1)?;
        match sql.values().len() - before {
            0..=VALUES => Ok(()),
            found => {
                let input = input_of(entity);
                let message = format!("{input} has {found} values, the limit is {VALUES}");
                Err(QueryError::new(message))
            }
        }
    }

    fn object(
        &mut self,
        sql: &mut Sql,
        of: (&'static Entity, &str),
        filter: &Value,
        depth: usize,
    ) -> Result<(), QueryError> {
        let input = input_of(of.0);
        let Value::Object(members) = filter else {
            return Err(QueryError::new(format!("{input}: expected an object")));
        };
        if depth > DEPTH {
            let message = format!("{input}: more than {DEPTH} filters in filters");
            return Err(QueryError::new(message));
        }
        sql.push("(1 = 1");
        for (name, value) in members {
            self.count(&input)?;
            sql.push(" AND ");
            match name.as_str() {
                "and" => self.all(sql, of, ("and", " AND "), value, depth)?,
                "or" => self.all(sql, of, ("or", " OR "), value, depth)?,
                _ => self.member(sql, of, (name, value), depth)?,
            }
        }
        sql.push(")");
        Ok(())
    }

    fn count(&mut self, input: &str) -> Result<(), QueryError> {
        self.conditions += 1;
        if self.conditions > CONDITIONS {
            let message = format!("{input}: more than {CONDITIONS} conditions");
            return Err(QueryError::new(message));
        }
        Ok(())
    }

    fn all(
        &mut self,
        sql: &mut Sql,
        of: (&'static Entity, &str),
        (name, between): (&str, &str),
        value: &Value,
        depth: usize,
    ) -> Result<(), QueryError> {
        let input = input_of(of.0);
        let parts = value.as_array().filter(|it| !it.is_empty());
        let Some(parts) = parts else {
            let message = format!("{input}.{name}: expected a list of at least one filter");
            return Err(QueryError::new(message));
        };
        sql.push("(");
        for (number, part) in parts.iter().enumerate() {
            self.count(&input)?; // an empty one is a condition as well
            if number > 0 {
                sql.push(between);
            }
            self.object(sql, of, part, depth + 1)?;
        }
        sql.push(")");
        Ok(())
    }

    fn member(
        &mut self,
        sql: &mut Sql,
        (entity, table): (&'static Entity, &str),
        (name, value): (&str, &Value),
        depth: usize,
    ) -> Result<(), QueryError> {
        let unknown = || QueryError::no_field(&input_of(entity), name);
        let nested = name.strip_suffix('_').and_then(|it| entity.field(it));
        if let Some(field) = nested {
            let (Kind::One(other) | Kind::Many(other)) = field.kind else {
                return Err(unknown());
            };
            return self.related(sql, (entity, table), other, Some((value, depth)));
        }
        let found = OPERATORS.iter().find_map(|(suffix, operator)| {
            let field = entity.field(name.strip_suffix(suffix)?)?;
            Some((field, *operator))
        });
        let (field, operator) = found.ok_or_else(unknown)?;
        let path = format!("{}.{name}", input_of(entity));
        match field.kind {
            Kind::Cell(cell) => {
                let column = cell.compared.unwrap_or(cell.sql).replace('#', table);
                self.cell(sql, (cell.of, &column), (operator, value), &path)
                    .unwrap_or_else(|| Err(unknown()))
            }
            // It is the same in every row.
            Kind::Chain => {
                let chain = format!("CAST({} AS BIGINT)", self.scope.chain);
                self.cell(sql, (Scalar::BigInt, &chain), (operator, value), &path)
                    .unwrap_or_else(|| Err(unknown()))
            }
            Kind::Id => self
                .id(sql, (entity, table), (operator, value), &path)
                .unwrap_or_else(|| Err(unknown())),
            Kind::One(other) => self
                .one(sql, (entity, table), other, (operator, value), &path)
                .unwrap_or_else(|| Err(unknown())),
            Kind::Operators => self
                .operators(sql, table, (operator, value), &path)
                .unwrap_or_else(|| Err(unknown())),
            Kind::Many(_) | Kind::FeedbackFile | Kind::Unknown => Err(unknown()),
        }
    }

    /// That there is a related entity, and what it is like.
    fn related(
        &mut self,
        sql: &mut Sql,
        (entity, table): (&'static Entity, &str),
        other: &'static Entity,
        filter: Option<(&Value, usize)>,
    ) -> Result<(), QueryError> {
        self.tables += 1;
        let name = format!("r{}", self.tables);
        sql.push(&format!("EXISTS (SELECT 1 FROM {} {name} ", other.table));
        sql.push(&format!("WHERE {name}.deployment = {table}.deployment"));
        for (column, _) in entity.key.iter().zip(other.key) {
            sql.push(&format!(" AND {name}.{column} = {table}.{column}"));
        }
        sql.push(&other.condition.replace('#', &name));
        if let Some((filter, depth)) = filter {
            sql.push(" AND ");
            self.object(sql, (other, &name), filter, depth + 1)?;
        }
        sql.push(")");
        Ok(())
    }

    /// `None` if the operator is none of these.
    fn cell(
        &self,
        sql: &mut Sql,
        (of, column): (Scalar, &str),
        (operator, value): (Operator, &Value),
        path: &str,
    ) -> Option<Result<(), QueryError>> {
        let bound = |value: &Value| {
            let stored = of.bound(value);
            stored.ok_or_else(|| malformed(path, value, of.expected()))
        };
        match (of, operator) {
            (Scalar::AgentName | Scalar::Address | Scalar::ChainOf, _) => return None,
            (
                Scalar::List,
                Operator::Text {
                    at: At::Anywhere,
                    is_not,
                    is_nocase: false,
                },
            ) => {
                return Some(self.lines(sql, column, (is_not, value), path));
            }
            (Scalar::List, _) | (Scalar::Bool, Operator::Order(_)) => return None,
            (Scalar::Text, Operator::Text { .. }) => {
                return Some(self.text(sql, column, (operator, value), path));
            }
            (_, Operator::Text { .. }) => return None,
            _ => (),
        }
        Some(match operator {
            Operator::Equals { is_not } if value.is_null() => {
                sql.push(&format!(
                    "({column}) IS {}NULL",
                    if is_not { "NOT " } else { "" }
                ));
                Ok(())
            }
            Operator::Equals { is_not } => bound(value).map(|bound| {
                let sign = if is_not { "<>" } else { "=" };
                sql.bind(&format!("({column}) {sign} ?"), [bound]);
            }),
            Operator::Order(sign) => bound(value).map(|bound| {
                sql.bind(&format!("({column}) {sign} ?"), [bound]);
            }),
            Operator::In { is_not } => {
                let limit = match of {
                    Scalar::Bytes | Scalar::AgentNumber => VALUES,
                    _ => self.list,
                };
                entries(limit, value, path).and_then(|entries| {
                    let bounds: Vec<Stored> =
                        entries.iter().map(bound).collect::<Result<_, _>>()?;
                    push_in(sql, column, is_not, bounds);
                    Ok(())
                })
            }
            Operator::Text { .. } => return None,
        })
    }

    /// Whether a list has all of these entries.
    fn lines(
        &self,
        sql: &mut Sql,
        column: &str,
        (is_not, value): (bool, &Value),
        path: &str,
    ) -> Result<(), QueryError> {
        sql.push(if is_not { "NOT (1 = 1" } else { "(1 = 1" });
        for entry in entries(ENTRIES, value, path)? {
            let text = entry.as_str();
            let text = text.ok_or_else(|| malformed(path, entry, "a list of texts"))?;
            // LIKE takes letters of either case for the same in SQLite.
            let condition = format!(" AND REPLACE({column}, ?, '') <> {column}");
            sql.bind(&condition, [Stored::Text(Lines::line(text))]);
        }
        sql.push(")");
        Ok(())
    }

    fn text(
        &self,
        sql: &mut Sql,
        column: &str,
        (operator, value): (Operator, &Value),
        path: &str,
    ) -> Result<(), QueryError> {
        let Operator::Text {
            at,
            is_not,
            is_nocase,
        } = operator
        else {
            return Err(malformed(path, value, "text"));
        };
        let text = value.as_str();
        let text = text.ok_or_else(|| malformed(path, value, "text"))?;
        let (length, limit) = (text.len(), self.text);
        if length > limit {
            let message = format!("{path} has {length} bytes, the limit is {limit}");
            return Err(QueryError::new(message));
        }
        sql.push(if is_not { "NOT (" } else { "(" });
        let characters = text.chars().count();
        match (at, is_nocase) {
            _ if text.is_empty() => {
                sql.push(&format!("({column}) IS NOT NULL"));
            }
            (at, true) => {
                let pattern = Stored::Text(pattern(text, at));
                sql.bind(&format!("LOWER({column}) LIKE ? ESCAPE '!'"), [pattern]);
            }
            (At::Anywhere, false) => {
                let condition = format!("REPLACE({column}, ?, '') <> {column}");
                sql.bind(&condition, [text.to_owned().to_value()]);
            }
            (At::Start, false) => {
                let condition = format!("SUBSTR({column}, 1, {characters}) = ?");
                sql.bind(&condition, [text.to_owned().to_value()]);
            }
            (At::End, false) => {
                let before = characters - 1;
                let condition = format!(
                    "LENGTH({column}) >= {characters} \
                     AND SUBSTR({column}, LENGTH({column}) - {before}) = ?"
                );
                sql.bind(&condition, [text.to_owned().to_value()]);
            }
        }
        sql.push(")");
        Ok(())
    }

    fn id(
        &self,
        sql: &mut Sql,
        (entity, table): (&'static Entity, &str),
        (operator, value): (Operator, &Value),
        path: &str,
    ) -> Option<Result<(), QueryError>> {
        let (ids, is_not) = match operator {
            Operator::Equals { is_not } => (Ok(std::slice::from_ref(value)), is_not),
            Operator::In { is_not } => {
                let limit = match entity.id.columns() {
                    [_] => VALUES,
                    _ => ENTRIES,
                };
                (entries(limit, value, path), is_not)
            }
            Operator::Order(_) | Operator::Text { .. } => return None,
        };
        Some(ids.and_then(|ids| {
            sql.push(if is_not { "NOT (" } else { "(" });
            self.one_of(sql, (entity, table), ids, path)?;
            sql.push(")");
            Ok(())
        }))
    }

    /// An id of another form or chain names nothing, as any text can be an id.
    fn one_of(
        &self,
        sql: &mut Sql,
        (entity, table): (&'static Entity, &str),
        ids: &[Value],
        path: &str,
    ) -> Result<(), QueryError> {
        let columns = entity.id.columns();
        let mut found = Vec::new();
        for id in ids {
            let text = id.as_str().ok_or_else(|| malformed(path, id, "an id"))?;
            found.extend(entity.id.cells(text, self.scope));
        }
        if let [column] = columns {
            push_in(sql, &format!("{table}.{column}"), false, found.concat());
            return Ok(());
        }
        sql.push("1 = 0");
        for cells in found {
            let each = columns.iter().map(|column| format!("{table}.{column} = ?"));
            let each = each.collect::<Vec<_>>().join(" AND ");
            sql.bind(&format!(" OR ({each})"), cells);
        }
        Ok(())
    }

    /// By the id of what an entity belongs to, or has.
    fn one(
        &mut self,
        sql: &mut Sql,
        (entity, table): (&'static Entity, &str),
        other: &'static Entity,
        (operator, value): (Operator, &Value),
        path: &str,
    ) -> Option<Result<(), QueryError>> {
        match operator {
            Operator::Equals { is_not } if value.is_null() => {
                sql.push(if is_not { "" } else { "NOT " });
                Some(self.related(sql, (entity, table), other, None))
            }
            // What it belongs to is named by the entity's own columns, and is always there.
            _ if other.key.len() < entity.key.len() => {
                self.id(sql, (other, table), (operator, value), path)
            }
            _ => {
                let named = self.id(sql, (other, table), (operator, value), path)?;
                Some(named.and_then(|()| {
                    sql.push(" AND ");
                    self.related(sql, (entity, table), other, None)
                }))
            }
        }
    }

    /// Whether all of these accounts may act for an agent.
    fn operators(
        &self,
        sql: &mut Sql,
        table: &str,
        (operator, value): (Operator, &Value),
        path: &str,
    ) -> Option<Result<(), QueryError>> {
        let Operator::Text {
            at: At::Anywhere,
            is_not,
            ..
        } = operator
        else {
            return None;
        };
        Some(entries(ENTRIES, value, path).and_then(|entries| {
            sql.push(if is_not { "NOT (1 = 1" } else { "(1 = 1" });
            for entry in entries {
                let bound = Scalar::Bytes.bound(entry);
                let bound = bound.ok_or_else(|| malformed(path, entry, "0x and hex digits"))?;
                // Owners are looked up once, and not for each agent.
                let condition = format!(
                    " AND COALESCE({table}.approved = ? OR {table}.owner IN \
                     (SELECT SUBSTR(s.subject, 1, 20) FROM setting s WHERE s.deployment = ? \
                     AND s.name = 'operator' AND SUBSTR(s.subject, 21) = ?), FALSE)"
                );
                let deployment = self.scope.deployment.0.to_value();
                sql.bind(&condition, [bound.clone(), deployment, bound]);
            }
            sql.push(")");
            Ok(())
        }))
    }
}

fn entries<'v>(limit: usize, value: &'v Value, path: &str) -> Result<&'v [Value], QueryError> {
    let entries = value.as_array();
    let entries = entries.ok_or_else(|| malformed(path, value, "a list"))?;
    let length = entries.len();
    if length <= limit {
        Ok(entries)
    } else {
        let message = format!("{path} has {length} entries, the limit is {limit}");
        Err(QueryError::new(message))
    }
}

fn push_in(sql: &mut Sql, column: &str, is_not: bool, values: Vec<Stored>) {
    if values.is_empty() {
        sql.push(if is_not { "1 = 1" } else { "1 = 0" });
        return;
    }
    let marks = vec!["?"; values.len()].join(", ");
    let not = if is_not { "NOT " } else { "" };
    sql.bind(&format!("({column}) {not}IN ({marks})"), values);
}

/// LIKE's own characters are taken as they are.
fn pattern(text: &str, at: At) -> String {
    let mut pattern = String::new();
    if at != At::Start {
        pattern.push('%');
    }
    for character in text.chars() {
        if matches!(character, '%' | '_' | '!') {
            pattern.push('!');
        }
        pattern.push(character.to_ascii_lowercase());
    }
    if at != At::End {
        pattern.push('%');
    }
    pattern
}

fn input_of(entity: &Entity) -> String {
    format!("{}_filter", entity.name)
}

fn malformed(path: &str, value: &Value, expected: &str) -> QueryError {
    let found = excerpt(&value.to_string());
    QueryError::new(format!("{path}: {found}: expected {expected}"))
}

/// Checks a filter without carrying it out.
pub fn check(
    filters: &mut Filters<'_>,
    entity: &'static Entity,
    arguments: &Map<String, Value>,
) -> Result<(), QueryError> {
    match arguments.get("where") {
        None | Some(Value::Null) => Ok(()),
        Some(filter) => filters.push(&mut Sql::default(), (entity, "t"), filter),
    }
}
