//! SPL Token and Token-2022, as far as payments need them. Both have the same accounts and instructions; a
//! Token-2022 account has extensions behind them, each as type (u16 LE), length (u16 LE) and value.

#[cfg(feature = "network")]
mod paying;

#[cfg(feature = "network")]
pub(crate) use paying::{PaymentMint, associated_account, transfer_checked};

use concord_registry::svm::{Address, programs::TOKEN_2022};

/// SPL Token.
pub(crate) const SPL_TOKEN: Address =
    Address::from_str_const("TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA");
/// The programs whose tokens pay.
pub(crate) const TOKEN_PROGRAMS: [Address; 2] = [SPL_TOKEN, TOKEN_2022];

/// The first byte of instructions.
const TRANSFER: u8 = 3;
const TRANSFER_CHECKED: u8 = 12;
const TRANSFER_FEE: u8 = 26;
/// The second byte of a transfer with a stated fee.
const TRANSFER_CHECKED_WITH_FEE: u8 = 1;

/// Bytes of an account before extensions.
const ACCOUNT: usize = 165;
/// The byte behind them, in Token-2022.
const ACCOUNT_KIND: u8 = 2;

/// A token account.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Holding {
    pub(crate) mint: Address,
    pub(crate) owner: Address,
    pub(crate) amount: u64,
}

impl Holding {
    /// Reads a token account; `None` for an account of another owner or form.
    pub(crate) fn read(owner: &Address, data: &[u8]) -> Option<Self> {
        let is_account = match data.len() {
            ACCOUNT => TOKEN_PROGRAMS.contains(owner),
            _ => *owner == TOKEN_2022 && data.get(ACCOUNT) == Some(&ACCOUNT_KIND),
        };
        let address = |from: usize| address_at(data, from);
        let amount = data.get(64..72)?.try_into().ok()?;
        Some(Self {
            mint: address(0)?,
            owner: address(32)?,
            amount: u64::from_le_bytes(amount),
        })
        .filter(|_| is_account)
    }
}

/// A transfer between token accounts, as positions among an instruction's accounts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TransferParts {
    pub(crate) source: usize,
    pub(crate) destination: usize,
    pub(crate) amount: u64,
}

impl TransferParts {
    /// Reads an instruction of a token program; `None` if it is not a transfer.
    pub(crate) fn read(data: &[u8]) -> Option<Self> {
        let (amount, destination) = match data {
            [TRANSFER, rest @ ..] => (rest, 1),
            [TRANSFER_CHECKED, rest @ ..] => (rest, 2),
            [TRANSFER_FEE, TRANSFER_CHECKED_WITH_FEE, rest @ ..] => (rest, 2),
            _ => return None,
        };
        Some(Self {
            source: 0,
            destination,
            amount: u64::from_le_bytes(amount.get(..8)?.try_into().ok()?),
        })
    }
}

fn address_at(data: &[u8], from: usize) -> Option<Address> {
    let bytes: [u8; 32] = data.get(from..from + 32)?.try_into().ok()?;
    Some(bytes.into())
}

#[cfg(all(test, feature = "network"))]
mod tests {
    use super::*;
    use concord_registry::svm::programs::ASSOCIATED_TOKEN;
    use proptest::prelude::*;

    #[test]
    fn the_layouts_are_those_that_the_token_programs_document() {
        // authority (4 + 32), supply 5 (8), decimals 6, initialized, freeze authority (4 + 32)
        let mint = [&[0; 36][..], &5_u64.to_le_bytes(), &[6, 1], &[0; 36]].concat();
        let read = PaymentMint::read(&SPL_TOKEN, &mint).unwrap();
        assert_eq!((read.program, read.decimals), (SPL_TOKEN, 6));
        assert!(PaymentMint::read(&TOKEN_2022, &mint).is_some());
        assert_eq!(PaymentMint::read(&ASSOCIATED_TOKEN, &mint), None);
        // mint, owner, amount 9 (8), then 93 bytes
        let held = [&[1; 32][..], &[2; 32], &9_u64.to_le_bytes(), &[0; 93]].concat();
        let read = Holding::read(&SPL_TOKEN, &held).unwrap();
        assert_eq!(
            (read.mint, read.owner, read.amount),
            ([1; 32].into(), [2; 32].into(), 9)
        );
        assert_eq!(Holding::read(&ASSOCIATED_TOKEN, &held), None);
        // with an extension behind the kind: of an account, which is not a mint
        let extended = [&held[..], &[ACCOUNT_KIND, 7, 0, 0, 0]].concat();
        assert!(Holding::read(&TOKEN_2022, &extended).is_some());
        assert_eq!(Holding::read(&SPL_TOKEN, &extended), None);
        assert_eq!(PaymentMint::read(&TOKEN_2022, &extended), None);
    }

    #[test]
    fn transfers_have_three_forms() {
        let amount = 9_u64.to_le_bytes();
        for (head, tail, destination) in [
            (&[3][..], &[][..], 1),
            (&[12], &[6], 2),
            (&[26, 1], &[6, 0, 0, 0, 0, 0, 0, 0, 0], 2),
        ] {
            let read = TransferParts::read(&[head, &amount, tail].concat()).unwrap();
            assert_eq!(
                (read.source, read.destination, read.amount),
                (0, destination, 9)
            );
            assert_eq!(TransferParts::read(&[head, &amount[..7]].concat()), None);
        }
        // mint to, burn, and another instruction about fees
        for data in [[7].as_slice(), &[8], &[26, 0]] {
            assert_eq!(TransferParts::read(&[data, &amount].concat()), None);
        }
    }

    proptest! {
        #[test]
        fn no_account_or_instruction_panics(
            mut data in prop::collection::vec(any::<u8>(), 0..400),
            kind in 0_u8..3,
            is_mint in any::<bool>(),
        ) {
            if let Some(byte) = data.get_mut(ACCOUNT) {
                *byte = kind;
            }
            if let (Some(byte), true) = (data.get_mut(45), is_mint) {
                *byte = 1;
            }
            for program in [SPL_TOKEN, TOKEN_2022, ASSOCIATED_TOKEN] {
                let _ = (PaymentMint::read(&program, &data), Holding::read(&program, &data));
            }
            let _ = TransferParts::read(&data);
        }
    }
}
