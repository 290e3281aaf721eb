use clap::{Args, Parser, Subcommand, ValueEnum};
use std::path::PathBuf;

const EXIT_CODES: &str = "\
Exit codes:
  0  every participant agrees
  1  a participant disagrees; the report names it
  2  the command line or a scenario file is wrong
  3  a tool or a built file is missing, or a chain does not answer";

/// ERC-8004 registries on EVM and Solana, and the proof that they agree.
#[derive(Debug, Parser)]
#[command(name = "concord", version, after_help = EXIT_CODES)]
pub struct Concord {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Runs scenarios on the model and on real registries, and says where they agree.
    #[command(after_help = EXIT_CODES)]
    Conform(Conform),
    Deploy(concord_deploy::options::Deploy),
    /// As `deploy smoke`: one agent, one authorized feedback, one summary on a deployment.
    Smoke(concord_deploy::options::SmokeOptions),
    /// Answers canonical functions, one JSON object a line on stdin, one a line on stdout.
    Oracle,
}

#[derive(Debug, Args)]
pub struct Conform {
    /// The registries to run.
    #[arg(
        long,
        value_enum,
        value_delimiter = ',',
        value_name = "NAME",
        default_value = "evm-anvil,svm-litesvm"
    )]
    pub backend: Vec<BackendName>,
    /// A scenario file, or the name of one in tests/scenarios; repeatable. Default: all.
    #[arg(long, value_name = "PATH|NAME")]
    pub scenario: Vec<PathBuf>,
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
    /// Writes the model's events and digests into the scenario files instead of running them.
    /// Outcomes and summaries stay as written by hand, and must be the model's.
    #[arg(long, conflicts_with_all = ["json", "anvil", "artifacts", "program"])]
    pub bless: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub enum BackendName {
    EvmAnvil,
    SvmLitesvm,
}
