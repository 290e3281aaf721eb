use std::{
    fs, io,
    path::{Path, PathBuf},
};

use concord_chain::{ChainError, atomic_file};
use sha2::{Digest, Sha256};

use super::{Authorization, Budget, Evidence, Money, PayFault, RecordedBody, evidence::VERSION};

/// Characters of a purchase's id, which names its files.
const ID_MAX: usize = 64;

/// A folder with the evidence of purchases: `<id>.json`, and bodies beside it. Each file is durable when a
/// call returns, and only its owner can read it.
#[derive(Clone, Debug)]
pub struct EvidenceFolder {
    path: PathBuf,
}

impl EvidenceFolder {
    /// Opens a folder, or makes one that only its owner can read.
    ///
    /// # Errors
    /// [`ChainError::File`].
    pub fn open(path: &Path) -> Result<Self, ChainError> {
        let mut builder = fs::DirBuilder::new();
        builder.recursive(true);
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder
            .create(path)
            .map_err(|error| atomic_file::unusable(path, error))?;
        Ok(Self {
            path: path.to_owned(),
        })
    }

    /// Reads a purchase; `None` if there is none with this id.
    ///
    /// # Errors
    /// [`PayFault::IdMalformed`], [`PayFault::EvidenceMalformed`], [`PayFault::Local`].
    pub fn load(&self, id: &str) -> Result<Option<Evidence>, PayFault> {
        let evidence: Option<Evidence> = atomic_file::read_json(&self.file(id)?)?;
        match evidence {
            Some(found) if found.version != VERSION => {
                let version = found.version;
                Err(found.malformed(format!("has version {version}, expected {VERSION}")))
            }
            Some(found) if found.id != id => {
                Err(found.malformed(format!("is in the file of {id}")))
            }
            found => Ok(found),
        }
    }

    /// Whether a purchase's money moved, as it was last seen; `None` if no purchase with this id has begun.
    #[must_use]
    pub fn money(&self, id: &str) -> Option<Money> {
        match self.load(id) {
            Ok(found) => found.map(|it| it.money_unasked()),
            Err(fault) => Some(fault.unread()),
        }
    }

    /// Reads every purchase.
    ///
    /// # Errors
    /// As [`Self::load`].
    pub fn all(&self) -> Result<Vec<Evidence>, PayFault> {
        let unusable = |error: io::Error| atomic_file::unusable(&self.path, error);
        let mut all = Vec::new();
        for entry in fs::read_dir(&self.path).map_err(unusable)? {
            let name = entry.map_err(unusable)?.file_name();
            let id = name.to_str().and_then(|it| it.strip_suffix(".json"));
            if let Some(id) = id {
                all.extend(self.load(id)?);
            }
        }
        Ok(all)
    }

    fn file(&self, id: &str) -> Result<PathBuf, PayFault> {
        let is_plain = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_');
        if (1..=ID_MAX).contains(&id.len()) && id.bytes().all(is_plain) {
            Ok(self.path.join(format!("{id}.json")))
        } else {
            Err(PayFault::IdMalformed(id.chars().take(ID_MAX).collect()))
        }
    }

    /// Holds a purchase until the answer is dropped, however the process ends.
    pub(super) fn lock(&self, id: &str) -> Result<atomic_file::Lock, PayFault> {
        Ok(atomic_file::lock(&self.file(id)?)?)
    }

    pub(super) fn save(&self, evidence: &Evidence) -> Result<(), PayFault> {
        let file = self.file(&evidence.id)?;
        Ok(atomic_file::write_private_json(&file, evidence)?)
    }

    /// Writes the first evidence of a purchase, unless it is beyond a budget. Purchases in other processes
    /// wait meanwhile: two of them could each fit alone.
    pub(super) fn begin(
        &self,
        evidence: &Evidence,
        budgets: &[Budget],
        now: u64,
    ) -> Result<(), PayFault> {
        let path = self.path.join(".budgets.lock"); // no purchase has a name with a dot
        let lock = atomic_file::open_lock(&path)?;
        lock.lock()
            .map_err(|error| atomic_file::unusable(&path, error))?;
        self.require_budgets(budgets, &evidence.authorization, now)?;
        self.save(evidence)
    }

    fn require_budgets(
        &self,
        budgets: &[Budget],
        payment: &Authorization,
        now: u64,
    ) -> Result<(), PayFault> {
        if budgets.is_empty() {
            return Ok(());
        }
        let earlier = self.all()?;
        budgets
            .iter()
            .try_for_each(|it| it.check(payment, &earlier, now))
    }

    /// Writes a body beside the evidence.
    pub(super) fn save_body(
        &self,
        id: &str,
        kind: &str,
        body: &[u8],
    ) -> Result<RecordedBody, PayFault> {
        let path = self.file(id)?.with_extension(kind);
        if !body.is_empty() {
            atomic_file::write_private(&path, body)?;
        }
        Ok(RecordedBody {
            length: body.len() as u64,
            sha256: sha256(body),
            file: (!body.is_empty()).then(|| format!("{id}.{kind}")),
        })
    }

    /// Reads a body, which must be the one that was written.
    pub(super) fn body(
        &self,
        evidence: &Evidence,
        recorded: &RecordedBody,
    ) -> Result<Vec<u8>, PayFault> {
        let Some(name) = &recorded.file else {
            return Ok(Vec::new());
        };
        let is_own = name.strip_prefix(&*evidence.id);
        if !is_own.is_some_and(|kind| matches!(kind, ".request" | ".response")) {
            return Err(evidence.malformed(format!("names the body {name}")));
        }
        let path = self.path.join(name);
        let body = fs::read(&path).map_err(|error| atomic_file::unusable(&path, error))?;
        if sha256(&body) == recorded.sha256 {
            Ok(body)
        } else {
            Err(evidence.malformed(format!("{name} is not what was written")))
        }
    }
}

fn sha256(body: &[u8]) -> String {
    format!("0x{}", hex::encode(Sha256::digest(body)))
}
