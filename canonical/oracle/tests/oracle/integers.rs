use super::*;

fn deadline(value: Value) -> Value {
    json!({
        "fn": "agent_wallet_set", "agent_id": 42, "new_wallet": CLIENT, "owner": OWNER,
        "deadline": value, "chain_id": "84532", "verifying_contract": IDENTITY,
    })
}

/// The digest of the facts on EVM, §4, whichever way its integers are written.
#[test]
fn r3_integers_may_be_numbers_or_decimal_strings() {
    let digest = "0x9a48b5a854359f35bcddcd7887db1efa9cc8ef6180ec49a0993d97353baa9247";
    for value in [
        json!(1_760_000_200),
        json!("1760000200"),
        json!(1.7600002e9),
    ] {
        expect_ok(deadline(value), json!({"digest": digest}));
    }
    let bare = with(
        &deadline(json!("1760000200")),
        json!({
            "new_wallet": CLIENT[2..].to_uppercase(), "verifying_contract": IDENTITY[2..],
        }),
    );
    expect_ok(bare, json!({"digest": digest}));
}

#[test]
fn refuses_integers_outside_their_type() {
    let uint256_max =
        "115792089237316195423570985008687907853269984665640564039457584007913129639935";
    assert!(ask(&deadline(json!(uint256_max)))["ok"].is_object());
    let above = "115792089237316195423570985008687907853269984665640564039457584007913129639936";
    for value in [
        json!(above),
        json!("-1"),
        json!(-1),
        json!(9007199254740992u64),
        json!(0.5),
    ] {
        let message = expect_class(deadline(value), "NumberOutOfRange");
        assert!(message.starts_with("deadline is "), "{message}");
    }
}

#[test]
fn refuses_text_that_is_not_a_decimal_integer() {
    for text in [
        "", "-", "01", "-01", "+1", "0x1", "1e3", "1.0", " 1", "1 ", "١",
    ] {
        let message = expect_class(deadline(json!(text)), "BadRequest");
        assert!(message.starts_with("deadline "), "{message}");
    }
    for value in [json!(true), json!([1]), json!({})] {
        expect_class(deadline(value), "BadRequest");
    }
}

#[test]
fn a_json_number_that_is_too_large_is_told_both_limits() {
    let text = r#"{"fn":"standard_tag_value","name":"uptime","value":100000000000000000000,"value_decimals":0}"#;
    let answer: Value = serde_json::from_str(&oracle::answer(text)).unwrap();
    assert_eq!(answer["error"]["class"], "NumberOutOfRange");
    let message = answer["error"]["message"].as_str().unwrap();
    assert!(message.contains("2^53 - 1"), "{message}");
    assert!(
        message.contains("as a decimal string, an int128"),
        "{message}"
    );
}
