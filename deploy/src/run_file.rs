use crate::{DeployError, Plan, Settings, Step, Target};
use concord_chain::{
    Amount, ChainError, ChainId, atomic_file,
    submission::{Landing, SignedTx, TxRecord},
};
use serde::{Deserialize, Serialize};
use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

/// The record of a deployment: on disk before and after each transaction is sent.
#[derive(Debug)]
pub struct RunFile {
    path: PathBuf,
    content: Content,
    /// Held as long as the run is; the system lets go of it when the process ends, however it ends.
    _lock: atomic_file::Lock,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Content {
    version: Version,
    chain: ChainId,
    deployer: String,
    settings: Settings,
    /// Of what is deployed, as [`crate::Target::build`] has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    build: Option<String>,
    /// Everything is deployed, final, and in the address book.
    finished: bool,
    steps: Vec<StepRecord>,
}

/// The only version there is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "u8", into = "u8")]
struct Version;

impl TryFrom<u8> for Version {
    type Error = String;

    fn try_from(version: u8) -> Result<Self, String> {
        match version {
            1 => Ok(Self),
            other => Err(format!("version {other} is not known, 1 is")),
        }
    }
}

impl From<Version> for u8 {
    fn from(_: Version) -> Self {
        1
    }
}

/// One step of a run, with every transaction that was ever signed for it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct StepRecord {
    pub id: String,
    pub address: String,
    /// Oldest first.
    pub attempts: Vec<SignedTx>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub landing: Option<Landing>,
}

impl RunFile {
    /// Where the run of a chain is kept.
    pub fn path(deployments: &Path, chain: &ChainId) -> PathBuf {
        deployments
            .join("runs")
            .join(format!("{}.json", chain.file_stem()))
    }

    /// # Errors
    /// [`DeployError::RunLocked`] while another process runs, [`DeployError::RunUnfinished`] if a run
    /// did not come to its end.
    pub fn require_none(deployments: &Path, chain: &ChainId) -> Result<(), DeployError> {
        let path = Self::path(deployments, chain);
        let _lock = lock_run(&path, chain)?;
        refuse_unfinished(&path)
    }

    /// Starts a run of this plan, once `confirm` lets it.
    ///
    /// # Errors
    /// [`DeployError::RunUnfinished`] where an earlier one did not come to its end, and what `confirm`
    /// says: then there is no run.
    pub fn start(
        deployments: &Path,
        plan: &Plan,
        target: &dyn Target,
        confirm: impl FnOnce() -> Result<(), DeployError>,
    ) -> Result<Self, DeployError> {
        let path = Self::path(deployments, &plan.chain);
        let lock = lock_run(&path, &plan.chain)?;
        refuse_unfinished(&path)?;
        confirm()?;
        let run = Self {
            content: Content {
                version: Version,
                chain: plan.chain.clone(),
                deployer: plan.deployer.clone(),
                settings: target.settings(),
                build: target.build(),
                finished: false,
                steps: plan.steps.iter().map(StepRecord::of).collect(),
            },
            path,
            _lock: lock,
        };
        run.store()?;
        Ok(run)
    }

    /// Opens the run that did not come to its end.
    ///
    /// # Errors
    /// [`DeployError::NothingToResume`] if there is none.
    pub fn resume(deployments: &Path, chain: &ChainId) -> Result<Self, DeployError> {
        let path = Self::path(deployments, chain);
        let lock = lock_run(&path, chain)?;
        let content: Option<Content> = atomic_file::read_json(&path)?;
        let content = content.filter(|content| !content.finished);
        let content = content.ok_or_else(|| DeployError::NothingToResume(path.clone()))?;
        if content.chain != *chain {
            return Err(DeployError::WrongChainInFile {
                path,
                found: content.chain.to_string(),
                expected: chain.to_string(),
            });
        }
        Ok(Self {
            path,
            content,
            _lock: lock,
        })
    }

    /// Every step of the plan must be one of this run's, at the same address. A step of the run may
    /// be missing from the plan: it was done and is needed no more.
    ///
    /// # Errors
    /// [`DeployError::RunDiffers`]: another deployer, or other addresses or another build because the
    /// sources changed. [`ChainError::RecordMalformed`]: a transaction that no step sends.
    pub async fn require_same(
        &self,
        plan: &Plan,
        target: &mut dyn Target,
    ) -> Result<(), DeployError> {
        self.require_equal("deployer", &self.content.deployer, &plan.deployer)?;
        let name = |build: &Option<String>| build.clone().unwrap_or_else(|| "none".to_owned());
        let (recorded, now) = (name(&self.content.build), name(&target.build()));
        self.require_equal("build", &recorded, &now)?;
        for step in &plan.steps {
            let recorded = self
                .record(&step.id)
                .map_or("no such step", |step| &step.address);
            self.require_equal(&format!("{} at", step.id), recorded, &step.address)?;
            for transaction in self.transactions(&step.id) {
                target.require_own(step, transaction).await?;
            }
        }
        Ok(())
    }

    fn require_equal(&self, what: &str, recorded: &str, now: &str) -> Result<(), DeployError> {
        if recorded == now {
            return Ok(());
        }
        Err(DeployError::RunDiffers {
            what: what.to_owned(),
            recorded: recorded.to_owned(),
            now: now.to_owned(),
        })
    }

    pub fn settings(&self) -> &Settings {
        &self.content.settings
    }

    /// The transactions that landed, by step.
    pub fn landings(&self) -> BTreeMap<String, Landing> {
        let landed = |step: &StepRecord| Some((step.id.clone(), step.landing.clone()?));
        self.content.steps.iter().filter_map(landed).collect()
    }

    /// The failed transactions of a step, with what each cost.
    pub fn failed(&self, step: &str) -> Vec<(&str, Amount)> {
        (self.transactions(step).iter())
            .filter_map(|attempt| Some((&*attempt.transaction, attempt.failure_cost?)))
            .collect()
    }

    fn record(&self, step: &str) -> Option<&StepRecord> {
        self.content.steps.iter().find(|record| record.id == step)
    }

    /// Records that everything is done, final, and in the address book.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn finish(&mut self) -> Result<(), DeployError> {
        self.content.finished = true;
        Ok(self.store()?)
    }

    /// Writes once, however many there are; not at all if there is none.
    fn change<T>(
        &mut self,
        changes: &[(&str, T)],
        change: impl Fn(&mut StepRecord, &T),
    ) -> Result<(), ChainError> {
        for (step, new) in changes {
            let mut steps = self.content.steps.iter_mut();
            if let Some(record) = steps.find(|record| record.id == *step) {
                change(record, new);
            }
        }
        if changes.is_empty() {
            Ok(())
        } else {
            self.store()
        }
    }

    fn store(&self) -> Result<(), ChainError> {
        atomic_file::write_json(&self.path, &self.content)
    }
}

impl TxRecord for RunFile {
    fn transactions(&self, step: &str) -> &[SignedTx] {
        self.record(step).map_or(&[], |record| &record.attempts)
    }

    fn landing(&self, step: &str) -> Option<&Landing> {
        self.record(step)?.landing.as_ref()
    }

    fn signed(&mut self, signed: &[(&str, SignedTx)]) -> Result<(), ChainError> {
        self.change(signed, |record, transaction| {
            record.attempts.push(transaction.clone());
        })
    }

    fn sent(&mut self, sent: &[(&str, SignedTx)]) -> Result<(), ChainError> {
        self.change(sent, |record, transaction| {
            for known in &mut record.attempts {
                known.sent |= known.transaction == transaction.transaction;
            }
        })
    }

    fn failed(&mut self, failed: &[(&str, SignedTx)]) -> Result<(), ChainError> {
        self.change(failed, |record, transaction| {
            transaction.note_failure(&mut record.attempts);
        })
    }

    fn landed(&mut self, landed: &[(&str, Landing)]) -> Result<(), ChainError> {
        self.change(landed, |record, landing| {
            record.landing = Some(landing.clone());
        })
    }

    fn reorganised(&mut self, steps: &[&str]) -> Result<(), ChainError> {
        let steps: Vec<(&str, ())> = steps.iter().map(|step| (*step, ())).collect();
        self.change(&steps, |record, ()| record.landing = None)
    }

    /// A run is finished as a whole.
    fn finalized(&mut self, _steps: &[&str]) -> Result<(), ChainError> {
        Ok(())
    }
}

impl StepRecord {
    fn of(step: &Step) -> Self {
        Self {
            id: step.id.clone(),
            address: step.address.clone(),
            attempts: Vec::new(),
            landing: None,
        }
    }
}

fn refuse_unfinished(path: &Path) -> Result<(), DeployError> {
    match atomic_file::read_json::<Content>(path)? {
        Some(content) if !content.finished => Err(DeployError::RunUnfinished(path.to_owned())),
        _ => Ok(()),
    }
}

/// Locks a run until the answer is dropped: two processes that send from one key would take each
/// other's nonces.
///
/// # Errors
/// [`DeployError::RunLocked`].
pub fn lock_run(path: &Path, chain: &ChainId) -> Result<atomic_file::Lock, DeployError> {
    atomic_file::lock(path).map_err(|error| match error {
        ChainError::Locked(_) => DeployError::RunLocked(chain.to_string()),
        other => other.into(),
    })
}
