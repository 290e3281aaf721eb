//! Processes that end with this one: when their owner is dropped, and when SIGHUP, SIGINT or
//! SIGTERM ends this process. SIGKILL, which nobody can handle, leaves them behind.
use signal_hook::{
    consts::{SIGHUP, SIGINT, SIGTERM},
    iterator::Signals,
    low_level::emulate_default_handler,
};
use std::{
    io,
    process::{self, Command},
    sync::{
        Arc, Mutex, MutexGuard, Once, PoisonError, Weak,
        atomic::{AtomicBool, Ordering},
    },
    thread,
};

/// `None` once it has ended.
type Slot = Mutex<Option<process::Child>>;

/// Every process that runs, for the signal handler.
static RUNNING: Mutex<Vec<Weak<Slot>>> = Mutex::new(Vec::new());
static HANDLER: Once = Once::new();
/// Somebody else ends the run at SIGINT, and with it what it started.
static LEAVES_INTERRUPTS: AtomicBool = AtomicBool::new(false);

/// SIGINT no longer ends this process and those that it started: whoever asks for this ends the run
/// then, in good order.
pub fn leave_interrupts() {
    LEAVES_INTERRUPTS.store(true, Ordering::Relaxed);
}

/// A process of ours.
pub(super) struct Child(Arc<Slot>);

impl Child {
    /// Starts `command`; what `take_pipes` takes is returned beside.
    ///
    /// # Errors
    /// It does not start, or has no such pipes.
    pub fn start<T>(
        command: &mut Command,
        take_pipes: impl FnOnce(&mut process::Child) -> Option<T>,
    ) -> io::Result<(Self, T)> {
        HANDLER.call_once(end_all_at_signals);
        // Locked from before the start, so that no signal comes between start and entry.
        let mut running = lock(&RUNNING);
        let mut child = command.spawn()?;
        let pipes = take_pipes(&mut child);
        let slot = Arc::new(Mutex::new(Some(child)));
        running.retain(|slot| slot.strong_count() > 0);
        running.push(Arc::downgrade(&slot));
        drop(running);
        let child = Self(slot);
        let pipes = pipes.ok_or_else(|| io::Error::other("it has no stdin, stdout or stderr"))?;
        Ok((child, pipes))
    }

    pub fn still_runs(&self) -> bool {
        let mut child = lock(&self.0);
        child
            .as_mut()
            .is_some_and(|child| matches!(child.try_wait(), Ok(None)))
    }

    /// Kills it, if it has not ended by itself.
    pub fn end(&self) {
        end(&self.0);
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        self.end();
    }
}

/// Passes a process's answer on. A failed one waits for the signal handler, if that is at work: it
/// has ended the process, and is about to end this one too.
pub(super) fn unless_ending<T, E>(answer: Result<T, E>) -> Result<T, E> {
    answer.inspect_err(|_| drop(lock(&RUNNING)))
}

fn end(slot: &Slot) {
    if let Some(mut child) = lock(slot).take() {
        let _ = child.kill();
        let _ = child.wait();
    }
}

/// Holds the lock to the end, so that nothing more is started.
fn end_all_at_signals() {
    let Ok(mut signals) = Signals::new([SIGHUP, SIGINT, SIGTERM]) else {
        return;
    };
    thread::spawn(move || {
        for signal in signals.forever() {
            if signal == SIGINT && LEAVES_INTERRUPTS.load(Ordering::Relaxed) {
                continue;
            }
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
