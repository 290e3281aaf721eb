use concord_chain::ChainError;
use std::path::PathBuf;

/// The command did what was asked.
pub const DONE: u8 = 0;
/// The chain differs from what it should be.
pub const DIFFERS: u8 = 1;
/// Refused before anything was sent: the command line, a file, a key, the chain's state, a rule.
pub const REFUSED: u8 = 2;
/// A chain does not answer, or a run was interrupted; `resume` continues it.
pub const STOPPED: u8 = 3;

/// Why a command stopped. Each is one sentence with the value and what was expected; none contains
/// a key, a password or more of an RPC URL than its host.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DeployError {
    /// The chain's endpoint, a key, a file, or a transaction.
    #[error(transparent)]
    Chain(ChainError),

    // The command line.
    #[error("--chain {0}: only eip155 and solana chains can be deployed to")]
    NamespaceUnknown(String),
    #[error("--chain is missing: give the chain's CAIP-2 id")]
    ChainMissing,
    #[error("the RPC endpoint is chain {found}, --chain says {expected}")]
    WrongChain { expected: String, found: String },
    #[error("no RPC URL: give --rpc-url or set CONCORD_RPC_URL")]
    RpcUrlMissing,
    #[error("--{option} {value}: {reason}")]
    Option {
        option: &'static str,
        value: String,
        reason: String,
    },
    #[error("{command} {value}: {reason}")]
    Argument {
        command: &'static str,
        value: String,
        reason: String,
    },
    #[error("--{option} is for {other} chains, not for {chain}")]
    OptionOfOther {
        option: &'static str,
        other: &'static str,
        chain: String,
    },
    #[error(
        "--upgrade-authority is missing: pass keep (the deployer), a public key, or none, which is final"
    )]
    UpgradeAuthorityMissing,
    #[error(
        "--upgrade-authority none cannot be undone: confirm with the program's id on a terminal, or pass --make-final with --yes"
    )]
    FinalUnconfirmed,
    #[error(
        "no clone of Concord (a folder contracts/src) here or above: run inside one, or pass --deployments and --program"
    )]
    NoClone,
    #[error(
        "no folder contracts/src here or above: contracts on EVM chains are compared with their sources, so run inside a clone of Concord"
    )]
    SourcesMissing,
    #[error("{0} is not a listed testnet: pass --allow-mainnet to send to it anyway")]
    NotATestnet(String),
    #[error("stdin is not a terminal: pass --yes to send without confirmation")]
    NoTerminal,
    #[error("not confirmed; nothing was sent")]
    Declined,

    // Keys.
    #[error("no key: give --keystore or set CONCORD_EVM_PRIVATE_KEY{or_from}")]
    KeyMissing { or_from: &'static str },
    #[error("no key: give --keypair or set CONCORD_SOLANA_KEYPAIR{or_from}")]
    KeypairMissing { or_from: &'static str },
    #[error(
        "the keypair of program {0} is missing: give --program-keypair or set CONCORD_PROGRAM_KEYPAIR"
    )]
    ProgramKeypairMissing(String),
    #[error("the key belongs to {key}, not to {named}")]
    KeyMismatch { key: String, named: String },

    // Files.
    #[error("{} not found: run scripts/build", .0.display())]
    ArtifactMissing(PathBuf),
    #[error("{} not found: run scripts/build-program", .0.display())]
    ProgramMissing(PathBuf),
    #[error("{} was built from another {source_file}: run scripts/build", path.display())]
    ArtifactStale { path: PathBuf, source_file: String },
    #[error("{} is for {found}, expected {expected}", path.display())]
    WrongChainInFile {
        path: PathBuf,
        found: String,
        expected: String,
    },
    #[error("another deployment to {0} is running: it holds the run file")]
    RunLocked(String),
    #[error("an unfinished run is on record in {}: `concord deploy resume` continues it", .0.display())]
    RunUnfinished(PathBuf),
    #[error("no unfinished run in {}: there is nothing to resume", .0.display())]
    NothingToResume(PathBuf),
    #[error(
        "the unfinished run has {what} {recorded}, this one has {now}: resume with what it was begun with, or end it by moving its file out of the folder runs"
    )]
    RunDiffers {
        what: String,
        recorded: String,
        now: String,
    },
    #[error("the address book has no deployment on {0}: run `concord deploy apply` first")]
    NotOnRecord(String),

    // The chain's state.
    #[error("{account} has {balance}, the deployment needs up to {needed}")]
    BalanceTooLow {
        account: String,
        balance: String,
        needed: String,
    },
    #[error("{title}: other code is at {address}: code hash {found}; {difference}")]
    ForeignCode {
        title: String,
        address: String,
        found: String,
        difference: String,
    },
    #[error(
        "the program is built for {built}, and the program's keypair is for {keypair}: build it with CONCORD_PROGRAM_ID={keypair}"
    )]
    ProgramIdDiffers { built: String, keypair: String },
    #[error(
        "the program is built for {0}, whose secret key is public: set CONCORD_PROGRAM_ID to the public key of a keypair of your own and build again"
    )]
    DevelopmentId(&'static str),
    #[error("the program is for sBPF version {version}, and the cluster takes {taken:?}")]
    SbpfUnsupported { version: u32, taken: Vec<u32> },
    #[error(
        "another program is at {program}, code hash {found}, built is {built}: pass --upgrade to replace it"
    )]
    UpgradeNotAsked {
        program: String,
        found: String,
        built: String,
    },
    #[error("the upgrade authority of {program} is {found}, not the deployer {deployer}")]
    NotUpgradeAuthority {
        program: String,
        found: String,
        deployer: String,
    },
    #[error("the authority of registry {registry} is {found}, not {key}")]
    NotRegistryAuthority {
        registry: String,
        found: String,
        key: String,
    },
    #[error(
        "{0}: its registries have no authority, payment tokens or facilitators; only Solana's have"
    )]
    NoRegistrySettings(String),
    #[error("no registry at {registry} of program {program}: run `concord deploy apply` first")]
    NoRegistry { registry: String, program: String },
    #[error("the next authority of registry {registry} is to be {found}, not {key}")]
    NotProposed {
        registry: String,
        found: String,
        key: String,
    },
    #[error("no next authority of registry {0} is proposed: run `concord registry propose` first")]
    NoAuthorityProposed(String),
    #[error("the registry has {max} {what} already, which is the limit (R13)")]
    RegistryListFull { what: &'static str, max: usize },
    #[error("{} has an unfinished change, {found}: run that command again, or move the file away if its transaction can no longer land", path.display())]
    ChangeUnfinished { path: PathBuf, found: String },
    #[error("--reclaim-buffers: the endpoint does not look for buffers: {0}")]
    BuffersUnknown(String),
    #[error("buffer {buffer} belongs to {authority}, or has another size than the program")]
    BufferElsewhere { buffer: String, authority: String },
    #[error(
        "the registry {registry} is initialized for {found}, which cannot be changed, expected {expected} (R9)"
    )]
    RegistryElsewhere {
        registry: String,
        found: String,
        expected: String,
    },
    #[error("--identity {address}: {reason}")]
    IdentityRefused { address: String, reason: String },
    #[error(
        "the deployment proxy's transaction pays {offered} gwei a unit of gas, and the base fee is {base_fee} gwei: wait until it is lower"
    )]
    ProxyUnderpriced { offered: String, base_fee: String },
    #[error(
        "the deployment proxy {proxy} has no code, and the only transaction that creates it is used up: its signer {signer} has nonce {nonce}, expected 0"
    )]
    ProxySpent {
        proxy: String,
        signer: String,
        nonce: u64,
    },
    #[error(
        "AuthorizedReputationRegistry would accept draft v1 authorizations while {other} uses the same identity registry {identity} (R6): pass --accepts-draft-v1 false"
    )]
    DraftV1BesideAnother { other: String, identity: String },

    // On the way.
    #[error(
        "{step}: costs up to {needed} now, the plan said at most {planned}: `resume` shows a new plan"
    )]
    CostAbovePlan {
        step: String,
        needed: String,
        planned: String,
    },
    #[error("the scenarios cannot be played on the deployment: {0}")]
    Examination(String),
    #[error("{0}; `concord deploy resume` continues from here")]
    Stopped(#[source] Box<Self>),
    #[error("{0}; the same command continues from here")]
    ChangeStopped(#[source] Box<Self>),
    #[error(
        "everything was sent, but the result cannot be shown: {0}; see `concord deploy status`"
    )]
    Unshown(#[source] Box<Self>),
    #[error("standard output: {0}")]
    Output(#[from] std::io::Error),
}

impl From<ChainError> for DeployError {
    fn from(error: ChainError) -> Self {
        match error {
            ChainError::WrongChain { expected, found } => Self::WrongChain { expected, found },
            ChainError::NotBuilt(path) => Self::ProgramMissing(path),
            other => Self::Chain(other),
        }
    }
}

impl DeployError {
    /// The error for a file that cannot be used.
    pub fn file(path: impl Into<PathBuf>, reason: impl Into<String>) -> Self {
        Self::Chain(ChainError::File {
            path: path.into(),
            reason: reason.into(),
        })
    }

    /// Returns the exit code.
    pub const fn exit_code(&self) -> u8 {
        match self {
            Self::Chain(error) if error.is_from_the_chain() => STOPPED,
            Self::Examination(_)
            | Self::Stopped(_)
            | Self::ChangeStopped(_)
            | Self::Unshown(_)
            | Self::ArtifactMissing(_)
            | Self::ProgramMissing(_) => STOPPED,
            _ => REFUSED,
        }
    }
}
