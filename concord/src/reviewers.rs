//! `concord reviewers`: whose feedback counts, as a file to publish (R48). No network.
use super::{AGREE, CliError, show};
use clap::{Args, Subcommand};
use concord_canonical::{
    Word,
    sign::{PreparedKey, PublicKey, address_of_public_key},
};
use concord_chain::keys::{EvmKeySource, read_keypair};
use concord_files::{Extra, FILE_MAX, Reviewer, ReviewerList, Timestamp, parse_reviewer_list};
use serde_json::json;
use std::{
    collections::BTreeMap,
    fs,
    io::Read,
    path::{Path, PathBuf},
    time::{SystemTime, UNIX_EPOCH},
};

macro_rules! help {
    ($($examples:literal)?) => {
        concat!(
            $("Examples:\n", $examples, "\n\n",)?
            "\
Exit codes:
  0  verified: the list keeps every rule, or a new one is on stdout
  1  refuted: it breaks a rule, its signature does not hold, or hash or signer is another
  2  the command line is wrong, or a file cannot be read"
        )
    };
}

const NEW: &str = help!(
    "  concord reviewers new --name 'Weather desk' \\
    --reviewer 'eip155:84532:0x70997970C51812dc3A010C7d01b50e0d17dc79C8=asks daily' --keypair me.json > reviewers.json"
);
const CHECK: &str = help!(
    "  concord reviewers check reviewers.json
  concord reviewers check reviewers.json --hash 0x6c5be878… --signer 0x70997970C51812dc3A010C7d01b50e0d17dc79C8"
);

/// Writes and checks reviewer lists: whose feedback counts.
#[derive(Debug, Args)]
#[command(after_help = help!())]
pub struct Reviewers {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Prints a new reviewer list, signed if a key is given.
    #[command(after_help = NEW)]
    New(New),
    /// Checks a list, prints its hash and who signed it.
    #[command(after_help = CHECK)]
    Check(Check),
}

#[derive(Debug, Args)]
struct New {
    /// The list's name: its author or its purpose.
    #[arg(long)]
    name: String,
    /// An account that counts, with an optional reason; repeatable.
    #[arg(long, value_name = "CAIP-10[=REASON]", required = true)]
    reviewer: Vec<String>,
    /// The time of creation, such as 2026-11-23T12:00:00Z [default: now].
    #[arg(long, value_name = "TIME", value_parser = time)]
    created: Option<Timestamp>,
    /// Signs with the Ed25519 key of a Solana keypair file.
    #[arg(long, value_name = "FILE", conflicts_with = "keystore")]
    keypair: Option<PathBuf>,
    /// Signs with the secp256k1 key of an encrypted keystore.
    #[arg(long, value_name = "FILE")]
    keystore: Option<PathBuf>,
    /// A file whose first line is the keystore's password. Without it, the password is asked for on
    /// the terminal.
    #[arg(long, value_name = "FILE", requires = "keystore")]
    password_file: Option<PathBuf>,
}

#[derive(Debug, Args)]
struct Check {
    /// The list to check.
    file: PathBuf,
    /// The hash that it must have: 0x and 64 hexadecimal digits.
    #[arg(long, value_parser = hash)]
    hash: Option<Word>,
    /// The address that must have signed it, on either kind of chain.
    #[arg(long, value_name = "ADDRESS")]
    signer: Option<String>,
    /// Prints the result as JSON.
    #[arg(long)]
    json: bool,
}

pub fn reviewers(options: &Reviewers) -> Result<u8, CliError> {
    match &options.command {
        Command::New(options) => new(options),
        Command::Check(options) => check(options),
    }
}

fn time(text: &str) -> Result<Timestamp, String> {
    Timestamp::parse(text).ok_or_else(|| "expected a time such as 2026-11-23T12:00:00Z".to_owned())
}

fn hash(text: &str) -> Result<Word, String> {
    let digits = text.strip_prefix("0x").and_then(|it| hex::decode(it).ok());
    let word = digits.and_then(|it| Word::try_from(it).ok());
    word.ok_or_else(|| "expected 0x and 64 hexadecimal digits".to_owned())
}

fn new(options: &New) -> Result<u8, CliError> {
    let reviewers = options.reviewer.iter().map(|it| {
        let (account, reason) = match it.split_once('=') {
            Some((account, reason)) => (account, Some(reason.to_owned())),
            None => (it.as_str(), None),
        };
        Reviewer {
            account: account.to_owned(),
            reason,
            extra: Extra::default(),
        }
    });
    let created = options.created.clone().or_else(now);
    let created = created.ok_or_else(|| argument("--created", "the clock shows no time"))?;
    let mut list = ReviewerList::new(&options.name, created, reviewers.collect());
    let refused = |error: concord_files::Error| argument("--reviewer", error);
    if let Some(key) = key(options)? {
        list.sign(&key).map_err(refused)?;
    }
    show(list.to_canonical().map_err(refused)?.as_bytes())?;
    Ok(AGREE)
}

fn now() -> Option<Timestamp> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).ok()?;
    Timestamp::from_unix_seconds(now.as_secs())
}

fn key(options: &New) -> Result<Option<PreparedKey>, CliError> {
    if let Some(path) = &options.keypair {
        let key = read_keypair(path).map_err(|error| argument("--keypair", error))?;
        return Ok(Some(PreparedKey::ed25519(key.secret_bytes())));
    }
    if options.keystore.is_none() {
        return Ok(None);
    }
    let source = EvmKeySource {
        keystore: options.keystore.clone(),
        password_file: options.password_file.clone(),
    };
    let refused = |error: &dyn ToString| argument("--keystore", error.to_string());
    let key = source.open().map_err(|error| refused(&error))?;
    let key = key.map(|it| PreparedKey::secp256k1(&it.to_bytes().0));
    key.transpose().map_err(|error| refused(&error))
}

fn argument(option: &'static str, reason: impl ToString) -> CliError {
    CliError::Argument {
        option,
        reason: reason.to_string(),
    }
}

/// A list whose signature holds, if it has one.
struct Checked {
    list: ReviewerList,
    hash: Word,
    signer: Option<String>,
}

fn check(options: &Check) -> Result<u8, CliError> {
    let place = options.file.display().to_string();
    let refused = |reason: String| CliError::FileRefused {
        place: place.clone(),
        reason,
    };
    let of_file = |error: concord_files::Error| refused(error.to_string());
    let list = parse_reviewer_list(&read(&options.file)?).map_err(of_file)?;
    let list = list.into_view();
    let checked = Checked {
        hash: list.hash().map_err(of_file)?,
        signer: list.signer().map_err(of_file)?.map(|it| address(&it)),
        list,
    };
    if let Some(expected) = options.hash
        && expected != checked.hash
    {
        let (found, expected) = (hex::encode(checked.hash), hex::encode(expected));
        return Err(refused(format!(
            "the hash is 0x{found}, expected 0x{expected}"
        )));
    }
    if let Some(expected) = &options.signer {
        let found = checked.signer.as_deref().unwrap_or("no one");
        let is_same = if expected.starts_with("0x") {
            found.eq_ignore_ascii_case(expected)
        } else {
            found == expected
        };
        if !is_same {
            return Err(refused(format!("signed by {found}, expected {expected}")));
        }
    }
    let report = if options.json {
        checked.as_json()
    } else {
        checked.as_text()
    };
    show(report.as_bytes())?;
    Ok(AGREE)
}

/// One byte more than a reader takes, which then names the limit.
fn read(path: &Path) -> Result<Vec<u8>, CliError> {
    let mut bytes = Vec::new();
    let limit = FILE_MAX as u64 + 1;
    let read = fs::File::open(path).and_then(|file| file.take(limit).read_to_end(&mut bytes));
    match read {
        Ok(_) => Ok(bytes),
        Err(fault) => Err(CliError::Unreadable {
            path: path.to_owned(),
            fault,
        }),
    }
}

fn address(key: &PublicKey) -> String {
    match key {
        PublicKey::Ed25519(key) => bs58::encode(key).into_string(),
        PublicKey::Secp256k1(key) => address_of_public_key(key)
            .map(|it| format!("0x{}", hex::encode(it)))
            .unwrap_or_default(), // its signature held
    }
}

impl Checked {
    /// Reviewers by chain.
    fn counts(&self) -> BTreeMap<&str, usize> {
        let mut counts = BTreeMap::new();
        for reviewer in &self.list.reviewers {
            let (network, _) = reviewer.account.rsplit_once(':').unwrap_or_default();
            *counts.entry(network).or_default() += 1;
        }
        counts
    }

    fn as_json(&self) -> String {
        let report = json!({
            "name": self.list.name,
            "created": self.list.created.as_str(),
            "hash": format!("0x{}", hex::encode(self.hash)),
            "signer": self.signer,
            "reviewers": self.counts(),
            "listedTwice": self.list.twice(),
        });
        format!("{report:#}\n")
    }

    /// The name is somebody's text: it is shown with its control characters escaped.
    fn as_text(&self) -> String {
        let mut text = format!("{:?}, {}\n", self.list.name, self.list.created.as_str());
        for (network, count) in self.counts() {
            text += &format!("{count} on {network}\n");
        }
        if let Some(account) = self.list.twice() {
            text += &format!("{account} is listed twice, and counts twice\n");
        }
        text += &match &self.signer {
            Some(signer) => format!("signed by {signer}\n"),
            None => "not signed\n".to_owned(),
        };
        text + &format!("hash 0x{}\n", hex::encode(self.hash))
    }
}
