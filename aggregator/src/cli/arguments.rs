//! What the command line takes. The comments are its help.
#![allow(missing_docs, reason = "options are documented by their help")]

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

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

/// Runs an aggregator, which accepts feedback from clients without gas, and audits and checks other aggregators.
#[derive(Debug, Args)]
pub struct Aggregator {
    #[command(subcommand)]
    pub command: Command,
}

/// The commands of `concord aggregator`.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Serves X402's interface, and submits accepted feedback.
    #[command(after_help = help!("  concord aggregator run --config aggregator.json"))]
    Run(RunOptions),
    /// Submits accepted feedback, and ends when nothing is left to do.
    #[command(after_help = help!("  concord aggregator drain --config aggregator.json", "the registry refuses some submissions"))]
    Drain(ConfigOptions),
    /// Prints how many submissions are in each state, and which are late.
    #[command(after_help = help!("  concord aggregator status --config aggregator.json", "the registry refuses some submissions"))]
    Status(ConfigOptions),
    /// Makes every waiting or refused submission due now. The service must not run.
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
  concord aggregator audit https://aggregator.example --registries registries.json --receipt mine.json --payload sent.json", "something is wrong with a receipt"))]
    Audit(AuditOptions),
    /// Checks that an aggregator follows X402: each code, repeated submissions, and many at once. Uses up three
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
    /// The treatment of payments on chains that are not configured.
    #[arg(long, value_enum, default_value_t = PaymentMode::Checked)]
    pub payments: PaymentMode,
}

#[derive(Debug, Args)]
pub struct BackupOptions {
    #[command(flatten)]
    pub config: ConfigOptions,
    /// The new file. An existing file is not overwritten.
    #[arg(long)]
    pub to: PathBuf,
}

#[derive(Debug, Args)]
pub struct AuditOptions {
    /// The aggregator's base URL: the part before `/receipts`.
    pub url: String,
    /// The registries that count, a JSON file: `chains` as in an aggregator's configuration, with `rpc` and
    /// `evm.identity`, `evm.reputation` or `solana.program`.
    #[arg(long)]
    pub registries: PathBuf,
    /// A receipt that the aggregator gave and must still have, a JSON file; repeatable.
    #[arg(long)]
    pub receipt: Vec<PathBuf>,
    /// A submission as it was sent and accepted, a JSON file; repeatable. Comment and endpoint are compared with these
    /// only: they are not signed.
    #[arg(long)]
    pub payload: Vec<PathBuf>,
    /// Seconds after which a receipt must have its feedback.
    #[arg(long, default_value_t = 3_600)]
    pub grace: u64,
    /// An IPFS gateway for files that the aggregator does not serve itself.
    #[arg(long)]
    pub gateway: Option<String>,
}

#[derive(Debug, Args)]
pub struct CheckOptions {
    /// The aggregator's URL for submissions, as agents announce it.
    pub url: String,
    /// The materials of the check, a JSON file: `agentRegistry`, `agentId`, `agentKey` and `reviewerKey` (key files),
    /// and three unrated `payments` to the agent.
    #[arg(long)]
    pub with: PathBuf,
    /// The most seconds until a submission is on chain.
    #[arg(long, default_value_t = 300)]
    pub patience: u64,
}

/// R54
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum PaymentMode {
    /// Such payments are refused.
    Checked,
    /// Such payments are accepted as stated, and the feedback file says so.
    Unchecked,
}
