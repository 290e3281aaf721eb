use super::*;

fn entry(client: &str, value: Value, decimals: u16) -> Value {
    json!({
        "client": client, "value": value, "value_decimals": decimals,
        "tag1": "starred", "tag2": "", "revoked": false,
    })
}

fn request(feedback: &[Value], clients: Value) -> Value {
    json!({
        "fn": "summary", "feedback": feedback,
        "query": {"clients": clients, "tag1": "", "tag2": ""},
    })
}

fn answer(count: u64, value: &str, decimals: u8) -> Value {
    json!({"count": count, "value": value, "value_decimals": decimals})
}

#[test]
fn r16_equals_the_canonical_contracts_answers() {
    // Run against the canonical contract 2.0.0 (facts on EVM, 1.5).
    let yields = [entry("a", json!(-32), 1), entry("b", json!("-31"), 1)];
    expect_ok(request(&yields, json!(["a", "b"])), answer(2, "-31", 1));
    let uptimes = [entry("a", json!(9977), 2), entry("b", json!(100), 0)];
    expect_ok(request(&uptimes, json!(["a", "b"])), answer(2, "99", 0));
    expect_ok(request(&uptimes, json!(["a", "a"])), answer(2, "9977", 2));
    expect_ok(request(&uptimes, json!(["c"])), answer(0, "0", 0));
}

#[test]
fn r16_addresses_are_one_client_in_either_case() {
    let feedback = [entry(CLIENT, json!(5), 0)];
    let listed = json!([CLIENT.to_lowercase()]);
    expect_ok(request(&feedback, listed), answer(1, "5", 0));
    expect_ok(
        request(&[entry("Ab", json!(5), 0)], json!(["ab"])),
        answer(0, "0", 0),
    );
}

#[test]
fn r16_refuses_no_clients_and_values_out_of_bounds() {
    let one = [entry("a", json!(1), 0)];
    expect_class(request(&one, json!([])), "EmptyClients");
    let beyond = "100000000000000000000000000000000000001";
    let refused = [
        (entry("a", json!(1), 19), "DecimalsOutOfRange"),
        (entry("a", json!(1), 256), "DecimalsOutOfRange"),
        (entry("a", json!(beyond), 0), "ValueOutOfRange"),
        (
            entry("a", json!(format!("-{beyond}")), 0),
            "ValueOutOfRange",
        ),
        (entry("a", json!("x"), 0), "BadRequest"),
        (with(&one[0], json!({"revoked": 0})), "BadRequest"),
        (with(&one[0], json!({"tag2": null})), "BadRequest"),
        (with(&one[0], json!({"endpoint": ""})), "BadRequest"),
        (json!(1), "BadRequest"),
    ];
    for (entry, class) in refused {
        expect_class(request(&[one[0].clone(), entry], json!(["a"])), class);
    }
    let message = expect_class(request(&[json!(1)], json!(["a"])), "BadRequest");
    assert_eq!(message, "feedback[0] is a number, must be an object");
    let message = expect_class(request(&one, json!([1])), "BadRequest");
    assert_eq!(message, "query: clients[0] is a number, must be a string");
}
