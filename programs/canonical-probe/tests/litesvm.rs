//! `concord-canonical` inside the Solana VM against values that other programs computed:
//! Foundry's `cast keccak`, coreutils' `sha256sum`, Python's integers, and the published vectors
//! of X402 and of X84's SDK.

use anchor_lang::prelude::borsh::BorshSerialize;
use canonical_probe::Probe;
use litesvm::LiteSVM;
use solana_address::Address;
use solana_instruction::Instruction;
use solana_keypair::Keypair;
use solana_message::Message;
use solana_signer::Signer;
use solana_transaction::Transaction;

/// What the program answers; `None` if it refuses.
fn ask(probe: &Probe) -> Option<Vec<u8>> {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../target/deploy/canonical_probe.so"
    );
    let elf = std::fs::read(path)
        .expect("target/deploy/canonical_probe.so is missing: run scripts/build-program");
    let program_id = Address::from([0xCA; 32]);
    let mut svm = LiteSVM::new();
    svm.add_program(program_id, &elf)
        .expect("the VM accepts the program");
    let payer = Keypair::new();
    svm.airdrop(&payer.pubkey(), 1_000_000_000).unwrap();
    let mut data = vec![];
    probe.serialize(&mut data).unwrap();
    let instruction = Instruction {
        program_id,
        accounts: vec![],
        data,
    };
    let message = Message::new(&[instruction], Some(&payer.pubkey()));
    let transaction = Transaction::new(&[&payer], message, svm.latest_blockhash());
    let sent = svm.send_transaction(transaction).ok()?;
    Some(sent.return_data.data)
}

#[track_caller]
fn assert_answer(probe: &Probe, expected: &str) {
    assert_eq!(ask(probe).map(hex::encode).as_deref(), Some(expected));
}

#[test]
fn hashes_are_the_system_calls() {
    assert_answer(
        &Probe::Keccak256(b"hello".to_vec()),
        "1c8aff950685c2ed4bc3174f3472287b56d9517b9c948127319a09a7a36deac8",
    );
    assert_answer(
        &Probe::Keccak256(vec![]),
        "c5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470",
    );
    assert_answer(
        &Probe::Sha256(b"speed".to_vec()),
        "bbccb9c002d5ed5994789fd8d38a8af3825f7691e10c44cac9b07dc54b15c2ee",
    );
}

#[test]
fn interaction_and_data_hash() {
    assert_answer(
        &Probe::DataHash {
            request: b"hello".to_vec(),
            response: b"world".to_vec(),
        },
        "54ff40b9165bc013d79cc6a608270dfe7ab5815364ade2f7be770e86d4504f84",
    );
    let data_hash =
        hex::decode("54ff40b9165bc013d79cc6a608270dfe7ab5815364ade2f7be770e86d4504f84").unwrap();
    assert_answer(
        &Probe::InteractionHash {
            task_ref: "solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1:sig".into(),
            data_hash: data_hash.try_into().unwrap(),
        },
        "1a96d2aff32b1fb97537205d4bb9a83bd2314f0322c66c92a516be2c759cc8e7",
    );
}

#[test]
fn tag_and_chain() {
    assert_answer(
        &Probe::HashedTag("reliability".into()),
        "819bb986f4199f141bc48a85fee53780516ee28183b3cc883c3411ff7d9e4ada",
    );
    assert_answer(&Probe::HashedTag(String::new()), &"00".repeat(32)); // R14
    assert_answer(
        &Probe::ChainHash("solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1".into()),
        "d29e4f51ca30c90e3b0bd295891ad4815ec081e851f67643faf3f32b4e67f68b",
    );
    assert_answer(
        &Probe::ChainHash("solana:localnet".into()),
        "4fc10f22c1d5171ef5e584814940759139b8c39c212d8ebe4808e31713a26612",
    );
}

#[test]
fn feedback_authorization() {
    // R9: cast keccak over 224 bytes, behind "ERC8004/FEEDBACK-AUTH/v1"
    let prefix = "455243383030342f464545444241434b2d415554482f7631";
    assert_answer(
        &Probe::FeedbackAuth {
            keys: [[1; 32], [2; 32], [3; 32], [4; 32], [5; 32]],
            index_limit: 3,
            expiry: 1_800_003_600,
        },
        &format!("{prefix}bb4949245642088c7264d19474a80a41ad4ee1dfe851361a430cdcd5fe115bc6"),
    );
}

#[test]
fn open_summary_needs_128_and_256_bit_arithmetic() {
    // R16
    const MAX: i128 = 100_000_000_000_000_000_000_000_000_000_000_000_000;
    let cases = [
        (vec![(9977, 2), (50, 0), (1, 0)], (3u64, 50i128, 0u8)),
        (vec![(-9977, 2), (-1, 2), (3, 0)], (3, -3226, 2)),
        (
            vec![(MAX, 0), (MAX - 7, 0), (123_456_789, 18), (1, 18), (5, 18)],
            (5, 39_999_999_999_999_999_999_999_999_999_999_999_998, 0),
        ),
        (
            [vec![(-MAX, 0); 3], vec![(-1, 18); 4]].concat(),
            (7, -42_857_142_857_142_857_142_857_142_857_142_857_142, 0),
        ),
        (
            vec![(MAX, 18), (-3, 1)],
            (2, 499_999_999_999_999_999_998, 1),
        ),
    ];
    for (values, (count, value, decimals)) in cases {
        let expected = [&count.to_le_bytes()[..], &value.to_le_bytes(), &[decimals]].concat();
        assert_eq!(ask(&Probe::OpenSummary(values)), Some(expected));
    }
}

#[test]
fn refuses_what_the_rules_refuse() {
    for probe in [
        Probe::HashedTag("a".repeat(33)), // R14
        Probe::HashedTag("a\0".into()),
        Probe::ChainHash("Solana:localnet".into()),
        Probe::InteractionHash {
            task_ref: "solana:localnet".into(), // R24
            data_hash: [0; 32],
        },
        Probe::OpenSummary(vec![(1, 19)]), // R16
    ] {
        assert_eq!(ask(&probe), None);
    }
}
