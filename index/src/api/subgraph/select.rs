//! Entities, level by level: what belongs to the rows of a page is read with one statement for all of
//! them.
use super::{
    document::Selected,
    error::QueryError,
    feedback_file,
    filter::Filters,
    paging::Paging,
    scalar::Scope,
    schema::{Entity, Kind, Scalar},
};
use crate::{
    StoreError,
    api::{ApiError, Limits},
    store::{Cell as _, Cells, Engine, Sql, Store, Value as Stored},
};
use serde_json::{Map, Value, json};
use std::{
    collections::{BTreeMap, BTreeSet},
    time::Instant,
};

/// Entities of all levels.
const ROWS: usize = 100_000;
/// Bytes of texts, and of the names that they have in the answer.
const BYTES: usize = 32 << 20;
/// Keys of one statement.
const KEYS: usize = 100;

/// Carries out a query.
pub struct Execution<'a, E> {
    pub store: &'a mut Store<E>,
    pub scope: &'a Scope,
    pub limits: Limits,
    pub began: Instant,
    rows: usize,
    bytes: usize,
}

/// A row with what is selected of it.
struct Row {
    key: Vec<Stored>,
    cells: Vec<Stored>,
    answer: Map<String, Value>,
}

/// Which rows.
enum Which<'a> {
    /// A page of those that a filter finds.
    Page,
    /// The one with this id.
    Id(&'a str),
    /// Those with one of these keys, once for each.
    One(&'a [Vec<Stored>]),
    /// A page for each of these beginnings of keys.
    Many(&'a [Vec<Stored>]),
}

/// The rows of keys: one each, or a page each.
type OfKeys = for<'k> fn(&'k [Vec<Stored>]) -> Which<'k>;

/// The cells that a row is read with, in this order: its key, its id, one for each selected field.
struct Columns(Vec<String>);

impl<'a, E: Engine> Execution<'a, E> {
    pub fn new(store: &'a mut Store<E>, scope: &'a Scope, limits: Limits) -> Self {
        Self {
            store,
            scope,
            limits,
            began: Instant::now(),
            rows: 0,
            bytes: 0,
        }
    }

    /// A page of entities.
    pub fn page(
        &mut self,
        entity: &'static Entity,
        selected: &Selected,
    ) -> Result<Value, QueryError> {
        let rows = self.rows(entity, selected, &Which::Page)?;
        Ok(rows
            .into_iter()
            .map(|row| Value::Object(row.answer))
            .collect())
    }

    /// One entity, or null.
    pub fn one(
        &mut self,
        entity: &'static Entity,
        selected: &Selected,
    ) -> Result<Value, QueryError> {
        let id = selected.arguments.get("id").and_then(Value::as_str);
        let rows = self.rows(entity, selected, &Which::Id(id.unwrap_or_default()))?;
        let first = rows.into_iter().next();
        Ok(first.map_or(Value::Null, |row| Value::Object(row.answer)))
    }

    fn rows(
        &mut self,
        entity: &'static Entity,
        selected: &Selected,
        which: &Which<'_>,
    ) -> Result<Vec<Row>, QueryError> {
        let columns = Columns::of(entity, selected);
        let sql = self.sql(entity, selected, which, &columns)?;
        let Some(sql) = sql else {
            return Ok(Vec::new());
        };
        let mut rows = Vec::new();
        let keys: usize = selected.children.iter().map(|it| it.key.len()).sum();
        let (mut count, mut bytes) = (self.rows, self.bytes);
        let found = self.store.select(&sql, entity.table, &mut |cells| {
            let cells: Vec<Stored> = columns.0.iter().map(|_| cells.next()).collect();
            count += 1;
            bytes += keys + cells.iter().map(size).sum::<usize>();
            if count > ROWS || bytes > BYTES {
                return Err(TOO_MUCH);
            }
            rows.push(Row {
                key: cells[..entity.key.len()].to_vec(),
                cells,
                answer: Map::new(),
            });
            Ok(())
        });
        (self.rows, self.bytes) = (count, bytes);
        self.require_small()?;
        found?;
        self.answer(entity, selected, &mut rows)?;
        Ok(rows)
    }

    /// `None` if an id names nothing.
    fn sql(
        &self,
        entity: &'static Entity,
        selected: &Selected,
        which: &Which<'_>,
        columns: &Columns,
    ) -> Result<Option<Sql>, QueryError> {
        let named = columns.0.iter().enumerate();
        let named = named.map(|(number, column)| format!("{column} AS c{number}"));
        let mut sql = Sql::new(format!("SELECT {}", named.collect::<Vec<_>>().join(", ")));
        let paging = match which {
            Which::Page | Which::Many(_) => Some(Paging::of(entity, &selected.arguments)?),
            Which::Id(_) | Which::One(_) => None,
        };
        if let (Which::Many(keys), Some(paging)) = (which, &paging) {
            let prefix = keys.first().map_or(0, Vec::len);
            let prefix: Vec<String> = (entity.key.iter().take(prefix))
                .map(|column| format!("t.{column}"))
                .collect();
            sql.push(&format!(
                ", ROW_NUMBER() OVER (PARTITION BY {} ORDER BY {}) AS turn",
                prefix.join(", "),
                paging.order("t")
            ));
        }
        sql.push(&format!(" FROM {} t", entity.table));
        sql.bind(
            " WHERE t.deployment = ?",
            [self.scope.deployment.0.to_value()],
        );
        sql.push(&entity.condition.replace('#', "t"));
        match which {
            Which::Page => (),
            Which::Id(id) => {
                let Some(cells) = entity.id.cells(id, self.scope) else {
                    return Ok(None);
                };
                for (column, cell) in entity.id.columns().iter().zip(cells) {
                    sql.bind(&format!(" AND t.{column} = ?"), [cell]);
                }
            }
            Which::One(keys) | Which::Many(keys) => restrict(&mut sql, entity, keys),
        }
        if let Some(filter) = selected.arguments.get("where").filter(|it| !it.is_null()) {
            let mut filters = Filters::new(self.scope, self.limits.list, self.limits.text);
            filters
                .push(&mut sql, (entity, "t"), filter)
                .map_err(|error| error.or_at(selected.at))?;
        }
        match (which, &paging) {
            (Which::Many(_), Some(paging)) => {
                let (from, to) = (paging.skip, paging.skip + paging.first);
                let cells: Vec<String> = (0..columns.0.len()).map(|it| format!("c{it}")).collect();
                sql = sql.within(
                    &format!("SELECT {} FROM (", cells.join(", ")),
                    &format!(") AS counted WHERE turn > {from} AND turn <= {to} ORDER BY turn"),
                );
            }
            (_, Some(paging)) => {
                let order = paging.order("t");
                let (first, skip) = (paging.first, paging.skip);
                sql.push(&format!(" ORDER BY {order} LIMIT {first} OFFSET {skip}"));
            }
            (_, None) => (),
        }
        Ok(Some(sql))
    }

    /// Fills in what is selected of rows.
    fn answer(
        &mut self,
        entity: &'static Entity,
        selected: &Selected,
        rows: &mut [Row],
    ) -> Result<(), QueryError> {
        let first = entity.key.len() + entity.id.columns().len();
        for (number, child) in selected.children.iter().enumerate() {
            if child.name == "__typename" {
                for row in rows.iter_mut() {
                    row.answer.insert(child.key.clone(), json!(entity.name));
                }
                continue;
            }
            let field = entity.field(&child.name);
            let field = field.ok_or_else(|| QueryError::no_field(entity.name, &child.name))?;
            let at = first + number;
            match field.kind {
                Kind::Id => self.each(rows, child, |scope, row| {
                    entity
                        .id
                        .answer(&row.cells[entity.key.len()..first], scope)
                        .map(Value::from)
                })?,
                Kind::Cell(cell) => {
                    self.each(rows, child, |scope, row| {
                        cell.of.answer(&row.cells[at], scope)
                    })?;
                }
                Kind::Chain => {
                    self.each(rows, child, |scope, _| {
                        Some(Value::from(scope.chain.as_str()))
                    })?;
                }
                Kind::Unknown => self.each(rows, child, |_, _| Some(Value::Null))?,
                Kind::One(other) => self.ones(entity, other, child, rows)?,
                Kind::Many(other) => self.many(other, child, rows)?,
                Kind::Operators => self.operators(child, rows)?,
                Kind::FeedbackFile => {
                    for row in rows.iter_mut() {
                        self.require_time()?;
                        let answer =
                            feedback_file::answer(self.store, self.scope, &row.key, child)?;
                        self.count(answer.to_string().len())?;
                        row.answer.insert(child.key.clone(), answer);
                    }
                }
            }
        }
        Ok(())
    }

    fn each(
        &self,
        rows: &mut [Row],
        child: &Selected,
        answer: impl Fn(&Scope, &Row) -> Option<Value>,
    ) -> Result<(), QueryError> {
        for row in rows {
            let answered = answer(self.scope, row);
            let answered = answered.ok_or(StoreError::Malformed {
                table: "subgraph",
                column: "cell",
            })?;
            row.answer.insert(child.key.clone(), answered);
        }
        Ok(())
    }

    /// What each row belongs to, or has one of.
    fn ones(
        &mut self,
        entity: &'static Entity,
        other: &'static Entity,
        child: &Selected,
        rows: &mut [Row],
    ) -> Result<(), QueryError> {
        let length = other.key.len().min(entity.key.len());
        let found = self.by_key(other, child, rows, (length, |keys| Which::One(keys)))?;
        let weighed = found.into_iter().filter_map(|(key, found)| {
            let one = found.into_iter().next()?;
            Some((key, (Weight::of(&one), one)))
        });
        let weighed: BTreeMap<_, _> = weighed.collect();
        for row in rows {
            let one = match weighed.get(&key_of(&row.key[..length])) {
                None => Value::Null,
                // What many belong to is in the answer for each of them.
                Some((weight, one)) => {
                    self.rows += weight.objects;
                    self.bytes += weight.bytes;
                    self.require_small()?;
                    one.clone()
                }
            };
            row.answer.insert(child.key.clone(), one);
        }
        Ok(())
    }

    fn require_small(&self) -> Result<(), QueryError> {
        Self::require(self.rows, self.bytes)
    }

    fn require(rows: usize, bytes: usize) -> Result<(), QueryError> {
        let message = match (rows > ROWS, bytes > BYTES) {
            (false, false) => return Ok(()),
            (true, _) => format!("the answer has more than {ROWS} entities; ask for less"),
            (false, true) => format!("the answer has more than {BYTES} bytes; ask for less"),
        };
        Err(QueryError::new(message))
    }

    /// What belongs to each row.
    fn many(
        &mut self,
        other: &'static Entity,
        child: &Selected,
        rows: &mut [Row],
    ) -> Result<(), QueryError> {
        let length = rows.first().map_or(0, |row| row.key.len());
        let mut found = self.by_key(other, child, rows, (length, |keys| Which::Many(keys)))?;
        for row in rows {
            let many = found.remove(&key_of(&row.key)).unwrap_or_default();
            row.answer.insert(child.key.clone(), Value::Array(many));
        }
        Ok(())
    }

    /// Entities by the beginnings of their keys.
    fn by_key(
        &mut self,
        other: &'static Entity,
        child: &Selected,
        rows: &[Row],
        (length, which): (usize, OfKeys),
    ) -> Result<BTreeMap<Vec<u8>, Vec<Value>>, QueryError> {
        let mut seen = BTreeSet::new();
        let mut keys: Vec<Vec<Stored>> = Vec::new();
        for row in rows {
            let key = &row.key[..length];
            if seen.insert(key_of(key)) {
                keys.push(key.to_vec());
            }
        }
        let mut found: BTreeMap<Vec<u8>, Vec<Value>> = BTreeMap::new();
        for keys in keys.chunks(KEYS) {
            for row in self.rows(other, child, &which(keys))? {
                let of = key_of(&row.key[..length]);
                found.entry(of).or_default().push(Value::Object(row.answer));
            }
        }
        Ok(found)
    }

    /// The approved account of an agent, and those that its owner approved for all agents.
    fn operators(&mut self, child: &Selected, rows: &mut [Row]) -> Result<(), QueryError> {
        let deployment = self.scope.deployment.0.to_value();
        for rows in rows.chunks_mut(KEYS) {
            let mut sql = Sql::new("SELECT a.agent, a.owner, a.approved FROM agent a");
            sql.bind(" WHERE a.deployment = ?", [deployment.clone()]);
            sql.list("a.agent", rows.iter().map(|row| row.key[0].clone()));
            let mut agents: BTreeMap<Vec<u8>, (Vec<u8>, Stored)> = BTreeMap::new();
            self.store.select(&sql, "agent", &mut |cells| {
                let agent = key_of(&[cells.next()]);
                let owner: Option<Vec<u8>> = cells.take("owner")?;
                agents.insert(agent, (owner.unwrap_or_default(), cells.next()));
                Ok(())
            })?;
            let owners: BTreeSet<&Vec<u8>> = agents.values().map(|(owner, _)| owner).collect();
            let of_owner = self.approved_by(&owners)?;
            for row in rows {
                let agent = agents.get(&key_of(&row.key[..1]));
                let approved = agent.iter().map(|(_, approved)| approved);
                let approved = approved.filter(|it| **it != Stored::Null);
                let by_owner = agent.and_then(|(owner, _)| of_owner.get(owner));
                let all: Vec<&Stored> = approved.chain(by_owner.into_iter().flatten()).collect();
                // An owner's are in the answer for each of its agents.
                self.count(all.iter().map(|it| size(it)).sum())?;
                let all = all.into_iter();
                let all = all.filter_map(|it| Scalar::Bytes.answer(it, self.scope));
                row.answer.insert(child.key.clone(), all.collect());
            }
        }
        Ok(())
    }

    /// The accounts that owners approved for all of their agents.
    fn approved_by(
        &mut self,
        owners: &BTreeSet<&Vec<u8>>,
    ) -> Result<BTreeMap<Vec<u8>, Vec<Stored>>, QueryError> {
        let mut sql = Sql::new("SELECT s.subject FROM setting s");
        let deployment = self.scope.deployment.0.to_value();
        sql.bind(
            " WHERE s.deployment = ? AND s.name = 'operator' AND (1 = 0",
            [deployment],
        );
        for owner in owners.iter().filter(|it| !it.is_empty()) {
            // A subject is an owner, and an operator of the same length.
            let end = [&owner[..], &vec![0xff; owner.len() + 1]].concat();
            let ends = [Stored::Blob(owner.to_vec()), Stored::Blob(end)];
            sql.bind(" OR (s.subject > ? AND s.subject < ?)", ends);
        }
        sql.push(") ORDER BY s.subject");
        let mut found: BTreeMap<Vec<u8>, Vec<Stored>> = BTreeMap::new();
        self.limited(&sql, "setting", |cells| {
            let subject: Vec<u8> = cells.take("subject")?;
            let (owner, operator) = subject.split_at(subject.len() / 2);
            let operator = Stored::Blob(operator.to_vec());
            let bytes = size(&operator);
            found.entry(owner.to_vec()).or_default().push(operator);
            Ok(bytes)
        })?;
        Ok(found)
    }

    /// Reads rows as long as the bytes that each takes have room in the answer. Returns how many bytes these are. They are not
    /// counted: what of them is answered, and how often, is not known yet.
    pub(super) fn limited(
        &mut self,
        sql: &Sql,
        table: &'static str,
        mut each: impl FnMut(&mut Cells<'_>) -> Result<usize, StoreError>,
    ) -> Result<usize, QueryError> {
        let mut bytes = self.bytes;
        let found = self.store.select(sql, table, &mut |cells| {
            bytes += each(cells)?;
            if bytes > BYTES { Err(TOO_MUCH) } else { Ok(()) }
        });
        Self::require(self.rows, bytes)?;
        found?;
        Ok(bytes - self.bytes)
    }

    /// Counts bytes of the answer that no row's cells have.
    pub(super) fn count(&mut self, bytes: usize) -> Result<(), QueryError> {
        self.bytes += bytes;
        self.require_time()
    }

    /// Files are parsed between statements, which the time limit ends.
    fn require_time(&self) -> Result<(), QueryError> {
        self.require_small()?;
        if self.began.elapsed() > self.limits.time {
            Err(ApiError::TimedOut(self.limits.time).into())
        } else {
            Ok(())
        }
    }
}

/// What an answer takes.
#[derive(Debug, Clone, Copy, Default)]
struct Weight {
    objects: usize,
    bytes: usize,
}

impl Weight {
    fn of(value: &Value) -> Self {
        let mut weight = Self::default();
        weight.add(value);
        weight
    }

    /// Answers are as deep as queries are.
    fn add(&mut self, value: &Value) {
        match value {
            Value::Object(members) => {
                self.objects += 1;
                for (key, value) in members {
                    self.bytes += key.len();
                    self.add(value);
                }
            }
            Value::Array(items) => items.iter().for_each(|it| self.add(it)),
            Value::String(text) => self.bytes += text.len(),
            _ => self.bytes += 8,
        }
    }
}

const TOO_MUCH: StoreError = StoreError::OutOfRange { what: "an answer" };

impl Columns {
    fn of(entity: &Entity, selected: &Selected) -> Self {
        let named = entity.key.iter().chain(entity.id.columns());
        let mut columns: Vec<String> = named.map(|column| format!("t.{column}")).collect();
        columns.extend(selected.children.iter().map(|child| {
            match entity.field(&child.name).map(|it| it.kind) {
                Some(Kind::Cell(cell)) => cell.sql.replace('#', "t"),
                _ => "NULL".to_owned(), // filled in otherwise
            }
        }));
        Self(columns)
    }
}

fn restrict(sql: &mut Sql, entity: &Entity, keys: &[Vec<Stored>]) {
    if let Some(1) = keys.first().map(Vec::len) {
        sql.list(&format!("t.{}", entity.key[0]), keys.concat());
        return;
    }
    sql.push(" AND (1 = 0");
    for key in keys {
        let each = entity.key.iter().take(key.len());
        let each: Vec<String> = each.map(|column| format!("t.{column} = ?")).collect();
        sql.bind(
            &format!(" OR ({})", each.join(" AND ")),
            key.iter().cloned(),
        );
    }
    sql.push(")");
}

/// A key that sorts and compares.
fn key_of(cells: &[Stored]) -> Vec<u8> {
    let mut key = Vec::new();
    for cell in cells {
        let bytes = match cell {
            Stored::Blob(bytes) => bytes.clone(),
            Stored::Int(number) => number.to_be_bytes().to_vec(),
            Stored::Text(text) => text.clone().into_bytes(),
            Stored::Real(number) => number.to_be_bytes().to_vec(),
            Stored::Null => Vec::new(),
        };
        key.extend((bytes.len() as u64).to_be_bytes());
        key.extend(bytes);
    }
    key
}

/// Bytes that a cell has in an answer.
pub(super) fn size(cell: &Stored) -> usize {
    match cell {
        Stored::Text(text) => text.len(),
        Stored::Blob(bytes) => 2 * bytes.len(),
        _ => 8,
    }
}
