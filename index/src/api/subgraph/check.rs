//! What a query must be before it is carried out, whatever the store has.
use super::{
    document::Selected,
    error::QueryError,
    feedback_file,
    filter::{self, Filters},
    paging::{self, Paging},
    protocol::{Computed, no_selection},
    scalar::Scope,
    schema::{ENTITIES, Entity, Kind},
};
use crate::{
    api::{Limits, names::excerpt},
    store::DeploymentId,
};
use serde_json::Value;

/// Of every field that a query begins with.
const ALWAYS: [&str; 2] = ["block", "subgraphError"];
const PAGES: [&str; 5] = ["where", "first", "skip", "orderBy", "orderDirection"];

/// What a field of a query begins with.
#[derive(Debug, Clone, Copy)]
pub enum Root {
    TypeName,
    One(&'static Entity),
    Many(&'static Entity),
    Computed(Computed, bool),
}

impl Root {
    pub fn of(name: &str) -> Option<Self> {
        if name == "__typename" {
            return Some(Self::TypeName);
        }
        if let Some((computed, is_list)) = Computed::named(name) {
            return Some(Self::Computed(computed, is_list));
        }
        ENTITIES.iter().find_map(|entity| {
            if entity.one == name {
                return Some(Self::One(entity));
            }
            entity.many.contains(&name).then_some(Self::Many(entity))
        })
    }
}

/// Refuses what no store could answer.
pub fn query(all: &[Selected], limits: &Limits) -> Result<(), QueryError> {
    for selected in all {
        let root = Root::of(&selected.name);
        let root = root.ok_or_else(|| no_root(selected))?;
        let id = selected.arguments.get("id");
        match root {
            Root::TypeName => root_arguments(selected, &[])?,
            Root::One(entity) => {
                root_arguments(selected, &["id"])?;
                require_id(selected, id)?;
                self::entity(entity, selected)?;
            }
            Root::Many(entity) => {
                root_arguments(selected, &PAGES)?;
                page(entity, selected, limits)?;
                self::entity_with(entity, selected, limits)?;
            }
            Root::Computed(computed, is_list) => {
                match (computed, is_list) {
                    (Computed::Meta, _) => root_arguments(selected, &[])?,
                    (_, true) => {
                        root_arguments(selected, &PAGES[1..3])?;
                        paging::has_first(&selected.arguments)
                            .map_err(|error| error.or_at(selected.at))?;
                    }
                    (_, false) => {
                        root_arguments(selected, &["id"])?;
                        require_id(selected, id)?;
                    }
                }
                computed.check(selected)?;
            }
        }
    }
    Ok(())
}

fn no_root(selected: &Selected) -> QueryError {
    QueryError::no_field("Query", &selected.name).or_at(selected.at)
}

fn require_id(selected: &Selected, id: Option<&Value>) -> Result<(), QueryError> {
    match id {
        Some(Value::String(_)) => Ok(()),
        _ => {
            let message = format!("`{}` needs id: a text", selected.name);
            Err(QueryError::at(message, selected.at))
        }
    }
}

fn root_arguments(selected: &Selected, known: &[&str]) -> Result<(), QueryError> {
    arguments(selected, &[known, &ALWAYS[..]].concat())
}

/// Refuses arguments that a field does not have: they would be ignored.
pub fn arguments(selected: &Selected, known: &[&str]) -> Result<(), QueryError> {
    let is_known = |name: &str| known.contains(&name);
    match selected.arguments.keys().find(|name| !is_known(name)) {
        None => Ok(()),
        Some(name) => {
            let (field, name) = (&selected.name, excerpt(name));
            let message = format!("Field `{field}` has no argument `{name}`");
            Err(QueryError::at(message, selected.at))
        }
    }
}

fn page(entity: &'static Entity, selected: &Selected, limits: &Limits) -> Result<(), QueryError> {
    let scope = Scope {
        deployment: DeploymentId(0),
        chain: String::new(),
    };
    let mut filters = Filters::new(&scope, limits.list, limits.text);
    let checked = Paging::of(entity, &selected.arguments)
        .and_then(|_| filter::check(&mut filters, entity, &selected.arguments));
    checked.map_err(|error| error.or_at(selected.at))
}

/// As [`entity_with`], with the usual limits.
pub fn entity(of: &'static Entity, selected: &Selected) -> Result<(), QueryError> {
    entity_with(of, selected, &Limits::default())
}

fn entity_with(
    of: &'static Entity,
    selected: &Selected,
    limits: &Limits,
) -> Result<(), QueryError> {
    if selected.children.is_empty() {
        return Err(no_selection(of.name, selected));
    }
    for child in &selected.children {
        if child.name == "__typename" {
            arguments(child, &[])?;
            continue;
        }
        let field = of.field(&child.name);
        let field =
            field.ok_or_else(|| QueryError::no_field(of.name, &child.name).or_at(child.at))?;
        match field.kind {
            Kind::One(other) => {
                arguments(child, &[])?;
                entity_with(other, child, limits)?;
            }
            Kind::Many(other) => {
                arguments(child, &PAGES)?;
                page(other, child, limits)?;
                entity_with(other, child, limits)?;
            }
            Kind::FeedbackFile if child.children.is_empty() => {
                return Err(no_selection("FeedbackFile", child));
            }
            Kind::FeedbackFile => {
                arguments(child, &[])?;
                feedback_file::check(child)?;
            }
            _ if !child.children.is_empty() => {
                let message = format!("`{}` of `{}` has no fields", field.name, of.name);
                return Err(QueryError::at(message, child.at));
            }
            _ => arguments(child, &[])?,
        }
    }
    Ok(())
}
