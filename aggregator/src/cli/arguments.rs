use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

/// Accepts feedback from clients without gas, and submits it to ERC-8004 registries.
#[derive(Debug, Parser)]
#[command(name = "concord-aggregator", version)]
pub struct Arguments {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Serves X402's interface, and submits what is accepted.
    Run(RunOptions),
    /// Submits what was accepted, and ends when nothing is left to do.
    Drain(ConfigOptions),
    /// Prints how many submissions are in each state, and which are late (exit code 1 if the registry
    /// refuses some).
    Status(ConfigOptions),
    /// Makes every submission that waits, or that the registry refused, due now. The service must not run.
    Retry(ConfigOptions),
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

/// R54
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum PaymentMode {
    /// They are refused.
    Checked,
    /// They are taken as the submission states them, and the file says so.
    Unchecked,
}
