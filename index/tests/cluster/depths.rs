//! Forks that lose, of every depth, also beyond what was final, and one during another.
use crate::cluster::{ClusterIndexer, World, catch_up, chain, digest, indexer};
use concord_chain::Blocking;
use concord_index::{Progress, source::svm::ReadAt, store::Reorganizations};
use serde_json::json;

fn following(world: &World) -> ClusterIndexer {
    let program = world.program.id();
    indexer(&world.cluster, program, world.start, ReadAt::Confirmed)
}

fn expected(world: &World) -> [u8; 32] {
    let mut fresh = following(world);
    catch_up(&mut fresh);
    digest(&mut fresh)
}

fn reorganizations(indexer: &mut ClusterIndexer) -> Reorganizations {
    let id = indexer.deployment();
    indexer.store().reorganizations(id, 1).unwrap()
}

/// So many slots pass, some of them with feedback. Returns the next index.
fn pass(world: &mut World, mut next: u64, slots: u64) -> u64 {
    for slot in 0..slots {
        world.cluster.advance(1); // what the present one has, a checkpoint has with its hash
        if slot % 7 == 0 {
            world.give(next, i128::from(next) * 11 - 40);
            next += 1;
        }
    }
    next
}

#[test]
fn a_fork_that_loses_after_a_few_slots_is_taken_back() {
    take_back(1..=14);
}

/// Of the local cluster's blocks, those before the last 32 are final.
#[test]
fn a_fork_that_loses_although_it_was_final_is_taken_back() {
    take_back([20, 31, 32, 33, 34, 48, 64]);
}

/// The local cluster keeps 512 blocks, of which a fresh index reads all.
fn take_back(depths: impl IntoIterator<Item = u64>) {
    let mut world = chain();
    let mut indexer = following(&world);
    catch_up(&mut indexer);
    let mut next = 4;
    for depth in depths {
        world.cluster.ask("local_checkpoint", json!([]));
        pass(&mut world, next, depth);
        world.cluster.advance(1); // so that the last of them is confirmed
        // Some of the depths are reached from a store that is behind, some from one that is not.
        let is_behind = depth % 3 == 0;
        if !is_behind {
            catch_up(&mut indexer);
        }
        let noted = reorganizations(&mut indexer);
        world.cluster.ask("local_rollback", json!([]));
        world.cluster.advance(1);
        catch_up(&mut indexer);
        if !is_behind {
            let now = reorganizations(&mut indexer);
            assert!(now.count > noted.count, "depth {depth}");
            assert!(now.newest[0].events > 0, "depth {depth}");
        }
        assert_eq!(digest(&mut indexer), expected(&world), "depth {depth}");
        next = pass(&mut world, next, 3);
    }
}

#[test]
fn a_fork_that_loses_while_another_is_taken_back_is_taken_back_too() {
    let mut world = chain();
    let mut indexer = following(&world);
    let blocking = Blocking::new().unwrap(); // one for all requests of a connection: it drives them
    let catch_up = |indexer: &mut ClusterIndexer| {
        blocking.wait(indexer.catch_up(|_| ())).unwrap();
    };
    catch_up(&mut indexer);
    let mut next = 4;
    for (first, second) in [(1, 1), (3, 5), (5, 3), (20, 40), (40, 20)] {
        world.cluster.ask("local_checkpoint", json!([]));
        pass(&mut world, next, first);
        world.cluster.advance(1);
        catch_up(&mut indexer);
        world.cluster.ask("local_rollback", json!([]));
        world.cluster.ask("local_checkpoint", json!([]));
        let lost = pass(&mut world, next, second);
        assert!(lost > next);
        world.cluster.advance(1);
        let progress = blocking.wait(indexer.step()).unwrap();
        let is_reorganised = matches!(progress, Progress::Reorganised { .. });
        assert!(is_reorganised, "{first}, then {second}: {progress:?}");
        // Of the second fork one batch is taken in, or nothing yet.
        if first > second {
            blocking.wait(indexer.step()).unwrap();
        }
        world.cluster.ask("local_rollback", json!([]));
        next = pass(&mut world, next, 2);
        world.cluster.advance(1);
        catch_up(&mut indexer);
        assert_eq!(
            digest(&mut indexer),
            expected(&world),
            "{first}, then {second}"
        );
    }
}
