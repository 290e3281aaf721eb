//! R59 with two processes of the aggregator on one database: what the reviewer signs several times for the same index is
//! signed by one of them, once.
use crate::{
    instances::{address_of, open},
    sponsored::{SPONSOR, address, feedbacks, pay, post, registration_file, review, sign, start},
    sponsored_killed::{PASS, Process, Proxy, configure, serve},
};
use concord_aggregator::store::{SponsoredState, Store};
use concord_chain::{Signer, Svm};
use concord_testkit::cluster::Solana;
use concord_testkit::postgres::{Server, create};
use serde_json::{Value, json};
use std::{
    collections::BTreeMap,
    sync::{Arc, atomic::AtomicU8},
    time::Duration,
};
use tokio::task::JoinSet;

/// Payments of one reviewer, all of which want the next index at the same time.
const PAYMENTS: usize = 5;

/// What the reviewer has signed, for one process.
struct Signed {
    url: String,
    body: Value,
    index: String,
}

/// Prepares a payment at one of the processes; `None` if its transaction is under way or final.
async fn prepared(process: &Process, payload: &Value) -> Option<Signed> {
    let url = format!("{}/sponsored/prepare", process.origin);
    let (status, body) = post(&url, payload).await;
    if body["status"] != "prepared" {
        assert!([200, 202].contains(&status), "{body}");
        return None;
    }
    let transaction = sign(&body["transaction"], crate::sponsored::REVIEWER).await;
    Some(Signed {
        url: format!("{}/sponsored/submit", process.origin),
        body: json!({ "id": body["id"], "transaction": transaction }),
        index: body["feedbackIndex"].as_str().unwrap().to_owned(),
    })
}

/// Posts all at once. How many of each index were taken.
async fn submit(all: Vec<Signed>) -> BTreeMap<String, usize> {
    let mut posts = JoinSet::new();
    for signed in all {
        posts.spawn(async move {
            let (status, body) = post(&signed.url, &signed.body).await;
            (signed.index, status, body)
        });
    }
    let mut taken = BTreeMap::new();
    for (index, status, body) in posts.join_all().await {
        match status {
            200 | 202 => *taken.entry(index).or_default() += 1,
            410 => assert_eq!(body["code"], "TRANSACTION_EXPIRED", "{body}"),
            other => panic!("{other}: {body}"),
        }
    }
    taken
}

/// Those that the sponsor signed and that may land or have landed, by index.
fn signed_by_index(store: &Store) -> BTreeMap<u64, usize> {
    let mut signed = BTreeMap::new();
    for id in store.sponsored_signed().unwrap() {
        let row = store.sponsored(id).unwrap().unwrap();
        assert!(row.transaction.is_some());
        if row.state != SponsoredState::Expired {
            *signed.entry(row.index).or_default() += 1;
        }
    }
    signed
}

fn finals(store: &Store) -> usize {
    let counts = store.sponsored_counts().unwrap();
    let of = |it: &&(SponsoredState, u64)| it.0 == SponsoredState::Final;
    counts.iter().find(of).map_or(0, |it| it.1 as usize)
}

async fn start_two(solana: &Solana, store: &str) -> [(tempfile::TempDir, Process); 2] {
    let rpc = serve(Proxy {
        cluster: solana.url.clone(),
        mode: Arc::new(AtomicU8::new(PASS)),
        file: registration_file(solana),
    })
    .await;
    let owner = Signer::<Svm>::address(&solana.owner);
    let uri = format!("{rpc}/agent.json");
    let set_uri = solana.program.set_agent_uri(owner, solana.mint, &uri);
    solana.send(vec![set_uri], &[&solana.owner]).await;
    [(); 2].map(|()| {
        let folder = tempfile::tempdir().unwrap();
        configure(solana, &rpc, folder.path(), store);
        let process = Process::start(folder.path());
        (folder, process)
    })
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r59_two_instances_sign_one_transaction_for_each_index() {
    let server = Server::start();
    let location = create(&server.address(), "template1");
    let solana = start().await;
    let store = address_of(&server, &location);
    let processes = start_two(&solana, &store).await;
    let mut payloads = Vec::new();
    for _ in 0..PAYMENTS {
        payloads.push(review(&solana, &pay(&solana).await).json());
    }
    let watching = open(&location);
    let mut had_rivals = false;
    loop {
        let mut all = Vec::new();
        for (payload, turn) in payloads.iter().zip(0usize..) {
            let (_, process) = &processes[turn % 2];
            all.extend(prepared(process, payload).await);
        }
        if all.is_empty() {
            // what has expired meanwhile is prepared again
            if feedbacks(&solana).await == PAYMENTS as u64 && finals(&watching) == PAYMENTS {
                break;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
            continue;
        }
        let is_rival = |it: &Signed| it.index == all[0].index && it.url != all[0].url;
        had_rivals |= all.iter().any(is_rival);
        for (index, count) in submit(all).await {
            assert_eq!(count, 1, "index {index} was taken more than once");
        }
        for (index, count) in signed_by_index(&watching) {
            assert_eq!(count, 1, "index {index} was signed more than once");
        }
    }
    assert!(
        had_rivals,
        "both processes had a transaction for the same index"
    );
    let indices: Vec<u64> = signed_by_index(&watching).into_keys().collect();
    assert_eq!(indices, (1..=PAYMENTS as u64).collect::<Vec<_>>());

    // whatever failed would have cost a fee beyond what landed
    let rows = watching.sponsored_signed().unwrap().into_iter();
    let landings = rows.filter_map(|id| watching.sponsored(id).unwrap().unwrap().landing);
    let costs: u128 = landings.map(|it| it.cost.0).sum();
    let left = solana.cluster.balance(&address(SPONSOR)).await.unwrap();
    assert_eq!(u128::from(1_000_000_000 - left), costs);
    for (_, process) in processes {
        process.kill();
    }
}
