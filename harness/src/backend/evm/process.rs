//! The anvil process, which never outlives this one.
use signal_hook::{
    consts::{SIGHUP, SIGINT, SIGTERM},
    iterator::Signals,
    low_level::emulate_default_handler,
};
use std::{
    io::{self, BufRead, BufReader, Read},
    path::Path,
    process::{Child, ChildStdout, Command, Stdio},
    sync::{Arc, Mutex, MutexGuard, Once, PoisonError, Weak, mpsc},
    thread,
    time::{Duration, Instant},
};

const STARTUP_LIMIT: Duration = Duration::from_secs(30);
/// What anvil says on stdout once it can be asked.
const READY: &str = "Listening on ";

/// `None` once it has ended.
type Slot = Mutex<Option<Child>>;

/// Every anvil that runs, for the signal handler.
static RUNNING: Mutex<Vec<Weak<Slot>>> = Mutex::new(Vec::new());
static HANDLER: Once = Once::new();

/// A running anvil. Ends when it is dropped, and when SIGHUP, SIGINT or SIGTERM ends this process.
pub(super) struct Process {
    slot: Arc<Slot>,
    /// The URL that it listens at.
    pub url: String,
}

impl Process {
    /// Starts `anvil` with `arguments`, and waits until it listens.
    ///
    /// # Errors
    /// Why it does not, in anvil's own words where it has any.
    pub fn start(anvil: &Path, arguments: &[String]) -> Result<Self, String> {
        HANDLER.call_once(end_all_at_signals);
        let (slot, stdout) = spawn(anvil, arguments).map_err(|fault| fault.to_string())?;
        let url = address(stdout).map(|address| format!("http://{address}"));
        let url = Self::unless_ending(url.ok_or_else(|| last_words(&slot)))?;
        Ok(Self { slot, url })
    }

    /// Passes an answer on. A failed one waits for the signal handler, if that is at work: it has
    /// ended anvil, and is about to end this process too.
    pub fn unless_ending<T, E>(answer: Result<T, E>) -> Result<T, E> {
        answer.inspect_err(|_| drop(lock(&RUNNING)))
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        end(&self.slot);
    }
}

/// The lock is held from before the start, so that no signal comes between start and entry.
fn spawn(anvil: &Path, arguments: &[String]) -> io::Result<(Arc<Slot>, ChildStdout)> {
    let mut running = lock(&RUNNING);
    let mut child = Command::new(anvil)
        .args(arguments)
        .env("NO_COLOR", "1")
        .env("FOUNDRY_DISABLE_NIGHTLY_WARNING", "1")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    let stdout = child.stdout.take();
    let slot = Arc::new(Mutex::new(Some(child)));
    running.retain(|slot| slot.strong_count() > 0);
    running.push(Arc::downgrade(&slot));
    let stdout = stdout.ok_or_else(|| io::Error::other("it has no stdout"))?;
    Ok((slot, stdout))
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
fn last_words(slot: &Slot) -> String {
    let deadline = Instant::now() + Duration::from_secs(1);
    while lock(slot).as_mut().is_some_and(still_runs) && Instant::now() < deadline {
        thread::sleep(Duration::from_millis(10));
    }
    let stderr = lock(slot).as_mut().and_then(|child| child.stderr.take());
    end(slot);
    let mut words = String::new();
    if let Some(mut stderr) = stderr {
        let _ = stderr.read_to_string(&mut words);
    }
    let said = words.lines().map(str::trim).rfind(|line| !line.is_empty());
    said.unwrap_or("it does not say where it listens")
        .to_owned()
}

fn still_runs(child: &mut Child) -> bool {
    matches!(child.try_wait(), Ok(None))
}

fn end(slot: &Slot) {
    if let Some(mut child) = lock(slot).take() {
        let _ = child.kill();
        let _ = child.wait();
    }
}

/// Holds the lock to the end, so that no further anvil starts.
fn end_all_at_signals() {
    let Ok(mut signals) = Signals::new([SIGHUP, SIGINT, SIGTERM]) else {
        return;
    };
    thread::spawn(move || {
        for signal in signals.forever() {
            let running = lock(&RUNNING);
            running
                .iter()
                .filter_map(Weak::upgrade)
                .for_each(|slot| end(&slot));
            let _ = emulate_default_handler(signal);
        }
    });
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
