//! What was settled on an EVM chain: Circle's token, whose `transferWithAuthorization` (EIP-3009) is what x402's scheme `exact`
//! has a facilitator send.
use crate::{
    shut_out::as_owner,
    sponsored::{get, post},
    world::{World, network, node, store, transferCall},
};
use alloy::{
    network::TransactionBuilder,
    primitives::{Address, B256, U256},
    rpc::types::TransactionRequest,
    signers::local::PrivateKeySigner,
    sol,
    sol_types::SolCall,
};
use concord_aggregator::{EvmSettler, Revenues, revenue_router};
use concord_chain::evm::Confirmations;
use concord_registry::evm::calls;
use concord_testkit::chain::CHAIN_ID;
use concord_x402::{
    pay::{EvmPayer, TokenDomain, TransferAuthorization},
    verify::EvmChains,
};
use serde_json::{Value, json};
use std::{path::Path, sync::Arc};
use tokio::net::TcpListener;

const DAY: u64 = 86_400;
/// Blocks after which a payment is final.
const BLOCKS: u64 = 2;

sol! {
    function transferWithAuthorization(
        address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, bytes signature
    ) external;
}

async fn serve(world: &World, folder: &Path) -> String {
    let mut payments = EvmChains::default();
    payments
        .add(CHAIN_ID, node(&world.chain.url))
        .await
        .unwrap();
    let routes = revenue_router(Revenues {
        store: store(folder),
        facilitators: Arc::new([]),
        evm: vec![EvmSettler {
            network: network(),
            node: node(&world.chain.url),
            identity: world.chain.registry,
            payments: Arc::new(payments),
            settlers: vec![world.chain.facilitator.address()],
            confirmations: Confirmations::Blocks(BLOCKS),
        }],
        assets: vec![format!("{}:{}", network(), world.chain.token).to_lowercase()],
    });
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let origin = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, routes).await.unwrap() });
    origin
}

/// The payer authorizes a payment, and `settler` sends it. Returns the task's reference.
async fn settle(world: &World, settler: &PrivateKeySigner, to: Address, amount: u64) -> String {
    let transfer = TransferAuthorization {
        domain: TokenDomain {
            name: "USDC".to_owned(),
            version: "2".to_owned(),
            chain_id: CHAIN_ID,
            verifying_contract: world.chain.token,
        },
        from: world.chain.payer.address(),
        to,
        value: U256::from(amount),
        valid_after: 0,
        valid_before: u64::MAX,
        nonce: B256::random(),
    };
    let signature = EvmPayer::sign(&world.chain.payer, &transfer).await.unwrap();
    let call = transferWithAuthorizationCall {
        from: transfer.from,
        to,
        value: transfer.value,
        validAfter: U256::from(transfer.valid_after),
        validBefore: U256::from(transfer.valid_before),
        nonce: transfer.nonce,
        signature: signature.as_bytes().to_vec().into(),
    };
    let request = TransactionRequest::default()
        .with_to(world.chain.token)
        .with_input(call.abi_encode());
    let receipt = world.send(settler, request).await;
    assert!(receipt.status());
    format!("{}:{}", network(), receipt.transaction_hash)
}

/// The token refuses this transfer on chain: nobody has so much.
async fn failed(world: &World, settler: &PrivateKeySigner) -> String {
    let call = transferCall {
        to: world.chain.wallet,
        amount: U256::MAX,
    };
    let request = TransactionRequest::default()
        .with_to(world.chain.token)
        .with_input(call.abi_encode())
        .with_gas_limit(200_000); // it is sent without a trial
    let receipt = world.send(settler, request).await;
    assert!(!receipt.status());
    format!("{}:{}", network(), receipt.transaction_hash)
}

fn told(world: &World, task_ref: &str) -> Value {
    json!({
        "agentRegistry": world.chain.registry_account(),
        "agentId": world.chain.agent_id.to_string(),
        "taskRef": task_ref,
        "payer": world.chain.payer.address().to_string(),
        "token": world.chain.token.to_string(),
    })
}

fn with(told: &Value, field: &str, value: impl ToString) -> Value {
    let mut changed = told.clone();
    changed[field] = json!(value.to_string());
    changed
}

async fn found(url: &str, told: &Value) -> (u16, String) {
    let (status, body) = post(url, told).await;
    let name = body["class"].as_str().or(body["status"].as_str());
    (status, name.unwrap_or_default().to_owned())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r60_revenues_on_an_evm_chain_are_what_was_settled_here_each_payment_once() {
    let world = World::start().await;
    let folder = tempfile::tempdir().unwrap();
    let origin = serve(&world, folder.path()).await;
    let url = format!("{origin}/settlements");
    let (settler, wallet) = (&world.chain.facilitator, world.chain.wallet);
    let first = told(&world, &settle(&world, settler, wallet, 1_000).await);
    let not_final = (503, "NotFinal".to_owned());
    assert_eq!(found(&url, &first).await, not_final);
    let second = told(&world, &settle(&world, settler, wallet, 5).await);
    world.mine(BLOCKS).await;
    let mut paid_at = 0;
    // EVM addresses have no case
    let mut lower = first.clone();
    for field in lower.as_object_mut().unwrap().values_mut() {
        *field = json!(field.as_str().unwrap().to_lowercase());
    }
    for (told, amount) in [
        (&first, "1000"),
        (&second, "5"),
        (&first, "1000"),
        (&lower, "1000"),
    ] {
        let (status, body) = post(&url, told).await;
        let found = (status, &body["status"], &body["amount"]);
        assert_eq!(found, (200, &json!("recorded"), &json!(amount)), "{body}");
        paid_at = paid_at.max(body["paidAt"].as_u64().unwrap());
    }

    let registry = world.chain.registry_account();
    let agent =
        |registry: &str| format!("agentRegistry={registry}&agentId={}", world.chain.agent_id);
    let end = paid_at + 1;
    let payer = format!("{}:{}", network(), world.chain.payer.address()).to_lowercase();
    let recorded = post(&url, &second).await.1;
    assert_eq!(recorded["payer"], *payer, "R57: lower case");
    let asset = recorded["asset"].as_str().unwrap().to_owned();
    for (window, seconds) in [("day", DAY), ("week", 7 * DAY)] {
        for agent in [agent(&registry), agent(&registry.to_lowercase())] {
            let query = format!("{origin}/revenues?{agent}&window={window}&end={end}");
            let (status, body) = get(&query).await;
            let expected = json!([{
                "asset": asset, "payments": 2, "payers": 1, "amount": "1005",
                "signal": { "tag1": "revenues", "tag2": window, "value": "1005", "valueDecimals": 6 },
            }]);
            assert_eq!((status, &body["revenues"]), (200, &expected), "{body}");
            let span = json!({ "name": window, "from": end - seconds, "to": end });
            assert_eq!(body["window"], span);
        }
    }
    let elsewhere = agent(&registry.replace(&network(), "eip155:1"));
    let (status, body) = get(&format!("{origin}/revenues?{elsewhere}&window=day")).await;
    let not_served = (404, &json!("RegistryNotServed"));
    assert_eq!(
        (status, &body["class"]),
        not_served,
        "nothing is known there"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r60_nothing_else_on_an_evm_chain_is_revenue() {
    let world = World::start().await;
    let folder = tempfile::tempdir().unwrap();
    let origin = serve(&world, folder.path()).await;
    let url = format!("{origin}/settlements");
    let chain = &world.chain;
    let (settler, wallet) = (&chain.facilitator, chain.wallet);
    let good = told(&world, &settle(&world, settler, wallet, 7).await);
    let by_payer = told(&world, &settle(&world, &chain.payer, wallet, 7).await);
    let to_another = told(&world, &settle(&world, settler, world.open, 7).await);
    let nothing = told(&world, &settle(&world, settler, wallet, 0).await);
    let second_agent = chain.register_agent("").await;
    let later = told(&world, &settle(&world, settler, wallet, 8).await);
    let failed = failed(&world, settler).await;
    // R36: in another block it could still succeed
    let not_final = (503, "NotFinal".to_owned());
    assert_eq!(
        found(&url, &with(&good, "taskRef", &failed)).await,
        not_final
    );
    world.mine(BLOCKS).await;
    let unknown = format!("{}:0x{}", network(), "cd".repeat(32));
    let other_chain = format!("eip155:1:0x{}", "cd".repeat(32));
    let other_registry = format!("{}:{}", network(), world.open);
    let stranger = Address::repeat_byte(9);
    for (told, status, class) in [
        (&json!([]), 400, "FieldMissing"),
        (&with(&good, "taskRef", "x"), 400, "MalformedTaskRef"),
        (&with(&good, "agentId", "07"), 400, "BadRequest"),
        (&with(&good, "payer", "0x12"), 400, "MalformedAddress"),
        (
            &with(&good, "agentRegistry", &other_registry),
            404,
            "RegistryNotServed",
        ),
        (&with(&good, "taskRef", &other_chain), 400, "TokenNotListed"),
        (&with(&good, "token", stranger), 400, "TokenNotListed"),
        // R36: a node does not have yet what was just sent
        (&with(&good, "taskRef", &unknown), 503, "NotFinal"),
        (&with(&good, "taskRef", &failed), 400, "PaymentNotFound"),
        (&by_payer, 400, "NotSettledHere"),
        (&with(&good, "agentId", "4242"), 404, "AgentNotFound"),
        // it was registered after this payment
        (&with(&good, "agentId", second_agent), 404, "AgentNotFound"),
        (&to_another, 400, "PaymentMismatch"),
        (&nothing, 400, "PaymentMismatch"),
        (&with(&good, "payer", stranger), 400, "PaymentMismatch"),
        (&good, 200, "recorded"),
        (&later, 200, "recorded"),
        // both agents have this wallet, and it was paid once
        (
            &with(&later, "agentId", second_agent),
            400,
            "CountedElsewhere",
        ),
    ] {
        let expected = (status, class.to_owned());
        assert_eq!(found(&url, told).await, expected, "{told}");
    }

    // R27: what counts is how the agent was when it was paid
    as_owner(
        &world,
        calls::approve(chain.agent_id, chain.payer.address()).to_vec(),
    )
    .await;
    let insider = told(&world, &settle(&world, settler, wallet, 9).await);
    as_owner(&world, calls::unset_agent_wallet(chain.agent_id).to_vec()).await;
    as_owner(
        &world,
        calls::approve(chain.agent_id, Address::ZERO).to_vec(),
    )
    .await;
    let without_wallet = told(&world, &settle(&world, settler, wallet, 9).await);
    world.mine(BLOCKS).await;
    for (told, status, class) in [
        (&insider, 400, "SelfFeedback"),
        (&without_wallet, 400, "WalletUndeclared"),
        (&good, 200, "recorded"),
    ] {
        let expected = (status, class.to_owned());
        assert_eq!(found(&url, told).await, expected, "{told}");
    }
    // R36: nothing is recorded without a node
    chain.stop();
    assert_eq!(found(&url, &good).await, (503, "Unavailable".to_owned()));
}
