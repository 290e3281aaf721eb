use std::path::{Path, PathBuf};

use concord_chain::{ChainError, atomic_file, submission::FileRecord};
use serde::{Deserialize, Serialize};

use super::{FeedbackError, Submission};

/// The form of records that this crate writes.
const VERSION: u32 = 1;

/// A feedback, from its file to its entry. It never changes but for the entry. Nothing in it is secret.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct FeedbackRecord {
    /// The form of the file.
    pub version: u32,
    /// The purchase's id.
    pub id: String,
    /// The identity registry, CAIP-10.
    pub registry: String,
    /// The account that submits, CAIP-10 (R38).
    pub client: String,
    /// What the registry is sent.
    pub submission: Submission,
    /// The feedback file, byte for byte.
    pub file: String,
    /// The entry that was read back.
    pub entry: Option<RecordedEntry>,
}

/// A feedback that is in the registry.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RecordedEntry {
    /// Counts from 1, per agent and client.
    pub index: u64,
    /// Its transaction.
    pub transaction: String,
    /// Its block or slot.
    pub block: u64,
    /// Whether a facilitator's payment proof is attached (R13).
    pub has_payment_proof: bool,
}

/// The records of feedbacks: `feedback/` in the folder of the purchases' evidence.
#[derive(Clone, Debug)]
pub struct FeedbackFolder(PathBuf);

/// A record that no other process changes meanwhile.
pub(super) struct Held {
    path: PathBuf,
    _lock: atomic_file::Lock,
}

impl FeedbackFolder {
    /// The records beside the evidence in a folder.
    #[must_use]
    pub fn beside(evidence: &Path) -> Self {
        Self(evidence.join("feedback"))
    }

    /// Reads the feedback of a purchase; `None` if it has not begun.
    ///
    /// # Errors
    /// [`FeedbackError::Record`], [`FeedbackError::Chain`].
    pub fn load(&self, id: &str) -> Result<Option<FeedbackRecord>, FeedbackError> {
        read(&self.file(id), id)
    }

    /// The ids of purchases name files, so they were checked when their evidence was read.
    fn file(&self, id: &str) -> PathBuf {
        self.0.join(format!("{id}.json"))
    }

    pub(super) fn hold(&self, id: &str) -> Result<Held, ChainError> {
        let path = self.file(id);
        let lock = atomic_file::lock(&path)?;
        Ok(Held { path, _lock: lock })
    }
}

impl Held {
    pub(super) fn load(&self, id: &str) -> Result<Option<FeedbackRecord>, FeedbackError> {
        read(&self.path, id)
    }

    pub(super) fn save(&self, record: &FeedbackRecord) -> Result<(), ChainError> {
        atomic_file::write_private_json(&self.path, record)
    }

    /// Every transaction that was signed for it.
    pub(super) fn transactions(&self) -> Result<FileRecord, ChainError> {
        FileRecord::open(&self.path.with_extension("transactions.json"))
    }
}

fn read(path: &Path, id: &str) -> Result<Option<FeedbackRecord>, FeedbackError> {
    let record: Option<FeedbackRecord> = atomic_file::read_json(path)?;
    let Some(record) = record else {
        return Ok(None);
    };
    record.require("version", &record.version.to_string(), &VERSION.to_string())?;
    record.require("id", &record.id, id)?;
    Ok(Some(record))
}

impl FeedbackRecord {
    pub(super) fn new(
        id: &str,
        place: (String, String),
        submission: Submission,
        file: String,
    ) -> Self {
        let (registry, client) = place;
        Self {
            version: VERSION,
            id: id.to_owned(),
            registry,
            client,
            submission,
            file,
            entry: None,
        }
    }

    /// Requires that a field has the value that is expected.
    pub(super) fn require(
        &self,
        field: &'static str,
        found: &str,
        expected: &str,
    ) -> Result<(), FeedbackError> {
        if found == expected {
            Ok(())
        } else {
            Err(FeedbackError::Record {
                id: self.id.clone(),
                field,
                found: found.to_owned(),
                expected: expected.to_owned(),
            })
        }
    }
}
