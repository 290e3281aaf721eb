//! The anvil process.
use crate::backend::child::{Child, unless_ending};
use std::{
    io::{BufRead, BufReader, Read},
    path::Path,
    process::{ChildStderr, ChildStdout, Command, Stdio},
    sync::mpsc,
    thread,
    time::{Duration, Instant},
};

const STARTUP_LIMIT: Duration = Duration::from_secs(30);
/// What anvil says on stdout once it can be asked.
const READY: &str = "Listening on ";

/// A running anvil, for as long as this is kept.
pub(super) struct Process {
    _child: Child,
    /// Kept open, or anvil could not write to it.
    _stderr: ChildStderr,
    /// The URL that it listens at.
    pub url: String,
}

impl Process {
    /// Starts `anvil` with `arguments`, and waits until it listens.
    ///
    /// # Errors
    /// Why it does not, in anvil's own words if it has any.
    pub fn start(anvil: &Path, arguments: &[String]) -> Result<Self, String> {
        let mut command = Command::new(anvil);
        command
            .args(arguments)
            .env("NO_COLOR", "1")
            .env("FOUNDRY_DISABLE_NIGHTLY_WARNING", "1")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let (child, (stdout, mut stderr)) = Child::start(&mut command, |child| {
            child.stdout.take().zip(child.stderr.take())
        })
        .map_err(|fault| fault.to_string())?;
        let address = address(stdout).ok_or_else(|| last_words(&child, &mut stderr));
        Ok(Self {
            url: format!("http://{}", unless_ending(address)?),
            _child: child,
            _stderr: stderr,
        })
    }
}

/// Where anvil says it listens; `None` when it ends or stays silent. Goes on reading behind the
/// scenes, so that anvil never waits for a reader.
fn address(stdout: ChildStdout) -> Option<String> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        for line in BufReader::new(stdout).lines().map_while(Result::ok) {
            if let Some(address) = line.strip_prefix(READY) {
                let _ = sender.send(address.trim().to_owned());
            }
        }
    });
    receiver.recv_timeout(STARTUP_LIMIT).ok()
}

/// The last line on stderr of an anvil that is ended for not listening.
fn last_words(child: &Child, stderr: &mut ChildStderr) -> String {
    let deadline = Instant::now() + Duration::from_secs(1);
    while child.still_runs() && Instant::now() < deadline {
        thread::sleep(Duration::from_millis(10));
    }
    child.end();
    let mut words = String::new();
    let _ = stderr.read_to_string(&mut words);
    let said = words.lines().map(str::trim).rfind(|line| !line.is_empty());
    said.unwrap_or("it does not say where it listens")
        .to_owned()
}
