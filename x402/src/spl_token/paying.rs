//! What a payer needs besides: mints, associated accounts and the transfer itself.

use concord_canonical::pda::find_address;
use concord_registry::svm::{
    AccountMeta, Address, Instruction,
    programs::{ASSOCIATED_TOKEN, TOKEN_2022},
};

use super::{ACCOUNT, TOKEN_PROGRAMS, TRANSFER_CHECKED};

/// Bytes of a mint before extensions.
const MINT: usize = 82;
/// The byte behind the 165 of an account, which a mint with extensions has as well.
const MINT_KIND: u8 = 1;
/// Extensions of a mint.
const TRANSFER_FEE_CONFIG: u16 = 1;
const TRANSFER_HOOK: u16 = 14;

/// The token account of `owner` that the associated-token program derives.
pub(crate) fn associated_account(owner: &Address, mint: &Address, program: &Address) -> Address {
    let seeds = [owner.as_ref(), program.as_ref(), mint.as_ref()];
    find_address(seeds, ASSOCIATED_TOKEN.as_array()).0.into()
}

/// A token's mint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PaymentMint {
    /// SPL Token or Token-2022.
    pub(crate) program: Address,
    pub(crate) decimals: u8,
    /// Whether the recipient gets less than what is sent.
    pub(crate) has_fee: bool,
    /// Whether a transfer calls another program, which wants accounts of its own.
    pub(crate) has_hook: bool,
}

impl PaymentMint {
    /// Reads a mint; `None` for an account of another owner or form.
    pub(crate) fn read(owner: &Address, data: &[u8]) -> Option<Self> {
        let is_mint = match data.len() {
            MINT => TOKEN_PROGRAMS.contains(owner),
            _ => *owner == TOKEN_2022 && data.get(ACCOUNT) == Some(&MINT_KIND),
        };
        let is_initialized = data.get(45) == Some(&1);
        if !is_mint || !is_initialized {
            return None;
        }
        // two authorities of 32 bytes and what was withheld (8); then two fees, each with its epoch (8), the
        // most (8) and basis points (2)
        let fee = extension(data, TRANSFER_FEE_CONFIG).unwrap_or_default();
        let points = [fee.get(88..90), fee.get(106..108)];
        // an authority of 32 bytes, then the program
        let hook = extension(data, TRANSFER_HOOK).and_then(|it| it.get(32..64));
        Some(Self {
            program: *owner,
            decimals: *data.get(44)?,
            has_fee: points.iter().flatten().any(|it| it != &[0, 0]),
            has_hook: hook.is_some_and(|it| it != [0; 32]),
        })
    }
}

/// Moves tokens between the associated accounts of two owners; `from` signs.
pub(crate) fn transfer_checked(
    mint: &Address,
    kind: &PaymentMint,
    (from, to): (&Address, &Address),
    amount: u64,
) -> Instruction {
    let account = |owner| associated_account(owner, mint, &kind.program);
    Instruction {
        program_id: kind.program,
        accounts: vec![
            AccountMeta::new(account(from), false),
            AccountMeta::new_readonly(*mint, false),
            AccountMeta::new(account(to), false),
            AccountMeta::new_readonly(*from, true),
        ],
        data: [
            &[TRANSFER_CHECKED],
            &amount.to_le_bytes()[..],
            &[kind.decimals],
        ]
        .concat(),
    }
}

fn extension(data: &[u8], wanted: u16) -> Option<&[u8]> {
    let mut rest = data.get(ACCOUNT + 1..)?;
    loop {
        let (kind, after) = rest.split_first_chunk::<2>()?;
        let (length, after) = after.split_first_chunk::<2>()?;
        let (value, after) = after.split_at_checked(usize::from(u16::from_le_bytes(*length)))?;
        if u16::from_le_bytes(*kind) == wanted {
            return Some(value);
        }
        rest = after;
    }
}
