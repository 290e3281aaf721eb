//! The hash that names a validation request on every chain (R20).

use crate::{Word, hash, word};

/// First 25 bytes of the request hash's preimage (R20).
pub const PREFIX: &[u8; 25] = b"ERC8004/VALIDATION-REQ/v1";

/// The six fields that a validation request's hash commits to, one word each (R20).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ValidationRequest {
    /// keccak256 of the chain's CAIP-2 text, on every chain.
    pub chain: Word,
    /// The validation registry: an address left-padded, or the program id.
    pub registry: Word,
    /// The agent: a uint256, or its mint.
    pub agent: Word,
    /// The validator: an address left-padded, or its key.
    pub validator: Word,
    /// Hash of what is to be validated.
    pub payload_hash: Word,
    /// Any uint256, so that one payload can be validated again.
    pub nonce: Word,
}

impl ValidationRequest {
    /// A request to a registry on an EVM chain.
    pub fn evm(
        chain: Word,
        registry: &[u8; 20],
        agent_id: Word,
        validator: &[u8; 20],
        payload_hash: Word,
        nonce: Word,
    ) -> Self {
        Self {
            chain,
            registry: word::from_address(registry),
            agent: agent_id,
            validator: word::from_address(validator),
            payload_hash,
            nonce,
        }
    }

    /// The six 32-byte words.
    ///
    /// | offset | field | EVM | Solana |
    /// |---|---|---|---|
    /// | 0 | chain | keccak256 of the CAIP-2 text | the same |
    /// | 32 | registry | address, left-padded | program id |
    /// | 64 | agent | uint256 | mint |
    /// | 96 | validator | address, left-padded | key |
    /// | 128 | payload hash | bytes32 | bytes32 |
    /// | 160 | nonce | uint256 | uint256 big-endian |
    pub fn words(&self) -> [Word; 6] {
        [
            self.chain,
            self.registry,
            self.agent,
            self.validator,
            self.payload_hash,
            self.nonce,
        ]
    }

    /// The request hash: keccak256 of
    ///
    /// | offset | width | field |
    /// |---|---|---|
    /// | 0 | 25 | `"ERC8004/VALIDATION-REQ/v1"`, ASCII |
    /// | 25 | 32 | keccak256 of the six words, 192 bytes |
    pub fn hash(&self) -> Word {
        hash::keccak256v(&[PREFIX, &hash::keccak256(self.words().as_flattened())])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{address, word};

    const PAYLOAD_HASH: &str = "ebc84cbd75ba5516bf45e7024a9e12bc3c5c880f73e3a5beca7ebba52b2867a7";

    #[test]
    fn r20_request_hash_equals_one_hashed_by_cast_on_both_chains() {
        let evm = ValidationRequest::evm(
            hash::keccak256(b"eip155:84532"),
            &address("8004Cb1BF31DAf7788923b405b754f57acEB4272"),
            word::from_u64(42),
            &address("70997970C51812dc3A010C7d01b50e0d17dc79C8"),
            word(PAYLOAD_HASH),
            word::from_u64(7),
        );
        assert_eq!(
            evm.hash(),
            word("8acc3b96e5f51ecc1daa9a3804ceab9c300e3985b98ff9bc43f08b5be5c38971")
        );
        let svm = ValidationRequest {
            chain: word("d29e4f51ca30c90e3b0bd295891ad4815ec081e851f67643faf3f32b4e67f68b"),
            registry: [3; 32],
            agent: [1; 32],
            validator: [2; 32],
            payload_hash: word(PAYLOAD_HASH),
            nonce: [0xff; 32],
        };
        assert_eq!(
            svm.hash(),
            word("bf15a052e39e178b7bb9c89b816e04ec3cf5fce9d79a9dd918d351609516ff0f")
        );
    }

    #[test]
    fn r20_every_field_changes_the_hash() {
        let request = ValidationRequest {
            chain: [1; 32],
            registry: [1; 32],
            agent: [1; 32],
            validator: [1; 32],
            payload_hash: [1; 32],
            nonce: [1; 32],
        };
        let other = [2; 32];
        let mut hashes = [
            request.hash(),
            ValidationRequest {
                chain: other,
                ..request
            }
            .hash(),
            ValidationRequest {
                registry: other,
                ..request
            }
            .hash(),
            ValidationRequest {
                agent: other,
                ..request
            }
            .hash(),
            ValidationRequest {
                validator: other,
                ..request
            }
            .hash(),
            ValidationRequest {
                payload_hash: other,
                ..request
            }
            .hash(),
            ValidationRequest {
                nonce: other,
                ..request
            }
            .hash(),
        ];
        hashes.sort_unstable();
        assert!(hashes.windows(2).all(|pair| pair[0] != pair[1]));
    }
}
