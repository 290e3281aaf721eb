use borsh::{BorshDeserialize, BorshSerialize};
use concord_registry::event::Position;
use std::fmt;

/// Where in its chain an event is: block, transaction within the block, position within the
/// transaction. Places are ordered as their events were, and so are their bytes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, BorshSerialize, BorshDeserialize)]
pub struct Place([u8; Place::LENGTH]);

impl Place {
    /// Bytes of a place.
    pub const LENGTH: usize = 24;
    /// Bytes of a position within a transaction; on EVM within a block.
    pub const POSITION: usize = 12;

    /// A place. `transaction` is the transaction's index in its block if [`Position`] does not
    /// order the whole block: on Solana. On EVM it is 0, since log indices count through the block.
    #[must_use]
    pub fn new(block: u64, transaction: u32, position: Position) -> Self {
        let words = match position {
            Position::Evm { log } => [(log >> 32) as u32, log as u32, 0],
            Position::Svm {
                instruction,
                call,
                line,
            } => [instruction, call, line],
        };
        let mut bytes = [0; Self::LENGTH];
        bytes[..8].copy_from_slice(&block.to_be_bytes());
        bytes[8..12].copy_from_slice(&transaction.to_be_bytes());
        for (word, at) in words.iter().zip(bytes[12..].as_chunks_mut::<4>().0) {
            *at = word.to_be_bytes();
        }
        Self(bytes)
    }

    /// The first place of a block.
    #[must_use]
    pub fn start_of(block: u64) -> Self {
        Self::new(block, 0, Position::Evm { log: 0 })
    }

    /// Returns the block's number; on Solana the slot.
    #[must_use]
    pub fn block(&self) -> u64 {
        let mut number = [0; 8];
        number.copy_from_slice(&self.0[..8]);
        u64::from_be_bytes(number)
    }

    /// Returns the position within the transaction; on EVM within the block.
    #[must_use]
    pub fn position(&self) -> [u8; Self::POSITION] {
        let mut position = [0; Self::POSITION];
        position.copy_from_slice(&self.0[Self::LENGTH - Self::POSITION..]);
        position
    }

    /// Returns the bytes, which sort as places do.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; Self::LENGTH] {
        &self.0
    }

    /// Returns the place with these bytes.
    #[must_use]
    pub const fn from_bytes(bytes: [u8; Self::LENGTH]) -> Self {
        Self(bytes)
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex::encode(self.0))
    }
}

impl fmt::Debug for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_sort_as_events_were_emitted() {
        let svm = |instruction, call, line| Position::Svm {
            instruction,
            call,
            line,
        };
        let places = [
            Place::start_of(7),
            Place::new(7, 0, Position::Evm { log: 255 }),
            Place::new(7, 0, Position::Evm { log: 256 }),
            Place::new(7, 0, Position::Evm { log: 1 << 40 }),
            Place::new(7, 1, svm(0, 2, 0)),
            Place::new(7, 1, svm(0, 2, 1)),
            Place::new(7, 1, svm(1, 0, 0)),
            Place::new(7, 256, svm(0, 0, 0)),
            Place::start_of(256),
        ];
        assert!(places.is_sorted());
        assert!(places.iter().map(Place::as_bytes).is_sorted());
        assert_eq!(places.map(|it| it.block()), [7, 7, 7, 7, 7, 7, 7, 7, 256]);
    }
}
