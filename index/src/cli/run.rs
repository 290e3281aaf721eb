use super::{
    CliError, FINE, arguments::RunOptions, files::FileThread, progress::Meter, serve, target,
};
use crate::{
    Indexer, Options, Progress, SyncError,
    store::{Sqlite, Store},
};
use concord_chain::Blocking;
use std::time::{Duration, Instant};

/// Between two looks at a chain that has nothing new, and after a failure that may pass.
const PAUSE: Duration = Duration::from_secs(1);

/// Between two searches for missing events.
const REPAIR: Duration = Duration::from_secs(600);

/// When missing events were last looked for.
struct Repairs(Option<Instant>);

impl Repairs {
    fn is_due(&mut self) -> bool {
        let is_due = self.0.is_none_or(|last| last.elapsed() > REPAIR);
        if is_due {
            self.0 = Some(Instant::now());
        }
        is_due
    }
}

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
    let mut repairs = Repairs(None);
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
            Ok(Progress::Idle { .. }) if repairs.is_due() => {
                // R46: what is missing is looked for again; if it stays so, `status` says it.
                match blocking.wait(indexer.repair()) {
                    Ok(0) => (),
                    Ok(events) => eprintln!("repaired: {events} events had been missed"),
                    Err(SyncError::Source(error)) if error.is_passing() => {
                        eprintln!("not repaired: {error}");
                    }
                    Err(error) => return Err(error.into()),
                }
            }
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
