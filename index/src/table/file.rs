use crate::Place;
use borsh::{BorshDeserialize, BorshSerialize};
use concord_canonical::hash::keccak256;

/// Names a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, BorshSerialize, BorshDeserialize)]
pub struct FileKey {
    /// keccak256 of its URI.
    pub id: [u8; 32],
}

impl FileKey {
    /// The name of the file behind a URI.
    #[must_use]
    pub fn of(uri: &str) -> Self {
        Self {
            id: keccak256(uri.as_bytes()),
        }
    }
}

/// Whether a file was fetched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, BorshSerialize, BorshDeserialize)]
#[borsh(use_discriminant = false)]
pub enum FileState {
    /// It was not tried yet.
    Wanted = 0,
    /// It was.
    Fetched = 1,
    /// It never can be: the URI itself is at fault (IDX-18).
    Refused = 2,
    /// It could not be, and is tried again.
    Failing = 3,
}

/// A file that an event refers to. With the event log it is what every other table comes from (R45).
#[derive(Debug, Clone, PartialEq, Eq, BorshSerialize, BorshDeserialize)]
pub struct File {
    /// Where it is.
    pub uri: String,
    /// Whether it was fetched.
    pub state: FileState,
    /// How many times that was tried.
    pub attempts: u64,
    /// Unix seconds from which the file is fetched again.
    pub next_at: i64,
    /// Unix seconds of the last attempt.
    pub checked_at: Option<i64>,
    /// Unix seconds of the last attempt that had its content; `None` also if a version before 11 fetched it and its host had
    /// failed since.
    pub fetched_at: Option<i64>,
    /// Who delivered it; `None` if a CID proves it.
    pub host: Option<String>,
    /// Its content.
    pub bytes: Option<Vec<u8>>,
    /// Why the last attempt had none.
    pub reason: Option<String>,
}

/// When a file was fetched, and how that went.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Fetching {
    /// Unix seconds of the last attempt.
    pub checked_at: Option<i64>,
    /// Unix seconds of the last attempt that had its content.
    pub fetched_at: Option<i64>,
    /// Why the last attempt had none.
    pub error: Option<String>,
}

/// A value derived from a file, and when the file was fetched; all `None` if the URI itself holds the content.
pub type Fetched<T> = (T, Fetching);

/// Whether a file was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, BorshSerialize, BorshDeserialize)]
#[borsh(use_discriminant = false)]
pub enum FileUse {
    /// It was not fetched yet.
    Waiting = 0,
    /// It cannot be fetched.
    Unavailable = 1,
    /// It is not of any form that is known.
    Unreadable = 2,
    /// It was read.
    Read = 3,
}

/// An agent's registration file.
#[derive(Debug, Clone, PartialEq, Eq, BorshSerialize, BorshDeserialize)]
pub struct Registration {
    /// The file's name.
    pub file: [u8; 32],
    /// Whether it was read.
    pub state: FileUse,
    /// Why it was not read.
    pub reason: Option<String>,
    /// Whether the URI on chain proves the content: it holds it, or it is a CID.
    pub is_proven: bool,
    /// Whether the file lists this agent (R43 needs it).
    pub claims: bool,
    /// The agent's name.
    pub name: Option<String>,
    /// What it does.
    pub description: Option<String>,
    /// Its picture.
    pub image: Option<String>,
    /// Whether it is in operation.
    pub active: Option<bool>,
    /// Whether it takes x402 payments.
    pub x402: Option<bool>,
    /// Its MCP endpoint.
    pub mcp: Option<String>,
    /// Its A2A endpoint.
    pub a2a: Option<String>,
    /// Its page.
    pub web: Option<String>,
    /// Its OASF endpoint.
    pub oasf: Option<String>,
    /// Its ENS name.
    pub ens: Option<String>,
    /// Its DID.
    pub did: Option<String>,
    /// Its email address.
    pub email: Option<String>,
    /// The version of MCP that it speaks.
    pub mcp_version: Option<String>,
    /// The version of A2A that it speaks.
    pub a2a_version: Option<String>,
    /// The version of OASF that it uses.
    pub oasf_version: Option<String>,
    /// Where it is paid, as the file says: CAIP-10.
    pub agent_wallet: Option<String>,
    /// How it can be trusted, as [`Lines`].
    pub supported_trusts: Lines,
    /// Its MCP tools.
    pub mcp_tools: Lines,
    /// Its MCP prompts.
    pub mcp_prompts: Lines,
    /// Its MCP resources.
    pub mcp_resources: Lines,
    /// Its A2A skills.
    pub a2a_skills: Lines,
    /// Its OASF skills.
    pub oasf_skills: Lines,
    /// Its OASF domains.
    pub oasf_domains: Lines,
}

/// A list of texts, as one text that is searched for an entry of it: each entry is a JSON string between
/// line feeds, which a JSON string has none of.
#[derive(Debug, Clone, Default, PartialEq, Eq, BorshSerialize, BorshDeserialize)]
pub struct Lines(pub String);

impl Lines {
    /// A list of these entries.
    pub fn of<'a>(entries: impl IntoIterator<Item = &'a str>) -> Self {
        Self(entries.into_iter().map(Self::line).collect())
    }

    /// What the text of every list contains that has the entry.
    #[must_use]
    pub fn line(entry: &str) -> String {
        format!("\n{}\n", serde_json::Value::from(entry))
    }

    /// The entries.
    #[must_use]
    pub fn entries(&self) -> Vec<String> {
        let lines = self.0.split('\n').filter(|line| !line.is_empty());
        lines
            .filter_map(|line| serde_json::from_str(line).ok())
            .collect()
    }
}

/// What the file of a feedback supports.
#[derive(Debug, Clone, PartialEq, Eq, BorshSerialize, BorshDeserialize)]
pub struct Evidence {
    /// The file's name.
    pub file: [u8; 32],
    /// Whether it was read.
    pub state: FileUse,
    /// Why it was not read.
    pub reason: Option<String>,
    /// Whether the chain proves the content: by the feedback's hash, by a CID, or by a URI that holds it.
    pub is_proven: bool,
    /// Its dialect.
    pub dialect: Option<String>,
    /// The scheme that made the feedback's hash of it (R21).
    pub scheme: Option<String>,
    /// Statements in which it differs from the entry on chain, as a JSON list; `[]` if there is none.
    pub differences: Option<String>,
    /// X402's proof.
    pub proof: Option<Proof>,
}

/// R49: X402's proof in a file.
#[derive(Debug, Clone, PartialEq, Eq, BorshSerialize, BorshDeserialize)]
pub struct Proof {
    /// Who reviewed, CAIP-10 (R38).
    pub reviewer: String,
    /// The payment.
    pub task_ref: String,
    /// The key that signed for the agent. Whether it may is another question (R29).
    pub signer: Vec<u8>,
    /// Whether the file is proven and agrees with the entry, and both signatures hold.
    pub holds: bool,
    /// R32: names the payment together with the reviewer and the signer; `None` if the task reference is none.
    pub payment: Option<[u8; 32]>,
    /// The place of the feedback.
    pub place: Place,
}
