use crate::backend::Missing;
use alloy::node_bindings::{Anvil, AnvilInstance};
use std::{
    env, fs,
    io::Read,
    path::{Path, PathBuf},
};

pub(super) const CHAIN_ID: u64 = 31_337;
/// Deployment happens here; every scenario starts later.
const GENESIS_TIME: u64 = 1_500_000_000;
const STARTUP_LIMIT_MS: u64 = 30_000;

/// The anvil to start: the one named, else `CONCORD_ANVIL`, else the one on PATH.
pub(super) fn locate(named: Option<&Path>) -> Result<PathBuf, Missing> {
    let named = named
        .map(Path::to_owned)
        .or_else(|| env::var_os("CONCORD_ANVIL").map(PathBuf::from));
    let path = match named {
        Some(path) if path.is_file() => path,
        Some(path) => return Err(Missing::AnvilAt(path)),
        None => on_path("anvil").ok_or(Missing::AnvilOnPath)?,
    };
    if is_script(&path) {
        return Err(Missing::AnvilIsScript(path));
    }
    Ok(path)
}

fn on_path(tool: &str) -> Option<PathBuf> {
    env::split_paths(&env::var_os("PATH")?)
        .map(|folder| folder.join(tool))
        .find(|path| path.is_file())
}

/// npm's wrapper does not pass signals on, so anvil would outlive the run.
fn is_script(path: &Path) -> bool {
    let mut start = [0; 2];
    fs::File::open(path)
        .and_then(|mut file| file.read_exact(&mut start))
        .is_ok_and(|()| start == *b"#!")
}

/// Starts anvil on a free port. It ends when the instance is dropped.
pub(super) fn start(path: &Path) -> Result<AnvilInstance, Missing> {
    Anvil::at(path)
        .chain_id(CHAIN_ID)
        .prague()
        .args(["--order", "fifo", "--timestamp"])
        .arg(GENESIS_TIME.to_string())
        .timeout(STARTUP_LIMIT_MS)
        .try_spawn()
        .map_err(|fault| Missing::AnvilDoesNotStart {
            path: path.to_owned(),
            reason: fault.to_string(),
        })
}
