//! R4: who holds the token owns the agent, and nothing but a transfer says who holds it.

use crate::{
    calls_by_programs::relay,
    localnet::{
        NOW,
        accounts::Fields,
        events,
        instructions::{agent_identity, readonly, signer, writable},
        refusal::*,
        sale::Sale,
        token_2022,
        token_2022::{balance, spare_account, transfer},
    },
};
use solana_address::Address;
use solana_signer::Signer;

#[test]
fn a_transfer_records_the_new_owner_and_clears_his_predecessors_settings() {
    let mut sale = Sale::new();
    // x84's scheme, as if the seller had opted in
    const AUTH_SCHEMES: usize = 144;
    let at = agent_identity(&sale.agent.mint);
    let mut account = sale.net.account(&at);
    account.data[AUTH_SCHEMES] = 3;
    sale.net.svm.set_account(at, account).unwrap();
    sale.net.set_clock(NOW + 60);
    let instruction = sale.sale(1);
    let sent = sale.send_as_owner(&[instruction]).unwrap();
    sale.assert_sold();
    let identity = sale.net.identity(&sale.agent.mint);
    assert_eq!((identity.created_at, identity.updated_at), (NOW, NOW + 60));

    let [event] = &events(&sent)[..] else {
        panic!("one event")
    };
    let mut fields = Fields::of(event, [5, 213, 4, 28, 147, 238, 64, 57]);
    assert_eq!(fields.key(), sale.agent.mint);
    assert_eq!(fields.key(), sale.agent.owner.pubkey());
    assert_eq!(
        (fields.key(), fields.i64()),
        (sale.buyer.pubkey(), NOW + 60)
    );
    fields.end();
}

#[test]
fn feedback_and_counters_stay_with_the_agent() {
    let mut sale = Sale::new();
    let client = sale.net.actor();
    sale.net
        .set_feedback_authority(&sale.agent.mint, &Address::default());
    sale.net.given(&sale.agent, &client, 1, 60);
    let instruction = sale.sale(1);
    sale.send_as_owner(&[instruction]).unwrap();
    let identity = sale.net.identity(&sale.agent.mint);
    assert_eq!((identity.unverified, identity.client_count), ((1, 60), 1));
}

#[test]
fn a_delegates_transfer_counts_like_the_owners() {
    let mut sale = Sale::new();
    let from = sale.held_by(&sale.agent.owner);
    let (mint, delegate) = (sale.agent.mint, sale.stranger.pubkey());
    let approve = token_2022::approve(&from, &mint, &delegate, &sale.agent.owner.pubkey());
    sale.send_as_owner(&[approve]).unwrap();
    let instruction = transfer(&from, &mint, &sale.held_by(&sale.buyer), &delegate, 1);
    sale.net.send(&[&sale.stranger], &[instruction]).unwrap();
    sale.assert_sold();
}

#[test]
fn a_strangers_transfer_is_the_token_programs_refusal() {
    let mut sale = Sale::new();
    let (from, to) = (sale.held_by(&sale.agent.owner), sale.held_by(&sale.buyer));
    for amount in [0, 1] {
        let who = sale.stranger.pubkey();
        let instruction = transfer(&from, &sale.agent.mint, &to, &who, amount);
        let sent = sale.net.send(&[&sale.stranger], &[instruction]);
        assert_refused(&sent, 0, 4); // Token-2022's OwnerMismatch
    }
    sale.assert_nothing_changed();
}

#[test]
fn a_transfer_through_another_program_counts() {
    let mut sale = Sale::new();
    let through = relay(&[sale.sale(1)]);
    sale.send_as_owner(&[through]).unwrap();
    sale.assert_sold();
}

#[test]
fn at_the_last_level_the_event_goes_to_the_log() {
    // Token-2022 at height 4, our hook at 5, where no self-CPI fits
    let mut sale = Sale::new();
    let deep = relay(&[relay(&[relay(&[sale.sale(1)])])]);
    let sent = sale.send_as_owner(&[deep]).unwrap();
    sale.assert_sold();
    assert!(events(&sent).is_empty());
    let logged = |line: &String| line.starts_with("Program data: ");
    assert_eq!(sent.logs.iter().filter(|line| logged(line)).count(), 1);
    // one level higher the event is an inner instruction
    let mut sale = Sale::new();
    let deep = relay(&[relay(&[sale.sale(1)])]);
    let sent = sale.send_as_owner(&[deep]).unwrap();
    assert_eq!(events(&sent).len(), 1);
}

#[test]
fn there_and_back_leaves_the_settings_cleared() {
    let mut sale = Sale::new();
    let back = transfer(
        &sale.held_by(&sale.buyer),
        &sale.agent.mint,
        &sale.held_by(&sale.agent.owner),
        &sale.buyer.pubkey(),
        1,
    );
    let there = sale.sale(1);
    let owner = sale.agent.owner.insecure_clone();
    let signers = [&owner, &sale.buyer];
    sale.net.send(&signers, &[there, back]).unwrap();
    let identity = sale.net.identity(&sale.agent.mint);
    assert_eq!(
        (identity.owner, identity.owner_version),
        (owner.pubkey(), 3)
    );
    assert_eq!(identity.feedback_authority, Address::default());
    assert_eq!(identity.agent_wallet, Address::default());
}

#[test]
fn an_amount_of_zero_changes_nothing() {
    let mut sale = Sale::new();
    let (owner, stranger) = (
        sale.agent.owner.insecure_clone(),
        sale.stranger.insecure_clone(),
    );
    sale.create_account(&stranger.pubkey());
    let mint = sale.agent.mint;
    let own = sale.held_by(&stranger);
    for (authority, source, destination) in [
        (&owner, sale.held_by(&owner), sale.held_by(&sale.buyer)),
        (&stranger, own, sale.held_by(&owner)), // the destination holds the agent
        (&stranger, own, sale.held_by(&sale.buyer)),
    ] {
        let instruction = transfer(&source, &mint, &destination, &authority.pubkey(), 0);
        let sent = sale.net.send(&[authority], &[instruction]).unwrap();
        assert!(events(&sent).is_empty());
        sale.assert_nothing_changed();
    }
}

#[test]
fn between_two_accounts_of_one_owner_nothing_changes() {
    let mut sale = Sale::new();
    let owner = sale.agent.owner.insecure_clone();
    let mint = sale.agent.mint;
    let first = sale.held_by(&owner);
    let second = spare_account(&mut sale.net, &owner, &owner.pubkey(), &mint, true);
    for (source, destination) in [(first, first), (first, second), (second, first)] {
        let instruction = transfer(&source, &mint, &destination, &owner.pubkey(), 1);
        let sent = sale.send_as_owner(&[instruction]).unwrap();
        assert!(events(&sent).is_empty());
        assert_eq!(balance(&sale.net, &destination), 1);
        sale.assert_nothing_changed();
    }
}

#[test]
fn refuses_a_destination_whose_owner_could_be_changed() {
    let mut sale = Sale::new();
    let owner = sale.agent.owner.insecure_clone();
    let mint = sale.agent.mint;
    for holder in [owner.pubkey(), sale.buyer.pubkey()] {
        let loose = spare_account(&mut sale.net, &owner, &holder, &mint, false);
        let source = sale.held_by(&owner);
        let instruction = transfer(&source, &mint, &loose, &owner.pubkey(), 1);
        assert_refused(&sale.send_as_owner(&[instruction]), 0, TRANSFER_REFUSED);
        sale.assert_nothing_changed();
    }
}

#[test]
fn the_holding_account_cannot_change_hands() {
    let mut sale = Sale::new();
    let (held, owner) = (sale.held_by(&sale.agent.owner), sale.agent.owner.pubkey());
    let data = [&[6, 2, 1][..], sale.buyer.pubkey().as_ref()].concat(); // SetAuthority(AccountOwner)
    let instruction = token_2022::instruction(data, vec![writable(held), signer(owner)]);
    assert_refused(&sale.send_as_owner(&[instruction]), 0, 34); // ImmutableOwner
    sale.assert_nothing_changed();
}

#[test]
fn refuses_a_transfer_without_the_hooks_accounts() {
    let mut sale = Sale::new();
    let complete = sale.sale(1);
    let identity = agent_identity(&sale.agent.mint);
    for missing in 4..8 {
        let mut instruction = complete.clone();
        instruction.accounts.remove(missing);
        refusal(&sale.send_as_owner(&[instruction]));
    }
    // another agent's identity, and this agent's without the right to write
    let other = sale.net.agent();
    let mut swapped = complete.clone();
    swapped.accounts[4].pubkey = agent_identity(&other.mint);
    refusal(&sale.send_as_owner(&[swapped]));
    let mut frozen = complete.clone();
    frozen.accounts[4] = readonly(identity);
    refusal(&sale.send_as_owner(&[frozen]));
    sale.assert_nothing_changed();
    sale.send_as_owner(&[complete]).unwrap();
}

#[test]
fn a_burned_agent_keeps_its_last_owner_and_its_mint() {
    // Declared variance 7
    let mut sale = Sale::new();
    let (owner, mint) = (sale.agent.owner.pubkey(), sale.agent.mint);
    let held = sale.held_by(&sale.agent.owner);
    let burn = [&[8][..], &1u64.to_le_bytes()].concat();
    let burn = token_2022::instruction(burn, vec![writable(held), writable(mint), signer(owner)]);
    sale.send_as_owner(&[burn]).unwrap();
    sale.assert_nothing_changed();
    let close = vec![writable(mint), writable(owner), signer(owner)];
    let close = token_2022::instruction(vec![9], close);
    refusal(&sale.send_as_owner(&[close]));
    assert!(sale.net.exists(&mint));
}
