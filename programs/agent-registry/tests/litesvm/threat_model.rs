//! What docs/THREAT-MODEL.md says is not promised, shown: each test is one of its entries.

use crate::{
    calls_by_programs::{relay, stranger_wallet},
    localnet::{
        Agent, Localnet,
        authorization::{Authorization, call, layout, precompile},
        events,
        instructions::{GiveFeedback, agent_mint, register_agent, signer, writable},
        open_feedback::GiveOpenFeedback,
        payment::{AttachPayment, Purchase},
        refusal::*,
        settings::{set_agent_uri, set_feedback_authority},
        token_2022::{approve, balance, create_associated, instruction, token_account, transfer},
    },
};
use solana_address::Address;
use solana_instruction::{Instruction, error::InstructionError};
use solana_keypair::Keypair;
use solana_signer::Signer;

fn burn(account: &Address, mint: &Address, authority: &Address) -> Instruction {
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
fn rotating_the_feedback_authority_voids_grants_and_revives_them() {
    let mut net = Localnet::new();
    let (agent, client, first, second) = (net.agent(), net.actor(), net.key(), net.key());
    let owner = &agent.owner;
    let rotate = |net: &mut Localnet, to: &Keypair| {
        let set = set_feedback_authority(&owner.pubkey(), &agent.mint, &to.pubkey());
        net.send(&[owner, to], &[set]).unwrap();
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
    net.send(&[&client, &authority], &[relay(&[set])]).unwrap();
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

/// R18 compares with the owner of the moment. The authorized profile takes a grant by whoever holds the agent then.
#[test]
fn an_owner_rates_in_one_transaction_while_a_friend_holds_the_agent() {
    let mut net = Localnet::new();
    let (agent, friend) = (net.agent(), net.actor());
    let (owner, mint) = (agent.owner.insecure_clone(), agent.mint);
    let (me, them) = (owner.pubkey(), friend.pubkey());
    net.send(&[&owner], &[create_associated(&me, &them, &mint)])
        .unwrap();
    let (here, there) = (token_account(&me, &mint), token_account(&them, &mint));
    let open = GiveOpenFeedback::new(&mint, &me).instruction();
    let feedback = GiveFeedback::new(&mint, &me);
    let sent = net.send(&[&owner], std::slice::from_ref(&open));
    assert_refused(&sent, 0, SELF_FEEDBACK);
    let away_and_back = |rating: Vec<Instruction>| {
        let mut instructions = vec![transfer(&here, &mint, &there, &me, 1)];
        instructions.extend(rating);
        instructions.push(transfer(&there, &mint, &here, &them, 1));
        instructions
    };
    let grant = Authorization::of(&feedback, &them).signed_by(&friend);
    let sent = net
        .send(
            &[&owner, &friend],
            &away_and_back(vec![open, grant, feedback.instruction()]),
        )
        .unwrap();
    // what it leaves: two transfers that enclose the ratings, and an agent without a wallet
    let transferred = |event: &&Vec<u8>| event.starts_with(&[5, 213, 4, 28, 147, 238, 64, 57]);
    assert_eq!(events(&sent).iter().filter(transferred).count(), 2);
    let identity = net.identity(&mint);
    assert_eq!((identity.owner, identity.owner_version), (me, 3));
    assert_eq!(identity.agent_wallet, Address::default());
    assert_eq!(
        (identity.unverified, identity.open_client_count),
        ((1, 85), 1)
    );
}

#[test]
fn a_bounded_grant_revives_when_the_agent_comes_back_to_its_signer() {
    let mut net = Localnet::new();
    let (agent, buyer, client) = (net.agent(), net.actor(), net.actor());
    let (owner, mint) = (&agent.owner, agent.mint);
    let feedback = GiveFeedback::new(&mint, &client.pubkey());
    let grant = Authorization::of(&feedback, &owner.pubkey()).signed_by(owner);
    let give = [grant, feedback.instruction()];
    net.transfer(&mint, owner, &buyer.pubkey()).unwrap();
    assert_refused(&net.send(&[&client], &give), 1, AUTH_WRONG_SIGNER);
    net.transfer(&mint, &buyer, &owner.pubkey()).unwrap();
    net.send(&[&client], &give).unwrap();
}

#[test]
fn lamports_that_a_shorter_uri_sets_free_stay_in_the_mint() {
    let mut net = Localnet::new();
    let owner = net.actor();
    let (me, mint) = (owner.pubkey(), agent_mint(&owner.pubkey(), 0));
    let register = register_agent(&me, 0, &"a".repeat(200));
    net.send(&[&owner], &[register]).unwrap();
    let before = net.account(&mint).lamports;
    net.send(&[&owner], &[set_agent_uri(&me, &mint, b"")])
        .unwrap();
    let account = net.account(&mint);
    assert_eq!(account.lamports, before);
    let rent = net
        .svm
        .minimum_balance_for_rent_exemption(account.data.len());
    assert!(before > rent);
    // see agent_mint_address for everyone's attempts to withdraw them
    let accounts = vec![writable(mint), writable(me), signer(me)];
    let withdraw = instruction(vec![38], accounts);
    // Token-2022's AuthorityTypeNotSupported
    assert_refused(&net.send(&[&owner], &[withdraw]), 0, 15);
}
