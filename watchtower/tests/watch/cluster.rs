//! A local cluster with the program.
use crate::world::{TIMING, root};
use concord_chain::{
    EndpointOptions, Signer, Svm,
    keys::Keypair,
    svm::{BuiltProgram, Cluster, PriorityFee, compute_budget, land, sign},
};
use concord_local_cluster::{LocalCluster, Options, Server};
use concord_registry::svm::{Address, Instruction, Program, accounts::OpenFeedback};
use concord_watchtower::{Agent, OwnAccounts};
use concord_x402::{
    feedback::SvmRegistry,
    verify::{ChainInsiders, Chains, SvmChains},
};
use solana_account::Account;
use std::{sync::Arc, time::Duration};

pub const NETWORK: &str = "solana:localnet";
const SOL: u64 = 1_000_000_000;
const LOADER: &str = "BPFLoaderUpgradeab1e11111111111111111111111";

pub struct Solana {
    /// `None` in a process that another one started.
    _server: Option<Server>,
    pub url: String,
    pub cluster: Cluster,
    pub program: Program,
    owner: Keypair,
    pub watchtower: Keypair,
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
    let slot = 0u64.to_le_bytes();
    let data = [&kind(3)[..], &slot, &[1], authority.as_ref(), &built.elf].concat();
    let head = [&kind(2)[..], program.program_data().as_ref()].concat();
    vec![
        (program.program_data(), account(data, false)),
        (program.id(), account(head, true)),
    ]
}

fn key(seed: u8) -> Keypair {
    Keypair::new_from_array([seed; 32])
}

fn built() -> BuiltProgram {
    BuiltProgram::read(&root("target/deploy/agent_registry.so")).unwrap()
}

impl Solana {
    /// A cluster that runs already.
    pub fn at(url: &str) -> Self {
        Self {
            _server: None,
            url: url.to_owned(),
            cluster: Cluster::new(&EndpointOptions::new(url)).unwrap(),
            program: Program::new(built().id),
            owner: key(21),
            watchtower: key(22),
        }
    }

    pub async fn start() -> Self {
        let built = built();
        let program = Program::new(built.id);
        let (owner, watchtower) = (key(21), key(22));
        let server = Server::start(
            LocalCluster::new(Options {
                slot_duration: Duration::from_millis(10),
                funded: vec![(owner.address(), 100 * SOL), (watchtower.address(), SOL)],
                accounts: deployed(&built, &program, &owner.address()),
                ..Options::default()
            }),
            0,
        );
        let server = server.unwrap();
        let url = server.url();
        let solana = Self {
            _server: Some(server),
            ..Self::at(&url)
        };
        let initialize = program.initialize(solana.owner.address(), NETWORK);
        solana.send(vec![initialize], &[&solana.owner]).await;
        solana
    }

    /// Registers an agent of the owner.
    pub async fn register(&self, nonce: u64, uri: &str) -> Agent {
        let owner = self.owner.address();
        let mint = self.program.agent_mint(&owner, nonce);
        let register = (self.program).register_agent(owner, owner, nonce, uri);
        self.send(vec![register], &[&self.owner]).await;
        Agent::parse(&self.registry_account(), &mint.to_string()).unwrap()
    }

    pub fn registry_account(&self) -> String {
        format!("{NETWORK}:{}", self.program.id())
    }

    async fn send(&self, instructions: Vec<Instruction>, signers: &[&Keypair]) {
        let signers: Vec<&dyn Signer<Svm>> = signers.iter().map(|it| *it as _).collect();
        let instructions = [compute_budget(200_000, 0), instructions].concat();
        let recent = self.cluster.recent_blockhash().await.unwrap();
        let transaction = sign(&instructions, &signers, &recent).await.unwrap();
        let landed = land(&self.cluster, &transaction, Duration::from_secs(60)).await;
        assert!(landed.unwrap().meta.err.is_null());
    }

    pub fn client(&self) -> String {
        format!("{NETWORK}:{}", Signer::<Svm>::address(&self.watchtower))
    }

    pub async fn chains(&self) -> Chains {
        let mut svm = SvmChains::default();
        let chain = NETWORK.parse().unwrap();
        svm.add(&chain, self.cluster.clone()).await.unwrap();
        Chains {
            svm,
            ..Chains::default()
        }
    }

    pub fn insiders(&self) -> ChainInsiders {
        let mut insiders = ChainInsiders::default();
        insiders.add_svm(NETWORK, self.cluster.clone());
        insiders
    }

    pub fn own(&self) -> OwnAccounts {
        OwnAccounts::new(vec![self.client()], Arc::new(self.insiders()))
    }

    pub async fn registry(&self) -> SvmRegistry {
        let signer = Box::new(self.watchtower.insecure_clone());
        let (cluster, fee) = (self.cluster.clone(), PriorityFee::default());
        let chain = NETWORK.parse().unwrap();
        let connected = SvmRegistry::connect(cluster, &chain, self.program, signer, fee, TIMING);
        connected.await.unwrap()
    }

    /// A feedback of the watchtower, as its account has it.
    pub async fn feedback(&self, agent: &Agent, index: u64) -> Option<OpenFeedback> {
        let mint: Address = agent.registration().agent_id.as_str().parse().unwrap();
        let place = self
            .program
            .open_feedback(&mint, &self.watchtower.address(), index);
        let found = self.cluster.account(&place).await.unwrap()?;
        Some(self.program.decode(&found.owner, &found.data).unwrap())
    }

    pub async fn balance(&self) -> u64 {
        self.cluster
            .balance(&self.watchtower.address())
            .await
            .unwrap()
    }
}
