use crate::options::Place;
use clap::{Args, Subcommand};
use std::path::PathBuf;

macro_rules! help {
    ($($examples:literal)?) => {
        concat!(
            $("Examples:\n", $examples, "\n\n",)?
            "\
Exit codes:
  0  done, or nothing had to be sent
  2  refused before anything was sent: command line, file, key, chain or balance
  3  the chain does not answer, or the change was interrupted: the same command continues it"
        )
    };
}

/// Shows and changes the registry's authority and the payment tokens and facilitators that count
/// (Solana).
#[derive(Debug, Args)]
#[command(after_help = help!())]
pub struct Registry {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Shows authority, proposed authority, payment tokens and facilitators.
    #[command(after_help = help!("  concord registry show --chain solana:localnet --json"))]
    Show(Place),
    /// Proposes the next authority, which must accept. `none` withdraws the proposal.
    #[command(after_help = help!("  concord registry propose KEY --chain solana:localnet --keypair id.json
  concord registry propose none --chain solana:localnet --keypair id.json
  concord registry propose KEY --chain solana:localnet --unsigned --json"))]
    Propose {
        #[arg(value_name = "KEY|none")]
        key: String,
        #[command(flatten)]
        options: Box<ChangeOptions>,
    },
    /// Accepts the authority: the proposed key signs.
    #[command(after_help = help!("  concord registry accept --chain solana:localnet --keypair next.json"))]
    Accept {
        #[command(flatten)]
        options: Box<ChangeOptions>,
    },
    /// Adds a token whose payments count (R13).
    #[command(after_help = help!("  concord registry add-token MINT --chain solana:localnet --keypair id.json"))]
    AddToken {
        #[arg(value_name = "MINT")]
        key: String,
        #[command(flatten)]
        options: Box<ChangeOptions>,
    },
    /// Removes a token. Payments proven before stay proven.
    #[command(after_help = help!("  concord registry remove-token MINT --chain solana:localnet --keypair id.json"))]
    RemoveToken {
        #[arg(value_name = "MINT")]
        key: String,
        #[command(flatten)]
        options: Box<ChangeOptions>,
    },
    /// Adds a facilitator whose signatures prove payments (R13).
    #[command(after_help = help!("  concord registry add-facilitator KEY --chain solana:localnet --keypair id.json"))]
    AddFacilitator {
        #[arg(value_name = "KEY")]
        key: String,
        #[command(flatten)]
        options: Box<ChangeOptions>,
    },
    /// Removes a facilitator. Payments proven before stay proven.
    #[command(after_help = help!("  concord registry remove-facilitator KEY --chain solana:localnet --keypair id.json"))]
    RemoveFacilitator {
        #[arg(value_name = "KEY")]
        key: String,
        #[command(flatten)]
        options: Box<ChangeOptions>,
    },
}

/// Who signs a change, what it may cost, and how long to wait.
#[derive(Clone, Debug, Args)]
pub struct ChangeOptions {
    #[command(flatten)]
    pub place: Place,
    /// The keypair file of the registry's authority, or, to accept, of the proposed one. It pays.
    #[arg(long, value_name = "FILE", env = "CONCORD_SOLANA_KEYPAIR")]
    pub keypair: Option<PathBuf>,
    /// Sends nothing, and prints the instructions for another signer, such as a Squads multisig. Needs
    /// no key.
    #[arg(long)]
    pub unsigned: bool,
    /// Sends without asking for confirmation.
    #[arg(long)]
    pub yes: bool,
    /// Changes the registry on a chain that is not a listed testnet.
    #[arg(long)]
    pub allow_mainnet: bool,
    /// The first price of a compute unit, in microlamports.
    #[arg(long, value_name = "MICROLAMPORTS", default_value_t = 0)]
    pub priority_fee: u64,
    /// The highest price of a compute unit, for a transaction that replaces an expired one.
    #[arg(long, value_name = "MICROLAMPORTS", default_value_t = 1_000_000)]
    pub max_priority_fee: u64,
    /// Milliseconds between two requests for the state of the chain.
    #[arg(long, value_name = "MILLISECONDS", default_value_t = 400, value_parser = clap::value_parser!(u64).range(10..=60_000))]
    pub poll: u64,
    /// The most seconds before the command stops.
    #[arg(long, value_name = "SECONDS", default_value_t = 600, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub give_up_after: u64,
}
