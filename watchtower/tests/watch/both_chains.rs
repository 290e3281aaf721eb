//! Days and weeks of samples become signals on both chains, each once.
use crate::{
    cluster::{NETWORK, Solana},
    services::Services,
    world::{DAY, GENEROUS, MONDAY, World, file, file_at, files, settings, store, watch},
};
use alloy::primitives::keccak256;
use concord_files::{Rating, parse_feedback};
use concord_watchtower::{
    Agent, Budget, PassReport, Publisher, Settings, Signal, SignalState, Store, Tag, WindowKind,
    signals_of_ended_windows,
};
use concord_x402::feedback::FeedbackContent;
use serde_json::Value;
use std::{collections::BTreeMap, path::Path, sync::Arc};

fn published(count: u64) -> impl Fn(&PassReport) -> bool {
    move |it| (it.published, it.late, it.refused, it.over_budget) == (count, 0, 0, 0)
}

/// The evidence file is where its URI says, is what was hashed, and states its window.
fn check_evidence(folder: &Path, signal: &Signal, client: &str) -> Value {
    let file = file_at(folder, &signal.submission.uri);
    assert_eq!(signal.submission.hash, keccak256(&file).to_string());
    let parsed = parse_feedback(&file).unwrap();
    assert!(parsed.is_canonical());
    let FeedbackContent::Open {
        value,
        decimals,
        endpoint,
    } = &signal.submission.content
    else {
        panic!("not open");
    };
    let Rating::Value(rating) = parsed.view().rating() else {
        panic!("no value");
    };
    assert_eq!(
        (rating.value().to_string(), rating.decimals()),
        (value.clone(), *decimals)
    );
    let stated: Value = serde_json::from_slice(&file).unwrap();
    assert_eq!(stated["clientAddress"], *client);
    assert_eq!(stated["endpoint"], **endpoint);
    assert_eq!(stated["tag1"], *signal.tag);
    assert_eq!(stated["tag2"], *signal.window.kind.name());
    assert_eq!(
        stated["watchtower"]["window"]["kind"],
        *signal.window.kind.name()
    );
    stated["watchtower"].clone()
}

/// Sunday and Monday: two days end, and one week.
const SUNDAY: u64 = MONDAY + 6 * DAY;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r60_each_window_is_published_once_on_an_evm_chain() {
    let world = World::start().await;
    let services = Services::start().await;
    let url = services.url("/ok");
    let agent = world.register(world.owner, &file(&[("web", &url)])).await;
    let folder = tempfile::tempdir().unwrap();
    let watched = world
        .watch(folder.path(), settings(), vec![agent.clone()])
        .await;
    for hour in [0, 6, 12, 18] {
        let report = watched.round(SUNDAY + hour * 3_600).await.unwrap();
        assert_eq!((report.samples, report.unreadable.len()), (1, 0));
    }
    drop(services); // it is down from Monday on
    watched.round(SUNDAY + DAY).await.unwrap();
    watched.round(SUNDAY + DAY + 3_600).await.unwrap();

    let intend = |now: u64| {
        let (agents, accounts) = (&watched.agents, world.accounts());
        let files = files(folder.path());
        let (store, settings) = (&watched.store, &watched.settings);
        signals_of_ended_windows(store, settings, agents, &accounts, &files, now).unwrap()
    };
    assert_eq!(intend(SUNDAY + DAY - 1), 0, "nothing has ended");
    assert_eq!(intend(SUNDAY + DAY + 30), 0, "a probe may be under way");
    assert_eq!(intend(SUNDAY + DAY + 60), 10, "a day and a week");
    assert_eq!(intend(SUNDAY + DAY + 60), 0);
    assert_eq!(
        intend(SUNDAY + 2 * DAY + 60),
        4,
        "without answers there is no response time"
    );
    let mut publisher = world
        .publisher(folder.path(), &watched.store, GENEROUS)
        .await;
    let report = publisher.pass(SUNDAY + 2 * DAY + 60).await.unwrap();
    assert!(published(14)(&report), "{report:?}");
    assert_eq!(world.feedbacks(&agent).await, 14);

    let found = in_the_registry(&world, &agent).await;
    let times = |window: &str| {
        let times = found
            .iter()
            .filter(|it| (it.2.as_str(), it.3.as_str()) == ("responseTime", window));
        times.count()
    };
    assert_eq!((times("day"), times("week")), (1, 1));
    let others: Vec<_> = found.iter().filter(|it| it.2 != "responseTime").collect();
    let row = |value, decimals, tag: &str, window: &str| {
        (value, decimals, tag.to_owned(), window.to_owned())
    };
    let up = |window: &str| {
        [
            row(1, 0, "reachable", window),
            row(10_000, 2, "uptime", window),
            row(100, 0, "successRate", window),
            row(0, 0, "ownerVerified", window),
        ]
    };
    let down = [
        row(0, 0, "reachable", "day"),
        row(0, 2, "uptime", "day"),
        row(0, 0, "successRate", "day"),
        row(0, 0, "ownerVerified", "day"),
    ];
    let expected: Vec<_> = [&up("day")[..], &up("week"), &down].concat();
    assert_eq!(others, expected.iter().collect::<Vec<_>>());

    check_first_day(&watched.store, folder.path(), &world.client());
    // a restart, and a database that is asked again for the same windows
    drop((publisher, watched));
    let store = store(folder.path());
    let mut publisher = world.publisher(folder.path(), &store, GENEROUS).await;
    let accounts = world.accounts();
    let (agents, files) = ([agent.clone()], files(folder.path()));
    let again = signals_of_ended_windows(
        &store,
        &settings(),
        &agents,
        &accounts,
        &files,
        SUNDAY + 3 * DAY,
    );
    assert_eq!(again.unwrap(), 0);
    let report = publisher.pass(SUNDAY + 3 * DAY).await.unwrap();
    assert!(published(0)(&report), "{report:?}");
    assert_eq!(world.feedbacks(&agent).await, 14);
}

async fn in_the_registry(world: &World, agent: &Agent) -> Vec<(i128, u8, String, String)> {
    let mut found = Vec::new();
    for index in 1..=world.feedbacks(agent).await {
        found.push(world.feedback(agent, index).await);
    }
    found
}

fn check_first_day(store: &Store, folder: &Path, client: &str) {
    let signals = store.signals().unwrap();
    let first = check_evidence(folder, &signals[0], client);
    assert_eq!(first["window"]["start"], "2026-11-29T00:00:00Z");
    assert_eq!(first["window"]["end"], "2026-11-30T00:00:00Z");
    assert_eq!(
        (&first["samples"], &first["answered"]),
        (&4.into(), &4.into())
    );
    assert_eq!(first["firstSample"], "2026-11-29T00:00:00Z");
    assert_eq!(first["lastSample"], "2026-11-29T18:00:00Z");
    assert_eq!(first["findings"]["as promised"], 4);
    let week = signals.iter().find(|it| it.window.kind == WindowKind::Week);
    let week = check_evidence(folder, week.unwrap(), client);
    assert_eq!(week["window"]["start"], "2026-11-23T00:00:00Z");
    let last = check_evidence(folder, &signals[12], client);
    assert_eq!(last["findings"]["no connection"], 2);
    for (index, signal) in (1..).zip(&signals) {
        assert_eq!(
            (signal.state, signal.index),
            (SignalState::Final, Some(index))
        );
        assert!(signal.cost.unwrap() <= signal.reserved.unwrap());
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r60_each_window_is_published_once_on_solana() {
    let solana = Solana::start().await;
    let services = Services::start().await;
    let folder = tempfile::tempdir().unwrap();
    // a registration file at a host: an account has no place for a long one
    let agent = solana.register(31, &services.url("/agent.json")).await;
    let (chains, own) = (Arc::new(solana.chains().await), solana.own());
    let client = solana.client();
    let settings = Settings {
        tags: vec![Tag::Uptime, Tag::SuccessRate],
        ..settings()
    };
    let store = store(folder.path());
    let agents = vec![agent.clone()];
    let watched = watch(
        store.clone(),
        settings.clone(),
        agents.clone(),
        chains.clone(),
        own.clone(),
    );
    for hour in [0, 8, 16] {
        let report = watched.round(SUNDAY + hour * 3_600).await.unwrap();
        assert_eq!((report.samples, report.unreadable), (1, vec![]));
    }
    let accounts = BTreeMap::from([(agent.registry_key(), client.clone())]);
    let evidence = Arc::new(files(folder.path()));
    let now = SUNDAY + DAY + 3_600;
    let intended = signals_of_ended_windows(&store, &settings, &agents, &accounts, &*evidence, now);
    assert_eq!(intended.unwrap(), 4);

    let registry = Box::new(solana.registry().await);
    let (before, budget) = (solana.balance().await, GENEROUS);
    let mut publisher = Publisher::new(
        registry,
        budget,
        own.clone(),
        chains.clone(),
        evidence.clone(),
        store.clone(),
    );
    let report = publisher.pass(now).await.unwrap();
    assert!(published(4)(&report), "{report:?}");
    let spent = u128::from(before - solana.balance().await);
    assert_eq!(report.spent.0, spent, "rent and fees, to the lamport");
    let signals = store.signals().unwrap();
    for (signal, expected) in signals.iter().zip([
        (10_000, 2, "uptime", "day"),
        (100, 0, "successRate", "day"),
        (10_000, 2, "uptime", "week"),
        (100, 0, "successRate", "week"),
    ]) {
        let found = solana
            .feedback(&agent, signal.index.unwrap())
            .await
            .unwrap();
        let found = (
            found.value,
            found.value_decimals,
            &*found.tag1,
            &*found.tag2,
        );
        assert_eq!(found, expected);
        check_evidence(folder.path(), signal, &client);
        assert!(
            signal.cost.unwrap() <= signal.reserved.unwrap(),
            "{signal:?}"
        );
    }
    assert!(published(0)(&publisher.pass(now).await.unwrap()));
    assert!(solana.feedback(&agent, 5).await.is_none());

    keeps_a_budget_of_lamports(&solana, &store, &signals).await;
}

/// What one signal can cost is known before it is signed.
async fn keeps_a_budget_of_lamports(solana: &Solana, store: &Store, signals: &[Signal]) {
    let registry: Box<dyn concord_x402::feedback::FeedbackRegistry> =
        Box::new(solana.registry().await);
    let most = registry.cost(&signals[0].submission).await.unwrap();
    let budget = Budget {
        per_day: most,
        per_run: most,
    };
    let spent = store
        .spent_on_day(&format!("{NETWORK}:{}", solana.program.id()), SUNDAY + DAY)
        .unwrap();
    assert!(spent > most, "three more accounts than one");
    assert!(budget.require(most, spent, spent).is_err());
}
