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

#[test]
fn r16_the_entry_that_breaks_a_bound_is_named() {
    let feedback = [entry("a", json!(1), 0), entry("b", json!(1), 19)];
    let message = expect_class(request(&feedback, json!(["a"])), "DecimalsOutOfRange");
    assert!(message.starts_with("feedback[1]: "), "{message}");
}

#[test]
fn r16_an_address_is_one_client_with_0x_or_without() {
    let bare = CLIENT.trim_start_matches("0x");
    for (given, listed) in [(bare, CLIENT), (CLIENT, bare), (bare, bare)] {
        let feedback = [entry(given, json!(5), 0)];
        expect_ok(request(&feedback, json!([listed])), answer(1, "5", 0));
    }
}

#[test]
fn r16_parts_add_up_to_the_summary_of_everything() {
    // 99.77 and 100.5 and -3, at 18 decimals.
    let wad = |value: i128, decimals: u32| value * 10i128.pow(18 - decimals);
    let feedback = [
        entry("a", json!(9977), 2),
        entry("b", json!(1005), 1),
        entry("b", json!(-3), 0),
    ];
    let part = |client: &str| {
        let asked = with(
            &request(&feedback, json!([client])),
            json!({"fn": "summary_part"}),
        );
        ask(&asked)["ok"].clone()
    };
    let (a, b) = (part("a"), part("b"));
    assert_eq!(a["sum"], wad(9977, 2).to_string());
    assert_eq!(b["sum"], (wad(1005, 1) + wad(-3, 0)).to_string());
    assert_eq!((&a["count"], &b["count"]), (&json!("1"), &json!("2")));
    let histogram = |at: &[usize]| -> Value {
        let count = |place| if at.contains(&place) { "1" } else { "0" };
        (0..19).map(|place| json!(count(place))).collect()
    };
    assert_eq!(a["histogram"], histogram(&[2]));
    assert_eq!(b["histogram"], histogram(&[0, 1]));

    // (99.77 + 100.5 - 3) / 3 = 65.75…; one of each number of decimals, so the fewest.
    let merged = ask(&json!({"fn": "summary_merge", "parts": [a, b]}));
    let merged = &merged["ok"];
    assert_eq!(merged["part"]["histogram"], histogram(&[0, 1, 2]));
    let summary = (
        &merged["count"],
        &merged["value"],
        &merged["value_decimals"],
    );
    assert_eq!(summary, (&json!("3"), &json!("65"), &json!(0)));
}

#[test]
fn r16_refuses_parts_that_no_feedback_makes() {
    let histogram: Vec<_> = (0..19).map(|_| "0").collect();
    let part = json!({"sum": "0", "count": "0", "histogram": histogram});
    for (change, class) in [
        (json!({"sum": "1"}), "BadRequest"),
        (json!({"sum": "-1"}), "BadRequest"),
        (json!({"count": "1"}), "BadRequest"),
        (json!({"histogram": ["0"]}), "BadRequest"),
        (json!({"count": "18446744073709551616"}), "NumberOutOfRange"),
        (
            json!({"sum": "57896044618658097711785492504343953926634992332820282019728792003956564819968"}),
            "NumberOutOfRange",
        ),
    ] {
        let wrong = with(&part, change);
        expect_class(
            json!({"fn": "summary_merge", "parts": [part.clone(), wrong]}),
            class,
        );
    }
    let least = "-57896044618658097711785492504343953926634992332820282019728792003956564819968";
    let message = expect_class(
        json!({"fn": "summary_merge", "parts": [with(&part, json!({"sum": least}))]}),
        "BadRequest",
    );
    assert!(message.starts_with("parts[0]: "), "{message}");
}
