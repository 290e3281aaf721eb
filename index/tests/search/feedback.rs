use crate::worlds::asked::Noting;
use crate::worlds::database::database;
use crate::worlds::given::{Given, account, agent, all_given, batch, deployment, fill, open};
use concord_index::{
    query::{Bounds, FeedbackFilter, FeedbackQuery, FoundFeedback},
    store::{Database, DeploymentId, Store},
};
use concord_registry::event::Profile;
use std::collections::BTreeMap;

/// All pages of a search in both deployments.
fn search(
    store: &mut Store<Database>,
    ids: [DeploymentId; 2],
    filter: &FeedbackFilter,
    limit: usize,
) -> Vec<FoundFeedback> {
    let mut query = FeedbackQuery {
        deployments: ids.map(|id| (id, filter.clone())).to_vec(),
        after: vec![],
        limit,
    };
    let mut found = Vec::new();
    loop {
        let page = store.search_feedback(&query).unwrap();
        found.extend(page.rows);
        if page.next.is_empty() {
            return found;
        }
        query.after = page.next;
    }
}

type Admits = fn(&Given) -> bool;

fn cases() -> Vec<(FeedbackFilter, Admits)> {
    let none = FeedbackFilter::default;
    let texts = |tags: &[&str]| tags.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>();
    let mut cases: Vec<(FeedbackFilter, Admits)> = Vec::new();
    let mut case = |filter: FeedbackFilter, admits: Admits| cases.push((filter, admits));
    let agents = vec![agent(3), agent(1), agent(3)];
    let reviewers = vec![account(2), account(104)];
    case(none(), |it| !it.is_revoked);
    let all = FeedbackFilter {
        include_revoked: true,
        ..none()
    };
    case(all.clone(), |_| true);
    let about = FeedbackFilter {
        agents: agents.clone(),
        ..none()
    };
    case(about, |it| !it.is_revoked && [1, 3].contains(&it.agent));
    let by = FeedbackFilter {
        reviewers: reviewers.clone(),
        ..none()
    };
    case(by, |it| !it.is_revoked && [2, 104].contains(&it.client));
    let both = FeedbackFilter {
        agents,
        reviewers,
        ..all
    };
    case(both, |it| {
        [1, 3].contains(&it.agent) && [2, 104].contains(&it.client)
    });
    // R50: either tag, and among several any.
    let tagged = FeedbackFilter {
        tags: texts(&["starred", "speed"]),
        ..none()
    };
    case(tagged, |it| {
        let is = |tag: &str| tag == "starred" || tag == "speed";
        !it.is_revoked && (is(it.tag1) || is(it.tag2))
    });
    let pair = FeedbackFilter {
        tag1: "uptime".to_owned(),
        tag2: "speed".to_owned(),
        profile: Some(Profile::Open),
        ..none()
    };
    case(pair, |it| {
        !it.is_revoked && (it.profile, it.tag1, it.tag2) == (Profile::Open, "uptime", "speed")
    });
    let within = FeedbackFilter {
        value: Bounds {
            min: Some("-1.9".parse().unwrap()),
            max: Some("5".parse().unwrap()),
        },
        ..none()
    };
    case(within, |it| {
        let cents = it.value * 10i128.pow(2 - u32::from(it.decimals));
        !it.is_revoked && (-190..=500).contains(&cents)
    });
    let proven = FeedbackFilter {
        has_response: Some(true),
        is_paid: Some(true),
        ..none()
    };
    case(proven, |it| {
        !it.is_revoked && it.has_response && it.paid.is_some()
    });
    cases
}

#[test]
fn feedback_is_found_the_newest_first_across_chains_and_pages() {
    let mut store = Store::open(database()).unwrap();
    let ids = fill(&mut store);
    let mut given: Vec<Given> = [0, 1].into_iter().flat_map(all_given).collect();
    given.sort_by_key(|it| std::cmp::Reverse(it.at));
    for (number, (filter, admits)) in cases().into_iter().enumerate() {
        let name = |it: &Given| {
            (
                ids[it.chain],
                it.profile,
                agent(it.agent),
                account(it.client),
                it.index,
            )
        };
        let expected: Vec<_> = given.iter().filter(|it| admits(it)).map(name).collect();
        assert!(!expected.is_empty(), "case {number}");
        for limit in [1, 7, 1_000] {
            let found = search(&mut store, ids, &filter, limit);
            let found: Vec<_> = (found.iter())
                .map(|it| {
                    let key = it.key;
                    (it.deployment, key.profile, key.agent, key.client, key.index)
                })
                .collect();
            assert_eq!(found, expected, "case {number}, {limit} rows a page");
        }
    }
}

/// A page ends at a place: what has a later time and an earlier place must not be put before it.
#[test]
fn no_feedback_is_skipped_if_times_are_not_in_the_order_of_blocks() {
    let mut store = Store::open(database()).unwrap();
    let ids = [0, 1].map(|chain| store.claim(&deployment(chain)).unwrap());
    let times = [[100, 200, 300, 0, 500], [450, 10, 20, 480, 30]];
    for (chain, times) in times.into_iter().enumerate() {
        for (index, time) in (1..).zip(times) {
            let mut batch = batch(chain, index, vec![open(1, 1, index)]);
            batch.through.time = time;
            batch.headers[0].time = time;
            batch.events[0].time = time;
            store.commit(ids[chain], &batch, None, 64).unwrap();
        }
    }
    for limit in 1..=10 {
        let found = search(&mut store, ids, &FeedbackFilter::default(), limit);
        for id in ids {
            let of = found.iter().filter(|it| it.deployment == id);
            let of: Vec<u64> = of.map(|it| it.key.index).collect();
            assert_eq!(of, [5, 4, 3, 2, 1], "{limit} rows a page");
        }
    }
}

#[test]
fn of_each_agent_only_what_can_be_on_the_page_is_read() {
    const AGENTS: u8 = 50;
    const EACH: u64 = 10;
    let (noting, log) = Noting::of(database());
    let mut store = Store::open(noting).unwrap();
    let id = store.claim(&deployment(0)).unwrap();
    // Agent 1's feedback is the newest, and is read first.
    let given = (1..=AGENTS)
        .rev()
        .flat_map(|about| (1..=EACH).map(move |it| open(1, about, it)));
    let batch = batch(0, 1, given.collect());
    store.commit(id, &batch, None, 64).unwrap();
    let filter = FeedbackFilter {
        agents: (1..=AGENTS).map(agent).collect(),
        ..FeedbackFilter::default()
    };
    let query = FeedbackQuery {
        deployments: vec![(id, filter)],
        after: vec![],
        limit: 5,
    };
    log.begin();
    let page = store.search_feedback(&query).unwrap();
    let found: Vec<_> = page
        .rows
        .iter()
        .map(|it| (it.key.agent, it.key.index))
        .collect();
    assert_eq!(found, [10, 9, 8, 7, 6].map(|index| (agent(1), index)));
    let read = log.end();
    let of_feedback = read.iter().filter(|it| it.sql.contains("FROM feedback f"));
    assert_eq!(of_feedback.map(|it| it.rows).sum::<usize>(), 6); // the page, and whether there is another
}

#[test]
fn clients_that_are_wallets_are_agents() {
    let mut store = Store::open(database()).unwrap();
    let [id, _] = fill(&mut store);
    let asked = [account(103), account(1), account(112)];
    let found = store.agents_by_wallet(id, &asked, 99).unwrap();
    let expected = [
        (account(103), vec![agent(3)]),
        (account(112), vec![agent(12)]),
    ];
    assert_eq!(found, BTreeMap::from(expected));
}
