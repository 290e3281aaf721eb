use concord_canonical::hash::keccak256v;
use concord_chain::ChainId;
use concord_registry::{evm::RegistryAddresses, svm::Address};

/// The registries that are indexed together, on one chain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Deployment {
    /// Their chain.
    pub chain: ChainId,
    /// Where they are.
    pub contracts: Contracts,
    /// The block at which they were deployed, or any before it; on Solana a slot.
    pub start: u64,
}

/// Where registries are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Contracts {
    /// Concord's Solidity registries, or the canonical ones.
    Evm(RegistryAddresses),
    /// Concord's program.
    Svm(Address),
}

impl Deployment {
    /// Returns the identity registry's address, or the program's id: what an agent's CAIP-10
    /// registry id ends with.
    #[must_use]
    pub fn registry(&self) -> String {
        match &self.contracts {
            Contracts::Evm(addresses) => format!("0x{}", hex::encode(addresses.identity)),
            Contracts::Svm(program) => program.to_string(),
        }
    }

    /// Returns a digest of what is indexed: a store made for other contracts, or from another block
    /// on, lacks events.
    #[must_use]
    pub fn digest(&self) -> [u8; 32] {
        let mut parts = vec![self.chain.to_string().into_bytes()];
        match &self.contracts {
            Contracts::Evm(addresses) => {
                let optional = [
                    addresses.open_reputation,
                    addresses.authorized_reputation,
                    addresses.validation,
                ];
                parts.push(addresses.identity.to_vec());
                let optional = optional.map(|it| it.map_or(Vec::new(), |it| it.to_vec()));
                parts.extend(optional);
            }
            Contracts::Svm(program) => parts.push(program.to_bytes().to_vec()),
        }
        parts.push(self.start.to_be_bytes().to_vec());
        let framed: Vec<Vec<u8>> = parts
            .into_iter()
            .map(|part| [&(part.len() as u64).to_be_bytes()[..], &part].concat())
            .collect();
        let framed: Vec<&[u8]> = framed.iter().map(Vec::as_slice).collect();
        keccak256v(&framed)
    }
}
