//! Token-2022's accounts, as far as an agent needs them: a base of 165 bytes, one byte for the
//! kind of account, then extensions as type (u16 LE), length (u16 LE) and value.
use solana_address::Address;

const BASE: usize = 165;
const TOKEN_METADATA: u16 = 19;

/// A mint account.
pub struct Mint {
    /// In the smallest unit.
    pub supply: u64,
    /// In the mint's own token metadata.
    pub uri: String,
}

/// A token account: who holds how much of which mint.
pub struct TokenAccount {
    pub mint: Address,
    pub owner: Address,
    pub amount: u64,
}

impl Mint {
    /// The token metadata holds update authority and mint (32 bytes each), then name, symbol and
    /// URI, each with a u32 LE length. None for an account without it.
    pub fn read(data: &[u8]) -> Option<Self> {
        let metadata = extension(data, TOKEN_METADATA)?;
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
    /// None for an account that is no token account, such as a mint.
    pub fn read(data: &[u8]) -> Option<Self> {
        const KIND: u8 = 2;
        if data.len() != BASE && data.get(BASE) != Some(&KIND) {
            return None;
        }
        Some(Self {
            mint: key(data.get(..32)?)?,
            owner: key(data.get(32..64)?)?,
            amount: u64::from_le_bytes(data.get(64..72)?.try_into().ok()?),
        })
    }
}

fn key(bytes: &[u8]) -> Option<Address> {
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
    let value = after.get(..length)?;
    *rest = after.get(length..)?;
    String::from_utf8(value.to_vec()).ok()
}
