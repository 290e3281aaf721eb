//! A query as it is carried out: variables filled in, fragments and directives resolved.
use super::{brackets, error::QueryError};
use crate::api::names::excerpt;
use async_graphql_parser::{
    Pos, Positioned, parse_query,
    types::{
        Directive, ExecutableDocument, Field, OperationDefinition, OperationType, Selection,
        SelectionSet,
    },
};
use async_graphql_value::{ConstValue, Name, Value as Written};
use serde_json::{Map, Value};
use std::{cell::Cell, collections::BTreeMap};

/// Objects in objects.
const DEPTH: usize = 8;
/// Selected fields, and fragments that are referred to.
const FIELDS: usize = 600;
/// Selections of one field in one object below the query itself.
const SAME: usize = 8;
/// Bytes of an alias: every row of an answer has it.
const ALIAS: usize = 128;
/// Bytes of arguments, with each variable as often as it is used.
const ARGUMENTS: usize = 1 << 20;

/// A selected field.
#[derive(Debug, Clone, PartialEq)]
pub struct Selected {
    /// Its name in the answer.
    pub key: String,
    /// Its name in the schema.
    pub name: String,
    /// Its arguments.
    pub arguments: Map<String, Value>,
    /// What is selected of it.
    pub children: Vec<Selected>,
    /// Where it stands.
    pub at: Pos,
}

/// Reads a query. `operation` names one of several.
pub fn read(
    query: &str,
    operation: Option<&str>,
    variables: &Map<String, Value>,
) -> Result<Vec<Selected>, QueryError> {
    brackets::require_shallow(query)?;
    let document = parse_query(query).map_err(|error| {
        let at = error.positions().next();
        let message = format!("the query is malformed: {}", excerpt_of(&error.to_string()));
        match at {
            Some(at) => QueryError::at(message, at),
            None => QueryError::new(message),
        }
    })?;
    let operation = chosen(&document, operation)?;
    if operation.node.ty != OperationType::Query {
        let message = format!("a {} is not answered: only queries are", operation.node.ty);
        return Err(QueryError::at(message, operation.pos));
    }
    let mut reading = Reading {
        document: &document,
        variables: defined(&operation.node, variables)?,
        fields: 0,
        bytes: Cell::new(0),
        fragments: Vec::new(),
    };
    let mut selected = Vec::new();
    reading.take(&operation.node.selection_set.node, 1, &mut selected)?;
    Ok(selected)
}

/// The parser's message draws the place; its first line does not fit in one of ours.
fn excerpt_of(message: &str) -> String {
    let last = message.lines().rev().find(|line| line.contains('='));
    let words = last.unwrap_or(message).trim_start_matches([' ', '=']);
    words.chars().take(200).collect()
}

fn chosen<'a>(
    document: &'a ExecutableDocument,
    name: Option<&str>,
) -> Result<&'a Positioned<OperationDefinition>, QueryError> {
    let mut all = document.operations.iter();
    match name {
        Some(name) => {
            let is_named = |found: Option<&Name>| match found {
                Some(found) => found.as_str() == name,
                None => document.operations.iter().len() == 1,
            };
            let found = all.find(|(found, _)| is_named(*found));
            let message = || format!("there is no operation {:?}", excerpt(name));
            found
                .map(|(_, it)| it)
                .ok_or_else(|| QueryError::new(message()))
        }
        None => match (all.next(), all.next()) {
            (Some((_, only)), None) => Ok(only),
            (None, _) => Err(QueryError::new("there is no operation")),
            _ => Err(QueryError::new(
                "there are several operations, and operationName names none",
            )),
        },
    }
}

/// A variable that the operation defines.
struct Variable {
    /// `None` if it is not given and may be left out.
    value: Option<Value>,
    /// Its bytes as JSON.
    length: usize,
}

type Variables = BTreeMap<String, Variable>;

fn defined(
    operation: &OperationDefinition,
    given: &Map<String, Value>,
) -> Result<Variables, QueryError> {
    let mut defined = Variables::new();
    for variable in &operation.variable_definitions {
        let name = variable.node.name.node.as_str();
        let of = &variable.node.var_type.node;
        if defined.contains_key(name) {
            let message = format!("variable ${} is defined twice", excerpt(name));
            return Err(QueryError::at(message, variable.pos));
        }
        let value = match (given.get(name), &variable.node.default_value) {
            (Some(value), _) => Some(value.clone()),
            (None, Some(default)) => Some(constant(&default.node)?),
            (None, None) => None,
        };
        if !of.nullable && value.as_ref().is_none_or(Value::is_null) {
            let message = format!("variable ${} of type {of} is not given", excerpt(name));
            return Err(QueryError::at(message, variable.pos));
        }
        let length = value.as_ref().unwrap_or(&Value::Null).to_string().len();
        defined.insert(name.to_owned(), Variable { value, length });
    }
    Ok(defined)
}

fn constant(value: &ConstValue) -> Result<Value, QueryError> {
    let json = value.clone().into_json();
    json.map_err(|error| QueryError::new(error.to_string()))
}

/// Bytes of a value without those of the values in it.
fn own_length(written: &Written) -> usize {
    let text = match written {
        Written::String(text) => text.len(),
        Written::Enum(name) => name.len(),
        Written::Object(members) => members.keys().map(|name| name.len()).sum::<usize>(),
        _ => 0,
    };
    text + 2
}

/// A field's name in the answer.
fn key_of(field: &Field) -> Result<&str, QueryError> {
    let key = field.response_key().node.as_str();
    let length = key.len();
    if field.alias.is_some() && length > ALIAS {
        let key = excerpt(key);
        let message = format!("the alias {key:?} has {length} bytes, the limit is {ALIAS}");
        return Err(QueryError::new(message));
    }
    Ok(key)
}

/// Refuses one more selection of a field than an object may have: each is answered on its own.
fn require_few(selected: &[Selected], name: &str) -> Result<(), QueryError> {
    if selected.iter().filter(|it| it.name == name).count() < SAME {
        return Ok(());
    }
    let name = excerpt(name);
    let message = format!("`{name}` is selected more than {SAME} times in one object");
    Err(QueryError::new(message))
}

struct Reading<'a> {
    document: &'a ExecutableDocument,
    variables: Variables,
    fields: usize,
    /// Of arguments.
    bytes: Cell<usize>,
    /// Those that are being taken.
    fragments: Vec<&'a str>,
}

impl<'a> Reading<'a> {
    fn take(
        &mut self,
        set: &'a SelectionSet,
        depth: usize,
        into: &mut Vec<Selected>,
    ) -> Result<(), QueryError> {
        for item in &set.items {
            self.fields += 1;
            if self.fields > FIELDS {
                let message = format!("the query selects more than {FIELDS} fields");
                return Err(QueryError::at(message, item.pos));
            }
            if !self.is_included(item.node.directives())? {
                continue;
            }
            match &item.node {
                Selection::Field(field) => self.take_field(field, depth, into)?,
                Selection::InlineFragment(fragment) => {
                    self.take(&fragment.node.selection_set.node, depth, into)?;
                }
                Selection::FragmentSpread(spread) => {
                    let name = &spread.node.fragment_name;
                    self.take_fragment(name, depth, into)?;
                }
            }
        }
        Ok(())
    }

    fn take_fragment(
        &mut self,
        name: &'a Positioned<Name>,
        depth: usize,
        into: &mut Vec<Selected>,
    ) -> Result<(), QueryError> {
        let words = excerpt(&name.node);
        let Some(fragment) = self.document.fragments.get(&name.node) else {
            let message = format!("there is no fragment {words:?}");
            return Err(QueryError::at(message, name.pos));
        };
        if self.fragments.contains(&name.node.as_str()) {
            let message = format!("the fragment {words:?} contains itself");
            return Err(QueryError::at(message, name.pos));
        }
        self.fragments.push(&name.node);
        let taken = self.take(&fragment.node.selection_set.node, depth, into);
        self.fragments.pop();
        taken
    }

    fn take_field(
        &mut self,
        field: &'a Positioned<Field>,
        depth: usize,
        into: &mut Vec<Selected>,
    ) -> Result<(), QueryError> {
        let (at, field) = (field.pos, &field.node);
        if depth > DEPTH {
            let message = format!("the query is deeper than {DEPTH} objects");
            return Err(QueryError::at(message, at));
        }
        let mut arguments = Map::new();
        for (name, value) in &field.arguments {
            if let Some(value) = self.value(&value.node).map_err(|it| it.or_at(value.pos))? {
                arguments.insert(name.node.to_string(), value);
            }
        }
        let key = key_of(field).map_err(|it| it.or_at(at))?;
        let position = into.iter().position(|it| it.key == key);
        let position = match position {
            Some(position) => {
                let before = &into[position];
                if before.name != field.name.node.as_str() || before.arguments != arguments {
                    let message = format!("{:?} is two different fields", excerpt(key));
                    return Err(QueryError::at(message, at));
                }
                position
            }
            None => {
                if depth > 1 {
                    require_few(into, &field.name.node).map_err(|it| it.or_at(at))?;
                }
                into.push(Selected {
                    key: key.to_owned(),
                    name: field.name.node.to_string(),
                    arguments,
                    children: Vec::new(),
                    at,
                });
                into.len() - 1
            }
        };
        let mut children = std::mem::take(&mut into[position].children);
        let taken = self.take(&field.selection_set.node, depth + 1, &mut children);
        into[position].children = children;
        taken
    }

    fn is_included(&self, directives: &[Positioned<Directive>]) -> Result<bool, QueryError> {
        for directive in directives {
            let name = directive.node.name.node.as_str();
            let is_skip = match name {
                "skip" => true,
                "include" => false,
                other => {
                    let message = format!("there is no directive @{}", excerpt(other));
                    return Err(QueryError::at(message, directive.pos));
                }
            };
            let condition = directive.node.get_argument("if");
            let condition = condition.map(|it| self.value(&it.node)).transpose()?;
            let Some(Some(Value::Bool(condition))) = condition else {
                let message = format!("@{name} needs if: true or false");
                return Err(QueryError::at(message, directive.pos));
            };
            if condition == is_skip {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// A variable is copied wherever it is used, and so is what a fragment has.
    fn count(&self, bytes: usize) -> Result<(), QueryError> {
        self.bytes.set(self.bytes.get().saturating_add(bytes));
        if self.bytes.get() <= ARGUMENTS {
            return Ok(());
        }
        let message = format!(
            "the query's arguments have more than {ARGUMENTS} bytes, \
             with each variable as often as it is used"
        );
        Err(QueryError::new(message))
    }

    /// `None` for a variable that is not given: what has it as its value is left out.
    fn value(&self, written: &Written) -> Result<Option<Value>, QueryError> {
        self.count(own_length(written))?;
        Ok(Some(match written {
            Written::Variable(name) => match self.variables.get(name.as_str()) {
                Some(variable) => {
                    self.count(variable.length)?;
                    return Ok(variable.value.clone());
                }
                None => {
                    let message = format!("the variable ${} is not defined", excerpt(name));
                    return Err(QueryError::new(message));
                }
            },
            Written::Null => Value::Null,
            Written::Number(number) => Value::Number(number.clone()),
            Written::String(text) => Value::String(text.clone()),
            Written::Boolean(truth) => Value::Bool(*truth),
            Written::Enum(name) => Value::String(name.to_string()),
            Written::Binary(_) => return Err(QueryError::new("bytes are written as hex digits")),
            Written::List(items) => {
                let items = items.iter().map(|it| {
                    let item = self.value(it)?;
                    Ok(item.unwrap_or(Value::Null))
                });
                Value::Array(items.collect::<Result<_, QueryError>>()?)
            }
            Written::Object(members) => {
                let mut object = Map::new();
                for (name, value) in members {
                    if let Some(value) = self.value(value)? {
                        object.insert(name.to_string(), value);
                    }
                }
                Value::Object(object)
            }
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn read(query: &str, variables: Value) -> Result<Vec<Selected>, String> {
        let Value::Object(variables) = variables else {
            unreachable!()
        };
        super::read(query, None, &variables).map_err(|error| match error {
            QueryError::Query { message, .. } => message,
            QueryError::Api(error) => error.to_string(),
        })
    }

    fn names(selected: &[Selected]) -> Vec<&str> {
        selected.iter().map(|it| it.key.as_str()).collect()
    }

    #[test]
    fn variables_fragments_and_directives_are_resolved() {
        let query = "query Q($id: ID!, $owner: String, $first: Int = 7, $all: Boolean!) {
            one: agent(id: $id) { ...F id tags @include(if: $all) owner @skip(if: $all) }
            agents(first: $first, where: { owner: $owner, id_in: [$id] }) { ... on Agent { id } }
        }
        fragment F on Agent { id feedback { value } feedback { tag1 } }";
        let selected = read(query, json!({ "id": "1:2", "all": true })).unwrap();
        assert_eq!(names(&selected), ["one", "agents"]);
        assert_eq!(selected[0].name, "agent");
        assert_eq!(names(&selected[0].children), ["id", "feedback", "tags"]);
        let of_feedback = &selected[0].children[1].children;
        assert_eq!(names(of_feedback), ["value", "tag1"]);
        let arguments = Value::Object(selected[1].arguments.clone());
        // $owner is not given: the filter is left out, and is not null.
        let expected = json!({ "first": 7, "where": { "id_in": ["1:2"] } });
        assert_eq!(arguments, expected);
    }

    #[test]
    fn what_is_wrong_with_a_query_is_said() {
        let cases = [
            ("{ agents { id }", "the query is malformed"),
            ("mutation { agents { id } }", "only queries are"),
            (
                "query A { a } query B { b }",
                "there are several operations",
            ),
            (
                "query($id: ID!) { agent(id: $id) { id } }",
                "variable $id of type ID! is not given",
            ),
            (
                "{ agent(id: $id) { id } }",
                "the variable $id is not defined",
            ),
            ("{ ...F }", "there is no fragment \"F\""),
            (
                "{ ...F } fragment F on Q { a ...F }",
                "the fragment \"F\" contains itself",
            ),
            (
                "{ a: agent b: agent a: agents }",
                "\"a\" is two different fields",
            ),
            (
                "query($a: Int, $a: Int) { a(b: $a) }",
                "variable $a is defined twice",
            ),
            ("{ a @defer }", "there is no directive @defer"),
            ("{ a @skip(if: 1) }", "@skip needs if: true or false"),
        ];
        for (query, message) in cases {
            let found = read(query, json!({})).unwrap_err();
            assert!(found.contains(message), "{query}: {found}");
        }
    }

    #[test]
    fn a_query_has_limits() {
        let nested = |depth| format!("{}a{}", "{ a ".repeat(depth), " }".repeat(depth));
        assert!(read(&nested(DEPTH), json!({})).is_ok());
        let found = read(&nested(DEPTH + 1), json!({})).unwrap_err();
        assert!(found.contains("deeper than 8 objects"), "{found}");
        let wide = |fields| {
            let fields = (0..fields).map(|at| format!(" f{at}")).collect::<String>();
            format!("{{{fields} }}")
        };
        assert!(read(&wide(FIELDS), json!({})).is_ok());
        let found = read(&wide(FIELDS + 1), json!({})).unwrap_err();
        assert!(found.contains("more than 600 fields"), "{found}");
        // Each fragment has the one before twice.
        let mut bomb = "{ ...F30 } fragment F0 on Q { a }".to_owned();
        for at in 1..=30 {
            let before = at - 1;
            bomb.push_str(&format!(
                " fragment F{at} on Q {{ ...F{before} ...F{before} }}"
            ));
        }
        let found = read(&bomb, json!({})).unwrap_err();
        assert!(found.contains("more than 600 fields"), "{found}");
    }

    /// A variable of 100,002 bytes as JSON.
    #[test]
    fn arguments_count_as_often_as_they_are_used() {
        let text = "x".repeat(100_000);
        let refused = "the query's arguments have more than 1048576 bytes";
        let listed = |times| {
            let query = format!("query($v: X) {{ a(b: [{}]) }}", "$v ".repeat(times));
            read(&query, json!({ "v": text }))
        };
        assert!(listed(10).is_ok());
        let found = listed(11).unwrap_err();
        assert!(found.contains(refused), "{found}");
        // A fragment's arguments are copied as well.
        let spread = |times| {
            let fields = (0..times).map(|at| format!(" f{at}: o {{ ...F }}"));
            let fields = fields.collect::<String>();
            let fragment = format!("fragment F on O {{ a(b: \"{text}\") }}");
            read(&format!("{{{fields} }} {fragment}"), json!({}))
        };
        assert!(spread(10).is_ok());
        let found = spread(11).unwrap_err();
        assert!(found.contains(refused), "{found}");
        // What a condition uses is counted, whatever it is.
        let query = "query($v: X) { a @skip(if: $v) }";
        let found = read(query, json!({ "v": "x".repeat(2 << 20) })).unwrap_err();
        assert!(found.contains(refused), "{found}");
    }

    #[test]
    fn an_alias_has_a_limit() {
        let long = "k".repeat(ALIAS);
        let selected = read(&format!("{{ {long}: a }}"), json!({})).unwrap();
        assert_eq!(names(&selected), [long.as_str()]);
        let found = read(&format!("{{ {long}k: a }}"), json!({})).unwrap_err();
        let expected = format!("the alias {:?} has 129 bytes", "k".repeat(80));
        assert!(found.starts_with(&expected), "{found}");
        // A name of the schema is looked up, and is not an alias.
        assert!(read(&format!("{{ {long}k }}"), json!({})).is_ok());
    }

    #[test]
    fn an_object_has_a_field_a_few_times() {
        let same = |fields| {
            let fields = (0..fields).map(|at| format!(" f{at}: file"));
            fields.collect::<String>()
        };
        let query = format!("{{ a {{{} }} }}", same(SAME));
        assert!(read(&query, json!({})).is_ok());
        let many = same(SAME + 1);
        let found = read(&format!("{{ a {{{many} }} }}"), json!({})).unwrap_err();
        let expected = "`file` is selected more than 8 times in one object";
        assert!(found.contains(expected), "{found}");
        // Also if they come from several places.
        let query = format!("{{ a {{{} }} a {{ last: file }} }}", same(SAME));
        let found = read(&query, json!({})).unwrap_err();
        assert!(found.contains(expected), "{found}");
        // Under one key they are one, and a query itself may have many.
        let query = format!("{{ a {{{} }} }}", " file".repeat(SAME + 1));
        assert!(read(&query, json!({})).is_ok());
        assert!(read(&format!("{{{many} }}"), json!({})).is_ok());
    }
}
