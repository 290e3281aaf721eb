//! Files against the entries on chain that refer to them.

use concord_canonical::{tag::Tag, value::Value};
use concord_files::{
    Difference, FeedbackFile, HashScheme, OnChainEntry, OnChainRating, Parsed, parse_feedback,
};

const REGISTRY: &str = "eip155:84532:0x8004A818BFB912233c491871b3d84c89A494BD9e";
const CLIENT: &str = "eip155:84532:0x70997970C51812dc3A010C7d01b50e0d17dc79C8";

fn open_file() -> Parsed<FeedbackFile> {
    let text = format!(
        r#"{{"agentRegistry":"{REGISTRY}","agentId":42,"clientAddress":"{CLIENT}","createdAt":"2025-09-23T12:00:00Z",
            "value":9977,"valueDecimals":2,"tag1":"uptime","endpoint":"https://agent.example"}}"#
    );
    parse_feedback(text.as_bytes()).expect("a file")
}

fn open_entry(hash: [u8; 32]) -> OnChainEntry<'static> {
    OnChainEntry {
        agent_registry: REGISTRY,
        agent_id: "42",
        client_address: CLIENT,
        rating: OnChainRating::Open {
            value: Value::new(9977, 2).expect("in range"),
            tag1: "uptime",
            tag2: "",
            endpoint: "https://agent.example",
        },
        feedback_hash: hash,
    }
}

fn fields(differences: &[Difference]) -> Vec<&str> {
    differences
        .iter()
        .map(|difference| difference.field)
        .collect()
}

#[test]
fn a_file_matches_its_own_entry() {
    let file = open_file();
    assert!(file.matches(&open_entry(file.hash())));
    let mut entry = open_entry(file.hash());
    let lower = [REGISTRY, CLIENT].map(str::to_lowercase);
    entry.agent_registry = &lower[0];
    entry.client_address = &lower[1];
    assert!(file.matches(&entry), "EVM addresses have no case");
}

#[test]
fn every_statement_is_compared() {
    let file = open_file();
    let hash = file.hash();
    let other_value = OnChainRating::Open {
        value: Value::new(99770, 3).expect("in range"),
        tag1: "reachable",
        tag2: "week",
        endpoint: "",
    };
    let entry = OnChainEntry {
        agent_registry: "eip155:8453:0x8004A818BFB912233c491871b3d84c89A494BD9e",
        agent_id: "43",
        client_address: "eip155:84532:0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266",
        rating: other_value,
        feedback_hash: [1; 32],
    };
    let differences = file.differences(&entry);
    assert_eq!(
        fields(&differences),
        [
            "agentRegistry",
            "agentId",
            "clientAddress",
            "value",
            "valueDecimals",
            "tag1",
            "tag2",
            "endpoint",
            "feedbackHash"
        ]
    );
    let silent = differences
        .iter()
        .filter(|difference| difference.in_file.is_none());
    assert_eq!(
        fields(&silent.cloned().collect::<Vec<_>>()),
        ["tag2"],
        "the file names no tag2"
    );
    assert_eq!(differences[3].in_file.as_deref(), Some("9977"));
    assert_eq!(differences[3].on_chain, "99770");
    assert!(file.differences(&open_entry(hash)).is_empty());
}

#[test]
fn r21_a_hash_of_a_known_scheme_is_no_difference_and_neither_is_none() {
    let file = open_file();
    for scheme in HashScheme::ALL {
        let hash = scheme.hash(file.original().as_bytes()).expect("JSON");
        assert!(file.matches(&open_entry(hash)), "{}", scheme.name());
    }
    assert!(file.matches(&open_entry([0; 32])));
    let differences = file.differences(&open_entry([7; 32]));
    assert_eq!(fields(&differences), ["feedbackHash"]);
}

#[test]
fn r37_ids_are_compared_as_exact_decimals() {
    let text = open_file()
        .original()
        .replace("\"agentId\":42", "\"agentId\":\"42\"");
    let file = parse_feedback(text.as_bytes()).expect("a file");
    assert!(file.matches(&open_entry(file.hash())));
    let large = "115792089237316195423570985008687907853269984665640564039457584007913129639935";
    let text = open_file()
        .original()
        .replace("\"agentId\":42", &format!("\"agentId\":\"{large}\""));
    let file = parse_feedback(text.as_bytes()).expect("a file");
    let entry = OnChainEntry {
        agent_id: large,
        ..open_entry(file.hash())
    };
    assert!(file.matches(&entry));
}

#[test]
fn r14_authorized_tags_match_in_either_encoding() {
    let text = format!(
        r#"{{"agentRegistry":"{REGISTRY}","agentId":42,"clientAddress":"{CLIENT}","createdAt":"2025-09-23T12:00:00Z","score":87,"tag1":"defi"}}"#
    );
    let file = parse_feedback(text.as_bytes()).expect("a file");
    let defi = Tag::new("defi").expect("a tag");
    let entry = |score, tag1| OnChainEntry {
        rating: OnChainRating::Authorized {
            score,
            tag1,
            tag2: [0; 32],
        },
        ..open_entry(file.hash())
    };
    assert!(file.matches(&entry(87, defi.padded())));
    assert!(file.matches(&entry(87, defi.hashed())));
    assert_eq!(
        fields(&file.differences(&entry(88, [9; 32]))),
        ["score", "tag1"]
    );
    assert_eq!(
        fields(&file.differences(&open_entry(file.hash()))),
        ["score", "tag1", "endpoint"]
    );
    assert_eq!(
        fields(&open_file().differences(&OnChainEntry {
            feedback_hash: [0; 32],
            ..entry(87, [0; 32])
        })),
        ["value", "tag1"]
    );
}
