use super::{EIP155, SOLANA, check_alphabet, check_part, is_base58};
use crate::error::{Error, Excerpt, TextFault};
use crate::{Word, hash};
use core::fmt;

/// A CAIP-2 chain id, such as `eip155:84532` or `solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ChainId<'a> {
    namespace: &'a str,
    reference: &'a str,
}

impl<'a> ChainId<'a> {
    /// A chain id from its text, held to the strict form of its namespace (see [`crate::caip`]).
    ///
    /// # Errors
    /// [`Error::MalformedChainId`] with the part that broke the form.
    pub fn parse(text: &'a str) -> Result<Self, Error> {
        let (namespace, reference) =
            text.split_once(':')
                .ok_or(malformed("reference", text, TextFault::Missing))?;
        Self::from_parts(namespace, reference)
    }

    /// A chain id from its two parts, checked as in [`ChainId::parse`].
    ///
    /// # Errors
    /// [`Error::MalformedChainId`] with the part that broke the form.
    pub fn from_parts(namespace: &'a str, reference: &'a str) -> Result<Self, Error> {
        check_part(
            namespace,
            3,
            8,
            |byte| matches!(byte, b'-' | b'a'..=b'z' | b'0'..=b'9'),
        )
        .map_err(|fault| malformed("namespace", namespace, fault))?;
        check_reference(namespace, reference)
            .map_err(|fault| malformed("reference", reference, fault))?;
        Ok(Self {
            namespace,
            reference,
        })
    }

    /// The part before the colon.
    pub const fn namespace(&self) -> &'a str {
        self.namespace
    }

    /// The part after the colon.
    pub const fn reference(&self) -> &'a str {
        self.reference
    }

    /// keccak256 of the chain id's text: the `chain` word of every preimage that is not EVM's own
    /// (R9, R20).
    ///
    /// | offset | width | field |
    /// |---|---|---|
    /// | 0 | 3 to 8 | namespace, ASCII |
    /// | … | 1 | `:` |
    /// | … | 1 to 32 | reference, ASCII |
    pub fn hash(&self) -> Word {
        hash::keccak256v(&[self.namespace.as_bytes(), b":", self.reference.as_bytes()])
    }
}

impl fmt::Display for ChainId<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.namespace, self.reference)
    }
}

fn check_reference(namespace: &str, reference: &str) -> Result<(), TextFault> {
    check_part(
        reference,
        1,
        32,
        |byte| matches!(byte, b'-' | b'_' | b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9'),
    )?;
    match namespace {
        EIP155 => check_eip155_reference(reference),
        SOLANA => check_solana_reference(reference),
        _ => Ok(()),
    }
}

fn check_eip155_reference(reference: &str) -> Result<(), TextFault> {
    check_alphabet(reference, |byte| byte.is_ascii_digit())?;
    if reference.len() > 1 && reference.starts_with('0') {
        Err(TextFault::LeadingZero)
    } else {
        Ok(())
    }
}

/// A cluster is its genesis hash's first 32 base58 characters. `localnet`, which has no lasting
/// genesis, is the one name beside it (R9).
fn check_solana_reference(reference: &str) -> Result<(), TextFault> {
    match reference {
        "localnet" => Ok(()),
        _ => check_part(reference, 32, 32, is_base58),
    }
}

fn malformed(field: &'static str, value: &str, fault: TextFault) -> Error {
    Error::MalformedChainId {
        field,
        value: Excerpt::new(value),
        fault,
    }
}
