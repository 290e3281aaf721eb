//! What an aggregator signs when it accepts a submission: a link of its chain of receipts (R57).

use crate::{Word, hash};

/// First 18 bytes of a receipt's preimage (R57).
pub const PREFIX: &[u8; 18] = b"ERC8004/RECEIPT/v1";

/// One accepted submission. Each receipt commits to the one before it, so that none can be left
/// out later (R57).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Receipt<'a> {
    /// The hash of the receipt before this one; zeros for the first.
    pub previous: Word,
    /// The task reference's dedupe key, `:`, the payer's CAIP-10 id, which is lower case for
    /// `eip155`.
    pub key: &'a str,
    /// keccak256 of the submission's RFC 8785 bytes.
    pub payload_digest: Word,
    /// Unix seconds.
    pub accepted_at: u64,
}

impl Receipt<'_> {
    /// The receipt, 32 bytes that the aggregator signs with Ed25519: keccak256 of
    ///
    /// | offset | width | field |
    /// |---|---|---|
    /// | 0 | 18 | `"ERC8004/RECEIPT/v1"`, ASCII |
    /// | 18 | 32 | the receipt before, or zeros |
    /// | 50 | 32 | keccak256 of the key, UTF-8 |
    /// | 82 | 32 | payload digest |
    /// | 114 | 8 | time of acceptance, big-endian |
    pub fn hash(&self) -> Word {
        hash::keccak256v(&[
            PREFIX,
            &self.previous,
            &hash::keccak256(self.key.as_bytes()),
            &self.payload_digest,
            &self.accepted_at.to_be_bytes(),
        ])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::word;

    const KEY: &str = "eip155:84532:0xabababababababababababababababababababababababababababababababab:eip155:84532:0x70997970c51812dc3a010c7d01b50e0d17dc79c8";

    fn first() -> Receipt<'static> {
        Receipt {
            previous: [0; 32],
            key: KEY,
            payload_digest: [0x11; 32],
            accepted_at: 1_760_000_000,
        }
    }

    #[test]
    fn r57_a_chain_of_two_equals_one_hashed_by_cast() {
        assert_eq!(
            first().hash(),
            word("20564d87c43712716f7e0467fe8011c765f1f302977ffdc39c4889ecf9e655fc")
        );
        let second = Receipt {
            previous: first().hash(),
            payload_digest: [0x22; 32],
            accepted_at: u64::MAX,
            ..first()
        };
        assert_eq!(
            second.hash(),
            word("583764e2a36542fd85a8c927351ddafae40a7d739859e567166ce343072769b2")
        );
    }

    #[test]
    fn r57_every_field_changes_the_receipt() {
        let receipt = first();
        let mut hashes = [
            receipt,
            Receipt {
                previous: [1; 32],
                ..receipt
            },
            Receipt {
                key: "eip155:84532:0xab",
                ..receipt
            },
            Receipt {
                payload_digest: [1; 32],
                ..receipt
            },
            Receipt {
                accepted_at: 1,
                ..receipt
            },
        ]
        .map(|receipt| receipt.hash());
        hashes.sort_unstable();
        assert!(hashes.windows(2).all(|pair| pair[0] != pair[1]));
    }
}
