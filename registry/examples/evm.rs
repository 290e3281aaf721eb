//! Registers an agent on anvil, lets a client give it one feedback, and reads both back.
//!
//! `cargo run -p concord-registry --example evm`, with anvil on PATH and the contracts built.
use alloy::{
    network::{EthereumWallet, TransactionBuilder},
    node_bindings::Anvil,
    primitives::{B256, Bytes, U256},
    providers::{Provider, ProviderBuilder},
    rpc::types::{TransactionReceipt, TransactionRequest},
    signers::{SignerSync, local::PrivateKeySigner},
};
use concord_registry::{
    AgentId, Event,
    canonical::{auth::EvmFeedbackAuth, word},
    event::{Block, Emitted},
    evm::{PlacedLog, RegistryAddresses, abi, alloy_sol_types::SolCall, calls},
};
use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    runtime.enable_all().build()?.block_on(round_trip())
}

async fn round_trip() -> Result<(), Box<dyn Error>> {
    let anvil = Anvil::new().args(["--prune-history", "1000"]).try_spawn()?;
    let [owner, client] = [0, 1].map(|it| PrivateKeySigner::from(anvil.keys()[it].clone()));
    let mut wallet = EthereumWallet::from(owner.clone());
    wallet.register_signer(client.clone());
    let node = ProviderBuilder::new()
        .wallet(wallet)
        .connect_http(anvil.endpoint_url());
    let send = async |request: TransactionRequest| -> Result<TransactionReceipt, Box<dyn Error>> {
        Ok(node.send_transaction(request).await?.get_receipt().await?)
    };
    let from = |key: &PrivateKeySigner| TransactionRequest::default().with_from(key.address());

    // Two registries: who the agents are, and the authorized profile bound to it.
    let made = send(from(&owner).with_deploy_code(code("IdentityRegistry")?)).await?;
    let identity = made.contract_address.ok_or("no contract")?;
    let arguments = calls::authorized_reputation_arguments(identity, false);
    let reputation_code = [code("AuthorizedReputationRegistry")?, arguments.into()].concat();
    let made = send(from(&owner).with_deploy_code(reputation_code)).await?;
    let reputation = made.contract_address.ok_or("no contract")?;
    let registries = RegistryAddresses {
        identity,
        open_reputation: None,
        authorized_reputation: Some(reputation),
        validation: None,
    };

    // The owner registers an agent.
    let input = calls::register("ipfs://agent", &[]);
    let receipt = send(from(&owner).with_to(identity).with_input(input)).await?;
    let registered = events(&registries, &receipt).remove(0).event;
    let Event::AgentRegistered {
        agent: AgentId::Evm(agent_id),
        ..
    } = registered
    else {
        return Err(format!("not a registration: {registered:?}").into());
    };

    // The owner authorizes one feedback by the client (R6, R8), and the client gives it.
    let grant = EvmFeedbackAuth {
        agent_id,
        client_address: client.address().into_array(),
        index_limit: 1,
        expiry: word::from_u64(u64::MAX),
        chain_id: word::from_u64(anvil.chain_id()),
        identity_registry: identity.into_array(),
        signer_address: owner.address().into_array(),
    };
    let digest = B256::from(grant.eip712_digest(&reputation.into_array()));
    let signature = owner.sign_hash_sync(&digest)?.as_bytes();
    let agent_id = U256::from_be_bytes(agent_id);
    let input = calls::give_feedback(&calls::GiveFeedback {
        agent_id,
        score: 87,
        tag1: [0; 32],
        tag2: [0; 32],
        uri: "ipfs://feedback",
        hash: [0; 32],
        authorization: &grant.blob(&signature),
    });
    let receipt = send(from(&client).with_to(reputation).with_input(input)).await?;
    println!("{:#?}", events(&registries, &receipt));

    // Anyone reads the summary.
    let call = abi::AuthorizedReputationRegistry::getSummary_0Call { agentId: agent_id };
    let asked = from(&client)
        .with_to(reputation)
        .with_input(call.abi_encode());
    let answer = node.call(asked).await?;
    let summary = abi::AuthorizedReputationRegistry::getSummary_0Call::abi_decode_returns(&answer)?;
    println!("count {}, average {}", summary.count, summary.averageScore);
    assert_eq!((summary.count, summary.averageScore), (1, 87));
    Ok(())
}

fn events(registries: &RegistryAddresses, receipt: &TransactionReceipt) -> Vec<Emitted> {
    let placed = receipt.logs().iter().map(|log| PlacedLog {
        block: Block {
            number: log.block_number.unwrap_or_default(),
            hash: log.block_hash.map(|it| it.0),
        },
        transaction: receipt.transaction_hash,
        index: log.log_index.unwrap_or_default(),
        log: log.inner.clone(),
    });
    let decoded = registries.events("eip155:31337", &placed.collect::<Vec<_>>());
    assert!(decoded.undecoded.is_empty());
    decoded.events
}

/// What `forge build` made of a contract.
fn code(contract: &str) -> Result<Bytes, Box<dyn Error>> {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../contracts/out");
    let text = std::fs::read_to_string(format!("{root}/{contract}.sol/{contract}.json"))?;
    let artifact: serde_json::Value = serde_json::from_str(&text)?;
    let code = artifact["bytecode"]["object"].as_str().ok_or("no code")?;
    Ok(code.parse()?)
}
