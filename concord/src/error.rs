use super::{MISSING, USAGE, files::SCENARIOS};
use concord_chain::ChainError;
use concord_deploy::DeployError;
use concord_harness::{
    backend::{SetupError, evm::AttachFault, svm::NodeFault},
    fuzz::CorpusFault,
    live::LiveFault,
    scenario::ScenarioFault,
    vectors::ProgramFault,
};
use std::{io, path::PathBuf};

/// Why a command ends without a result.
#[derive(Debug, thiserror::Error)]
pub(super) enum CliError {
    #[error(transparent)]
    Scenario(#[from] ScenarioFault),
    #[error("scenario {} not found: neither a file nor the name of one in {SCENARIOS}", .0.display())]
    NoSuchScenario(PathBuf),
    #[error("scenario {} is the name of several: {}", name.display(), places.join(", "))]
    AmbiguousScenario { name: PathBuf, places: Vec<String> },
    #[error(
        "no clone of Concord here or above: run inside one, or name scenario files by their paths"
    )]
    NoClone,
    #[error(
        "{place} is not in this build of concord, and no clone of Concord is here or above: run scripts/install in a clone, or name it with {option}"
    )]
    NotEmbedded {
        place: &'static str,
        option: &'static str,
    },
    #[error("what concord carries cannot be unpacked to {}: {fault}; set XDG_CACHE_HOME to a folder that you may write to", path.display())]
    NotUnpacked { path: PathBuf, fault: io::Error },
    #[error("{}: {reason}", path.display())]
    Config { path: PathBuf, reason: String },
    #[error("{} exists: nothing is overwritten; name another folder", .0.display())]
    Exists(PathBuf),
    #[error("no scenario files in {}", .0.display())]
    NoScenarios(PathBuf),
    #[error("no scenario {0}")]
    NothingLeft(String),
    #[error(transparent)]
    SetupError(#[from] SetupError),
    #[error("a chain stopped answering: {0}; run again")]
    Silent(String),
    #[error("--evm-rpc{}: {fault}", host.as_ref().map(|it| format!(" {it}")).unwrap_or_default())]
    Attach {
        host: Option<String>,
        fault: AttachFault,
    },
    #[error("--svm-rpc: {0}")]
    Node(#[from] NodeFault),
    #[error("every chosen scenario needs a node whose clock can be set, such as Surfpool")]
    ClockCannotBeSet,
    #[error("--backend none means no backend: name no other beside it")]
    NoneAndOthers,
    #[error("{} both name {}: two reports need two files", options.join(" and "), path.display())]
    OneFileTwice {
        options: [&'static str; 2],
        path: PathBuf,
    },
    #[error("the program `{command}` cannot be asked: {fault}")]
    Program {
        command: String,
        fault: ProgramFault,
    },
    #[error(transparent)]
    Live(#[from] LiveFault),
    #[error("--corpus {0}")]
    Corpus(#[from] CorpusFault),
    #[error(transparent)]
    Deploy(#[from] DeployError),
    #[cfg(feature = "services")]
    #[error(transparent)]
    X402(#[from] concord_x402::cli::CliError),
    #[error("{}: {fault}", path.display())]
    Unreadable { path: PathBuf, fault: io::Error },
    #[error("{option}: {reason}")]
    Argument {
        option: &'static str,
        reason: String,
    },
    #[error("{place}: {reason}")]
    FileRefused { place: String, reason: String },
    #[error("{} cannot be written: {fault}", path.display())]
    File { path: PathBuf, fault: io::Error },
    #[error("stdout: {0}")]
    Output(#[from] io::Error),
}

impl From<ChainError> for CliError {
    fn from(fault: ChainError) -> Self {
        Self::Deploy(fault.into())
    }
}

impl CliError {
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Deploy(fault) => fault.exit_code(),
            #[cfg(feature = "services")]
            Self::X402(fault) => fault.code,
            Self::FileRefused { .. } => super::DISAGREE,
            Self::Live(fault) if fault.is_interruption() => MISSING,
            Self::Node(fault) if fault.is_the_node_s() => MISSING,
            Self::Attach { fault, .. } if !fault.is_the_node_s() => USAGE,
            Self::SetupError(_)
            | Self::Silent(_)
            | Self::Attach { .. }
            | Self::Program { .. }
            | Self::NotEmbedded { .. }
            | Self::NotUnpacked { .. } => MISSING,
            _ => USAGE,
        }
    }
}
