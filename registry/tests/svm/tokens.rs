use super::{program, some_address};
use concord_registry::svm::{
    compute_budget,
    ed25519::{self, MessageTooLong},
    programs::{COMPUTE_BUDGET, ED25519, SPL_TOKEN, TOKEN_2022},
    token::{Mint, PaymentMint, TokenAccount},
};

/// A Token-2022 mint by hand: base, kind 1, a metadata pointer (extension 18), the token metadata.
fn mint(supply: u64, uri: &str) -> Vec<u8> {
    let mut data = vec![0; 165];
    data[36..44].copy_from_slice(&supply.to_le_bytes());
    data[45] = 1; // initialized
    data.push(1);
    data.extend([18, 0, 64, 0]);
    data.extend([7; 64]);
    let mut metadata = vec![8; 64];
    for text in ["AgentIdentity", "AGENT", uri] {
        metadata.extend(u32::try_from(text.len()).unwrap().to_le_bytes());
        metadata.extend(text.as_bytes());
    }
    metadata.extend([0; 4]);
    data.extend([19, 0]);
    data.extend(u16::try_from(metadata.len()).unwrap().to_le_bytes());
    data.extend(metadata);
    data
}

#[test]
fn r4_a_mint_is_read_with_its_metadata() {
    let data = mint(1, "ipfs://agent");
    let expected = Mint {
        supply: 1,
        uri: "ipfs://agent".to_owned(),
    };
    assert_eq!(Mint::read(&TOKEN_2022, &data), Some(expected));
    assert_eq!(Mint::read(&program().id(), &data), None);
    for length in [0, 82, 100, 166, data.len() - 10, data.len() - 1] {
        assert_eq!(Mint::read(&TOKEN_2022, &data[..length]), None, "{length}");
    }
    for (at, byte) in [(45, 0), (165, 0), (165, 2)] {
        let mut other = data.clone();
        other[at] = byte; // not initialized; of no kind; a token account
        assert_eq!(Mint::read(&TOKEN_2022, &other), None, "{at}: {byte}");
    }
    let mut not_utf8 = data.clone();
    let end = not_utf8.len() - 5;
    not_utf8[end] = 0xFF;
    assert_eq!(Mint::read(&TOKEN_2022, &not_utf8), None);
}

#[test]
fn a_token_account_is_read_and_a_mint_is_none() {
    let mut data = holding(1);
    let expected = TokenAccount {
        mint: some_address(1),
        owner: some_address(2),
        amount: 1,
        is_frozen: false,
    };
    for token_program in [TOKEN_2022, SPL_TOKEN] {
        assert_eq!(TokenAccount::read(&token_program, &data), Some(expected));
        for length in [0, 82, 164] {
            let cut = &data[..length];
            assert_eq!(TokenAccount::read(&token_program, cut), None, "{length}");
        }
        // one byte more, which is the kind: of nothing, of a mint
        for kind in 0..2 {
            let longer = [&data[..], &[kind]].concat();
            assert_eq!(TokenAccount::read(&token_program, &longer), None, "{kind}");
        }
        for (state, is_frozen) in [(0, None), (1, Some(false)), (2, Some(true)), (3, None)] {
            let read = TokenAccount::read(&token_program, &holding(state));
            assert_eq!(read.map(|it| it.is_frozen), is_frozen, "state {state}");
        }
    }
    data.extend([2, 7, 0, 0, 0]); // kind, ImmutableOwner
    assert_eq!(TokenAccount::read(&TOKEN_2022, &data), Some(expected));
    assert_eq!(TokenAccount::read(&SPL_TOKEN, &data), None);
    assert_eq!(TokenAccount::read(&program().id(), &data), None);
    let mint = mint(1, "");
    for token_program in [TOKEN_2022, SPL_TOKEN] {
        assert_eq!(TokenAccount::read(&token_program, &mint), None);
    }
}

/// A token account by hand: mint, owner, amount, no delegate, the state, then nothing.
fn holding(state: u8) -> Vec<u8> {
    let mut data = vec![0; 165];
    data[..32].fill(1);
    data[32..64].fill(2);
    data[64] = 1;
    data[108] = state;
    data
}

/// A Token-2022 multisig of one signer: m, n, initialized, then 11 keys, of which the first n are
/// whatever its maker wrote. From six keys on they reach byte 165, the kind of account.
fn multisig(keys: u8, kind: u8, of: &[u8]) -> Vec<u8> {
    let mut data = vec![0; 355];
    data[..of.len()].copy_from_slice(of);
    data[..3].copy_from_slice(&[1, keys, 1]);
    data[165] = kind;
    data
}

#[test]
fn r4_a_multisig_that_spells_a_token_account_is_not_one() {
    for keys in 6..=11 {
        let data = multisig(keys, 2, &holding(1));
        for token_program in [TOKEN_2022, SPL_TOKEN] {
            assert_eq!(
                TokenAccount::read(&token_program, &data),
                None,
                "{keys} keys"
            );
        }
    }
}

#[test]
fn r4_a_multisig_that_spells_a_mint_is_not_one() {
    let spelled = mint(1, "ipfs://stolen");
    for keys in 6..=11 {
        let data = multisig(keys, 1, &spelled);
        assert_eq!(Mint::read(&TOKEN_2022, &data), None, "{keys} keys");
        for token_program in [TOKEN_2022, SPL_TOKEN] {
            assert_eq!(
                PaymentMint::read(&token_program, &data),
                None,
                "{keys} keys"
            );
        }
    }
}

#[test]
fn r11_the_precompiles_instruction_has_the_one_layout() {
    let verify = ed25519::verify(&[1; 32], &[2; 64], b"text").unwrap();
    let header = [
        1, 0, 48, 0, 0xFF, 0xFF, 16, 0, 0xFF, 0xFF, 112, 0, 4, 0, 0xFF, 0xFF,
    ];
    let expected = [&header[..], &[1; 32], &[2; 64], b"text"].concat();
    assert_eq!((verify.program_id, verify.data), (ED25519, expected));
    assert!(verify.accounts.is_empty());
    let longest = vec![0; 65_535];
    assert!(ed25519::verify(&[1; 32], &[2; 64], &longest).is_ok());
    let too_long = vec![0; 65_536];
    let refused = ed25519::verify(&[1; 32], &[2; 64], &too_long);
    assert_eq!(refused, Err(MessageTooLong { length: 65_536 }));
}

#[test]
fn compute_budget_instructions_have_solanas_bytes() {
    let (limit, price, data) = (
        compute_budget::set_unit_limit(200_000),
        compute_budget::set_unit_price(1),
        compute_budget::set_loaded_data_limit(compute_budget::LOADED_DATA_MAX),
    );
    // 200,000 = 0x030D40
    assert_eq!(limit.data, [2, 0x40, 0x0D, 3, 0]);
    assert_eq!(price.data, [3, 1, 0, 0, 0, 0, 0, 0, 0]);
    // 64 MiB = 0x04000000
    assert_eq!(data.data, [4, 0, 0, 0, 4]);
    let programs = [limit.program_id, price.program_id, data.program_id];
    assert_eq!(programs, [COMPUTE_BUDGET; 3]);
}
