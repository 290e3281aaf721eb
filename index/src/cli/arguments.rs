//! What the command line takes. The comments are its help.
#![allow(missing_docs, reason = "flattened options need no help of their own")]
use super::export::Resumption;
use crate::store::Location;
use clap::{Arg, Args, Error, Subcommand, ValueEnum, builder::TypedValueParser, error::ErrorKind};
use concord_chain::ChainId;
use concord_registry::{evm, svm};
use std::{ffi::OsStr, net::SocketAddr, path::PathBuf};

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

/// Indexes ERC-8004 registries on EVM chains and on Solana, and answers searches.
#[derive(Debug, Args)]
pub struct Index {
    #[command(subcommand)]
    pub command: Command,
}

/// The commands of `concord index`.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Reads a chain into the store, and follows new blocks.
    #[command(after_help = help!("  concord index run --rpc http://127.0.0.1:8545 --identity 0x… --reputation 0x…
  concord index run --rpc http://127.0.0.1:8899 --program 4dqu… --confirmed --once
  concord index run --rpc http://127.0.0.1:8545 --rpc http://127.0.0.1:8899 --listen 127.0.0.1:8745"))]
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
    /// Prints every event as a line of JSON, in chain order, or writes the events to Parquet files.
    ///
    /// An export to a folder continues where an earlier one ended.
    #[command(after_help = help!("  concord index export
  concord index export --chain eip155:8453 --after 000000000000000700000000000000000000000100000000-9-5f0a93d17c2e4b86
  concord index export --to parquet --out events"))]
    Export(ExportOptions),
}

/// What an export is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// Lines of JSON on stdout.
    Ndjson,
    /// Parquet files in a folder for each deployment, with a manifest.
    Parquet,
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
    /// NDJSON: continues after the line with this `cursor`, the last one of an earlier export. Refused if the events up to there are
    /// others by now: a repair found some, or, with --unfinal, a reorganisation replaced some.
    #[arg(long, value_name = "CURSOR")]
    pub after: Option<Resumption>,
    /// NDJSON: includes events of blocks that are not final, which a reorganisation may remove.
    #[arg(long)]
    pub unfinal: bool,
    /// Parquet: where the folders are.
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Parquet: rows of each file. The last file has what is left.
    #[arg(long, default_value_t = 1_000_000, value_parser = clap::value_parser!(u64).range(1..=100_000_000))]
    pub rows: u64,
}

#[derive(Debug, Clone, Args)]
pub struct StoreOptions {
    /// The SQLite file, or postgres://USER@HOST:PORT/DATABASE. PGPASSWORD has the password.
    #[arg(long, default_value = "concord-index.sqlite", value_parser = StoreParser)]
    pub store: Location,
}

/// Reads `--store`. Clap's own error would show the text, which may have a password.
#[derive(Debug, Clone)]
struct StoreParser;

impl TypedValueParser for StoreParser {
    type Value = Location;

    fn parse_ref(
        &self,
        command: &clap::Command,
        _: Option<&Arg>,
        value: &OsStr,
    ) -> Result<Location, Error> {
        let refused = |reason: &str| {
            let words = format!("--store: {reason}\n");
            Error::raw(ErrorKind::ValueValidation, words).with_cmd(command)
        };
        let text = value.to_str().ok_or_else(|| refused("expected UTF-8"))?;
        text.parse().map_err(|reason: String| refused(&reason))
    }
}

#[derive(Debug, Args)]
pub struct ServeOptions {
    #[command(flatten)]
    pub store: StoreOptions,
    /// The address to listen on.
    #[arg(long, default_value = "127.0.0.1:8745")]
    pub listen: SocketAddr,
    #[command(flatten)]
    pub limits: ListenOptions,
}

#[derive(Debug, Clone, Args)]
pub struct FileOptions {
    /// Fetches registration and feedback files, and verifies them.
    #[arg(long)]
    pub files: bool,
    /// The IPFS gateway, such as https://trustless-gateway.link. It need not be trusted.
    #[arg(long, requires = "files")]
    pub gateway: Option<String>,
    /// Fetches `http:` files too, which anyone on the way can change.
    #[arg(long, requires = "files")]
    pub allow_http: bool,
    /// Fetches files from addresses that are not public. Anyone who gives feedback can name one.
    #[arg(long, requires = "files")]
    pub allow_private: bool,
}

#[derive(Debug, Clone, Args)]
pub struct ListenOptions {
    /// The most clients at once. A further client takes the place of an idle one.
    #[arg(long, default_value_t = 1_024, value_parser = at_least_one)]
    pub connections: usize,
    /// The most queries at once. Each has its own connection to the store.
    #[arg(long, default_value_t = 8, value_parser = at_least_one)]
    pub queries: usize,
    /// The most milliseconds for a query.
    #[arg(long, default_value_t = 5_000)]
    pub query_ms: u64,
    /// The most rows per page.
    #[arg(long, default_value_t = 200, value_parser = at_least_one)]
    pub page_max: usize,
    /// The page that verifies bundles of `concord explain`, as explain/page/build wrote it [default: the one that
    /// this build carries, if it does].
    #[arg(long, value_name = "FILE")]
    pub explain_page: Option<PathBuf>,
}

fn at_least_one(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(number @ 1..) => Ok(number),
        _ => Err("expected a number of at least 1".to_owned()),
    }
}

#[derive(Debug, Clone, Args)]
pub struct RunOptions {
    #[command(flatten)]
    pub store: StoreOptions,
    /// A JSON-RPC endpoint; repeatable. Each chain that endpoints are of is indexed; of several endpoints of one
    /// chain, the next is asked if one fails.
    #[arg(long, required = true)]
    pub rpc: Vec<String>,
    /// The chain's CAIP-2 id, if it is one chain [default: what the endpoint says].
    #[arg(long)]
    pub chain: Option<ChainId>,
    /// The address book of `concord deploy`, for registries that are not named here [default:
    /// deployments/addresses.json, if none are].
    #[arg(long, value_name = "FILE")]
    pub address_book: Option<PathBuf>,
    /// EVM: the identity registry.
    #[arg(long)]
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
    #[arg(long)]
    pub program: Option<svm::Address>,
    /// Solana: reads confirmed blocks, not only finalized ones.
    #[arg(long)]
    pub confirmed: bool,
    /// The first block or slot to read of registries that are named here: that of the deployment, or any before it. Without it,
    /// everything that the node has.
    #[arg(long, default_value_t = 0)]
    pub start: u64,
    /// Ends when everything is indexed.
    #[arg(long)]
    pub once: bool,
    /// Answers `/v1` at this address meanwhile, such as 127.0.0.1:8745.
    #[arg(long, conflicts_with = "once")]
    pub listen: Option<SocketAddr>,
    #[command(flatten)]
    pub limits: ListenOptions,
    #[command(flatten)]
    pub files: FileOptions,
    /// Block headers to keep: the deepest reorganisation that can be followed.
    #[arg(long, default_value_t = 256)]
    pub headers: u64,
}
