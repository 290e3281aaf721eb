//! Every flow fits one legacy transaction beside two compute-budget instructions. litesvm does not
//! enforce the limit, so these tests do.

use crate::localnet::{
    Localnet,
    authorization::Authorization,
    instructions::{GiveFeedback, register_agent, revoke_feedback},
    payment::Purchase,
    registry::add_facilitator,
    settings::*,
    token_2022,
};
use solana_address::Address;
use solana_instruction::Instruction;
use solana_keypair::Keypair;
use solana_message::Message;
use solana_signer::Signer;

/// Bytes of an UDP packet that a cluster accepts.
pub const LIMIT: usize = 1232;

/// A legacy transaction's bytes; every account is a key of its message.
pub fn size(payer: &Keypair, signatures: usize, instructions: &[Instruction]) -> usize {
    let budget = Address::from_str_const("ComputeBudget111111111111111111111111111111");
    let limit = [&[2][..], &30_000u32.to_le_bytes()].concat();
    let price = [&[3][..], &1u64.to_le_bytes()].concat();
    let with_budget: Vec<Instruction> = [limit, price]
        .map(|data| Instruction {
            program_id: budget,
            accounts: vec![],
            data,
        })
        .into_iter()
        .chain(instructions.iter().cloned())
        .collect();
    let message = Message::new(&with_budget, Some(&payer.pubkey()));
    assert_eq!(
        usize::from(message.header.num_required_signatures),
        signatures
    );
    1 + 64 * signatures + message.serialize().len()
}

#[test]
fn feedback_with_the_longest_uri_fits() {
    let mut net = Localnet::new();
    let (agent, client) = (net.agent(), net.actor());
    let feedback = GiveFeedback {
        detail_uri: vec![b'a'; 200],
        ..GiveFeedback::new(&agent.mint, &client.pubkey())
    };
    let authorization = Authorization::of(&feedback, &agent.owner.pubkey());
    let bytes = size(
        &client,
        1,
        &[
            authorization.signed_by(&agent.owner),
            feedback.instruction(),
        ],
    );
    println!("give_feedback: {bytes} bytes");
    assert!(bytes <= LIMIT);
}

#[test]
fn registration_with_the_longest_uri_fits() {
    let (owner, mint) = (Keypair::new(), Keypair::new());
    let uri = "a".repeat(200);
    let instruction = register_agent(&owner.pubkey(), &mint.pubkey(), &uri);
    let bytes = size(&owner, 2, &[instruction]);
    println!("register_agent: {bytes} bytes");
    assert!(bytes <= LIMIT);
}

#[test]
fn revocation_and_transfer_with_account_creation_fit() {
    let (owner, buyer, mint) = (
        Keypair::new(),
        Address::from([8; 32]),
        Address::from([7; 32]),
    );
    let bytes = size(&owner, 1, &[revoke_feedback(&owner.pubkey(), &mint, 1)]);
    println!("revoke_feedback: {bytes} bytes");
    assert!(bytes <= LIMIT);
    let (from, to) = (
        token_2022::token_account(&owner.pubkey(), &mint),
        token_2022::token_account(&buyer, &mint),
    );
    let transfer = token_2022::transfer(&from, &mint, &to, &owner.pubkey(), 1);
    let create = token_2022::create_associated(&owner.pubkey(), &buyer, &mint);
    let bytes = size(&owner, 1, &[create, transfer]);
    println!("transfer and a new token account: {bytes} bytes");
    assert!(bytes <= LIMIT);
}

#[test]
fn a_payment_proof_fits() {
    // R13
    let it = Purchase::new();
    let proof = it.proof(1);
    let instructions = [proof.signed_by(&it.facilitator), proof.instruction()];
    let bytes = size(&it.client, 1, &instructions);
    println!("attach_payment_proof: {bytes} bytes");
    assert!(bytes <= LIMIT);
}

#[test]
fn every_setting_at_its_longest_fits() {
    let (owner, wallet, mint) = (Keypair::new(), Keypair::new(), Address::from([7; 32]));
    let (me, authority) = (owner.pubkey(), Address::from([6; 32]));
    for (name, signatures, instruction) in [
        ("set_agent_uri", 1, set_agent_uri(&me, &mint, &[b'a'; 200])),
        (
            "set_metadata",
            1,
            set_metadata(&me, &mint, &[b'k'; 32], &[0; 256]),
        ),
        (
            "set_agent_wallet",
            2,
            set_agent_wallet(&me, &mint, &wallet.pubkey()),
        ),
        ("unset_agent_wallet", 1, unset_agent_wallet(&me, &mint)),
        (
            "set_feedback_authority",
            1,
            set_feedback_authority(&me, &mint, &authority),
        ),
        ("set_auth_schemes", 1, set_auth_schemes(&me, &mint, 3)),
        ("add_facilitator", 1, add_facilitator(&me, &authority)),
    ] {
        let bytes = size(&owner, signatures, &[instruction]);
        println!("{name}: {bytes} bytes");
        assert!(bytes <= LIMIT);
    }
}
