use super::some_address;
use concord_registry::svm::{
    AccountMeta,
    programs::{ASSOCIATED_TOKEN, SPL_TOKEN, TOKEN_2022},
    token::{PaymentMint, TokenAccount, TokenTransfer, associated_account},
};
use proptest::prelude::*;

/// By hand: authority (4 + 32), supply 5 (8), 6 decimals, initialized, freeze authority (4 + 32).
fn mint() -> Vec<u8> {
    [&[0; 36][..], &5_u64.to_le_bytes(), &[6, 1], &[0; 36]].concat()
}

/// The same with extensions: zeros to byte 165, the kind, then type, length and value of each.
fn mint_with(extensions: &[(u16, &[u8])]) -> Vec<u8> {
    let mut data = [&mint()[..], &[0; 83], &[1]].concat();
    for (kind, value) in extensions {
        data.extend(kind.to_le_bytes());
        data.extend(u16::try_from(value.len()).unwrap().to_le_bytes());
        data.extend(*value);
    }
    data
}

#[test]
fn a_mint_is_read_as_the_token_programs_document_it() {
    for program in [SPL_TOKEN, TOKEN_2022] {
        let expected = PaymentMint {
            program,
            decimals: 6,
            has_fee: false,
            has_hook: false,
        };
        assert_eq!(PaymentMint::read(&program, &mint()), Some(expected));
        for length in [0, 45, 81] {
            assert_eq!(PaymentMint::read(&program, &mint()[..length]), None);
        }
        for longer in [&[0][..], &[1], &[0; 83]] {
            let longer = [&mint()[..], longer].concat();
            assert_eq!(PaymentMint::read(&program, &longer), None);
        }
        let mut other = mint();
        other[45] = 0;
        assert_eq!(PaymentMint::read(&program, &other), None);
    }
    assert_eq!(PaymentMint::read(&ASSOCIATED_TOKEN, &mint()), None);
    assert_eq!(PaymentMint::read(&SPL_TOKEN, &mint_with(&[])), None);
    assert!(PaymentMint::read(&TOKEN_2022, &mint_with(&[])).is_some());
    let mut account = mint_with(&[]);
    account[165] = 2;
    assert_eq!(PaymentMint::read(&TOKEN_2022, &account), None);
}

/// Two authorities and what was withheld (72), then two fees of an epoch, a most and basis points (18).
fn fees(older: u16, newer: u16) -> Vec<u8> {
    let fee = |points: u16| [&[9; 16][..], &points.to_le_bytes()].concat();
    [&[7; 72][..], &fee(older), &fee(newer)].concat()
}

#[test]
fn a_fee_and_a_hook_are_seen() {
    let hook = |program: u8| [[7; 32], [program; 32]].concat();
    let close_authority = [7; 32];
    for (kind, value, has_fee, has_hook) in [
        (1, fees(0, 0), false, false),
        (1, fees(0, 1), true, false),
        (1, fees(256, 0), true, false),
        (14, hook(0), false, false),
        (14, hook(3), false, true),
    ] {
        let data = mint_with(&[(3, &close_authority), (kind, &value)]);
        let read = PaymentMint::read(&TOKEN_2022, &data).unwrap();
        assert_eq!(
            (read.has_fee, read.has_hook),
            (has_fee, has_hook),
            "{value:?}"
        );
        // cut off, or of another length than it is documented with
        assert_eq!(
            PaymentMint::read(&TOKEN_2022, &data[..data.len() - 1]),
            None
        );
        let longer = [&value[..], &[0]].concat();
        assert_eq!(
            PaymentMint::read(&TOKEN_2022, &mint_with(&[(kind, &longer)])),
            None
        );
    }
    let of_no_known_kind = mint_with(&[(60_000, &[])]);
    assert_eq!(PaymentMint::read(&TOKEN_2022, &of_no_known_kind), None);
}

#[test]
fn transfers_have_three_forms() {
    let amount = 9_u64.to_le_bytes();
    for (head, tail, destination) in [
        (&[3][..], &[][..], 1),
        (&[12], &[6], 2),
        (&[26, 1], &[6, 0, 0, 0, 0, 0, 0, 0, 0], 2),
    ] {
        let data = [head, &amount, tail].concat();
        let read = TokenTransfer::read(&TOKEN_2022, &data).unwrap();
        assert_eq!(
            (read.source, read.destination, read.amount),
            (0, destination, 9)
        );
        let cut = [head, &amount[..7]].concat();
        assert_eq!(TokenTransfer::read(&TOKEN_2022, &cut), None);
        assert_eq!(TokenTransfer::read(&ASSOCIATED_TOKEN, &data), None);
    }
    // mint to, burn, and another instruction about fees
    for data in [[7].as_slice(), &[8], &[26, 0]] {
        let data = [data, &amount].concat();
        assert_eq!(TokenTransfer::read(&SPL_TOKEN, &data), None);
    }
}

#[test]
fn a_payment_is_a_checked_transfer_between_associated_accounts() {
    let [mint, from, to] = [1, 2, 3].map(some_address);
    let of = PaymentMint {
        program: SPL_TOKEN,
        decimals: 6,
        has_fee: false,
        has_hook: false,
    };
    let made = of.transfer(&mint, &from, &to, 258);
    let place = |owner| associated_account(owner, &mint, &SPL_TOKEN);
    let expected = vec![
        AccountMeta::new(place(&from), false),
        AccountMeta::new_readonly(mint, false),
        AccountMeta::new(place(&to), false),
        AccountMeta::new_readonly(from, true),
    ];
    assert_eq!((made.program_id, made.accounts), (SPL_TOKEN, expected));
    // TransferChecked, 258 (u64 LE), 6 decimals
    assert_eq!(made.data, [12, 2, 1, 0, 0, 0, 0, 0, 0, 6]);
}

proptest! {
    #[test]
    fn no_account_or_instruction_panics(
        mut data in prop::collection::vec(any::<u8>(), 0..400),
        kind in 0_u8..3,
        is_mint in any::<bool>(),
    ) {
        if let Some(byte) = data.get_mut(165) {
            *byte = kind;
        }
        if let (Some(byte), true) = (data.get_mut(45), is_mint) {
            *byte = 1;
        }
        for program in [SPL_TOKEN, TOKEN_2022, ASSOCIATED_TOKEN] {
            let _ = (PaymentMint::read(&program, &data), TokenAccount::read(&program, &data));
            let _ = TokenTransfer::read(&program, &data);
        }
    }
}
