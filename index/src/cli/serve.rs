//! The API, by itself or beside a running index.
use super::{
    CliError, FINE,
    arguments::{ListenOptions, ServeOptions},
    verify::require,
};
use crate::{
    api::{self, Api, ExplainPage, Limits, Readers},
    store::Location,
};
use concord_chain::server::{ServerLimits, asked_to_stop};
use std::{
    fs, io,
    net::SocketAddr,
    path::Path,
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
pub fn serve(options: &ServeOptions, carried: Option<&'static [u8]>) -> Result<u8, CliError> {
    let location = &options.store.store;
    require(location)?;
    let page = explain_page(&options.limits, carried)?;
    let serving = start(options.listen, location.clone(), (&options.limits, page))?;
    serving.wait()?;
    Ok(FINE)
}

/// The page that verifies bundles: the one that is named, or the one that this build carries.
pub fn explain_page(
    options: &ListenOptions,
    carried: Option<&'static [u8]>,
) -> Result<Option<ExplainPage>, CliError> {
    let unusable = |path: &Path, reason: &dyn ToString| {
        let (path, reason) = (path.display(), reason.to_string());
        CliError::Usage(format!("--explain-page {path}: {reason}"))
    };
    match (&options.explain_page, carried) {
        (Some(path), _) => {
            let html = fs::read(path).map_err(|error| unusable(path, &error))?;
            let page = ExplainPage::new(html).map_err(|error| unusable(path, &error))?;
            Ok(Some(page))
        }
        (None, Some(html)) => {
            let page = ExplainPage::new(html);
            let page = page.map_err(|error| unusable(Path::new("of this build"), &error))?;
            Ok(Some(page))
        }
        (None, None) => Ok(None),
    }
}

/// Listens, and answers in threads of its own. The store must exist.
pub fn start(
    listen: SocketAddr,
    store: Location,
    (options, page): (&ListenOptions, Option<ExplainPage>),
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
    let api = Api::new(readers, limits, page);
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
