use crate::{Attempt, ChainId, Fault, Landing, Plan, Settings, Step, Target, atomic_file};
use serde::{Deserialize, Serialize};
use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

/// How far a deployment got: on disk before and after each transaction is sent.
#[derive(Debug)]
pub struct RunFile {
    path: PathBuf,
    content: Content,
    /// Held as long as the run is; the system lets go of it when the process ends, however it ends.
    _lock: fs::File,
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
    /// Everything stands, is final, and is in the address book.
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
    pub attempts: Vec<Attempt>,
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
    /// [`Fault::RunUnfinished`] where a run did not come to its end.
    pub fn require_none(deployments: &Path, chain: &ChainId) -> Result<(), Fault> {
        refuse_unfinished(&Self::path(deployments, chain))
    }

    /// Starts a run of this plan, once `confirm` lets it.
    ///
    /// # Errors
    /// [`Fault::RunUnfinished`] where an earlier one did not come to its end, and what `confirm`
    /// says: then there is no run.
    pub fn start(
        deployments: &Path,
        plan: &Plan,
        target: &dyn Target,
        confirm: impl FnOnce() -> Result<(), Fault>,
    ) -> Result<Self, Fault> {
        let path = Self::path(deployments, &plan.chain);
        let lock = lock(&path, &plan.chain)?;
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
    /// [`Fault::NothingToResume`] where there is none.
    pub fn resume(deployments: &Path, chain: &ChainId) -> Result<Self, Fault> {
        let path = Self::path(deployments, chain);
        let lock = lock(&path, chain)?;
        let content = read(&path)?.filter(|content| !content.finished);
        let content = content.ok_or_else(|| Fault::NothingToResume(path.clone()))?;
        if content.chain != *chain {
            return Err(Fault::WrongChainInFile {
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
    /// [`Fault::RunDiffers`]: another deployer, or other addresses or another build because the
    /// sources changed. [`Fault::RecordMalformed`]: a transaction that no step sends.
    pub fn require_same(&self, plan: &Plan, target: &mut dyn Target) -> Result<(), Fault> {
        self.require_equal("deployer", &self.content.deployer, &plan.deployer)?;
        let name = |build: &Option<String>| build.clone().unwrap_or_else(|| "none".to_owned());
        let (recorded, now) = (name(&self.content.build), name(&target.build()));
        self.require_equal("build", &recorded, &now)?;
        for step in &plan.steps {
            let recorded = self
                .record(step)
                .map_or("no such step", |step| &step.address);
            self.require_equal(&format!("{} at", step.id), recorded, &step.address)?;
            for attempt in self.attempts(step) {
                target.require_own(step, attempt)?;
            }
        }
        Ok(())
    }

    fn require_equal(&self, what: &str, recorded: &str, now: &str) -> Result<(), Fault> {
        if recorded == now {
            return Ok(());
        }
        Err(Fault::RunDiffers {
            what: what.to_owned(),
            recorded: recorded.to_owned(),
            now: now.to_owned(),
        })
    }

    pub fn settings(&self) -> &Settings {
        &self.content.settings
    }

    pub fn attempts(&self, step: &Step) -> &[Attempt] {
        self.record(step).map_or(&[], |record| &record.attempts)
    }

    pub fn landing(&self, step: &Step) -> Option<&Landing> {
        self.record(step)?.landing.as_ref()
    }

    /// The transactions that landed, by step.
    pub fn landings(&self) -> BTreeMap<String, Landing> {
        let landed = |step: &StepRecord| Some((step.id.clone(), step.landing.clone()?));
        self.content.steps.iter().filter_map(landed).collect()
    }

    fn record(&self, step: &Step) -> Option<&StepRecord> {
        self.content
            .steps
            .iter()
            .find(|record| record.id == step.id)
    }

    /// Before they are sent: whatever happens next, the transactions are known.
    pub fn signed(&mut self, signed: &[(&Step, Attempt)]) -> Result<(), Fault> {
        self.change(signed, |record, attempt| {
            record.attempts.push(attempt.clone())
        })
    }

    /// After the chain has answered.
    pub fn sent(&mut self, sent: &[(&Step, Attempt)]) -> Result<(), Fault> {
        self.change(sent, |record, attempt| {
            for known in &mut record.attempts {
                known.sent |= known.transaction == attempt.transaction;
            }
        })
    }

    pub fn landed(&mut self, landed: &[(&Step, Landing)]) -> Result<(), Fault> {
        self.change(landed, |record, landing| {
            record.landing = Some(landing.clone())
        })
    }

    /// The chain went back behind them.
    pub fn withdrawn(&mut self, steps: &[&Step]) -> Result<(), Fault> {
        let steps: Vec<(&Step, ())> = steps.iter().map(|step| (*step, ())).collect();
        self.change(&steps, |record, ()| record.landing = None)
    }

    pub fn finish(&mut self) -> Result<(), Fault> {
        self.content.finished = true;
        self.store()
    }

    /// Writes once, however many there are; not at all where there is none.
    fn change<T>(
        &mut self,
        changes: &[(&Step, T)],
        change: impl Fn(&mut StepRecord, &T),
    ) -> Result<(), Fault> {
        for (step, new) in changes {
            let mut steps = self.content.steps.iter_mut();
            if let Some(record) = steps.find(|record| record.id == step.id) {
                change(record, new);
            }
        }
        match changes.is_empty() {
            true => Ok(()),
            false => self.store(),
        }
    }

    fn store(&self) -> Result<(), Fault> {
        atomic_file::write_json(&self.path, &self.content)
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

fn read(path: &Path) -> Result<Option<Content>, Fault> {
    atomic_file::read_json(path)
}

fn refuse_unfinished(path: &Path) -> Result<(), Fault> {
    match read(path)? {
        Some(content) if !content.finished => Err(Fault::RunUnfinished(path.to_owned())),
        _ => Ok(()),
    }
}

/// Two processes that send from one key would take each other's nonces. Until the answer is dropped,
/// nobody else gets the lock beside `path`.
///
/// # Errors
/// [`Fault::RunLocked`].
pub fn lock(path: &Path, chain: &ChainId) -> Result<fs::File, Fault> {
    let lock_path = path.with_extension("lock");
    let file = atomic_file::open_lock(&lock_path)?;
    file.try_lock()
        .map_err(|_| Fault::RunLocked(chain.to_string()))?;
    Ok(file)
}
