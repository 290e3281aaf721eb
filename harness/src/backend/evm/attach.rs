//! Registries that are already deployed to a node.
use super::{
    Dialect, EvmNode, Registries, RegistryAddresses,
    ledger::{Ledger, try_view},
    node::{Endpoint, Node},
};
use crate::backend::StepFault;
use alloy::primitives::{Address, U256};
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

impl EvmNode {
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
        Ok(standing.with_unused_ids(unused))
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
    if node.has_code(address).map_err(no_answer)? {
        return Ok(());
    }
    Err(AttachFault::NoCode { registry, address })
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
