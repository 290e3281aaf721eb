//! Every vector file of `tests/vectors/files`, against the crate's readers and writers.
//!
//! The expected values come from other implementations and from the source documents (see
//! `tests/vectors/generate`).

mod extension;
mod feedback;
mod registration;
mod vector_file;

use concord_files::{Mapping, decode_uri, identify_hash};
use serde_json::{Value, json};
use vector_file::{Answer, VectorFile, hex_of, word};

/// Least vectors (accepted, refused) that each file must hold, so that none passes by being empty.
const LEAST: &[(&str, usize, usize)] = &[
    ("feedback", 50, 66),
    ("hash_scheme", 43, 0),
    ("info", 9, 9),
    ("interaction", 13, 19),
    ("registration", 23, 24),
    ("uri", 23, 10),
];

#[test]
fn every_vector_holds() {
    let mut counts = Vec::new();
    for file in VectorFile::all() {
        let mut faults = Vec::new();
        let (mut ok, mut refused) = (0, 0);
        for vector in &file.vectors {
            let found = answer(&file.name, vector);
            match (&vector["ok"], &found) {
                (Value::Null, Err(_)) => refused += 1,
                _ => ok += 1,
            }
            let expected = match vector.get("ok") {
                Some(expected) => Ok(expected.clone()),
                None => Err(vector["error"].clone()),
            };
            if found != expected {
                faults.push(format!(
                    "{}\n  expected {expected:?}\n  found    {found:?}",
                    vector["id"]
                ));
            }
        }
        assert!(
            faults.is_empty(),
            "{} differ:\n{}",
            faults.len(),
            faults.join("\n")
        );
        assert_eq!((ok, refused), (file.ok, file.error), "{}", file.name);
        counts.push((file.name, ok, refused));
    }
    let names =
        |list: &[(&str, usize, usize)]| list.iter().map(|l| l.0.to_owned()).collect::<Vec<_>>();
    assert_eq!(
        counts.iter().map(|c| c.0.clone()).collect::<Vec<_>>(),
        names(LEAST)
    );
    for ((name, ok, refused), (_, least_ok, least_refused)) in counts.iter().zip(LEAST) {
        assert!(
            ok >= least_ok && refused >= least_refused,
            "{name}: {ok} and {refused}"
        );
    }
}

fn answer(file: &str, vector: &Value) -> Answer {
    let text = || vector["text"].as_str().expect("text");
    match file {
        "feedback" => feedback::answer(vector, text()),
        "registration" => registration::answer(text()),
        "info" => extension::info(text()),
        "interaction" => extension::interaction(text()),
        "uri" => uri(vector),
        "hash_scheme" => {
            let hash = word(vector["hash"].as_str().expect("a hash"));
            let scheme = identify_hash(text().as_bytes(), &hash);
            Ok(json!(scheme.map(|scheme| scheme.name())))
        }
        other => panic!("{other}: no reader"),
    }
}

fn uri(vector: &Value) -> Answer {
    let inline = decode_uri(vector["uri"].as_str().expect("a URI")).map_err(vector_file::error)?;
    assert!(inline.mappings.iter().all(|mapping| mapping.path == "uri"));
    let names: Vec<_> = inline
        .mappings
        .iter()
        .map(|mapping| mapping.kind.name())
        .collect();
    Ok(match vector["ok"].get("length") {
        Some(_) => json!({ "length": inline.bytes.len(), "mappings": names }),
        None => json!({ "bytes": hex_of(&inline.bytes), "mappings": names }),
    })
}

/// `name path`, sorted as the vector lists them.
fn mapping_texts(mappings: &[Mapping]) -> Vec<String> {
    let mut texts: Vec<_> = mappings
        .iter()
        .map(|mapping| format!("{} {}", mapping.kind.name(), mapping.path))
        .collect();
    texts.sort();
    texts
}
