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
use concord_chain::server::{ServerLimits, asked_to_stop};
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
    thread: JoinHandle<()>,
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
    let connections = ServerLimits {
        connections: options.connections,
        ..ServerLimits::default()
    };
    let serving = api::serve(listener, api, connections, asked_to_stop());
    let thread = thread::spawn(move || runtime.block_on(serving));
    eprintln!("listening on http://{address}");
    Ok(Serving { address, thread })
}

impl Serving {
    /// Waits until a signal ended it.
    pub fn wait(self) -> Result<(), CliError> {
        let address = self.address;
        let ended = self.thread.join();
        ended.map_err(|_| unusable(address, &io::Error::other("the server panicked")))
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
