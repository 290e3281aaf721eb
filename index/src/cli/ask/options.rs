//! What the commands that ask an index take. The comments are their help.
#![allow(missing_docs, reason = "the help says it")]
use clap::{ArgGroup, Args, Subcommand, ValueEnum};
use std::path::PathBuf;

macro_rules! help {
    ($examples:literal) => {
        concat!(
            "Examples:\n",
            $examples,
            "\n
Exit codes:
  0  done
  1  what is asked for is not indexed
  2  the command line is wrong, or the index refuses what is asked
  3  the index does not answer"
        )
    };
}

/// Which index is asked.
#[derive(Debug, Args)]
pub struct Server {
    /// The index [default: the environment's CONCORD_INDEX_URL, else http://127.0.0.1:8745].
    #[arg(long, value_name = "URL")]
    pub index: Option<String>,
    /// Prints the index's answer unchanged.
    #[arg(long)]
    pub json: bool,
}

/// Which page of a list.
#[derive(Debug, Args)]
pub struct Page {
    /// Rows per page.
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub limit: u64,
    /// Continues after an earlier page: its `nextCursor`.
    #[arg(long)]
    pub cursor: Option<String>,
}

/// Whose feedback counts: there is no default (R48).
#[derive(Debug, Args)]
pub struct By {
    /// A reviewer; repeatable.
    #[arg(long, value_name = "ADDRESS")]
    pub reviewer: Vec<String>,
    /// A reviewer list, as `concord reviewers new` writes it; its accounts on the chains that are asked count.
    #[arg(long, value_name = "FILE", conflicts_with = "reviewer")]
    pub reviewers: Option<PathBuf>,
    /// Counts everyone who gave feedback. Anyone can create such accounts without limit.
    #[arg(long, conflicts_with_all = ["reviewer", "reviewers"])]
    pub everyone: bool,
}

/// Which kind of feedback.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Kind {
    Open,
    Authorized,
}

/// Which tags.
#[derive(Debug, Args)]
pub struct Tagged {
    /// The first tag or the second one.
    #[arg(long)]
    pub tag: Option<String>,
    /// The first tag.
    #[arg(long)]
    pub tag1: Option<String>,
    /// The second tag.
    #[arg(long)]
    pub tag2: Option<String>,
}

/// Searches agents of every indexed chain.
#[derive(Debug, Args)]
#[command(after_help = help!("  concord search weather --has mcp
  concord search --reviewer 0x… --tag uptime --min-average 90 --sort averageValue:desc
  concord search --chain eip155:8453 --filter '{\"incomplete\":false}' --json"))]
pub struct Search {
    /// A text in the name or the description.
    pub text: Option<String>,
    #[command(flatten)]
    pub server: Server,
    /// Only this chain: a CAIP-2 id, an EVM chain's number, or CAIP-2:registry; repeatable.
    #[arg(long, value_name = "CHAIN")]
    pub chain: Vec<String>,
    /// Only agents of this owner; repeatable.
    #[arg(long, value_name = "ADDRESS")]
    pub owner: Vec<String>,
    /// Only agents with this service; repeatable.
    #[arg(long, value_enum, value_name = "SERVICE")]
    pub has: Vec<Service>,
    #[command(flatten)]
    pub by: By,
    #[command(flatten)]
    pub tagged: Tagged,
    /// Only agents with at least this many feedbacks by these reviewers.
    #[arg(long, value_name = "N")]
    pub min_count: Option<u64>,
    /// Only agents with at least this average by these reviewers, a decimal.
    #[arg(long, value_name = "VALUE", allow_hyphen_values = true)]
    pub min_average: Option<String>,
    /// The order, such as createdAt:desc, totalFeedback:desc or averageValue:desc.
    #[arg(long, value_name = "FIELD:DIRECTION")]
    pub sort: Option<String>,
    /// Further filters of /v1/agents/search, as a JSON object.
    #[arg(long, value_name = "JSON")]
    pub filter: Option<String>,
    #[command(flatten)]
    pub page: Page,
}

/// A service of an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Service {
    Mcp,
    A2a,
    Web,
    Oasf,
}

/// Prints a summary of an agent's feedback, which equals the chain's to the digit, and facts about the
/// reviewers.
#[derive(Debug, Args)]
#[command(group = ArgGroup::new("whose").required(true).args(["reviewer", "reviewers", "everyone"]))]
#[command(after_help = help!("  concord summary 84532:7 --reviewer 0x… --tag quality
  concord summary eip155:8453:0x…:7 --reviewers trusted.txt --profile authorized"))]
pub struct Summary {
    /// CAIP-2:registry:agent id, or EVM chain:agent id.
    pub agent: String,
    #[command(flatten)]
    pub server: Server,
    #[command(flatten)]
    pub by: By,
    /// The kind of feedback.
    #[arg(long, value_enum, default_value_t = Kind::Open)]
    pub profile: Kind,
    #[command(flatten)]
    pub tagged: Tagged,
}

/// What can be read of feedback.
#[derive(Debug, Subcommand)]
pub enum Feedback {
    /// Prints a feedback with what its file supports, its responses, and its payment.
    #[command(after_help = help!("  concord feedback get 84532:7 0x… 1
  concord feedback get eip155:8453:0x…:7 0x… 2 --profile authorized --json"))]
    Get(Box<Get>),
    /// Lists feedback, the newest first.
    #[command(after_help = help!("  concord feedback list --agent 84532:7
  concord feedback list --reviewer 0x… --tag uptime --revoked"))]
    List(Box<List>),
}

#[derive(Debug, Args)]
pub struct Get {
    /// CAIP-2:registry:agent id, or EVM chain:agent id.
    pub agent: String,
    /// The client that gave it.
    pub client: String,
    /// The entry's index, counted from 1.
    pub number: u64,
    #[command(flatten)]
    pub server: Server,
    /// The kind of feedback.
    #[arg(long, value_enum, default_value_t = Kind::Open)]
    pub profile: Kind,
}

#[derive(Debug, Args)]
pub struct List {
    #[command(flatten)]
    pub server: Server,
    /// Only this chain: a CAIP-2 id, an EVM chain's number, or CAIP-2:registry; repeatable.
    #[arg(long, value_name = "CHAIN")]
    pub chain: Vec<String>,
    /// About this agent; repeatable.
    #[arg(long, value_name = "AGENT")]
    pub agent: Vec<String>,
    /// By this client; repeatable.
    #[arg(long, value_name = "ADDRESS")]
    pub reviewer: Vec<String>,
    #[command(flatten)]
    pub tagged: Tagged,
    /// Only this kind of feedback.
    #[arg(long, value_enum)]
    pub profile: Option<Kind>,
    /// Includes revoked feedback.
    #[arg(long)]
    pub revoked: bool,
    #[command(flatten)]
    pub page: Page,
}
