//! Labels, and values that JSON writes as text.
use concord_harness::model::{
    Actor, Agent, Bytes, Bytes32, Chain, Integer, LABEL_MAX, PaddedTag, RegistryProfile,
    WideInteger,
};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{from_value, json};

#[test]
fn a_label_is_a_lower_case_letter_and_what_follows_it() {
    let longest = "a".repeat(LABEL_MAX);
    for label in [
        "a",
        "desk",
        "a-1",
        "z9",
        "contract-gail",
        &longest,
        "unlabelled:0xAB",
    ] {
        assert_eq!(from_value::<Actor>(json!(label)).unwrap().0, label);
        assert_eq!(from_value::<Agent>(json!(label)).unwrap().0, label);
    }
    let longer = "a".repeat(LABEL_MAX + 1);
    for label in ["", "1a", "-a", "Desk", "dEsk", "a_b", "a b", "é", &longer] {
        let fault = from_value::<Actor>(json!(label)).unwrap_err().to_string();
        let words = format!("`{label}` is not a label: a lower-case letter, then");
        assert!(fault.starts_with(&words), "{fault}");
    }
}

#[test]
fn contract_accounts_are_known_by_their_labels() {
    for (label, is_contract, refuses_tokens) in [
        ("contract-gail", true, false),
        ("contract-closed-vera", true, true),
        ("contractor", false, false),
        ("closed-vera", false, false),
    ] {
        let actor = Actor::from(label);
        assert_eq!(actor.is_contract(), is_contract, "{label}");
        assert_eq!(actor.refuses_tokens(), refuses_tokens, "{label}");
    }
}

fn reads<T: Serialize + DeserializeOwned>(good: &[&str], bad: &[(&str, &str)]) {
    for text in good {
        let value: T = from_value(json!(text)).unwrap();
        assert_eq!(json!(value), json!(text));
    }
    for (text, words) in bad {
        let fault = from_value::<T>(json!(text)).err().unwrap().to_string();
        assert!(fault.contains(words), "{text}: {fault}");
    }
}

#[test]
fn texts_of_bytes_and_integers_have_one_form() {
    let word = format!("0x{}", "1f".repeat(32));
    let upper = word.replace('f', "F");
    let not_a_word = "is not 0x and 64 lower-case hex digits";
    let short = &word[..64];
    reads::<Bytes32>(
        &[&word],
        &[
            (&upper, not_a_word),
            (short, not_a_word),
            (&word[2..], not_a_word),
        ],
    );
    let not_bytes = "is not 0x and pairs of lower-case hex digits";
    reads::<Bytes>(
        &["0x", "0x00ff"],
        &[("0x0", not_bytes), ("00", not_bytes), ("0xFF", not_bytes)],
    );
    let no_text = format!("0xff{}", "0".repeat(62)); // no text begins so
    let longer = "t".repeat(33);
    reads::<PaddedTag>(&["", "defi", "é", &no_text], &[(&longer, "33")]);
    let largest = i128::MAX.to_string();
    let beyond = format!("{largest}0");
    reads::<Integer>(
        &["0", "-1", &largest],
        &[
            (&beyond, "is not a signed 128-bit integer"),
            ("x", "is not a signed 128-bit integer"),
        ],
    );
    reads::<WideInteger>(
        &["0", "-1", &beyond],
        &[("x", "is not a signed 256-bit integer")],
    );
    assert!(PaddedTag::default().is_empty());
    assert!(!"defi".parse::<PaddedTag>().unwrap().is_empty());
}

#[test]
fn values_print_as_they_are_written() {
    let word = Bytes32([0xab; 32]);
    let text = format!("0x{}", "ab".repeat(32));
    assert_eq!(
        (word.to_string(), format!("{word:?}")),
        (text.clone(), text)
    );
    assert_eq!(Bytes(vec![1, 2]).to_string(), "0x0102");
    assert_eq!("defi".parse::<PaddedTag>().unwrap().to_string(), "defi");
    assert_eq!(Integer(-5).to_string(), "-5");
    assert_eq!("-7".parse::<WideInteger>().unwrap().to_string(), "-7");
    assert_eq!(Chain::ALL.map(|it| it.to_string()), ["evm", "svm"]);
    let profiles = RegistryProfile::ALL.map(|it| format!("{it:<10}|"));
    let expected = ["identity  |", "open      |", "authorized|", "validation|"];
    assert_eq!(profiles, expected);
    assert_eq!(Agent::from("desk").to_string(), "desk");
}
