use super::*;
use crate::ErrorClass;
use crate::testing::word;
use proptest::prelude::*;
use std::format;
use std::string::{String, ToString};

const TRANSACTION: &str =
    "1GMkH3brNXiNNs1tiFZHu4yZSRrzJwxi5wB9bHFtMinfCXNnR1adh8Vo8NTheK4evneedH4qmvjeqcBBNAefgS";

#[test]
fn caip2_examples_parse() {
    // The examples of CAIP-2's own text, and of the solana and eip155 namespaces.
    let examples = [
        ("eip155:1", "eip155", "1"),
        (
            "bip122:000000000019d6689c085ae165831e93",
            "bip122",
            "000000000019d6689c085ae165831e93",
        ),
        ("cosmos:cosmoshub-2", "cosmos", "cosmoshub-2"),
        (
            "cosmos:Binance-Chain-Tigris",
            "cosmos",
            "Binance-Chain-Tigris",
        ),
        ("starknet:SN_GOERLI", "starknet", "SN_GOERLI"),
        ("lip9:9ee11e9df416b18b", "lip9", "9ee11e9df416b18b"),
        (
            "chainstd:8c3444cf8970a9e41a706fab93e7a6c4",
            "chainstd",
            "8c3444cf8970a9e41a706fab93e7a6c4",
        ),
        (
            "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp",
            "solana",
            "5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp",
        ),
        ("solana:localnet", "solana", "localnet"),
        ("eip155:0", "eip155", "0"),
    ];
    for (text, namespace, reference) in examples {
        let chain = ChainId::parse(text).unwrap();
        assert_eq!(
            (chain.namespace(), chain.reference()),
            (namespace, reference)
        );
        assert_eq!(chain.to_string(), text);
    }
}

#[test]
fn caip2_refuses_what_breaks_the_form() {
    let cases = [
        "",
        ":",
        "eip155",
        "eip155:",
        ":1",
        "Eip155:1",
        "EIP155:1",
        "ab:1",
        "namespace:1",
        "eip_155:1",
        "eip155:01",
        "eip155:0x1",
        "eip155:1a",
        "eip155:-1",
        "eip155:1:",
        "eip155:1 ",
        " eip155:1",
        "cosmos:a.b",
        "cosmos:a\0b",
        "cosmos:é",
        "cosmos:123456789012345678901234567890123",
        "eip155:123456789012345678901234567890123",
        "solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa",
        "solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa0",
        "solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxPkrZBG",
        "solana:devnet",
        "solana:Localnet",
    ];
    for text in cases {
        let error = ChainId::parse(text).unwrap_err();
        assert_eq!(error.class(), ErrorClass::MalformedChainId, "{text:?}");
    }
}

#[test]
fn r9_chain_word_is_keccak_of_the_text() {
    // By Foundry's `cast keccak`.
    let cases = [
        (
            "solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1",
            "d29e4f51ca30c90e3b0bd295891ad4815ec081e851f67643faf3f32b4e67f68b",
        ),
        (
            "solana:localnet",
            "4fc10f22c1d5171ef5e584814940759139b8c39c212d8ebe4808e31713a26612",
        ),
    ];
    for (text, hash) in cases {
        assert_eq!(ChainId::parse(text).unwrap().hash(), word(hash));
    }
}

#[test]
fn caip10_examples_parse() {
    // The examples of CAIP-10's own text, and X402's registries.
    let examples = [
        "eip155:1:0xab16a96D359eC26a11e2C2b3d8f8B8942d5Bfcdb",
        "bip122:000000000019d6689c085ae165831e93:128Lkh3S7CkDTBZ8W7BbpsN3YYizJMp8p6",
        "cosmos:cosmoshub-3:cosmos1t2uflqwqe0fsj0shcfkrvpukewcw40yjj6hdc0",
        "polkadot:b0a8d493285c2df73290dfb7e61f870f:5hmuyxw9xdgbpptgypokw4thfyoe3ryenebr381z9iaegmfy",
        "starknet:SN_GOERLI:0x02dd1b492765c064eac4039e3841aa5f382773b598097a40073bd8b48170ab57",
        "hedera:mainnet:0.0.1234567890-zbhlt",
        "eip155:8453:0x8004A818BFB912233c491871b3d84c89A494BD9e",
        "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp:satiRkxEiwZ51cv8PRu8UMzuaqeaNU9jABo6oAFMsLe",
    ];
    for text in examples {
        let account = AccountId::parse(text).unwrap();
        let (chain, address) = text.rsplit_once(':').unwrap();
        assert_eq!(account.chain_id().to_string(), chain);
        assert_eq!(account.address(), address);
        assert_eq!(account.to_string(), text);
    }
    let longest = format!(
        "chainstd:8c3444cf8970a9e41a706fab93e7a6c4:{}",
        "a".repeat(128)
    );
    assert!(AccountId::parse(&longest).is_ok());
}

#[test]
fn caip10_refuses_what_breaks_the_form() {
    let too_long = format!("cosmos:hub:{}", "a".repeat(129));
    let cases = [
        too_long.as_str(),
        "",
        "eip155:1",
        "eip155:1:",
        "eip155::0xab16a96D359eC26a11e2C2b3d8f8B8942d5Bfcdb",
        "EIP155:1:0xab16a96D359eC26a11e2C2b3d8f8B8942d5Bfcdb",
        "eip155:1:ab16a96D359eC26a11e2C2b3d8f8B8942d5Bfcdb",
        "eip155:1:0Xab16a96D359eC26a11e2C2b3d8f8B8942d5Bfcdb",
        "eip155:1:0xab16a96D359eC26a11e2C2b3d8f8B8942d5Bfcd",
        "eip155:1:0xab16a96D359eC26a11e2C2b3d8f8B8942d5Bfcdb0",
        "eip155:1:0xgb16a96D359eC26a11e2C2b3d8f8B8942d5Bfcdb",
        "eip155:1:0xab16a96D359eC26a11e2C2b3d8f8B8942d5Bfcdb:1",
        "cosmos:hub:a_b",
        "cosmos:hub:a b",
        "cosmos:hub:a:b",
        // 31 and 33 bytes, and characters that base58 leaves out.
        "solana:localnet:11111111111111111111111111111112222",
        "solana:localnet:1111111111111111111111111111111",
        "solana:localnet:111111111111111111111111111111111",
        "solana:localnet:0atiRkxEiwZ51cv8PRu8UMzuaqeaNU9jABo6oAFMsLe",
        "solana:localnet:lOatiRkxEiwZ51cv8PRu8UMzuaqeaNU9jABo6oAFMsL",
    ];
    for text in cases {
        let error = AccountId::parse(text).unwrap_err();
        assert_eq!(error.class(), ErrorClass::MalformedAccountId, "{text:?}");
    }
}

#[test]
fn addresses_decode_to_their_bytes() {
    let address = parse_evm_address("owner", "0x8004A818BFB912233c491871b3d84c89A494BD9e").unwrap();
    assert_eq!(address[..4], [0x80, 0x04, 0xa8, 0x18]);
    assert_eq!(
        parse_solana_key("mint", "11111111111111111111111111111111"),
        Ok([0; 32])
    );
    assert_eq!(
        parse_solana_key("mint", "4vJ9JU1bJJE96FWSJKvHsmmFADCg4gpZQff4P3bkLKi"),
        Ok([1; 32])
    );
    let error = parse_evm_address("owner", "0x12").unwrap_err();
    assert_eq!(error.class(), ErrorClass::MalformedAddress);
    assert_eq!(error.to_string(), "owner \"0x12\" is 4 bytes, must be 42");
}

#[test]
fn r24_task_refs_parse_and_yield_dedupe_keys() {
    let upper = format!("eip155:84532:0x{}", "AB".repeat(32));
    let lower = upper.to_lowercase();
    let task = TaskRef::parse(&upper).unwrap();
    assert_eq!(task.chain_id().to_string(), "eip155:84532");
    assert_eq!(task.transaction(), &upper[13..]);
    assert_eq!(task.dedupe_key().to_string(), lower);
    assert_eq!(
        task.dedupe_key(),
        TaskRef::parse(&lower).unwrap().dedupe_key()
    );
    // By Foundry's `cast keccak` of the text.
    assert_eq!(
        task.dedupe_key().hash(),
        word("894cdd550067576f8502e5a9ce38a2159cb4b98abca5d8cc578cabf9885e804d")
    );
    let solana = format!("solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1:{TRANSACTION}");
    let task = TaskRef::parse(&solana).unwrap();
    assert_eq!(task.dedupe_key().to_string(), solana);
    assert_eq!(
        task.dedupe_key().hash(),
        word("7c9fd599342b43bb684dc25ea11789b2a0b079a8f80ca75755d327552c93705f")
    );
    assert!(TaskRef::parse("cosmos:cosmoshub-3:ABC_d.e%2F-9").is_ok());
}

#[test]
fn r24_refuses_task_refs_that_are_not_their_chains_own() {
    let cases = [
        String::new(),
        "eip155:1".into(),
        "eip155:1:".into(),
        format!("eip155:1:{}", "ab".repeat(32)),
        format!("eip155:1:0x{}", "ab".repeat(31)),
        format!("eip155:1:0x{}a", "ab".repeat(32)),
        format!("eip155:1:0x{}", "ag".repeat(32)),
        format!("eip155:01:0x{}", "ab".repeat(32)),
        format!("Eip155:1:0x{}", "ab".repeat(32)),
        format!("eip155:1:0x{}:1", "ab".repeat(32)),
        "solana:localnet:5A2CSREG...".into(),
        "solana:localnet:11111111111111111111111111111111".into(),
        format!("solana:localnet:1{TRANSACTION}"),
        format!("solana:localnet:{}", &TRANSACTION[1..]),
        format!("solana:localnet:{}0", &TRANSACTION[..TRANSACTION.len() - 1]),
        "cosmos:hub:a:b".into(),
        "cosmos:hub:a b".into(),
        format!("cosmos:hub:{}", "a".repeat(129)),
    ];
    for text in &cases {
        let error = TaskRef::parse(text).unwrap_err();
        assert_eq!(error.class(), ErrorClass::MalformedTaskRef, "{text:?}");
    }
}

#[test]
fn r24_shape_check_asks_for_three_printable_parts_and_no_more() {
    let long = "z".repeat(500);
    let good = [
        "solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1:sig",
        "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp:5A2CSREG...",
        "X:~:a:b c",
        &format!("{long}:{long}:{long}"),
    ];
    for text in good {
        assert!(check_task_ref_shape(text).is_ok(), "{text}");
    }
    for text in [
        "", "a", "a:b", "a:b:", "a::c", ":b:c", "a:b:\t", "a:b:c\0", "a:b:\x7f", "a:b:é",
    ] {
        let error = check_task_ref_shape(text).unwrap_err();
        assert_eq!(error.class(), ErrorClass::MalformedTaskRef, "{text:?}");
    }
}

proptest! {
    #[test]
    fn generic_ids_round_trip(
        namespace in "[-a-z0-9]{3,8}",
        reference in "[-_a-zA-Z0-9]{1,32}",
        address in "[-.%a-zA-Z0-9]{1,128}",
    ) {
        prop_assume!(namespace != EIP155 && namespace != SOLANA);
        let text = format!("{namespace}:{reference}:{address}");
        let account = AccountId::parse(&text).unwrap();
        prop_assert_eq!(account.to_string(), text.clone());
        prop_assert_eq!(account.chain_id().namespace(), namespace);
        prop_assert_eq!(account.chain_id().reference(), reference);
        let task = TaskRef::parse(&text).unwrap();
        prop_assert_eq!(task.dedupe_key().to_string(), text);
    }

    #[test]
    fn addresses_and_keys_round_trip(address: [u8; 20], key: [u8; 32]) {
        let text = format!("0x{}", hex::encode(address));
        prop_assert_eq!(parse_evm_address("a", &text), Ok(address));
        let mut buffer = [0; 44];
        let length = bs58::encode(key).onto(&mut buffer[..]).unwrap();
        let text = core::str::from_utf8(&buffer[..length]).unwrap();
        prop_assert_eq!(parse_solana_key("k", text), Ok(key));
    }

    #[test]
    fn any_text_is_read_or_refused_without_panic(text in "\\PC{0,80}") {
        let _ = ChainId::parse(&text);
        let _ = AccountId::parse(&text);
        let _ = TaskRef::parse(&text).map(|task| task.dedupe_key().hash());
        if TaskRef::parse(&text).is_ok() {
            prop_assert!(check_task_ref_shape(&text).is_ok());
        }
    }
}

#[test]
fn an_empty_part_is_called_empty() {
    for text in [":1", "eip155:"] {
        let error = ChainId::parse(text).unwrap_err().to_string();
        assert!(error.contains(&TextFault::Empty.to_string()), "{error}");
    }
}

#[test]
fn r24_dedupe_keys_of_other_payments_differ() {
    let key = |text| TaskRef::parse(text).unwrap().dedupe_key();
    let (a, b) = (
        format!("0x{}", "aB".repeat(32)),
        format!("0x{}", "ac".repeat(32)),
    );
    let of = |chain: &str, transaction: &str| format!("eip155:{chain}:{transaction}");
    let [one, lower, other, elsewhere] = [
        of("1", &a),
        of("1", &a.to_lowercase()),
        of("1", &b),
        of("10", &a),
    ];
    assert_eq!(key(&one), key(&lower));
    assert_ne!(key(&one), key(&other));
    assert_ne!(key(&one), key(&elsewhere));
}

#[test]
fn a_fault_of_hex_names_the_byte_of_the_text() {
    for (at, character) in [(2, 'g'), (5, 'x'), (41, ' ')] {
        let mut text = format!("0x{}", "a".repeat(40));
        text.replace_range(at..=at, &character.to_string());
        let error = parse_evm_address("address", &text).unwrap_err().to_string();
        let fault = TextFault::Character {
            byte: character as u8,
            offset: at,
        };
        assert!(error.contains(&fault.to_string()), "{error}");
    }
}
