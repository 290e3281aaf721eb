//! A fork wins while the index reads: at whichever request that happens, nothing of the two forks is mixed.
use crate::{
    catch_up, chain,
    cluster::Cluster,
    digest, indexer_of, source,
    switching::{Change, Lost, Switching},
};
use concord_chain::{Blocking, Endpoint, svm};
use concord_index::{Progress, SyncError, source::svm::ReadAt};
use serde_json::{Value, json};
use std::sync::Arc;

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
            let endpoint = Endpoint::over(node.clone(), "switching");
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
    let cluster = svm::Cluster::at(Endpoint::over(node, "recording-nothing"));
    let source = source(cluster, program, ReadAt::Finalized);
    let mut indexer = indexer_of(source, program, world.start);
    let blocking = Blocking::new().unwrap();
    let error = blocking.wait(indexer.step()).unwrap_err().to_string();
    assert!(error.contains("recording-nothing"), "{error}");
    assert!(error.contains("without inner instructions"), "{error}");
    assert_eq!(world.values(&mut indexer), []);
}
