//! Paid on an EVM chain, rated on Solana: the registry that the reviewer signed (R54).
use crate::{
    payload::{Draft, public_key},
    world::{Running, TIMING, World, network, node},
};
use alloy::primitives::keccak256;
use async_trait::async_trait;
use concord_aggregator::{
    AllowedAgents, ChainInsiders, admission::Admission, lane::LaneRegistries,
};
use concord_canonical::sign::PreparedKey;
use concord_chain::{Signer, Svm, keys::Keypair, svm::PriorityFee};
use concord_files::{RegistrationFile, parse_registration};
use concord_registry::svm::accounts::OpenFeedback;
use concord_testkit::cluster::{NETWORK, Solana};
use concord_x402::{
    feedback::{FileFolder, FileStore, SvmRegistry, cid_of},
    verify::{Chains, EvmChains, FileError, RegistrationFiles, SvmChains},
};
use serde_json::json;
use std::{collections::BTreeSet, path::Path, sync::Arc};

const URI: &str = "https://agent.example/agent.json";

/// The host of the agent's file.
pub struct Host(pub String);

#[async_trait]
impl RegistrationFiles for Host {
    async fn registration(&self, uri: &str, _: bool) -> Result<RegistrationFile, FileError> {
        assert_eq!(uri, URI);
        Ok(parse_registration(self.0.as_bytes()).unwrap().into_view())
    }
}

pub async fn admission(world: &World, solana: &Solana, registry: &str, file: String) -> Admission {
    let mut evm = EvmChains::default();
    let evm_node = node(&world.chain.url);
    evm.add(concord_testkit::chain::CHAIN_ID, evm_node)
        .await
        .unwrap();
    let mut svm = SvmChains::default();
    let network_of_registry = NETWORK.parse().unwrap();
    svm.add(&network_of_registry, solana.cluster.clone())
        .await
        .unwrap();
    let chains = Arc::new(Chains { evm, svm });
    let mut insiders = ChainInsiders::default();
    insiders.add_svm(NETWORK, solana.cluster.clone());
    Admission {
        registries: chains.clone(),
        files: Arc::new(Host(file)),
        payments: chains,
        insiders: Arc::new(insiders),
        payment_chains: BTreeSet::from([network()]),
        takes_unchecked: false,
        assets: vec![format!("{}:{}", network(), world.chain.token)],
        served: vec![registry.to_owned()],
        agents: AllowedAgents::new(),
    }
}

pub async fn svm_registry(solana: &Solana) -> SvmRegistry {
    svm_registry_of(solana, &solana.client).await
}

/// The registry, as another client uses it.
pub async fn svm_registry_of(solana: &Solana, client: &Keypair) -> SvmRegistry {
    let signer = Box::new(client.insecure_clone());
    let (cluster, program) = (solana.cluster.clone(), solana.program);
    let fee = PriorityFee::default();
    let chain = NETWORK.parse().unwrap();
    let connected = SvmRegistry::connect(cluster, &chain, program, signer, fee, TIMING);
    connected.await.unwrap()
}

/// Those of a lane: feedback about two agents is brought on chain side by side.
pub async fn registries(solana: &Solana) -> LaneRegistries {
    let connect = async || Box::new(svm_registry(solana).await);
    LaneRegistries {
        landing: vec![connect().await, connect().await],
        finality: connect().await,
    }
}

/// The agent on Solana has a file, which names a wallet and a signer on the EVM chain.
pub async fn publish(world: &World, solana: &Solana) -> String {
    let owner = Signer::<Svm>::address(&solana.owner);
    let set_uri = solana.program.set_agent_uri(owner, solana.mint, URI);
    solana.send(vec![set_uri], &[&solana.owner]).await;
    let registration = solana.registration();
    let wallet = format!("{}:{}", network(), world.chain.wallet);
    let file = json!({
        "registrations": [{
            "agentRegistry": registration.agent_registry,
            "agentId": registration.agent_id.to_string(),
        }],
        "services": [{ "name": "agentWallet", "endpoint": wallet }],
        "signers": [{
            "publicKey": public_key(&world.chain.signer).trim_start_matches("0x"),
            "algorithm": "secp256k1", "validFrom": 1, "validUntil": null,
        }],
    });
    file.to_string()
}

/// An aggregator that settles on Solana; the registry that it serves, and its account.
pub async fn open(world: &World, solana: &Solana, folder: &Path) -> (Running, String, String) {
    let file = publish(world, solana).await;
    let registries = registries(solana).await;
    let (served, client) = (registries.finality.registry(), registries.finality.client());
    let admission = admission(world, solana, &served, file).await;
    let files: Arc<dyn FileStore> = Arc::new(FileFolder::ipfs(&folder.join("files")));
    let running = Running::with(folder, registries, &served, admission, files).await;
    (running, served, client)
}

pub async fn review(world: &World, solana: &Solana) -> Draft {
    let registration = solana.registration();
    let mut draft = world.review(&world.pay(1_000).await);
    draft.registry = registration.agent_registry.clone();
    draft.agent_id = registration.agent_id.to_string();
    draft
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r54_a_payment_on_an_evm_chain_is_rated_on_solana() {
    let (world, solana) = (World::start().await, Solana::start().await);
    let folder = tempfile::tempdir().unwrap();
    let (running, served, client) = open(&world, &solana, folder.path()).await;
    let mut draft = review(&world, &solana).await;
    for (index, value) in [(1u64, 80i128), (2, -7)] {
        if index == 2 {
            draft.task_ref = format!("{}:{}", network(), world.pay(1).await);
        }
        draft.value = value;
        let answer = running.submit(&draft).await;
        assert_eq!(answer.status, 200, "{}", answer.body);
        assert_eq!(answer.body["settlementRegistry"], *served);
        let tx_ref = answer.body["txRef"].as_str().unwrap();
        let signature = tx_ref.strip_prefix(&format!("{NETWORK}:")).unwrap();
        let executed = solana
            .cluster
            .transaction(signature)
            .await
            .unwrap()
            .unwrap();
        assert!(executed.meta.err.is_null());
        let account = client.rsplit(':').next().unwrap().parse().unwrap();
        let place = solana.program.open_feedback(&solana.mint, &account, index);
        let found = solana.cluster.account(&place).await.unwrap().unwrap();
        let entry: OpenFeedback = solana.program.decode(&found.owner, &found.data).unwrap();
        assert_eq!(
            (entry.value, &*entry.tag1),
            (value, "x402-resource-delivered")
        );
        let cid = answer.body["feedbackURI"]
            .as_str()
            .unwrap()
            .trim_start_matches("ipfs://")
            .to_owned();
        let file = running.bytes(&format!("/ipfs/{cid}")).await;
        assert_eq!(cid_of(&file), cid);
        let row = running.store.get(index).unwrap().unwrap();
        assert_eq!(row.submission.hash, keccak256(&file).to_string());
        let file: serde_json::Value = serde_json::from_slice(&file).unwrap();
        assert_eq!(file["clientAddress"], *client);
        assert_eq!(
            file["proofOfParticipation"]["reviewerAddress"],
            *draft.reviewer
        );
    }
    // a payment that nobody made
    draft.task_ref = format!("{}:0x{}", network(), "cd".repeat(32));
    let answer = running.submit(&draft).await;
    assert_eq!(
        (answer.status, &answer.body["class"]),
        (400, &json!("PaymentNotFound"))
    );
    draft.task_ref = format!("{NETWORK}:{}", bs58::encode([7; 64]).into_string());
    let answer = running.submit(&draft).await;
    assert_eq!(
        (answer.status, &answer.body["class"]),
        (400, &json!("ReviewerMismatch"))
    );
    running.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r54_a_payment_on_a_chain_without_a_node_is_refused_or_marked() {
    let (world, solana) = (World::start().await, Solana::start().await);
    let file = publish(&world, &solana).await;
    let draft = review(&world, &solana).await;
    for takes_unchecked in [false, true] {
        let registries = registries(&solana).await;
        let served = registries.finality.registry();
        let mut admission = admission(&world, &solana, &served, file.clone()).await;
        admission.payment_chains = BTreeSet::from([NETWORK.to_owned()]);
        admission.takes_unchecked = takes_unchecked;
        let folder = tempfile::tempdir().unwrap();
        let files: Arc<dyn FileStore> = Arc::new(FileFolder::ipfs(&folder.path().join("files")));
        let running = Running::with(folder.path(), registries, &served, admission, files).await;
        let answer = running.submit(&draft).await;
        if !takes_unchecked {
            let found = (answer.status, &answer.body["class"]);
            assert_eq!(found, (400, &json!("PaymentChainNotServed")));
            let mut forged = draft.clone();
            forged.agent_key = PreparedKey::secp256k1(&[5; 32]).unwrap();
            let answer = running.submit(&forged).await;
            let found = (answer.status, &answer.body["class"]);
            assert_eq!(
                found,
                (422, &json!("SignerUnknown")),
                "R52: before the payment"
            );
            running.stop().await;
            continue;
        }
        assert_eq!(answer.status, 200, "{}", answer.body);
        let file = running.store.file(1).unwrap().unwrap();
        let file: serde_json::Value = serde_json::from_str(&file).unwrap();
        assert_eq!(file["payments"], "unchecked");
        running.stop().await;
    }
}
