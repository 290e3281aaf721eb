use super::{
    CliError, FINE, arguments::RunOptions, files::FileThread, progress::Meter, serve, target,
};
use crate::{
    Indexer, Options, Progress, SyncError,
    store::{Sqlite, Store},
};
use concord_chain::Blocking;
use std::time::Duration;

/// Between two looks at a chain that has nothing new, and after a failure that may pass.
const PAUSE: Duration = Duration::from_secs(1);

pub fn run(options: &RunOptions) -> Result<u8, CliError> {
    let blocking = Blocking::new()?;
    let (deployment, source) = blocking.wait(target::connect(options))?;
    let store = Store::open(Sqlite::open(&options.store.store)?)?;
    let settings = Options {
        kept_headers: options.headers,
    };
    let mut indexer = Indexer::new(source, store, &deployment, settings)?;
    eprintln!("indexing {} on {}", deployment.registry(), deployment.chain);
    let mut files = FileThread::start(&options.files, &options.store.store, indexer.deployment())?;
    let serving = match options.listen {
        None => None,
        Some(listen) => {
            let store = options.store.store.clone();
            Some(serve::start(listen, store, &options.limits)?)
        }
    };
    let mut meter = Meter::new(options.start);
    loop {
        files = match files {
            Some(ended) if ended.is_over() => return Err(ended.failure()),
            running => running,
        };
        if let Some(serving) = serving.as_ref().filter(|it| it.is_over()) {
            eprintln!("no longer listening on {}", serving.address);
            return Ok(FINE);
        }
        match blocking.wait(indexer.step()) {
            Ok(Progress::Idle { head }) if options.once => {
                meter.finish(head);
                return files.map_or(Ok(FINE), |it| it.finish().map(|()| FINE));
            }
            Ok(Progress::Idle { .. }) => blocking.wait(tokio::time::sleep(PAUSE)),
            Ok(progress) => meter.tell(progress),
            // A chain that does not answer may again; what is stored stays right meanwhile.
            Err(SyncError::Source(error)) if error.is_passing() && !options.once => {
                eprintln!("waiting: {error}");
                blocking.wait(tokio::time::sleep(PAUSE));
            }
            Err(error) => return Err(error.into()),
        }
    }
}
