use std::path::PathBuf;

/// Why a step inconclusive.
#[derive(Debug, thiserror::Error)]
pub enum StepFault {
    /// R25: every native error that a user can cause maps to exactly one class.
    #[error("native error without an error class (R25): {0}")]
    UnmappedError(String),
    #[error("event that canonical terms cannot express: {0}")]
    UnexplainedEvent(String),
    #[error("stored value that canonical terms cannot express: {0}")]
    UnexplainedState(String),
    /// A registry of others, of a later version than the one that is known, is announced to refuse this.
    #[error("a later version refuses this: {0}")]
    LaterVersion(String),
    #[error("the operation does not fit the chain: {0}")]
    Inexpressible(String),
    /// Nothing is known about the registry then, until the backend was started again.
    #[error("the chain did not answer: {0}")]
    Unreachable(String),
}

impl StepFault {
    /// The reason alone, for a sentence that says already that nothing was answered.
    pub fn in_words(self) -> String {
        match self {
            Self::Unreachable(reason) => reason,
            other => other.to_string(),
        }
    }
}

/// A tool or a built file that is not there: one sentence that says what is missing and what to
/// run.
#[derive(Debug, thiserror::Error)]
pub enum SetupError {
    #[error("anvil not found at {}: run scripts/bootstrap, or name it with --anvil or CONCORD_ANVIL", .0.display())]
    AnvilAt(PathBuf),
    #[error(
        "anvil not found on PATH: run scripts/bootstrap, or install Foundry (getfoundry.sh), or name it with --anvil or CONCORD_ANVIL; --backend evm-revm needs none"
    )]
    AnvilOnPath,
    #[error("{} is a script, not anvil itself: killing it would leave anvil running; name the binary with --anvil", .0.display())]
    AnvilIsScript(PathBuf),
    #[error("{} does not start as anvil: {reason}", path.display())]
    AnvilDoesNotStart { path: PathBuf, reason: String },
    #[error("contract artifact {} not found: run scripts/build, or name the folder with --artifacts", .0.display())]
    Artifact(PathBuf),
    #[error("contract artifact {} is not what forge writes: {reason}; run scripts/build", path.display())]
    ArtifactUnreadable { path: PathBuf, reason: String },
    #[error("program {} not found: run scripts/build, or name the file with --program", .0.display())]
    Program(PathBuf),
    #[error("program {} does not load: {reason}; run scripts/build", path.display())]
    ProgramUnusable { path: PathBuf, reason: String },
    #[error("the adapter `{command}` cannot be used: {reason}")]
    Adapter { command: String, reason: String },
    #[error("the registries cannot be set up on {participant}: {reason}")]
    Deployment {
        participant: &'static str,
        reason: String,
    },
}
