use super::*;

fn fields() -> Value {
    json!({
        "fn": "feedback_auth", "agent_id": "42", "client_address": CLIENT, "index_limit": 5,
        "expiry": 1_900_000_000, "chain_id": 84532, "identity_registry": IDENTITY,
        "signer_address": OWNER,
    })
}

#[test]
fn r5_r6_digests_equal_the_published_ones() {
    let cases = [
        (
            json!({"scheme": "eip712", "verifying_contract": REPUTATION}),
            "0x6ca1e04f7b076e6662687904a846344937a3d941a9d97945570755a7e0b074a4",
        ),
        (
            json!({"scheme": "eip191"}),
            "0xa1932d92cdbca8517f072ee66647404017533e7a2d593cc9e7198b48de525827",
        ),
        (
            json!({"scheme": "packed"}),
            "0xb9e1779732bf6f83fd0f3e68c066847a27e8d949d24523fd1961346af4dd5ada",
        ),
    ];
    for (scheme, digest) in cases {
        expect_ok(with(&fields(), scheme), json!({"digest": digest}));
    }
}

/// Foundry's `cast wallet sign --data` signed FS's struct; RFC 6979 makes that a fingerprint.
#[test]
fn r5_fs_digest_is_the_one_that_cast_signed() {
    let scheme = json!({"scheme": "eip712-fs", "verifying_contract": REPUTATION});
    let digest = ask(&with(&fields(), scheme))["ok"]["digest"].clone();
    expect_ok(
        json!({"fn": "sign", "algorithm": "secp256k1", "message": digest, "secret_key": OWNER_SECRET}),
        json!(
            "0xb834cc3a4e01df82052702a4d674512ac3bb19c1bbd8cc2df1c5bd06ca79f87b46056830f92e54a9b95cca6f1fc9b3447aeeb691b24c1399612e2526e9ae1fe201"
        ),
    );
}

#[test]
fn r9_r10_solana_messages_equal_those_hashed_by_cast() {
    let svm = json!({
        "fn": "feedback_auth", "scheme": "svm", "agent_id": MINT, "client_address": REVIEWER,
        "index_limit": 5, "expiry": 1_900_000_000, "chain_id": DEVNET,
        "identity_registry": PROGRAM, "signer_address": AUTHORITY,
    });
    let message = "0x455243383030342f464545444241434b2d415554482f763120ee6902af97ecd1de94b3af2fabd4d2bd3e9956ca89bdb811d504e871a52380";
    expect_ok(svm.clone(), json!({"message": message}));
    let x84 = json!({
        "fn": "feedback_auth", "scheme": "x84", "agent_id": MINT, "client_address": REVIEWER,
    });
    let message = format!("0x{}{}", "02".repeat(32), "01".repeat(32));
    expect_ok(x84.clone(), json!({"message": message}));
    let refused = [
        (
            json!({"expiry": "18446744073709551616"}),
            "NumberOutOfRange",
        ),
        (
            json!({"index_limit": "18446744073709551616"}),
            "NumberOutOfRange",
        ),
        (json!({"agent_id": "42"}), "MalformedAddress"),
        (json!({"client_address": CLIENT}), "MalformedAddress"),
        (json!({"chain_id": "solana"}), "MalformedChainId"),
        (json!({"chain_id": "eip155:84532"}), "MalformedChainId"),
        (json!({"verifying_contract": REPUTATION}), "BadRequest"),
    ];
    for (change, class) in refused {
        expect_class(with(&svm, change), class);
    }
    expect_class(with(&x84, json!({"index_limit": 1})), "BadRequest");
}

#[test]
fn r5_refuses_fields_that_do_not_fit() {
    let eip191 = with(&fields(), json!({"scheme": "eip191"}));
    let refused = [
        (json!({"scheme": "eip2612"}), "BadRequest"),
        (json!({"scheme": "eip712"}), "BadRequest"),
        (json!({"verifying_contract": REPUTATION}), "BadRequest"),
        (json!({"signer_address": null}), "BadRequest"),
        (json!({"agent_id": "agent"}), "BadRequest"),
        (json!({"agent_id": -1}), "NumberOutOfRange"),
        (
            json!({"index_limit": "18446744073709551616"}),
            "NumberOutOfRange",
        ),
        (json!({"client_address": "0x12"}), "MalformedAddress"),
        (json!({"chain_id": DEVNET}), "BadRequest"),
    ];
    for (change, class) in refused {
        expect_class(with(&eip191, change), class);
    }
    let message = expect_class(with(&eip191, json!({"scheme": "eip2612"})), "BadRequest");
    assert_eq!(
        message,
        "scheme must be eip712, eip712-fs, eip191, packed, svm or x84"
    );
}

#[test]
fn r6_blob_is_casts_abi_encode_then_signature_and_decodes_again() {
    let signature = "0xc0c1b26d675fc4ee6f486d6d7f6441a6f9d93774d54b6971e7249984d3908ca332b16eccb911a2b05b511cf16d55de1d16f65f7692323780025a8e01b6dc6baa1c";
    let encoded = "0x000000000000000000000000000000000000000000000000000000000000002a00000000000000000000000070997970c51812dc3a010c7d01b50e0d17dc79c8000000000000000000000000000000000000000000000000000000000000000500000000000000000000000000000000000000000000000000000000713fb3000000000000000000000000000000000000000000000000000000000000014a340000000000000000000000008004a818bfb912233c491871b3d84c89a494bd9e000000000000000000000000f39fd6e51aad88f6f4ce6ab8827279cfffb92266";
    let blob = format!("{encoded}{}", &signature[2..]);
    let request = with(
        &fields(),
        json!({"fn": "feedback_auth_blob", "signature": signature}),
    );
    expect_ok(request.clone(), json!(blob));
    expect_ok(
        with(&request, json!({"verifying_contract": REPUTATION})),
        json!(blob),
    );
    expect_ok(
        json!({"fn": "feedback_auth_blob_decode", "blob": blob}),
        json!({
            "agent_id": "42", "client_address": CLIENT.to_lowercase(), "index_limit": "5",
            "expiry": "1900000000", "chain_id": "84532",
            "identity_registry": IDENTITY.to_lowercase(),
            "signer_address": OWNER.to_lowercase(), "signature": signature,
        }),
    );
    let decode = |blob: &str| json!({"fn": "feedback_auth_blob_decode", "blob": blob});
    assert_eq!(ask(&decode(encoded))["ok"]["signature"], "0x");
    expect_class(decode("0x"), "AuthMissing");
    expect_class(decode(&encoded[..448]), "AuthMalformed");
    let dirty = encoded.replacen(
        "00000000000000000000000070997970",
        "00000000000000000000000170997970",
        1,
    );
    let message = expect_class(decode(&dirty), "AuthMalformed");
    assert!(message.contains("clientAddress"), "{message}");
}
