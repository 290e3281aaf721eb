//! What an impostor is, byte for byte.
use super::places::Place;
use concord_registry::svm::{Program, programs::TOKEN_2022};
use solana_account::Account;
use solana_address::Address;

/// The token program before Token-2022: it owns accounts that anybody can make.
const ANOTHER_PROGRAM: Address =
    Address::from_str_const("TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA");
/// A Token-2022 account before its extensions: the base of a token account, and the kind of account.
const BASE: usize = 165;
const MINT: usize = 82;
/// Nothing else that Token-2022 keeps has this length.
const MULTISIG: usize = 355;
/// Lamports: enough for the rent of every impostor, and for a payer.
const LAMPORTS: u64 = 10_000_000_000;
const DISCRIMINATOR: usize = 8;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// No account at all.
    Vacant,
    /// Token-2022's account of several signers.
    Multisig,
    /// Another one, whose signers' bytes spell a token account of the agent's in mid-transfer, which its maker owns.
    MultisigInTransfer,
    /// A mint of somebody's, of Token-2022.
    Mint,
    /// A token account of another mint, in mid-transfer.
    TokenAccountOfAnotherMint,
    /// The same bytes, of another program.
    CopyOfAnotherProgram,
    /// An account of the program of another type.
    AnotherType,
    /// An account of the program of the same type, which is another agent's, client's or entry's.
    OfAnother,
    /// The same, cut off before it says what it is; a token account, cut off before its extensions.
    TooShort,
    /// The same, of another agent, with more bytes behind.
    TooLong,
    /// An account that was given to the program and that it never wrote. Anybody can make one.
    Zeros,
    /// Another account of the same instruction.
    Alias,
    /// The right one, but it does not sign.
    Unsigned,
    /// The right one, but it cannot be written.
    ReadOnly,
}

impl Kind {
    pub const ALL: [Self; 14] = [
        Self::Vacant,
        Self::Multisig,
        Self::MultisigInTransfer,
        Self::Mint,
        Self::TokenAccountOfAnotherMint,
        Self::CopyOfAnotherProgram,
        Self::AnotherType,
        Self::OfAnother,
        Self::TooShort,
        Self::TooLong,
        Self::Zeros,
        Self::Alias,
        Self::Unsigned,
        Self::ReadOnly,
    ];

    pub const fn name(self) -> &'static str {
        match self {
            Self::Vacant => "vacant",
            Self::Multisig => "multisig",
            Self::MultisigInTransfer => "multisig_in_transfer",
            Self::Mint => "mint",
            Self::TokenAccountOfAnotherMint => "token_account_of_another_mint",
            Self::CopyOfAnotherProgram => "copy_of_another_program",
            Self::AnotherType => "another_type",
            Self::OfAnother => "of_another",
            Self::TooShort => "too_short",
            Self::TooLong => "too_long",
            Self::Zeros => "zeros",
            Self::Alias => "alias",
            Self::Unsigned => "unsigned",
            Self::ReadOnly => "read_only",
        }
    }
}

/// What an impostor is made from.
pub struct Original<'a> {
    pub place: Place,
    /// The account in whose place it is; `None` if there is none.
    pub account: Option<&'a Account>,
    /// The agent's.
    pub mint: Address,
    /// Who makes the impostor.
    pub maker: Address,
    /// Some account of the program.
    pub of_program: &'a [u8],
}

impl Kind {
    /// The account at an address of its maker's. `None` if there is none there, or it is one that exists elsewhere.
    pub fn account(self, program: &Program, original: &Original<'_>) -> Option<Account> {
        let token = original.place.is_token_account();
        let own = original.account.map_or(original.of_program, |it| &it.data);
        let ours = original.account.filter(|it| it.owner == program.id());
        let ours = ours.map_or(original.of_program, |it| &it.data);
        let (mint, maker) = (&original.mint, &original.maker);
        let (owner, data) = match self {
            Self::Multisig => (TOKEN_2022, multisig(maker)),
            Self::MultisigInTransfer => (TOKEN_2022, padded(in_transfer(mint, maker), MULTISIG)),
            Self::Mint => (TOKEN_2022, of_a_mint(maker)),
            Self::TokenAccountOfAnotherMint => (TOKEN_2022, in_transfer(maker, maker)),
            Self::CopyOfAnotherProgram if token => (ANOTHER_PROGRAM, in_transfer(mint, maker)),
            Self::CopyOfAnotherProgram => (ANOTHER_PROGRAM, own.to_vec()),
            Self::TooShort if token => (TOKEN_2022, in_transfer(mint, maker)[..BASE].to_vec()),
            Self::TooShort => (program.id(), ours[..DISCRIMINATOR - 1].to_vec()),
            Self::TooLong if token => {
                let account = in_transfer(maker, maker);
                let longer = account.len() + 64;
                (TOKEN_2022, padded(account, longer))
            }
            Self::TooLong => (program.id(), longer_and_another_s(ours)),
            Self::Zeros => (program.id(), vec![0; own.len().max(1)]),
            Self::Vacant
            | Self::AnotherType
            | Self::OfAnother
            | Self::Alias
            | Self::Unsigned
            | Self::ReadOnly => return None,
        };
        Some(Account {
            lamports: LAMPORTS,
            data,
            owner,
            ..Account::default()
        })
    }

    /// For a payer of fees.
    pub fn purse() -> Account {
        Account {
            lamports: LAMPORTS,
            ..Account::default()
        }
    }
}

/// One of eleven: how many must sign, how many can, that it is initialized, then the signers.
fn multisig(signer: &Address) -> Vec<u8> {
    let mut data = vec![1, 11, 1];
    data.extend(signer.to_bytes().repeat(11));
    data
}

/// Mint authority (none), supply, decimals, initialized, freeze authority (the maker).
fn of_a_mint(maker: &Address) -> Vec<u8> {
    let mut data = vec![0; 36];
    data.extend(1u64.to_le_bytes());
    data.extend([0, 1, 1, 0, 0, 0]);
    data.extend(maker.to_bytes());
    debug_assert_eq!(data.len(), MINT);
    data
}

/// A token account of one token with the extensions TransferHookAccount, whose flag is set, and ImmutableOwner.
fn in_transfer(mint: &Address, owner: &Address) -> Vec<u8> {
    const STATE: usize = 108;
    let mut data = [&mint.to_bytes()[..], &owner.to_bytes(), &1u64.to_le_bytes()].concat();
    data.resize(BASE, 0);
    data[STATE] = 1; // initialized
    data.extend([2, 15, 0, 1, 0, 1, 7, 0, 0, 0]);
    data
}

fn padded(mut data: Vec<u8>, length: usize) -> Vec<u8> {
    data.resize(length, 0);
    data
}

/// Every type begins with whom it belongs to, after its discriminator.
fn longer_and_another_s(data: &[u8]) -> Vec<u8> {
    let mut longer = padded(data.to_vec(), data.len() + 64);
    longer[DISCRIMINATOR] ^= 1;
    longer
}
