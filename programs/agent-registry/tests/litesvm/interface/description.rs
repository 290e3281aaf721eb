//! The committed interface description (IDL), which scripts/idl generates, holds everything that a
//! client needs.

use serde_json::Value;
use std::{collections::BTreeSet, fs, path::Path};

fn description() -> Value {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("idl/agent_registry.json");
    serde_json::from_str(&fs::read_to_string(file).unwrap()).unwrap()
}

fn names(of: &Value) -> BTreeSet<&str> {
    let items = of.as_array().unwrap().iter();
    items.map(|item| item["name"].as_str().unwrap()).collect()
}

/// The name behind each `marker` in the sources under `src`: of the item, where it stands on a line
/// of its own.
fn marked_items(marker: &str) -> BTreeSet<String> {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut names = BTreeSet::new();
    for folder in [src.clone(), src.join("state")] {
        for file in fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().path())
        {
            let Ok(text) = fs::read_to_string(&file) else {
                continue; // a folder
            };
            let mut lines = text.lines();
            while lines.any(|line| line.trim() == marker) {
                let declared = lines.find_map(|line| line.trim().strip_prefix("pub struct "));
                let name = declared.unwrap().split([' ', '<']).next().unwrap();
                names.insert(name.to_owned());
            }
        }
    }
    names
}

#[test]
fn it_names_every_account_and_every_event_of_the_sources() {
    let idl = description();
    let (accounts, events) = (marked_items("#[account]"), marked_items("#[event]"));
    assert_eq!((accounts.len(), events.len()), (10, 21));
    assert_eq!(
        names(&idl["accounts"]),
        accounts.iter().map(String::as_str).collect()
    );
    assert_eq!(
        names(&idl["events"]),
        events.iter().map(String::as_str).collect()
    );
    let described = names(&idl["types"]);
    assert!(names(&idl["accounts"]).is_subset(&described));
    assert!(names(&idl["events"]).is_subset(&described));
}

#[test]
fn its_words_are_the_sources() {
    let idl = description();
    for part in ["instructions", "types"] {
        for item in idl[part].as_array().unwrap() {
            assert!(
                !item["docs"][0].as_str().unwrap_or_default().is_empty(),
                "{}",
                item["name"]
            );
        }
    }
    let errors = idl["errors"].as_array().unwrap();
    assert_eq!(errors.len(), 46);
    for (error, code) in errors.iter().zip(6000..) {
        assert_eq!(error["code"], code);
        assert!(!error["msg"].as_str().unwrap().is_empty());
    }
}
