//! One byte flipped in a class of evidence refutes exactly its step, and verifies nothing.
use crate::bundles::recorded::{CHAIN, SOUND, explained, json, trust};
use crate::online::flips;
use concord_explain::{Bundle, Report, State, Step, Trust, explain};
use serde_json::Value;

/// A place in a bundle, and the step that it is the evidence of.
#[derive(Clone, Debug)]
struct Place {
    pointer: String,
    step: Step,
}

/// The classes of evidence: each text of hex digits in a bundle but for names (keys and addresses).
fn places(bundle: &Value) -> Vec<Place> {
    let chain = &bundle["evm"][CHAIN];
    let base = format!("/evm/{CHAIN}");
    let mut all = Vec::new();
    let mut add = |pointer: String, step| all.push(Place { pointer, step });
    for hash in keys(&chain["headers"]) {
        add(format!("{base}/headers/{hash}"), Step::Inclusion);
    }
    for (hash, found) in entries(&chain["transactions"]) {
        let base = format!("{base}/transactions/{hash}");
        add(format!("{base}/raw"), Step::Event);
        add(format!("{base}/receipt"), Step::Event);
        for list in ["proof", "receiptProof"] {
            each(&found[list], |place| {
                add(format!("{base}/{list}/{place}"), Step::Event)
            });
        }
    }
    for (place, account) in chain["accounts"]
        .as_array()
        .expect("accounts")
        .iter()
        .enumerate()
    {
        let base = format!("{base}/accounts/{place}");
        for field in ["balance", "storageHash", "codeHash"] {
            add(format!("{base}/{field}"), Step::Registry);
        }
        each(&account["proof"], |node| {
            add(format!("{base}/proof/{node}"), Step::Registry)
        });
        for (slot, stated) in entries(&account["slots"]) {
            let step = step_of_slot(bundle, account, slot);
            add(format!("{base}/slots/{slot}/value"), step);
            each(&stated["proof"], |node| {
                add(format!("{base}/slots/{slot}/proof/{node}"), step)
            });
        }
    }
    for (uri, file) in entries(&bundle["files"]) {
        let step = match file.get("host") {
            Some(_) => Step::FileHash,
            None => Step::File, // its CID
        };
        let base = format!("/files/{}", uri.replace('~', "~0").replace('/', "~1"));
        add(format!("{base}/bytes"), step);
        each(&file["blocks"], |block| {
            add(format!("{base}/blocks/{block}"), step)
        });
    }
    all
}

/// The reputation registry's slot is the feedback; the identity registry's are owners and the URI. Which of the
/// latter a slot is, the bundle does not say: the URI's are those that hold its text.
fn step_of_slot(bundle: &Value, account: &Value, slot: &str) -> Step {
    let reputation = bundle["feedback"]["reputationRegistry"]
        .as_str()
        .expect("an address");
    let address = account["address"].as_str().expect("an address");
    if address.eq_ignore_ascii_case(reputation) {
        Step::NotRevoked
    } else {
        if is_text(account, slot) {
            Step::Registration
        } else {
            Step::SelfFeedback
        }
    }
}

/// Whether a slot holds a piece of the URI: ASCII, or the first piece with the length below it.
fn is_text(account: &Value, slot: &str) -> bool {
    let value = account["slots"][slot]["value"].as_str().expect("a word");
    let bytes = hex::decode(&value[2..]).expect("hex");
    bytes[..8].iter().all(u8::is_ascii_graphic)
}

fn keys(object: &Value) -> Vec<&String> {
    object
        .as_object()
        .map(|it| it.keys().collect())
        .unwrap_or_default()
}

fn entries(object: &Value) -> Vec<(&String, &Value)> {
    object
        .as_object()
        .map(|it| it.iter().collect())
        .unwrap_or_default()
}

fn each(list: &Value, mut add: impl FnMut(usize)) {
    (0..list.as_array().map_or(0, Vec::len)).for_each(&mut add);
}

/// Flips one bit of the byte at `place`.
fn flipped(bundle: &Value, pointer: &str, place: usize) -> Option<Value> {
    let mut flipped = bundle.clone();
    let text = flipped.pointer_mut(pointer).expect("a place");
    let digits = text
        .as_str()
        .and_then(|it| it.strip_prefix("0x"))
        .expect("hex digits");
    let mut bytes = hex::decode(digits).expect("hex");
    *bytes.get_mut(place)? ^= 1;
    *text = Value::String(format!("0x{}", hex::encode(bytes)));
    Some(flipped)
}

fn length(bundle: &Value, pointer: &str) -> usize {
    let text = bundle
        .pointer(pointer)
        .and_then(Value::as_str)
        .expect("hex digits");
    text.len() / 2 - 1
}

fn refuted(report: &Report) -> Vec<Step> {
    let refuted = report
        .findings
        .iter()
        .filter(|it| it.state == State::Refuted);
    refuted.map(|it| it.step).collect()
}

fn check(name: &str, before: &Report, after: &Report, place: &Place, byte: usize) {
    let shown = format!("{name}: byte {byte} of {}", place.pointer);
    assert_eq!(refuted(after), [place.step], "{shown}: {after:#?}");
    for finding in after
        .findings
        .iter()
        .filter(|it| it.state == State::Verified)
    {
        assert_eq!(
            before.state_of(finding.step),
            Some(State::Verified),
            "{shown}: {}",
            finding.step
        );
    }
}

#[test]
fn one_byte_of_a_class_of_evidence_refutes_exactly_its_step() {
    for name in SOUND {
        let bundle = json(name);
        let trust = trust(&bundle);
        let before = explained(&bundle, &trust).expect("a bundle").report;
        let mut flips = 0;
        for place in places(&bundle) {
            let length = length(&bundle, &place.pointer);
            // the ends, and some bytes between
            let step = (length / 5).max(1);
            for byte in (0..length).filter(|it| it % step == 0 || it + 1 == length) {
                let changed = flipped(&bundle, &place.pointer, byte).expect("a byte");
                let after = explained(&changed, &trust).expect("a bundle").report;
                check(name, &before, &after, &place, byte);
                flips += 1;
            }
        }
        assert!(flips > 100, "{name}: {flips} flips");
    }
}

/// The anchor is a name: another one is a block that the bundle does not have.
#[test]
fn one_byte_of_the_anchor_refutes_the_inclusion() {
    let bundle = json("open");
    let trust = trust(&bundle);
    let changed = flipped(&bundle, &format!("/evm/{CHAIN}/anchor"), 0).expect("a byte");
    let after = explained(&changed, &trust).expect("a bundle").report;
    assert_eq!(refuted(&after), [Step::Inclusion], "{after:#?}");
    assert_eq!(after.count(State::Verified), 0, "{after:#?}");
}

/// Whatever a leaf is: a number, a truth value, a name, nothing. Also if the feedback is revoked.
#[test]
fn another_leaf_verifies_nothing_and_refutes_one_step() {
    for name in SOUND.into_iter().chain(["revoked"]) {
        let recorded = json(name);
        let trust = trust(&recorded);
        let bundle = Bundle::parse(&recorded.to_string()).expect("a bundle");
        let bundle = without_surplus(bundle, &trust);
        let refuted = flips::check_evm(&bundle, &trust);
        assert!(refuted.contains(&Step::Event), "{name}: {refuted:?}");
        assert!(refuted.contains(&Step::Inclusion), "{name}: {refuted:?}");
    }
}

/// The recorder keeps accounts and slots of two blocks, of which one may not be read.
fn without_surplus(mut bundle: Bundle, trust: &Trust) -> Bundle {
    let report = |bundle: &Bundle| explain(bundle, trust).expect("a feedback").report;
    let whole = report(&bundle);
    for place in (0..bundle.evm[CHAIN].accounts.len()).rev() {
        let slots = bundle.evm[CHAIN].accounts[place].slots.clone();
        for slot in slots.keys() {
            let mut less = bundle.clone();
            let of_chain = less.evm.get_mut(CHAIN).expect("a chain");
            of_chain.accounts[place].slots.remove(slot);
            bundle = if report(&less) == whole { less } else { bundle };
        }
        let mut less = bundle.clone();
        let of_chain = less.evm.get_mut(CHAIN).expect("a chain");
        of_chain.accounts.remove(place);
        bundle = if report(&less) == whole { less } else { bundle };
    }
    bundle
}
