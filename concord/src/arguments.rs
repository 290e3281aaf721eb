use alloy::primitives::Address;
use clap::{Args, Parser, Subcommand, ValueEnum, builder::RangedU64ValueParser};
use clap_complete::Shell;
use concord_chain::{ChainId, RequestLimits};
use concord_harness::{
    backend::adapter::ANSWER_LIMIT,
    fuzz::Recipe,
    model::{Chain, RegistryProfile},
    scenario::Rule,
};
use serde::Deserialize;
use std::{ffi::OsString, path::PathBuf};

/// Over all commands; each has its own in its help.
const EXIT_CODES: &str = "Exit codes (each command's help has its own):
  0  every participant agrees, or the command did what it was asked
  1  a participant disagrees; the report names it
  2  the command line or a scenario file is wrong
  3  a tool or a built file is missing, or a chain does not answer";

macro_rules! run_exit_codes {
    () => {
        "Exit codes:
  0  every participant agrees
  1  a participant disagrees; the report names it
  2  the command line or a scenario file is wrong, or no chosen scenario has a step for any backend
  3  a tool or a built file is missing, or a participant stopped answering; what was tested agrees
  4  every declared profile agrees, and some scenarios need profiles that are not declared"
    };
}

const CONFORM: &str = concat!(
    "Examples:
  concord conform                                     every scenario; see --backend and --config
  concord conform --filter R8 --verbose               scenarios that show rule R8, with each variance
  concord conform --backend svm-litesvm --filter open one chain, scenarios with `open` in their name
  concord conform --rule R8 --rule R16 --exclude gas/ two rules, without what has `gas/` in its name
  concord conform --profile identity,open             two parts of the registries, and no others
  concord conform --html report.html --junit run.xml  the report as files too
  concord conform --backend none --adapter 'python3 registry.py' --adapter-chain evm
  concord conform --backend none --evm-rpc http://127.0.0.1:8545 --identity 0x… --filter identity/
  concord conform --backend none --evm-rpc http://127.0.0.1:8545 --identity 0x… --canonical-abi --error-classes errors.json
  concord conform --backend none --svm-rpc http://127.0.0.1:8899 --program-id 4dqu… --keypair id.json
  concord conform --live --chain eip155:84532 --keystore key.json

",
    run_exit_codes!()
);
const ADAPTER: &str = concat!(
    "Examples:
  concord adapter --chain evm 'python3 tests/adapters/identity.py' --filter identity/transfer
  concord adapter --chain svm ./my-registry --html report.html
  concord adapter check --chain svm ./my-registry

",
    run_exit_codes!()
);
const ADAPTER_CHECK: &str = "Examples:
  concord adapter check --chain evm 'python3 tests/adapters/identity.py'

Exit codes:
  0  every answer follows the protocol
  1  an answer does not; its line says why
  2  the command line is wrong
  3  the program does not start, or does not answer `hello`";
const ADAPTER_SCHEMA: &str = "Examples:
  concord adapter schema > adapter.schema.json

Exit codes:
  0  the schema is printed
  2  the command line is wrong, or stdout cannot be written";
const FUZZ: &str = "Examples:
  concord fuzz                            10,000 steps; the seed is the current time
  concord fuzz --seed 7 --steps 200000    the same steps in every run
  concord fuzz --steps 100000000 --minutes 60
  concord fuzz --steps 5000000 --corpus corpus    continues the last run with this folder
  concord fuzz --world 7-12-200           the one world that a report names

SIGINT (Ctrl-C) ends a run early: it prints what was done so far. A second one ends it at once.

Exit codes:
  0    every participant agrees
  1    a participant disagrees, or a run of 10,000 steps or more covers too little: an operation was hardly ever
       accepted, a mutator was never tried, or, with 40,000 steps or more, a bound never decided.
       The report names it
  2    the command line is wrong
  3    a tool or a built file is missing, or a chain does not answer
  130  SIGINT came before the end, and no participant had disagreed";
/// A year.
const MINUTES_MAX: u64 = 525_600;
const SMOKE: &str = "Examples:
  concord smoke --chain eip155:84532 --keystore key.json
  concord smoke --chain solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1 --keypair id.json --yes

Exit codes:
  0  the deployment did what the scenario expects
  1  the deployment did something else; the result says what
  2  refused before anything was sent: command line, file, key, chain or balance
  3  a built file is missing, the chain does not answer, or money could not be taken back";
const FILL: &str = "Examples:
  concord fill                    every scenario of the clone
  concord fill authorized/expiry  one; read the diff afterwards

Exit codes:
  0  every file has the model's events and digests
  2  the command line or a scenario file is wrong, or an outcome is not the model's";
const LINT: &str = "Examples:
  concord lint                    every scenario, and rules without one
  concord lint authorized/expiry  one file

Exit codes:
  0  no fault was found
  2  a scenario file has a fault, a rule has no scenario, or the command line is wrong";
const DOCTOR: &str = "Examples:
  concord doctor         lists tools and files, and how to get missing ones
  concord doctor --json  the same for a program

Exit codes:
  0  everything is there, in the required version
  2  the command line is wrong
  3  a tool or a built file is missing";
const COMPLETIONS: &str = "Examples:
  concord completions bash > ~/.local/share/bash-completion/completions/concord
  concord completions fish > ~/.config/fish/completions/concord.fish

Exit codes:
  0  the script is printed
  2  the command line is wrong, or stdout cannot be written";
const ORACLE: &str = "Examples:
  printf '{\"id\":1,\"fn\":\"keccak256\",\"data\":\"0x\"}\\n' | concord oracle

Exit codes:
  0  every line was answered, whether with a result or with an error
  2  the command line is wrong, or stdin or stdout fails";
const MAN: &str = "Examples:
  concord man | man -l -
  concord man --into ~/.local/share/man/man1

Exit codes:
  0  the pages are written
  2  the command line is wrong, or a page cannot be written";

/// Tests, deploys and uses ERC-8004 registries on EVM chains and on Solana.
#[derive(Debug, Parser)]
#[command(name = "concord", version, after_help = EXIT_CODES)]
pub struct Concord {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Runs scenarios on the model and on real registries, and reports each difference.
    #[command(after_help = CONFORM)]
    // `smoke` has these without `--live`.
    #[command(
        mut_arg("chain", |it| it.requires("live")),
        mut_arg("budget", |it| it.requires("live")),
        mut_arg("max_fee", |it| it.requires("live")),
        mut_arg("yes", |it| it.requires("live")),
        mut_arg("allow_mainnet", |it| it.requires("live"))
    )]
    Conform(Box<Conform>),
    /// Tests your registry through an adapter: `conform --backend none --adapter COMMAND
    /// --adapter-chain CHAIN`, with any other options of `conform` after the command.
    #[command(after_help = ADAPTER)]
    Adapter(Box<Adapter>),
    /// Tries random operations, half of them deliberately invalid, on the model and on real
    /// registries at once, and writes the first difference as a scenario.
    #[command(after_help = FUZZ)]
    Fuzz(Fuzz),
    /// Writes the model's events and digests into scenario files. Outcomes and summaries are
    /// written by hand and must equal the model's.
    #[command(after_help = FILL)]
    Fill(Files),
    /// Checks that scenario files are well formed and filled. If no file is named, also checks that
    /// every rule has a scenario that keeps it and one that breaks it.
    #[command(after_help = LINT)]
    Lint(Files),
    Init(super::init::Init),
    Scenarios(super::scenarios::Scenarios),
    /// Lists tools and built files with their versions, and how to get missing ones.
    #[command(after_help = DOCTOR)]
    Doctor(Doctor),
    Deploy(Box<concord_deploy::options::Deploy>),
    Registry(Box<concord_deploy::registry::options::Registry>),
    /// Plays one scenario on a deployment: one agent, one authorized feedback, one summary. Prints
    /// the transactions and what they cost.
    #[command(after_help = SMOKE)]
    Smoke(Box<Smoke>),
    #[cfg(feature = "services")]
    #[command(flatten)]
    Service(super::services::Service),
    File(super::file::File),
    Reviewers(super::reviewers::Reviewers),
    /// Computes canonical functions: one JSON request per line on stdin, one answer per line on
    /// stdout.
    #[command(after_help = ORACLE)]
    Oracle,
    Vectors(super::vectors::Vectors),
    /// Prints a completion script for a shell.
    #[command(after_help = COMPLETIONS)]
    Completions {
        shell: Shell,
    },
    /// Prints the manual page, or writes one for each command.
    #[command(after_help = MAN)]
    Man {
        /// A folder for all pages: concord.1, concord-conform.1, concord-deploy-plan.1 and so on.
        #[arg(long, value_name = "DIR")]
        into: Option<PathBuf>,
    },
}

#[derive(Debug, Args)]
pub struct Conform {
    /// The registries to run. Default: evm-anvil,svm-litesvm in a clone, else evm-revm,svm-litesvm,
    /// which need no anvil.
    #[arg(long, value_enum, value_delimiter = ',', value_name = "NAME")]
    pub backend: Vec<BackendName>,
    /// The file that `concord init` writes, with defaults for --adapter, --backend, --profile, --filter, --rule and
    /// --exclude. Default: concord.json in this folder, if it is there.
    #[arg(long, value_name = "FILE", conflicts_with = "live")]
    pub config: Option<PathBuf>,
    /// A scenario file, or the name of one in tests/scenarios; repeatable. Default: all.
    #[arg(long, value_name = "PATH|NAME")]
    pub scenario: Vec<PathBuf>,
    /// Only scenarios with this text in their name, or that cite this rule; repeatable, and then
    /// either text is enough. Filters of different kinds must all hold.
    #[arg(long, value_name = "TEXT|RULE")]
    pub filter: Vec<String>,
    /// Only scenarios that cite this rule; repeatable.
    #[arg(long, value_name = "RULE", value_delimiter = ',')]
    pub rule: Vec<Rule>,
    /// Tests only these parts of the registries. A scenario ends, as not declared, at the first
    /// step that needs another part. Default: what each registry or adapter declares.
    #[arg(long, value_name = "identity,open,authorized,validation", value_delimiter = ',', value_parser = profile)]
    pub profile: Vec<RegistryProfile>,
    /// Leaves out scenarios with this text in their name; repeatable.
    #[arg(long, value_name = "TEXT")]
    pub exclude: Vec<String>,
    /// An http:// URL of a development node (anvil) with registries on it, which are tested too.
    /// Actors are funded and the time is set there. A run that is not killed restores the node's
    /// state.
    #[arg(long, value_name = "URL", requires = "identity")]
    pub evm_rpc: Option<String>,
    /// The chain id that the node must have.
    #[arg(
        long,
        value_name = "ID",
        default_value_t = 31_337,
        requires = "evm_rpc"
    )]
    pub chain_id: u64,
    /// The identity registry's address there.
    #[arg(long, value_name = "ADDRESS", value_parser = address, requires = "evm_rpc")]
    pub identity: Option<Address>,
    /// The open reputation registry's address there.
    #[arg(long, value_name = "ADDRESS", value_parser = address, requires = "evm_rpc")]
    pub reputation: Option<Address>,
    /// The authorized reputation registry's address there.
    #[arg(long, value_name = "ADDRESS", value_parser = address, requires = "evm_rpc")]
    pub authorized: Option<Address>,
    /// The validation registry's address there.
    #[arg(long, value_name = "ADDRESS", value_parser = address, requires = "evm_rpc")]
    pub validation: Option<Address>,
    /// The registries are the canonical ERC-8004 contracts 2.0.0, which revert with strings.
    #[arg(long, requires = "evm_rpc", conflicts_with = "authorized")]
    pub canonical: bool,
    /// The registries have the canonical ABI and are not the canonical contracts: the same is
    /// asked of them, and none of the canonical contracts' known differences is accepted.
    #[arg(long, requires = "evm_rpc", conflicts_with_all = ["authorized", "canonical"])]
    pub canonical_abi: bool,
    /// A JSON object that maps each refusal to an error class: a revert text, a custom error's signature or
    /// selector, or 0x for empty revert data.
    #[arg(long, value_name = "FILE", requires = "canonical_abi")]
    pub error_classes: Option<PathBuf>,
    /// The identity registry is the canonical one 2.0.0, and the others are Concord's on top of it.
    #[arg(long, requires = "evm_rpc", conflicts_with_all = ["canonical", "canonical_abi"])]
    pub canonical_identity: bool,
    /// The URL of a Solana development node (Surfpool, solana-test-validator) where the program is
    /// deployed, which is tested too. Actors are funded there, and the time is set if the node
    /// supports it. The registry's authority and lists are restored; other data of the scenarios
    /// stays. Needs --keypair, the authority's.
    #[arg(long, value_name = "URL", requires_all = ["program_id", "keypair"])]
    pub svm_rpc: Option<String>,
    /// The program's id there.
    #[arg(long, value_name = "ADDRESS", requires = "svm_rpc")]
    pub program_id: Option<solana_address::Address>,
    /// Your registry: the command of a program that speaks docs/ADAPTER.md. Reports show it: secrets belong in the
    /// environment.
    #[arg(long, value_name = "COMMAND", requires = "adapter_chain")]
    pub adapter: Option<String>,
    /// The kind of chain that the adapter's registry is on. Its declared variances apply.
    #[arg(long, value_name = "evm|svm", value_parser = chain, requires = "adapter")]
    pub adapter_chain: Option<Chain>,
    /// The longest wait for each of the adapter's answers, in seconds.
    #[arg(long, value_name = "SECONDS", default_value_t = ANSWER_LIMIT, value_parser = seconds())]
    pub adapter_timeout: u64,
    /// The anvil binary. Default: CONCORD_ANVIL, else the one on PATH.
    #[arg(long, value_name = "PATH")]
    pub anvil: Option<PathBuf>,
    /// Forge's output folder. Default: contracts/out.
    #[arg(long, value_name = "DIR")]
    pub artifacts: Option<PathBuf>,
    /// The Solana program. Default: target/deploy/agent_registry.so.
    #[arg(long, value_name = "FILE")]
    pub program: Option<PathBuf>,
    /// Prints the report as JSON.
    #[arg(long)]
    pub json: bool,
    /// Lists each declared variance with its reason, and each wrong answer of a view.
    #[arg(long, short, conflicts_with = "json")]
    pub verbose: bool,
    /// Writes the report as JSON to a file, too.
    #[arg(long, value_name = "FILE")]
    pub json_file: Option<PathBuf>,
    /// Writes the report as one HTML file, too.
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// Writes the report as JUnit XML, too.
    #[arg(long, value_name = "FILE")]
    pub junit: Option<PathBuf>,
    // Last, or its heading would stand above what follows.
    #[command(flatten)]
    pub live: Live,
}

// A doc comment would become the help of the whole command.
#[derive(Debug, Args)]
#[command(next_help_heading = "On a deployment")]
pub struct Live {
    /// Plays the scenarios flagged `live` on the deployment that the address book has, and nothing
    /// else. Steps that must be refused are only simulated. The others are sent by actors that this
    /// run funds.
    #[arg(long, requires = "chain", conflicts_with_all = ["backend", "evm_rpc", "svm_rpc", "adapter", "program", "anvil"])]
    pub live: bool,
    #[command(flatten)]
    pub run: LiveRun,
}

/// A deployment, who pays, and the most that a run on it may cost.
#[derive(Debug, Args)]
pub struct LiveRun {
    /// The chain's CAIP-2 id, such as eip155:84532 or solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1.
    #[arg(long, value_name = "CAIP-2")]
    pub chain: Option<ChainId>,
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
    /// The folder with the address book. Default: deployments in the clone.
    #[arg(long, value_name = "DIR", env = "CONCORD_DEPLOYMENTS")]
    pub deployments: Option<PathBuf>,
    /// EVM: the funder's encrypted JSON keystore. Without one, the variable CONCORD_EVM_PRIVATE_KEY.
    #[arg(long, value_name = "FILE", env = "CONCORD_EVM_KEYSTORE")]
    pub keystore: Option<PathBuf>,
    /// EVM: a file with the keystore's password. Without one, the terminal is asked.
    #[arg(long, value_name = "FILE", env = "CONCORD_EVM_PASSWORD_FILE")]
    pub password_file: Option<PathBuf>,
    /// Solana: the funder's keypair file, as solana-keygen writes it.
    #[arg(long, value_name = "FILE", env = "CONCORD_SOLANA_KEYPAIR")]
    pub keypair: Option<PathBuf>,
    /// The most that the run may cost, in ETH or SOL; more is refused before anything is sent.
    /// Default: 0.05 ETH, 1 SOL.
    #[arg(long, value_name = "COINS")]
    pub budget: Option<String>,
    /// EVM: the highest price for a unit of gas, in gwei.
    #[arg(long, value_name = "GWEI")]
    pub max_fee: Option<String>,
    /// Sends without asking for confirmation.
    #[arg(long)]
    pub yes: bool,
    /// Sends to a chain that is not a listed testnet.
    #[arg(long)]
    pub allow_mainnet: bool,
    /// Seconds to wait for one answer of the endpoint.
    #[arg(long, value_name = "SECONDS", default_value_t = 20, value_parser = clap::value_parser!(u64).range(1..=600))]
    pub timeout: u64,
    /// Seconds to wait for each transaction.
    #[arg(long, value_name = "SECONDS", default_value_t = 120, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub give_up_after: u64,
}

/// `concord smoke`.
#[derive(Debug, Args)]
pub struct Smoke {
    #[command(flatten)]
    pub run: LiveRun,
    /// EVM: Forge's output folder. Default: contracts/out.
    #[arg(long, value_name = "DIR")]
    pub artifacts: Option<PathBuf>,
    /// Prints the result as JSON.
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub struct Adapter {
    #[command(subcommand)]
    pub part: Option<AdapterPart>,
    /// The kind of chain that the registry is on. Its declared variances apply.
    #[arg(long, value_name = "evm|svm", value_parser = chain, required = true)]
    pub chain: Option<Chain>,
    /// The command of a program that speaks docs/ADAPTER.md, as one word. Reports show it: secrets belong in the
    /// environment.
    #[arg(value_name = "COMMAND", required = true)]
    pub command: Option<String>,
    /// Options of `conform`, such as --filter R2 or --html FILE.
    #[arg(
        value_name = "OPTION",
        trailing_var_arg = true,
        allow_hyphen_values = true
    )]
    pub options: Vec<OsString>,
}

/// What can be done with an adapter beside testing its registry.
#[derive(Debug, Subcommand)]
pub enum AdapterPart {
    /// Sends one request of each kind that the program declares, and reports line by line which
    /// answers break the protocol. `concord adapter` tests whether they are right.
    #[command(after_help = ADAPTER_CHECK)]
    Check {
        /// The kind of chain that the registry is on.
        #[arg(long, value_name = "evm|svm", value_parser = chain)]
        chain: Chain,
        /// The longest wait for each answer, in seconds.
        #[arg(long, value_name = "SECONDS", default_value_t = ANSWER_LIMIT, value_parser = seconds())]
        timeout: u64,
        /// The command of a program that speaks docs/ADAPTER.md, as one word.
        #[arg(value_name = "COMMAND")]
        command: String,
    },
    /// Prints the JSON Schema of the protocol.
    #[command(after_help = ADAPTER_SCHEMA)]
    Schema,
}

impl Adapter {
    /// The command line of `conform` that this stands for.
    pub fn as_conform(&self) -> Vec<OsString> {
        let chain = self.chain.map(|it| it.to_string()).unwrap_or_default();
        let words = [
            "concord",
            "conform",
            "--backend",
            "none",
            "--adapter-chain",
            &chain,
            "--adapter",
            self.command.as_deref().unwrap_or_default(),
        ];
        let words = words.into_iter().map(OsString::from);
        words.chain(self.options.iter().cloned()).collect()
    }
}

#[derive(Debug, Args)]
pub struct Fuzz {
    /// The registries to run beside the model.
    #[arg(
        long,
        value_enum,
        value_delimiter = ',',
        value_name = "NAME",
        default_value = "evm-revm,svm-litesvm"
    )]
    pub backend: Vec<BackendName>,
    /// Ends after this many steps, including those of earlier runs with the same corpus.
    #[arg(long, value_name = "N", default_value_t = 10_000, value_parser = clap::value_parser!(u64).range(1..))]
    pub steps: u64,
    /// The seed of all random choices. Default: the current time.
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// A folder for worlds that reach new outcomes, bounds or states of the model. Later worlds
    /// start from them, and a later run with the same folder continues.
    #[arg(long, value_name = "DIR")]
    pub corpus: Option<PathBuf>,
    /// Plays only this world, named as in a report.
    #[arg(long, value_name = "SEED-NUMBER-STEPS,…", conflicts_with_all = ["seed", "steps", "minutes", "corpus"])]
    pub world: Option<Recipe>,
    /// Starts no new world (200 steps) after this many minutes.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=MINUTES_MAX))]
    pub minutes: Option<u64>,
    /// Worlds to play at the same time.
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u8).range(1..=64))]
    pub workers: u8,
    /// The anvil binary. Default: CONCORD_ANVIL, else the one on PATH.
    #[arg(long, value_name = "FILE")]
    pub anvil: Option<PathBuf>,
    /// Forge's output folder. Default: contracts/out.
    #[arg(long, value_name = "DIR")]
    pub artifacts: Option<PathBuf>,
    /// The Solana program. Default: target/deploy/agent_registry.so.
    #[arg(long, value_name = "FILE")]
    pub program: Option<PathBuf>,
    /// The folder to write a difference to. Default: tests/scenarios/regressions in a clone, else
    /// concord-regressions.
    #[arg(long, value_name = "DIR")]
    pub regressions: Option<PathBuf>,
    /// Prints the findings as JSON.
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct Files {
    /// A scenario file, or the name of one in tests/scenarios. Default: all.
    #[arg(value_name = "PATH|NAME")]
    pub scenario: Vec<PathBuf>,
}

#[derive(Debug, Args)]
pub struct Doctor {
    /// Prints the findings as JSON.
    #[arg(long)]
    pub json: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize, ValueEnum)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum BackendName {
    EvmAnvil,
    EvmRevm,
    SvmLitesvm,
    /// No backend of Concord: the model alone, or with an adapter. Fuzzing still compares the
    /// mutators' error classes with the model.
    None,
}

fn address(text: &str) -> Result<Address, String> {
    text.parse()
        .map_err(|_| "not 40 hexadecimal digits after 0x".to_owned())
}

fn profile(text: &str) -> Result<RegistryProfile, String> {
    RegistryProfile::ALL
        .into_iter()
        .find(|profile| profile.name() == text)
        .ok_or_else(|| format!("`{text}` is neither identity, open, authorized nor validation"))
}

/// A wait for one answer: up to an hour.
fn seconds() -> RangedU64ValueParser {
    clap::value_parser!(u64).range(1..=3_600)
}

fn chain(text: &str) -> Result<Chain, String> {
    Chain::ALL
        .into_iter()
        .find(|chain| chain.to_string() == text)
        .ok_or_else(|| format!("`{text}` is neither evm nor svm"))
}
