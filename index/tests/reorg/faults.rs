//! An endpoint that lies: the index waits or asks again, and never stores what is not so.
use crate::reorg::{
    chain::{Chain, digest},
    faulty::{Fault, Faulty},
};
use crate::worlds::proxy::Between;
use concord_index::{
    Options, Progress, SourceError, SyncError,
    source::{Source, evm::Range},
};

use std::time::Duration;

/// More failures in a row than any fault makes.
const PATIENCE: u32 = 500;

#[test]
fn through_a_faulty_endpoint_the_tables_are_those_of_the_chain() {
    let mut chain = Chain::start();
    chain.act(90);
    for fault in Fault::ALL {
        let transport = Faulty::new(chain.url(), fault);
        let endpoint = transport.endpoint("faulty");
        // Few, so that some blocks are read in ranges.
        let options = Options {
            kept_headers: 8,
            ..Options::default()
        };
        let mut indexer = chain.indexer(endpoint, Range::new(50, 50), options);
        follow(&chain, &mut indexer, fault);
        chain.act(5);
        follow(&chain, &mut indexer, fault);
        chain.reorganise(4);
        chain.act(6);
        follow(&chain, &mut indexer, fault);
        assert!(transport.faults() > 3, "{fault:?}: {}", transport.faults());
    }
}

/// Steps until the chain's newest block is indexed, then compares.
fn follow(chain: &Chain, indexer: &mut crate::reorg::chain::AnvilIndexer, fault: Fault) {
    let newest = chain.blocking.wait(chain.node.block_number()).unwrap();
    let mut last = String::new();
    for _ in 0..PATIENCE {
        match chain.blocking.wait(indexer.step()) {
            Ok(Progress::Idle { head }) if head == newest => {
                assert_eq!(digest(indexer), chain.expected(), "{fault:?}");
                return chain.compare_summaries(indexer);
            }
            Ok(_) => (),
            Err(SyncError::Source(error)) => {
                assert!(error.is_passing(), "{fault:?}: {error}");
                last = error.to_string();
            }
            Err(error) => panic!("{fault:?}: {error}"),
        }
    }
    panic!("{fault:?}: block {newest} is never indexed; {last}");
}

/// Steps until something fails; so many headers are kept.
fn failing(chain: &Chain, fault: Fault, kept_headers: u64) -> SourceError {
    let endpoint = Faulty::new(chain.url(), fault).endpoint("faulty");
    let options = Options {
        kept_headers,
        ..Options::default()
    };
    let mut indexer = chain.indexer(endpoint, Range::new(50, 50), options);
    let error = chain.blocking.wait(indexer.catch_up(|_| ())).unwrap_err();
    match error {
        SyncError::Source(error) => error,
        other => panic!("{other}"),
    }
}

#[test]
fn an_endpoint_that_refuses_a_single_block_is_an_error_that_names_it() {
    let mut chain = Chain::start();
    chain.act(70); // so that some are settled
    let error = failing(&chain, Fault::Silent, 2);
    assert!(!error.is_passing(), "{error}");
    assert!(
        error.to_string().contains("block 0 alone: not here"),
        "{error}"
    );
    let error = failing(&chain, Fault::Closed, 2);
    assert!(!error.is_passing(), "{error}");
    assert!(
        error.to_string().contains("alone: too many logs"),
        "{error}"
    );
    // Of a block that can be replaced, another node may have it.
    let error = failing(&chain, Fault::Closed, 256);
    assert!(error.is_passing(), "{error}");
    assert!(error.to_string().contains("too many logs"), "{error}");
}

/// IDX-50: what is read ahead follows what was read before, or it is not taken in with it.
#[test]
fn settled_blocks_are_linked_to_the_block_before() {
    let mut chain = Chain::start();
    chain.act(20);
    let endpoint = chain.node.endpoint().clone();
    let mut indexer = chain.indexer(endpoint, Range::new(50, 50), Options::default());
    let source = indexer.source();
    for from in [4, 9] {
        let before = chain.blocking.wait(source.hash(from - 1)).unwrap();
        let batch = chain
            .blocking
            .wait(source.batch(from, from + 3, 15))
            .unwrap();
        assert_eq!(batch.parent, before, "{from}");
    }
}

/// IDX-50: the next range is asked for before it is wanted, and once.
#[test]
fn the_next_range_is_asked_for_while_one_is_read() {
    let mut chain = Chain::start();
    chain.act(30);
    let transport = Faulty::new(chain.url(), Fault::OutOfGas);
    let endpoint = transport.endpoint("faulty");
    let mut indexer = chain.indexer(endpoint, Range::new(4, 4), Options::default());
    let source = indexer.source();
    let mut read = |from| {
        let batch = chain.blocking.wait(source.batch(from, 20, 20)).unwrap();
        let next = batch.through.number + 1;
        let asked = async {
            while transport.logs_asked_from(next) == 0 {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        };
        let limit = Duration::from_secs(10);
        let asked = async { tokio::time::timeout(limit, asked).await };
        chain.blocking.wait(asked).unwrap();
        assert_eq!(transport.logs_asked_from(from), 1, "{from}");
        next
    };
    let next = read(8);
    assert_eq!(read(next), 16);
    // What was asked for and is not wanted is forgotten.
    assert_eq!(read(5), 9);
    let last = chain.blocking.wait(source.batch(17, 20, 20)).unwrap();
    assert_eq!(last.through.number, 20);
    assert_eq!(transport.logs_asked_from(21), 0);
}
