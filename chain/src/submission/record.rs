use super::{Landing, SignedTx, TxStatus};
use crate::{ChainError, atomic_file};
use serde::{Deserialize, Serialize};
use std::{
    collections::BTreeMap,
    fs, io,
    path::{Path, PathBuf},
};

/// Where the transactions of jobs are recorded: signed, sent, landed, final. Each change is durable
/// when the call returns. Jobs are named by their ids; changes come in batches, so that a store can
/// write once.
pub trait TxRecord: Send {
    /// Returns every transaction that was ever signed for the job, oldest first.
    fn transactions(&self, job: &str) -> &[SignedTx];

    /// Returns the transaction that landed.
    fn landing(&self, job: &str) -> Option<&Landing>;

    /// Returns whether it is on record that the job's landing will stay. What a chain decided for good
    /// is not asked of a node again: it may have dropped the block since (R36).
    fn is_final(&self, _job: &str) -> bool {
        false
    }

    /// Records transactions before they are sent: whatever happens next, they are known.
    ///
    /// # Errors
    /// The record cannot be written.
    fn signed(&mut self, signed: &[(&str, SignedTx)]) -> Result<(), ChainError>;

    /// Records that the chain has answered.
    ///
    /// # Errors
    /// The record cannot be written.
    fn sent(&mut self, sent: &[(&str, SignedTx)]) -> Result<(), ChainError>;

    /// Records what failed transactions cost ([`SignedTx::failure_cost`]).
    ///
    /// # Errors
    /// The record cannot be written.
    fn failed(&mut self, failed: &[(&str, SignedTx)]) -> Result<(), ChainError>;

    /// Records what landed.
    ///
    /// # Errors
    /// The record cannot be written.
    fn landed(&mut self, landed: &[(&str, Landing)]) -> Result<(), ChainError>;

    /// Takes back that these landed: the chain was reorganised.
    ///
    /// # Errors
    /// The record cannot be written.
    fn reorganised(&mut self, jobs: &[&str]) -> Result<(), ChainError>;

    /// Records that the landings of these will stay.
    ///
    /// # Errors
    /// The record cannot be written.
    fn finalized(&mut self, jobs: &[&str]) -> Result<(), ChainError>;

    /// Hears what became of a job's transactions, in the same order, whenever the chain was asked.
    ///
    /// # Errors
    /// The record cannot be written.
    fn looked(&mut self, _job: &str, _statuses: &[TxStatus]) -> Result<(), ChainError> {
        Ok(())
    }

    /// Hears that nothing can be done for these now: two looks in a row found them blocked for the same reason, or they
    /// have landed and are not final.
    fn waiting(&mut self, _jobs: &[&str]) {}
}

/// A [`TxRecord`] in one JSON file, held by one process at a time.
#[derive(Debug)]
pub struct FileRecord {
    path: PathBuf,
    jobs: BTreeMap<String, JobRecord>,
    _lock: atomic_file::Lock,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct JobRecord {
    /// Oldest first.
    transactions: Vec<SignedTx>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    landing: Option<Landing>,
    #[serde(rename = "final")]
    is_final: bool,
}

impl FileRecord {
    /// Opens the file, or starts a new one.
    ///
    /// # Errors
    /// [`ChainError::Locked`] if another process holds it, [`ChainError::File`] if it is not such a
    /// record.
    pub fn open(path: &Path) -> Result<Self, ChainError> {
        let lock = atomic_file::lock(path)?;
        Ok(Self {
            jobs: atomic_file::read_json(path)?.unwrap_or_default(),
            path: path.to_owned(),
            _lock: lock,
        })
    }

    /// Returns the ids of the jobs that have transactions on record.
    pub fn jobs(&self) -> impl Iterator<Item = &str> {
        self.jobs.keys().map(String::as_str)
    }

    /// Removes the file: everything on record is final, and is known elsewhere.
    ///
    /// # Errors
    /// [`ChainError::File`].
    pub fn remove(self) -> Result<(), ChainError> {
        match fs::remove_file(&self.path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(atomic_file::unusable(&self.path, error))
            }
            _ => Ok(()),
        }
    }

    /// Returns whether the job's transaction landed and will stay.
    #[must_use]
    pub fn is_final(&self, job: &str) -> bool {
        self.jobs.get(job).is_some_and(|record| record.is_final)
    }

    fn change<T>(
        &mut self,
        changes: impl IntoIterator<Item = (impl AsRef<str>, T)>,
        change: impl Fn(&mut JobRecord, T),
    ) -> Result<(), ChainError> {
        let mut changed = false;
        for (job, new) in changes {
            change(self.jobs.entry(job.as_ref().to_owned()).or_default(), new);
            changed = true;
        }
        if changed {
            atomic_file::write_json(&self.path, &self.jobs)
        } else {
            Ok(())
        }
    }
}

impl TxRecord for FileRecord {
    fn transactions(&self, job: &str) -> &[SignedTx] {
        (self.jobs.get(job)).map_or(&[], |record| &record.transactions)
    }

    fn landing(&self, job: &str) -> Option<&Landing> {
        self.jobs.get(job)?.landing.as_ref()
    }

    fn is_final(&self, job: &str) -> bool {
        Self::is_final(self, job)
    }

    fn signed(&mut self, signed: &[(&str, SignedTx)]) -> Result<(), ChainError> {
        self.change(signed.iter().cloned(), |record, transaction| {
            record.transactions.push(transaction);
        })
    }

    fn sent(&mut self, sent: &[(&str, SignedTx)]) -> Result<(), ChainError> {
        self.change(sent.iter().cloned(), |record, transaction| {
            for known in &mut record.transactions {
                known.sent |= known.transaction == transaction.transaction;
            }
        })
    }

    fn failed(&mut self, failed: &[(&str, SignedTx)]) -> Result<(), ChainError> {
        self.change(failed.iter().cloned(), |record, transaction| {
            transaction.note_failure(&mut record.transactions);
        })
    }

    fn landed(&mut self, landed: &[(&str, Landing)]) -> Result<(), ChainError> {
        self.change(landed.iter().cloned(), |record, landing| {
            record.landing = Some(landing);
        })
    }

    fn reorganised(&mut self, jobs: &[&str]) -> Result<(), ChainError> {
        self.change(jobs.iter().map(|job| (*job, ())), |record, ()| {
            record.landing = None;
            record.is_final = false;
        })
    }

    fn finalized(&mut self, jobs: &[&str]) -> Result<(), ChainError> {
        self.change(jobs.iter().map(|job| (*job, ())), |record, ()| {
            record.is_final = true;
        })
    }
}
