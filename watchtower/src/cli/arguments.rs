//! What the command line takes. The comments are its help.
#![allow(missing_docs, reason = "options are documented by their help")]

use std::path::PathBuf;

use clap::{Args, Subcommand};

macro_rules! help {
    ($examples:literal, $one:literal) => {
        concat!(
            "Examples:\n",
            $examples,
            "\n
Exit codes:
  0  done, and nothing is wrong
",
            "  1  ",
            $one,
            "
  2  the command line, the configuration or a key is wrong
  3  something does not answer, or the store cannot be used"
        )
    };
}

/// Probes the services of registered agents, and publishes reliability signals as open feedback.
#[derive(Debug, Args)]
pub struct Watchtower {
    #[command(subcommand)]
    pub command: Command,
}

/// The commands of `concord watchtower`.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Probes at the interval, and publishes each window when it has ended, until it is stopped.
    #[command(after_help = help!("  concord watchtower run --config watchtower.json", "never"))]
    Run(ConfigOptions),
    /// Probes once, and publishes what is due.
    #[command(after_help = help!("  concord watchtower once --config watchtower.json", "signals are late, refused, or beyond the budget, or an agent cannot be read"))]
    Once(ConfigOptions),
    /// Prints what would be published and the most that it can cost. Nothing is probed, signed or written.
    #[command(after_help = help!("  concord watchtower plan --config watchtower.json", "the budget does not suffice, or an agent cannot be read"))]
    Plan(ConfigOptions),
    /// Prints how many signals are in each state, what was spent today, and which signals are late.
    #[command(after_help = help!("  concord watchtower status --config watchtower.json", "signals were refused"))]
    Status(ConfigOptions),
    /// Prints the JSON Schema of the configuration.
    #[command(after_help = help!("  concord watchtower schema > watchtower.schema.json", "never"))]
    Schema,
}

#[derive(Debug, Args)]
pub struct ConfigOptions {
    /// The configuration, a JSON file.
    #[arg(long)]
    pub config: PathBuf,
}
