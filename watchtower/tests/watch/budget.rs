//! What is spent stays within the budgets, whatever is due.
use crate::world::{DAY, GENEROUS, MONDAY, World, file, files, node, settings};
use concord_chain::{
    Amount,
    evm::{FeeLimit, Fees, gwei},
    submission::TxRecord as _,
};
use concord_watchtower::{
    Budget, PassReport, Publisher, Sample, Settings, StoreRecord, WindowKind,
    signals_of_ended_windows,
};

fn sample(at: u64) -> Sample {
    Sample {
        at,
        kind: "http".to_owned(),
        answered: true,
        succeeded: Some(true),
        millis: 7,
        owned: Some(true),
        finding: "as promised".to_owned(),
    }
}

/// So that what a signal costs is near the most that it can cost.
async fn a_quarter_above_current_fees(world: &World) -> String {
    let fees = Fees::current(&node(&world.url), FeeLimit::default())
        .await
        .unwrap();
    let current = (fees.max - fees.priority) / 2 + fees.priority;
    gwei(current + current / 4)
}

/// A pass that spends what it says, to the wei.
async fn spend(world: &World, publisher: &mut Publisher, now: u64) -> PassReport {
    let before = world.balance().await;
    let report = publisher.pass(now).await.unwrap();
    assert_eq!(before - world.balance().await, report.spent.0);
    assert_eq!((report.late, report.refused), (0, 0), "{report:?}");
    report
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_budget_is_kept_day_by_day_and_run_by_run() {
    let world = World::start().await;
    let url = "https://agent.example/";
    let agent = world.register(world.owner, &file(&[("web", url)])).await;
    let folder = tempfile::tempdir().unwrap();
    let settings = Settings {
        windows: vec![WindowKind::Day],
        ..settings()
    };
    let watched = world
        .watch(folder.path(), settings, vec![agent.clone()])
        .await;
    let store = &watched.store;
    let samples = [0, 1].map(|day| (url.to_owned(), sample(MONDAY + day * DAY)));
    store.keep(&agent.key(), &samples).unwrap();
    let now = MONDAY + 2 * DAY + 3_600;
    let (accounts, files) = (world.accounts(), files(folder.path()));
    let intended = signals_of_ended_windows(
        store,
        &watched.settings,
        &watched.agents,
        &accounts,
        &files,
        now,
    );
    assert_eq!(intended.unwrap(), 10);

    let limit = a_quarter_above_current_fees(&world).await;
    let publisher = async |budget| {
        let folder = folder.path();
        world.publisher_below(&limit, folder, store, budget).await
    };
    let most = async |publisher: &Publisher, n| {
        let signal = store.signal(n).unwrap().unwrap();
        publisher.cost(&signal.submission).await.unwrap()
    };
    let per_day = most(&publisher(GENEROUS).await, 1).await;
    let budget = Budget {
        per_day,
        ..GENEROUS
    };
    let mut daily = publisher(budget).await;
    let today = spend(&world, &mut daily, now).await;
    assert!(today.spent <= per_day && today.over_budget > 0, "{today:?}");
    let again = spend(&world, &mut daily, now + 60).await;
    assert_eq!((again.published, again.over_budget), (0, today.over_budget));
    let known = store.spent_on_day(&daily.registry_key(), now).unwrap();
    assert_eq!(known, today.spent);
    let tomorrow = spend(&world, &mut daily, now + DAY).await;
    assert!(
        tomorrow.published > 0 && tomorrow.spent <= per_day,
        "{tomorrow:?}"
    );

    let mut left = tomorrow.over_budget;
    assert!(left > 1, "there is nothing to spend a run's budget on");
    let per_run = most(&daily, 10).await;
    let budget = Budget {
        per_run,
        ..GENEROUS
    };
    let mut hasty = publisher(budget).await;
    let mut runs = 0;
    while left > 0 {
        let run = spend(&world, &mut hasty, now + DAY).await;
        assert!(run.published > 0 && run.spent <= per_run, "{run:?}");
        assert_eq!(run.over_budget, left - run.published);
        (left, runs) = (run.over_budget, runs + 1);
    }
    assert!(runs > 1, "the budget was never reached");
    assert_eq!(world.feedbacks(&agent).await, 10);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_a_budget_nothing_is_signed() {
    let world = World::start().await;
    let url = "https://agent.example/";
    let agent = world.register(world.owner, &file(&[("web", url)])).await;
    let folder = tempfile::tempdir().unwrap();
    let watched = world
        .watch(folder.path(), settings(), vec![agent.clone()])
        .await;
    let store = &watched.store;
    store
        .keep(&agent.key(), &[(url.to_owned(), sample(MONDAY))])
        .unwrap();
    let (accounts, files, now) = (world.accounts(), files(folder.path()), MONDAY + DAY + 3_600);
    let agents = &watched.agents;
    signals_of_ended_windows(store, &watched.settings, agents, &accounts, &files, now).unwrap();
    let none = Budget {
        per_day: Amount(1),
        per_run: Amount(u128::MAX),
    };
    let mut publisher = world.publisher(folder.path(), store, none).await;
    let before = world.balance().await;
    let report = publisher.pass(now).await.unwrap();
    assert_eq!((report.published, report.over_budget), (0, 5));
    assert_eq!(
        (world.balance().await, world.feedbacks(&agent).await),
        (before, 0)
    );
    for signal in store.signals().unwrap() {
        let record = store.record(&signal).unwrap();
        assert!(
            record
                .transactions(&StoreRecord::job_id(signal.n))
                .is_empty()
        );
        assert_eq!(signal.reserved, None);
    }
    let first = store.signal(1).unwrap().unwrap();
    let reason = first.reason.unwrap();
    assert!(
        reason.starts_with("the day budget of 1 has 1 left"),
        "{reason}"
    );
}
