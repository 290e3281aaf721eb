//! What the command line takes. The comments are its help.
#![allow(missing_docs, reason = "an option's comment is its help")]
use crate::online::{At, FeedbackName};
use clap::Args;
use concord_chain::ChainId;
use core::str::FromStr;
use std::path::PathBuf;

const HELP: &str = "Examples:
  concord explain eip155:84532:0x8004…BD9e:42/open/0x52ab…/1 --rpc eip155:84532=https://sepolia.base.org
  concord explain eip155:84532:0x3fd4… --rpc eip155:84532=https://sepolia.base.org --bundle feedback.json
  concord explain --from feedback.json --block eip155:84532=0x91ac…

Exit codes:
  0  every step that applies is verified, or claimed
  1  a step is refuted
  2  the command line or a file is wrong
  3  a chain does not answer
  4  nothing is refuted, and a step cannot be checked";

/// Explains why a feedback can be believed: each step VERIFIED, REFUTED, CLAIMED or CANNOT CHECK, with its
/// evidence.
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub struct Explain {
    /// The feedback: CHAIN:TRANSACTION, or REGISTRY:AGENT/PROFILE/CLIENT/INDEX with the identity registry's
    /// CAIP-10 id.
    #[arg(required_unless_present = "from", conflicts_with = "from")]
    pub feedback: Option<FeedbackName>,
    /// Verifies a bundle, without any network.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["rpc", "at", "bundle", "gateway"])]
    pub from: Option<PathBuf>,
    /// Writes everything that was read, for --from.
    #[arg(long, value_name = "FILE")]
    pub bundle: Option<PathBuf>,
    /// A chain's JSON-RPC endpoint; can be repeated. Its word for the block hash is trusted.
    #[arg(long, value_name = "CAIP-2=URL", value_parser = of_chain::<String>)]
    pub rpc: Vec<OfChain<String>>,
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
    /// Prints the report as JSON.
    #[arg(long)]
    pub json: bool,
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

/// The URL of an endpoint may have a key in it, so that an error shows the chain only.
fn of_chain<T: FromStr<Err: ToString>>(text: &str) -> Result<OfChain<T>, String> {
    let (chain, value) = text
        .split_once('=')
        .ok_or("expected a CAIP-2 id, = and a value")?;
    Ok(OfChain {
        chain: ChainId::parse(chain).map_err(|error| error.to_string())?,
        value: value.parse().map_err(|error: T::Err| error.to_string())?,
    })
}
