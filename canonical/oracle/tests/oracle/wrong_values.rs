//! Wrong values in the place of every argument of every function, and arguments left out: never a panic, always a class.

use concord_canonical::ErrorClass;
use concord_oracle as oracle;
use serde_json::{Map, Value, json};
use std::path::Path;

/// Vectors of one function.
fn vectors(name: &str) -> Vec<Value> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/vectors");
    let text = std::fs::read_to_string(folder.join(format!("{name}.json"))).expect(name);
    let mut file: Value = serde_json::from_str(&text).expect(name);
    let Value::Array(vectors) = file["vectors"].take() else {
        panic!("{name}: no vectors");
    };
    vectors
}

/// What is not an argument: why the vector exists, and what it expects.
const NOT_ARGUMENTS: [&str; 4] = ["comment", "flags", "ok", "error"];

fn request(vector: &Value) -> Map<String, Value> {
    let mut request = vector.as_object().unwrap().clone();
    for name in NOT_ARGUMENTS {
        request.remove(name);
    }
    request
}

/// Values that are wrong nearly everywhere.
fn nasty() -> Vec<Value> {
    let mut values = vec![
        json!(null),
        json!(true),
        json!([]),
        json!({}),
        json!([[[{"a": []}]]]),
        json!(-1),
        json!(0.1),
        json!(1e300),
        json!(u64::MAX),
    ];
    let long = "9".repeat(400);
    let texts = [
        "",
        "0",
        "-0",
        "-1",
        "0x",
        "0x0",
        "0xzz",
        "00",
        "é",
        "\0",
        ":",
        "::",
        "a:b:c",
        "-",
        "\u{10ffff}",
        "0x0000000000000000000000000000000000000000",
        "11111111111111111111111111111111",
        &long,
    ];
    values.extend(texts.map(Value::from));
    values
}

/// An answer is a result or an error of a class that the list knows.
fn check_answer(line: &str) {
    let answer: Value = serde_json::from_str(&oracle::answer(line)).expect(line);
    let class = answer["error"]["class"].as_str();
    match answer.get("ok") {
        Some(_) => assert_eq!(class, None, "{line}"),
        None => assert!(
            class.and_then(ErrorClass::from_name).is_some(),
            "{line}: {answer}"
        ),
    }
}

#[test]
fn answers_whatever_stands_in_an_arguments_place() {
    for name in oracle::names() {
        for vector in vectors(name).iter().step_by(7).take(8) {
            let request = request(vector);
            for argument in request.keys() {
                for value in nasty() {
                    let mut changed = request.clone();
                    changed.insert(argument.clone(), value);
                    check_answer(&Value::Object(changed).to_string());
                }
                let mut lacking = request.clone();
                lacking.remove(argument);
                check_answer(&Value::Object(lacking).to_string());
            }
        }
    }
}

#[test]
fn answers_requests_cut_off_anywhere() {
    for name in oracle::names() {
        let line = Value::Object(request(&vectors(name)[0])).to_string();
        for end in (0..line.len()).filter(|end| line.is_char_boundary(*end)) {
            let answer: Value = serde_json::from_str(&oracle::answer(&line[..end])).unwrap();
            assert_eq!(
                (&answer["id"], &answer["error"]["class"]),
                (&Value::Null, &json!("BadRequest"))
            );
        }
    }
}
