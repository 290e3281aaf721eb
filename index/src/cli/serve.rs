//! The API, by itself or beside a running index.
use super::{
    CliError, FINE,
    arguments::{ListenOptions, ServeOptions},
    verify::require,
};
use crate::{
    api::{self, Api, Limits, Readers},
    store::Location,
};
use std::{
    io,
    net::SocketAddr,
    thread::{self, JoinHandle},
    time::Duration,
};
use tokio::{net::TcpListener, runtime};

/// A server in threads of its own.
pub struct Serving {
    /// Where it listens.
    pub address: SocketAddr,
    thread: JoinHandle<io::Result<()>>,
}

/// `serve`: answers until a signal.
pub fn serve(options: &ServeOptions) -> Result<u8, CliError> {
    let location = &options.store.store;
    require(location)?;
    let serving = start(options.listen, location.clone(), &options.limits)?;
    serving.wait()?;
    Ok(FINE)
}

/// Listens, and answers in threads of its own. The store must exist.
pub fn start(
    listen: SocketAddr,
    store: Location,
    options: &ListenOptions,
) -> Result<Serving, CliError> {
    let limits = Limits {
        page: options.page_max,
        time: Duration::from_millis(options.query_ms),
        queries: options.queries,
        ..Limits::default()
    };
    let runtime = runtime::Builder::new_multi_thread().enable_all().build();
    let runtime = runtime.map_err(|error| unusable(listen, &error))?;
    let listener = runtime.block_on(TcpListener::bind(listen));
    let listener = listener.map_err(|error| unusable(listen, &error))?;
    let address = listener.local_addr();
    let address = address.map_err(|error| unusable(listen, &error))?;
    let readers = Readers::of_store(store, limits.queries, limits.time);
    let api = Api::new(readers, limits);
    let thread = thread::spawn(move || runtime.block_on(api::serve(listener, api, signal())));
    eprintln!("listening on http://{address}");
    Ok(Serving { address, thread })
}

impl Serving {
    /// Waits until a signal ended it.
    pub fn wait(self) -> Result<(), CliError> {
        let address = self.address;
        let ended = self.thread.join();
        let ended = ended.unwrap_or_else(|_| Err(io::Error::other("the server panicked")));
        ended.map_err(|error| unusable(address, &error))
    }

    /// Whether a signal ended it.
    pub fn is_over(&self) -> bool {
        self.thread.is_finished()
    }
}

fn unusable(listen: SocketAddr, error: &io::Error) -> CliError {
    CliError::Listen {
        address: listen,
        reason: error.to_string(),
    }
}

/// SIGINT or SIGTERM.
async fn signal() {
    use tokio::signal::unix::{SignalKind, signal};
    let terminated = signal(SignalKind::terminate());
    match terminated {
        Ok(mut terminated) => {
            let interrupted = std::pin::pin!(tokio::signal::ctrl_c());
            let terminated = std::pin::pin!(terminated.recv());
            futures_util::future::select(interrupted, terminated).await;
        }
        Err(_) => {
            let _ = tokio::signal::ctrl_c().await; // without handlers, signals end the process
        }
    }
}
