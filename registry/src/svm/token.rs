//! Token-2022 and the associated-token program, as far as an agent's token needs them (R4).
//!
//! A Token-2022 account is a base of 165 bytes, one byte for the kind of account, then extensions
//! as type (u16 LE), length (u16 LE) and value.
use super::{
    instructions::{readonly, signer, signer_writable, writable},
    program::{Program, associated_token_account},
    programs::{ASSOCIATED_TOKEN, SYSTEM, TOKEN_2022},
};
use alloc::{string::String, vec, vec::Vec};
use solana_address::Address;
use solana_instruction::Instruction;

const BASE: usize = 165;
const TOKEN_ACCOUNT_KIND: u8 = 2;
const TOKEN_METADATA: u16 = 19;
const ONE: [u8; 8] = 1u64.to_le_bytes();

/// Bytes of a token account with the one extension that the mint's transfer hook asks for. It has
/// no ImmutableOwner, so the program refuses to let an agent in (R4).
pub const PLAIN_TOKEN_ACCOUNT_SPACE: usize = 171;

/// An agent's mint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mint {
    /// 1, or 0 after the token was burned.
    pub supply: u64,
    /// The agent's URI, from the mint's own token metadata (R4).
    pub uri: String,
}

/// A token account.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TokenAccount {
    /// The mint whose token it holds.
    pub mint: Address,
    /// Its owner.
    pub owner: Address,
    /// In the token's smallest unit.
    pub amount: u64,
}

impl Mint {
    /// Reads a mint with token metadata: update authority and mint (32 bytes each), then name,
    /// symbol and URI, each with a u32 LE length. `None` for an account of another owner or form.
    pub fn read(owner: &Address, data: &[u8]) -> Option<Self> {
        let metadata = extension(data, TOKEN_METADATA).filter(|_| *owner == TOKEN_2022)?;
        let mut rest = metadata.get(64..)?;
        text(&mut rest)?;
        text(&mut rest)?;
        Some(Self {
            supply: u64::from_le_bytes(data.get(36..44)?.try_into().ok()?),
            uri: text(&mut rest)?,
        })
    }
}

impl TokenAccount {
    /// Reads a token account. `None` for an account of another owner or kind, such as a mint.
    pub fn read(owner: &Address, data: &[u8]) -> Option<Self> {
        let is_token_account = data.len() == BASE || data.get(BASE) == Some(&TOKEN_ACCOUNT_KIND);
        if *owner != TOKEN_2022 || !is_token_account {
            return None;
        }
        Some(Self {
            mint: address(data.get(..32)?)?,
            owner: address(data.get(32..64)?)?,
            amount: u64::from_le_bytes(data.get(64..72)?.try_into().ok()?),
        })
    }
}

/// Creates `owner`'s associated token account for the mint unless it exists (CreateIdempotent).
/// The account has ImmutableOwner, which the program demands of a receiver (R4).
pub fn create_associated_account(payer: Address, owner: Address, mint: Address) -> Instruction {
    const CREATE_IDEMPOTENT: u8 = 1;
    Instruction {
        program_id: ASSOCIATED_TOKEN,
        accounts: vec![
            signer_writable(payer),
            writable(associated_token_account(&owner, &mint)),
            readonly(owner),
            readonly(mint),
            readonly(SYSTEM),
            readonly(TOKEN_2022),
        ],
        data: vec![CREATE_IDEMPOTENT],
    }
}

/// Creates a token account of `owner` at `account`, a new key's address, that is not an associated
/// one: the system program's CreateAccount, then InitializeAccount3. `lamports` is the rent of
/// [`PLAIN_TOKEN_ACCOUNT_SPACE`] bytes.
pub fn create_plain_account(
    payer: Address,
    account: Address,
    owner: Address,
    mint: Address,
    lamports: u64,
) -> [Instruction; 2] {
    const CREATE_ACCOUNT: [u8; 4] = [0; 4];
    const INITIALIZE_ACCOUNT_3: u8 = 18;
    let space = (PLAIN_TOKEN_ACCOUNT_SPACE as u64).to_le_bytes();
    let lamports = lamports.to_le_bytes();
    let create = Instruction {
        program_id: SYSTEM,
        accounts: vec![signer_writable(payer), signer_writable(account)],
        data: [
            &CREATE_ACCOUNT[..],
            &lamports[..],
            &space,
            TOKEN_2022.as_ref(),
        ]
        .concat(),
    };
    let initialize = Instruction {
        program_id: TOKEN_2022,
        accounts: vec![writable(account), readonly(mint)],
        data: [&[INITIALIZE_ACCOUNT_3], owner.as_ref()].concat(),
    };
    [create, initialize]
}

impl Program {
    /// Transfers the agent's token from `from`'s associated account to the token account `to`:
    /// TransferChecked of 1 with 0 decimals, and the accounts of the transfer hook (R4).
    pub fn transfer_agent(
        &self,
        authority: Address,
        from: Address,
        to: Address,
        mint: Address,
    ) -> Instruction {
        const TRANSFER_CHECKED: u8 = 12;
        Instruction {
            program_id: TOKEN_2022,
            accounts: vec![
                writable(associated_token_account(&from, &mint)),
                readonly(mint),
                writable(to),
                signer(authority),
                writable(self.agent(&mint)),
                readonly(self.event_authority()),
                readonly(self.id()),
                readonly(self.extra_account_metas(&mint)),
            ],
            data: [&[TRANSFER_CHECKED], &ONE[..], &[0]].concat(),
        }
    }
}

/// Burns the agent's token in `from`'s associated account. The program is not asked (§3a, variance
/// 7).
pub fn burn(authority: Address, from: Address, mint: Address) -> Instruction {
    const BURN: u8 = 8;
    Instruction {
        program_id: TOKEN_2022,
        accounts: vec![
            writable(associated_token_account(&from, &mint)),
            writable(mint),
            signer(authority),
        ],
        data: [&[BURN], &ONE[..]].concat(),
    }
}

fn address(bytes: &[u8]) -> Option<Address> {
    <[u8; 32]>::try_from(bytes).ok().map(Address::from)
}

fn extension(data: &[u8], wanted: u16) -> Option<&[u8]> {
    let mut rest = data.get(BASE + 1..)?;
    loop {
        let (kind, after) = rest.split_first_chunk::<2>()?;
        let (length, after) = after.split_first_chunk::<2>()?;
        let length = usize::from(u16::from_le_bytes(*length));
        let value = after.get(..length)?;
        if u16::from_le_bytes(*kind) == wanted {
            return Some(value);
        }
        rest = after.get(length..)?;
    }
}

fn text(rest: &mut &[u8]) -> Option<String> {
    let (length, after) = rest.split_first_chunk::<4>()?;
    let length = usize::try_from(u32::from_le_bytes(*length)).ok()?;
    let value: Vec<u8> = after.get(..length)?.to_vec();
    *rest = after.get(length..)?;
    String::from_utf8(value).ok()
}
