//! A local cluster with the program and one agent.
use crate::chain::root;
use concord_chain::{
    EndpointOptions, Signer, Svm,
    keys::Keypair,
    svm::{BuiltProgram, Cluster, compute_budget, land, sign},
};
use concord_files::{AgentId, RegistrationId};
use concord_local_cluster::{LocalCluster, Options, Server};
use concord_registry::svm::{Address, Instruction, Program};
use solana_account::Account;
use std::time::Duration;

pub const NETWORK: &str = "solana:localnet";
const SOL: u64 = 1_000_000_000;
const LOADER: &str = "BPFLoaderUpgradeab1e11111111111111111111111";

pub struct Solana {
    _server: Server,
    pub url: String,
    pub cluster: Cluster,
    pub program: Program,
    /// The agent's owner, and the registry's authority.
    pub owner: Keypair,
    pub client: Keypair,
    pub mint: Address,
}

/// What the upgradeable loader leaves: the program's account, and its data with the upgrade authority.
fn deployed(
    built: &BuiltProgram,
    program: &Program,
    authority: &Address,
) -> Vec<(Address, Account)> {
    let account = |data: Vec<u8>, executable| Account {
        lamports: 10 * SOL,
        data,
        owner: LOADER.parse().unwrap(),
        executable,
        rent_epoch: u64::MAX,
    };
    let kind = |number: u32| number.to_le_bytes();
    let data = [
        &kind(3)[..],
        &0u64.to_le_bytes(),
        &[1],
        authority.as_ref(),
        &built.elf,
    ]
    .concat();
    let head = [&kind(2)[..], program.program_data().as_ref()].concat();
    vec![
        (program.program_data(), account(data, false)),
        (program.id(), account(head, true)),
    ]
}

impl Solana {
    pub async fn start() -> Self {
        Self::start_with(Vec::new()).await
    }

    /// A cluster that has these accounts too.
    pub async fn start_with(accounts: Vec<(Address, Account)>) -> Self {
        let built = BuiltProgram::read(&root("target/deploy/agent_registry.so")).unwrap();
        let program = Program::new(built.id);
        let key = |seed: u8| Keypair::new_from_array([seed; 32]);
        let (owner, client) = (key(21), key(22));
        let server = Server::start(
            LocalCluster::new(Options {
                slot_duration: Duration::from_millis(20),
                funded: vec![(owner.address(), 100 * SOL), (client.address(), SOL)],
                accounts: [deployed(&built, &program, &owner.address()), accounts].concat(),
                ..Options::default()
            }),
            0,
        );
        let server = server.unwrap();
        let solana = Self {
            cluster: Cluster::new(&EndpointOptions::new(server.url())).unwrap(),
            url: server.url(),
            _server: server,
            program,
            mint: program.agent_mint(&owner.address(), 0),
            owner,
            client,
        };
        let owner = &solana.owner;
        let initialize = program.initialize(owner.address(), NETWORK);
        solana.send(vec![initialize], &[owner]).await;
        let register = program.register_agent(owner.address(), owner.address(), 0, "");
        solana.send(vec![register], &[owner]).await;
        solana
    }

    pub fn registration(&self) -> RegistrationId {
        let agent_registry = format!("{NETWORK}:{}", self.program.id());
        let registry = concord_canonical::caip::AccountId::parse(&agent_registry).unwrap();
        let agent_id = AgentId::parse(&registry, &self.mint.to_string()).unwrap();
        RegistrationId {
            agent_registry: agent_registry.clone(),
            agent_id,
        }
    }

    /// Lands instructions, paid by the first signer. Returns the transaction's signature.
    pub async fn send(&self, instructions: Vec<Instruction>, signers: &[&Keypair]) -> String {
        let signers: Vec<&dyn Signer<Svm>> = signers.iter().map(|it| *it as _).collect();
        let instructions = [compute_budget(200_000, 0), instructions].concat();
        let recent = self.cluster.recent_blockhash().await.unwrap();
        let transaction = sign(&instructions, &signers, &recent).await.unwrap();
        let landed = land(&self.cluster, &transaction, Duration::from_secs(60)).await;
        let executed = landed.unwrap();
        assert!(executed.meta.err.is_null(), "{:?}", executed.meta);
        transaction.signature
    }
}
