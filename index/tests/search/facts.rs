use crate::search::oracle::Wanted;
use crate::worlds::database::database;
use crate::worlds::given::{AGENTS, CLIENTS, account, agent, all_given, fill};
use concord_canonical::summary::{Feedback, Query, summarize};
use concord_index::{
    query::{Facts, Tags},
    store::Store,
};
use concord_registry::event::{AccountId, Profile};
use std::collections::BTreeMap;

const SETS: [Option<&[u8]>; 3] = [None, Some(&[1, 2, 2]), Some(&[77])];
const OTHER_SETS: [Option<&[u8]>; 2] = [None, Some(&[1, 4, 103])];
const TAGS: [(&str, &str, &str); 4] = [
    ("", "", ""),
    ("", "starred", ""),
    ("uptime", "", ""),
    ("uptime", "speed", ""),
];

fn accounts(clients: Option<&[u8]>) -> Option<Vec<AccountId>> {
    clients.map(|clients| clients.iter().map(|it| account(*it)).collect())
}

#[test]
fn r48_facts_are_what_the_named_reviewers_did() {
    let mut store = Store::open(database()).unwrap();
    let [id, _] = fill(&mut store);
    let given = all_given(0);
    let mut with_payments = 0;
    for profile in [Profile::Open, Profile::Authorized] {
        for clients in SETS {
            for (tag, tag1, tag2) in TAGS {
                for number in 1..=AGENTS {
                    let wanted = Wanted {
                        profile,
                        clients,
                        tag,
                        tag1,
                        tag2,
                    };
                    let of = wanted.of(&given, number);
                    let mut by_client: BTreeMap<u8, u64> = BTreeMap::new();
                    let mut paid: BTreeMap<AccountId, u128> = BTreeMap::new();
                    let mut payers: Vec<u8> = Vec::new();
                    for it in &of {
                        *by_client.entry(it.client).or_default() += 1;
                        if let Some((token, amount)) = it.paid {
                            *paid.entry(account(token)).or_default() += u128::from(amount);
                            payers.push(it.client);
                        }
                    }
                    payers.sort_unstable();
                    payers.dedup();
                    let expected = Facts {
                        feedback: of.len() as u64,
                        reviewers: by_client.len() as u64,
                        most_active: by_client.values().copied().max().unwrap_or(0),
                        payers: payers.len() as u64,
                        paid,
                        first_at: of.iter().map(|it| it.at).min(),
                        last_at: of.iter().map(|it| it.at).max(),
                    };
                    with_payments += u64::from(!payers.is_empty());
                    let tags = Tags {
                        either: tag,
                        tag1,
                        tag2,
                    };
                    let listed = accounts(clients);
                    let of = (profile, agent(number));
                    let facts = store.facts(id, of, listed.as_deref(), tags).unwrap();
                    assert_eq!(facts, expected, "{number} {wanted:?}");
                }
            }
        }
    }
    assert!(with_payments > 10, "{with_payments}");
}

/// R50, with the canonical crate's summary of the matching feedback as the oracle.
#[test]
fn r50_a_summary_of_either_tag_counts_feedback_once() {
    let mut store = Store::open(database()).unwrap();
    let [id, _] = fill(&mut store);
    let given = all_given(0);
    for clients in OTHER_SETS {
        for (tag, tag1, tag2) in TAGS {
            for number in 1..=AGENTS {
                let profile = Profile::Open;
                let wanted = Wanted {
                    profile,
                    clients,
                    tag,
                    tag1,
                    tag2,
                };
                // Of what the oracle admits, a summary without tags by all clients.
                let of = wanted.of(&given, number);
                let feedback = of.iter().map(|it| Feedback {
                    client: it.client,
                    value: it.value,
                    decimals: it.decimals,
                    tag1: it.tag1,
                    tag2: it.tag2,
                    is_revoked: false,
                });
                let feedback: Vec<Feedback<'_, u8>> = feedback.collect();
                let query = Query {
                    clients: &CLIENTS,
                    tag1: "",
                    tag2: "",
                };
                let expected = summarize(&feedback, &query).unwrap();
                let tags = Tags {
                    either: tag,
                    tag1,
                    tag2,
                };
                let listed = accounts(clients);
                let found = store.open_summary(id, agent(number), listed.as_deref(), tags);
                assert_eq!(found.unwrap().summary, expected, "{number} {wanted:?}");
            }
        }
    }
}
