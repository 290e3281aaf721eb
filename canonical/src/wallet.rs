//! The consent by which an address becomes an agent's wallet on EVM chains (R3).

use crate::auth::{domain_separator, eip712_digest};
use crate::{Word, hash, word};

/// EIP-712 domain name of the identity registry.
pub const EIP712_NAME: &str = "ERC8004IdentityRegistry";
/// EIP-712 domain version of the identity registry.
pub const EIP712_VERSION: &str = "1";
/// EIP-712 type of the consent.
pub const EIP712_TYPE: &str =
    "AgentWalletSet(uint256 agentId,address newWallet,address owner,uint256 deadline)";

/// What the new wallet signs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AgentWalletSet {
    /// The agent, uint256 big-endian.
    pub agent_id: Word,
    /// The wallet that consents and signs.
    pub new_wallet: [u8; 20],
    /// The agent's current owner.
    pub owner: [u8; 20],
    /// Unix seconds, uint256 big-endian: the last second at which the consent holds.
    pub deadline: Word,
}

impl AgentWalletSet {
    /// keccak256 of
    ///
    /// | offset | width | field |
    /// |---|---|---|
    /// | 0 | 32 | keccak256 of [`EIP712_TYPE`] |
    /// | 32 | 32 | agentId, big-endian |
    /// | 64 | 32 | newWallet, left-padded |
    /// | 96 | 32 | owner, left-padded |
    /// | 128 | 32 | deadline, big-endian |
    pub fn struct_hash(&self) -> Word {
        hash::keccak256v(&[
            &hash::keccak256(EIP712_TYPE.as_bytes()),
            &self.agent_id,
            &word::from_address(&self.new_wallet),
            &word::from_address(&self.owner),
            &self.deadline,
        ])
    }

    /// The EIP-712 digest under the identity registry's domain: keccak256 of
    ///
    /// | offset | width | field |
    /// |---|---|---|
    /// | 0 | 2 | `0x19 0x01` |
    /// | 2 | 32 | domain separator of `ERC8004IdentityRegistry`, `1`, `chain_id`, `verifying_contract` |
    /// | 34 | 32 | struct hash |
    pub fn digest(&self, chain_id: &Word, verifying_contract: &[u8; 20]) -> Word {
        let domain = domain_separator(EIP712_NAME, EIP712_VERSION, chain_id, verifying_contract);
        eip712_digest(&domain, &self.struct_hash())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{address, word};

    #[test]
    fn r3_digest_equals_the_published_one() {
        // Facts on EVM, §4: 84532, agent 42, anvil's accounts 0 (owner) and 1 (new wallet).
        let consent = AgentWalletSet {
            agent_id: word::from_u64(42),
            new_wallet: address("70997970C51812dc3A010C7d01b50e0d17dc79C8"),
            owner: address("f39Fd6e51aad88F6F4ce6aB8827279cffFb92266"),
            deadline: word::from_u64(1_760_000_200),
        };
        assert_eq!(
            hash::keccak256(EIP712_TYPE.as_bytes()),
            word("678b53cd718d595370ab070ebf48edfdcd834beac116bf23e625fc7f4d5b7d32")
        );
        assert_eq!(
            consent.struct_hash(),
            word("e0ac0a4475575eba4f639665ffa3a1673c7fccefd08d6a89d4f9942184369e80")
        );
        let registry = address("8004A818BFB912233c491871b3d84c89A494BD9e");
        assert_eq!(
            consent.digest(&word::from_u64(84532), &registry),
            word("9a48b5a854359f35bcddcd7887db1efa9cc8ef6180ec49a0993d97353baa9247")
        );
    }

    #[test]
    fn r3_chain_and_registry_bind_the_digest() {
        let consent = AgentWalletSet {
            agent_id: word::from_u64(1),
            new_wallet: [1; 20],
            owner: [2; 20],
            deadline: word::from_u64(1),
        };
        let digest = consent.digest(&word::from_u64(1), &[3; 20]);
        assert_ne!(digest, consent.digest(&word::from_u64(2), &[3; 20]));
        assert_ne!(digest, consent.digest(&word::from_u64(1), &[4; 20]));
    }
}
