//! A local cluster, read over JSON-RPC. Needs what `scripts/build` makes.
mod cluster;

use cluster::Cluster;
use concord_chain::Blocking;
use concord_index::{
    Contracts, Deployment, Indexer, Options, Progress,
    query::Reviewers,
    source::svm::{ReadAt, SvmSource},
    store::{Sqlite, Store},
    table::{ClientKey, FeedbackKey},
};
use concord_registry::{
    event::{AccountId, AgentId, Profile},
    svm::{Address, Program, instructions::GiveOpenFeedback},
};
use solana_keypair::Keypair;
use solana_signer::Signer;

type ClusterIndexer = Indexer<SvmSource, Sqlite>;

fn indexer(cluster: &Cluster, program: Address, start: u64, read_at: ReadAt) -> ClusterIndexer {
    let deployment = Deployment {
        chain: "solana:localnet".parse().unwrap(),
        contracts: Contracts::Svm(program),
        start,
    };
    let chain = deployment.chain.clone();
    let source = SvmSource::new(cluster.rpc(), chain, program, read_at);
    let store = Store::open(Sqlite::in_memory().unwrap()).unwrap();
    Indexer::new(source, store, &deployment, Options::default()).unwrap()
}

fn catch_up(indexer: &mut ClusterIndexer) -> Vec<Progress> {
    let mut seen = Vec::new();
    let blocking = Blocking::new().unwrap();
    blocking.wait(indexer.catch_up(|it| seen.push(it))).unwrap();
    seen
}

fn digest(indexer: &mut ClusterIndexer) -> [u8; 32] {
    let deployment = indexer.deployment();
    let digest = indexer.store().digest(deployment).unwrap();
    assert_eq!(indexer.store().rebuild_digest(deployment).unwrap(), digest); // R45
    let completeness = indexer.store().completeness(deployment).unwrap();
    assert!(completeness.is_complete(), "{completeness:?}"); // R46
    digest
}

fn feedback(index: u64, value: i128) -> GiveOpenFeedback<'static> {
    GiveOpenFeedback {
        index,
        value,
        decimals: 2,
        tag1: "starred",
        tag2: "",
        endpoint: "https://agent.example",
        uri: "ipfs://feedback",
        hash: [3; 32],
    }
}

struct World {
    cluster: Cluster,
    program: Program,
    client: Keypair,
    mint: Address,
    start: u64,
}

/// An agent, and a client who has reviewed it three times: two transactions of one slot, and one of
/// another.
fn chain() -> World {
    let (owner, client, mint) = (Keypair::new(), Keypair::new(), Keypair::new());
    let mut cluster = Cluster::start(&[owner.pubkey(), client.pubkey()]);
    let program = cluster.deploy_program(&owner, "solana:localnet");
    let start = cluster.slot();
    let register = program.register_agent(owner.pubkey(), mint.pubkey(), "ipfs://agent");
    cluster.send(&[&owner, &mint], &[register]);
    cluster.advance(1);
    let mint = mint.pubkey();
    let mut chain = World {
        cluster,
        program,
        client,
        mint,
        start,
    };
    chain.give(1, 500);
    chain.give(2, 9_000);
    chain.cluster.advance(3);
    chain.give(3, -77);
    chain.cluster.advance(40);
    chain
}

impl World {
    fn give(&mut self, index: u64, value: i128) {
        let give = self.program.give_open_feedback(
            self.client.pubkey(),
            self.mint,
            &feedback(index, value),
        );
        self.cluster.send(&[&self.client], &[give]);
    }

    fn values(&self, indexer: &mut ClusterIndexer) -> Vec<i128> {
        let key = ClientKey {
            profile: Profile::Open,
            agent: AgentId::Svm(self.mint),
            client: self.client.pubkey().into(),
        };
        let deployment = indexer.deployment();
        let rows = indexer.store().feedback_by(deployment, &key).unwrap();
        rows.into_iter().map(|(_, row)| row.value).collect()
    }
}

#[test]
fn a_cluster_is_indexed_in_the_order_of_its_blocks() {
    let chain = chain();
    let mut indexer = indexer(
        &chain.cluster,
        chain.program.id(),
        chain.start,
        ReadAt::Finalized,
    );
    catch_up(&mut indexer);
    digest(&mut indexer);
    assert_eq!(chain.values(&mut indexer), [500, 9_000, -77]);
    let deployment = indexer.deployment();
    let client = AccountId::from(chain.client.pubkey());
    let key = FeedbackKey {
        profile: Profile::Open,
        agent: AgentId::Svm(chain.mint),
        client,
        index: 2,
    };
    let row = indexer.store().feedback(deployment, &key).unwrap().unwrap();
    assert_eq!((&*row.uri, row.hash), ("ipfs://feedback", [3; 32]));
    // (500 + 9000 - 77) / 3 hundredths
    let reviewers = Reviewers::Listed(vec![client]).accounts().unwrap();
    let agent = AgentId::Svm(chain.mint);
    let summary = indexer
        .store()
        .open_summary(deployment, agent, reviewers.as_deref(), ("starred", ""))
        .unwrap()
        .summary;
    assert_eq!(
        (summary.count, summary.value, summary.decimals),
        (3, 3_141, 2)
    );
}

#[test]
fn a_fork_that_loses_is_taken_back() {
    let mut chain = chain();
    let mut indexer = indexer(
        &chain.cluster,
        chain.program.id(),
        chain.start,
        ReadAt::Confirmed,
    );
    catch_up(&mut indexer);
    let before = digest(&mut indexer);
    chain.cluster.ask("local_checkpoint", serde_json::json!([]));
    chain.give(4, 1);
    chain.cluster.advance(2);
    catch_up(&mut indexer);
    assert_eq!(chain.values(&mut indexer), [500, 9_000, -77, 1]);
    chain.cluster.ask("local_rollback", serde_json::json!([]));
    chain.cluster.advance(4);
    let seen = catch_up(&mut indexer);
    let is_reorganisation = |it: &Progress| matches!(it, Progress::Reorganised { .. });
    assert!(seen.iter().any(is_reorganisation), "{seen:?}");
    assert_eq!(digest(&mut indexer), before);
    chain.give(4, 2);
    chain.cluster.advance(2);
    catch_up(&mut indexer);
    digest(&mut indexer);
    assert_eq!(chain.values(&mut indexer), [500, 9_000, -77, 2]);
}
