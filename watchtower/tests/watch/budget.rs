//! What is spent stays within the budgets, whatever is due.
use crate::world::{DAY, MONDAY, World, file, files, settings};
use concord_chain::{Amount, submission::TxRecord as _};
use concord_watchtower::{
    Budget, Sample, Settings, StoreRecord, WindowKind, signals_of_ended_windows,
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

    let first = store.signal(1).unwrap().unwrap();
    let generous = world
        .publisher(folder.path(), store, crate::world::GENEROUS)
        .await;
    let cost = generous.cost(&first.submission).await.unwrap();
    // three signals a run, and as much a day as four cost at most
    let budget = Budget {
        per_day: Amount(cost.0 * 4),
        per_run: Amount(cost.0 * 3),
    };
    let mut publisher = world.publisher(folder.path(), store, budget).await;
    let (mut published, mut time, mut days) = (0, now, 0);
    while published < 10 {
        let before = world.balance().await;
        let mut today = 0;
        for _ in 0..4 {
            let at_first = world.balance().await;
            let report = publisher.pass(time).await.unwrap();
            let spent = at_first - world.balance().await;
            assert_eq!(spent, report.spent.0, "to the wei");
            assert!(spent <= budget.per_run.0, "{report:?}");
            assert_eq!((report.late, report.refused), (0, 0));
            published += report.published;
            today += report.published;
            assert_eq!(
                report.published + report.over_budget + published - report.published,
                10
            );
        }
        assert!(today > 0, "a day's budget suffices for one");
        let spent = before - world.balance().await;
        assert!(spent <= budget.per_day.0, "{spent}");
        let known = store.spent_on_day(&publisher.registry_key(), time).unwrap();
        assert_eq!(known.0, spent);
        (time, days) = (time + DAY, days + 1);
    }
    assert!(days > 1, "the budget was never reached");
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
