use super::*;

/// RFC 8032, 7.1, tests 1 and 3.
const RFC_8032: [(&str, &str, &str, &str); 2] = [
    (
        "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
        "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a",
        "",
        "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b",
    ),
    (
        "c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7",
        "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025",
        "af82",
        "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a",
    ),
];

#[test]
fn ed25519_signs_and_verifies_rfc_8032s_examples() {
    for (secret_key, signer, message, signature) in RFC_8032 {
        let sign = json!({"fn": "sign", "algorithm": "ed25519", "message": message, "secret_key": secret_key});
        expect_ok(sign, json!(format!("0x{signature}")));
        let verify = json!({
            "fn": "verify", "algorithm": "ed25519", "message": message,
            "signature": signature, "signer": signer,
        });
        expect_ok(verify.clone(), json!(true));
        let refused = [
            (json!({"message": format!("{message}00")}), "BadSignature"),
            (
                json!({"signer": RFC_8032[usize::from(message.is_empty())].1}),
                "BadSignature",
            ),
            (json!({"signature": &signature[2..]}), "MalformedSignature"),
            (json!({"signature": ""}), "MalformedSignature"),
            (json!({"signer": &signer[2..]}), "MalformedKey"),
            (json!({"signer": "00".repeat(32)}), "MalformedKey"),
            (json!({"signer": "0x"}), "MalformedKey"),
            (json!({"algorithm": "rsa"}), "BadRequest"),
        ];
        for (change, class) in refused {
            expect_class(with(&verify, change), class);
        }
    }
}

/// The facts on EVM, §4: anvil's key 0 signed the EIP-191 digest.
#[test]
fn r23_secp256k1_signs_and_verifies_the_published_example() {
    let digest = "0xa1932d92cdbca8517f072ee66647404017533e7a2d593cc9e7198b48de525827";
    let rs = "c0c1b26d675fc4ee6f486d6d7f6441a6f9d93774d54b6971e7249984d3908ca332b16eccb911a2b05b511cf16d55de1d16f65f7692323780025a8e01b6dc6baa";
    let sign = json!({"fn": "sign", "algorithm": "secp256k1", "message": digest, "secret_key": OWNER_SECRET});
    expect_ok(sign.clone(), json!(format!("0x{rs}01")));
    let verify = json!({
        "fn": "verify", "algorithm": "secp256k1", "message": digest,
        "signature": format!("{rs}01"), "signer": OWNER,
    });
    // Anvil's account 0, uncompressed and compressed.
    let x = "8318535b54105d4a7aae60c08fc45f9687181b4fdfc625bd1a753fa7397fed75";
    let y = "3547f11ca8696646f2f3acb08e31016afac23e630c5d11f59f61fef57b0d2aa5";
    for signer in [OWNER.to_string(), format!("04{x}{y}"), format!("0x03{x}")] {
        expect_ok(with(&verify, json!({"signer": signer})), json!(true));
    }
    let high_s = {
        // n - s, by hand: n is secp256k1's order.
        "cd4e913346ee5d4fa4aee30e92aa21e1a3b87d701d1668bbbd77d08b1959d597"
    };
    let other = &digest.replace("a1932d", "a1932e");
    let refused = [
        (json!({"message": other}), "BadSignature"),
        (json!({"signer": CLIENT}), "BadSignature"),
        (json!({"signature": format!("{rs}00")}), "BadSignature"),
        (
            json!({"signature": format!("{rs}1c")}),
            "MalformedSignature",
        ),
        (json!({"signature": rs}), "MalformedSignature"),
        (
            json!({"signature": format!("{}{high_s}00", &rs[..64])}),
            "MalformedSignature",
        ),
        (json!({"signer": format!("05{x}")}), "MalformedKey"),
        (json!({"signer": "0x00"}), "MalformedKey"),
        (json!({"message": "0x00"}), "BadRequest"),
    ];
    for (change, class) in refused {
        expect_class(with(&verify, change), class);
    }
    expect_class(with(&sign, json!({"message": "0x00"})), "BadRequest");
    for secret in ["00".repeat(32), "ff".repeat(32), "01".repeat(31)] {
        expect_class(with(&sign, json!({"secret_key": secret})), "MalformedKey");
    }
}
