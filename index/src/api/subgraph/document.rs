//! A query as it is carried out: variables filled in, fragments and directives resolved.
use super::error::QueryError;
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
use std::collections::BTreeMap;

/// Objects in objects.
const DEPTH: usize = 8;
/// Selected fields, and fragments that are referred to.
const FIELDS: usize = 600;
/// Brackets in brackets: the parser recurses.
const BRACKETS: usize = 64;

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
    require_shallow(query)?;
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

/// The parser's recursion ends with the stack: the depth is looked at before.
fn require_shallow(query: &str) -> Result<(), QueryError> {
    let mut depth = 0usize;
    let mut rest = query;
    while let Some(character) = rest.chars().next() {
        let skipped = match character {
            '#' => rest.find(['\n', '\r']).unwrap_or(rest.len()),
            '"' => text_length(rest),
            '{' | '[' | '(' => {
                depth += 1;
                1
            }
            '}' | ']' | ')' => {
                depth = depth.saturating_sub(1);
                1
            }
            other => other.len_utf8(),
        };
        if depth > BRACKETS {
            let message = format!("the query has more than {BRACKETS} brackets in brackets");
            return Err(QueryError::new(message));
        }
        rest = &rest[skipped..];
    }
    Ok(())
}

/// Bytes of the string that a text begins with.
fn text_length(text: &str) -> usize {
    if let Some(inner) = text.strip_prefix("\"\"\"") {
        let mut from = 0;
        while let Some(found) = inner[from..].find("\"\"\"") {
            let end = from + found;
            if !inner[..end].ends_with('\\') {
                return end + 6;
            }
            from = end + 3;
        }
        return text.len();
    }
    let mut is_escaped = false;
    for (at, character) in text.char_indices().skip(1) {
        match character {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            '"' | '\n' | '\r' => return at + 1,
            _ => (),
        }
    }
    text.len()
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

/// Each variable that the operation defines; `None` if it is not given and may be left out.
type Variables = BTreeMap<String, Option<Value>>;

fn defined(
    operation: &OperationDefinition,
    given: &Map<String, Value>,
) -> Result<Variables, QueryError> {
    let mut defined = Variables::new();
    for variable in &operation.variable_definitions {
        let name = variable.node.name.node.as_str();
        let of = &variable.node.var_type.node;
        let value = match (given.get(name), &variable.node.default_value) {
            (Some(value), _) => Some(value.clone()),
            (None, Some(default)) => Some(constant(&default.node)?),
            (None, None) => None,
        };
        if !of.nullable && value.as_ref().is_none_or(Value::is_null) {
            let message = format!("variable ${} of type {of} is not given", excerpt(name));
            return Err(QueryError::at(message, variable.pos));
        }
        defined.insert(name.to_owned(), value);
    }
    Ok(defined)
}

fn constant(value: &ConstValue) -> Result<Value, QueryError> {
    let json = value.clone().into_json();
    json.map_err(|error| QueryError::new(error.to_string()))
}

struct Reading<'a> {
    document: &'a ExecutableDocument,
    variables: Variables,
    fields: usize,
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
        let key = field.response_key().node.as_str();
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

    /// `None` for a variable that is not given: what has it as its value is left out.
    fn value(&self, written: &Written) -> Result<Option<Value>, QueryError> {
        Ok(Some(match written {
            Written::Variable(name) => match self.variables.get(name.as_str()) {
                Some(value) => return Ok(value.clone()),
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

    /// The parser would end with the stack, and the process with it.
    #[test]
    fn brackets_are_counted_where_the_parser_sees_them() {
        let deep = format!(
            "{{ a(b: {}1{}) }}",
            "[".repeat(100_000),
            "]".repeat(100_000)
        );
        let hidden = [
            deep.clone(),
            format!("# \" \n{deep}"),
            format!("{{ a(c: \"\"\" \" \"\"\") }} {deep}"),
            format!("{{ a(c: \"\"\" \\\"\"\" \" \"\"\") }} {deep}"),
            format!("{{ a(c: \"\\\\\") }} {deep}"),
            format!("{{ a(c: \"]\\\"]\") }} {deep}"),
        ];
        for query in hidden {
            let found = read(&query, json!({})).unwrap_err();
            assert!(found.contains("more than 64 brackets"), "{found}");
        }
        let text = format!("{{ a(b: \"{}\") }}", "[".repeat(1_000));
        assert!(read(&text, json!({})).is_ok());
    }
}
