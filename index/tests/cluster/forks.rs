//! A fork wins while the index reads: at whichever request that happens, nothing of the two forks is mixed.
use crate::cluster::{
    ClusterIndexer, World, catch_up, chain, digest, indexer_of,
    node::Cluster,
    source,
    switching::{Change, Lost, Switching},
};
use crate::worlds::proxy::Between;
use concord_chain::{Blocking, svm};
use concord_index::{Progress, SyncError, source::svm::ReadAt};
use serde_json::{Value, json};
use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

/// More failures in a row than one change of forks makes.
const PATIENCE: usize = 20;

/// The client's last feedback, which the other fork lacks.
fn last_feedback(cluster: &Cluster, authority: &str) -> Lost {
    let listed = cluster.ask(
        "getSignaturesForAddress",
        json!([authority, { "commitment": "confirmed" }]),
    );
    let last: &Value = &listed[0];
    Lost {
        signature: last["signature"].as_str().unwrap().to_owned(),
        slot: last["slot"].as_u64().unwrap(),
    }
}

/// R45: the fork that loses lacks a transaction, and all its blocks from there on are others.
#[test]
fn r45_a_fork_that_wins_at_any_request_is_not_mixed_with_the_one_that_lost() {
    let mut world = chain();
    world.give(4, 1);
    world.cluster.advance(2);
    let program = world.program.id();
    let lost = last_feedback(&world.cluster, &world.program.event_authority().to_string());
    let through = |cluster: svm::Cluster, batch: usize| {
        let source = source(cluster, program, ReadAt::Confirmed).with_batches_of(batch);
        indexer_of(source, program, world.start)
    };
    let mut expected = through(world.cluster.rpc(), 256);
    catch_up(&mut expected);
    let expected = digest(&mut expected);
    for batch in [1, 256] {
        let mut requests = 0;
        loop {
            let node = Switching::new(&world.cluster.url(), lost.clone().answers(), requests);
            let endpoint = node.endpoint("switching");
            let mut indexer = through(svm::Cluster::at(endpoint), batch);
            let blocking = Blocking::new().unwrap();
            let (mut failures, mut has_grown) = (0, false);
            loop {
                let had_switched = node.has_switched();
                match blocking.wait(indexer.step()) {
                    Ok(Progress::Idle { .. }) if had_switched => break,
                    // everything was read from the fork that loses, and it goes on for a slot
                    Ok(Progress::Idle { .. }) if !has_grown => {
                        has_grown = true;
                        world.cluster.advance(1);
                    }
                    Ok(Progress::Idle { .. }) => node.switch(),
                    Ok(_) => (),
                    Err(SyncError::Source(error)) => {
                        assert!(error.is_passing(), "after {requests} requests: {error}");
                        failures += 1;
                        assert!(failures < PATIENCE, "after {requests} requests: {error}");
                    }
                    Err(error) => panic!("after {requests} requests: {error}"),
                }
            }
            let found = digest(&mut indexer);
            assert_eq!(
                (world.values(&mut indexer), found),
                (vec![500, 9_000, -77, 1], expected),
                "batches of {batch}: the fork won after {requests} requests"
            );
            if node.was_switched_by_the_test() {
                break;
            }
            requests += 1;
        }
        assert!(requests > 8, "batches of {batch}: {requests}");
    }
}

/// R45: most forks of Solana differ in that one leader's slots have no block. `jumped`: the node does not know the block, and
/// the chain has one.
fn skip(world: &mut World, jumped: bool) -> (ClusterIndexer, Vec<Result<Progress, SyncError>>) {
    world.give(4, 1);
    world.cluster.advance(2);
    let authority = world.program.event_authority().to_string();
    let other = last_feedback(&world.cluster, &authority).answers();
    let skipped = Arc::new(AtomicU64::new(u64::MAX)); // until then the first fork is the longest
    let change: Change = {
        let skipped = skipped.clone();
        Arc::new(move |method, params, result| {
            let skipped = skipped.load(Ordering::SeqCst);
            if skipped == u64::MAX {
                return;
            }
            other(method, params, result);
            match params[0].as_u64() {
                Some(slot) if method == "getBlock" && slot == skipped => *result = Value::Null,
                Some(slot) if method == "getBlock" && slot == skipped + 1 && !jumped => {
                    result["parentSlot"] = json!(skipped - 1);
                }
                _ => (),
            }
        })
    };
    let node = Switching::new(&world.cluster.url(), change, usize::MAX);
    let cluster = svm::Cluster::at(node.endpoint("skipping"));
    let program = world.program.id();
    let source = source(cluster, program, ReadAt::Confirmed);
    let mut indexer = indexer_of(source, program, world.start);
    catch_up(&mut indexer);
    assert_eq!(world.values(&mut indexer), [500, 9_000, -77, 1]);
    let id = indexer.deployment();
    let head = indexer.store().cursor(id).unwrap().unwrap().head.number;
    skipped.store(head, Ordering::SeqCst);
    world.cluster.advance(3);
    let blocking = Blocking::new().unwrap();
    let steps = (0..3).map(|_| blocking.wait(indexer.step())).collect();
    (indexer, steps)
}

#[test]
fn r45_a_fork_that_skips_the_newest_block_is_followed() {
    let mut world = chain();
    let (mut indexer, steps) = skip(&mut world, false);
    let steps: Vec<Progress> = steps.into_iter().map(Result::unwrap).collect();
    assert!(
        matches!(steps[0], Progress::Reorganised { .. }),
        "{steps:?}"
    );
    assert!(matches!(steps[2], Progress::Idle { .. }), "{steps:?}");
    digest(&mut indexer);
    assert_eq!(world.values(&mut indexer), [500, 9_000, -77]);
}

#[test]
fn a_node_that_does_not_know_a_block_takes_nothing_back() {
    let mut world = chain();
    let (mut indexer, steps) = skip(&mut world, true);
    for step in steps {
        let error = step.unwrap_err();
        assert!(error.is_passing(), "{error}");
        assert!(
            error.to_string().contains("the block is not there"),
            "{error}"
        );
    }
    assert_eq!(world.values(&mut indexer), [500, 9_000, -77, 1]);
}

/// R46: a node that dropped its first transactions lists the others as if they were all.
#[test]
fn r46_a_node_that_dropped_what_is_wanted_is_named() {
    let mut world = chain();
    world.cluster.ask("local_forget", json!([]));
    world.give(4, 1);
    world.cluster.advance(40);
    let program = world.program.id();
    let of = |start| {
        let source = source(world.cluster.rpc(), program, ReadAt::Finalized);
        indexer_of(source, program, start)
    };
    let blocking = Blocking::new().unwrap();
    let mut indexer = of(world.start);
    let error = blocking.wait(indexer.step()).unwrap_err();
    assert!(!error.is_passing(), "{error}");
    let words = format!("wanted from {}", world.start);
    assert!(error.to_string().contains(&words), "{error}");
    assert_eq!(world.values(&mut indexer), []);
    // Whoever says no start takes what there is.
    let mut indexer = of(0);
    blocking.wait(indexer.catch_up(|_| ())).unwrap();
    assert_eq!(world.values(&mut indexer), [1]);
}

/// The registry's events are in inner instructions: without them there would seem to be none.
#[test]
fn a_node_that_does_not_record_inner_instructions_is_named() {
    let world = chain();
    let program = world.program.id();
    let without: Change = Arc::new(|method, _, result| {
        if method == "getTransaction" {
            result["meta"]["innerInstructions"] = Value::Null;
        }
    });
    let node = Switching::new(&world.cluster.url(), without, usize::MAX);
    let cluster = svm::Cluster::at(node.endpoint("recording-nothing"));
    let source = source(cluster, program, ReadAt::Finalized);
    let mut indexer = indexer_of(source, program, world.start);
    let blocking = Blocking::new().unwrap();
    let error = blocking.wait(indexer.step()).unwrap_err().to_string();
    assert!(error.contains("recording-nothing"), "{error}");
    assert!(error.contains("without inner instructions"), "{error}");
    assert_eq!(world.values(&mut indexer), []);
}
