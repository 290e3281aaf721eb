//! The types of arguments that JSON has no type for.
use alloc::vec::Vec;
use core::fmt;
use serde::de::{Deserialize, Deserializer, Error, Visitor};

/// Any number of bytes: hex of even length, with or without `0x`.
pub(super) struct Bytes(pub Vec<u8>);

macro_rules! fixed_bytes {
    ($($(#[$doc:meta])* $name:ident($length:literal);)*) => {
        $(
            $(#[$doc])*
            pub(super) struct $name(pub [u8; $length]);

            impl $name {
                /// The name by which [`Reader`](super::reader::Reader) knows the text form.
                pub const NAME: &str = stringify!($name);
            }

            impl<'de> Deserialize<'de> for $name {
                fn deserialize<D: Deserializer<'de>>(reader: D) -> Result<Self, D::Error> {
                    let bytes = reader.deserialize_newtype_struct(Self::NAME, BytesVisitor)?;
                    let length = bytes.len();
                    let bytes = bytes.try_into().map_err(|_| D::Error::invalid_length(length, &BytesVisitor))?;
                    Ok(Self(bytes))
                }
            }
        )*
    };
}

fixed_bytes! {
    /// Exactly 32 bytes in hex, with or without `0x`.
    Word(32);
    /// 40 hex digits, with or without `0x`.
    EvmAddress(20);
    /// 32 bytes in base58.
    SolanaKey(32);
    /// The keccak256 of a Solana cluster's CAIP-2 id, given as that id.
    SolanaChain(32);
    /// Big-endian. A JSON integer or its decimal text.
    Uint256(32);
    /// Big-endian, two's complement. A JSON integer or its decimal text.
    Int256(32);
}

impl<'de> Deserialize<'de> for Bytes {
    fn deserialize<D: Deserializer<'de>>(reader: D) -> Result<Self, D::Error> {
        reader.deserialize_byte_buf(BytesVisitor).map(Self)
    }
}

struct BytesVisitor;

impl Visitor<'_> for BytesVisitor {
    type Value = Vec<u8>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("bytes")
    }

    fn visit_byte_buf<E: Error>(self, bytes: Vec<u8>) -> Result<Vec<u8>, E> {
        Ok(bytes)
    }
}
