use super::*;

#[test]
fn x84_paid_feedback_weighs_three_times() {
    let score = |paid: [u64; 2], unpaid: [u64; 2]| {
        json!({
            "fn": "weighted_score",
            "verified_count": paid[0].to_string(), "verified_score_sum": paid[1].to_string(),
            "unverified_count": unpaid[0].to_string(), "unverified_score_sum": unpaid[1].to_string(),
        })
    };
    expect_ok(score([1, 90], [1, 50]), json!("80")); // (3·90 + 50) / 4
    expect_ok(score([2, 200], [3, 100]), json!("77")); // 700 / 9
    expect_ok(score([0, 0], [0, 0]), json!("0"));
}

#[test]
fn bp_stars_and_tags_are_those_of_its_tables() {
    expect_ok(json!({"fn": "stars_to_value", "stars": 4}), json!(80));
    expect_ok(json!({"fn": "stars_of_value", "value": 80}), json!(4));
    expect_ok(json!({"fn": "stars_of_value", "value": 81}), json!(null));
    expect_class(
        json!({"fn": "stars_to_value", "stars": 0}),
        "NumberOutOfRange",
    );
    expect_ok(
        json!({"fn": "standard_tag", "name": "uptime"}),
        json!({"measures": "endpoint uptime", "unit": "%", "decimals": 2, "range": "0 to 100", "tag2": []}),
    );
    let value = |value: i64| json!({"fn": "standard_tag_value", "name": "uptime", "value": value, "value_decimals": 2});
    expect_ok(value(9977), json!(true));
    expect_class(value(10_001), "ValueOutOfRange");
    let message = expect_class(json!({"fn": "standard_tag", "name": "speed"}), "BadRequest");
    assert!(message.contains("starred, reachable"), "{message}");
    expect_ok(
        json!({"fn": "x402_tag", "tag1": "x402-payment-amount", "tag2": "mismatch"}),
        json!("the agent asked for another amount than it declared"),
    );
}

#[test]
fn bp_feedback_ids_count_from_the_base_that_is_named() {
    let text = "84532:42:0x742d35Cc6634C0532925a3b844Bc454e4438f44e:0";
    let asked = json!({"fn": "feedback_id", "text": text, "base": 0, "target": 1});
    expect_ok(
        asked.clone(),
        json!({
            "agent_id": "84532:42", "client": "0x742d35Cc6634C0532925a3b844Bc454e4438f44e",
            "index": "1", "text": "84532:42:0x742d35Cc6634C0532925a3b844Bc454e4438f44e:1",
        }),
    );
    expect_class(with(&asked, json!({"base": 1})), "MalformedFeedbackId");
    let message = expect_class(with(&asked, json!({"target": 2})), "BadRequest");
    assert_eq!(message, "target must be 0 or 1");
}

#[test]
fn r23_a_public_key_has_one_form() {
    let key = "79BE667EF9DCBBAC55A06295CE870B07029BFCDB2DCE28D959F2815B16F81798";
    let asked = json!({"fn": "public_key", "text": format!("02{key}")});
    expect_ok(asked, json!(format!("0x02{}", key.to_lowercase())));
    expect_class(json!({"fn": "public_key", "text": key}), "MalformedKey");
}
