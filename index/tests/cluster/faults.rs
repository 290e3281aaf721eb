//! A node that lies: the index waits or asks again, and never stores what is not so.
use crate::cluster::{
    ClusterIndexer, World, catch_up, chain, digest,
    faulty::{Fault, Faulty},
    indexer, indexer_of, source,
};
use crate::worlds::proxy::Between;
use concord_chain::{Blocking, svm};
use concord_index::{Progress, SyncError, source::svm::ReadAt};
use serde_json::json;
use std::time::Duration;

/// More failures in a row than any fault makes.
const PATIENCE: usize = 500;

/// An index that reads through a node, few transactions at a time.
fn through(world: &World, node: &Faulty) -> ClusterIndexer {
    let cluster = svm::Cluster::at(node.endpoint("faulty"));
    let program = world.program.id();
    let source = source(cluster, program, ReadAt::Confirmed).with_batches_of(3);
    indexer_of(source, program, world.start)
}

/// The digest of an index that sees nothing but the cluster as it is.
fn expected(world: &World) -> [u8; 32] {
    let program = world.program.id();
    let mut fresh = indexer(&world.cluster, program, world.start, ReadAt::Confirmed);
    catch_up(&mut fresh);
    digest(&mut fresh)
}

/// Steps until the cluster's newest block is indexed, then compares.
fn follow(world: &World, blocking: &Blocking, indexer: &mut ClusterIndexer, fault: Fault) {
    let newest = world.cluster.slot() - 1; // the newest one is not confirmed
    let mut last = String::new();
    for _ in 0..PATIENCE {
        match blocking.wait(indexer.step()) {
            Ok(Progress::Idle { head }) if head == newest => {
                assert_eq!(digest(indexer), expected(world), "{fault:?}");
                return;
            }
            Ok(_) => (),
            Err(SyncError::Source(error)) => {
                assert!(error.is_passing(), "{fault:?}: {error}");
                last = error.to_string();
            }
            Err(error) => panic!("{fault:?}: {error}"),
        }
    }
    panic!("{fault:?}: slot {newest} is never indexed; {last}");
}

#[test]
fn through_a_faulty_node_the_tables_are_those_of_the_cluster() {
    let mut world = chain();
    let mut next = world.act(4, 9);
    for fault in Fault::ALL {
        let node = Faulty::new(&world.cluster.url(), fault);
        let blocking = Blocking::new().unwrap();
        let mut indexer = through(&world, &node);
        follow(&world, &blocking, &mut indexer, fault);
        next = world.act(next, 5);
        follow(&world, &blocking, &mut indexer, fault);
        world.cluster.ask("local_checkpoint", json!([]));
        world.cluster.advance(1);
        world.act(next, 3);
        follow(&world, &blocking, &mut indexer, fault);
        world.cluster.ask("local_rollback", json!([]));
        next = world.act(next, 2);
        follow(&world, &blocking, &mut indexer, fault);
        assert!(node.faults() > 3, "{fault:?}: {}", node.faults());
    }
}

/// IDX-54: of a transaction that is alone in its slot, the block need not be read.
#[test]
fn a_signature_that_is_listed_twice_is_one() {
    let mut world = chain();
    world.act(4, 7);
    let [whole, doubled] = [Fault::None, Fault::Doubled].map(|fault| {
        let node = Faulty::new(&world.cluster.url(), fault);
        let mut indexer = through(&world, &node);
        let steps = catch_up(&mut indexer).len();
        (steps, node.orders_asked(), digest(&mut indexer))
    });
    assert_eq!(whole, doubled);
    assert!(whole.1 > 0, "{whole:?}");
}

#[test]
fn a_node_that_gives_a_page_twice_is_named() {
    let world = chain();
    let node = Faulty::new(&world.cluster.url(), Fault::Repeating);
    let mut indexer = through(&world, &node);
    let limit = Duration::from_secs(60);
    let stepped = async { tokio::time::timeout(limit, indexer.step()).await };
    let error = Blocking::new().unwrap().wait(stepped).unwrap().unwrap_err();
    let SyncError::Source(error) = error else {
        panic!("{error}");
    };
    assert!(error.is_passing(), "another node may not");
    let words = error.to_string();
    assert!(words.contains("faulty"), "{words}");
    assert!(
        words.contains("a page of signatures was given twice"),
        "{words}"
    );
    assert!(node.faults() > 0);
    assert_eq!(world.values(&mut indexer), []);
}
