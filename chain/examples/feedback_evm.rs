//! Registers an agent on an EVM chain, lets a new client give one authorized feedback, and reads it
//! back. `feedback_evm URL CAIP-2 IDENTITY REPUTATION`, with CONCORD_EVM_PRIVATE_KEY.
use concord_chain::{
    Blocking, ChainId, EndpointOptions,
    evm::{Client, ClientOptions, FeeLimit, TRANSFER_GAS, TxCall},
    keys::{EvmKeySource, PrivateKeySigner},
};
use concord_registry::{
    canonical::{
        auth::EvmFeedbackAuth,
        sign::{secp256k1_sign, to_ethereum_v},
        word,
    },
    evm::{Address, Bytes, U256, abi, alloy_sol_types::SolEvent, calls},
};
use std::{error::Error, time::Duration};

async fn run(arguments: &[String]) -> Result<(), Box<dyn Error>> {
    let [url, chain, identity, reputation] = arguments else {
        return Err("feedback_evm URL CAIP-2 IDENTITY REPUTATION".into());
    };
    let (identity, reputation): (Address, Address) = (identity.parse()?, reputation.parse()?);
    let owner = EvmKeySource::default().open()?.ok_or("no key")?;
    let mut chain = Client::connect(ClientOptions {
        chain: ChainId::parse(chain)?,
        endpoint: EndpointOptions::new(url),
        give_up_after: Duration::from_secs(60),
        fee_limit: FeeLimit::default(),
    })
    .await?;

    let registered = send(&mut chain, &owner, identity, calls::register("", &[])).await?;
    let agent_id: U256 = registered.ok_or("no event")?;
    let client = PrivateKeySigner::random();
    let fields = EvmFeedbackAuth {
        agent_id: agent_id.to_be_bytes(),
        client_address: client.address().into_array(),
        index_limit: 1,
        expiry: word::from_u64(chain.latest_time().await? + 3_600),
        chain_id: word::from_u64(chain.chain_id()),
        identity_registry: identity.into_array(),
        signer_address: owner.address().into_array(),
    };
    let digest = fields.eip712_digest(&reputation.into_array());
    let signature = to_ethereum_v(&secp256k1_sign(&owner.to_bytes().0, &digest)?)?;
    let input = calls::give_feedback(&calls::GiveFeedback {
        agent_id,
        score: 87,
        tag1: [0; 32],
        tag2: [0; 32],
        uri: "",
        hash: [0; 32],
        authorization: &fields.blob(&signature),
    });
    let funds = TxCall {
        to: client.address(),
        value: U256::from(10u64.pow(16)),
        gas: TRANSFER_GAS,
        input: Bytes::new(),
    };
    let funded = chain.send(&owner, funds).await?;
    chain.landed(funded).await?;
    send(&mut chain, &client, reputation, input).await?;

    let summary = abi::AuthorizedReputationRegistry::getSummary_0Call { agentId: agent_id };
    let summary = chain.node().read(reputation, &summary).await??;
    println!(
        "agent {agent_id}: {} feedback, average {}",
        summary.count, summary.averageScore
    );
    Ok(())
}

/// Lands a call; the agent's id if it registered one.
async fn send(
    chain: &mut Client,
    signer: &PrivateKeySigner,
    to: Address,
    input: Bytes,
) -> Result<Option<U256>, Box<dyn Error>> {
    let gas = chain.simulate(signer.address(), to, &input).await?;
    let (gas, value) = (gas.map_err(|revert| revert.to_string())?, U256::ZERO);
    let hash = chain
        .send(
            signer,
            TxCall {
                to,
                value,
                gas,
                input,
            },
        )
        .await?;
    let logs = chain.landed(hash).await?.logs().to_vec();
    let registered = |log: &_| abi::IdentityRegistry::Registered::decode_log(log).ok();
    let registered = logs.iter().find_map(|log| registered(&log.inner));
    Ok(registered.map(|event| event.agentId))
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    Blocking::new()?.wait(run(&arguments))
}
