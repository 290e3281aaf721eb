//! Reorganisations of every depth, of one during another, and of too great a depth.
use crate::reorg::chain::{AnvilIndexer, Chain, digest};
use concord_index::{Options, Progress, SyncError, store::Reorganizations};
use serde_json::json;

/// Of anvil's blocks, those before the last 64 are final.
const UNFINAL: u64 = 64;

#[test]
fn a_reorganisation_of_any_depth_comes_to_the_chain_s_tables() {
    let mut chain = Chain::start();
    let mut indexer = chain.sound(Options::default());
    chain.act(UNFINAL + 6);
    for depth in 1..=UNFINAL {
        // Some of the depths are reached from a store that is behind, some from one that is not.
        if depth % 3 > 0 {
            chain.catch_up(&mut indexer);
        }
        let before = chain.log_count();
        chain.reorganise(depth);
        let taken_back = before - chain.log_count();
        assert!(taken_back > 0, "{depth}: nothing was taken back");
        let noted = reorganizations(&mut indexer);
        chain.catch_up(&mut indexer);
        if depth % 3 > 0 {
            let now = reorganizations(&mut indexer);
            assert_eq!(now.count, noted.count + 1);
            // Empty blocks that anvil makes again upon the same parent are the blocks that they were.
            let last = now.newest[0];
            assert!((1..=depth).contains(&last.depth()), "{last:?}");
            assert_eq!(now.deepest, noted.deepest.max(last.depth()));
            assert_eq!(last.events, taken_back as u64);
        }
        assert_eq!(digest(&mut indexer), chain.expected(), "depth {depth}");
        if depth % 8 == 0 {
            chain.compare_summaries(&mut indexer);
        }
        chain.act(depth.min(4) + depth / 3);
    }
}

fn reorganizations(indexer: &mut AnvilIndexer) -> Reorganizations {
    let id = indexer.deployment();
    indexer.store().reorganizations(id, 1).unwrap()
}

#[test]
fn a_reorganisation_during_another_comes_to_the_chain_s_tables() {
    let mut chain = Chain::start();
    let mut indexer = chain.sound(Options::default());
    chain.act(60);
    chain.catch_up(&mut indexer);
    for (first, second) in [(5, 3), (3, 9), (20, 40), (1, 1)] {
        chain.reorganise(first);
        chain.act(2);
        let progress = chain.blocking.wait(indexer.step()).unwrap();
        // Anvil's new blocks follow the fork: the two that were added come after them.
        assert!(
            matches!(progress, Progress::Reorganised { depth, .. } if depth == first),
            "{progress:?}"
        );
        chain.reorganise(second);
        chain.act(3);
        chain.catch_up(&mut indexer);
        assert_eq!(
            digest(&mut indexer),
            chain.expected(),
            "{first}, then {second}"
        );
        chain.compare_summaries(&mut indexer);
    }
}

#[test]
fn a_reorganisation_deeper_than_headers_are_kept_is_an_error_and_changes_nothing() {
    let mut chain = Chain::start();
    let options = Options {
        kept_headers: 10,
        ..Options::default()
    };
    let mut indexer = chain.sound(options);
    chain.act(UNFINAL);
    let snapshot = chain.ask("evm_snapshot", json!([]));
    // What is not final is kept all the same.
    chain.act(UNFINAL + 1);
    chain.catch_up(&mut indexer);
    let deployment = indexer.deployment();
    let (before, cursor) = (
        digest(&mut indexer),
        indexer.store().cursor(deployment).unwrap(),
    );
    chain.ask("evm_revert", json!([snapshot]));
    chain.act(UNFINAL + 2);
    let error = chain.blocking.wait(indexer.step()).unwrap_err();
    assert!(matches!(error, SyncError::ReorgTooDeep { .. }), "{error}");
    assert_eq!(indexer.store().cursor(deployment).unwrap(), cursor);
    assert_eq!(digest(&mut indexer), before);
}
