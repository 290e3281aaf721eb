use clap::{ArgAction, Args, Subcommand};
use concord_chain::{ChainId, RequestLimits, evm::Confirmations};
use std::path::PathBuf;

macro_rules! help {
    ($($examples:literal)?) => {
        concat!(
            $("Examples:\n", $examples, "\n\n",)?
            "\
Exit codes:
  0  done, or the deployment is as it should be
  1  verify, status: the deployment differs
  2  refused before anything was sent: command line, file, key, chain or balance
  3  a built file is missing, the chain does not answer, or the run stopped: see `resume`"
        )
    };
}

const PLAN: &str = help!(
    "  concord deploy plan --chain eip155:84532 --rpc-url https://sepolia.base.org --from 0x…
  concord deploy plan --chain eip155:84532 --keystore key.json --salt second --json
  concord deploy plan --chain solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1 --upgrade-authority keep"
);
const APPLY: &str = help!(
    "  concord deploy apply --chain eip155:84532 --keystore key.json
  concord deploy apply --chain eip155:84532 --keystore key.json --max-fee 2 --yes
  concord deploy apply --chain eip155:84532 --keystore key.json --identity 0x…
  concord deploy apply --chain solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1 --keypair id.json \\
    --program-keypair program.json --upgrade-authority keep"
);
const RESUME: &str = help!(
    "  concord deploy resume --chain eip155:84532 --keystore key.json
  concord deploy resume --chain solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1 --priority-fee 50000"
);
const VERIFY: &str = help!(
    "  concord deploy verify --chain eip155:84532 --rpc-url https://sepolia.base.org
  concord deploy verify --chain solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1 --json"
);
const VERIFY_SOURCE: &str =
    help!("  concord deploy verify-source --chain eip155:84532 --rpc-url https://sepolia.base.org");
const STATUS: &str =
    help!("  concord deploy status --chain eip155:84532 --rpc-url https://sepolia.base.org");

/// Deploys the registries, and inspects deployments.
#[derive(Debug, Args)]
#[command(after_help = help!())]
pub struct Deploy {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Shows each step of a deployment of the local build, with its address and cost. Sends
    /// nothing: every step is simulated on the chain, on Solana only the first, on which the others
    /// depend.
    #[command(after_help = PLAN)]
    Plan(PlanOptions),
    /// Carries out the plan.
    #[command(after_help = APPLY)]
    Apply(ApplyOptions),
    /// Continues an interrupted run. Transactions that landed are not sent again.
    #[command(after_help = RESUME)]
    Resume(ResumeOptions),
    /// Compares code and wiring on chain with the local build and the address book.
    #[command(after_help = VERIFY)]
    Verify(Place),
    /// Writes the files that block explorers need to show the sources, and prints the commands that
    /// send them. Compiles
    /// nothing. Refuses if the code on chain is not the local build.
    #[command(after_help = VERIFY_SOURCE)]
    VerifySource(Place),
    /// Shows in one table where the chain, the address book and the local build differ.
    #[command(after_help = STATUS)]
    Status(Place),
}

/// Which chain, and where its files are.
#[derive(Clone, Debug, Args)]
pub struct Place {
    /// The chain's CAIP-2 id, such as eip155:84532 or solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1.
    #[arg(long, value_name = "CAIP-2")]
    pub chain: ChainId,
    /// The chain's JSON-RPC endpoint. Only its host is ever shown.
    #[arg(
        long,
        value_name = "URL",
        env = "CONCORD_RPC_URL",
        hide_env_values = true
    )]
    pub rpc_url: Option<String>,
    /// Requests that the endpoint takes in ten seconds, of one method and in total, such as 40/100.
    /// Default: what Solana documents for its public endpoints; what other endpoints take is learned.
    #[arg(long, value_name = "METHOD/TOTAL", env = "CONCORD_RPC_LIMIT")]
    pub rpc_limit: Option<RequestLimits>,
    /// The folder with the address book and the run files. Default: deployments in the clone.
    #[arg(long, value_name = "DIR", env = "CONCORD_DEPLOYMENTS")]
    pub deployments: Option<PathBuf>,
    /// Forge's output folder. Default: contracts/out in the clone.
    #[arg(long, value_name = "DIR")]
    pub artifacts: Option<PathBuf>,
    /// Solana: the built program, with its build note beside it. Default:
    /// target/deploy/agent_registry.so in the clone.
    #[arg(long, value_name = "FILE")]
    pub program: Option<PathBuf>,
    /// Seconds to wait for one answer of the endpoint.
    #[arg(long, value_name = "SECONDS", default_value_t = 20, value_parser = clap::value_parser!(u64).range(1..=600))]
    pub timeout: u64,
    /// Prints the result as JSON.
    #[arg(long)]
    pub json: bool,
}

/// Who deploys.
#[derive(Clone, Debug, Args)]
pub struct Key {
    /// EVM: an encrypted JSON keystore. Without one, the variable CONCORD_EVM_PRIVATE_KEY.
    #[arg(long, value_name = "FILE", env = "CONCORD_EVM_KEYSTORE")]
    pub keystore: Option<PathBuf>,
    /// EVM: a file with the keystore's password. Without one, the terminal is asked.
    #[arg(long, value_name = "FILE", env = "CONCORD_EVM_PASSWORD_FILE")]
    pub password_file: Option<PathBuf>,
    /// EVM: the account of a connected Ledger device, counted from 0 as Ledger Live does, instead of
    /// a keystore.
    #[cfg(feature = "ledger")]
    #[arg(long, value_name = "INDEX", conflicts_with = "keystore")]
    pub ledger: Option<usize>,
    /// EVM: a key in AWS KMS by id, alias or ARN, instead of a keystore.
    #[cfg(feature = "aws-kms")]
    #[arg(
        long,
        value_name = "KEY",
        env = "CONCORD_AWS_KMS_KEY",
        conflicts_with = "keystore"
    )]
    pub aws_kms: Option<String>,
    /// Solana: the deployer's keypair file, as solana-keygen writes it.
    #[arg(long, value_name = "FILE", env = "CONCORD_SOLANA_KEYPAIR")]
    pub keypair: Option<PathBuf>,
    /// Solana: the keypair file of the program's address, for its first deployment.
    #[arg(long, value_name = "FILE", env = "CONCORD_PROGRAM_KEYPAIR")]
    pub program_keypair: Option<PathBuf>,
    /// Solana: the keypair file of the next upgrade authority, which then signs the hand-over too.
    #[arg(long, value_name = "FILE")]
    pub upgrade_authority_keypair: Option<PathBuf>,
}

/// What the addresses depend on.
#[derive(Clone, Debug, Args)]
pub struct Choices {
    /// EVM: the text that the CREATE2 salts are made from: another text, other addresses. Default: the
    /// one of the chain's deployment in the address book, else concord.
    #[arg(long, value_name = "TEXT")]
    pub salt: Option<String>,
    /// EVM: whether authorizations in the form of ERC-8004's first draft count (EIP-191). They do
    /// not name the reputation registry, and wallets show them as 32 bytes without fields. Default: as the
    /// address book has it, else false, and false with another --identity.
    #[arg(long, value_name = "BOOL", action = ArgAction::Set)]
    pub accepts_draft_v1: Option<bool>,
    /// EVM: an identity registry that is deployed already, such as the canonical one: authorized reputation
    /// and validation are deployed over it. `own` deploys all four. Default: as the address book has
    /// it, else own.
    #[arg(long, value_name = "ADDRESS|own")]
    pub identity: Option<String>,
    /// Solana: the account that can replace the deployed program: `keep` (the deployer), a public
    /// key, or `none`, which is final.
    #[arg(long, value_name = "keep|KEY|none")]
    pub upgrade_authority: Option<String>,
    /// Solana: proposes this key as the registry's next authority, which manages the payment tokens
    /// and facilitators. It takes effect when the key accepts: `concord registry accept`. Default: the
    /// registry's authority stays.
    #[arg(long, value_name = "KEY")]
    pub registry_authority: Option<String>,
    /// Solana: the Squads multisig (version 4), if the authority is one of its vaults.
    #[arg(long, value_name = "ADDRESS")]
    pub squads_multisig: Option<String>,
    /// Solana: replaces another program at the address. If the upgrade authority is
    /// another key, the buffer is handed to it, and the upgrade is printed for it to send.
    #[arg(long)]
    pub upgrade: bool,
    /// Solana: closes the deployer's other buffers and takes back their lamports.
    #[arg(long)]
    pub reclaim_buffers: bool,
}

/// What may be paid, and how long to wait.
#[derive(Clone, Debug, Args)]
pub struct Sending {
    /// Sends without asking for confirmation.
    #[arg(long)]
    pub yes: bool,
    /// Deploys to a chain that is not a listed testnet.
    #[arg(long)]
    pub allow_mainnet: bool,
    /// With --upgrade-authority none and --yes: confirms that the program can never be changed
    /// again.
    #[arg(long)]
    pub make_final: bool,
    /// EVM: when a step counts as final: with so many blocks, its own among them, or when its block
    /// is `safe` or `finalized`.
    #[arg(long, value_name = "BLOCKS|safe|finalized", default_value = "2")]
    pub confirmations: Confirmations,
    /// EVM: seconds that a transaction may be pending before its fee is raised.
    #[arg(long, value_name = "SECONDS", default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub bump_after: u64,
    /// Milliseconds between two requests for the state of the chain.
    #[arg(long, value_name = "MILLISECONDS", default_value_t = 400, value_parser = clap::value_parser!(u64).range(10..=60_000))]
    pub poll: u64,
    /// The most seconds for a step. Then the run stops.
    #[arg(long, value_name = "SECONDS", default_value_t = 600, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub give_up_after: u64,
}

#[derive(Clone, Debug, Args)]
pub struct Fees {
    /// EVM: the highest price for a unit of gas, in gwei, raised fees included. Default: a quarter
    /// more than the plan's.
    #[arg(long, value_name = "GWEI")]
    pub max_fee: Option<String>,
    /// Solana: the first price of a compute unit, in microlamports.
    #[arg(long, value_name = "MICROLAMPORTS", default_value_t = 0)]
    pub priority_fee: u64,
    /// Solana: the highest price of a compute unit, for transactions that replace an expired one.
    #[arg(long, value_name = "MICROLAMPORTS", default_value_t = 1_000_000)]
    pub max_priority_fee: u64,
}

#[derive(Clone, Debug, Args)]
pub struct PlanOptions {
    #[command(flatten)]
    pub place: Place,
    #[command(flatten)]
    pub key: Key,
    /// The deployer's address: a plan needs no key.
    #[arg(long, value_name = "ADDRESS")]
    pub from: Option<String>,
    #[command(flatten)]
    pub choices: Choices,
    #[command(flatten)]
    pub fees: Fees,
}

#[derive(Clone, Debug, Args)]
pub struct ApplyOptions {
    #[command(flatten)]
    pub place: Place,
    #[command(flatten)]
    pub key: Key,
    #[command(flatten)]
    pub choices: Choices,
    #[command(flatten)]
    pub fees: Fees,
    #[command(flatten)]
    pub sending: Sending,
}

/// The choices are the interrupted run's.
#[derive(Clone, Debug, Args)]
pub struct ResumeOptions {
    #[command(flatten)]
    pub place: Place,
    #[command(flatten)]
    pub key: Key,
    #[command(flatten)]
    pub fees: Fees,
    #[command(flatten)]
    pub sending: Sending,
}
