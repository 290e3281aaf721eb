//! Worlds that reached what none before them did, kept in a folder from run to run.
use super::{
    WORLD_STEPS,
    coverage::Features,
    random::Random,
    recipe::{Recipe, Segment},
};
use serde::{Deserialize, Serialize};
use std::{
    collections::BTreeSet,
    fs::{self, File, TryLockError},
    io,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

const FILE: &str = "corpus.json";
const LOCK: &str = "lock";
const FORMAT: u8 = 1;
/// Worlds that go on from one that was kept, of a hundred.
const CONTINUED_PERCENT: u64 = 60;
/// What a kill can cost.
const SAVED_EVERY: Duration = Duration::from_secs(2);

/// A folder with the worlds that are worth going on from.
#[derive(Debug)]
pub struct Corpus {
    folder: PathBuf,
    kept: Kept,
    /// What the kept worlds reached.
    features: BTreeSet<String>,
    saved: Instant,
    /// Held for as long as the corpus is in use.
    _lock: File,
}

/// What is written.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Kept {
    format: u8,
    seed: u64,
    /// Worlds that were begun, and steps and seconds of those that were played to their end, in
    /// every run.
    begun: u64,
    steps: u64,
    seconds: f64,
    worlds: Vec<KeptWorld>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct KeptWorld {
    /// A [`Recipe`].
    world: String,
    /// The last step that reached something new, counted from 1.
    last_new: usize,
}

/// Why a folder cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum CorpusFault {
    #[error("{}: {fault}", path.display())]
    File { path: PathBuf, fault: io::Error },
    #[error("{} is in use by another run", .0.display())]
    InUse(PathBuf),
    #[error("{}: {reason}", path.display())]
    Malformed { path: PathBuf, reason: String },
    #[error("{} was begun with the seed {begun}, not {asked}: leave the seed out, or name another folder", path.display())]
    OtherSeed {
        path: PathBuf,
        begun: u64,
        asked: u64,
    },
}

impl Corpus {
    /// The corpus in this folder, or a new one. `seed` must be the one that it was begun with;
    /// `None`: that one, or `fresh`. What the worlds reached is asked of the model again, so a
    /// corpus stays of use when the fuzzer changes.
    ///
    /// # Errors
    /// The folder cannot be used, or holds something else.
    pub fn open(folder: &Path, seed: Option<u64>, fresh: u64) -> Result<Self, CorpusFault> {
        let in_folder = |name: &str| folder.join(name);
        let at = |path: PathBuf| move |fault| CorpusFault::File { path, fault };
        fs::create_dir_all(folder).map_err(at(folder.to_owned()))?;
        let lock = File::create(in_folder(LOCK)).map_err(at(in_folder(LOCK)))?;
        lock.try_lock().map_err(|fault| match fault {
            TryLockError::WouldBlock => CorpusFault::InUse(folder.to_owned()),
            TryLockError::Error(fault) => at(in_folder(LOCK))(fault),
        })?;
        let path = in_folder(FILE);
        let kept = match fs::read(&path) {
            Ok(bytes) => read(&path, &bytes, seed)?,
            Err(fault) if fault.kind() == io::ErrorKind::NotFound => {
                Kept::new(seed.unwrap_or(fresh))
            }
            Err(fault) => return Err(at(path)(fault)),
        };
        let mut corpus = Self {
            folder: folder.to_owned(),
            kept,
            features: BTreeSet::new(),
            saved: Instant::now(),
            _lock: lock,
        };
        corpus.load()?;
        corpus.save()?;
        Ok(corpus)
    }

    pub fn seed(&self) -> u64 {
        self.kept.seed
    }

    /// Steps of all runs.
    pub fn steps(&self) -> u64 {
        self.kept.steps
    }

    /// Seconds of all runs.
    pub fn seconds(&self) -> f64 {
        self.kept.seconds
    }

    /// The next world's number.
    pub fn begun(&self) -> u64 {
        self.kept.begun
    }

    /// Worlds that are kept.
    pub fn worlds(&self) -> usize {
        self.kept.worlds.len()
    }

    /// What they reached.
    pub fn features(&self) -> usize {
        self.features.len()
    }

    /// A world of at most so many steps: a new one, or one that goes on from a kept one, right
    /// after it reached something new or somewhere before.
    pub(super) fn recipe(&mut self, number: u64, length: usize) -> Recipe {
        let seed = self.kept.seed;
        self.kept.begun = self.kept.begun.max(number + 1);
        let mut random = Random::of(b"corpus", seed, number);
        let fresh = Recipe::fresh(seed, number, length);
        let Some(kept) = random
            .pick(&self.kept.worlds)
            .filter(|_| random.percent(CONTINUED_PERCENT))
        else {
            return fresh;
        };
        let Ok(recipe) = kept.world.parse::<Recipe>() else {
            return fresh;
        };
        let last = kept.last_new.min(length) as u64;
        let kept = if random.percent(50) {
            last
        } else {
            random.below(last + 1)
        };
        let kept = usize::try_from(kept).unwrap_or(length);
        let steps = length - kept;
        if kept == 0 || steps == 0 {
            return fresh;
        }
        recipe.continued(
            kept,
            Segment {
                seed,
                number,
                steps,
            },
        )
    }

    /// Keeps a world that was played to its end, if it reached something new.
    ///
    /// # Errors
    /// The corpus cannot be written.
    pub(super) fn note(
        &mut self,
        recipe: &Recipe,
        features: &[Features],
        seconds: f64,
    ) -> Result<(), CorpusFault> {
        self.kept.steps += recipe.length() as u64;
        self.kept.seconds += seconds;
        self.keep(recipe, features);
        if self.saved.elapsed() < SAVED_EVERY {
            return Ok(());
        }
        self.save()
    }

    fn keep(&mut self, recipe: &Recipe, features: &[Features]) {
        let mut last_new = None;
        for (at, reached) in (1..).zip(features) {
            let before = self.features.len();
            self.features.extend(reached.0.iter().cloned());
            if self.features.len() > before {
                last_new = Some(at);
            }
        }
        self.kept.worlds.extend(last_new.map(|last_new| KeptWorld {
            world: recipe.to_string(),
            last_new,
        }));
    }

    /// Asks the model again what the kept worlds reach.
    fn load(&mut self) -> Result<(), CorpusFault> {
        for kept in std::mem::take(&mut self.kept.worlds) {
            let recipe: Recipe = kept
                .world
                .parse()
                .map_err(|reason| CorpusFault::Malformed {
                    path: self.folder.join(FILE),
                    reason,
                })?;
            self.keep(&recipe, &recipe.with_features().features);
        }
        Ok(())
    }

    /// Writes it, whole or not at all.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn save(&mut self) -> Result<(), CorpusFault> {
        let path = self.folder.join(FILE);
        let beside = self.folder.join(format!("{FILE}.new"));
        let at = |path: &Path| {
            let path = path.to_owned();
            move |fault| CorpusFault::File { path, fault }
        };
        let text = serde_json::to_string_pretty(&self.kept)
            .map_err(|fault| at(&path)(io::Error::other(fault)))?;
        fs::write(&beside, text + "\n").map_err(at(&beside))?;
        fs::rename(&beside, &path).map_err(at(&path))?;
        self.saved = Instant::now();
        Ok(())
    }
}

impl Kept {
    fn new(seed: u64) -> Self {
        Self {
            format: FORMAT,
            seed,
            begun: 0,
            steps: 0,
            seconds: 0.0,
            worlds: Vec::new(),
        }
    }
}

fn read(path: &Path, bytes: &[u8], seed: Option<u64>) -> Result<Kept, CorpusFault> {
    let malformed = |reason| CorpusFault::Malformed {
        path: path.to_owned(),
        reason,
    };
    let kept: Kept = serde_json::from_slice(bytes).map_err(|fault| malformed(fault.to_string()))?;
    if kept.format != FORMAT {
        let format = kept.format;
        return Err(malformed(format!(
            "format is {format}; this version reads {FORMAT}"
        )));
    }
    let too_far = kept
        .worlds
        .iter()
        .find(|it| it.last_new == 0 || it.last_new > WORLD_STEPS);
    if let Some(KeptWorld { world, last_new }) = too_far {
        return Err(malformed(format!(
            "last_new of {world} is {last_new}, not 1 to {WORLD_STEPS}"
        )));
    }
    match seed {
        Some(asked) if asked != kept.seed => Err(CorpusFault::OtherSeed {
            path: path.to_owned(),
            begun: kept.seed,
            asked,
        }),
        _ => Ok(kept),
    }
}
