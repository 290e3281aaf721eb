//! The two tables: numbers by the thousand, against what V8 read and wrote.

use std::{collections::BTreeSet, fs};

use concord_canonical::json;
use serde::Deserialize;

use crate::vectors::vector_file::folder;

pub(crate) const NAMES: [&str; 2] = ["jcs_numbers", "jcs_midpoints"];

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    #[serde(rename = "$schema")]
    _schema: String,
    #[serde(rename = "description")]
    _description: String,
    #[serde(rename = "generator")]
    _generator: serde_json::Value,
    #[serde(rename = "fn")]
    function: String,
    columns: [String; 2],
    count: usize,
    rows: Vec<String>,
}

fn rows(name: &str, columns: [&str; 2], least: usize) -> Vec<(String, String)> {
    let text = fs::read_to_string(folder().join(format!("{name}.json"))).expect("a table");
    let table: Table = serde_json::from_str(&text).expect("a table's form");
    assert_eq!(table.function, name);
    assert_eq!(table.columns, columns);
    assert_eq!(table.rows.len(), table.count);
    let distinct: BTreeSet<_> = table.rows.iter().collect();
    assert!(distinct.len() >= least, "{name}: {} rows", distinct.len());
    let split = |row: &String| {
        let (left, right) = row.split_once(',').expect("two columns");
        (left.to_owned(), right.to_owned())
    };
    table.rows.iter().map(split).collect()
}

/// RFC 8785 §3.2.2.3 asks for ECMAScript's text of every double. Each is given to the reader in two
/// literals that name it without being its canonical text.
#[test]
fn writes_ten_thousand_doubles_as_v8_does() {
    for (bits, expected) in rows("jcs_numbers", ["bits", "text"], 10_000) {
        let value = f64::from_bits(u64::from_str_radix(&bits, 16).expect("hexadecimal"));
        for literal in [format!("{value:.16e}"), format!("{value:.20E}")] {
            assert_eq!(
                json::canonicalize(&literal).unwrap(),
                expected,
                "{bits} {literal}"
            );
        }
        assert_eq!(json::canonicalize(&expected).unwrap(), expected, "{bits}");
    }
}

#[test]
fn reads_literals_at_the_middle_between_two_doubles_as_v8_does() {
    for (literal, expected) in rows("jcs_midpoints", ["literal", "text"], 300) {
        assert_eq!(json::canonicalize(&literal).unwrap(), expected, "{literal}");
    }
}
