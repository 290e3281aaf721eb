//! A local Solana cluster with our program.
use crate::Failed;
use concord_chain::{
    EndpointOptions, Signer, Svm,
    keys::Keypair,
    svm::{BuiltProgram, Cluster, compute_budget, land, sign},
};
use concord_local_cluster::{LocalCluster, Options, Server};
use concord_registry::svm::{Address, Instruction, Program};
use solana_account::Account;
use std::{path::Path, time::Duration};

/// Any cluster of this id is one for development.
pub const NETWORK: &str = "solana:localnet";
const SOL: u64 = 1_000_000_000;
const LOADER: &str = "BPFLoaderUpgradeab1e11111111111111111111111";

pub struct Solana {
    server: Server,
    cluster: Cluster,
    pub program: Program,
    pub buyer: Keypair,
    pub mint: Address,
}

impl Solana {
    /// Starts the cluster and registers the agent with this URI.
    pub async fn start(root: &Path, uri: &str) -> Result<Self, Failed> {
        let built = BuiltProgram::read(&root.join("target/deploy/agent_registry.so"))?;
        let program = Program::new(built.id);
        let (owner, buyer) = (Keypair::new(), Keypair::new());
        let options = Options {
            slot_duration: Duration::from_millis(100),
            funded: vec![(owner.address(), 10 * SOL), (buyer.address(), SOL)],
            accounts: deployed(&built, &program, &owner.address())?,
            ..Options::default()
        };
        let server = Server::start(LocalCluster::new(options), 0)?;
        let solana = Self {
            cluster: Cluster::new(&EndpointOptions::new(server.url()))?,
            server,
            program,
            buyer,
            mint: program.agent_mint(&owner.address(), 0),
        };
        let initialize = program.initialize(owner.address(), NETWORK);
        solana.send(initialize, &[&owner]).await?;
        let register = program.register_agent(owner.address(), owner.address(), 0, uri);
        solana.send(register, &[&owner]).await?;
        Ok(solana)
    }

    pub fn url(&self) -> String {
        self.server.url()
    }

    pub fn registry(&self) -> String {
        format!("{NETWORK}:{}", self.program.id())
    }

    /// Lands an instruction that the first signer pays for.
    async fn send(&self, instruction: Instruction, signers: &[&Keypair]) -> Result<(), Failed> {
        let signers: Vec<&dyn Signer<Svm>> = signers.iter().map(|it| *it as _).collect();
        let instructions = [compute_budget(200_000, 0), vec![instruction]].concat();
        let recent = self.cluster.recent_blockhash().await?;
        let transaction = sign(&instructions, &signers, &recent).await?;
        let executed = land(&self.cluster, &transaction, Duration::from_secs(60)).await?;
        if executed.meta.err.is_null() {
            Ok(())
        } else {
            Err(executed.meta.err.to_string().into())
        }
    }
}

/// What the upgradeable loader leaves: the program's account, and its data with the upgrade authority.
fn deployed(
    built: &BuiltProgram,
    program: &Program,
    authority: &Address,
) -> Result<Vec<(Address, Account)>, Failed> {
    const PROGRAM: [u8; 4] = 2u32.to_le_bytes();
    const PROGRAM_DATA: [u8; 4] = 3u32.to_le_bytes();
    let owner = LOADER.parse()?;
    let account = |data: Vec<u8>, executable| Account {
        lamports: 10 * SOL,
        data,
        owner,
        executable,
        rent_epoch: u64::MAX,
    };
    let slot = 0u64.to_le_bytes();
    let data = [
        &PROGRAM_DATA[..],
        &slot,
        &[1],
        authority.as_ref(),
        &built.elf,
    ]
    .concat();
    let head = [&PROGRAM[..], program.program_data().as_ref()].concat();
    Ok(vec![
        (program.program_data(), account(data, false)),
        (program.id(), account(head, true)),
    ])
}
