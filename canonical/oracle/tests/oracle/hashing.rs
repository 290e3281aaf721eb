use super::*;

#[test]
fn x402_data_and_interaction_hashes_equal_the_published_ones() {
    expect_ok(
        json!({"fn": "data_hash", "request": "68656c6c6f", "response": "0x776f726c64"}),
        json!(DATA_HASH),
    );
    let request = json!({
        "fn": "interaction_hash", "task_ref": format!("{DEVNET}:sig"), "data_hash": DATA_HASH,
    });
    let hash = json!("0x1a96d2aff32b1fb97537205d4bb9a83bd2314f0322c66c92a516be2c759cc8e7");
    expect_ok(request.clone(), hash.clone());
    expect_ok(
        with(&request, json!({"profile": "x402:8004-reputation:v1"})),
        hash,
    );
    // By Foundry's `cast keccak`.
    expect_ok(
        with(&request, json!({"profile": "x402:reputation:v1"})),
        json!("0x5d136757577b32305c2f96db21e0612820b3b3c87ef43e2302950694495f9dcd"),
    );
    let message = expect_class(with(&request, json!({"profile": "v1"})), "BadRequest");
    assert!(message.contains("x402:8004-reputation:v1"), "{message}");
    expect_class(
        with(&request, json!({"task_ref": "eip155:1"})),
        "MalformedTaskRef",
    );
    let message = expect_class(with(&request, json!({"data_hash": "0x00"})), "BadRequest");
    assert_eq!(message, "data_hash is 1 bytes, must be 32");
}

#[test]
fn r24_request_bytes_are_the_body_or_else_the_target() {
    let request = json!({"fn": "request_bytes", "method": "GET", "target": "/a?b=%20", "body": ""});
    expect_ok(request.clone(), json!("0x2f613f623d253230"));
    expect_ok(with(&request, json!({"body": "0x00ff"})), json!("0x00ff"));
    expect_class(with(&request, json!({"target": ""})), "BadRequest");
}

#[test]
fn r21_jcs_gives_rfc_8785s_own_example() {
    // RFC 8785, section 3.2.2 and 3.2.3.
    let text = r#"{
      "numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
      "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
      "literals": [null, true, false]
    }"#;
    let canonical = "{\"literals\":[null,true,false],\"numbers\":[333333333.3333333,1e+30,4.5,0.002,1e-27],\"string\":\"€$\\u000f\\nA'B\\\"\\\\\\\\\\\"/\"}";
    let answer = ask(&json!({"fn": "jcs", "text": text}));
    assert_eq!(answer["ok"]["canonical"], canonical);
    // `cast keccak '{}'`.
    expect_ok(
        json!({"fn": "jcs", "text": " { } "}),
        json!({"canonical": "{}", "hash": "0xb48d38f93eaa084033fc5970bf96e559c33c4cdc07d889ab00b4d63f9590739d"}),
    );
}

#[test]
fn r22_jcs_refuses_by_class() {
    let cases = [
        ("{", "MalformedJson"),
        ("{\"a\":1,\"a\":2}", "DuplicateKey"),
        ("\"\\ud800\"", "LoneSurrogate"),
        ("1e400", "NumberOutOfRange"),
    ];
    for (text, class) in cases {
        expect_class(json!({"fn": "jcs", "text": text}), class);
    }
}

#[test]
fn x402_reviewer_message_equals_one_hashed_by_cast() {
    let request = json!({
        "fn": "reviewer_message", "agent_registry": format!("eip155:84532:{IDENTITY}"),
        "agent_id": "42", "task_ref": format!("{DEVNET}:sig"), "data_hash": DATA_HASH,
        "value": 95, "value_decimals": 0,
        "tag1": "x402-resource-delivered", "tag2": "proof-of-participation",
    });
    expect_ok(
        request.clone(),
        json!("0xa4bfc98508e368919e4cd40629da8138f9f791d58b84bfc9904887747888eda6"),
    );
    let extreme = with(
        &request,
        json!({
            "value": "-170141183460469231731687303715884105728", "value_decimals": 255,
            "tag1": null, "tag2": null,
        }),
    );
    expect_ok(
        extreme,
        json!("0x66803e393453600fc12ade6ee99ac4b11bd06d27a0c89cb1bfa29c7afb25ffc1"),
    );
    let refused = [
        (
            json!({"value": "170141183460469231731687303715884105728"}),
            "NumberOutOfRange",
        ),
        (json!({"value_decimals": 256}), "NumberOutOfRange"),
        (json!({"tag1": "a\0"}), "MalformedTag"),
        (json!({"agent_id": 42}), "BadRequest"),
    ];
    for (change, class) in refused {
        expect_class(with(&request, change), class);
    }
}
