//! What a state shows, and its digest.
use super::*;
use concord_harness::model::{
    CanonicalState, Referee, Response, SetMetadata, ValidationRequest, first_difference,
};
use serde_json::json;

#[test]
fn a_refused_operation_changes_the_time_and_a_read_not_even_that() {
    let mut model = registered(Chain::Evm);
    let before = model.state().clone();
    summary(&mut model);
    assert_eq!(*model.state(), before);
    model.apply(&transfer("mallory", "bob"), 9);
    assert_eq!(*model.state(), CanonicalState { time: 9, ..before });
}

/// Digests of two states, made with npm's `canonicalize` 5.1.0 and `@noble/hashes` 2.4.0 from the
/// JSON that `CanonicalState` documents.
#[test]
fn digests_equal_those_of_other_implementations() {
    let empty = "0xcb7b6e1cd00b2b930aeb229b9708a780bbb8e5cc8e9e293a95601f8593328fb6";
    assert_eq!(Model::new(Chain::Evm).state().digest().to_string(), empty);
    let expected = json!({
        "time": 13,
        "agents": { "desk": {
            "owner": "alice", "uri": "https://a.example", "wallet": "alice",
            "metadata": { "k": "0x0102" },
            "authorized": {
                "count": 0, "sum": 0, "average": 0, "clients": ["bob"],
                "entries": { "bob": [{
                    "score": 95, "tag1": "defi", "tag2": format!("0xff{}", "0".repeat(62)),
                    "time": 7, "revoked": true, "responses": 0,
                }] },
            },
            "open": {
                "count": 1, "sum": format!("-15{}", "0".repeat(17)), "clients": ["carol"],
                "entries": { "carol": [{
                    "value": "-15", "decimals": 1, "tag1": "uptime", "tag2": "",
                    "revoked": false, "responses": 1,
                }] },
            },
            "validations": {
                "answered": 0,
                "requests": { format!("0x{}", "11".repeat(32)): { "vera": { "time": 13, "answer": null } } },
            },
        } },
    });
    let state = eventful().state().clone();
    assert_eq!(first_difference(&expected, &state.to_json()), None);
    assert_eq!(state.digest().to_string(), EVENTFUL);
    let read: CanonicalState = serde_json::from_value(expected).unwrap();
    assert_eq!(read, state);
}

const EVENTFUL: &str = "0x8c6c62191a27dc4266bddf0f2ab836db1c12e6b63274f7c8a50007e6a21e1319";

/// One of everything that a state shows.
fn eventful() -> Model {
    let mut model = registered(Chain::Svm);
    let mut tagged = feedback("bob", 95, Some(granted()));
    tagged.tag1 = "defi".parse().unwrap();
    tagged.tag2.0[0] = 0xff; // no text begins so
    give(&mut model, tagged, 7);
    let mut open = open_feedback("carol", -15, 1);
    open.tag1 = "uptime".to_owned();
    for (now, operation) in [
        (8, revoke("bob", 1)),
        (9, Operation::GiveOpenFeedback(Box::new(open))),
        (
            10,
            Operation::AppendOpenResponse(Response {
                agent: "desk".into(),
                by: "alice".into(),
                client: "carol".into(),
                index: 1,
                uri: "u".to_owned(),
                hash: Bytes32::default(),
            }),
        ),
        (
            11,
            Operation::SetMetadata(SetMetadata {
                agent: "desk".into(),
                by: "alice".into(),
                key: "k".to_owned(),
                value: "0x0102".parse().unwrap(),
            }),
        ),
        (
            13,
            Operation::ValidationRequest(ValidationRequest {
                agent: "desk".into(),
                by: "alice".into(),
                validator: Some("vera".into()),
                request: Bytes32([0x11; 32]),
                uri: String::new(),
            }),
        ),
    ] {
        expect(&mut model, now, operation, Verdict::Ok);
    }
    model
}

#[test]
fn a_referee_hashes_the_state_that_it_shows() {
    let mut model = Model::new(Chain::Evm);
    let empty = Referee::digest(&model);
    let registered = Referee::apply(&mut model, &register("desk", "alice", ""), 1);
    assert_eq!(registered.verdict, Verdict::Ok);
    let digest = Referee::digest(&model);
    assert_eq!(digest, Referee::state(&model).digest());
    assert_ne!(digest, empty);
}

#[test]
fn the_first_difference_is_found_in_key_order() {
    let left = json!({"a": {"x": 1, "y": [1, 2]}, "b": 1});
    let cases = [
        (
            json!({"a": {"x": 1, "y": [1, 3]}, "b": 2}),
            "$.a.y[1]",
            json!(2),
            json!(3),
        ),
        (
            json!({"a": {"x": 1, "y": [1]}, "b": 1}),
            "$.a.y[1]",
            json!(2),
            json!(null),
        ),
        (
            json!({"a": {"x": 1, "y": [1, 2]}}),
            "$.b",
            json!(1),
            json!(null),
        ),
        (json!({"a": 0, "b": 1}), "$.a", left["a"].clone(), json!(0)),
    ];
    for (right, path, expected, actual) in cases {
        let found = first_difference(&left, &right);
        assert_eq!(found, Some((path.to_owned(), expected, actual)));
    }
    assert_eq!(first_difference(&left, &left.clone()), None);
}
