//! The files themselves: nothing in them may go unread.

use std::{collections::BTreeMap, fs, path::PathBuf};

use serde::Deserialize;
use serde_json::{Map, Value};

pub(crate) fn folder() -> PathBuf {
    // A link to tests/vectors, so that the published package has them.
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("vectors")
}

pub(crate) struct VectorFile {
    pub name: String,
    pub counts: Counts,
    pub vectors: Vec<Vector>,
}

pub(crate) struct Vector {
    pub id: String,
    pub flags: Vec<String>,
    pub function: String,
    pub arguments: Map<String, Value>,
    pub expected: Expected,
}

pub(crate) enum Expected {
    Ok(Value),
    Error(String),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Counts {
    pub ok: usize,
    pub error: usize,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(rename = "$schema")]
    _schema: String,
    #[serde(rename = "description")]
    _description: String,
    #[serde(rename = "generator")]
    _generator: Value,
    flags: BTreeMap<String, String>,
    counts: Counts,
    vectors: Vec<Map<String, Value>>,
}

impl VectorFile {
    /// Every vector file, in the order of their names.
    pub(crate) fn all() -> Vec<Self> {
        let entries = fs::read_dir(folder()).expect("vectors");
        let mut names: Vec<String> = entries
            .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
            .filter_map(|name| name.strip_suffix(".json").map(String::from))
            .filter(|name| name != "schema" && !super::tables::NAMES.contains(&name.as_str()))
            .collect();
        names.sort();
        names.into_iter().map(Self::read).collect()
    }

    fn read(name: String) -> Self {
        let path = folder().join(format!("{name}.json"));
        let text = fs::read_to_string(&path).expect("a vector file");
        let file: File = serde_json::from_str(&text).unwrap_or_else(|e| panic!("{name}: {e}"));
        let vectors: Vec<_> = file.vectors.into_iter().map(Vector::new).collect();
        for vector in &vectors {
            assert_eq!(vector.function, name, "{}", vector.id);
            assert!(vector.id.starts_with(&format!("{name}/")), "{}", vector.id);
            for flag in &vector.flags {
                assert!(file.flags.contains_key(flag), "{}: {flag}", vector.id);
            }
        }
        Self {
            name,
            counts: file.counts,
            vectors,
        }
    }
}

impl Vector {
    /// What is left after the vector's own fields are its arguments.
    fn new(mut fields: Map<String, Value>) -> Self {
        let id = text(&mut fields, "id").expect("an id");
        text(&mut fields, "comment").unwrap_or_else(|| panic!("{id}: no comment"));
        let flags = fields.remove("flags").expect("flags");
        let flags = serde_json::from_value(flags).expect("a list of flags");
        let function = text(&mut fields, "fn").expect("a function");
        let expected = match (fields.remove("ok"), text(&mut fields, "error")) {
            (Some(value), None) => Expected::Ok(value),
            (None, Some(class)) => Expected::Error(class),
            _ => panic!("{id}: needs ok or error, and not both"),
        };
        Self {
            id,
            flags,
            function,
            arguments: fields,
            expected,
        }
    }
}

fn text(fields: &mut Map<String, Value>, name: &str) -> Option<String> {
    Some(fields.remove(name)?.as_str()?.to_owned())
}
