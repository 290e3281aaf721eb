use super::{ChainId, EIP155, SOLANA, check_part, parse_base58, parse_hex};
use crate::Word;
use crate::error::{Error, Excerpt, TextFault};
use core::fmt;

/// A CAIP-10 account id, such as `eip155:84532:0x8004A818BFB912233c491871b3d84c89A494BD9e`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct AccountId<'a> {
    chain_id: ChainId<'a>,
    address: &'a str,
}

impl<'a> AccountId<'a> {
    /// An account id from its text, held to the strict form of its namespace (see [`crate::caip`]).
    /// EIP-55 checksums are not judged: the sources write addresses in either case.
    ///
    /// # Errors
    /// [`Error::MalformedAccountId`] with the part that broke the form, also where that part is
    /// the chain id's.
    pub fn parse(text: &'a str) -> Result<Self, Error> {
        let missing = malformed("address", text, TextFault::Missing);
        let (namespace, rest) = text.split_once(':').ok_or(missing)?;
        let (reference, address) = rest.split_once(':').ok_or(missing)?;
        let chain_id = ChainId::from_parts(namespace, reference).map_err(of_account)?;
        check_address(namespace, address).map_err(|fault| malformed("address", address, fault))?;
        Ok(Self { chain_id, address })
    }

    /// The chain.
    pub const fn chain_id(&self) -> ChainId<'a> {
        self.chain_id
    }

    /// The address, as written.
    pub const fn address(&self) -> &'a str {
        self.address
    }
}

impl fmt::Display for AccountId<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.chain_id, self.address)
    }
}

fn check_address(namespace: &str, address: &str) -> Result<(), TextFault> {
    check_part(
        address,
        1,
        128,
        |byte| matches!(byte, b'-' | b'.' | b'%' | b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9'),
    )?;
    match namespace {
        EIP155 => parse_hex::<20>(address).map(drop),
        SOLANA => parse_base58::<32>(address).map(drop),
        _ => Ok(()),
    }
}

/// The 20 bytes of an EVM address: `0x` and 40 hex digits of either case.
///
/// # Errors
/// [`Error::MalformedAddress`], naming `field`.
pub fn parse_evm_address(field: &'static str, text: &str) -> Result<[u8; 20], Error> {
    parse_hex(text).map_err(|fault| malformed_address(field, text, fault))
}

/// The 32 bytes of a Solana address or mint: base58.
///
/// # Errors
/// [`Error::MalformedAddress`], naming `field`.
pub fn parse_solana_key(field: &'static str, text: &str) -> Result<Word, Error> {
    parse_base58(text).map_err(|fault| malformed_address(field, text, fault))
}

/// The same fault, reported as one of the whole account id.
fn of_account(error: Error) -> Error {
    match error {
        Error::MalformedChainId {
            field,
            value,
            fault,
        } => Error::MalformedAccountId {
            field,
            value,
            fault,
        },
        other => other,
    }
}

fn malformed(field: &'static str, value: &str, fault: TextFault) -> Error {
    Error::MalformedAccountId {
        field,
        value: Excerpt::new(value),
        fault,
    }
}

fn malformed_address(field: &'static str, value: &str, fault: TextFault) -> Error {
    Error::MalformedAddress {
        field,
        value: Excerpt::new(value),
        fault,
    }
}
