use super::*;

const SIGNATURE: &str =
    "1GMkH3brNXiNNs1tiFZHu4yZSRrzJwxi5wB9bHFtMinfCXNnR1adh8Vo8NTheK4evneedH4qmvjeqcBBNAefgS";

#[test]
fn r13_payment_proof_equals_one_hashed_by_cast() {
    let request = json!({
        "fn": "payment_proof", "agent_id": MINT,
        "payer": "LbUiWL3xVV8hTFYBVdbTNrpDo41NKS6o3LHHuDzjfcY",
        "payee": "QWmroo4YnnMqYW3cnxWkFdaTxGD3P7vMSzwMHGbUzwF",
        "token": "US517G5965aydkZ46HS38QLi7UQiSojurfbQfKCELFx",
        "amount": "1000000", "task_ref": format!("{DEVNET}:{SIGNATURE}"),
        "paid_at": 1_760_000_000, "expiry": 1_900_000_000, "chain_id": DEVNET,
        "program_id": PROGRAM, "facilitator": "YMN9Qj5jPNp7j14VPcML1B6xGgcPWVZUGLFU3Mnyfaf",
    });
    let message = "0x455243383030342f5041594d454e542d50524f4f462f76327e676d5b14463fb41fdcba1985ac5bf16c82d5caf22e580977c0eb5b07aa6a24";
    expect_ok(request.clone(), json!({"message": message}));
    let refused = [
        (
            json!({"amount": "18446744073709551616"}),
            "NumberOutOfRange",
        ),
        (
            json!({"task_ref": format!("{DEVNET}:sig")}),
            "MalformedTaskRef",
        ),
        (json!({"payer": format!("1{MINT}")}), "MalformedAddress"),
        (json!({"chain_id": "eip155:1"}), "MalformedChainId"),
    ];
    for (change, class) in refused {
        expect_class(with(&request, change), class);
    }
}

#[test]
fn r20_validation_request_hash_equals_one_hashed_by_cast_on_both_chains() {
    let payload_hash = "0xebc84cbd75ba5516bf45e7024a9e12bc3c5c880f73e3a5beca7ebba52b2867a7";
    let evm = json!({
        "fn": "validation_request_hash", "chain_id": "eip155:84532",
        "registry": "0x8004Cb1BF31DAf7788923b405b754f57acEB4272", "agent_id": "42",
        "validator": CLIENT, "payload_hash": payload_hash, "nonce": 7,
    });
    expect_ok(
        evm.clone(),
        json!("0x8acc3b96e5f51ecc1daa9a3804ceab9c300e3985b98ff9bc43f08b5be5c38971"),
    );
    let svm = with(
        &evm,
        json!({
            "chain_id": DEVNET, "registry": PROGRAM, "agent_id": MINT, "validator": REVIEWER,
            "nonce": "115792089237316195423570985008687907853269984665640564039457584007913129639935",
        }),
    );
    expect_ok(
        svm,
        json!("0xbf15a052e39e178b7bb9c89b816e04ec3cf5fce9d79a9dd918d351609516ff0f"),
    );
    expect_class(
        with(&evm, json!({"validator": REVIEWER})),
        "MalformedAddress",
    );
    expect_class(
        with(&evm, json!({"chain_id": "cosmos:hub"})),
        "MalformedChainId",
    );
}
