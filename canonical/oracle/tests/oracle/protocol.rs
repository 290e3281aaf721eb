use super::*;

fn run(input: &[u8]) -> Vec<Value> {
    let lines = input.split_inclusive(|byte| *byte == b'\n');
    lines
        .map(|line| serde_json::from_str(&oracle::answer_bytes(line)).unwrap())
        .collect()
}

#[test]
fn answers_each_line_in_order_until_the_end() {
    let answers = run(
        b"{\"id\":1,\"fn\":\"data_hash\",\"request\":\"0x\",\"response\":\"0x\"}\n\
          not json\n\
          \n\
          \xff\xfe\n\
          {\"id\":2,\"fn\":\"keccak256\",\"data\":\"\"}\r\n\
          {\"id\":3,\"fn\":\"sha256\",\"data\":\"616263\"}",
    );
    let empty_data_hash = "0xe8e77626586f73b955364c7b4bbf0bb7f7685ebd40e852b164633a4acbd3244c";
    assert_eq!(answers[0], json!({"id": 1, "ok": empty_data_hash}));
    for bad in &answers[1..4] {
        assert_eq!(
            (&bad["id"], &bad["error"]["class"]),
            (&Value::Null, &json!("BadRequest"))
        );
    }
    let keccak = "0xc5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470";
    assert_eq!(answers[4], json!({"id": 2, "ok": keccak}));
    let sha = "0xba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
    assert_eq!(answers[5], json!({"id": 3, "ok": sha}));
    assert_eq!(answers.len(), 6);
}

#[test]
fn has_every_function_of_the_protocol() {
    let table = "keccak256 sha256 request_bytes jcs data_hash interaction_hash \
                 reviewer_message feedback_auth feedback_auth_blob feedback_auth_blob_decode \
                 payment_proof revoke_message respond_message receipt validation_request_hash agent_wallet_set tag tag_decode summary \
                 verify sign chain_id account_id task_ref pda public_key feedback_id weighted_score \
                 stars_to_value stars_of_value standard_tag standard_tag_value x402_tag summary_part summary_merge \
                 request_length_prefix integer_field feedback_auth_eoa_blob_decode eip712_domain recover_address \
                 ethereum_v low_s public_key_of_secret address_of_public_key";
    assert!(oracle::names().eq(table.split_whitespace()));
    // Called without arguments, each asks for one and never says that it is unknown.
    for name in oracle::names() {
        let message = expect_class(json!({"fn": name}), "BadRequest");
        assert!(message.ends_with(" is missing"), "{name}: {message}");
    }
}

#[test]
fn lists_its_functions() {
    let answer = ask(&json!({"id": 7, "fn": "functions"}));
    let names: Vec<_> = oracle::names().collect();
    assert_eq!(answer, json!({"id": 7, "ok": names}));
    let message = expect_class(json!({"fn": "functions", "data": ""}), "BadRequest");
    assert!(
        message.starts_with("\"data\" is not an argument here"),
        "{message}"
    );
}

#[test]
fn repeats_the_id_as_it_was_written() {
    for id in [
        "1",
        "12345678901234567890",
        "1.50",
        "-0",
        "\"a\\nb\"",
        "null",
        "true",
        "[1,[2.0]]",
        "{\"a\":1e5,\"b\":\"é\"}",
    ] {
        let line = format!("{{\"id\":{id},\"fn\":\"keccak256\",\"data\":\"0x\"}}");
        let answer = oracle::answer(&line);
        assert!(
            answer.starts_with(&format!("{{\"id\":{id},\"ok\":")),
            "{answer}"
        );
        let answer = oracle::answer(&format!("{{\"id\":{id},\"fn\":\"none\"}}"));
        assert!(
            answer.starts_with(&format!("{{\"id\":{id},\"error\":")),
            "{answer}"
        );
    }
}

#[test]
fn refuses_requests_that_are_not_json_objects() {
    for line in [
        "",
        "{",
        "[]",
        "1",
        "\"fn\"",
        "null",
        "{\"fn\":\"keccak256\",}",
        "{} {}",
        "{\"id\":1,\"id\":2,\"fn\":\"keccak256\",\"data\":\"\"}",
        "{\"id\":1,\"fn\":\"keccak256\",\"data\":\"\",\"d\\u0061ta\":\"\"}",
        "{\"id\":1,\"fn\":\"jcs\",\"text\":\"\\ud800\"}",
        "{\"id\":1e999,\"fn\":\"keccak256\",\"data\":\"\"}",
    ] {
        let answer: Value = serde_json::from_str(&oracle::answer(line)).unwrap();
        assert_eq!(answer["id"], Value::Null, "{line}");
        assert_eq!(answer["error"]["class"], "BadRequest", "{line}");
    }
    let nested = format!("{}1{}", "[".repeat(100_000), "]".repeat(100_000));
    assert!(oracle::answer(&nested).contains("BadRequest"));
}

#[test]
fn refuses_unknown_functions_and_arguments_by_name() {
    let message = expect_class(json!({"fn": "keccak"}), "BadRequest");
    assert!(message.starts_with("fn is \"keccak\", must be one of keccak256, sha256, "));
    let message = expect_class(json!({"fn": 1}), "BadRequest");
    assert_eq!(message, "fn is a number, must be a string");
    let message = expect_class(json!({"id": 1}), "BadRequest");
    assert_eq!(message, "fn is missing");
    let message = expect_class(
        json!({"fn": "keccak256", "data": "", "datum": ""}),
        "BadRequest",
    );
    assert_eq!(
        message,
        "\"datum\" is not an argument here, which are: data"
    );
}

#[test]
fn refuses_wrong_types_and_broken_hex() {
    for data in [json!(1), json!(null), json!([]), json!({}), json!(true)] {
        let message = expect_class(json!({"fn": "keccak256", "data": data}), "BadRequest");
        assert!(
            message.ends_with("must be a string of hex digits"),
            "{message}"
        );
    }
    let cases = [
        ("0xabc", "data has 3 hex digits, must be an even number"),
        (
            "0xzz",
            "data has a character at offset 2 that is not a hex digit",
        ),
        (
            "0X00",
            "data has a character at offset 1 that is not a hex digit",
        ),
        ("ab é", "data has 5 hex digits, must be an even number"),
    ];
    for (data, expected) in cases {
        assert_eq!(
            expect_class(json!({"fn": "keccak256", "data": data}), "BadRequest"),
            expected
        );
    }
}

#[test]
fn reads_hex_of_either_case_with_or_without_prefix() {
    let answers: Vec<_> = ["0xABcd", "abCD"]
        .map(|data| ask(&json!({"fn": "keccak256", "data": data})))
        .into();
    assert_eq!(answers[0], answers[1]);
}

#[test]
fn never_repeats_a_secret() {
    let secret = "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60";
    let sign = json!({"fn": "sign", "algorithm": "ed25519", "message": "0x", "secret_key": secret});
    let upper = secret.to_uppercase();
    let requests = [
        with(&sign, json!({"secret_key": format!("{secret}00")})),
        with(&sign, json!({"secret_key": &secret[..63]})),
        with(&sign, json!({"secret_key": format!("{secret}zz")})),
        with(&sign, json!({"secret_key": [secret]})),
        with(&sign, json!({"secret_key": {secret: secret}})),
        with(&sign, json!({"algorithm": secret})),
        with(&sign, json!({"message": format!("{secret}z")})),
        with(
            &sign,
            json!({"algorithm": "secp256k1", "message": format!("{secret}00")}),
        ),
        with(&sign, json!({"fn": "sing"})),
        with(&sign, json!({"fn": secret})),
        with(&sign, json!({secret: 1})),
        with(&sign, json!({"id": secret, "algorithm": "none"})),
        with(&sign, json!({"id": {"note": format!("key 0x{upper}")}})),
        with(&sign, json!({"secret_key": null, "secretkey": secret})),
        with(
            &sign,
            json!({"fn": "verify", "signature": secret, "signer": secret}),
        ),
    ];
    for request in requests {
        let answer = oracle::answer(&request.to_string()).to_lowercase();
        assert!(answer.contains("\"error\""), "{request}");
        assert!(!answer.contains(&secret[..16]), "{answer}");
    }
    // A keypair as Solana's tools write it, in base58, where a text is wanted.
    let keypair =
        "3FFiLJZvhP5kzsSAi9hRHGqRmvXqn7iSqqdhrb9D6zoVnQeD7qKjAsXp7CwfXLPYYZGXx7Dsz4nDpvbaPi3qgqTv";
    for request in [
        json!({"fn": "pda", "account": "agent", "program_id": PROGRAM, "mint": keypair}),
        json!({"fn": "chain_id", "text": format!("solana:{keypair}")}),
        json!({"fn": "account_id", "text": keypair}),
        json!({"fn": "task_ref", "text": format!("a {keypair}")}),
        json!({"fn": "feedback_id", "text": format!("1:a:{keypair}"), "base": 1, "target": 1}),
        json!({"fn": "stars_to_value", "stars": keypair}),
        json!({"fn": "interaction_hash", "profile": keypair, "task_ref": "a:b:c", "data_hash": DATA_HASH}),
    ] {
        let answer = oracle::answer(&request.to_string());
        assert!(answer.contains("\"error\""), "{request}");
        for at in 0..=keypair.len() - 16 {
            assert!(!answer.contains(&keypair[at..at + 16]), "{answer}");
        }
    }
    let twice = format!("{{\"fn\":\"sign\",\"{secret}\":1,\"{secret}\":2}}");
    assert!(!oracle::answer(&twice).contains(&secret[..16]));
}
