//! Properties of the reader and writer of JSON, over generated documents and over broken ones.

use concord_canonical::{
    ErrorClass,
    json::{self, DEPTH_MAX, Value},
};
use proptest::prelude::*;
use serde_json::Value as Serde;

/// Any JSON value that this crate accepts, as serde_json holds it.
fn document() -> impl Strategy<Value = Serde> {
    let leaf = prop_oneof![
        Just(Serde::Null),
        any::<bool>().prop_map(Serde::from),
        any::<i64>().prop_map(Serde::from),
        any::<f64>().prop_map(Serde::from),
        any::<u64>().prop_map(|bits| Serde::from(f64::from_bits(bits))),
        text().prop_map(Serde::from),
    ];
    leaf.prop_recursive(6, 48, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Serde::from),
            prop::collection::vec((text(), inner), 0..6)
                .prop_map(|members| Serde::Object(members.into_iter().collect())),
        ]
    })
}

/// The ends of the ranges that UTF-8, UTF-16 and JSON's escapes treat apart.
const EDGES: [char; 6] = [
    '\u{7f}',
    '\u{d7ff}',
    '\u{e000}',
    '\u{ffff}',
    '\u{10000}',
    '\u{10ffff}',
];

/// Text in which the corners of UTF-16 and of JSON's escapes are frequent.
fn text() -> impl Strategy<Value = String> {
    let character = prop_oneof![
        3 => prop::char::range('a', 'd'),
        2 => prop::char::range('\0', '"'),
        2 => prop::sample::select(r#""\/"#.chars().chain(EDGES).collect::<Vec<_>>()),
        1 => any::<char>(),
    ];
    prop::collection::vec(character, 0..8).prop_map(String::from_iter)
}

/// The same document with other white space, member order and escapes.
fn disguised(value: &Serde) -> String {
    match value {
        Serde::Object(members) => {
            let members = members.iter().rev();
            let members: Vec<_> = members
                .map(|(key, value)| format!("{}\t:\n{}", escaped(key), disguised(value)))
                .collect();
            format!("{{ {} }}", members.join("\r,"))
        }
        Serde::Array(elements) => {
            let elements: Vec<_> = elements.iter().map(disguised).collect();
            format!("[ {} ]", elements.join(" ,\n"))
        }
        Serde::String(text) => escaped(text),
        Serde::Number(number) if number.is_f64() => {
            format!("{:.20e}", number.as_f64().expect("a double"))
        }
        other => other.to_string(),
    }
}

/// Every character as one or two `\u` escapes.
fn escaped(text: &str) -> String {
    let units = text.encode_utf16().map(|unit| format!("\\u{unit:04X}"));
    format!("\"{}\"", units.collect::<String>())
}

/// What serde_json reads in a text must be what this crate reads.
fn assert_same(ours: &Value<'_>, theirs: &Serde) {
    match (ours, theirs) {
        (Value::Null, Serde::Null) => {}
        (Value::Bool(a), Serde::Bool(b)) => assert_eq!(a, b),
        (Value::Number(a), Serde::Number(b)) => assert_eq!(Some(a.to_f64()), b.as_f64()),
        (Value::String(a), Serde::String(b)) => assert_eq!(a, b),
        (Value::Array(a), Serde::Array(b)) => {
            assert_eq!(a.len(), b.len());
            a.iter().zip(b).for_each(|(a, b)| assert_same(a, b));
        }
        (Value::Object(a), Serde::Object(b)) => {
            assert_eq!(a.len(), b.len());
            b.iter()
                .for_each(|(key, b)| assert_same(a.get(key).expect("a member"), b));
        }
        _ => panic!("{ours:?} is not {theirs}"),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn canonical_form_equals_the_other_implementation(document in document()) {
        let text = document.to_string();
        let ours = json::canonicalize(&text).unwrap();
        // serde_json_canonicalizer refuses integers that a double cannot hold exactly; it is given doubles
        let theirs = serde_json_canonicalizer::to_string(&as_doubles(&document)).unwrap();
        prop_assert_eq!(&ours, &theirs);
        prop_assert_eq!(json::canonicalize(&disguised(&document)).unwrap(), theirs);
    }

    #[test]
    fn canonical_form_is_a_fixed_point_and_keeps_the_value(document in document()) {
        let text = document.to_string();
        let canonical = json::canonicalize(&text).unwrap();
        prop_assert!(json::is_canonical(&canonical));
        prop_assert_eq!(json::canonicalize(&canonical).unwrap(), &canonical[..]);
        prop_assert_eq!(json::parse(&text).unwrap(), json::parse(&canonical).unwrap());
        assert_same(&json::parse(&text).unwrap(), &document);
    }

    #[test]
    fn accepts_what_serde_json_accepts_and_nothing_else(
        document in document(),
        at in any::<prop::sample::Index>(),
        replacement in prop::sample::select(r#"{}[]",:\0159.eE+-utfn "#.chars().collect::<Vec<_>>()),
    ) {
        let mut broken: Vec<char> = document.to_string().chars().collect();
        let at = at.index(broken.len());
        broken[at] = replacement;
        let broken = String::from_iter(broken);
        match (json::parse(&broken), serde_json::from_str::<Serde>(&broken)) {
            (Ok(ours), Ok(theirs)) => assert_same(&ours, &theirs),
            (Err(_), Err(_)) => {}
            // R22: serde_json lets the last of two equal keys win
            (Err(error), Ok(_)) => prop_assert_eq!(error.class(), ErrorClass::DuplicateKey, "{}", broken),
            (Ok(_), Err(error)) => prop_assert!(false, "{}: {}", broken, error),
        }
    }

    #[test]
    fn never_panics_on_any_text(text in "\\PC{0,60}", json in r#"[\[\]{}",:0-9eE.+\-ntfu\\ \n]{0,60}"#) {
        let _ = json::parse(&text);
        let _ = json::parse(&json);
    }

    #[test]
    fn every_truncation_is_malformed(document in document(), at in any::<prop::sample::Index>()) {
        let text = format!("[{document}]");
        let boundaries: Vec<_> = text.char_indices().map(|(at, _)| at).collect();
        let cut = boundaries[at.index(boundaries.len())];
        prop_assert_eq!(json::parse(&text[..cut]).unwrap_err().class(), ErrorClass::MalformedJson);
    }

    #[test]
    fn a_repeated_key_is_found_wherever_it_stands(
        keys in prop::collection::btree_set(text(), 1..8),
        again in any::<prop::sample::Index>(),
    ) {
        let mut members: Vec<_> = keys.iter().map(|key| format!("{}:0", escaped(key))).collect();
        let again = keys.iter().nth(again.index(keys.len())).expect("a key");
        let each_once = format!("{{{}}}", members.join(","));
        prop_assert!(json::parse(&each_once).is_ok());
        members.push(format!("{}:1", Serde::from(again.as_str())));
        let error = json::parse(&format!("[{{{}}}]", members.join(","))).unwrap_err();
        prop_assert_eq!(error.class(), ErrorClass::DuplicateKey);
    }

    #[test]
    fn an_integer_field_takes_every_53_bit_integer_and_no_neighbour(
        value in -((1_i64 << 53) - 1)..1_i64 << 53,
        zeros in 0_usize..4,
    ) {
        let padding = "0".repeat(zeros);
        for literal in [
            format!("{value}"),
            format!("{value}.0{padding}"),
            format!("{value}{padding}e-{zeros}"),
        ] {
            let parsed = json::parse(&literal).unwrap();
            prop_assert_eq!(parsed.as_integer("field").unwrap().unwrap(), value);
        }
        let literal = format!("{value}.{}1", "0".repeat(20 * zeros));
        let error = json::parse(&literal).unwrap().as_integer("field").unwrap().unwrap_err();
        prop_assert_eq!(error.class(), ErrorClass::NumberOutOfRange);
    }
}

/// Integers become the doubles that JSON's readers make of them.
fn as_doubles(value: &Serde) -> Serde {
    match value {
        Serde::Number(number) => Serde::from(number.as_f64()),
        Serde::Array(elements) => elements.iter().map(as_doubles).collect(),
        Serde::Object(members) => members
            .iter()
            .map(|(key, value)| (key.clone(), as_doubles(value)))
            .collect(),
        other => other.clone(),
    }
}

/// A document that would exhaust the stack of a reader without a limit.
#[test]
fn refuses_deep_nesting_at_the_bracket_that_goes_too_deep() {
    for open in ["[", "{\"a\":"] {
        let text = open.repeat(1_000_000);
        let error = json::parse(&text).unwrap_err();
        let at = DEPTH_MAX * open.len();
        assert!(
            error.to_string().contains(&format!("byte {at}:")),
            "{error}"
        );
    }
}

#[test]
fn errors_name_the_byte_at_which_the_rule_was_broken() {
    for (text, message) in [
        ("{\"a\":1 \"b\":2}", "JSON at byte 7: ',' or '}' is missing"),
        ("[1,]", "JSON at byte 3: a value is missing"),
        ("\u{feff}1", "JSON at byte 0: a value is missing"),
        ("1\n2", "JSON at byte 2: text after the value"),
        ("01", "JSON at byte 1: text after the value"),
        ("\"é\n\"", "JSON at byte 3: control character in a string"),
        (
            "{\"é\":1,\"\\u00e9\":2}",
            "JSON at byte 8: key \"é\" occurs twice in one object",
        ),
        (
            "[\"é\\udc00\"]",
            "JSON at byte 4: surrogate without its pair",
        ),
        ("[1e309]", "JSON number is 1e309, must be a finite double"),
    ] {
        assert_eq!(
            json::parse(text).unwrap_err().to_string(),
            message,
            "{text}"
        );
    }
}

#[test]
fn accessors_tell_the_kinds_apart() {
    let value = json::parse(
        r#"{"n":null,"b":true,"i":7,"s":"-170141183460469231731687303715884105728","a":[1]}"#,
    )
    .unwrap();
    let object = value.as_object().unwrap();
    assert_eq!((object.len(), object.is_empty()), (5, false));
    assert_eq!(
        object.iter().map(|(key, _)| key).collect::<String>(),
        "abins"
    );
    assert!(value.get("n").unwrap().is_null());
    assert_eq!(value.get("b").unwrap().as_bool(), Some(true));
    assert_eq!(value.get("i").unwrap().as_integer("i").unwrap().unwrap(), 7);
    assert_eq!(value.get("i").unwrap().as_i128("i").unwrap().unwrap(), 7);
    assert_eq!(
        value.get("s").unwrap().as_i128("s").unwrap().unwrap(),
        i128::MIN
    );
    assert!(value.get("s").unwrap().as_integer("s").is_none());
    assert_eq!(value.get("a").unwrap().as_array().unwrap().len(), 1);
    assert!(value.get("missing").is_none());
    assert!(value.get("a").unwrap().get("b").is_none());
    assert_eq!(
        value.to_canonical(),
        json::canonicalize(&value.to_canonical()).unwrap()
    );
}
