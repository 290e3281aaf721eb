//! A reviewer that is killed (SIGKILL), and killed again while they continue, on either chain.
use crate::{
    chain,
    world::{Role, TIMING, World, evm_fees, evm_registries, svm_registries, worlds},
};
use async_trait::async_trait;
use concord_canonical::value::Value as Rated;
use concord_chain::{
    ChainError, Evm, Signer, Svm,
    keys::{Keypair, PrivateKeySigner},
    submission::{Landing, SignedTx, TxRecord},
    svm::PriorityFee,
};
use concord_client::{
    Account, Client, ClientError, Document, EvmAccount, FileFolder, FileStore, Given, Kind,
    Operation, Registration, Registries, Review, Sent, SvmAccount,
};
use concord_registry::{event::Event, evm::RegistryAddresses, svm::Address};
use concord_testkit::cluster;
use concord_testkit::errand;
use concord_testkit::proxy::{Hold, Proxy};
use concord_testkit::stopping_key::StoppingKey;
use serde_json::{Value, json};
use std::{fs, path::Path, sync::Arc};
use tokio::sync::Notify;

const TEST: &str = "killed::one_feedback_wherever_a_client_is_killed";
const ID: &str = "order-17";

/// Where it is killed: before the file is stored; when it is; when the transaction is signed and not on disk; when
/// it is on disk and the node does not have it; when the node has it and has not answered; when it has landed; and
/// when its event was read.
const POINTS: [&str; 7] = [
    "Begun",
    "Stored",
    "Signing",
    "BeforeSending",
    "AfterSending",
    "Landed",
    "ReadBack",
];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_feedback_wherever_a_client_is_killed() {
    match errand::errand() {
        Some(errand) if errand["registers"] == true => {
            register(&errand).await;
            errand::end()
        }
        Some(errand) => {
            rate(&errand).await;
            errand::end()
        }
        None => kill_at_every_point().await,
    }
}

/// Whatever came of the first call, the second one registers no second agent: on Solana the nonce is on record before
/// anything is signed (R4).
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_agent_wherever_a_client_is_killed() {
    let folder = tempfile::tempdir().unwrap();
    for world in worlds().await {
        let mut errand = errand_on(&world, Role::Owner, "");
        errand["registers"] = json!(true);
        let proxy = Proxy::start(world.url()).await;
        errand["rpc"] = json!(proxy.url);
        let mut earlier = world.agents().await;
        for point in POINTS {
            let place = format!("{}-{point}", &world.name()[..6]);
            errand["folder"] = json!(folder.path().join(&place));
            kill_twice(&mut errand, &proxy, point).await;
            let agent = register(&errand).await;
            assert_eq!(register(&errand).await, agent, "{point}: the same again");
            let now = world.agents().await;
            assert_eq!(now, earlier + 1, "{}, {point}: one agent", world.name());
            earlier = now;
            if let World::Svm(solana) = &world {
                let record = folder.path().join(place).join("records");
                let record = fs::read(record.join(format!("{ID}.json"))).unwrap();
                let record: Value = serde_json::from_slice(&record).unwrap();
                let nonce = record["operation"]["nonce"].as_u64().unwrap();
                let owner = Role::Owner.keypair().address();
                let derived = solana.program.agent_mint(&owner, nonce);
                assert_eq!(agent, derived.to_string(), "{point}");
            }
        }
    }
}

async fn kill_at_every_point() {
    let folder = tempfile::tempdir().unwrap();
    for world in worlds().await {
        let agent = world.register("rated", folder.path(), Document::None);
        let mut errand = errand_on(&world, Role::Reviewer, &agent.await.agent);
        let proxy = Proxy::start(world.url()).await;
        errand["rpc"] = json!(proxy.url);
        for (number, point) in (1..).zip(POINTS) {
            let place = format!("{}-{point}", &world.name()[..6]);
            errand["folder"] = json!(folder.path().join(place));
            kill_twice(&mut errand, &proxy, point).await;
            let given = rate(&errand).await;
            assert_eq!(given.feedback.index, number, "{}, {point}", world.name());
            let registries = world.registries();
            let (agent, client) = (&given.feedback.agent, &given.feedback.client);
            let next = registries.feedback(Kind::Open, agent, client, number + 1);
            assert_eq!(next.await.unwrap(), None, "{point}: one feedback");
        }
    }
}

/// A record without a signature names what was begun by whom, and where.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_operation_is_resumed_by_the_account_and_on_the_registry_that_began_it() {
    let folder = tempfile::tempdir().unwrap();
    for world in worlds().await {
        let agent = world.register("rated", folder.path(), Document::None);
        let agent = agent.await.agent;
        let mut errand = errand_on(&world, Role::Reviewer, &agent);
        let place = folder.path().join(&world.name()[..6]);
        errand["rpc"] = json!(world.url());
        errand["folder"] = json!(place);
        errand["stop"] = json!("Signing");
        assert!(errand::kill(TEST, &errand, &Notify::new()).await);

        let (records, files) = (place.join("records"), place.join("files"));
        let client = |account| {
            let files = Arc::new(FileFolder::ipfs(&files));
            Client::new(account, &records, files)
        };
        let another = world.account(Role::Second, Vec::new()).await;
        errand["stop"] = json!("");
        let own = errand.clone();
        for member in ["identity", "program"] {
            errand[member] = match &world {
                World::Evm(chain) => json!(chain.addresses.validation),
                World::Svm(_) => json!(world.address(Role::Wallet)),
            };
        }
        let elsewhere = account_of(&errand).await;
        for (account, field) in [(another, "account"), (elsewhere, "registry")] {
            let refused = client(account).resume(ID).await.unwrap_err();
            let found = match &*refused.fault {
                ClientError::OnRecord { field, .. } => *field,
                other => panic!("{other}"),
            };
            assert_eq!(found, field, "{}", world.name());
            assert_eq!(refused.sent, Sent::Nothing, "{}", world.name());
        }
        let feedback = async |client: Role| {
            let (registries, client) = (world.registries(), world.address(client));
            let given = registries.feedback(Kind::Open, &agent, &client, 1).await;
            given.unwrap().is_some()
        };
        assert!(!feedback(Role::Second).await && !feedback(Role::Reviewer).await);
        let resumed = client(account_of(&own).await).resume(ID).await;
        assert!(resumed.unwrap().is_some());
        assert!(!feedback(Role::Second).await && feedback(Role::Reviewer).await);
    }
}

fn errand_on(world: &World, role: Role, agent: &str) -> Value {
    match world {
        World::Evm(chain) => json!({
            "network": chain::NETWORK,
            "agent": agent,
            "key": hex::encode(world.key(role).to_bytes()),
            "identity": chain.addresses.identity,
            "reputation": chain.addresses.open_reputation,
        }),
        World::Svm(solana) => json!({
            "network": cluster::NETWORK,
            "agent": agent,
            "key": hex::encode(role.keypair().secret_bytes()),
            "program": solana.program.id().to_string(),
        }),
    }
}

/// Kills the client at the point, and once more the one that continues.
async fn kill_twice(errand: &mut Value, proxy: &Proxy, point: &str) {
    let folder = errand["folder"].as_str().unwrap().to_owned();
    for is_first in [true, false] {
        proxy.set(match point {
            "BeforeSending" => Hold::Before,
            "AfterSending" => Hold::After,
            _ => Hold::Nothing,
        });
        errand["stop"] = json!(point);
        let has_reached = errand::kill(TEST, errand, &proxy.held).await;
        assert!(has_reached || !is_first, "{point} was never reached");
        let records = Path::new(&folder).join("records");
        let written = fs::read(records.join(format!("{ID}.transactions.json")));
        let is_signed = !["Begun", "Stored", "Signing"].contains(&point);
        let is_written = !written.unwrap_or_default().is_empty();
        assert_eq!(is_written, is_signed, "{point}: on disk before it is sent");
        let is_stored = fs::read_dir(Path::new(&folder).join("files"));
        let is_stored = is_stored.is_ok_and(|it| it.count() == 1);
        assert_eq!(
            is_stored,
            point != "Begun",
            "{point}: stored before it is signed"
        );
    }
    proxy.set(Hold::Nothing);
    errand["stop"] = json!("");
}

/// Gives the feedback, and stops at the point that is named.
async fn rate(errand: &Value) -> Given {
    let review = Review::open(
        errand["agent"].as_str().unwrap(),
        Rated::new(95, 0).unwrap(),
    );
    let mut client = stopping_client(errand).await;
    let given = client.give(ID, review, Document::Bytes(b"{}"));
    given.await.unwrap()
}

/// Registers an agent, and stops at the point that is named.
async fn register(errand: &Value) -> String {
    let mut client = stopping_client(errand).await;
    let agent = Registration {
        metadata: vec![("kind".to_owned(), "weather".to_owned())],
        ..Registration::default()
    };
    let registered = client.register(ID, agent, Document::Bytes(b"{}"));
    registered.await.unwrap().agent
}

async fn stopping_client(errand: &Value) -> Client {
    let text = |key: &str| errand[key].as_str().unwrap();
    let folder = Path::new(text("folder"));
    let files = Arc::new(StoppingFiles {
        files: FileFolder::ipfs(&folder.join("files")),
        stop: text("stop").to_owned(),
    });
    let account = Box::new(Stopping {
        account: account_of(errand).await,
        stop: text("stop").to_owned(),
    });
    Client::new(account, &folder.join("records"), files)
}

async fn account_of(errand: &Value) -> Box<dyn Account> {
    if errand["network"] == cluster::NETWORK {
        Box::new(on_solana(errand).await)
    } else {
        Box::new(on_evm(errand).await)
    }
}

async fn on_evm(errand: &Value) -> EvmAccount {
    let text = |key: &str| errand[key].as_str().unwrap();
    let addresses = RegistryAddresses::open(
        text("identity").parse().unwrap(),
        text("reputation").parse().unwrap(),
    );
    let key: PrivateKeySigner = text("key").parse().unwrap();
    let stops = text("stop") == "Signing";
    let signer: Box<dyn Signer<Evm>> = Box::new(StoppingKey { key, stops });
    let registries = evm_registries(text("rpc"), addresses);
    let connected = EvmAccount::connect(registries, signer, evm_fees(), TIMING);
    connected.await.unwrap()
}

async fn on_solana(errand: &Value) -> SvmAccount {
    let text = |key: &str| errand[key].as_str().unwrap();
    let key: [u8; 32] = hex::decode(text("key")).unwrap().try_into().unwrap();
    let key = Keypair::new_from_array(key);
    let stops = text("stop") == "Signing";
    let signer: Box<dyn Signer<Svm>> = Box::new(StoppingKey { key, stops });
    let program: Address = text("program").parse().unwrap();
    let registries = svm_registries(text("rpc"), concord_registry::svm::Program::new(program));
    let fee = PriorityFee::default();
    let connected = SvmAccount::connect(registries, signer, fee, TIMING);
    connected.await.unwrap()
}

struct StoppingFiles {
    files: FileFolder,
    stop: String,
}

#[async_trait]
impl FileStore for StoppingFiles {
    fn uri(&self, file: &[u8]) -> String {
        self.files.uri(file)
    }

    async fn store(&self, file: &[u8]) -> Result<(), ChainError> {
        if self.stop == "Begun" {
            errand::stop();
        }
        self.files.store(file).await
    }
}

/// An account that stops its process at a point.
struct Stopping {
    account: Box<dyn Account>,
    stop: String,
}

impl Stopping {
    fn pass(&self, point: &str) {
        if self.stop == point {
            errand::stop();
        }
    }
}

#[async_trait]
impl Account for Stopping {
    fn registries(&self) -> &dyn Registries {
        self.account.registries()
    }

    fn account(&self) -> String {
        self.account.account()
    }

    fn complete(&self, operation: &mut Operation, earlier: Option<&Operation>) {
        self.account.complete(operation, earlier);
    }

    async fn try_out(&self, operation: &Operation) -> Result<(), ClientError> {
        self.pass("Stored");
        self.account.try_out(operation).await
    }

    async fn land(
        &mut self,
        id: &str,
        operation: &Operation,
        record: &mut (dyn TxRecord + Sync),
    ) -> Result<(), ClientError> {
        self.account.land(id, operation, record).await?;
        self.pass("Landed");
        Ok(())
    }

    async fn events(
        &self,
        landing: &Landing,
        signed: &SignedTx,
    ) -> Result<Vec<Event>, ClientError> {
        let events = self.account.events(landing, signed).await?;
        self.pass("ReadBack");
        Ok(events)
    }
}
