//! How an agent on an EVM chain is read: at once if the node can, else with a request for each field.
use crate::settled::paying::open;
use alloy::{
    primitives::{Bytes, U256},
    providers::{Provider, ext::AnvilApi},
};
use concord_canonical::{caip::AccountId, sign::PreparedKey};
use concord_chain::{EndpointOptions, evm::Node};
use concord_files::{AgentId, RegistrationId, X402Profile, encode_uri};
use concord_registry::evm::calls;
use concord_testkit::chain::{CHAIN_ID, Chain};
use concord_testkit::proxy::Proxy;
use concord_testkit::shop;
use concord_x402::verify::{AgentRecord, EvmChains, Registries};

/// Bytes of a URI that a registry stores as code, and with which the answer is longer than code may be (24,576 bytes, EIP-170).
const TOO_LONG_TO_RETURN: usize = 24_500;

async fn chains_at(url: &str) -> EvmChains {
    let mut chains = EvmChains::default();
    let node = Node::new(&EndpointOptions::new(url)).unwrap();
    chains.add(CHAIN_ID, node).await.unwrap();
    chains
}

fn registration(chain: &Chain, id: U256) -> RegistrationId {
    let agent_registry = chain.registry_account();
    let registry = AccountId::parse(&agent_registry).unwrap();
    RegistrationId {
        agent_id: AgentId::parse(&registry, &id.to_string()).unwrap(),
        agent_registry,
    }
}

/// The agent as it is now, read at once; the same in the block that this was, with a request for each field.
async fn both_ways(chain: &Chain, id: U256) -> [Option<AgentRecord>; 2] {
    let chains = chains_at(&chain.url).await;
    let id = registration(chain, id);
    let now = chains.agent(&id, None).await.unwrap();
    let block = chain.provider.get_block_number().await.unwrap();
    let then = chains.agent(&id, Some(block)).await.unwrap();
    [now, then]
}

#[tokio::test]
async fn a_check_before_a_payment_is_one_request_to_an_evm_node() {
    let mut chain = Chain::start().await;
    let (shop, _folder, _url) = open(&chain).await;
    let proxy = Proxy::start(&chain.url).await;
    chain.reads = chains_at(&proxy.url).await;
    assert_eq!(proxy.requests(), 3, "chain id, a trial and its block");
    for state in ["cold", "warm"] {
        let before = proxy.requests();
        shop.quote(&chain, shop::PRICE).await.unwrap();
        assert_eq!(proxy.requests() - before, 1, "{state}");
    }
}

#[tokio::test]
async fn a_node_that_runs_no_creation_code_is_asked_for_each_field() {
    let mut chain = Chain::start().await;
    let (shop, _folder, _url) = open(&chain).await;
    let proxy = Proxy::start(&chain.url).await;
    chain.reads = chains_at(&proxy.url).await;
    let at_once = shop.quote(&chain, shop::PRICE).await.unwrap();
    proxy.run_no_creation_code();
    for chains in [chain.reads.clone(), chains_at(&proxy.url).await] {
        chain.reads = chains;
        let quote = shop.quote(&chain, shop::PRICE).await.unwrap();
        assert_eq!(quote, at_once);
    }
    // the block's number, three calls, the wallet's code
    let before = proxy.requests();
    shop.quote(&chain, shop::PRICE).await.unwrap();
    assert_eq!(proxy.requests() - before, 5);
}

#[tokio::test]
async fn both_ways_read_the_same() {
    let chain = Chain::start().await;
    let [now, then] = both_ways(&chain, chain.agent_id).await;
    assert_eq!(now.as_ref().unwrap().wallet, Some(chain.wallet.to_string()));
    assert!(!now.as_ref().unwrap().is_wallet_contract);
    assert_eq!(now, then);

    let code = Bytes::from_static(&[0xfe]);
    chain
        .provider
        .anvil_set_code(chain.wallet, code)
        .await
        .unwrap();
    let [now, then] = both_ways(&chain, chain.agent_id).await;
    assert!(now.as_ref().unwrap().is_wallet_contract);
    assert_eq!(now, then);
    chain
        .provider
        .anvil_set_code(chain.wallet, Bytes::new())
        .await
        .unwrap();

    chain.transfer_agent().await;
    let [now, then] = both_ways(&chain, chain.agent_id).await;
    assert_eq!(now.as_ref().unwrap().wallet, None);
    assert_eq!(now, then);

    assert_eq!(both_ways(&chain, U256::from(99)).await, [None, None]);

    for uri in ["".to_owned(), "a".repeat(TOO_LONG_TO_RETURN)] {
        let id = chain.register_agent("").await;
        chain
            .call(chain.registry, calls::set_agent_uri(id, &uri))
            .await;
        let [now, then] = both_ways(&chain, id).await;
        assert_eq!(now.as_ref().unwrap().uri, uri);
        assert_eq!(now, then);
    }
}

/// What is not a registry answers neither way.
#[tokio::test]
async fn an_account_without_code_is_no_registry() {
    let mut chain = Chain::start().await;
    chain.registry = chain.wallet;
    let chains = chains_at(&chain.url).await;
    let id = registration(&chain, U256::from(1));
    let block = chain.provider.get_block_number().await.unwrap();
    for block in [None, Some(block)] {
        let refused = chains.agent(&id, block).await.unwrap_err();
        assert_eq!(refused.0, "tokenURI answers 0x");
    }
}

/// A contract that accepts every signature (ERC-1271) until it is called without input: from then on none.
const JUDGE: &str =
    "602180600b6000396000f33615601a5760005415631626ba7e60e01b0260005260206000f35b600160005500";
/// What an account's code is after it delegated (EIP-7702).
const DELEGATION: [u8; 23] = [
    0xef, 1, 0, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7,
];

/// R29, R30: what a wallet becomes after it was paid does not undo what it signed.
#[tokio::test]
async fn r29_a_wallet_that_delegates_after_the_payment_has_signed_before() {
    let mut chain = Chain::start().await;
    let listed = registration(&chain, chain.agent_id);
    let file = serde_json::json!({ "registrations": [{
        "agentRegistry": listed.agent_registry, "agentId": chain.agent_id.to_string(),
    }] });
    let uri = encode_uri(file.to_string().as_bytes());
    let set = calls::set_agent_uri(chain.agent_id, &uri);
    chain.call(chain.registry, set).await;
    chain.signer = PreparedKey::secp256k1(&chain.owner.to_bytes().into()).unwrap();
    let shop = shop::Shop::open(&chain, &X402Profile::ALL).await;
    let exchange = shop.buy(&chain, "GET", "/weather?city=London").await;
    assert!(exchange.verify(&chain).await.is_verified());

    chain.pass(1).await;
    let code = Bytes::from_static(&DELEGATION);
    let delegated = chain.provider.anvil_set_code(chain.wallet, code).await;
    delegated.unwrap();
    chain.pass(1).await;
    let report = exchange.verify(&chain).await;
    assert!(report.is_verified(), "{:?}", report.steps);
    // nor was the wallet a contract in the block of the payment
    let paid = chain.provider.get_block_number().await.unwrap() - 2;
    let then = chain.reads.agent(&listed, Some(paid)).await.unwrap();
    assert!(!then.unwrap().is_wallet_contract);
}

#[tokio::test]
async fn r29_a_contract_judges_as_it_did_in_the_block_that_is_asked() {
    let chain = Chain::start().await;
    let wallet = chain.deploy(JUDGE).await;
    let before = chain.provider.get_block_number().await.unwrap();
    chain.call(wallet, Bytes::new()).await;
    let id = registration(&chain, chain.agent_id);
    let wallet = wallet.to_string();
    for (block, expected) in [(before, true), (before + 1, false)] {
        let asked = (chain.reads).is_signed_by_contract(&id, block, &wallet, &[1; 32], &[7; 65]);
        assert_eq!(asked.await.unwrap(), expected, "block {block}");
    }
}
