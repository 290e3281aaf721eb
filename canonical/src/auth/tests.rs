use super::*;
use crate::ErrorClass;
use crate::testing::{address, bytes, word};
use proptest::prelude::*;

const VERIFYING_CONTRACT: &str = "8004B663056A597Dffe9eCcC1965A193B7388713";

/// The example of the facts on EVM, §4: anvil's key 0 signs for client 1.
fn example() -> EvmFeedbackAuth {
    EvmFeedbackAuth {
        agent_id: word::from_u64(42),
        client_address: address("70997970C51812dc3A010C7d01b50e0d17dc79C8"),
        index_limit: 5,
        expiry: word::from_u64(1_900_000_000),
        chain_id: word::from_u64(84532),
        identity_registry: address("8004A818BFB912233c491871b3d84c89A494BD9e"),
        signer_address: address("f39Fd6e51aad88F6F4ce6aB8827279cffFb92266"),
    }
}

#[test]
fn r5_r6_every_named_form_equals_its_published_digest() {
    let (auth, contract) = (example(), address(VERIFYING_CONTRACT));
    assert_eq!(
        auth.words_hash(),
        word("0f4117debed0a1faa1b323a8f2c7f0dd3e6e666d79d1329e6397803211185020")
    );
    assert_eq!(
        auth.eip191_digest(),
        word("a1932d92cdbca8517f072ee66647404017533e7a2d593cc9e7198b48de525827")
    );
    assert_eq!(
        auth.packed_hash(),
        word("b9e1779732bf6f83fd0f3e68c066847a27e8d949d24523fd1961346af4dd5ada")
    );
    assert_eq!(
        auth.eip712_digest(&contract),
        word("6ca1e04f7b076e6662687904a846344937a3d941a9d97945570755a7e0b074a4")
    );
}

#[test]
fn r5_type_hashes_equal_the_published_ones() {
    assert_eq!(
        hash::keccak256(EIP712_TYPE.as_bytes()),
        word("1b013444cad0f64802e59cfc689fbc84d732a5129ad2e5834d0ed4637db6e15c")
    );
    assert_eq!(
        hash::keccak256(EIP712_FS_TYPE.as_bytes()),
        word("0309651dd4be0e54da0e0eef5cfc6d2bc7b56b42f50477f549fa27b38e03c947")
    );
}

#[test]
fn domain_separators_equal_the_deployed_registries() {
    // Facts on EVM, 1.4: Base Sepolia, Base and Ethereum.
    let testnet = address("8004A818BFB912233c491871b3d84c89A494BD9e");
    let mainnet = address("8004A169FB4a3325136EB29fA0ceB6D2e539a432");
    let cases = [
        (
            84532,
            testnet,
            "d7e6057e6aa5ec8e6d96d7194b9f4326106e0f233ab470f9c1b1f19726fcc6c0",
        ),
        (
            8453,
            mainnet,
            "3c574eb86858114261f06b40574c0b741b4f10df45c714346723cdaf021f2d45",
        ),
        (
            1,
            mainnet,
            "af548694a34be1ed51ad7aba41462666ec92faab9e465c70a9ec2bc8ecfbd156",
        ),
    ];
    for (chain, registry, separator) in cases {
        let chain = word::from_u64(chain);
        assert_eq!(
            domain_separator("ERC8004IdentityRegistry", "1", &chain, &registry),
            word(separator)
        );
    }
}

/// Foundry's `cast wallet sign --data` signed the typed data; RFC 6979 makes the signature a
/// fingerprint of the digest.
#[cfg(feature = "sign")]
#[test]
fn r5_r6_digests_equal_those_that_cast_signed() {
    let secret = word("ac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80");
    let (auth, contract) = (example(), address(VERIFYING_CONTRACT));
    let cases = [
        (
            auth.eip712_fs_digest(&contract),
            "b834cc3a4e01df82052702a4d674512ac3bb19c1bbd8cc2df1c5bd06ca79f87b46056830f92e54a9b95cca6f1fc9b3447aeeb691b24c1399612e2526e9ae1fe201",
        ),
        (
            auth.eip712_digest(&contract),
            "2d59bf328751d51977a302273b90a0636d662334b5a0a62350442210c995f65a211ce1e57e5f5036e0eb9b045f65a1f7c58c4094b3b8a5115e98f7d9658c2c1400",
        ),
        (
            auth.eip191_digest(),
            "c0c1b26d675fc4ee6f486d6d7f6441a6f9d93774d54b6971e7249984d3908ca332b16eccb911a2b05b511cf16d55de1d16f65f7692323780025a8e01b6dc6baa01",
        ),
    ];
    for (digest, signature) in cases {
        let signed = crate::sign::secp256k1_sign(&secret, &digest).unwrap();
        assert_eq!(signed.as_slice(), bytes(signature));
    }
}

#[test]
fn r6_blob_is_abi_encode_then_signature() {
    // `cast abi-encode` of the example's seven fields.
    let head = "000000000000000000000000000000000000000000000000000000000000002a\
                00000000000000000000000070997970c51812dc3a010c7d01b50e0d17dc79c8\
                0000000000000000000000000000000000000000000000000000000000000005\
                00000000000000000000000000000000000000000000000000000000713fb300\
                0000000000000000000000000000000000000000000000000000000000014a34\
                0000000000000000000000008004a818bfb912233c491871b3d84c89a494bd9e\
                000000000000000000000000f39fd6e51aad88f6f4ce6ab8827279cfffb92266";
    let blob = example().blob(&[0xee; 65]);
    assert_eq!(blob.len(), 289);
    assert_eq!(blob[..224], bytes(head));
    assert_eq!(blob[224..], [0xee; 65]);
    assert_eq!(decode_blob(&blob).unwrap(), (example(), &[0xee; 65][..]));
    assert_eq!(decode_eoa_blob(&blob).unwrap(), (example(), [0xee; 65]));
}

#[test]
fn r6_signature_of_a_contract_owner_may_have_any_length() {
    let mut out = [0; 512];
    for length in [0, 1, 64, 66, 200] {
        let signature = &[7; 200][..length];
        let blob = example().encode_blob(signature, &mut out).unwrap();
        assert_eq!(decode_blob(blob).unwrap(), (example(), signature));
        let error = decode_eoa_blob(blob).unwrap_err();
        assert_eq!(error.class(), ErrorClass::AuthMalformed, "{length}");
    }
    let error = example().encode_blob(&[0; 65], &mut [0; 288]).unwrap_err();
    assert_eq!(error.class(), ErrorClass::BadRequest);
}

#[test]
fn r6_refuses_truncated_and_over_long_blobs() {
    let blob = example().blob(&[1; 65]);
    for length in 1..WORDS_LENGTH {
        let error = decode_blob(&blob[..length]).unwrap_err();
        let limit = WORDS_LENGTH;
        assert_eq!(error, Error::AuthLength { length, limit });
    }
    let mut longer = [0; 290];
    longer[..289].copy_from_slice(&blob);
    for blob in [&blob[..288], &longer[..]] {
        let error = decode_eoa_blob(blob).unwrap_err();
        assert_eq!(error.class(), ErrorClass::AuthMalformed);
    }
    let class = ErrorClass::AuthMissing;
    assert_eq!(decode_blob(&[]).unwrap_err().class(), class);
    assert_eq!(decode_eoa_blob(&[]).unwrap_err().class(), class);
}

#[test]
fn r6_refuses_dirty_high_bytes_in_every_narrow_word() {
    for (index, (field, width)) in FIELDS.into_iter().enumerate() {
        for byte in 0..32 - width {
            let mut blob = example().blob(&[1; 65]);
            blob[32 * index + byte] = 1;
            let error = Error::AuthDirtyWord {
                word: index,
                field,
                width,
            };
            assert_eq!(decode_blob(&blob), Err(error));
        }
    }
}

#[test]
fn r9_svm_message_equals_one_hashed_by_cast() {
    // keccak256 by Foundry's `cast`, concatenation by hand.
    let auth = SvmFeedbackAuth {
        agent_mint: [1; 32],
        client: [2; 32],
        index_limit: 5,
        expiry: 1_900_000_000,
        chain: word("d29e4f51ca30c90e3b0bd295891ad4815ec081e851f67643faf3f32b4e67f68b"),
        program_id: [3; 32],
        signer: [4; 32],
    };
    let message = bytes(
        "455243383030342f464545444241434b2d415554482f7631\
         20ee6902af97ecd1de94b3af2fabd4d2bd3e9956ca89bdb811d504e871a52380",
    );
    assert_eq!(auth.message().as_slice(), message);
}

#[test]
fn r9_every_field_changes_the_message() {
    let auth = SvmFeedbackAuth {
        agent_mint: [1; 32],
        client: [1; 32],
        index_limit: 1,
        expiry: 1,
        chain: [1; 32],
        program_id: [1; 32],
        signer: [1; 32],
    };
    let other = [2; 32];
    let changed = [
        SvmFeedbackAuth {
            agent_mint: other,
            ..auth
        },
        SvmFeedbackAuth {
            client: other,
            ..auth
        },
        SvmFeedbackAuth {
            index_limit: 2,
            ..auth
        },
        SvmFeedbackAuth { expiry: 2, ..auth },
        SvmFeedbackAuth {
            chain: other,
            ..auth
        },
        SvmFeedbackAuth {
            program_id: other,
            ..auth
        },
        SvmFeedbackAuth {
            signer: other,
            ..auth
        },
    ];
    let mut messages: std::vec::Vec<_> = changed.iter().map(SvmFeedbackAuth::message).collect();
    messages.push(auth.message());
    messages.sort_unstable();
    messages.dedup();
    assert_eq!(messages.len(), 8);
}

#[test]
fn r10_x84_message_is_reviewer_then_mint() {
    let message = x84_message(&[2; 32], &[1; 32]);
    assert_eq!(
        (&message[..32], &message[32..]),
        (&[2; 32][..], &[1; 32][..])
    );
}

proptest! {
    #[test]
    fn blobs_round_trip(
        agent_id: [u8; 32],
        client_address: [u8; 20],
        index_limit: u64,
        expiry: [u8; 32],
        chain_id: [u8; 32],
        identity_registry: [u8; 20],
        signer_address: [u8; 20],
        signature in proptest::collection::vec(any::<u8>(), 0..130),
    ) {
        let auth = EvmFeedbackAuth {
            agent_id,
            client_address,
            index_limit,
            expiry,
            chain_id,
            identity_registry,
            signer_address,
        };
        let mut out = [0; 400];
        let blob = auth.encode_blob(&signature, &mut out).unwrap();
        prop_assert_eq!(blob.len(), WORDS_LENGTH + signature.len());
        prop_assert_eq!(decode_blob(blob).unwrap(), (auth, &signature[..]));
    }

    #[test]
    fn any_bytes_decode_to_what_encodes_them_or_are_refused(
        bytes in proptest::collection::vec(any::<u8>(), 0..400),
        clean in any::<bool>(),
    ) {
        let mut bytes = bytes;
        if clean {
            for (index, word) in bytes.chunks_exact_mut(32).take(7).enumerate() {
                word[..32 - FIELDS[index].1].fill(0);
            }
        }
        match decode_blob(&bytes) {
            Ok((auth, signature)) => {
                let mut out = [0; 400];
                prop_assert_eq!(auth.encode_blob(signature, &mut out).unwrap(), &bytes[..]);
            }
            Err(error) => prop_assert!(!clean || bytes.len() < WORDS_LENGTH, "{error}"),
        }
    }
}
