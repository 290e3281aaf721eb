//! A program that is deployed on a development node.
use super::{SvmLive, development::Development, live::Live};
use crate::backend::RunSecret;
use concord_chain::{
    Blocking, ChainError, ChainId, EndpointOptions,
    svm::{Cluster, deployed_code_hash, is_public},
};
use concord_registry::svm::{Program, accounts::Registry};
use serde_json::{Value, json};
use solana_address::Address;
use solana_keypair::Keypair;
use solana_signer::Signer;
use std::time::Duration;

/// Of a genesis hash, what a CAIP-2 id has.
const REFERENCE: usize = 32;

/// Why a program on a node inconclusive.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NodeFault {
    #[error(transparent)]
    NoAnswer(#[from] ChainError),
    #[error("{0} is a public cluster, no development node: use conform --live there")]
    Public(String),
    #[error("no program at {0}")]
    NoProgram(Address),
    #[error("the program {0} has no registry: initialize it with concord deploy apply")]
    NoRegistry(Address),
    #[error("the registry's authority is {authority}, and --keypair is {key}")]
    AnothersRegistry { authority: Address, key: Address },
}

impl NodeFault {
    /// Is it the node that fails, rather than what was said of it?
    pub const fn is_the_node_s(&self) -> bool {
        match self {
            Self::NoAnswer(fault) => fault.is_from_the_chain(),
            _ => false,
        }
    }
}

impl SvmLive {
    /// The registry of the program at `program`, on a node without other users. `authority` is
    /// the registry's, and pays for everything. What scenarios leave there stays, but for the
    /// registry's authority and lists. The clock is set if the node can do it.
    ///
    /// # Errors
    /// No such node or registry: see [`NodeFault`].
    pub fn attach(
        endpoint: &EndpointOptions,
        program: Address,
        authority: Keypair,
        nonce: [u8; 32],
        patience: Duration,
    ) -> Result<Self, NodeFault> {
        let (blocking, cluster) = (Blocking::new()?, Cluster::new(endpoint)?);
        require_private(&blocking, &cluster)?;
        let program = Program::new(program);
        let found = registry(&blocking, &cluster, &program)?;
        if found.authority != authority.pubkey() {
            return Err(NodeFault::AnothersRegistry {
                authority: found.authority,
                key: authority.pubkey(),
            });
        }
        let stop: Value = json!([]);
        let stopped = cluster.endpoint().request("surfnet_pauseClock", stop);
        let stopped: Result<Value, _> = blocking.wait(stopped)?;
        let secret = RunSecret::of_run(authority.secret_bytes(), &found.chain, &nonce);
        let development = Development::new(authority, stopped.is_ok());
        let node = Live::on_node(blocking, cluster, development, patience);
        Ok(Self::of_node(node, program, found, secret))
    }
}

/// The program of a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundProgram {
    pub id: Address,
    /// The chain that its registry is initialized for.
    pub chain: String,
    /// SHA-256 of the ELF; `None`: its bytes are not where the loaders keep them.
    pub hash: Option<String>,
}

impl SvmLive {
    /// The program that is tested.
    ///
    /// # Errors
    /// [`NodeFault::NoAnswer`].
    pub fn found_program(&self) -> Result<FoundProgram, NodeFault> {
        let (live, id) = (&self.ledger, self.program().id());
        let hash = live.blocking.wait(deployed_code_hash(&live.cluster, &id))?;
        Ok(FoundProgram {
            id,
            chain: self.world.chain.clone(),
            hash,
        })
    }
}

/// Everybody knows what is done on a public cluster, and its money is not for tests.
fn require_private(blocking: &Blocking, cluster: &Cluster) -> Result<(), NodeFault> {
    let genesis = blocking.wait(cluster.genesis_hash())?;
    let reference = genesis.get(..REFERENCE).unwrap_or(&genesis);
    let chain = format!("solana:{reference}");
    if ChainId::parse(&chain).is_ok_and(|it| is_public(&it)) {
        Err(NodeFault::Public(chain))
    } else {
        Ok(())
    }
}

fn registry(
    blocking: &Blocking,
    cluster: &Cluster,
    program: &Program,
) -> Result<Registry, NodeFault> {
    let found = blocking.wait(cluster.accounts(&[program.id(), program.registry()]))?;
    let [Some(code), registry] = found.as_slice() else {
        return Err(NodeFault::NoProgram(program.id()));
    };
    if !code.executable {
        return Err(NodeFault::NoProgram(program.id()));
    }
    let held = registry.as_ref();
    let held = held.map(|it| program.find::<Registry>(&it.owner, &it.data));
    let Some(Ok(Some(registry))) = held else {
        return Err(NodeFault::NoRegistry(program.id()));
    };
    Ok(registry)
}
