use super::{CliError, FINE, arguments::RunOptions, follow::Follower, serve, target};
use crate::store::Store;
use concord_chain::Blocking;
use std::{
    sync::mpsc::{RecvTimeoutError, channel},
    thread,
    time::Duration,
};

/// Between two looks at whether a signal ended the server.
const PAUSE: Duration = Duration::from_millis(200);

/// Indexes every chain in a thread of its own, each with a connection of its own to the store. The first failure ends
/// all of them: each transaction is whole, whenever that is.
pub fn run(options: &RunOptions, carried: Option<&'static [u8]>) -> Result<u8, CliError> {
    let page = serve::explain_page(&options.limits, carried)?;
    let targets = Blocking::new()?.wait(target::targets(options))?;
    drop(Store::open(options.store.store.open()?)?); // it is made before anyone reads it
    let (ended, ends) = channel();
    let mut running = targets.len();
    let is_alone = running == 1;
    for target in targets {
        let (ended, options) = (ended.clone(), options.clone());
        thread::spawn(move || {
            let started = Follower::start(&target, &options, is_alone);
            let _ = ended.send(started.and_then(Follower::follow)); // no one listens after a failure
        });
    }
    drop(ended);
    let serving = match options.listen {
        None => None,
        Some(listen) => {
            let store = options.store.store.clone();
            Some(serve::start(listen, store, (&options.limits, page))?)
        }
    };
    while running > 0 {
        match ends.recv_timeout(PAUSE) {
            Ok(done) => {
                done?;
                running -= 1;
            }
            Err(RecvTimeoutError::Timeout) => (),
            Err(RecvTimeoutError::Disconnected) => return Err(CliError::Follower),
        }
        if let Some(serving) = serving.as_ref().filter(|it| it.is_over()) {
            eprintln!("no longer listening on {}", serving.address);
            return Ok(FINE);
        }
    }
    Ok(FINE)
}
