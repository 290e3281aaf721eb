//! A payment that a file of PROFILE or BP states: it is the client's to the agent, or only the file says so.
use crate::online::{
    anvil::{CHAIN, CLIENT, OWNER, World},
    evm::{explained, trust},
    flips, offline,
    paid::{token, token_of_transfers, transfer},
};
use alloy::primitives::{Address, B256, Bytes, U256, keccak256};
use concord_explain::{Bundle, Finding, State, Step, Trust, online::At};
use concord_files::encode_uri;
use serde_json::{Value, json};

const STRANGER: usize = 5;
const USDC_ON_SOLANA: &str = "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v";

struct Proven {
    world: World,
    token: Address,
}

impl Proven {
    async fn start() -> Self {
        Self::start_with(token()).await
    }

    async fn start_with(token: Bytes) -> Self {
        let world = World::start().await;
        let token = world.deploy(token).await;
        Self { world, token }
    }

    /// Anybody can make the token say this.
    async fn moved(&self, from: usize, to: usize, amount: u64) -> B256 {
        let [from, to] = [from, to].map(|it| self.world.accounts[it]);
        let input = transfer(from, to, amount);
        self.world.send(STRANGER, self.token, input).await
    }

    /// What the client's file states of a payment.
    fn proof(&self, payment: B256, from: usize, to: usize) -> Value {
        let [from, to] = [from, to].map(|it| self.world.accounts[it].to_string());
        json!({ "fromAddress": from, "toAddress": to, "chainId": "31337", "txHash": payment.to_string() })
    }

    /// Gives the client's feedback with this proof, and explains it online and offline.
    async fn explained(&self, proof: Value) -> (Bundle, Finding, Trust) {
        let world = &self.world;
        let (uri, _) = world.file(87);
        let plain = uri.strip_prefix("data:,").expect("a data URI");
        let mut file: Value = serde_json::from_str(plain).expect("JSON");
        file["proofOfPayment"] = proof;
        let file = file.to_string();
        let give = world.give(87, &encode_uri(file.as_bytes()), keccak256(&file));
        let sent = world.send(CLIENT, world.open, give).await;
        let mut trust = trust(world).await;
        let name = format!("{CHAIN}:{sent}");
        let found = explained(world, &name, Some(At::Latest), &mut trust).await;
        let (bundle, report) = found.expect("a feedback");
        assert_eq!(offline(&bundle, &trust), report);
        let finding = report.finding(Step::PaymentProof).expect("a finding");
        (bundle, finding.clone(), trust)
    }

    async fn state(&self, proof: Value) -> (State, String) {
        let (_, finding, _) = self.explained(proof).await;
        (finding.state, finding.detail)
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn r27_the_clients_payment_to_the_agents_wallet_is_verified_and_shown() {
    let proven = Proven::start().await;
    let payment = proven.moved(CLIENT, OWNER, 1_000).await;
    let mut proof = proven.proof(payment, CLIENT, OWNER);
    let token = proven.token.to_string();
    proof["tokenAddress"] = json!(token);
    proof["amount"] = json!("1000");
    let (bundle, finding, trust) = proven.explained(proof).await;
    assert_eq!(finding.state, State::Verified, "{finding:#?}");
    for (name, value) in [("token", &*token), ("amount", "1000")] {
        let fact = finding.evidence.iter().find(|it| it.name == name);
        assert_eq!(fact.expect("a fact").value, value, "{name}");
    }
    let refuted = flips::check_evm(&bundle, &trust);
    assert!(refuted.contains(&Step::PaymentProof), "{refuted:?}");
}

/// `transferFrom` of nothing needs no approval.
#[tokio::test(flavor = "multi_thread")]
async fn r27_a_transfer_of_nothing_is_no_payment() {
    let proven = Proven::start().await;
    let nothing = proven.moved(CLIENT, OWNER, 0).await;
    let mut proof = proven.proof(nothing, CLIENT, OWNER);
    let (state, detail) = proven.state(proof.clone()).await;
    assert_eq!(state, State::CannotCheck, "{detail}");
    proof["tokenAddress"] = json!(proven.token.to_string());
    let (state, detail) = proven.state(proof).await;
    assert_eq!(state, State::Refuted, "{detail}");
}

#[tokio::test(flavor = "multi_thread")]
async fn r36_a_token_that_is_no_address_of_the_chain_is_not_verified() {
    let proven = Proven::start().await;
    let payment = proven.moved(CLIENT, OWNER, 1_000).await;
    let mut proof = proven.proof(payment, CLIENT, OWNER);
    // no address at all: the file has no form that is read
    proof["tokenAddress"] = json!("USDC");
    let (state, detail) = proven.state(proof.clone()).await;
    assert_eq!(state, State::CannotCheck, "{detail}");
    // one of another kind of chain
    proof["tokenAddress"] = json!(USDC_ON_SOLANA);
    let (state, detail) = proven.state(proof).await;
    assert_eq!(state, State::Refuted, "{detail}");
    assert!(detail.contains(USDC_ON_SOLANA), "{detail}");
}

#[tokio::test(flavor = "multi_thread")]
async fn r27_a_payment_between_others_is_claimed() {
    let proven = Proven::start().await;
    for (from, to, words) in [
        (STRANGER, OWNER, "gave the feedback"),
        (CLIENT, STRANGER, "the agent's wallet is"),
    ] {
        let payment = proven.moved(from, to, 1_000).await;
        let (state, detail) = proven.state(proven.proof(payment, from, to)).await;
        assert_eq!(state, State::Claimed, "{detail}");
        assert!(detail.contains(words), "{detail}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn r36_another_amount_than_the_file_states_is_claimed() {
    let proven = Proven::start().await;
    let payment = proven.moved(CLIENT, OWNER, 1).await;
    let mut proof = proven.proof(payment, CLIENT, OWNER);
    proof["amount"] = json!("1000000");
    let (state, detail) = proven.state(proof).await;
    assert_eq!(state, State::Claimed, "{detail}");
}

/// A swap may pay the agent twice: the transfer that the file states counts, wherever it is among the others.
#[tokio::test(flavor = "multi_thread")]
async fn r27_the_stated_amount_is_looked_for_among_all_transfers() {
    let proven = Proven::start_with(token_of_transfers(2)).await;
    let [from, to] = [CLIENT, OWNER].map(|it| proven.world.accounts[it]);
    let amounts = transfer(from, to, 5).to_vec();
    let input = [&amounts[..], &U256::from(1_000).to_be_bytes::<32>()].concat();
    let payment = proven.world.send(STRANGER, proven.token, input).await;
    let mut proof = proven.proof(payment, CLIENT, OWNER);
    proof["tokenAddress"] = json!(proven.token.to_string());
    for (amount, expected) in [
        ("5", State::Verified),
        ("1000", State::Verified),
        ("1005", State::Claimed),
    ] {
        proof["amount"] = json!(amount);
        let (_, finding, _) = proven.explained(proof.clone()).await;
        assert_eq!(finding.state, expected, "{amount}: {finding:#?}");
    }
}

/// Anybody can make a token: which one was paid is the statement.
#[tokio::test(flavor = "multi_thread")]
async fn r36_a_payment_of_no_named_token_is_claimed() {
    let proven = Proven::start().await;
    let payment = proven.moved(CLIENT, OWNER, 1_000).await;
    let (state, detail) = proven.state(proven.proof(payment, CLIENT, OWNER)).await;
    assert_eq!(state, State::Claimed, "{detail}");
    assert_eq!(detail, "the file names no token");
}
