use crate::search::oracle::{Fraction, Wanted};
use crate::worlds::database::database;
use crate::worlds::given::{self, AGENTS, Given, account, agent, all_given, fill};
use concord_index::{
    query::{AgentFilter, AgentOrder, AgentQuery, Bounds, FoundAgent, ReputationFilter},
    store::{Database, DeploymentId, Store},
};
use concord_registry::event::Profile;

fn store() -> (Store<Database>, [DeploymentId; 2]) {
    let mut store = Store::open(database()).unwrap();
    let ids = fill(&mut store);
    (store, ids)
}

fn filter(wanted: &Wanted) -> ReputationFilter {
    ReputationFilter {
        profile: wanted.profile,
        reviewers: wanted
            .clients
            .map(|clients| clients.iter().map(|it| account(*it)).collect()),
        tag: wanted.tag.to_owned(),
        tag1: wanted.tag1.to_owned(),
        tag2: wanted.tag2.to_owned(),
        has_feedback: true,
        min_count: None,
        max_count: None,
        average: Bounds::default(),
    }
}

/// All pages of a search.
fn search(store: &mut Store<Database>, query: &AgentQuery) -> Vec<FoundAgent> {
    let mut query = query.clone();
    let mut found = Vec::new();
    loop {
        let page = store.search_agents(&query).unwrap();
        assert!(page.rows.len() <= query.limit);
        assert!(page.rows.len() == query.limit || page.next.is_empty());
        found.extend(page.rows);
        if page.next.is_empty() {
            return found;
        }
        query.after = page.next;
    }
}

fn query(
    ids: [DeploymentId; 2],
    reputation: Option<&ReputationFilter>,
    order: AgentOrder,
    is_descending: bool,
    limit: usize,
) -> AgentQuery {
    let filter = AgentFilter {
        reputation: reputation.cloned(),
        ..AgentFilter::default()
    };
    AgentQuery {
        deployments: ids.map(|id| (id, filter.clone())).to_vec(),
        order,
        is_descending,
        after: vec![],
        limit,
    }
}

const SETS: [Option<&[u8]>; 3] = [None, Some(&[1, 2]), Some(&[5, 103, 77])];

fn all_wanted() -> Vec<Wanted> {
    let mut all = Vec::new();
    for profile in [Profile::Open, Profile::Authorized] {
        for clients in SETS {
            for (tag, tag1, tag2) in [
                ("", "", ""),
                ("", "starred", ""),
                ("", "", "uptime"),
                ("", "starred", "uptime"),
                ("starred", "", ""),
                ("starred", "", "uptime"),
                ("starred", "starred", ""),
                ("starred", "speed", "uptime"),
            ] {
                all.push(Wanted {
                    profile,
                    clients,
                    tag,
                    tag1,
                    tag2,
                });
            }
        }
    }
    all
}

/// Chain, agent, count and average of those that have feedback of the wanted kind.
fn rated(given: &[Vec<Given>; 2], wanted: &Wanted) -> Vec<(usize, u8, u64, Fraction)> {
    let mut rated = Vec::new();
    for (chain, given) in given.iter().enumerate() {
        for number in 1..=AGENTS {
            let of = wanted.of(given, number);
            if !of.is_empty() {
                rated.push((chain, number, of.len() as u64, Fraction::average(&of)));
            }
        }
    }
    rated
}

fn place(ids: [DeploymentId; 2], found: &FoundAgent) -> (usize, u8) {
    let chain = ids.iter().position(|id| *id == found.deployment).unwrap();
    let number = (1..=AGENTS).find(|it| agent(*it) == found.agent).unwrap();
    (chain, number)
}

#[test]
fn r47_agents_are_found_by_what_reviewers_say_and_sorted_by_it() {
    let (mut store, ids) = store();
    let given = [0, 1].map(all_given);
    let mut admitted = 0;
    for wanted in all_wanted() {
        for (min, max) in [(None, None), (Some("25"), None), (Some("10.5"), Some("40"))] {
            let mut reputation = filter(&wanted);
            reputation.min_count = Some(2);
            reputation.max_count = Some(30);
            reputation.average = Bounds {
                min: min.map(|it| it.parse().unwrap()),
                max: max.map(|it| it.parse().unwrap()),
            };
            let bound = |text: &str| match text {
                "25" => Fraction(25, 1),
                "10.5" => Fraction(21, 2),
                _ => Fraction(40, 1),
            };
            let mut expected = rated(&given, &wanted);
            expected.retain(|(_, _, count, average)| {
                (2..=30).contains(count)
                    && min.is_none_or(|it| *average >= bound(it))
                    && max.is_none_or(|it| *average <= bound(it))
            });
            for (is_descending, limit) in [(true, 50), (true, 1), (false, 3)] {
                let order = AgentOrder::Average;
                let query = query(ids, Some(&reputation), order, is_descending, limit);
                let found = search(&mut store, &query);
                let at = format!("{wanted:?} {min:?} {max:?} {is_descending} {limit}");
                let mut places: Vec<_> = found.iter().map(|it| place(ids, it)).collect();
                let of = |place: &(usize, u8)| {
                    let is = |it: &&(usize, u8, u64, Fraction)| (it.0, it.1) == *place;
                    expected.iter().find(is).map(|it| it.3)
                };
                let averages: Vec<Fraction> = places.iter().filter_map(of).collect();
                assert_eq!(averages.len(), places.len(), "{at}: too many");
                if is_descending {
                    assert!(averages.iter().rev().is_sorted(), "{at}")
                } else {
                    assert!(averages.is_sorted(), "{at}")
                }
                places.sort_unstable();
                let all: Vec<_> = expected.iter().map(|it| (it.0, it.1)).collect();
                assert_eq!(places, all, "{at}");
                admitted += all.len();
                for it in &found {
                    let (chain, number) = place(ids, it);
                    let count = wanted.of(&given[chain], number).len() as u64;
                    assert_eq!(it.sums.unwrap().all.count(), count, "{at}");
                }
            }
        }
    }
    assert!(admitted > 1_000, "{admitted}");
}

/// The order is not that in which they are added up.
#[test]
fn agents_with_the_feedback_are_sorted_by_time_across_pages() {
    let (mut store, ids) = store();
    let given = [0, 1].map(all_given);
    for wanted in all_wanted() {
        let reputation = filter(&wanted);
        let rated = rated(&given, &wanted);
        let mut expected: Vec<(usize, u8)> = rated.iter().map(|it| (it.0, it.1)).collect();
        expected.sort_unstable_by_key(|(chain, number)| (*number, *chain)); // blocks of both chains in turn
        for (is_descending, limit) in [(false, 1), (true, 1), (false, 3), (true, 100)] {
            let order = AgentOrder::Created;
            let query = query(ids, Some(&reputation), order, is_descending, limit);
            let found = search(&mut store, &query);
            let mut places: Vec<_> = found.iter().map(|it| place(ids, it)).collect();
            if is_descending {
                places.reverse();
            }
            assert_eq!(places, expected, "{wanted:?} {is_descending} {limit}");
        }
    }
}

#[test]
fn agents_without_the_feedback_are_the_other_ones() {
    let (mut store, ids) = store();
    let given = [0, 1].map(all_given);
    for wanted in all_wanted() {
        let reputation = ReputationFilter {
            has_feedback: false,
            ..filter(&wanted)
        };
        let query = query(ids, Some(&reputation), AgentOrder::Created, false, 5);
        let found = search(&mut store, &query);
        let rated: Vec<_> = rated(&given, &wanted)
            .iter()
            .map(|it| (it.0, it.1))
            .collect();
        let mut expected: Vec<(usize, u8)> = [0, 1]
            .into_iter()
            .flat_map(|chain| (1..=AGENTS).map(move |number| (chain, number)))
            .collect();
        expected.retain(|it| !rated.contains(it));
        assert!(expected.contains(&(0, AGENTS)));
        let mut places: Vec<_> = found.iter().map(|it| place(ids, it)).collect();
        places.sort_unstable();
        assert_eq!(places, expected, "{wanted:?}");
    }
}

#[test]
fn agents_of_both_chains_are_sorted_by_time_across_pages() {
    let (mut store, ids) = store();
    for limit in [1, 4, 24, 100] {
        let query = query(ids, None, AgentOrder::Created, true, limit);
        let found = search(&mut store, &query);
        // The second chain's blocks are 5 seconds after the first one's.
        let expected: Vec<(usize, u8)> = (1..=AGENTS)
            .rev()
            .flat_map(|number| [(1, number), (0, number)])
            .collect();
        let places: Vec<_> = found.iter().map(|it| place(ids, it)).collect();
        assert_eq!(places, expected, "{limit}");
    }
}

#[test]
fn agents_are_found_by_owner_wallet_time_and_id() {
    let (mut store, ids) = store();
    let mut only = |filter: AgentFilter| {
        let mut query = query(ids, None, AgentOrder::Created, false, 50);
        query.deployments = vec![(ids[0], filter)];
        let found = search(&mut store, &query);
        found.iter().map(|it| place(ids, it).1).collect::<Vec<_>>()
    };
    let none = AgentFilter::default;
    let owners = vec![account(104), account(102)];
    assert_eq!(only(AgentFilter { owners, ..none() }), [2, 4]);
    let wallets = vec![account(109)];
    assert_eq!(only(AgentFilter { wallets, ..none() }), [9]);
    let agents = vec![agent(7), agent(200), agent(3)];
    assert_eq!(only(AgentFilter { agents, ..none() }), [3, 7]);
    let created = (Some(1_700_000_050), Some(1_700_000_070)); // blocks 5 to 7
    assert_eq!(only(AgentFilter { created, ..none() }), [5, 6, 7]);
    let has_uri = Some(false);
    assert_eq!(only(AgentFilter { has_uri, ..none() }), [0u8; 0]);
    let metadata_key = Some("none".to_owned());
    assert_eq!(
        only(AgentFilter {
            metadata_key,
            ..none()
        }),
        [0u8; 0]
    );
    let is_incomplete = Some(true);
    assert_eq!(
        only(AgentFilter {
            is_incomplete,
            ..none()
        }),
        [0u8; 0]
    );
    let is_incomplete = Some(false);
    assert_eq!(
        only(AgentFilter {
            is_incomplete,
            ..none()
        })
        .len(),
        usize::from(given::AGENTS)
    );
}
