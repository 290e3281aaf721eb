//! What the command line takes. The comments are its help.
#![allow(missing_docs, reason = "an option's comment is its help")]
use super::CliError;
use crate::online::{AgentName, At, FeedbackName};
use clap::{Args, Subcommand};
use concord_chain::ChainId;
use concord_registry::event::Profile;
use core::str::FromStr;
use std::path::PathBuf;

macro_rules! help {
    ($examples:literal) => {
        concat!(
            "Examples:\n",
            $examples,
            "\n
Exit codes:
  0  every step that applies is verified, or claimed
  1  a step is refuted
  2  the command line or a file is wrong
  3  a chain does not answer
  4  nothing is refuted, and a step cannot be checked"
        )
    };
}

const EXPLAIN: &str = help!(
    "  concord explain eip155:84532:0x8004…BD9e:42/open/0x52ab…/1 --rpc eip155:84532=https://sepolia.base.org
  concord explain eip155:84532:0x3fd4… --rpc eip155:84532=https://sepolia.base.org --bundle feedback.json
  concord explain --from feedback.json --block eip155:84532=0x91ac…"
);
const AGENT: &str = help!(
    "  concord explain agent eip155:84532:0x8004…BD9e:42 --rpc eip155:84532=https://sepolia.base.org
  concord explain agent --from agent.json --block eip155:84532=0x91ac…"
);
const SUMMARY: &str = help!(
    "  concord explain summary eip155:84532:0x8004…BD9e:42 --reviewers reviewers.json --tag1 starred --rpc eip155:84532=https://sepolia.base.org --bundle summary.json
  concord explain summary --from summary.json --block eip155:84532=0x91ac…"
);

const ENDPOINT_MALFORMED: &str =
    "--rpc: expected a CAIP-2 id, = and a URL, such as eip155:84532=https://sepolia.base.org";

/// Explains why a feedback can be believed: each step VERIFIED, REFUTED, CLAIMED or CANNOT CHECK, with its
/// evidence.
#[derive(Debug, Args)]
#[command(after_help = EXPLAIN, args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub struct Explain {
    #[command(subcommand)]
    pub of: Option<ExplainOf>,
    /// The feedback: CHAIN:TRANSACTION, or REGISTRY:AGENT/PROFILE/CLIENT/INDEX with the identity registry's
    /// CAIP-10 id.
    #[arg(required_unless_present = "from", conflicts_with = "from")]
    pub feedback: Option<FeedbackName>,
    /// Path and query of the request that was paid for, to check the data hash.
    #[arg(
        long,
        value_name = "PATH",
        requires = "response",
        conflicts_with = "from"
    )]
    pub target: Option<String>,
    /// The request's body.
    #[arg(long, value_name = "FILE", requires = "target")]
    pub request: Option<PathBuf>,
    /// The response's body, decoded.
    #[arg(long, value_name = "FILE", requires = "target")]
    pub response: Option<PathBuf>,
    #[command(flatten)]
    pub reading: Reading,
}

#[derive(Debug, Subcommand)]
pub enum ExplainOf {
    /// Explains every feedback of an agent, whoever gave it, and whether one is missing.
    #[command(after_help = AGENT)]
    Agent(Box<OfAgent>),
    /// Explains a summary: the number for the reviewers that you name, and every feedback behind it.
    #[command(after_help = SUMMARY)]
    Summary(Box<OfSummary>),
}

#[derive(Debug, Args)]
pub struct OfAgent {
    /// The agent: the identity registry's CAIP-10 id, a colon and the agent's id.
    #[arg(required_unless_present = "from", conflicts_with = "from")]
    pub agent: Option<AgentName>,
    /// Which kind of feedback: open or authorized.
    #[arg(long, default_value = "open", value_parser = profile)]
    pub profile: Profile,
    #[command(flatten)]
    pub reading: Reading,
}

#[derive(Debug, Args)]
pub struct OfSummary {
    /// The agent: the identity registry's CAIP-10 id, a colon and the agent's id.
    #[arg(required_unless_present = "from", conflicts_with = "from")]
    pub agent: Option<AgentName>,
    /// Which kind of feedback: open or authorized.
    #[arg(long, default_value = "open", value_parser = profile)]
    pub profile: Profile,
    /// The reviewers that count: a reviewer list, of which those on the agent's chain do.
    #[arg(long, value_name = "FILE", required_unless_present_any = ["from", "reviewer", "everyone"])]
    pub reviewers: Option<PathBuf>,
    /// A reviewer that counts; can be repeated.
    #[arg(long, value_name = "ADDRESS", conflicts_with = "reviewers")]
    pub reviewer: Vec<String>,
    /// Counts everyone. Anyone can make accounts without end (R48).
    #[arg(long, conflicts_with_all = ["reviewers", "reviewer"])]
    pub everyone: bool,
    /// Counts only feedback with this first tag.
    #[arg(long, default_value = "")]
    pub tag1: String,
    /// Counts only feedback with this second tag.
    #[arg(long, default_value = "")]
    pub tag2: String,
    #[command(flatten)]
    pub reading: Reading,
}

/// What is read and trusted, and what is written.
#[derive(Debug, Args)]
pub struct Reading {
    /// Verifies a bundle, without any network.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["rpc", "at", "bundle", "gateway"])]
    pub from: Option<PathBuf>,
    /// Writes everything that was read, for --from.
    #[arg(long, value_name = "FILE")]
    pub bundle: Option<PathBuf>,
    /// A chain's JSON-RPC endpoint; can be repeated. Its word for the block hash is trusted.
    #[arg(long, value_name = "CAIP-2=URL")]
    pub rpc: Vec<String>,
    /// EVM: the block on which everything rests: latest, finalized, or a number [default: finalized, or latest if
    /// the feedback is in a later block].
    #[arg(long, value_name = "BLOCK")]
    pub at: Option<At>,
    /// The block hash that you trust on a chain; can be repeated. Without one, --from cannot check the inclusion.
    #[arg(long, value_name = "CAIP-2=HASH", value_parser = of_chain::<BlockHash>)]
    pub block: Vec<OfChain<BlockHash>>,
    /// An address book of `concord deploy`, whose registries count beside the canonical ones (R28).
    #[arg(long, value_name = "FILE")]
    pub address_book: Vec<PathBuf>,
    /// A registry of Concord's code that counts too, by its contract's name, such as
    /// ReputationRegistry=eip155:84532:0x…; can be repeated.
    #[arg(long, value_name = "CONTRACT=CAIP-10")]
    pub trust: Vec<String>,
    /// The IPFS gateway, such as https://trustless-gateway.link. It need not be trusted.
    #[arg(long, value_name = "URL")]
    pub gateway: Option<String>,
    /// Fetches `http:` files too, which anyone on the way can change.
    #[arg(long)]
    pub allow_http: bool,
    /// Fetches files from addresses that are not public. Anyone who gives feedback names them.
    #[arg(long)]
    pub allow_private: bool,
    /// Prints the report as JSON.
    #[arg(long)]
    pub json: bool,
}

impl Explain {
    /// The options that all of the commands have.
    pub(super) fn reading(&self) -> &Reading {
        match &self.of {
            Some(ExplainOf::Agent(of)) => &of.reading,
            Some(ExplainOf::Summary(of)) => &of.reading,
            None => &self.reading,
        }
    }
}

fn profile(text: &str) -> Result<Profile, String> {
    match text {
        "open" => Ok(Profile::Open),
        "authorized" => Ok(Profile::Authorized),
        other => Err(format!("{other:?} is neither open nor authorized")),
    }
}

/// Something of a chain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OfChain<T> {
    pub chain: ChainId,
    pub value: T,
}

/// 32 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockHash(pub [u8; 32]);

impl FromStr for BlockHash {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let bytes = text.strip_prefix("0x").and_then(|it| hex::decode(it).ok());
        let bytes = bytes.and_then(|it| it.try_into().ok());
        bytes
            .map(Self)
            .ok_or_else(|| "a block hash is 0x and 64 hex digits".to_owned())
    }
}

impl Reading {
    /// The endpoints. The parser of the command line does not read them: its errors show the value, and a URL may have
    /// a key in it.
    pub(super) fn endpoints(&self) -> Result<Vec<OfChain<String>>, CliError> {
        let malformed = |_| CliError::usage(ENDPOINT_MALFORMED);
        let read = self.rpc.iter().map(|it| of_chain(it).map_err(malformed));
        read.collect()
    }
}

fn of_chain<T: FromStr<Err: ToString>>(text: &str) -> Result<OfChain<T>, String> {
    let (chain, value) = text
        .split_once('=')
        .ok_or("expected a CAIP-2 id, = and a value")?;
    Ok(OfChain {
        chain: ChainId::parse(chain).map_err(|error| error.to_string())?,
        value: value.parse().map_err(|error: T::Err| error.to_string())?,
    })
}
