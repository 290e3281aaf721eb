//! What the command line takes. The comments are its help.
#![allow(missing_docs, reason = "options are documented by their help")]

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

macro_rules! help {
    ($examples:literal $(, $one:literal)?) => {
        concat!(
            "Examples:\n",
            $examples,
            "\n
Exit codes:
  0  done, and nothing is wrong
",
            $("  1  ", $one, "\n",)?
            "  2  the command line, a file that it names, or a key is wrong
  3  something does not answer, or the store cannot be used"
        )
    };
}

/// Accepts feedback from clients without gas, and submits it to ERC-8004 registries.
#[derive(Debug, Parser)]
#[command(name = "concord-aggregator", version)]
pub struct Arguments {
    #[command(subcommand)]
    pub command: Command,
}

/// Accepts feedback from clients without gas, and audits and checks those who do.
#[derive(Debug, Args)]
pub struct Aggregator {
    #[command(subcommand)]
    pub command: Command,
}

/// What `concord-aggregator` and `concord aggregator` do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Serves X402's interface, and submits what is accepted.
    #[command(after_help = help!("  concord aggregator run --config aggregator.json"))]
    Run(RunOptions),
    /// Submits what was accepted, and ends when nothing is left to do.
    #[command(after_help = help!("  concord aggregator drain --config aggregator.json", "the registry refuses some submissions"))]
    Drain(ConfigOptions),
    /// Prints how many submissions are in each state, and which are late.
    #[command(after_help = help!("  concord aggregator status --config aggregator.json", "the registry refuses some submissions"))]
    Status(ConfigOptions),
    /// Makes every submission that waits, or that the registry refused, due now. The service must not run.
    #[command(after_help = help!("  concord aggregator retry --config aggregator.json"))]
    Retry(ConfigOptions),
    /// Copies the store to a new file, also while the service runs.
    #[command(after_help = help!("  concord aggregator backup --config aggregator.json --to copy.sqlite"))]
    Backup(BackupOptions),
    /// Writes every feedback file again, from the store. The service must not run.
    #[command(after_help = help!("  concord aggregator files --config aggregator.json"))]
    Files(ConfigOptions),
    /// Prints the JSON Schema of the configuration.
    #[command(after_help = help!("  concord aggregator schema > aggregator.schema.json"))]
    Schema,
    /// Checks an aggregator's receipts against the registries, and names what it withheld (R57).
    #[command(after_help = help!("  concord aggregator audit https://aggregator.example --registries registries.json
  concord aggregator audit https://aggregator.example --registries registries.json --receipt mine.json", "something is wrong with a receipt"))]
    Audit(AuditOptions),
    /// Checks that an aggregator does what X402 says: each code, repetition, many at once. It uses up three
    /// payments.
    #[command(after_help = help!("  concord aggregator check https://aggregator.example/feedback --with materials.json", "some case failed"))]
    Check(CheckOptions),
}

#[derive(Debug, Args)]
pub struct ConfigOptions {
    /// The configuration, a JSON file.
    #[arg(long)]
    pub config: PathBuf,
}

#[derive(Debug, Args)]
pub struct RunOptions {
    #[command(flatten)]
    pub config: ConfigOptions,
    /// What happens to payments on chains that are not configured.
    #[arg(long, value_enum, default_value_t = PaymentMode::Checked)]
    pub payments: PaymentMode,
}

#[derive(Debug, Args)]
pub struct BackupOptions {
    #[command(flatten)]
    pub config: ConfigOptions,
    /// The new file. One that is there is not overwritten.
    #[arg(long)]
    pub to: PathBuf,
}

#[derive(Debug, Args)]
pub struct AuditOptions {
    /// Where the aggregator's routes are: the URL before `/receipts`.
    pub url: String,
    /// The registries that count, a JSON file: `chains` as in an aggregator's configuration, with `rpc` and
    /// `evm.identity`, `evm.reputation` or `solana.program`.
    #[arg(long)]
    pub registries: PathBuf,
    /// A receipt that was given out, a JSON file: the aggregator must have it. May be repeated.
    #[arg(long)]
    pub receipt: Vec<PathBuf>,
    /// Seconds after which a receipt must have its feedback.
    #[arg(long, default_value_t = 3_600)]
    pub grace: u64,
    /// An IPFS gateway for files that the aggregator does not serve itself.
    #[arg(long)]
    pub gateway: Option<String>,
}

#[derive(Debug, Args)]
pub struct CheckOptions {
    /// Where the aggregator takes submissions, as agents announce it.
    pub url: String,
    /// What to check with, a JSON file: `agentRegistry`, `agentId`, `agentKey` and `reviewerKey` (key files),
    /// and three `payments` to the agent that nobody rated.
    #[arg(long)]
    pub with: PathBuf,
    /// Seconds that a submission may take until it is on chain.
    #[arg(long, default_value_t = 300)]
    pub patience: u64,
}

/// R54
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum PaymentMode {
    /// They are refused.
    Checked,
    /// They are taken as the submission states them, and the file says so.
    Unchecked,
}
