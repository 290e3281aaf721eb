use std::{sync::Arc, time::Duration};

use axum::{
    extract::{ConnectInfo, Request},
    middleware::map_request,
};
use concord_chain::{
    server::{Peer, ServerLimits, asked_to_stop, serve},
    stdout::show,
    submission::Timing,
};
use concord_x402::feedback::FileStore;
use serde_json::{Value, json};
use tokio::{net::TcpListener, sync::watch, task::JoinHandle};

use super::{
    CliError, FINE, REFUSED,
    arguments::{BackupOptions, ConfigOptions, RunOptions},
    config::Config,
};
use crate::{
    Aggregator, Facilitator, Insiders, LanePlace, Revenues, Service, Sponsor, SponsorWorker,
    Sponsored,
    lane::Lane,
    payment_proof_router, revenue_router, router, sponsored_router,
    store::{Location, RowState, SponsoredState, Store},
};

/// Between two looks at what is left to drain.
const PAUSE: Duration = Duration::from_millis(500);
/// Submissions of one read.
const PAGE: u64 = 500;

/// The lanes of a configuration, which end when `stop` becomes true.
struct Lanes {
    places: Vec<LanePlace>,
    tasks: Vec<JoinHandle<()>>,
    stop: watch::Sender<bool>,
}

impl Lanes {
    async fn start(
        config: &Config,
        store: &Store,
        insiders: &Arc<dyn Insiders>,
        files: &Arc<dyn FileStore>,
    ) -> Result<Self, CliError> {
        let (stop, stopped) = watch::channel(false);
        let (mut places, mut tasks) = (Vec::new(), Vec::new());
        for (registries, settlement) in config.registries().await? {
            let (insiders, files) = (insiders.clone(), files.clone());
            let lane = Lane::new(registries, &settlement, insiders, files, store.clone());
            places.push(lane.place().clone());
            tasks.push(tokio::spawn(lane.run(stopped.clone())));
        }
        Ok(Self {
            places,
            tasks,
            stop,
        })
    }

    /// Lanes of accounts that are not configured any more: what they have waits.
    fn without_account(&self, store: &Store) -> Result<Vec<String>, CliError> {
        let own: Vec<String> = self.places.iter().map(LanePlace::name).collect();
        let mut lanes = store.open_lanes()?;
        lanes.retain(|it| !own.contains(it));
        Ok(lanes)
    }

    /// Follows what sponsors pay for (R59).
    fn follow(&mut self, sponsors: &[Sponsor], store: &Store) {
        for sponsor in sponsors {
            let worker = SponsorWorker::new(sponsor, store.clone(), Timing::UNHURRIED.poll);
            let stopped = self.stop.subscribe();
            self.tasks.push(tokio::spawn(worker.run(stopped)));
        }
    }

    async fn end(self) {
        self.stop.send_replace(true);
        for task in self.tasks {
            let _ = task.await; // a lane that panicked has said so
        }
    }
}

pub async fn run(options: &RunOptions) -> Result<u8, CliError> {
    let config = Config::read(&options.config.config)?;
    let store = config.open_store()?;
    let files = config.file_store()?;
    let listener = TcpListener::bind(config.listen).await?;
    let insiders = config.insiders()?;
    let mut lanes = Lanes::start(&config, &store, &insiders, &files).await?;
    let sponsors = config.sponsors()?;
    lanes.follow(&sponsors, &store);
    for lane in lanes.without_account(&store)? {
        tracing::warn!(lane, "waits: its account is not configured");
    }
    let served = lanes.places.iter().map(|it| it.registry.clone()).collect();
    let admission = config.admission(served, options.payments, insiders).await?;
    let facilitators: Arc<[Facilitator]> = config.facilitators(&admission.payments)?.into();
    let revenues = Revenues {
        store: store.clone(),
        facilitators: facilitators.clone(),
        evm: config.evm_settlers(&admission.payments)?,
        assets: config.assets()?,
    };
    let aggregator = Aggregator::new(store, admission, files, lanes.places.clone());
    let aggregator = Arc::new(aggregator.with_limits(config.limits));
    let address_header = config.address_header()?;
    let sponsored = Arc::new(Sponsored::new(aggregator.clone(), sponsors));
    let routes = router(Service {
        aggregator,
        files: config.files.clone(),
        address_header: address_header.clone(),
    });
    let routes = routes
        .merge(payment_proof_router(facilitators))
        .merge(revenue_router(revenues))
        .merge(sponsored_router(sponsored, address_header));
    let routes = routes.layer(map_request(with_address));
    show(format!("{}\n", listener.local_addr()?))?;
    serve(listener, routes, ServerLimits::default(), asked_to_stop()).await;
    lanes.end().await;
    Ok(FINE)
}

/// Passes a client's address on as axum does.
async fn with_address(mut request: Request) -> Request {
    if let Some(Peer(address)) = request.extensions().get().copied() {
        request.extensions_mut().insert(ConnectInfo(address));
    }
    request
}

pub async fn drain(options: &ConfigOptions) -> Result<u8, CliError> {
    let config = Config::read(&options.config)?;
    let store = config.open_store()?;
    let files = config.file_store()?;
    let insiders = config.insiders()?;
    let mut lanes = Lanes::start(&config, &store, &insiders, &files).await?;
    lanes.follow(&config.sponsors()?, &store);
    if let Some(lane) = lanes.without_account(&store)?.first() {
        let message = format!("feedback waits for an account that is not configured: {lane}");
        return Err(CliError::Usage(message));
    }
    let stopped = asked_to_stop();
    tokio::pin!(stopped);
    while open_work(&store)? > 0 {
        tokio::select! {
            () = tokio::time::sleep(PAUSE) => {}
            () = &mut stopped => break,
        }
    }
    lanes.end().await;
    report(&store)
}

/// What a run has yet to do.
fn open_work(store: &Store) -> Result<u64, CliError> {
    let follow_ups = store.open_revocations()? + store.open_responses()?;
    Ok(store.open_count()? + follow_ups + open_sponsored(store)?)
}

/// What both have signed and is not final.
fn open_sponsored(store: &Store) -> Result<u64, CliError> {
    let open = [
        SponsoredState::Signed,
        SponsoredState::Sent,
        SponsoredState::Landed,
    ];
    let counts = store.sponsored_counts()?;
    let open = counts.iter().filter(|(state, _)| open.contains(state));
    Ok(open.map(|(_, count)| count).sum())
}

pub fn status(options: &ConfigOptions) -> Result<u8, CliError> {
    let store = Config::read(&options.config)?.open_store()?;
    report(&store)
}

/// Counts by state, and each submission, revocation and response that is late or refused.
fn report(store: &Store) -> Result<u8, CliError> {
    let counts = store.counts()?;
    let refused = counts.iter().find(|(state, _)| *state == RowState::Refused);
    let revocations = store.late_revocations()?;
    let responses = store.late_responses()?;
    let has_refused = refused.is_some_and(|(_, count)| *count > 0)
        || revocations.iter().any(|it| it.state == RowState::Refused)
        || responses.iter().any(|it| it.state == RowState::Refused);
    let mut late = Vec::new();
    let mut from = 1;
    loop {
        let rows = store.page(from, PAGE)?;
        let Some(last) = rows.last() else { break };
        from = last.receipt.n + 1;
        let with_reason = rows.iter().filter(|row| row.reason.is_some());
        late.extend(with_reason.map(|row| {
            json!({
                "n": row.receipt.n,
                "key": row.receipt.key,
                "state": row.state.name(),
                "attempts": row.attempts,
                "reason": row.reason,
            })
        }));
    }
    let counts: serde_json::Map<_, _> = counts
        .into_iter()
        .map(|(state, count)| (state.name().to_owned(), json!(count)))
        .collect();
    let revocations = revocations.iter().map(|row| {
        json!({
            "n": row.n,
            "state": row.state.name(),
            "attempts": row.attempts,
            "reason": row.reason,
        })
    });
    let revocations: Vec<Value> = revocations.collect();
    let responses = responses.iter().map(|row| {
        json!({
            "n": row.receipt.n,
            "responseTo": row.submission,
            "state": row.state.name(),
            "attempts": row.attempts,
            "reason": row.reason,
        })
    });
    let responses: Vec<Value> = responses.collect();
    let sponsored: serde_json::Map<_, _> = (store.sponsored_counts()?.into_iter())
        .map(|(state, count)| (state.name().to_owned(), json!(count)))
        .collect();
    let report = json!({
        "submissions": counts,
        "sponsored": sponsored,
        "late": late,
        "lateRevocations": revocations,
        "lateResponses": responses,
    });
    show(format!("{report:#}\n"))?;
    Ok(if has_refused { REFUSED } else { FINE })
}

pub async fn retry(options: &ConfigOptions) -> Result<u8, CliError> {
    let store = Config::read(&options.config)?.open_store()?;
    let count = store.retry().await?;
    show(format!("{count}\n"))?;
    Ok(FINE)
}

pub fn backup(options: &BackupOptions) -> Result<u8, CliError> {
    let config = Config::read(&options.config.config)?;
    match config.store_location()? {
        Location::File(path) => Store::backup(&path, &options.to)?,
        Location::Server(_) => {
            let message = "the store is a Postgres database: back it up with pg_dump";
            return Err(CliError::Usage(message.to_owned()));
        }
    }
    Ok(FINE)
}

/// Prints how many files there are.
pub async fn files(options: &ConfigOptions) -> Result<u8, CliError> {
    let config = Config::read(&options.config)?;
    let (store, files) = (config.open_store()?, config.file_store()?);
    let (mut last, mut written) = (0, 0);
    loop {
        let rows = store.page(last + 1, PAGE)?;
        if rows.is_empty() {
            break;
        }
        for row in rows {
            last = row.receipt.n;
            if let Some(file) = store.file(last)? {
                files.store(file.as_bytes()).await?;
                written += 1;
            }
        }
    }
    for id in store.sponsored_signed()? {
        if let Some(file) = store.sponsored_file(id)? {
            files.store(file.as_bytes()).await?;
            written += 1;
        }
    }
    show(format!("{written}\n"))?;
    Ok(FINE)
}

pub fn schema() -> Result<u8, CliError> {
    show(Config::schema())?;
    Ok(FINE)
}
