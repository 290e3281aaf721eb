use super::{
    CliError, FINE, arguments::RunOptions, files::FileThread, progress::Meter, serve, target,
};
use crate::{Indexer, Options, Progress, SyncError, store::Store};
use concord_chain::Blocking;
use std::time::{Duration, Instant};

/// Between two looks at a chain that has nothing new, and after a failure that may pass.
const PAUSE: Duration = Duration::from_secs(1);

/// Between two searches for missing events.
const REPAIR: Duration = Duration::from_secs(600);
/// A search reads blocks again, and nothing else is indexed meanwhile. What an endpoint does not have, none
/// finds: at most a tenth of the time is spent on it.
const SHARE: u32 = 9;

/// When missing events are looked for.
#[derive(Default)]
struct Repairs {
    next: Option<Instant>,
}

impl Repairs {
    fn is_due(&self, now: Instant) -> bool {
        self.next.is_none_or(|next| next <= now)
    }

    /// Notes a search, and how long it took.
    fn note(&mut self, now: Instant, took: Duration) {
        self.next = now.checked_add(REPAIR.max(took.saturating_mul(SHARE)));
    }
}

pub fn run(options: &RunOptions) -> Result<u8, CliError> {
    let blocking = Blocking::new()?;
    let (deployment, source) = blocking.wait(target::connect(options))?;
    let store = Store::open(options.store.store.open()?)?;
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
    let mut repairs = Repairs::default();
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
            Ok(Progress::Idle { .. }) if repairs.is_due(Instant::now()) => {
                // R46: what is missing is looked for again; if it stays so, `status` says it.
                let begun = Instant::now();
                let repaired = blocking.wait(indexer.repair());
                repairs.note(Instant::now(), begun.elapsed());
                match repaired {
                    Ok(0) => (),
                    Ok(events) => eprintln!("repaired: {events} events had been missed"),
                    Err(error) if error.is_passing() => eprintln!("not repaired: {error}"),
                    Err(error) => return Err(error.into()),
                }
            }
            Ok(Progress::Idle { head }) if options.once => {
                meter.finish(head);
                return files.map_or(Ok(FINE), |it| it.finish().map(|()| FINE));
            }
            Ok(Progress::Idle { .. }) => pause(&blocking),
            Ok(progress) => meter.show(progress),
            // A chain that does not answer may again, and a store that is busy is free after a while; what
            // is stored stays right meanwhile.
            Err(error) if error.is_passing() && may_wait(&error, options) => {
                eprintln!("waiting: {error}");
                pause(&blocking);
            }
            Err(error) => return Err(error.into()),
        }
    }
}

/// A timer is made within the runtime that it is for.
fn pause(blocking: &Blocking) {
    blocking.wait(async { tokio::time::sleep(PAUSE).await });
}

/// With `--once`, a chain that does not answer is an error.
const fn may_wait(error: &SyncError, options: &RunOptions) -> bool {
    !options.once || matches!(error, SyncError::Store(_))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn r46_a_search_that_takes_long_comes_seldom() {
        let now = Instant::now();
        let mut repairs = Repairs::default();
        assert!(repairs.is_due(now));
        for (took, pause) in [(1, 600), (60, 600), (3_600, 9 * 3_600)] {
            repairs.note(now, Duration::from_secs(took));
            let after = |seconds| now + Duration::from_secs(seconds);
            assert!(!repairs.is_due(after(pause - 1)), "{took}");
            assert!(repairs.is_due(after(pause)), "{took}");
        }
    }
}
