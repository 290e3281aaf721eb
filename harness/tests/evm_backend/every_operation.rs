//! A list written by hand: every operation that EVM has, accepted and refused.
use super::{anvil, play, revm};
use concord_harness::{
    backend::Backend,
    model::{Actor, Operation},
};
use serde_json::{Value, json};

fn operation(value: Value) -> Operation {
    serde_json::from_value(value).expect("an operation")
}

fn authorization(form: &str, tamper: Value) -> Value {
    json!({"signer": "alice", "agent": "bot", "client": "carol", "index_limit": 100,
           "expiry": 1000, "form": form, "tamper": tamper})
}

fn feedback(authorization: Value) -> Value {
    json!({"give_feedback": {"agent": "bot", "by": "carol", "score": 88, "tag1": "fast",
        "tag2": format!("0x{}", "ff".repeat(32)), "uri": "ipfs://f",
        "hash": format!("0x{}", "11".repeat(32)), "authorization": authorization}})
}

fn open(by: &str, value: &str, decimals: u8, tag1: &str) -> Value {
    json!({"give_open_feedback": {"agent": "bot", "by": by, "value": value,
        "decimals": decimals, "tag1": tag1, "tag2": "zwei\u{0}", "endpoint": "https://e",
        "uri": "ipfs://o", "hash": format!("0x{}", "22".repeat(32))}})
}

fn wallet(wallet: Value, consent: Value) -> Value {
    json!({"set_agent_wallet": {"agent": "bot", "by": "alice", "wallet": wallet, "consent": consent}})
}

fn consent(signer: &str, wallet: &str, owner: &str, deadline: u64) -> Value {
    json!({"signer": signer, "agent": "bot", "wallet": wallet, "owner": owner, "deadline": deadline})
}

fn response(operation: &str, index: u64, uri: &str) -> Value {
    json!({operation: {"agent": "bot", "by": "dave", "client": "carol", "index": index,
        "uri": uri, "hash": format!("0x{}", "33".repeat(32))}})
}

fn request(by: &str, validator: Value, hash: &str) -> Value {
    json!({"validation_request": {"agent": "bot", "by": by, "validator": validator,
        "request": format!("0x{}", hash.repeat(32)), "uri": "ipfs://v"}})
}

fn answer(by: &str, hash: &str, score: u8, tag: &str) -> Value {
    json!({"validation_response": {"agent": "bot", "validator": "erin", "by": by,
        "request": format!("0x{}", hash.repeat(32)), "score": score, "uri": "ipfs://a",
        "hash": format!("0x{}", "44".repeat(32)), "tag": tag}})
}

fn identity() -> Vec<Value> {
    vec![
        json!({"register": {"agent": "plain", "by": "bob", "uri": ""}}),
        json!({"register": {"agent": "refused", "by": "bob", "uri": "",
            "metadata": [{"key": "agentWallet", "value": "0x00"}]}}),
        json!({"register": {"agent": "bot", "by": "alice", "uri": "https://bot",
            "metadata": [{"key": "name", "value": "0x01"}, {"key": "", "value": "0x"},
                         {"key": "name", "value": "0x02ff"}]}}),
        json!({"set_agent_uri": {"agent": "bot", "by": "alice", "uri": "https://new"}}),
        json!({"set_agent_uri": {"agent": "bot", "by": "bob", "uri": "https://stolen"}}),
        json!({"set_agent_uri": {"agent": "nobody", "by": "bob", "uri": ""}}),
        json!({"set_metadata": {"agent": "bot", "by": "alice", "key": "color", "value": "0xabcd"}}),
        json!({"set_metadata": {"agent": "bot", "by": "alice", "key": "color", "value": "0x"}}),
        json!({"set_metadata": {"agent": "bot", "by": "alice", "key": "agentWallet", "value": "0x"}}),
        json!({"set_metadata": {"agent": "bot", "by": "bob", "key": "color", "value": "0x"}}),
        wallet(json!(null), json!(null)),
        wallet(json!("dave"), json!(null)),
        wallet(json!("dave"), consent("dave", "dave", "alice", 500)),
        wallet(json!("dave"), consent("dave", "dave", "alice", 1)),
        wallet(json!("dave"), consent("erin", "dave", "alice", 100)),
        wallet(json!("dave"), consent("dave", "erin", "alice", 100)),
        wallet(json!("dave"), consent("dave", "dave", "bob", 100)),
        wallet(json!("dave"), consent("dave", "dave", "alice", 100)),
        wallet(json!("dave"), consent("dave", "dave", "alice", 100)),
        json!({"unset_agent_wallet": {"agent": "bot", "by": "bob"}}),
        json!({"unset_agent_wallet": {"agent": "bot", "by": "alice"}}),
        json!({"approve": {"agent": "bot", "by": "bob", "operator": "bob"}}),
        json!({"approve": {"agent": "bot", "by": "alice", "operator": "bob"}}),
        json!({"set_agent_uri": {"agent": "bot", "by": "bob", "uri": "https://approved"}}),
        json!({"approve": {"agent": "bot", "by": "alice", "operator": null}}),
        json!({"set_agent_uri": {"agent": "bot", "by": "bob", "uri": "https://no-more"}}),
        json!({"set_operator": {"by": "alice", "operator": "erin", "approved": true}}),
        json!({"set_metadata": {"agent": "bot", "by": "erin", "key": "op", "value": "0x01"}}),
        json!({"set_operator": {"by": "alice", "operator": "erin", "approved": false}}),
        json!({"set_metadata": {"agent": "bot", "by": "erin", "key": "op", "value": "0x02"}}),
        json!({"burn": {"agent": "bot", "by": "alice"}}),
        json!({"set_auth_schemes": {"agent": "bot", "by": "alice", "schemes": 3}}),
    ]
}

fn reputation() -> Vec<Value> {
    let mut steps = vec![feedback(json!(null))];
    for form in ["bounded", "draft_v1", "x84"] {
        steps.push(feedback(authorization(form, json!(null))));
        for tamper in [
            "wrong_chain",
            "wrong_registry",
            "corrupt_signature",
            "malleate_signature",
            "empty",
            "truncated",
            "extended",
            "dirty",
        ] {
            steps.push(feedback(authorization(form, json!(tamper))));
        }
        steps.push(feedback(authorization(form, json!({"signed_by": "bob"}))));
        steps.push(feedback(authorization(form, json!({"signed_by": "alice"}))));
    }
    steps.extend([
        json!({"summary": {"agent": "bot"}}),
        json!({"summary": {"agent": "nobody"}}),
        response("append_response", 1, "ipfs://r"),
        response("append_response", 1, "ipfs://again"),
        response("append_response", 1, ""),
        response("append_response", 0, ""),
        response("append_response", 9, "ipfs://r"),
        json!({"revoke_feedback": {"agent": "bot", "by": "carol", "index": 2}}),
        json!({"revoke_feedback": {"agent": "bot", "by": "carol", "index": 2}}),
        json!({"revoke_feedback": {"agent": "nobody", "by": "carol", "index": 1}}),
        response("append_response", 2, "ipfs://revoked"),
        open("carol", "-320", 2, "speed"),
        open("carol", "100000000000000000000000000000000000000", 0, "x"),
        open("carol", "100000000000000000000000000000000000001", 0, "x"),
        open("carol", "-170141183460469231731687303715884105728", 18, "x"),
        open("dave", "7", 19, "x"),
        open("dave", "7", 18, ""),
        open("dave", "95", 0, "speed"),
        open("alice", "1", 0, ""),
        json!({"revoke_open_feedback": {"agent": "bot", "by": "dave", "index": 1}}),
        json!({"revoke_open_feedback": {"agent": "bot", "by": "dave", "index": 1}}),
        json!({"revoke_open_feedback": {"agent": "bot", "by": "dave", "index": 9}}),
        response("append_open_response", 2, "ipfs://r"),
        response("append_open_response", 3, "ipfs://r"),
        response("append_open_response", 2, ""),
    ]);
    let summary = |clients: &[&str], tag1: &str| json!({"open_summary": {"agent": "bot", "clients": clients, "tag1": tag1}});
    steps.extend([
        summary(&[], ""),
        summary(&["dave"], ""),
        summary(&["carol", "dave", "dave"], ""),
        summary(&["carol", "dave"], "speed"),
        summary(&["erin"], ""),
    ]);
    steps
}

fn validation() -> Vec<Value> {
    vec![
        request("alice", json!(null), "aa"),
        request("bob", json!("erin"), "aa"),
        request("alice", json!("erin"), "aa"),
        request("alice", json!("dave"), "aa"),
        request("alice", json!("alice"), "00"),
        answer("erin", "bb", 1, ""),
        answer("dave", "aa", 1, ""),
        answer("erin", "aa", 101, ""),
        answer("erin", "aa", 0, ""),
        answer("erin", "aa", 80, "final, thirty-two bytes long ü."),
        json!({"transfer": {"agent": "bot", "by": "bob", "to": "bob"}}),
        json!({"transfer": {"agent": "nobody", "by": "bob", "to": "bob"}}),
        json!({"transfer": {"agent": "bot", "by": "alice", "to": "alice"}}),
        json!({"transfer": {"agent": "bot", "by": "alice", "to": "frank"}}),
        feedback(authorization("bounded", json!(null))),
        request("alice", json!("erin"), "cc"),
    ]
}

/// What only Solana has, in the order of its names.
const ABSENT: [&str; 3] = ["burn", "give_feedback", "set_auth_schemes"];

#[test]
fn every_operation_on_anvil_comes_to_what_the_model_says() {
    check_every_operation(&mut anvil());
}

#[test]
fn every_operation_in_revm_comes_to_what_the_model_says() {
    check_every_operation(&mut revm());
}

pub fn check_every_operation(backend: &mut dyn Backend) {
    let values = [identity(), reputation(), validation()].concat();
    let steps: Vec<_> = (1..).zip(values.into_iter().map(operation)).collect();
    let labels = ["alice", "bob", "carol", "dave", "erin", "frank"];
    let actors = labels.map(Actor::from);
    let absent: std::collections::BTreeSet<_> = steps
        .iter()
        .filter(|(_, operation)| !backend.supports(operation))
        .map(|(_, operation)| operation.name())
        .collect();
    assert!(absent.into_iter().eq(ABSENT));
    let verdicts = play(backend, &actors, &steps);
    let is_refused_and_done = |name| {
        let of_name = verdicts.keys().filter(|(operation, _)| *operation == name);
        of_name.clone().any(|(_, verdict)| verdict == "ok")
            && (of_name.count() > 1 || ["summary", "set_operator"].contains(&name))
    };
    let names: std::collections::BTreeSet<_> = verdicts.keys().map(|(name, _)| *name).collect();
    assert_eq!(names.len(), 18);
    for name in names {
        assert!(is_refused_and_done(name), "{name}: {verdicts:?}");
    }
}
