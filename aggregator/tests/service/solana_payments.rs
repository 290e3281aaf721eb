//! An agent on a cluster with a token, its client, who pays in it, and the account that settles.
use crate::world::pause;
use alloy::transports::http::reqwest;
use base64::{Engine, engine::general_purpose::STANDARD};
use concord_chain::{Signer, Svm, keys::Keypair, svm::sign};
use concord_registry::svm::{AccountMeta, Address, Instruction, accounts::AgentIdentity};
use concord_testkit::cluster::{NETWORK, Solana};
use serde_json::{Value, json};
use solana_account::Account;

pub const SPL_TOKEN: &str = "TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA";
pub const MINT: [u8; 32] = [51; 32];
pub const CLIENT_TOKENS: [u8; 32] = [52; 32];
pub const WALLET_TOKENS: [u8; 32] = [53; 32];
pub const SECOND_TOKENS: [u8; 32] = [54; 32];
/// Of the wallet's owner too.
pub const OWNER_TOKENS: [u8; 32] = [55; 32];

/// A second client, who has the token too.
pub fn second_client() -> Keypair {
    Keypair::new_from_array([63; 32])
}

/// The account that settles, and the key that states.
pub fn keys() -> [Keypair; 2] {
    [[61; 32], [62; 32]].map(Keypair::new_from_array)
}

pub fn account(owner: &str, data: Vec<u8>) -> Account {
    Account {
        lamports: 1_000_000_000,
        data,
        owner: owner.parse().unwrap(),
        executable: false,
        rent_epoch: u64::MAX,
    }
}

/// SPL Token's layout: 165 bytes, the state (initialized) is the 109th.
pub fn holding(owner: &Address, amount: u64) -> Vec<u8> {
    let mut data = [&MINT[..], owner.as_ref(), &amount.to_le_bytes()].concat();
    data.resize(165, 0);
    data[108] = 1;
    data
}

/// 82 bytes: supply, decimals and "initialized" follow the authority.
pub fn mint() -> Vec<u8> {
    let mut data = vec![0; 36];
    data.extend(1_000_000u64.to_le_bytes());
    data.extend([6, 1]);
    data.resize(82, 0);
    data
}

pub async fn start() -> Solana {
    start_with(mint()).await
}

/// With these bytes where the token's mint is.
pub async fn start_with(mint: Vec<u8>) -> Solana {
    let owner = Signer::<Svm>::address(&Keypair::new_from_array([21; 32]));
    let client = Signer::<Svm>::address(&Keypair::new_from_array([22; 32]));
    let second = Signer::<Svm>::address(&second_client());
    let solana = Solana::start_with(vec![
        (MINT.into(), account(SPL_TOKEN, mint)),
        (
            CLIENT_TOKENS.into(),
            account(SPL_TOKEN, holding(&client, 900_000)),
        ),
        (
            WALLET_TOKENS.into(),
            account(SPL_TOKEN, holding(&owner, 100_000)),
        ),
        (
            OWNER_TOKENS.into(),
            account(SPL_TOKEN, holding(&owner, 100_000)),
        ),
        (
            SECOND_TOKENS.into(),
            account(SPL_TOKEN, holding(&second, 900_000)),
        ),
        (
            Signer::<Svm>::address(&keys()[0]),
            account("11111111111111111111111111111111", vec![]),
        ),
        (second, account("11111111111111111111111111111111", vec![])),
    ])
    .await;
    assert_eq!(Signer::<Svm>::address(&solana.owner), owner);
    assert_eq!(Signer::<Svm>::address(&solana.client), client);
    solana
}

/// The client pays the agent's wallet; `settler` pays the fee.
pub async fn pay(solana: &Solana, settler: &Keypair, amounts: &[u64]) -> String {
    let signature = solana
        .send(transfers(solana, amounts), &[settler, &solana.client])
        .await;
    format!("{NETWORK}:{signature}")
}

/// As [`pay`], without a look at the mint.
pub async fn pay_unchecked(solana: &Solana, settler: &Keypair, amount: u64) -> String {
    let transfer = Instruction {
        program_id: SPL_TOKEN.parse().unwrap(),
        accounts: vec![
            AccountMeta::new(CLIENT_TOKENS.into(), false),
            AccountMeta::new(WALLET_TOKENS.into(), false),
            AccountMeta::new_readonly(Signer::<Svm>::address(&solana.client), true),
        ],
        data: [&[3][..], &amount.to_le_bytes()].concat(), // Transfer
    };
    let signature = solana
        .send(vec![transfer], &[settler, &solana.client])
        .await;
    format!("{NETWORK}:{signature}")
}

/// The client has less than it sends: the transaction lands, and fails.
pub async fn fail_to_pay(solana: &Solana, settler: &Keypair) -> String {
    let recent = solana.cluster.recent_blockhash().await.unwrap();
    let signers: [&dyn Signer<Svm>; 2] = [settler, &solana.client];
    let transaction = sign(&transfers(solana, &[u64::MAX]), &signers, &recent).await;
    let transaction = transaction.unwrap();
    let raw = STANDARD.encode(&transaction.bytes);
    let options = json!({ "encoding": "base64", "skipPreflight": true });
    let body = json!({
        "jsonrpc": "2.0", "id": 1, "method": "sendTransaction", "params": [raw, options],
    });
    let (_, answer) = ask_once(&solana.url, &body).await;
    assert_eq!(answer["result"], json!(transaction.signature), "{answer}");
    format!("{NETWORK}:{}", transaction.signature)
}

fn transfers(solana: &Solana, amounts: &[u64]) -> Vec<Instruction> {
    let accounts = [CLIENT_TOKENS, WALLET_TOKENS];
    let transfer = |amount: &u64| transfer_between(accounts, &solana.client, *amount);
    amounts.iter().map(transfer).collect()
}

/// TransferChecked from one token account to another.
pub fn transfer_between([from, to]: [[u8; 32]; 2], payer: &Keypair, amount: u64) -> Instruction {
    Instruction {
        program_id: SPL_TOKEN.parse().unwrap(),
        accounts: vec![
            AccountMeta::new(from.into(), false),
            AccountMeta::new_readonly(MINT.into(), false),
            AccountMeta::new(to.into(), false),
            AccountMeta::new_readonly(Signer::<Svm>::address(payer), true),
        ],
        data: [&[12][..], &amount.to_le_bytes(), &[6]].concat(),
    }
}

pub async fn agent(solana: &Solana) -> AgentIdentity {
    let place = solana.program.agent(&solana.mint);
    let account = solana.cluster.account(&place).await.unwrap().unwrap();
    let decoded = solana.program.decode(&account.owner, &account.data);
    decoded.unwrap()
}

/// Until the cluster's clock shows a later second than that of the agent's last change.
pub async fn next_second(solana: &Solana) {
    while solana.cluster.unix_time().await.unwrap() <= agent(solana).await.updated_at {
        pause().await;
    }
}

/// Asks until the payment is final.
pub async fn ask(url: &str, request: &Value) -> (u16, Value) {
    loop {
        let (status, body) = ask_once(url, request).await;
        if body["class"] != "NotFinal" {
            return (status, body);
        }
        pause().await;
    }
}

pub async fn ask_once(url: &str, request: &Value) -> (u16, Value) {
    let post = reqwest::Client::new().post(url).body(request.to_string());
    let answer = post.send().await.unwrap();
    let status = answer.status().as_u16();
    let body = serde_json::from_slice(&answer.bytes().await.unwrap());
    (status, body.unwrap())
}

pub fn request(solana: &Solana, task_ref: &str) -> Value {
    let registration = solana.registration();
    json!({
        "agentRegistry": registration.agent_registry,
        "agentId": registration.agent_id.to_string(),
        "taskRef": task_ref,
        "payer": Signer::<Svm>::address(&solana.client).to_string(),
        "token": Address::from(MINT).to_string(),
    })
}
