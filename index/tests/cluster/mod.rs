//! A local cluster, read over JSON-RPC. Needs what `scripts/build` makes.
mod command;
mod depths;
mod faults;
mod faulty;
mod followed;
mod forks;
mod node;
mod switching;

use crate::worlds::changed::{Changed, withholding};
use concord_chain::{Blocking, svm};
use concord_index::{
    Contracts, Deployment, Indexer, Options, Progress,
    query::Reviewers,
    source::{
        Source,
        svm::{ReadAt, SvmSource},
    },
    state::Field,
    store::{Sqlite, Store},
    table::{ClientKey, FeedbackKey},
};
use concord_registry::{
    Event,
    event::{AccountId, AgentId, Profile},
    svm::{Address, Program, instructions::GiveOpenFeedback},
};
use node::Cluster;
use solana_keypair::Keypair;
use solana_signer::Signer;

type ClusterIndexer = Indexer<SvmSource, Sqlite>;

fn indexer(cluster: &Cluster, program: Address, start: u64, read_at: ReadAt) -> ClusterIndexer {
    indexer_of(source(cluster.rpc(), program, read_at), program, start)
}

fn source(cluster: svm::Cluster, program: Address, read_at: ReadAt) -> SvmSource {
    SvmSource::new(
        cluster,
        "solana:localnet".parse().unwrap(),
        program,
        read_at,
    )
}

fn indexer_of(source: SvmSource, program: Address, start: u64) -> ClusterIndexer {
    let deployment = Deployment {
        chain: "solana:localnet".parse().unwrap(),
        contracts: Contracts::Svm(program),
        start,
    };
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
    owner: Keypair,
    client: Keypair,
    mint: Address,
    start: u64,
}

/// An agent, and a client who has reviewed it three times: two transactions of one slot, and one of
/// another.
fn chain() -> World {
    let (owner, client) = (Keypair::new(), Keypair::new());
    let mut cluster = Cluster::start(&[owner.pubkey(), client.pubkey()]);
    let program = cluster.deploy_program(&owner, "solana:localnet");
    let start = cluster.slot();
    let register = program.register_agent(owner.pubkey(), owner.pubkey(), 0, "ipfs://agent");
    cluster.send(&[&owner], &[register]);
    cluster.advance(1);
    let mint = program.agent_mint(&owner.pubkey(), 0);
    let mut chain = World {
        cluster,
        program,
        owner,
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
    /// Another agent of the owner.
    fn register(&mut self) {
        let owner = self.owner.pubkey();
        let register = (self.program).register_agent(owner, owner, 1, "ipfs://other");
        self.cluster.send(&[&self.owner], &[register]);
        self.cluster.advance(40);
    }

    fn give(&mut self, index: u64, value: i128) {
        let give = self.program.give_open_feedback(
            self.client.pubkey(),
            self.mint,
            &feedback(index, value),
        );
        self.cluster.send(&[&self.client], &[give]);
    }

    /// So much feedback, from an index on, the second and third in one slot, and so on. Returns the next index.
    fn act(&mut self, next: u64, feedback: u64) -> u64 {
        let after = next + feedback;
        for index in next..after {
            self.give(index, i128::from(index) * 7 - 30);
            if index % 2 == 0 {
                self.cluster.advance(1);
            }
        }
        self.cluster.advance(2);
        after
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

/// R45, R46: an endpoint withholds a client's last feedback, all of another client's, that the URI changed, and that the
/// wallet was unset. The accounts say so.
#[test]
fn r45_r46_on_a_cluster_what_an_endpoint_withholds_shows_in_the_accounts() {
    let mut chain = chain();
    let (owner, mint) = (chain.owner.pubkey(), chain.mint);
    let other = Keypair::new();
    chain.cluster.fund(&chain.owner, other.pubkey());
    let give = chain
        .program
        .give_open_feedback(other.pubkey(), mint, &feedback(1, 7));
    chain.cluster.send(&[&other], &[give]);
    let changes = [
        chain.program.set_agent_uri(owner, mint, "ipfs://changed"),
        chain.program.unset_agent_wallet(owner, mint),
    ];
    chain.cluster.send(&[&chain.owner], &changes);
    chain.cluster.advance(40);
    let mut whole = indexer(
        &chain.cluster,
        chain.program.id(),
        chain.start,
        ReadAt::Finalized,
    );
    let blocking = Blocking::new().unwrap();
    blocking.wait(whole.catch_up(|_| ())).unwrap();
    compare(&blocking, &mut whole);
    let id = whole.deployment();
    assert_eq!(whole.store().differences(id, 9).unwrap(), []);
    let expected = digest(&mut whole);

    let withheld = move |event: &Event| match event {
        Event::AgentWalletSet { .. } | Event::AgentUriSet { .. } => true,
        Event::OpenFeedback { client, index, .. } => {
            *client == other.pubkey().into() || *index == 3
        }
        _ => false,
    };
    let program = chain.program.id();
    let deployment = Deployment {
        chain: "solana:localnet".parse().unwrap(),
        contracts: Contracts::Svm(program),
        start: chain.start,
    };
    let of = deployment.chain.clone();
    let source = Changed {
        source: SvmSource::new(chain.cluster.rpc(), of, program, ReadAt::Finalized),
        change: withholding(move |it| withheld(&it.event)),
    };
    let store = Store::open(Sqlite::in_memory().unwrap()).unwrap();
    let mut lacking = Indexer::new(source, store, &deployment, Options::default()).unwrap();
    blocking.wait(lacking.catch_up(|_| ())).unwrap();
    assert!(lacking.store().completeness(id).unwrap().is_complete());
    compare(&blocking, &mut lacking);
    let found = lacking.store().differences(id, 9).unwrap();
    let found: Vec<_> = (found.iter())
        .map(|it| (it.field, &*it.events, &*it.state))
        .collect();
    let client = AccountId::from(chain.client.pubkey());
    let (owner, last) = (owner.to_string(), Field::LastIndex(Profile::Open, client));
    let wanted = [
        (Field::Uri, "ipfs://agent", "ipfs://changed"),
        (Field::Wallet, &*owner, ""),
        (Field::Clients(Profile::Open), "1", "2"),
        (last, "2", "3"),
    ];
    assert_eq!(found, wanted);
    let agent = AgentId::Svm(mint);
    let row = lacking.store().agent(id, agent).unwrap().unwrap();
    assert_eq!(
        (row.wallet, &*row.uri, row.missing),
        (None, "ipfs://changed", 2)
    );
    let gaps = lacking.store().gaps(id, agent).unwrap();
    assert_eq!((gaps.len(), gaps[0].first, gaps[0].last), (1, 3, 3));
    lacking.source().change = withholding(|_| false);
    assert_eq!(blocking.wait(lacking.repair()).unwrap(), 4);
    compare(&blocking, &mut lacking);
    assert!(lacking.store().completeness(id).unwrap().is_complete());
    assert_eq!(lacking.store().digest(id).unwrap(), expected);
}

/// One runtime for all requests of a connection: it drives them.
fn compare<S: Source>(blocking: &Blocking, indexer: &mut Indexer<S, Sqlite>) {
    while blocking.wait(indexer.compare_state()).unwrap() > 0 {}
    let id = indexer.deployment();
    assert_eq!(indexer.store().unread_count(id).unwrap(), 0);
    let digest = indexer.store().digest(id).unwrap();
    assert_eq!(indexer.store().rebuild_digest(id).unwrap(), digest); // R45
}
