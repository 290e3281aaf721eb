//! One leaf of a bundle changed, anywhere: what it is the evidence of is refuted, and nothing becomes verified. The bundles are those that
//! the reader made of chains that run, and those that `tests/bundles` has recorded.
use concord_explain::{
    Bundle, Report, ReputationBundle, State, Step, Trust, explain, explain_reputation,
};
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// Bytes of each text that are flipped, apart from its last.
const BYTES: usize = 3;
/// EIP-2935's contract.
const HISTORY: &str = "0x0000f90827f1c53a10cb7a02335b175320002935";

/// What a leaf is.
enum Class {
    /// Evidence: exactly one of these steps is refuted.
    Evidence(Vec<Step>),
    /// The name of what is wanted, such as a block's hash. Under another name it is missing, which refutes nothing (R36).
    Name,
    /// What a node, a host or a reader says, and nothing proves. Another word may refute these steps.
    Word(Vec<Step>),
    /// Which feedback is asked about. Another one is not this one's.
    Question,
}

/// Every leaf of a bundle, by its pointer.
fn leaves(value: &Value, pointer: &str, found: &mut Vec<String>) {
    let below = |key: &str| {
        let key = key.replace('~', "~0").replace('/', "~1");
        format!("{pointer}/{key}")
    };
    match value {
        Value::Array(all) => (0_usize..)
            .zip(all)
            .for_each(|(place, it)| leaves(it, &below(&place.to_string()), found)),
        Value::Object(all) => all
            .iter()
            .for_each(|(key, it)| leaves(it, &below(key), found)),
        _ => found.push(pointer.to_owned()),
    }
}

/// Other values for a leaf: a byte flipped, a digit more, the other truth value, nothing for something, and something for nothing.
fn others(value: &Value) -> Vec<Value> {
    match value {
        Value::String(text) => {
            let mut others = match text.strip_prefix("0x") {
                Some(digits) if !digits.is_empty() => hex_flipped(digits),
                _ => text_changed(text),
            };
            others.push(Value::Null);
            others
        }
        Value::Number(number) => {
            let number = number.as_i64().expect("a small number");
            vec![json!(number + 1), json!(number - 1), Value::Null]
        }
        Value::Bool(truth) => vec![json!(!truth), Value::Null],
        _ => vec![
            json!(1),
            json!("x"),
            json!({ "InstructionError": [0, "x"] }),
        ],
    }
}

fn hex_flipped(digits: &str) -> Vec<Value> {
    let length = digits.len() / 2;
    let step = (length / BYTES).max(1);
    let places = (0..length).filter(|it| it % step == 0 || it + 1 == length);
    let flipped = |place: usize| {
        let mut digits = digits.to_owned().into_bytes();
        let at = place * 2 + 1;
        digits[at] = if digits[at] == b'0' { b'1' } else { b'0' };
        json!(format!("0x{}", String::from_utf8(digits).expect("digits")))
    };
    places.map(flipped).collect()
}

/// Base58, base64, decimal digits, names, URLs and logs.
fn text_changed(text: &str) -> Vec<Value> {
    let characters: Vec<char> = text.chars().collect();
    let mut places: Vec<usize> =
        [0, characters.len() / 2, characters.len().saturating_sub(1)].into();
    places.dedup();
    let changed = |place: usize| {
        let mut characters = characters.clone();
        let found = characters.get_mut(place)?;
        *found = if *found == '2' { '3' } else { '2' };
        Some(json!(characters.iter().collect::<String>()))
    };
    let mut others: Vec<Value> = places.into_iter().filter_map(changed).collect();
    others.push(json!(format!("{text}2")));
    others
}

fn in_state(report: &Report, state: State) -> BTreeSet<Step> {
    let found = report.findings.iter().filter(|it| it.state == state);
    found.map(|it| it.step).collect()
}

/// Changes every leaf. Returns the steps that a piece of evidence refuted.
fn check(
    bundle: &Bundle,
    trust: &Trust,
    class_of: impl Fn(&Value, &str) -> Class,
) -> BTreeSet<Step> {
    // as a file has it, in which nobody answers
    let text = bundle.to_canonical().expect("JSON");
    let bundle = Bundle::parse(&text).expect("a bundle");
    let before = explain(&bundle, trust).expect("a feedback").report;
    let value: Value = serde_json::from_str(&text).expect("JSON");
    let mut pointers = Vec::new();
    leaves(&value, "", &mut pointers);
    let (mut all, mut read) = (BTreeSet::new(), 0);
    for pointer in &pointers {
        for other in others(value.pointer(pointer).expect("a leaf")) {
            let mut changed = value.clone();
            *changed.pointer_mut(pointer).expect("a leaf") = other.clone();
            // a text that is no bundle, or names no feedback, explains nothing
            let Ok(changed) = Bundle::parse(&changed.to_string()) else {
                continue;
            };
            let Ok(after) = explain(&changed, trust) else {
                continue;
            };
            read += 1;
            let shown = format!("{pointer} is {other}: {:#?}", after.report);
            let class = class_of(&value, pointer);
            all.extend(check_one(&class, &before, &after.report, &shown));
        }
    }
    assert!(read > 30, "{read} of {} leaves", pointers.len());
    for pointer in &pointers {
        check_without(&value, pointer, &before, trust);
    }
    all
}

/// Leaves out a leaf, and what it is in: nothing becomes verified.
fn check_without(value: &Value, pointer: &str, before: &Report, trust: &Trust) {
    let mut less = value.clone();
    let (parent, key) = pointer.rsplit_once('/').expect("a pointer");
    match less.pointer_mut(parent).expect("a parent") {
        Value::Object(all) => drop(all.remove(&key.replace("~1", "/").replace("~0", "~"))),
        Value::Array(all) => drop(all.remove(key.parse().expect("a place"))),
        other => panic!("{parent} is {other}"),
    }
    match Bundle::parse(&less.to_string()) {
        Ok(less) => {
            let after = explain(&less, trust).expect("a feedback").report;
            let new = &in_state(&after, State::Verified) - &in_state(before, State::Verified);
            assert!(new.is_empty(), "{new:?} became verified without {pointer}");
        }
        // a member that must be there: without the whole
        Err(_)
            if parent
                .rsplit_once('/')
                .is_some_and(|(it, _)| !it.is_empty()) =>
        {
            check_without(value, parent, before, trust);
        }
        Err(_) => {}
    }
}

fn check_one(class: &Class, before: &Report, after: &Report, shown: &str) -> BTreeSet<Step> {
    let verified = in_state(before, State::Verified);
    let new = &in_state(after, State::Verified) - &verified;
    assert!(new.is_empty(), "{new:?} became verified: {shown}");
    let refuted = &in_state(after, State::Refuted) - &in_state(before, State::Refuted);
    let lost = !(&verified - &in_state(after, State::Verified)).is_empty();
    let none = BTreeSet::new();
    match class {
        Class::Evidence(steps) => {
            let was = in_state(before, State::Refuted);
            if refuted.is_empty() && steps.iter().any(|it| was.contains(it)) {
                return none; // what it is the evidence of was refuted before
            }
            assert_eq!(refuted.len(), 1, "one of {steps:?}, {refuted:?}: {shown}");
            assert!(
                refuted.iter().all(|it| steps.contains(it)),
                "{steps:?}: {shown}"
            );
            refuted
        }
        Class::Name => {
            assert_eq!(refuted, none, "what is missing refutes nothing: {shown}");
            assert_ne!(after, before, "nothing rests on it: {shown}");
            none
        }
        Class::Word(steps) => {
            let known = refuted.iter().all(|it| steps.contains(it));
            assert!(known, "{refuted:?}, not of {steps:?}: {shown}");
            none
        }
        Class::Question => {
            assert!(lost, "it answers another question: {shown}");
            none
        }
    }
}

/// Changes every leaf behind a number that is verified. Then it is the same number, or it is not verified any more.
#[allow(dead_code, reason = "tests/bundles has no numbers")]
pub fn check_number(bundle: &ReputationBundle, trust: &Trust) {
    let text = bundle.to_canonical().expect("JSON");
    let read = ReputationBundle::parse(&text).expect("a bundle");
    let before = explain_reputation(&read, trust).expect("an agent").report;
    assert_eq!(before.state(), State::Verified, "{before:#?}");
    let value: Value = serde_json::from_str(&text).expect("JSON");
    let mut pointers = Vec::new();
    leaves(&value, "", &mut pointers);
    // another question has another answer
    pointers.retain(|it| !it.starts_with("/query/"));
    let mut unsure = 0;
    for pointer in &pointers {
        let others = others(value.pointer(pointer).expect("a leaf"));
        for other in others.into_iter().take(1) {
            let mut changed = value.clone();
            *changed.pointer_mut(pointer).expect("a leaf") = other.clone();
            let Ok(changed) = ReputationBundle::parse(&changed.to_string()) else {
                continue;
            };
            let Ok(after) = explain_reputation(&changed, trust) else {
                continue;
            };
            match after.report.state() {
                State::Verified => {
                    let numbers = (&after.report.number, &before.number);
                    assert_eq!(numbers.0, numbers.1, "{pointer} is {other}");
                }
                _ => unsure += 1,
            }
        }
    }
    assert!(unsure > 30, "{unsure} of {} leaves", pointers.len());
}

/// Changes the leaves of a bundle of one EVM chain, whose anchor is trusted. Everything in it is evidence of a step, or names some.
pub fn check_evm(bundle: &Bundle, trust: &Trust) -> BTreeSet<Step> {
    check(bundle, trust, class_on_evm)
}

fn class_on_evm(bundle: &Value, pointer: &str) -> Class {
    let parts: Vec<&str> = pointer.split('/').skip(1).collect();
    Class::Evidence(match parts.as_slice() {
        ["feedback", ..] => return Class::Question,
        // the block on which everything rests is not the trusted one
        ["evm", _, "anchor"] => vec![Step::Inclusion],
        ["evm", _, "transactions", _, "block"] => return Class::Name,
        ["evm", _, "accounts", _, "block" | "address"] => return Class::Name,
        ["files", _, "host"] | ["unavailable", ..] => return Class::Word(Vec::new()),
        ["evm", _, "headers", ..] => vec![Step::Inclusion],
        ["evm", _, "codes", ..] => vec![Step::Registration],
        ["evm", _, "transactions", hash, ..] => {
            if bundle["feedback"]["transaction"] == **hash {
                vec![Step::Event]
            } else {
                vec![Step::Payment, Step::PaymentProof]
            }
        }
        ["evm", chain, "accounts", place, rest @ ..] => {
            let place: usize = place.parse().expect("a place");
            let account = &bundle["evm"][chain]["accounts"][place];
            steps_of_account(bundle, account, rest.first() == Some(&"slots"))
        }
        ["exchange", ..] => vec![Step::DataHash],
        ["files", ..] => vec![Step::File, Step::FileHash, Step::Registration],
        other => panic!("no class of evidence: {other:?}"),
    })
}

fn steps_of_account(bundle: &Value, account: &Value, is_slot: bool) -> Vec<Step> {
    let address = account["address"].as_str().expect("an address");
    let is = |member: &str| {
        let name = bundle["feedback"][member].as_str().expect("an address");
        name.to_lowercase().ends_with(address)
    };
    match (address == HISTORY, is("reputationRegistry"), is_slot) {
        (true, ..) => vec![Step::Inclusion],
        (_, true, true) => vec![Step::NotRevoked],
        (_, true, false) => vec![Step::Registry],
        // the identity registry's, at the blocks of feedback, payment and bundle; the wallet; an owner that is a contract
        (_, false, true) => vec![
            Step::SelfFeedback,
            Step::Registration,
            Step::Signer,
            Step::PaymentProof,
        ],
        (_, false, false) => vec![
            Step::Registry,
            Step::SelfFeedback,
            Step::Authorization,
            Step::Signer,
            Step::PaymentProof,
        ],
    }
}

/// Changes the leaves of a bundle of Solana. What a signature covers refutes the event, or the payment. The rest is a node's word: another
/// word verifies nothing that was not verified, and refutes only what rests on it.
#[allow(dead_code, reason = "tests/bundles has none of Solana")]
pub fn check_svm(bundle: &Bundle, trust: &Trust) -> BTreeSet<Step> {
    check(bundle, trust, class_on_svm)
}

fn class_on_svm(bundle: &Value, pointer: &str) -> Class {
    let parts: Vec<&str> = pointer.split('/').skip(1).collect();
    match parts.as_slice() {
        // a cluster keeps no state of an earlier slot
        ["feedback", "atBlock"] => Class::Word(Vec::new()),
        ["feedback", ..] => Class::Question,
        ["files", _, "bytes"] => Class::Evidence(vec![Step::FileHash]),
        ["files", _, "host"] | ["unavailable", ..] => Class::Word(Vec::new()),
        ["svm", _, "transactions", signature, rest @ ..] => {
            let is_event = bundle["feedback"]["transaction"] == **signature;
            let step = if is_event { Step::Event } else { Step::Payment };
            match (rest, is_event) {
                (["raw"], _) => Class::Evidence(vec![step]),
                // an event of other words is not the stored one, nor the file's, nor authorized
                (_, true) => Class::Word(vec![
                    Step::Event,
                    Step::NotRevoked,
                    Step::FileHash,
                    Step::FileAgrees,
                    Step::Authorization,
                ]),
                (_, false) => Class::Word(vec![step]),
            }
        }
        ["svm", _, "accounts", ..] => Class::Word(vec![
            Step::NotRevoked,
            Step::SelfFeedback,
            Step::Registration,
            Step::Signer,
            Step::Authorization,
        ]),
        other => panic!("no class of evidence: {other:?}"),
    }
}
