use std::{
    collections::BTreeMap,
    io::{self, Write},
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use concord_chain::{Amount, server::asked_to_stop};
use futures_util::future::join_all;
use serde_json::{Map, Value, json};
use tokio::time::{MissedTickBehavior, interval, sleep};

use super::{CliError, FAILED, FINE, LATE, arguments::ConfigOptions, config::Config, ready::Ready};
use crate::{
    PassReport, Publisher, RoundReport, SignalState, Store, WatchtowerError, Window, WindowKind,
    revenue_signals, signals_of_ended_windows,
};

/// Between two looks at what is due.
const PAUSE: Duration = Duration::from_secs(60);

/// Unix seconds.
fn now() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.map_or(0, |it| it.as_secs())
}

async fn open(options: &ConfigOptions) -> Result<Ready, CliError> {
    let config = Config::read(&options.config)?;
    let store = Store::open(&config.store)?;
    config.ready(store).await
}

impl Ready {
    /// The account that publishes at each registry.
    fn accounts(&self) -> BTreeMap<String, String> {
        let accounts = self.publishers.iter();
        accounts
            .map(|it| (it.registry_key(), it.client()))
            .collect()
    }
}

/// The outcome of publishing.
struct Published {
    /// By registry.
    passes: Vec<PassReport>,
    /// Why there are no revenues.
    no_revenues: Option<String>,
}

/// Writes down what is due, and publishes it.
async fn publish(
    ready: &ReadyToPublish<'_>,
    publishers: &mut [Publisher],
) -> Result<Published, CliError> {
    let Ready {
        watch,
        files,
        revenues,
        ..
    } = ready.ready;
    let (store, settings) = (&watch.store, &watch.settings);
    let (agents, accounts, time) = (&watch.agents, &ready.accounts, now());
    signals_of_ended_windows(store, settings, agents, accounts, &**files, time)?;
    let mut no_revenues = None;
    if let Some((source, dollars)) = revenues {
        let list = (source, &dollars[..]);
        let noted = revenue_signals(store, settings, list, agents, accounts, &**files, time).await;
        match noted {
            Err(WatchtowerError::Store(error)) => return Err(error.into()),
            Err(error) => {
                tracing::error!(%error, "no revenues");
                no_revenues = Some(error.to_string());
            }
            Ok(_) => {}
        }
    }
    let passes = join_all(publishers.iter_mut().map(|it| it.pass(time))).await;
    Ok(Published {
        passes: passes.into_iter().collect::<Result<_, _>>()?,
        no_revenues,
    })
}

struct ReadyToPublish<'a> {
    ready: &'a Ready,
    accounts: BTreeMap<String, String>,
}

pub async fn run(options: &ConfigOptions) -> Result<u8, CliError> {
    let mut ready = open(options).await?;
    let accounts = ready.accounts();
    let mut publishers = std::mem::take(&mut ready.publishers);
    let due = ReadyToPublish {
        ready: &ready,
        accounts,
    };
    let probing = async {
        let mut rounds = interval(ready.watch.settings.interval);
        rounds.set_missed_tick_behavior(MissedTickBehavior::Skip);
        loop {
            rounds.tick().await;
            let RoundReport { samples, .. } = ready.watch.round(now()).await?;
            tracing::info!(samples, "probed");
        }
    };
    let publishing = async {
        loop {
            publish(&due, &mut publishers).await?;
            sleep(PAUSE).await;
        }
    };
    // what is under way is on disk, and continues at the next start
    tokio::select! {
        ended = probing => ended,
        ended = publishing => ended,
        () = asked_to_stop() => Ok(FINE),
    }
}

pub async fn once(options: &ConfigOptions) -> Result<u8, CliError> {
    let mut ready = open(options).await?;
    let round = ready.watch.round(now()).await?;
    let accounts = ready.accounts();
    let mut publishers = std::mem::take(&mut ready.publishers);
    let due = ReadyToPublish {
        ready: &ready,
        accounts,
    };
    let Published {
        passes,
        no_revenues,
    } = publish(&due, &mut publishers).await?;
    let mut is_late = passes.iter().any(|it| it.refused > 0 || it.late > 0);
    // what waits for its next attempt is late, whenever it was tried, if somebody publishes it: a cron job must not report it as fine
    for publisher in &publishers {
        is_late |= ready.watch.store.has_late(&publisher.registry_key())?;
    }
    let published = passes.iter().zip(&publishers).map(|(pass, publisher)| {
        let report = json!({
            "published": pass.published,
            "landed": pass.landed,
            "late": pass.late,
            "refused": pass.refused,
            "overBudget": pass.over_budget,
            "spent": pass.spent,
        });
        (publisher.registry_key(), report)
    });
    let report = json!({
        "samples": round.samples,
        "withoutNetwork": round.is_without_network,
        "own": reasons(&round.own),
        "unreadable": reasons(&round.unreadable),
        "noRevenues": no_revenues,
        "registries": published.collect::<Map<_, _>>(),
    });
    println!("{report:#}");
    Ok(match round.is_without_network || no_revenues.is_some() {
        true => FAILED,
        false if is_late || !round.unreadable.is_empty() => LATE,
        false => FINE,
    })
}

fn reasons(of: &[(String, String)]) -> Value {
    let reasons = of
        .iter()
        .map(|(agent, reason)| json!({ "agent": agent, "reason": reason }));
    Value::Array(reasons.collect())
}

/// Costs before it starts.
pub async fn plan(options: &ConfigOptions) -> Result<u8, CliError> {
    let config = Config::read(&options.config)?;
    // nothing is kept
    let store = Store::in_memory()?;
    let ready = config.ready(store).await?;
    let (mut own, mut unreadable) = (Vec::new(), Vec::new());
    let mut endpoints: BTreeMap<String, Vec<(usize, usize)>> = BTreeMap::new();
    for (index, agent) in ready.watch.agents.iter().enumerate() {
        let survey = ready.watch.survey(agent).await;
        own.extend(survey.own().map(|it| (agent.key(), it.to_owned())));
        unreadable.extend(survey.unreadable.map(|it| (agent.key(), it)));
        let count = survey.targets.map_or(0, |it| it.len());
        if count > 0 {
            let of = endpoints.entry(agent.registry_key()).or_default();
            of.push((index, count));
        }
    }
    let mut is_fine = unreadable.is_empty();
    let mut registries = Map::new();
    for publisher in &ready.publishers {
        let key = publisher.registry_key();
        let watched = endpoints.remove(&key).unwrap_or_default();
        let costs = Costs::of(&ready, publisher, &watched).await?;
        is_fine &= costs.fits;
        registries.insert(key, costs.report(publisher));
    }
    let report = json!({
        "registries": registries,
        "own": reasons(&own),
        "unreadable": reasons(&unreadable),
    });
    println!("{report:#}");
    Ok(if is_fine { FINE } else { LATE })
}

/// The most that a registry's signals cost.
struct Costs {
    agents: usize,
    endpoints: usize,
    per_day: u64,
    per_week: u64,
    one: Amount,
    /// On a day on which a week ends, too.
    busiest_day: Amount,
    fits: bool,
}

impl Costs {
    async fn of(
        ready: &Ready,
        publisher: &Publisher,
        watched: &[(usize, usize)],
    ) -> Result<Self, CliError> {
        let settings = &ready.watch.settings;
        let endpoints: usize = watched.iter().map(|(_, count)| count).sum();
        let revenues = if ready.revenues.is_some() {
            watched.len()
        } else {
            0
        };
        let signals = (endpoints * settings.tags.len() + revenues) as u64;
        let of = |kind| {
            if settings.windows.contains(&kind) {
                signals
            } else {
                0
            }
        };
        let (per_day, per_week) = (of(WindowKind::Day), of(WindowKind::Week));
        let mut one = Amount::default();
        for (index, _) in watched {
            if let Some(agent) = ready.watch.agents.get(*index) {
                let sample = crate::signal::sample(agent, &publisher.client(), &*ready.files)?;
                one = one.max(publisher.cost(&sample).await?);
            }
        }
        let busiest = u128::from(per_day + per_week);
        let busiest_day = Amount(one.0.saturating_mul(busiest));
        let budget = publisher.budget();
        Ok(Self {
            agents: watched.len(),
            endpoints,
            per_day,
            per_week,
            one,
            busiest_day,
            fits: busiest_day <= budget.per_day && busiest_day <= budget.per_run,
        })
    }

    fn report(&self, publisher: &Publisher) -> Value {
        let budget = publisher.budget();
        json!({
            "account": publisher.client(),
            "agents": self.agents,
            "endpoints": self.endpoints,
            "signalsPerDay": self.per_day,
            "signalsPerWeek": self.per_week,
            "costOfOneMax": self.one,
            "costOfBusiestDayMax": self.busiest_day,
            "budgetPerDay": budget.per_day,
            "budgetPerRun": budget.per_run,
            "fits": self.fits,
        })
    }
}

pub fn status(options: &ConfigOptions) -> Result<u8, CliError> {
    let config = Config::read(&options.config)?;
    let Some(store) = Store::look(&config.store)? else {
        println!("{:#}", json!({ "samples": 0, "signals": {}, "late": [] }));
        return Ok(FINE);
    };
    let counts = store.counts()?;
    let refused = counts.iter().find(|(it, _)| *it == SignalState::Refused);
    let has_refused = refused.is_some_and(|(_, count)| *count > 0);
    let signals = store.signals()?;
    let late = signals.iter().filter(|it| it.reason.is_some()).map(|it| {
        json!({
            "n": it.n,
            "agent": it.agent,
            "endpoint": it.endpoint,
            "tag": it.tag,
            "window": crate::signal::window_of(it.window),
            "state": it.state.name(),
            "attempts": it.attempts,
            "reason": it.reason,
        })
    });
    let late: Vec<Value> = late.collect();
    let mut spent = Map::new();
    for registry in config.registries() {
        let amount = store.spent_on_day(&registry, now())?;
        spent.insert(registry, json!(amount));
    }
    let counts = counts
        .iter()
        .map(|(it, count)| (it.name().to_owned(), json!(count)));
    let next = WindowKind::ALL.map(|kind| {
        let end = Window::containing(kind, now()).end();
        (kind.name().to_owned(), json!(crate::evidence::time(end)))
    });
    let report = json!({
        "samples": store.sample_count()?,
        "signals": counts.collect::<Map<_, _>>(),
        "spentToday": spent,
        "windowEnds": Map::from_iter(next),
        "late": late,
    });
    println!("{report:#}");
    Ok(if has_refused { LATE } else { FINE })
}

/// `schema`: what a configuration may be.
pub fn schema() -> Result<u8, CliError> {
    let mut out = io::stdout().lock();
    match out.write_all(Config::schema().as_bytes()) {
        Err(fault) if fault.kind() == io::ErrorKind::BrokenPipe => Ok(FINE), // the reader had enough
        written => Ok(written.map(|()| FINE)?),
    }
}
