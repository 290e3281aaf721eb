//! The contracts on an anvil that the harness starts and ends.
use super::{
    EvmAnvil, Registries, RegistryAddresses,
    deployment::Artifacts,
    ledger::{Answer, Ledger, Receipt, View},
    node::{Endpoint, Node},
    process::Process,
};
use crate::backend::{SetupError, StepFault, child::unless_ending};
use alloy::{
    primitives::{Address, Bytes},
    signers::local::PrivateKeySigner,
};
use std::{
    env, fs,
    io::Read,
    path::{Path, PathBuf},
};

const NAME: &str = "evm-anvil";
const CHAIN_ID: u64 = 31_337;
/// Deployment happens here; every scenario starts later.
const GENESIS_TIME: u64 = 1_500_000_000;

/// An anvil of our own.
pub struct Anvil {
    node: Node,
    /// Ends anvil when it is dropped.
    process: Process,
    start: Start,
}

/// What it takes to start it.
struct Start {
    path: PathBuf,
    port: Option<u16>,
    artifacts: Artifacts,
}

impl EvmAnvil {
    /// Starts anvil (`anvil`, else `CONCORD_ANVIL`, else the one on PATH) on a free port and
    /// deploys the contracts from forge's output folder `artifacts`.
    ///
    /// # Errors
    /// A tool or an artifact that is missing or unusable.
    pub fn start(anvil: Option<&Path>, artifacts: &Path) -> Result<Self, SetupError> {
        Self::start_at(None, anvil, artifacts)
    }

    /// As [`Self::start`], on this port of the local host if one is named.
    ///
    /// # Errors
    /// As [`Self::start`]; the port is in use.
    pub fn start_at(
        port: Option<u16>,
        anvil: Option<&Path>,
        artifacts: &Path,
    ) -> Result<Self, SetupError> {
        let start = Start {
            path: locate(anvil)?,
            port,
            artifacts: Artifacts::read(artifacts)?,
        };
        let process = Process::start(&start.path, &arguments(port)).map_err(|reason| {
            let path = start.path.clone();
            SetupError::AnvilDoesNotStart { path, reason }
        })?;
        let deployed = || {
            let node = connect(&process)?;
            let mut anvil = Anvil {
                node,
                process,
                start,
            };
            let addresses = anvil.deploy()?;
            Registries::deployed(NAME, anvil, addresses)
        };
        deployed().map_err(|fault| SetupError::Deployment {
            participant: NAME,
            reason: fault.to_string(),
        })
    }
}

impl Anvil {
    /// The URL that it listens at.
    pub fn url(&self) -> &str {
        &self.process.url
    }

    fn deploy(&mut self) -> Answer<RegistryAddresses> {
        let artifacts = self.start.artifacts.clone();
        artifacts.deploy(self)
    }
}

fn connect(process: &Process) -> Answer<Node> {
    let node = unless_ending(Node::connect(&Endpoint::new(&process.url)))?;
    if node.chain_id() == CHAIN_ID {
        return Ok(node);
    }
    let id = node.chain_id();
    let reason = format!("chain id is {id}, not {CHAIN_ID}");
    Err(StepFault::Unreachable(reason))
}

impl Ledger for Anvil {
    fn chain_id(&self) -> u64 {
        self.node.chain_id()
    }

    fn fund(&mut self, accounts: &[Address]) -> Answer<()> {
        unless_ending(self.node.fund(accounts))
    }

    fn set_code(&mut self, account: Address, code: Bytes) -> Answer<()> {
        unless_ending(self.node.set_code(account, code))
    }

    fn set_next_block_time(&mut self, time: u64) -> Answer<()> {
        unless_ending(self.node.set_next_block_time(time))
    }

    fn latest_block_time(&mut self) -> Answer<u64> {
        unless_ending(self.node.latest_block_time())
    }

    fn send(
        &mut self,
        from: &PrivateKeySigner,
        to: Option<Address>,
        input: Bytes,
    ) -> Answer<Receipt> {
        unless_ending(self.node.send(from, to, input))
    }

    fn views(&mut self, views: &[View]) -> Answer<Vec<Result<Bytes, Bytes>>> {
        unless_ending(self.node.views(views))
    }

    fn restart(&mut self) -> Answer<Option<RegistryAddresses>> {
        let Start { path, port, .. } = &self.start;
        let process = Process::start(path, &arguments(*port)).map_err(StepFault::Unreachable)?;
        self.node = connect(&process)?;
        self.process = process;
        self.deploy().map(Some)
    }

    fn mark(&mut self) -> Answer<()> {
        unless_ending(self.node.mark())
    }

    fn restore(&mut self) -> Answer<()> {
        unless_ending(self.node.restore())
    }
}

/// The anvil to start: the one named, else `CONCORD_ANVIL`, else the one on PATH.
fn locate(named: Option<&Path>) -> Result<PathBuf, SetupError> {
    let named = named
        .map(Path::to_owned)
        .or_else(|| env::var_os("CONCORD_ANVIL").map(PathBuf::from));
    let path = match named {
        Some(path) if path.is_file() => path,
        Some(path) => return Err(SetupError::AnvilAt(path)),
        None => on_path("anvil").ok_or(SetupError::AnvilOnPath)?,
    };
    if is_script(&path) {
        return Err(SetupError::AnvilIsScript(path));
    }
    Ok(path)
}

fn on_path(tool: &str) -> Option<PathBuf> {
    env::split_paths(&env::var_os("PATH")?)
        .map(|folder| folder.join(tool))
        .find(|path| path.is_file())
}

/// npm's wrapper does not pass signals on, so anvil would outlive the run.
fn is_script(path: &Path) -> bool {
    let mut start = [0; 2];
    fs::File::open(path)
        .and_then(|mut file| file.read_exact(&mut start))
        .is_ok_and(|()| start == *b"#!")
}

/// On `port`, or on a free one.
fn arguments(port: Option<u16>) -> Vec<String> {
    [
        "--port",
        &port.unwrap_or_default().to_string(),
        "--chain-id",
        &CHAIN_ID.to_string(),
        "--hardfork",
        "prague",
        "--order",
        "fifo",
        "--timestamp",
        &GENESIS_TIME.to_string(),
        // The states of as many blocks, and nothing on disk that a killed anvil would leave behind.
        "--prune-history",
        "64",
    ]
    .map(str::to_owned)
    .to_vec()
}
