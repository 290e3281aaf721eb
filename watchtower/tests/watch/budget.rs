//! What is spent stays within the budgets, whatever is due.
use crate::world::{DAY, GENEROUS, MONDAY, World, file, files, network, node, place, settings};
use async_trait::async_trait;
use concord_chain::{
    Amount, ChainError,
    evm::{FeeLimit, Fees, gwei},
    submission::{SignedTx, TxRecord},
};
use concord_testkit::hooked_registry::{Hooked, Hooks};
use concord_watchtower::{
    Budget, PassReport, Publisher, Sample, Settings, SignalState, StoreRecord, Tag, WindowKind,
    signals_of_ended_windows,
};
use concord_x402::feedback::{FeedbackError, FeedbackJob, FeedbackRegistry};
use std::sync::Arc;

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

/// Each submission is mined and reverted, and costs as much.
struct Reverts(Amount);

#[async_trait]
impl Hooks for Reverts {
    async fn submit(
        &mut self,
        _registry: &mut dyn FeedbackRegistry,
        job: FeedbackJob<'_>,
        record: &mut (dyn TxRecord + Sync),
    ) -> Result<(), FeedbackError> {
        let count = record.transactions(job.id).len();
        let signed = SignedTx {
            transaction: format!("0x{count:064x}"),
            raw: "0x".to_owned(),
            valid_until: None,
            signed_at: None,
            sent: true,
            failure_cost: None,
        };
        record.signed(&[(job.id, signed.clone())])?;
        let failed = SignedTx {
            failure_cost: Some(self.0),
            ..signed
        };
        record.failed(&[(job.id, failed)])?;
        let (job, reason) = (job.id.to_owned(), "reverted".to_owned());
        Err(ChainError::TransactionFailed { job, reason }.into())
    }
}

/// What reverts in a block costs its fee each time.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_reverted_transaction_is_repeated_within_the_budget_and_not_for_ever() {
    let world = World::start().await;
    let url = "https://agent.example/";
    let agent = world.register(world.owner, &file(&[("web", url)])).await;
    let folder = tempfile::tempdir().unwrap();
    let settings = Settings {
        windows: vec![WindowKind::Day],
        tags: vec![Tag::Uptime],
        ..settings()
    };
    let watched = world
        .watch(folder.path(), settings, vec![agent.clone()])
        .await;
    let store = &watched.store;
    store
        .keep(&agent.key(), &[(url.to_owned(), sample(MONDAY))])
        .unwrap();
    let (accounts, evidence) = (world.accounts(), files(folder.path()));
    let (agents, now) = (&watched.agents, MONDAY + DAY + 3_600);
    let settings = &watched.settings;
    signals_of_ended_windows(store, settings, agents, &accounts, &evidence, now).unwrap();

    let (identity, open) = (world.identity, world.open);
    let registry = place(&world.url, identity, open, &world.watchtower, "20").await;
    let submission = store.signal(1).unwrap().unwrap().submission;
    let most = registry.cost(&submission).await.unwrap();
    let hooked = Box::new(Hooked {
        registry: Box::new(registry),
        hooks: Reverts(most),
    });
    let budget = Budget {
        per_day: Amount(most.0 + most.0 / 2), // for one a day
        ..GENEROUS
    };
    let (chains, evidence) = (Arc::new(world.chains().await), Arc::new(evidence));
    let own = world.own();
    let mut publisher = Publisher::new(hooked, budget, own, chains, evidence, store.clone());
    for (at, outcome, count, reverts) in [
        (now, (1, 0, 0), 1, 1),
        (now + 3_600, (0, 1, 0), 1, 1),
        (now + DAY, (1, 0, 0), 2, 2),
        (now + 2 * DAY, (0, 0, 1), 3, 2),
        (now + 3 * DAY, (0, 0, 0), 3, 2),
    ] {
        let report = publisher.pass(at).await.unwrap();
        let found = (report.late, report.over_budget, report.refused);
        assert_eq!(found, outcome, "{report:?}");
        let signal = store.signal(1).unwrap().unwrap();
        let record = store.record(&signal).unwrap();
        let signed = record.transactions(&StoreRecord::job_id(1)).len();
        assert_eq!((signed, signal.reverts), (count, reverts), "{signal:?}");
        assert_eq!(record.cost().0, most.0 * count as u128);
        assert!(signal.reserved.unwrap() >= record.cost(), "{signal:?}");
    }
    let signal = store.signal(1).unwrap().unwrap();
    assert_eq!(signal.state, SignalState::Refused);
}

/// After the account's key was replaced.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r60_a_signal_is_published_by_the_account_that_its_file_names() {
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
    let (mut accounts, evidence) = (world.accounts(), files(folder.path()));
    let before = format!("{}:{}", network(), world.owner);
    for account in accounts.values_mut() {
        account.clone_from(&before);
    }
    let (agents, now) = (&watched.agents, MONDAY + DAY + 3_600);
    let settings = &watched.settings;
    signals_of_ended_windows(store, settings, agents, &accounts, &evidence, now).unwrap();

    let mut publisher = world.publisher(folder.path(), store, GENEROUS).await;
    let report = publisher.pass(now).await.unwrap();
    let found = (report.published, report.late, report.refused);
    assert_eq!(found, (0, 5, 0), "{report:?}");
    assert_eq!(world.feedbacks(&agent).await, 0);
    let reason = format!(
        "the signal was prepared for the account {before}, and the account is {} now",
        world.client()
    );
    for signal in store.signals().unwrap() {
        assert_eq!(signal.reason.as_ref(), Some(&reason));
        assert_eq!((signal.reserved, signal.reverts), (None, 0));
    }
}
