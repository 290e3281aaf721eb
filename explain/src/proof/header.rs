use super::rlp::{self, RlpMalformed, at};
use alloy_primitives::{B256, keccak256};

/// What is read of a block's header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Header {
    pub parent: B256,
    pub state_root: B256,
    pub transactions_root: B256,
    pub receipts_root: B256,
    pub number: u64,
    /// Unix seconds.
    pub time: u64,
}

/// Why bytes are not the header of a hash.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum HeaderFault {
    #[error("the header hashes to {found}, and should to {expected}")]
    Hash { expected: B256, found: B256 },
    #[error(transparent)]
    Rlp(#[from] RlpMalformed),
}

const WHAT: &str = "the header";

impl Header {
    /// The header with this hash.
    pub(crate) fn of_hash(expected: B256, bytes: &[u8]) -> Result<Self, HeaderFault> {
        let found = keccak256(bytes);
        if found != expected {
            return Err(HeaderFault::Hash { expected, found });
        }
        Ok(Self::read(bytes)?)
    }

    fn read(bytes: &[u8]) -> Result<Self, RlpMalformed> {
        let items = rlp::list(bytes, WHAT)?;
        let word = |place| at(&items, place, WHAT)?.array(WHAT).map(B256::new);
        Ok(Self {
            parent: word(0)?,
            state_root: word(3)?,
            transactions_root: word(4)?,
            receipts_root: word(5)?,
            number: at(&items, 8, WHAT)?.number(WHAT)?,
            time: at(&items, 11, WHAT)?.number(WHAT)?,
        })
    }
}
