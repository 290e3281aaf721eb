//! What every operation says of itself.
use super::*;
use concord_harness::model::{Actor, RegistryProfile};
use serde_json::{Value, json};

/// An operation as a scenario has it, its profile, and the only chain that has it with the number of
/// that declared variance.
type Case = (Value, RegistryProfile, Option<(Chain, u8)>);

/// Operations in the order of `Operation::NAMES`, sent by `bob` and about `desk` where they can be.
fn every_operation() -> Vec<Case> {
    use RegistryProfile::{Authorized, Identity, Open, Validation};
    let evm = |kind| Some((Chain::Evm, kind));
    let svm = |kind| Some((Chain::Svm, kind));
    let hash = Bytes32([7; 32]);
    let payment = json!({"facilitator": "fay", "agent": "desk", "payer": "bob", "payee": "alice",
        "token": "usdc", "amount": 1, "task": "t", "expiry": 9});
    let entry = |index: &str| {
        let mut entry = json!({"agent": "desk", "by": "bob"});
        entry[index] = json!(1);
        entry
    };
    let response = json!({"agent": "desk", "by": "bob", "client": "carol", "index": 1, "uri": "u"});
    let own = json!({"agent": "desk", "by": "bob"});
    let with = |member: &str, value: Value| {
        let mut operation = own.clone();
        operation[member] = value;
        operation
    };
    vec![
        (json!({"register": with("uri", json!(""))}), Identity, None),
        (
            json!({"set_agent_uri": with("uri", json!(""))}),
            Identity,
            None,
        ),
        (
            json!({"set_metadata": {"agent": "desk", "by": "bob", "key": "k", "value": "0x"}}),
            Identity,
            None,
        ),
        (
            json!({"set_agent_wallet": with("wallet", json!("vera"))}),
            Identity,
            None,
        ),
        (json!({ "unset_agent_wallet": own }), Identity, None),
        (
            json!({"transfer": with("to", json!("vera"))}),
            Identity,
            None,
        ),
        (json!({ "burn": own }), Identity, svm(7)),
        (
            json!({"approve": with("operator", json!("vera"))}),
            Identity,
            evm(6),
        ),
        (
            json!({"set_operator": {"by": "bob", "operator": "vera", "approved": true}}),
            Identity,
            evm(6),
        ),
        (
            json!({"set_feedback_authority": with("authority", json!("vera"))}),
            Authorized,
            svm(6),
        ),
        (
            json!({"set_auth_schemes": with("schemes", json!(1))}),
            Authorized,
            svm(6),
        ),
        (
            json!({"list_payment_token": {"by": "bob", "token": "usdc", "listed": true}}),
            Authorized,
            svm(4),
        ),
        (
            json!({"list_facilitator": {"by": "bob", "facilitator": "fay", "listed": true}}),
            Authorized,
            svm(4),
        ),
        (
            json!({"propose_registry_authority": {"by": "bob", "successor": "vera"}}),
            Authorized,
            svm(4),
        ),
        (
            json!({"accept_registry_authority": {"by": "bob"}}),
            Authorized,
            svm(4),
        ),
        (
            json!({"give_feedback": with("score", json!(1))}),
            Authorized,
            None,
        ),
        (json!({"revoke_feedback": entry("index")}), Authorized, None),
        (json!({ "append_response": response }), Authorized, None),
        (
            json!({"attach_payment_proof": {"agent": "desk", "by": "bob", "client": "carol",
                "index": 1, "payment": payment}}),
            Authorized,
            svm(4),
        ),
        (json!({"summary": {"agent": "desk"}}), Authorized, None),
        (
            json!({"give_open_feedback": with("value", json!("1"))}),
            Open,
            None,
        ),
        (json!({"revoke_open_feedback": entry("index")}), Open, None),
        (json!({ "append_open_response": response }), Open, None),
        (
            json!({"open_summary": {"agent": "desk", "clients": []}}),
            Open,
            None,
        ),
        (
            json!({"validation_request": {"agent": "desk", "by": "bob", "validator": "vera", "request": hash}}),
            Validation,
            None,
        ),
        (
            json!({"validation_response": {"agent": "desk", "validator": "vera", "by": "bob", "request": hash, "score": 1}}),
            Validation,
            None,
        ),
    ]
}

/// Of the registry as a whole, or of an owner: about no agent.
const WITHOUT_AGENT: [&str; 5] = [
    "set_operator",
    "list_payment_token",
    "list_facilitator",
    "propose_registry_authority",
    "accept_registry_authority",
];
const READS: [&str; 2] = ["summary", "open_summary"];
const REVIEWS: [&str; 3] = ["give_feedback", "revoke_feedback", "append_response"];
const OPEN_REVIEWS: [&str; 3] = [
    "give_open_feedback",
    "revoke_open_feedback",
    "append_open_response",
];

#[test]
fn every_operation_names_its_parts() {
    let all = every_operation();
    let names: Vec<_> = all
        .iter()
        .map(|(json, ..)| json.as_object().unwrap().keys().next().unwrap().clone())
        .collect();
    assert_eq!(names, Operation::NAMES);
    for (name, (json, profile, absence)) in names.iter().map(String::as_str).zip(all) {
        let operation: Operation = serde_json::from_value(json).unwrap();
        assert_eq!(operation.name(), name);
        let is_read = READS.contains(&name);
        assert_eq!(operation.is_read(), is_read, "{name}");
        let bob = (!is_read).then(|| Actor::from("bob"));
        assert_eq!(operation.by().cloned(), bob, "{name}");
        let desk = (!WITHOUT_AGENT.contains(&name)).then(|| Agent::from("desk"));
        assert_eq!(operation.agent().cloned(), desk, "{name}");
        assert_eq!(operation.profile(), profile, "{name}");
        assert_eq!(Operation::profile_of(name), Some(profile), "{name}");
        let found = operation.absence().map(|(only, kind, _)| (only, kind));
        assert_eq!(found, absence, "{name}");
        assert_eq!(operation.only_on(), absence.map(|(only, _)| only), "{name}");
        let is_authorized = REVIEWS.contains(&name) || name == "summary";
        assert_eq!(
            operation.is_of_the_authorized_profile(),
            is_authorized,
            "{name}"
        );
        let is_open = OPEN_REVIEWS.contains(&name) || name == "open_summary";
        assert_eq!(operation.is_of_the_open_profile(), is_open, "{name}");
    }
    assert_eq!(Operation::profile_of("mint"), None);
}

/// R10: alone in X84's form.
#[test]
fn feedback_in_the_form_of_x84_exists_on_solana_only() {
    for (form, only) in [
        (Form::X84, Some(Chain::Svm)),
        (Form::Bounded, None),
        (Form::DraftV1, None),
    ] {
        let sent = Authorization { form, ..granted() };
        let given = Operation::GiveFeedback(Box::new(feedback("bob", 1, Some(sent))));
        assert_eq!(given.only_on(), only);
    }
}
