//! What the command line takes. The comments are its help.
#![allow(missing_docs, reason = "flattened options need no help of their own")]
use crate::{Place, store::Location};
use clap::{Args, Parser, Subcommand, ValueEnum};
use concord_chain::ChainId;
use concord_registry::{evm, svm};
use std::net::SocketAddr;

macro_rules! help {
    ($examples:literal) => {
        concat!(
            "Examples:\n",
            $examples,
            "\n
Exit codes:
  0  done, and nothing is wrong
  1  events are missing, or the tables differ from them
  2  the command line is wrong, or there is no store
  3  the chain does not answer, or the store cannot be used"
        )
    };
}

/// Indexes ERC-8004 registries on EVM chains and on Solana.
#[derive(Debug, Parser)]
#[command(name = "concord-index", version)]
pub struct Arguments {
    #[command(subcommand)]
    pub command: Command,
}

/// Indexes ERC-8004 registries on EVM chains and on Solana, and answers searches.
#[derive(Debug, Args)]
pub struct Index {
    #[command(subcommand)]
    pub command: Command,
}

/// What `concord-index` and `concord index` do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Reads a chain into the store, and follows it.
    #[command(after_help = help!("  concord index run --rpc http://127.0.0.1:8545 --identity 0x… --reputation 0x…
  concord index run --rpc http://127.0.0.1:8899 --program 4dqu… --confirmed --once"))]
    Run(Box<RunOptions>),
    /// Answers `/v1` for a store that another process may be writing.
    #[command(after_help = help!("  concord index serve
  concord index serve --listen 0.0.0.0:8745 --store index.sqlite"))]
    Serve(ServeOptions),
    /// Prints how far each deployment is indexed, and what is missing.
    #[command(after_help = help!("  concord index status --store index.sqlite"))]
    Status(StoreOptions),
    /// Folds the event log again and compares it with the tables (exit code 1 if they differ).
    #[command(after_help = help!("  concord index verify --store index.sqlite"))]
    Verify(StoreOptions),
    /// Deletes the tables and folds the event log again.
    #[command(after_help = help!("  concord index rebuild --store index.sqlite"))]
    Rebuild(StoreOptions),
    /// Prints every event, a line of JSON each, in the order of its chain.
    #[command(after_help = help!("  concord index export
  concord index export --chain eip155:8453 --after 000000000000000700000000000000000000000100000000"))]
    Export(ExportOptions),
}

/// What an export is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// Lines of JSON.
    Ndjson,
}

#[derive(Debug, Args)]
pub struct ExportOptions {
    #[command(flatten)]
    pub store: StoreOptions,
    /// The format.
    #[arg(long, value_enum, default_value_t = Format::Ndjson)]
    pub to: Format,
    /// Only this chain, by its CAIP-2 id.
    #[arg(long)]
    pub chain: Option<String>,
    /// Only this identity registry or program.
    #[arg(long)]
    pub registry: Option<String>,
    /// Go on after this position: that of the last line of an earlier export.
    #[arg(long, value_parser = super::export::position)]
    pub after: Option<Place>,
    /// Also events of blocks that are not final, which a reorganisation may take back.
    #[arg(long)]
    pub unfinal: bool,
}

#[derive(Debug, Args)]
pub struct StoreOptions {
    /// The SQLite file, or postgres://USER@HOST:PORT/DATABASE. PGPASSWORD has the password.
    #[arg(long, default_value = "concord-index.sqlite")]
    pub store: Location,
}

#[derive(Debug, Args)]
pub struct ServeOptions {
    #[command(flatten)]
    pub store: StoreOptions,
    /// Where to listen.
    #[arg(long, default_value = "127.0.0.1:8745")]
    pub listen: SocketAddr,
    #[command(flatten)]
    pub limits: ListenOptions,
}

#[derive(Debug, Args)]
pub struct FileOptions {
    /// Fetch registration and feedback files, and verify them.
    #[arg(long)]
    pub files: bool,
    /// The IPFS gateway, such as https://trustless-gateway.link. It need not be trusted.
    #[arg(long, requires = "files")]
    pub gateway: Option<String>,
    /// Fetch `http:` too, which anyone on the way can change.
    #[arg(long, requires = "files")]
    pub allow_http: bool,
    /// Fetch from addresses that are not public. Anyone who gives feedback names them.
    #[arg(long, requires = "files")]
    pub allow_private: bool,
}

#[derive(Debug, Args)]
pub struct ListenOptions {
    /// Clients at once. Another one takes the place of an idle one.
    #[arg(long, default_value_t = 1_024, value_parser = at_least_one)]
    pub connections: usize,
    /// Queries at once; each has a connection to the store of its own.
    #[arg(long, default_value_t = 8, value_parser = at_least_one)]
    pub queries: usize,
    /// Milliseconds that a query may take.
    #[arg(long, default_value_t = 5_000)]
    pub query_ms: u64,
    /// Rows that a page may have.
    #[arg(long, default_value_t = 200, value_parser = at_least_one)]
    pub page_max: usize,
}

fn at_least_one(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(number @ 1..) => Ok(number),
        _ => Err("expected a number of at least 1".to_owned()),
    }
}

#[derive(Debug, Args)]
pub struct RunOptions {
    #[command(flatten)]
    pub store: StoreOptions,
    /// The JSON-RPC endpoint. More of them are asked if it fails.
    #[arg(long, required = true)]
    pub rpc: Vec<String>,
    /// The chain's CAIP-2 id [default: what the endpoint says].
    #[arg(long)]
    pub chain: Option<ChainId>,
    /// EVM: the identity registry.
    #[arg(long, required_unless_present = "program")]
    pub identity: Option<evm::Address>,
    /// EVM: the open reputation registry.
    #[arg(long, requires = "identity")]
    pub reputation: Option<evm::Address>,
    /// EVM: the authorized reputation registry.
    #[arg(long, requires = "identity")]
    pub authorized: Option<evm::Address>,
    /// EVM: the validation registry.
    #[arg(long, requires = "identity")]
    pub validation: Option<evm::Address>,
    /// Solana: the program.
    #[arg(long, conflicts_with = "identity")]
    pub program: Option<svm::Address>,
    /// Solana: read what is confirmed, not only what is finalized.
    #[arg(long, requires = "program")]
    pub confirmed: bool,
    /// The block or slot to begin with: that of the deployment, or any before it.
    #[arg(long, default_value_t = 0)]
    pub start: u64,
    /// End when everything is indexed.
    #[arg(long)]
    pub once: bool,
    /// Answer `/v1` here meanwhile, such as 127.0.0.1:8745.
    #[arg(long, conflicts_with = "once")]
    pub listen: Option<SocketAddr>,
    #[command(flatten)]
    pub limits: ListenOptions,
    #[command(flatten)]
    pub files: FileOptions,
    /// Headers to keep, and so the depth of the deepest reorganisation.
    #[arg(long, default_value_t = 256)]
    pub headers: u64,
}
