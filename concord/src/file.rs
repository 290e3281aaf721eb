//! `concord file`: feedback and registration files. No network.
use super::{AGREE, CliError, DISAGREE, show};
use clap::{Args, Subcommand, ValueEnum};
use concord_canonical::{Word, caip::AccountId, sign::PublicKey};
use concord_files::{
    AGENT_WALLET, AgentId, Algorithm, Extra, FILE_MAX, Mapping, Parsed, REGISTRATION_TYPE,
    Registration, RegistrationFile, Service, Signer, decode_uri, encode_uri, identify_hash,
    parse_feedback, parse_registration,
};
use serde_json::{Value, json};
use std::{
    fs,
    io::{self, Read},
};

macro_rules! help {
    ($($examples:literal)?) => {
        concat!(
            $("Examples:\n", $examples, "\n\n",)?
            "\
Exit codes:
  0  verified: the file keeps every rule, or a result is on stdout
  1  refuted: it breaks a rule, or the hash is not its own
  2  the command line is wrong, or a file cannot be read"
        )
    };
}

const CHECK: &str = help!(
    "  concord file check feedback.json
  concord file check feedback.json --hash 0x621b98ca… --json
  concord file check 'data:application/json;base64,eyJ2YWx1ZSI6OTV9'"
);
const HASH: &str = help!("  concord file hash feedback.json");
const CONVERT: &str = help!(
    "  concord file convert registration.json > current.json
  concord file convert registration.json --data-uri"
);
const NEW: &str = help!(
    "  concord file new --name Weather --service web=https://agent.example \\
    --registration eip155:84532:0x8004A818BFB912233c491871b3d84c89A494BD9e=42 \\
    --wallet eip155:84532:0x70997970C51812dc3A010C7d01b50e0d17dc79C8"
);

/// Checks, hashes, converts and writes feedback and registration files.
#[derive(Debug, Args)]
#[command(after_help = help!())]
pub struct File {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Checks a file, and names its dialect and each difference in wording that was bridged.
    #[command(after_help = CHECK)]
    Check(Check),
    /// Prints the hash that goes on chain: keccak256 of the file's RFC 8785 form.
    #[command(after_help = HASH)]
    Hash(Source),
    /// Prints a file in its current form, RFC 8785, to publish as it is.
    #[command(after_help = CONVERT)]
    Convert(Convert),
    /// Prints a new registration file.
    #[command(after_help = NEW)]
    New(New),
}

#[derive(Debug, Args)]
struct Source {
    /// A file, a data: URI, or - for stdin.
    file: String,
    /// What the file is. Default: what its members say.
    #[arg(long, value_enum)]
    kind: Option<Kind>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Kind {
    Feedback,
    Registration,
}

#[derive(Debug, Args)]
struct Check {
    #[command(flatten)]
    source: Source,
    /// The hash on chain: 0x and 64 hexadecimal digits.
    #[arg(long, value_name = "HASH", value_parser = word)]
    hash: Option<Word>,
    /// Prints the result as JSON.
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
struct Convert {
    #[command(flatten)]
    source: Source,
    /// Prints a data: URI.
    #[arg(long)]
    data_uri: bool,
}

#[derive(Debug, Args)]
struct New {
    /// The agent's name.
    #[arg(long)]
    name: String,
    /// What it does.
    #[arg(long)]
    description: Option<String>,
    /// Its picture's URL.
    #[arg(long)]
    image: Option<String>,
    /// A way to reach it; can be repeated.
    #[arg(long, value_name = "NAME=ENDPOINT")]
    service: Vec<String>,
    /// Where it is registered; can be repeated.
    #[arg(long, value_name = "CAIP-10=ID")]
    registration: Vec<String>,
    /// Where it is paid; can be repeated.
    #[arg(long, value_name = "CAIP-10")]
    wallet: Vec<String>,
    /// A key that signs its responses, and the unix second from which it is valid; can be repeated.
    #[arg(long, value_name = "KEY@SECONDS")]
    signer: Vec<String>,
}

fn word(text: &str) -> Result<Word, String> {
    let digits = text.strip_prefix("0x").and_then(|it| hex::decode(it).ok());
    let word = digits.and_then(|it| it.try_into().ok());
    word.ok_or_else(|| "expected 0x and 64 hexadecimal digits".to_owned())
}

pub(super) fn file(options: &File) -> Result<u8, CliError> {
    match &options.command {
        Command::Check(options) => check(options),
        Command::Hash(source) => {
            let read = read(source)?;
            print(&format!("0x{}", hex::encode(read.hash)))
        }
        Command::Convert(options) => {
            let text = read(&options.source)?.current;
            let text = text.map_err(|error| refused(&options.source.file, &error))?;
            if options.data_uri {
                print(&encode_uri(text.as_bytes()))
            } else {
                print(&text)
            }
        }
        Command::New(options) => {
            let text = registration(options)?.to_canonical();
            print(&text.map_err(|error| refused("the new file", &error))?)
        }
    }
}

/// A file that keeps its reader's rules.
struct ReadFile {
    kind: Kind,
    dialect: &'static str,
    hash: Word,
    is_canonical: bool,
    mappings: Vec<Mapping>,
    original: String,
    /// In its current form; the writer refuses what the reader bridges.
    current: Result<String, concord_files::Error>,
}

impl ReadFile {
    fn of<T>(
        parsed: Parsed<T>,
        kind: Kind,
        dialect: &'static str,
        current: Result<String, concord_files::Error>,
    ) -> Self {
        Self {
            kind,
            dialect,
            hash: parsed.hash(),
            is_canonical: parsed.is_canonical(),
            mappings: parsed.mappings().to_vec(),
            original: parsed.original().to_owned(),
            current,
        }
    }
}

fn read(source: &Source) -> Result<ReadFile, CliError> {
    let bytes = bytes(&source.file)?;
    let refused = |error| refused(&source.file, &error);
    match source.kind.unwrap_or_else(|| kind_of(&bytes)) {
        Kind::Feedback => {
            let parsed = parse_feedback(&bytes).map_err(refused)?;
            let dialect = parsed.view().dialect().name();
            let current = parsed.view().to_canonical();
            Ok(ReadFile::of(parsed, Kind::Feedback, dialect, current))
        }
        Kind::Registration => {
            let parsed = parse_registration(&bytes).map_err(refused)?;
            let current = current_form(parsed.view());
            let dialect = "registration-v1";
            Ok(ReadFile::of(parsed, Kind::Registration, dialect, current))
        }
    }
}

/// The current form has a `type`, which older files lack.
fn current_form(file: &RegistrationFile) -> Result<String, concord_files::Error> {
    let mut file = file.clone();
    file.file_type
        .get_or_insert_with(|| REGISTRATION_TYPE.to_owned());
    file.to_canonical()
}

/// A feedback file names its client.
fn kind_of(bytes: &[u8]) -> Kind {
    let value: Option<Value> = serde_json::from_slice(bytes).ok();
    if value.is_some_and(|it| it.get("clientAddress").is_some()) {
        Kind::Feedback
    } else {
        Kind::Registration
    }
}

/// One byte more than a reader takes, which then names the limit.
fn bytes(place: &str) -> Result<Vec<u8>, CliError> {
    if place.starts_with("data:") {
        let inline = decode_uri(place).map_err(|error| refused("data: URI", &error))?;
        return Ok(inline.bytes);
    }
    let limit = FILE_MAX as u64 + 1;
    let mut bytes = Vec::new();
    let read = match place {
        "-" => io::stdin().take(limit).read_to_end(&mut bytes),
        path => fs::File::open(path).and_then(|file| file.take(limit).read_to_end(&mut bytes)),
    };
    match read {
        Ok(_) => Ok(bytes),
        Err(fault) => Err(CliError::Unreadable {
            path: place.into(),
            fault,
        }),
    }
}

fn refused(place: &str, error: &concord_files::Error) -> CliError {
    CliError::FileRefused {
        place: place.chars().take(80).collect(),
        reason: error.to_string(),
    }
}

fn check(options: &Check) -> Result<u8, CliError> {
    let read = read(&options.source)?;
    let kind = match read.kind {
        Kind::Feedback => "feedback",
        Kind::Registration => "registration",
    };
    let scheme = options
        .hash
        .map(|hash| identify_hash(read.original.as_bytes(), &hash));
    let scheme_name = scheme.map(|it| it.map_or("unknown", |it| it.name()));
    let mappings: Vec<_> = read.mappings.iter().map(ToString::to_string).collect();
    let hash = format!("0x{}", hex::encode(read.hash));
    let written = read.current.as_ref().err().map(ToString::to_string);
    let result = json!({
        "state": if scheme == Some(None) { "refuted" } else { "verified" },
        "kind": kind,
        "dialect": read.dialect,
        "hash": hash,
        "isCanonical": read.is_canonical,
        "mappings": mappings,
        "hashScheme": scheme_name,
        "notInCurrentForm": written,
    });
    let mut text = format!("{kind}, dialect {}\nhash {hash}\n", read.dialect);
    if !read.is_canonical {
        text.push_str("not in RFC 8785 form: `concord file convert` writes it\n");
    }
    for mapping in &mappings {
        text.push_str(&format!("bridged {mapping}\n"));
    }
    if let Some(error) = &written {
        text.push_str(&format!("not in the current form: {error}\n"));
    }
    match scheme_name {
        Some("unknown") => text.push_str("the hash on chain is not this file's\n"),
        Some(name) => text.push_str(&format!("the hash on chain is this file's, by {name}\n")),
        None => {}
    }
    if options.json {
        print(&serde_json::to_string_pretty(&result).unwrap_or_default())?
    } else {
        print(text.trim_end())?
    };
    Ok(if scheme == Some(None) {
        DISAGREE
    } else {
        AGREE
    })
}

fn registration(options: &New) -> Result<RegistrationFile, CliError> {
    let service = |name: &str, endpoint: &str| Service {
        name: name.to_owned(),
        endpoint: endpoint.to_owned(),
        version: None,
        extra: Extra::default(),
    };
    let mut services = Vec::new();
    for text in &options.service {
        let (name, endpoint) = halves("--service", text, '=', "NAME=ENDPOINT")?;
        services.push(service(name, endpoint));
    }
    services.extend(options.wallet.iter().map(|it| service(AGENT_WALLET, it)));
    let registrations = options.registration.iter().map(|it| entry(it));
    let signers = options.signer.iter().map(|it| signer(it));
    Ok(RegistrationFile {
        file_type: Some(REGISTRATION_TYPE.to_owned()),
        name: Some(options.name.clone()),
        description: options.description.clone(),
        image: options.image.clone(),
        services,
        x402_support: Some(!options.wallet.is_empty()),
        active: Some(true),
        registrations: registrations.collect::<Result<_, _>>()?,
        supported_trust: vec!["reputation".to_owned()],
        signers: signers.collect::<Result<_, _>>()?,
        tags: Vec::new(),
        extra: Extra::default(),
    })
}

fn entry(text: &str) -> Result<Registration, CliError> {
    let (registry, id) = halves("--registration", text, '=', "CAIP-10=ID")?;
    let wrong = |error: concord_canonical::Error| argument("--registration", error.to_string());
    let account = AccountId::parse(registry).map_err(wrong)?;
    let agent_id = AgentId::parse(&account, id).map_err(wrong)?;
    Ok(Registration {
        agent_id: Some(agent_id),
        agent_registry: registry.to_owned(),
    })
}

fn signer(text: &str) -> Result<Signer, CliError> {
    let (key, seconds) = halves("--signer", text, '@', "KEY@SECONDS")?;
    let public_key = PublicKey::from_hex(key);
    let public_key = public_key.map_err(|error| argument("--signer", error.to_string()))?;
    let valid_from = seconds.parse();
    Ok(Signer {
        public_key,
        algorithm: Algorithm::of_key(&public_key),
        valid_from: valid_from
            .map_err(|_| argument("--signer", format!("{seconds:?} is not unix seconds")))?,
        valid_until: None,
        comment: None,
        extra: Extra::default(),
    })
}

fn halves<'t>(
    option: &'static str,
    text: &'t str,
    separator: char,
    form: &str,
) -> Result<(&'t str, &'t str), CliError> {
    let found = text.rsplit_once(separator);
    let found = match separator {
        '=' if option == "--service" => text.split_once(separator),
        _ => found,
    };
    found.ok_or_else(|| argument(option, format!("{text:?} is not of the form {form}")))
}

fn argument(option: &'static str, reason: String) -> CliError {
    CliError::Argument { option, reason }
}

fn print(text: &str) -> Result<u8, CliError> {
    show(format!("{text}\n").as_bytes())?;
    Ok(AGREE)
}
