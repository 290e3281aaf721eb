//! The JSON Schema of a configuration: committed as it is generated, and tried on the example of its document.
use serde_json::Value;
use std::{env, fs, path::PathBuf};

/// From the folder of the crate that is tested.
fn beside(path: &str) -> PathBuf {
    let crate_folder = env::var_os("CARGO_MANIFEST_DIR").expect("cargo runs the test");
    PathBuf::from(crate_folder).join(path)
}

/// `CONCORD_BLESS=1` writes it again.
pub fn require_committed(schema: &str) {
    let path = beside("config.schema.json");
    if env::var_os("CONCORD_BLESS").is_some() {
        fs::write(&path, schema).unwrap();
    }
    let committed = fs::read_to_string(&path).unwrap();
    assert_eq!(
        committed, schema,
        "run with CONCORD_BLESS=1 and read the difference"
    );
}

/// The configuration of a page of docs/.
pub fn documented(page: &str) -> Value {
    let page = fs::read_to_string(beside("../docs").join(page)).unwrap();
    let (_, rest) = page.split_once("```json\n").unwrap();
    let (example, _) = rest.split_once("```").unwrap();
    serde_json::from_str(example).unwrap()
}

pub fn with(mut config: Value, pointer: &str, key: &str, value: Value) -> Value {
    config.pointer_mut(pointer).unwrap()[key] = value;
    config
}

pub fn without(mut config: Value, pointer: &str, key: &str) -> Value {
    let object = config.pointer_mut(pointer).unwrap().as_object_mut();
    object.unwrap().remove(key).unwrap();
    config
}
