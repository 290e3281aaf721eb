use crate::ChainError;
use std::future::Future;
use tokio::runtime::{Builder, Runtime};

/// The blocking face of this crate: runs its futures on the current thread.
///
/// Connections belong to the [`Blocking`] that opened them, so a client is used with one only.
#[derive(Debug)]
pub struct Blocking {
    runtime: Runtime,
}

impl Blocking {
    /// Makes the runtime.
    ///
    /// # Errors
    /// [`ChainError::Runtime`] if the system has no resources for one.
    pub fn new() -> Result<Self, ChainError> {
        let runtime = Builder::new_current_thread().enable_all().build()?;
        Ok(Self { runtime })
    }

    /// Waits until the future is ready.
    ///
    /// # Panics
    /// If it is called from async code.
    pub fn wait<F: Future>(&self, future: F) -> F::Output {
        self.runtime.block_on(future)
    }
}
