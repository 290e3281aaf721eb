//! A reviewer that is killed, and killed again while it resumes, on either chain.
use crate::settled::{
    elsewhere::{self, Both},
    killing::{self, stop},
    paying::ID,
    rated::{TIMING, bought, last_index, review, reviewer},
};
use async_trait::async_trait;
use concord_chain::{
    ChainError, EndpointOptions, Evm, Signer, Svm,
    evm::{Confirmations, FeeLimit, Node},
    keys::{Keypair, PrivateKeySigner},
    submission::TxRecord,
    svm::{Cluster, PriorityFee},
};
use concord_files::X402Profile;
use concord_registry::{
    evm::RegistryAddresses,
    svm::{Program, accounts::OpenClientIndex},
};
use concord_testkit::chain::{CHAIN_ID, Chain};
use concord_testkit::cluster::{NETWORK, Solana};
use concord_testkit::hooked_registry::{Hooked, Hooks};
use concord_testkit::proxy::{Hold, Proxy};
use concord_testkit::shop::{Extras, Shop};
use concord_testkit::stopping_key::StoppingKey;
use concord_x402::{
    feedback::{
        EvmRegistry, FeedbackError, FeedbackFolder, FeedbackGiver, FeedbackJob, FeedbackRegistry,
        FileFolder, FileStore, Given, Kind, SvmRegistry,
    },
    pay::EvidenceFolder,
};
use serde_json::{Value, json};
use std::{fs, path::Path};

const TEST: &str = "settled::killed_feedback::one_feedback_wherever_a_reviewer_is_killed";
const NOW: u64 = 1_769_428_800;

/// Where a reviewer is killed: when the record is on disk, when the file is too, when the transaction is signed
/// and not on disk, when it is on disk and the node does not have it, when the node has it and has not answered,
/// when it has landed, and when its entry was read back.
const POINTS: [&str; 7] = [
    "Recorded",
    "Stored",
    "Signing",
    "BeforeSending",
    "AfterSending",
    "Landed",
    "ReadBack",
];

fn hold(point: &str) -> Hold {
    match point {
        "BeforeSending" => Hold::Before,
        "AfterSending" => Hold::After,
        _ => Hold::Nothing,
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_feedback_wherever_a_reviewer_is_killed() {
    match killing::errand() {
        Some(errand) => {
            rate(&errand).await;
            killing::end()
        }
        None => kill_at_every_point().await,
    }
}

async fn kill_at_every_point() {
    let (chain, solana) = (Chain::start().await, Solana::start().await);
    elsewhere::publish(&solana, &elsewhere::registrations(&chain, &solana)).await;
    let addresses = chain.deploy_reputation().await;
    let extras = Extras {
        registrations: vec![solana.registration()],
        ..Extras::default()
    };
    let shop = Shop::open_with(&chain, &X402Profile::ALL, extras).await;
    let folder = tempfile::tempdir().unwrap();
    bought(&chain, &shop, folder.path()).await;
    let errand = json!({
        "purchases": folder.path(),
        "reviewer": hex::encode(chain.payer.to_bytes()),
        "evm": chain.url,
        "svm": solana.url,
        "identity": addresses.identity,
        "reputation": addresses.open_reputation,
        "program": solana.program.id().to_string(),
        "client": hex::encode(solana.client.secret_bytes()),
    });
    let open = addresses.open_reputation.unwrap();
    let evm = format!("eip155:{CHAIN_ID}");
    for (network, node) in [(&*evm, &chain.url), (NETWORK, &solana.url)] {
        let proxy = Proxy::start(node).await;
        let mut errand = errand.clone();
        errand["network"] = json!(network);
        errand["rpc"] = json!(proxy.url);
        for (number, point) in (1..).zip(POINTS) {
            let place = folder.path().join(format!("{}-{point}", &network[..6]));
            errand["folder"] = json!(place);
            kill_twice(&mut errand, &proxy, point).await;
            let given = rate(&errand).await;
            assert_eq!(given.entry.index, number, "{network}, {point}");
            let last = if network == NETWORK {
                last_on_solana(&solana).await
            } else {
                last_index(&chain, open).await
            };
            assert_eq!(last, number, "{network}, {point}: one feedback");
        }
    }
}

/// Kills a reviewer at the point, and once more the one that resumes. Every file of theirs stays as it is.
async fn kill_twice(errand: &mut Value, proxy: &Proxy, point: &str) {
    let folder = errand["folder"].as_str().unwrap().to_owned();
    let records = FeedbackFolder::beside(Path::new(&folder));
    let mut files = Vec::new();
    for is_first in [true, false] {
        proxy.set(hold(point));
        errand["stop"] = json!(point);
        let has_reached = killing::kill(TEST, errand, &proxy.held).await;
        assert!(has_reached || !is_first, "{point} was never reached");
        let record = records
            .load(ID)
            .unwrap()
            .expect("a record before anything is sent");
        files.push((record.file, record.submission));
    }
    assert_eq!(files[0], files[1], "{point}: one file");
    let transactions = Path::new(&folder).join(format!("feedback/{ID}.transactions.json"));
    let written = fs::read(transactions).unwrap_or_default();
    let is_sent = !["Recorded", "Stored", "Signing"].contains(&point);
    assert_eq!(
        !written.is_empty(),
        is_sent,
        "{point}: on disk before it is sent"
    );
    proxy.set(Hold::Nothing);
    errand["stop"] = json!("");
}

async fn last_on_solana(solana: &Solana) -> u64 {
    let place = solana
        .program
        .open_client_index(&solana.mint, &solana.client.address());
    let account = solana.cluster.account(&place).await.unwrap().unwrap();
    let found: OpenClientIndex = solana
        .program
        .decode(&account.owner, &account.data)
        .unwrap();
    found.last_index
}

/// Rates the purchase, or resumes, and stops at the point that is given.
async fn rate(errand: &Value) -> Given {
    let text = |key: &str| errand[key].as_str().unwrap();
    let purchases = EvidenceFolder::open(Path::new(text("purchases"))).unwrap();
    let evidence = purchases.load(ID).unwrap().unwrap();
    let folder = Path::new(text("folder"));
    let stops = |point: &str| text("stop") == point;
    let store = StoppingStore {
        files: FileFolder::ipfs(&folder.join("files")),
        stops: stops("Recorded"),
    };
    let key: PrivateKeySigner = text("reviewer").parse().unwrap();
    let mut registry = Hooked {
        registry: if text("network") == NETWORK {
            Box::new(on_solana(errand).await)
        } else {
            Box::new(on_evm(errand, key.clone()).await)
        },
        hooks: StopsAt(text("stop").to_owned()),
    };
    let both = Both::at(text("evm"), text("svm")).await;
    let records = FeedbackFolder::beside(folder);
    let has_begun = records.load(ID).unwrap().is_some();
    let mut giver = FeedbackGiver {
        reads: both.reads(),
        store: &store,
        folder: &records,
        registry: &mut registry,
    };
    let key = reviewer(&key);
    let given = if has_begun {
        giver.resume(ID).await
    } else {
        giver
            .give(&evidence, review(95), Kind::Open, &key, NOW)
            .await
    };
    given.unwrap()
}

async fn on_evm(errand: &Value, key: PrivateKeySigner) -> EvmRegistry {
    let text = |key: &str| errand[key].as_str().unwrap();
    let node = Node::new(&EndpointOptions::new(text("rpc"))).unwrap();
    let addresses = RegistryAddresses::open(
        text("identity").parse().unwrap(),
        text("reputation").parse().unwrap(),
    );
    let stops = text("stop") == "Signing";
    let signer: Box<dyn Signer<Evm>> = Box::new(StoppingKey { key, stops });
    let fees = (FeeLimit::default(), Confirmations::Blocks(1));
    let network = text("network").parse().unwrap();
    let connected = EvmRegistry::connect(node, &network, addresses, signer, fees, TIMING);
    connected.await.unwrap()
}

async fn on_solana(errand: &Value) -> SvmRegistry {
    let text = |key: &str| errand[key].as_str().unwrap();
    let cluster = Cluster::new(&EndpointOptions::new(text("rpc"))).unwrap();
    let program = Program::new(text("program").parse().unwrap());
    let key: [u8; 32] = hex::decode(text("client")).unwrap().try_into().unwrap();
    let key = Keypair::new_from_array(key);
    let stops = text("stop") == "Signing";
    let signer: Box<dyn Signer<Svm>> = Box::new(StoppingKey { key, stops });
    let (network, fee) = (NETWORK.parse().unwrap(), PriorityFee::default());
    let connected = SvmRegistry::connect(cluster, &network, program, signer, fee, TIMING);
    connected.await.unwrap()
}

struct StoppingStore {
    files: FileFolder,
    stops: bool,
}

#[async_trait]
impl FileStore for StoppingStore {
    fn uri(&self, file: &[u8]) -> String {
        self.files.uri(file)
    }

    async fn store(&self, file: &[u8]) -> Result<(), ChainError> {
        if self.stops {
            stop()
        } else {
            self.files.store(file).await
        }
    }
}

/// Stops a reviewer at a point of their submission.
struct StopsAt(String);

impl StopsAt {
    fn pass(&self, point: &str) {
        if self.0 == point {
            stop();
        }
    }
}

#[async_trait]
impl Hooks for StopsAt {
    async fn submit(
        &mut self,
        registry: &mut dyn FeedbackRegistry,
        job: FeedbackJob<'_>,
        record: &mut (dyn TxRecord + Sync),
    ) -> Result<(), FeedbackError> {
        self.pass("Stored");
        registry.submit(job, record).await?;
        self.pass("Landed");
        Ok(())
    }

    fn read(&self) {
        self.pass("ReadBack");
    }
}
