//! What docs/THREAT-MODEL.md says is not promised, shown: each test is one of its entries.

use crate::{
    calls_by_programs::{relay, stranger_wallet},
    localnet::{
        Agent, Localnet,
        authorization::{Authorization, call, layout, precompile},
        instructions::{GiveFeedback, signer, writable},
        payment::{AttachPayment, Purchase},
        refusal::*,
        settings::set_feedback_authority,
        token_2022::{
            self, approve, balance, create_associated, instruction, token_account, transfer,
        },
    },
};
use solana_address::Address;
use solana_instruction::error::InstructionError;
use solana_keypair::Keypair;
use solana_signer::Signer;

fn burn(account: &Address, mint: &Address, authority: &Address) -> solana_instruction::Instruction {
    let data = [&[8], &1u64.to_le_bytes()[..]].concat();
    let accounts = vec![writable(*account), writable(*mint), signer(*authority)];
    instruction(data, accounts)
}

/// An agent whose seller approved a delegate, sold it, and bought it back.
fn bought_back() -> (Localnet, Agent, Keypair) {
    let mut net = Localnet::new();
    let (agent, buyer, delegate) = (net.agent(), net.actor(), net.actor());
    let (owner, mint) = (&agent.owner, agent.mint);
    let held = token_account(&owner.pubkey(), &mint);
    let approve = approve(&held, &mint, &delegate.pubkey(), &owner.pubkey());
    net.send(&[owner], &[approve]).unwrap();
    net.transfer(&mint, owner, &buyer.pubkey()).unwrap();
    net.transfer(&mint, &buyer, &owner.pubkey()).unwrap();
    (net, agent, delegate)
}

#[test]
fn an_spl_approval_survives_a_sale_and_a_buy_back() {
    let (mut net, agent, delegate) = bought_back();
    let (me, mint) = (delegate.pubkey(), agent.mint);
    let (from, to) = (
        token_account(&agent.owner.pubkey(), &mint),
        token_account(&me, &mint),
    );
    let take = [
        create_associated(&me, &me, &mint),
        transfer(&from, &mint, &to, &me, 1),
    ];
    net.send(&[&delegate], &take).unwrap();
    assert_eq!(net.identity(&mint).owner, me);
}

#[test]
fn a_delegate_can_burn_the_agent() {
    let (mut net, agent, delegate) = bought_back();
    let held = token_account(&agent.owner.pubkey(), &agent.mint);
    let burn = burn(&held, &agent.mint, &delegate.pubkey());
    net.send(&[&delegate], &[burn]).unwrap();
    assert_eq!(balance(&net, &held), 0);
    // variance 7: the last owner stays on record
    assert_eq!(net.identity(&agent.mint).owner, agent.owner.pubkey());
}

#[test]
fn the_mints_own_key_withdraws_what_the_mint_holds_beyond_its_rent() {
    let mut net = Localnet::new();
    let (owner, mint, thief) = (net.actor(), net.key(), net.actor());
    let register = crate::localnet::instructions::register_agent(
        &owner.pubkey(),
        &mint.pubkey(),
        &"a".repeat(200),
    );
    net.send(&[&owner, &mint], &[register]).unwrap();
    // a shorter URI leaves its rent in the mint
    let shorter = crate::localnet::settings::set_agent_uri(&owner.pubkey(), &mint.pubkey(), b"");
    net.send(&[&owner], &[shorter]).unwrap();
    let account = net.account(&mint.pubkey());
    let rent = net
        .svm
        .minimum_balance_for_rent_exemption(account.data.len());
    assert!(account.lamports > rent);
    let accounts = vec![
        writable(mint.pubkey()),
        writable(thief.pubkey()),
        signer(mint.pubkey()),
    ];
    let withdraw = token_2022::instruction(vec![38], accounts);
    net.send(&[&thief, &mint], &[withdraw]).unwrap();
    let left = net.account(&mint.pubkey());
    assert_eq!((left.lamports, left.data), (rent, account.data));
}

#[test]
fn rotating_the_feedback_authority_voids_grants_and_revives_them() {
    let mut net = Localnet::new();
    let (agent, client, first, second) = (net.agent(), net.actor(), net.key(), net.key());
    let owner = &agent.owner;
    let rotate = |net: &mut Localnet, to: &Keypair| {
        let set = set_feedback_authority(&owner.pubkey(), &agent.mint, &to.pubkey());
        net.send(&[owner], &[set]).unwrap();
    };
    let feedback = GiveFeedback::new(&agent.mint, &client.pubkey());
    rotate(&mut net, &first);
    let grant = Authorization::of(&feedback, &first.pubkey()).signed_by(&first);
    rotate(&mut net, &second);
    let sent = net.send(&[&client], &[grant.clone(), feedback.instruction()]);
    assert_refused(&sent, 1, AUTH_WRONG_SIGNER);
    rotate(&mut net, &first);
    net.send(&[&client], &[grant, feedback.instruction()])
        .unwrap();
}

/// The owner is an address that a program signs for: no key, so no Ed25519 signature over 56 bytes.
#[test]
fn an_owner_who_cannot_sign_bytes_authorizes_by_a_feedback_authority_only() {
    let mut net = Localnet::new();
    let (agent, client, authority) = (net.agent(), net.actor(), net.key());
    let (mint, vault) = (agent.mint, stranger_wallet());
    net.transfer(&mint, &agent.owner, &vault).unwrap();
    assert_eq!(net.identity(&mint).owner, vault);
    let feedback = GiveFeedback::new(&mint, &client.pubkey());
    let message = Authorization::of(&feedback, &vault).message();
    // the precompile takes no address that is not a key
    let forged = precompile(layout(vault.as_ref(), &[7; 64], &message));
    let sent = net.send(&[&client], &[forged, feedback.instruction()]);
    assert_eq!(refusal(&sent), (0, InstructionError::Custom(0)));
    let by_another = precompile(call(&agent.owner, &message));
    let sent = net.send(&[&client], &[by_another, feedback.instruction()]);
    assert_refused(&sent, 1, AUTH_WRONG_SIGNER);
    // the program that owns the agent names a key, which then signs
    let set = set_feedback_authority(&vault, &mint, &authority.pubkey());
    net.send(&[&client], &[relay(&[set])]).unwrap();
    let grant = Authorization::of(&feedback, &authority.pubkey()).signed_by(&authority);
    net.send(&[&client], &[grant, feedback.instruction()])
        .unwrap();
}

#[test]
fn one_payment_counts_twice_if_the_facilitator_does_not_normalise_its_task() {
    let mut it = Purchase::new();
    it.net.given(&it.agent, &it.client, 2, 30);
    let digits = "ab".repeat(32);
    let upper = digits.to_uppercase();
    // the dedupe key is lower case; a facilitator who hashes the reference as it came signs another
    for (feedback_index, digits) in [(1, digits), (2, upper)] {
        let task = format!("eip155:8453:0x{digits}");
        let proof = AttachPayment {
            feedback_index,
            task_ref_hash: crate::localnet::authorization::keccak(task.as_bytes()),
            ..it.proof(1)
        };
        it.accepts(&proof);
    }
    assert_eq!(it.counters(), [(2, 110), (0, 0)]);
}
