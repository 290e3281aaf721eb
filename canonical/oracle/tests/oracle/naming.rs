use super::*;
use solana_address::Address;

#[test]
fn r14_tags_equal_x84s_published_hash_and_soliditys_bytes32() {
    let tag = json!({"fn": "tag", "text": "reliability", "encoding": "hashed"});
    expect_ok(
        tag.clone(),
        json!("0x819bb986f4199f141bc48a85fee53780516ee28183b3cc883c3411ff7d9e4ada"),
    );
    let padded = format!("0x{}{}", hex::encode("reliability"), "00".repeat(21));
    expect_ok(with(&tag, json!({"encoding": "padded"})), json!(padded));
    expect_ok(
        json!({"fn": "tag_decode", "bytes": padded}),
        json!("reliability"),
    );
    let zeros = format!("0x{}", "00".repeat(32));
    for encoding in ["padded", "hashed"] {
        expect_ok(
            json!({"fn": "tag", "text": "", "encoding": encoding}),
            json!(zeros),
        );
    }
    expect_ok(json!({"fn": "tag_decode", "bytes": zeros}), json!(""));
}

#[test]
fn r14_refuses_tags_that_are_not_canonical() {
    for text in ["x".repeat(33), "é".repeat(17), "a\0".into()] {
        for encoding in ["padded", "hashed"] {
            expect_class(
                json!({"fn": "tag", "text": text, "encoding": encoding}),
                "MalformedTag",
            );
        }
    }
    let interior_nul = format!("0x6100{}", "62".repeat(30));
    expect_class(
        json!({"fn": "tag_decode", "bytes": interior_nul}),
        "MalformedTag",
    );
    let not_utf8 = format!("0xff{}", "00".repeat(31));
    expect_class(
        json!({"fn": "tag_decode", "bytes": not_utf8}),
        "MalformedTag",
    );
    expect_class(json!({"fn": "tag_decode", "bytes": "0x61"}), "BadRequest");
    let message = expect_class(
        json!({"fn": "tag", "text": "", "encoding": "raw"}),
        "BadRequest",
    );
    assert_eq!(message, "encoding must be padded or hashed");
}

#[test]
fn caip_names_come_apart() {
    expect_ok(
        json!({"fn": "chain_id", "text": DEVNET}),
        json!({"namespace": "solana", "reference": &DEVNET[7..]}),
    );
    expect_class(
        json!({"fn": "chain_id", "text": "EIP155:1"}),
        "MalformedChainId",
    );
    let address = "0xab16a96D359eC26a11e2C2b3d8f8B8942d5Bfcdb";
    expect_ok(
        json!({"fn": "account_id", "text": format!("eip155:1:{address}")}),
        json!({"chain_id": "eip155:1", "address": address}),
    );
    expect_class(
        json!({"fn": "account_id", "text": "eip155:1"}),
        "MalformedAccountId",
    );
}

#[test]
fn r24_task_refs_yield_dedupe_keys() {
    let transaction = format!("0x{}", "AB".repeat(32));
    let text = format!("eip155:84532:{transaction}");
    expect_ok(
        json!({"fn": "task_ref", "text": text}),
        json!({
            "chain_id": "eip155:84532", "transaction": transaction,
            "dedupe_key": text.to_lowercase(),
        }),
    );
    expect_class(
        json!({"fn": "task_ref", "text": format!("{DEVNET}:sig")}),
        "MalformedTaskRef",
    );
}

/// Solana's own SDK derives the same addresses from the seeds of §3b.
#[test]
fn s3b_addresses_equal_those_of_solanas_sdk() {
    let (mint, client, program) = ([1; 32], [2; 32], Address::from([3; 32]));
    let hash: [u8; 32] = std::array::from_fn(|at| at as u8);
    let (mint58, client58) = (MINT, REVIEWER);
    let hash16 = format!("0x{}", hex::encode(hash));
    let prefix = &hash[..8];
    // `printf schlüssel | sha256sum`.
    let key_hash =
        hex::decode("ccec7a8e3e039f0b6b308a81f438e1d07a59c8c896b4f237d10c3eecb8375ef7").unwrap();
    for index in [1u64, 258, u64::MAX] {
        let le = index.to_le_bytes();
        let cases: [(Value, &[&[u8]]); 11] = [
            (json!({"account": "registry"}), &[b"registry"]),
            (
                json!({"account": "agent", "mint": mint58}),
                &[b"agent", &mint],
            ),
            (
                json!({"account": "metadata", "mint": mint58, "key": "schlüssel"}),
                &[b"metadata", &mint, &key_hash],
            ),
            (
                json!({"account": "feedback", "mint": mint58, "client": client58, "index": index.to_string()}),
                &[b"feedback", &mint, &client, &le],
            ),
            (
                json!({"account": "client", "mint": mint58, "client": client58}),
                &[b"client", &mint, &client],
            ),
            (
                json!({"account": "open_feedback", "mint": mint58, "client": client58, "index": index.to_string()}),
                &[b"open_feedback", &mint, &client, &le],
            ),
            (
                json!({"account": "open_client", "mint": mint58, "client": client58}),
                &[b"open_client", &mint, &client],
            ),
            (
                json!({"account": "val_request", "mint": mint58, "validator": client58, "request_hash": hash16}),
                &[b"val_request", &mint, &client, prefix],
            ),
            (
                json!({"account": "val_response", "mint": mint58, "validator": client58, "request_hash": hash16}),
                &[b"val_response", &mint, &client, prefix],
            ),
            (
                json!({"account": "spent", "hash": hash16, "payer": client58}),
                &[b"spent", &hash, &client],
            ),
            (
                json!({"account": "mint", "payer": client58, "nonce": index.to_string()}),
                &[b"mint", &client, &le],
            ),
        ];
        for (account, seeds) in cases {
            let (address, bump) = Address::find_program_address(seeds, &program);
            let request = with(&account, json!({"fn": "pda", "program_id": PROGRAM}));
            let address = bs58::encode(address.to_bytes()).into_string();
            expect_ok(request, json!({"address": address, "bump": bump}));
        }
    }
}

#[test]
fn s3b_refuses_accounts_without_their_seeds() {
    let refused = [
        (json!({"account": "agent"}), "BadRequest"),
        (json!({"account": "registry", "mint": MINT}), "BadRequest"),
        (
            json!({"account": "client", "mint": MINT, "client": REVIEWER, "index": 1}),
            "BadRequest",
        ),
        (
            json!({"account": "feedback", "mint": MINT, "client": REVIEWER}),
            "BadRequest",
        ),
        (json!({"account": "vault"}), "BadRequest"),
        (
            json!({"account": "agent", "mint": OWNER}),
            "MalformedAddress",
        ),
        (
            json!({"account": "spent", "hash": "0x00", "payer": MINT}),
            "BadRequest",
        ),
        (
            json!({"account": "mint", "payer": MINT, "nonce": -1}),
            "NumberOutOfRange",
        ),
        (
            json!({"account": "feedback", "mint": MINT, "client": REVIEWER, "index": -1}),
            "NumberOutOfRange",
        ),
    ];
    for (account, class) in refused {
        expect_class(
            with(&account, json!({"fn": "pda", "program_id": PROGRAM})),
            class,
        );
    }
}

#[test]
fn s3b_refuses_seeds_that_the_program_makes_no_account_of() {
    let pda = json!({"fn": "pda", "program_id": PROGRAM, "mint": MINT});
    for account in ["feedback", "open_feedback"] {
        let entry = json!({"account": account, "client": REVIEWER, "index": 0});
        let message = expect_class(with(&pda, entry), "NumberOutOfRange"); // R12
        assert!(message.contains("at least 1"), "{message}");
    }
    let keyed = |length| {
        with(
            &pda,
            json!({"account": "metadata", "key": "k".repeat(length)}),
        )
    };
    assert!(ask(&keyed(32))["ok"].is_object());
    for length in [33, 5_000] {
        let message = expect_class(keyed(length), "LengthLimit"); // R17
        assert!(message.contains(&length.to_string()), "{message}");
    }
}

#[test]
fn no_refusal_repeats_what_may_be_a_secret() {
    let secret = OWNER_SECRET;
    let pda = json!({"fn": "pda", "program_id": PROGRAM, "account": "client", "mint": MINT, "client": REVIEWER});
    for request in [
        with(&pda, json!({"mint": secret})),
        with(&pda, json!({"account": "feedback", "index": secret})),
        json!({"fn": "chain_id", "text": secret}),
        json!({"fn": "task_ref", "text": format!("eip155:1:0x{secret}0")}),
        json!({"fn": "feedback_id", "text": secret, "base": 0, "target": 0}),
    ] {
        let answer = ask(&request);
        let message = answer["error"]["message"].as_str().expect("a refusal");
        assert!(!message.contains(&secret[..24]), "{message}");
    }
}
