//! The files themselves: nothing in them may go unread.

use std::{fs, path::PathBuf};

use concord_files::Error;
use jsonschema::Validator;
use serde_json::{Value, json};

/// What a reader answers: `ok`'s value, or the error's path and rule.
pub(crate) type Answer = Result<Value, Value>;

pub(crate) struct VectorFile {
    pub name: String,
    pub ok: usize,
    pub error: usize,
    pub vectors: Vec<Value>,
}

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../tests/vectors/files")
}

fn read(path: PathBuf) -> Value {
    let text = fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    serde_json::from_str(&text).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

impl VectorFile {
    /// Every vector file, in the order of their names, held to the schema beside them.
    pub(crate) fn all() -> Vec<Self> {
        let schema =
            jsonschema::validator_for(&read(folder().join("schema.json"))).expect("a schema");
        let entries = fs::read_dir(folder()).expect("tests/vectors/files");
        let mut names: Vec<String> = entries
            .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
            .filter_map(|name| name.strip_suffix(".json").map(String::from))
            .filter(|name| name != "schema")
            .collect();
        names.sort();
        names
            .into_iter()
            .map(|name| Self::open(name, &schema))
            .collect()
    }

    fn open(name: String, schema: &Validator) -> Self {
        let file = read(folder().join(format!("{name}.json")));
        if let Err(error) = schema.validate(&file) {
            panic!("{name}: {error}");
        }
        let count = |kind: &str| {
            let count = file["counts"][kind].as_u64().expect("a count");
            usize::try_from(count).expect("a small count")
        };
        let (ok, error) = (count("ok"), count("error"));
        let vectors = file["vectors"].as_array().expect("vectors").clone();
        let [mut ids, mut unique] =
            [(); 2].map(|()| Vec::from_iter(vectors.iter().map(|v| v["id"].to_string())));
        ids.sort();
        unique.sort();
        unique.dedup();
        assert_eq!(ids, unique, "{name}: an id twice");
        Self {
            name,
            ok,
            error,
            vectors,
        }
    }
}

/// A committed JSON Schema of a current form.
pub(crate) fn schema(name: &str) -> Validator {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(format!("schemas/{name}.json"));
    jsonschema::draft202012::new(&read(path)).expect("a schema")
}

pub(crate) fn error(error: Error) -> Value {
    assert!(error.to_string().starts_with(error.path()), "{error}");
    json!({ "path": error.path(), "rule": error.rule().name() })
}

/// What a writer emits, by its hash, or what it refuses.
pub(crate) fn current(written: Result<String, Error>, schema: &Validator) -> Value {
    match written {
        Ok(text) => {
            let value = serde_json::from_str(&text).expect("JSON");
            if let Err(error) = schema.validate(&value) {
                panic!("{text}: {error}");
            }
            let hash = concord_canonical::json::file_hash(&text).expect("strict JSON");
            assert!(concord_canonical::json::is_canonical(&text), "{text}");
            json!({ "hash": hex_of(&hash) })
        }
        Err(error) => json!({ "refused": format!("{} {}", error.path(), error.rule().name()) }),
    }
}

pub(crate) fn hex_of(bytes: &[u8]) -> String {
    format!("0x{}", hex::encode(bytes))
}

pub(crate) fn word(text: &str) -> [u8; 32] {
    let digits = text.strip_prefix("0x").expect("0x");
    hex::decode(digits)
        .expect("hexadecimal")
        .try_into()
        .expect("32 bytes")
}
