//! Hostile input: whatever the bytes, a reader answers, and what it accepts survives writing.

use concord_files::{
    FILE_MAX, Rule, decode_uri, identify_hash, info_from_extensions, interaction_from_extensions,
    parse_feedback, parse_registration,
};
use proptest::{prelude::*, sample::Index};

/// The texts of the committed vectors: seeds for mutation.
fn seeds(name: &str) -> Vec<String> {
    let path = format!(
        "{}/../tests/vectors/files/{name}.json",
        env!("CARGO_MANIFEST_DIR")
    );
    let file: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(path).expect("vectors")).expect("JSON");
    let vectors = file["vectors"].as_array().expect("vectors").iter();
    let texts = vectors.filter_map(|vector| vector["text"].as_str().or(vector["uri"].as_str()));
    texts.map(str::to_owned).collect()
}

#[derive(Clone, Debug)]
enum Mutation {
    Flip(Index, u8),
    Remove(Index, usize),
    Insert(Index, &'static str),
    /// Repeats a stretch elsewhere, which makes duplicate keys and nested copies.
    Copy(Index, Index, usize),
}

const FRAGMENTS: &[&str] = &[
    "null",
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    "\"",
    "\\u0000",
    "\\ud800",
    "-1",
    "1e999",
    "1e308",
    "9007199254740993",
    "0.5",
    "\"score\":1,",
    "\"value\":\"1\",",
    "\"info\":{},",
    "\"x\":",
    "\u{0}",
    "é",
    "𐀀",
    "%",
    "%00",
    "data:",
    "base64,",
    "enc=gzip;",
    "H4sI",
];

fn mutation() -> impl Strategy<Value = Mutation> {
    prop_oneof![
        (any::<Index>(), any::<u8>()).prop_map(|(at, byte)| Mutation::Flip(at, byte)),
        (any::<Index>(), 1..40_usize).prop_map(|(at, length)| Mutation::Remove(at, length)),
        (any::<Index>(), prop::sample::select(FRAGMENTS))
            .prop_map(|(at, text)| Mutation::Insert(at, text)),
        (any::<Index>(), any::<Index>(), 1..60_usize)
            .prop_map(|(from, to, n)| Mutation::Copy(from, to, n)),
    ]
}

fn mutate(seed: &str, mutations: &[Mutation]) -> Vec<u8> {
    let mut bytes = seed.as_bytes().to_vec();
    for mutation in mutations {
        if bytes.is_empty() {
            break;
        }
        let (length, end) = (bytes.len(), |at: usize, n: usize| (at + n).min(bytes.len()));
        match mutation {
            Mutation::Flip(at, byte) => bytes[at.index(length)] = *byte,
            Mutation::Remove(at, n) => {
                let at = at.index(length);
                let end = end(at, *n);
                bytes.drain(at..end);
            }
            Mutation::Insert(at, text) => {
                let at = at.index(length);
                bytes.splice(at..at, text.bytes());
            }
            Mutation::Copy(from, to, n) => {
                let from = from.index(length);
                let stretch = bytes[from..end(from, *n)].to_vec();
                let to = to.index(length);
                bytes.splice(to..to, stretch);
            }
        }
    }
    bytes
}

fn mutated(name: &str) -> impl Strategy<Value = Vec<u8>> + use<> {
    let seeds = seeds(name);
    (
        prop::sample::select(seeds),
        prop::collection::vec(mutation(), 0..4),
    )
        .prop_map(|(seed, mutations)| mutate(&seed, &mutations))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4_000))]

    #[test]
    fn feedback_is_refused_or_survives(bytes in mutated("feedback")) {
        let _ = identify_hash(&bytes, &[0; 32]);
        match parse_feedback(&bytes) {
            Err(error) => prop_assert!(error.path().starts_with('$'), "{error}"),
            Ok(parsed) => {
                prop_assert_eq!(parsed.original().as_bytes(), &bytes[..]);
                if let Ok(text) = parsed.view().to_canonical() {
                    let again = parse_feedback(text.as_bytes()).expect("what was written is read");
                    prop_assert_eq!(again.view(), parsed.view());
                    prop_assert_eq!(again.view().to_canonical(), Ok(text));
                }
            }
        }
    }

    #[test]
    fn registrations_are_refused_or_survive(bytes in mutated("registration")) {
        match parse_registration(&bytes) {
            Err(error) => prop_assert!(error.path().starts_with('$'), "{error}"),
            Ok(parsed) => {
                let _ = parsed.view().agent_wallets();
                if let Ok(text) = parsed.view().to_canonical() {
                    let again = parse_registration(text.as_bytes()).expect("what was written is read");
                    prop_assert_eq!(again.view(), parsed.view());
                    prop_assert!(again.mappings().is_empty());
                }
            }
        }
    }

    #[test]
    fn extensions_are_refused_or_survive(bytes in mutated("interaction"), other in mutated("info")) {
        for found in interaction_from_extensions(&bytes).unwrap_or_default() {
            let _ = found.view.signed.verify(found.profile);
            prop_assert!(found.view.to_canonical().is_ok());
        }
        for found in info_from_extensions(&other).unwrap_or_default() {
            prop_assert!(found.view.to_canonical().is_ok());
        }
    }

    #[test]
    fn uris_are_refused_or_decoded_within_the_limit(bytes in mutated("uri")) {
        if let Ok(inline) = decode_uri(&String::from_utf8_lossy(&bytes)) {
            prop_assert!(inline.bytes.len() <= FILE_MAX);
        }
    }

    #[test]
    fn any_bytes_are_answered(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = parse_feedback(&bytes);
        let _ = parse_registration(&bytes);
        let _ = decode_uri(&format!("data:application/json;base64,{}", String::from_utf8_lossy(&bytes)));
    }
}

#[test]
fn size_is_limited_before_anything_is_read() {
    let mut file = vec![b' '; FILE_MAX - 2];
    file.extend(b"{}");
    assert!(parse_registration(&file).is_ok());
    file.insert(0, b' ');
    let error = parse_registration(&file).expect_err("one byte too many");
    let (length, limit) = (FILE_MAX + 1, FILE_MAX);
    assert_eq!(error.rule(), &Rule::Size { length, limit });
    assert_eq!(error.to_string(), "$: is 1048577 bytes, at most 1048576");
}

#[test]
fn depth_is_limited_before_the_stack_is_exhausted() {
    let nested = format!("{{\"x\":{}{}}}", "[".repeat(500_000), "]".repeat(500_000));
    let error = parse_registration(nested.as_bytes()).expect_err("too deep");
    assert_eq!(error.rule().name(), "json");
    let within = format!("{{\"x\":{}{}}}", "[".repeat(127), "]".repeat(127));
    assert!(parse_registration(within.as_bytes()).is_ok());
}

#[test]
fn bytes_that_are_not_utf8_are_named_by_their_offset() {
    let error = parse_feedback(b"{\"a\":\"\xff\"}").expect_err("not UTF-8");
    assert_eq!(error.rule(), &Rule::Utf8 { offset: 6 });
}

#[test]
fn errors_show_the_value_but_never_all_of_it() {
    let long = format!(
        "{{\"name\":\"{}\",\"services\":\"{}\"}}",
        "n",
        "s".repeat(1_000)
    );
    let error = parse_registration(long.as_bytes()).expect_err("services is a list");
    assert_eq!(error.path(), "$.services");
    assert_eq!(error.value(), Some("s".repeat(40).as_str()));
    assert_eq!(
        error.to_string(),
        format!("$.services: must be an array (found {}…)", "s".repeat(40))
    );
}
