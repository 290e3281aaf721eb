//! Registries that are already deployed to a node.
use super::{
    Dialect, EvmNode, Registries, RegistryAddresses,
    deployment::accepts_draft_v1,
    later::Foreign,
    ledger::{Answer, Ledger, try_view},
    node::{Endpoint, Node},
};
use crate::backend::StepFault;
use alloy::primitives::{Address, B256, Bytes, U256, b256, keccak256};
use concord_registry::evm::abi::{Feedback, IdentityRegistry as Identity};

const NAME: &str = "evm-rpc";

/// Why registries cannot be tested. The endpoint is not in the text, because it may contain a key; the caller knows it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AttachFault {
    #[error("not an http:// URL with a host")]
    NotAUrl,
    #[error("does not answer as an EVM node does: {reason}")]
    NoAnswer { reason: String },
    #[error("its chain id is {found}, not {expected}")]
    WrongChain { expected: u64, found: u64 },
    #[error(
        "it is not a development node, so actors cannot be funded and the time cannot be set: {reason}"
    )]
    NotADevelopmentNode { reason: String },
    #[error("no contract at {address}, where the {registry} registry should be")]
    NoCode {
        registry: &'static str,
        address: Address,
    },
    #[error("the {registry} registry at {address} does not say its identity registry")]
    Unbound {
        registry: &'static str,
        address: Address,
    },
    #[error(
        "the {registry} registry at {address} is about the identity registry {bound}, not {identity}"
    )]
    BoundElsewhere {
        registry: &'static str,
        address: Address,
        bound: Address,
        identity: Address,
    },
    #[error("the canonical contracts have no authorized reputation registry")]
    NoAuthorizedProfile,
}

impl AttachFault {
    /// Is it the node that fails, rather than what was said of it?
    pub const fn is_the_node_s(&self) -> bool {
        matches!(
            self,
            Self::NoAnswer { .. } | Self::NotADevelopmentNode { .. }
        )
    }
}

/// ERC-1967: where a proxy keeps the address of its code.
const IMPLEMENTATION: B256 =
    b256!("360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc");

/// The code of a registry that was given by its address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundCode {
    pub contract: &'static str,
    pub address: Address,
    /// keccak256.
    pub hash: B256,
    /// What a registry of others answers to `getVersion()`. Concord's is compared with the other views (R2).
    pub version: Option<String>,
    /// The implementation in a proxy's ERC-1967 slot.
    pub implementation: Option<(Address, B256)>,
}

impl EvmNode {
    /// Returns the code at the addresses that were given.
    ///
    /// # Errors
    /// [`AttachFault::NoAnswer`].
    pub fn code(&self) -> Result<Vec<FoundCode>, AttachFault> {
        let addresses = self.addresses();
        let given = [
            ("IdentityRegistry", Some(addresses.identity)),
            ("ReputationRegistry", addresses.open_reputation),
            (
                "AuthorizedReputationRegistry",
                addresses.authorized_reputation,
            ),
            ("ValidationRegistry", addresses.validation),
        ];
        let given = given
            .into_iter()
            .filter_map(|(name, address)| Some((name, address?)));
        given
            .map(|(contract, address)| self.code_at(contract, address).map_err(no_answer))
            .collect()
    }

    fn code_at(&self, contract: &'static str, address: Address) -> Answer<FoundCode> {
        let node = self.ledger();
        let hash_at = |address| -> Answer<B256> { Ok(keccak256(node.code(address)?)) };
        let implementation = implementation_of(node, address)?;
        Ok(FoundCode {
            contract,
            address,
            hash: hash_at(address)?,
            version: self.others.version_of(address).map(str::to_owned),
            implementation: match implementation {
                Address::ZERO => None,
                it => Some((it, hash_at(it)?)),
            },
        })
    }

    /// Registries at `addresses` on the development node (anvil) at `endpoint`, whose
    /// chain id must be `chain_id`. What has no address is not supported. Actors are funded and the
    /// time is set on the node; every reset takes it back to how it is now.
    ///
    /// # Errors
    /// No such node or registries: see [`AttachFault`].
    pub fn attach(
        endpoint: &Endpoint,
        chain_id: u64,
        addresses: RegistryAddresses,
        dialect: Dialect,
    ) -> Result<Self, AttachFault> {
        if dialect.has_canonical_abi() && addresses.authorized_reputation.is_some() {
            return Err(AttachFault::NoAuthorizedProfile);
        }
        if !endpoint.is_url() {
            return Err(AttachFault::NotAUrl);
        }
        let mut node = Node::connect(endpoint).map_err(no_answer)?;
        if node.chain_id() != chain_id {
            return Err(AttachFault::WrongChain {
                expected: chain_id,
                found: node.chain_id(),
            });
        }
        check_registries(&mut node, &addresses)?;
        let not_for_development = |fault: StepFault| AttachFault::NotADevelopmentNode {
            reason: reason_of(fault),
        };
        let standing = Registries::standing(NAME, node, addresses, dialect);
        let mut standing = standing.map_err(not_for_development)?;
        let unused = unused_ids(&mut standing.ledger, addresses.identity)?;
        let accepts = accepts_draft_v1(&mut standing.ledger, &addresses).map_err(no_answer)?;
        let foreign = Foreign::look(&mut standing.ledger, &addresses, dialect);
        standing.others = foreign.map_err(no_answer)?;
        Ok(standing.with_unused_ids(unused).accepting_draft_v1(accepts))
    }
}

/// Zero if the contract is not such a proxy.
fn implementation_of(node: &Node, proxy: Address) -> Answer<Address> {
    Ok(Address::from_word(node.word(proxy, IMPLEMENTATION)?))
}

/// The code that runs at an address: a proxy's implementation's.
pub(super) fn code_behind(node: &Node, address: Address) -> Answer<Bytes> {
    match implementation_of(node, address)? {
        Address::ZERO => node.code(address),
        implementation => node.code(implementation),
    }
}

fn check_registries(node: &mut Node, addresses: &RegistryAddresses) -> Result<(), AttachFault> {
    check_code(node, "identity", addresses.identity)?;
    let bound = [
        ("open reputation", addresses.open_reputation),
        ("authorized reputation", addresses.authorized_reputation),
        ("validation", addresses.validation),
    ];
    for (registry, address) in bound {
        if let Some(address) = address {
            check_code(node, registry, address)?;
            check_binding(node, registry, address, addresses.identity)?;
        }
    }
    Ok(())
}

fn check_code(node: &Node, registry: &'static str, address: Address) -> Result<(), AttachFault> {
    if node.code(address).map_err(no_answer)?.is_empty() {
        Err(AttachFault::NoCode { registry, address })
    } else {
        Ok(())
    }
}

fn check_binding(
    node: &mut Node,
    registry: &'static str,
    address: Address,
    identity: Address,
) -> Result<(), AttachFault> {
    let unbound = AttachFault::Unbound { registry, address };
    match try_view(node, address, &Feedback::getIdentityRegistryCall {}) {
        Ok(Ok(bound)) if bound == identity => Ok(()),
        Ok(Ok(bound)) => Err(AttachFault::BoundElsewhere {
            registry,
            address,
            bound,
            identity,
        }),
        Ok(Err(_)) | Err(StepFault::UnexplainedState(_)) => Err(unbound),
        Err(fault) => Err(no_answer(fault)),
    }
}

/// 0, unless it is an agent: ids may count from there (R1 binds Concord's contracts alone).
fn unused_ids(node: &mut Node, identity: Address) -> Result<Vec<U256>, AttachFault> {
    let owner_of = Identity::ownerOfCall {
        tokenId: U256::ZERO,
    };
    match try_view(node, identity, &owner_of) {
        Ok(Ok(owner)) if owner != Address::ZERO => Ok(Vec::new()),
        Ok(_) | Err(StepFault::UnexplainedState(_)) => Ok(vec![U256::ZERO]),
        Err(fault) => Err(no_answer(fault)),
    }
}

fn no_answer(fault: StepFault) -> AttachFault {
    AttachFault::NoAnswer {
        reason: reason_of(fault),
    }
}

fn reason_of(fault: StepFault) -> String {
    match fault {
        StepFault::Unreachable(reason) => reason,
        other => other.to_string(),
    }
}
