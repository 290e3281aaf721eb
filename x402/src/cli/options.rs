//! The command line.
use std::path::PathBuf;

use clap::{Args, Subcommand};
use concord_chain::evm::Confirmations;

macro_rules! help {
    ($($examples:literal)?) => {
        concat!(
            $("Examples:\n", $examples, "\n\n",)?
            "\
Exit codes:
  0  verified
  1  refuted
  2  the command line, a file or a key is wrong; no money moved
  3  something could not be checked
  4  money may have moved, and the outcome is unknown: resume"
        )
    };
}

const SERVE: &str = help!("  concord x402 serve --config shop.json");
const PAY: &str = help!(
    "  concord x402 pay https://agent.example/weather?city=London --id london --config buyer.json
  concord x402 pay https://agent.example/weather?city=London --quote --json
  concord x402 pay --resume --id london"
);
const VERIFY: &str = help!("  concord x402 verify --id london --json");
const DECODE: &str = help!(
    "  concord x402 decode eyJzdWNjZXNzIjp0cnVlfQ==
  curl -si https://agent.example/weather | grep -i payment-required | cut -d' ' -f2 | concord x402 decode"
);
const GIVE: &str = help!(
    "  concord feedback give --id london --chain eip155:84532 --value 95 --comment 'Fresh'
  concord feedback give --id london --chain eip155:84532 --value 95 --authorized
  concord feedback give --id london --chain eip155:84532 --resume"
);
const CHECK: &str = help!(
    "  concord agent check eip155:84532:0x8004A818BFB912233c491871b3d84c89A494BD9e 42 --config buyer.json"
);

/// Serves and buys over x402, and verifies signed responses.
#[derive(Debug, Args)]
#[command(after_help = help!())]
pub struct X402 {
    #[command(subcommand)]
    pub(super) command: X402Command,
}

#[derive(Debug, Subcommand)]
pub(super) enum X402Command {
    /// Runs a paid service in front of another one, and signs paid responses.
    #[command(after_help = SERVE)]
    Serve(Serve),
    /// Checks an offer, pays it once, and verifies the answer.
    #[command(after_help = PAY)]
    Pay(Pay),
    /// Verifies a purchase again, from its evidence. Pays nothing.
    #[command(after_help = VERIFY)]
    Verify(Verify),
    /// Decodes a header: PAYMENT-REQUIRED, PAYMENT-SIGNATURE or PAYMENT-RESPONSE.
    #[command(after_help = DECODE)]
    Decode(Decode),
}

/// Gives feedback on a purchase.
#[derive(Debug, Subcommand)]
pub enum Feedback {
    /// Writes a feedback file from a purchase's evidence, submits it once, and reads the entry back.
    #[command(after_help = GIVE)]
    Give(Box<Give>),
}

/// Checks agents.
#[derive(Debug, Args)]
#[command(after_help = help!())]
pub struct Agent {
    #[command(subcommand)]
    pub(super) command: AgentCommand,
}

#[derive(Debug, Subcommand)]
pub(super) enum AgentCommand {
    /// Checks an agent's registration, its file and its wallet.
    #[command(after_help = CHECK)]
    Check(Check),
}

/// Where the buyer's chains, registries and limits are.
#[derive(Debug, Args)]
pub struct Config {
    /// A JSON file with the chains, the registries that count, and what may be spent: see docs/X402.md.
    #[arg(long, value_name = "FILE", env = "CONCORD_X402_CONFIG")]
    pub config: PathBuf,
    /// Prints the result as JSON.
    #[arg(long)]
    pub json: bool,
}

/// Whose purchase.
#[derive(Debug, Args)]
pub struct Place {
    /// The folder with the evidence of purchases.
    #[arg(
        long,
        value_name = "DIR",
        env = "CONCORD_X402_EVIDENCE",
        default_value = "purchases"
    )]
    pub evidence: PathBuf,
    /// The purchase's id: 1 to 64 of a-z, 0-9, - and _.
    #[arg(long, value_name = "ID")]
    pub id: String,
}

/// Who pays. Without a keystore, the variable CONCORD_EVM_PRIVATE_KEY.
#[derive(Debug, Args)]
pub struct Keys {
    /// EVM: an encrypted JSON keystore.
    #[arg(long, value_name = "FILE", env = "CONCORD_EVM_KEYSTORE")]
    pub keystore: Option<PathBuf>,
    /// EVM: a file with the keystore's password. Without one, the terminal is asked.
    #[arg(long, value_name = "FILE", env = "CONCORD_EVM_PASSWORD_FILE")]
    pub password_file: Option<PathBuf>,
    /// Solana: a keypair file.
    #[arg(long, value_name = "FILE", env = "CONCORD_SOLANA_KEYPAIR")]
    pub keypair: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(super) struct Serve {
    /// A JSON file with the service, its offers and its keys: see docs/X402.md.
    #[arg(long, value_name = "FILE")]
    pub config: PathBuf,
}

#[derive(Debug, Args)]
pub(super) struct Pay {
    /// The URL to buy from.
    #[arg(required_unless_present = "resume", conflicts_with = "resume")]
    pub url: Option<String>,
    /// The HTTP method.
    #[arg(long, default_value = "GET")]
    pub method: String,
    /// A header of the request, such as 'accept: text/plain'; can be repeated.
    #[arg(long, value_name = "NAME: VALUE")]
    pub header: Vec<String>,
    /// A file with the request's body.
    #[arg(long, value_name = "FILE")]
    pub body: Option<PathBuf>,
    /// Only checks the offer. Signs and pays nothing.
    #[arg(long, conflicts_with = "resume")]
    pub quote: bool,
    /// Continues an interrupted purchase, with the same bytes.
    #[arg(long)]
    pub resume: bool,
    #[command(flatten)]
    pub place: Place,
    #[command(flatten)]
    pub keys: Keys,
    #[command(flatten)]
    pub config: Config,
}

#[derive(Debug, Args)]
pub(super) struct Verify {
    #[command(flatten)]
    pub place: Place,
    #[command(flatten)]
    pub config: Config,
}

#[derive(Debug, Args)]
pub(super) struct Decode {
    /// The header's value. Default: stdin.
    pub value: Option<String>,
}

#[derive(Debug, Args)]
pub struct Give {
    /// The chain to rate on, CAIP-2: the payment's, or another one where the agent is registered.
    #[arg(long, value_name = "CAIP-2")]
    pub chain: concord_chain::ChainId,
    /// The rating, with or without decimals, such as 95 or 99.77.
    #[arg(
        long,
        required_unless_present = "resume",
        allow_negative_numbers = true
    )]
    pub value: Option<String>,
    /// The first tag. Default: that of the interaction's profile.
    #[arg(long, requires = "tag2")]
    pub tag1: Option<String>,
    /// The second tag.
    #[arg(long, requires = "tag1")]
    pub tag2: Option<String>,
    /// A comment in plain text.
    #[arg(long)]
    pub comment: Option<String>,
    /// Uses the grant of the settled response: feedback in the authorized registry.
    #[arg(long)]
    pub authorized: bool,
    /// Solana: a file with a facilitator's proof of the payment, attached after the feedback.
    #[arg(long, value_name = "FILE")]
    pub payment_proof: Option<PathBuf>,
    /// The folder for feedback files, named by their CID.
    #[arg(long, value_name = "DIR", default_value = "feedback-files")]
    pub files: PathBuf,
    /// The URL under which a web server publishes that folder. Default: ipfs://.
    #[arg(long, value_name = "URL")]
    pub files_url: Option<String>,
    /// EVM: the highest price for a unit of gas, in gwei, raised fees included. Default: a quarter
    /// more than is asked now.
    #[arg(long, value_name = "GWEI")]
    pub max_fee: Option<String>,
    /// EVM: when the transaction counts as final: a number of blocks, safe, or finalized.
    #[arg(long, value_name = "N|TAG", default_value = "1")]
    pub confirmations: Confirmations,
    /// Continues an interrupted feedback, with the same bytes.
    #[arg(long, conflicts_with_all = ["value", "comment", "tag1"])]
    pub resume: bool,
    #[command(flatten)]
    pub place: Place,
    #[command(flatten)]
    pub keys: Keys,
    #[command(flatten)]
    pub config: Config,
}

#[derive(Debug, Args)]
pub(super) struct Check {
    /// The identity registry, CAIP-10.
    pub registry: String,
    /// The agent's id there.
    pub agent_id: String,
    #[command(flatten)]
    pub config: Config,
}
