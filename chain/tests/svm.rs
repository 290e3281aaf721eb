//! Against a local cluster: jobs of a service, expired block hashes, and refusals.
use concord_chain::{
    Blocking, ChainError, Endpoint, EndpointOptions,
    submission::{FileRecord, Finality, Timing, TxChain, TxRecord, TxStatus, submit},
    svm::{Cluster, InstructionChain, InstructionJob, PriorityFee},
};
use concord_local_cluster::{LocalCluster, Options, Server};
use serde_json::{Value, json};
use solana_address::Address;
use solana_keypair::Keypair;
use solana_signer::Signer;
use solana_system_interface::instruction as system;
use std::{path::Path, time::Duration};

const SOL: u64 = 1_000_000_000;
const TIMING: Timing = Timing {
    poll: Duration::from_millis(40),
    replace_after: Duration::from_secs(60),
    give_up_after: Duration::from_secs(60),
};

fn payer() -> Keypair {
    Keypair::new_from_array([7; 32])
}

fn receiver() -> Address {
    Address::new_from_array([9; 32])
}

fn start() -> Server {
    let options = Options {
        slot_duration: Duration::from_millis(20),
        funded: vec![(payer().pubkey(), 10 * SOL)],
        ..Options::default()
    };
    Server::start(LocalCluster::new(options), 0).unwrap()
}

fn cluster(server: &Server) -> Cluster {
    Cluster::new(&EndpointOptions::new(server.url())).unwrap()
}

async fn chain(server: &Server) -> InstructionChain {
    let id = "solana:localnet".parse().unwrap();
    let signers: Vec<Box<dyn concord_chain::Signer<concord_chain::Svm>>> = vec![Box::new(payer())];
    InstructionChain::connect(cluster(server), &id, signers, PriorityFee::default())
        .await
        .unwrap()
}

/// A payment that opens the receiver's account, or adds to it.
fn payment(id: &str, lamports: u64) -> InstructionJob {
    InstructionJob {
        id: id.to_owned(),
        instructions: vec![system::transfer(&payer().pubkey(), &receiver(), lamports)],
        units: 1_000,
    }
}

async fn run(
    chain: &mut InstructionChain,
    jobs: &[InstructionJob],
    record: &mut FileRecord,
) -> Result<(), ChainError> {
    let mut report = |_: &InstructionJob, _: &str| ();
    submit(chain, &[jobs], record, TIMING, &mut report).await
}

fn open(folder: &Path) -> FileRecord {
    FileRecord::open(&folder.join("jobs.json")).unwrap()
}

#[test]
fn each_job_lands_once_however_often_it_is_submitted() {
    let server = start();
    let folder = tempfile::tempdir().unwrap();
    let mut record = open(folder.path());
    let jobs = [payment("first", SOL), payment("second", 2 * SOL)];
    Blocking::new().unwrap().wait(async {
        let mut chain = chain(&server).await;
        run(&mut chain, &jobs, &mut record).await.unwrap();
        run(&mut chain, &jobs, &mut record).await.unwrap();
        let balance = cluster(&server).balance(&receiver()).await.unwrap();
        assert_eq!(balance, 3 * SOL);
    });
    assert!(record.is_final("first") && record.is_final("second"));
}

/// They are signed with one block hash, and are two transactions all the same.
#[test]
fn two_equal_jobs_land_twice() {
    let server = start();
    let folder = tempfile::tempdir().unwrap();
    let mut record = open(folder.path());
    let jobs = [payment("first", SOL), payment("second", SOL)];
    Blocking::new().unwrap().wait(async {
        let mut chain = chain(&server).await;
        run(&mut chain, &jobs, &mut record).await.unwrap();
        let balance = cluster(&server).balance(&receiver()).await.unwrap();
        assert_eq!(balance, 2 * SOL);
    });
    let landed = ["first", "second"].map(|it| &record.landing(it).unwrap().transaction);
    assert_ne!(landed[0], landed[1]);
}

/// As after a crash, with a block hash that has expired since.
#[test]
fn an_expired_transaction_is_replaced_and_only_one_lands() {
    let server = start();
    let folder = tempfile::tempdir().unwrap();
    let mut record = open(folder.path());
    let job = payment("only", SOL);
    Blocking::new().unwrap().wait(async {
        let mut chain = chain(&server).await;
        let signed = chain.sign(&job, 0).await.unwrap();
        record.signed(&[("only", signed)]).unwrap();
        tell(&server, "local_expire_blockhashes").await;
        let jobs = std::slice::from_ref(&job);
        run(&mut chain, jobs, &mut record).await.unwrap();
        let balance = cluster(&server).balance(&receiver()).await.unwrap();
        assert_eq!(balance, SOL);
    });
    let [first, second] = record.transactions("only") else {
        panic!("two transactions were signed");
    };
    let landed = &record.landing("only").unwrap().transaction;
    assert_eq!(*landed, second.transaction);
    assert_ne!(*landed, first.transaction);
}

async fn tell(server: &Server, method: &str) {
    let endpoint = Endpoint::new(&EndpointOptions::new(server.url())).unwrap();
    let method = method.to_owned();
    let _: Value = endpoint.expect(&method, json!([])).await.unwrap();
}

/// R36: its transaction landed, the process died before it saw that, and the node has dropped the block since.
#[test]
fn r36_what_the_node_has_forgotten_is_not_sent_again() {
    let server = start();
    let folder = tempfile::tempdir().unwrap();
    let mut record = open(folder.path());
    let job = payment("only", SOL);
    let jobs = std::slice::from_ref(&job);
    Blocking::new().unwrap().wait(async {
        let mut chain = chain(&server).await;
        let signed = chain.sign(&job, 0).await.unwrap();
        record.signed(&[("only", signed.clone())]).unwrap();
        chain.send(&signed).await.unwrap();
        let expire = "local_expire_blockhashes"; // the second time, it is final that they are
        for method in [expire, expire, "local_forget"] {
            tell(&server, method).await;
        }
        let status = chain.statuses(std::slice::from_ref(&signed)).await.unwrap();
        let [TxStatus::Blocked(reason)] = &status[..] else {
            panic!("{status:?}");
        };
        assert!(reason.contains(&signed.transaction), "{reason}");
        assert!(
            reason.contains("the node has blocks from height"),
            "{reason}"
        );
        let mut words = Vec::new();
        let mut report = |_: &InstructionJob, said: &str| words.push(said.to_owned());
        let timing = Timing {
            give_up_after: Duration::from_millis(200),
            ..TIMING
        };
        let error = submit(&mut chain, &[jobs], &mut record, timing, &mut report).await;
        assert!(
            matches!(error, Err(ChainError::NotLanded { .. })),
            "{error:?}"
        );
        assert_eq!(words.last(), Some(reason));
        let balance = cluster(&server).balance(&receiver()).await.unwrap();
        assert_eq!(balance, SOL);
    });
    assert_eq!(record.transactions("only").len(), 1);
}

/// R36: what was final stays final, whatever a node has dropped since; and what was not yet is not taken back.
#[test]
fn r36_a_landing_that_the_node_has_forgotten_stays() {
    let server = start();
    let folder = tempfile::tempdir().unwrap();
    let mut record = open(folder.path());
    let job = payment("only", SOL);
    let jobs = std::slice::from_ref(&job);
    Blocking::new().unwrap().wait(async {
        let mut chain = chain(&server).await;
        run(&mut chain, jobs, &mut record).await.unwrap();
        let landing = record.landing("only").unwrap().clone();
        let expire = "local_expire_blockhashes"; // the second time, it is final that they are
        for method in [expire, expire, "local_forget"] {
            tell(&server, method).await;
        }
        let finality = chain
            .finality(std::slice::from_ref(&landing))
            .await
            .unwrap();
        assert_eq!(finality, [Finality::NotYet]);
        run(&mut chain, jobs, &mut record).await.unwrap();
        assert_eq!(record.landing("only"), Some(&landing));
        let balance = cluster(&server).balance(&receiver()).await.unwrap();
        assert_eq!(balance, SOL);
    });
}

#[test]
fn r36_a_node_is_asked_since_when_it_has_transactions() {
    let server = start();
    Blocking::new().unwrap().wait(async {
        let cluster = cluster(&server);
        let started = cluster.unix_time().await.unwrap().unsigned_abs();
        cluster.require_kept_since(started).await.unwrap();
        let expire = "local_expire_blockhashes"; // two minutes on the cluster's clock
        for method in [expire, expire, "local_forget"] {
            tell(&server, method).await;
        }
        let error = cluster.require_kept_since(started).await.unwrap_err();
        let words = error.to_string();
        assert!(
            words.ends_with(&format!("wanted from {started}")),
            "{words}"
        );
        cluster.require_kept_since(started + 200).await.unwrap();
    });
}

#[test]
fn a_signer_that_is_missing_is_named() {
    let server = start();
    let folder = tempfile::tempdir().unwrap();
    let mut record = open(folder.path());
    let stranger = Keypair::new_from_array([8; 32]).pubkey();
    let job = InstructionJob {
        id: "only".to_owned(),
        instructions: vec![system::transfer(&stranger, &receiver(), SOL)],
        units: 1_000,
    };
    let blocking = Blocking::new().unwrap();
    let mut chain = blocking.wait(chain(&server));
    let refused = blocking.wait(run(&mut chain, &[job], &mut record));
    let words = refused.unwrap_err().to_string();
    let expected = format!("{stranger} did not sign: its key is missing");
    assert_eq!(words, expected);
    assert!(record.transactions("only").is_empty());
}

#[test]
fn another_cluster_than_the_one_named_is_refused() {
    let server = start();
    let devnet = "solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1".parse().unwrap();
    let blocking = Blocking::new().unwrap();
    let refused = blocking.wait(cluster(&server).require_chain(&devnet));
    assert!(matches!(refused, Err(ChainError::WrongChain { .. })));
}
