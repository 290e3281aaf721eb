//! `set_agent_wallet` and `unset_agent_wallet`: R3.

use crate::{
    calls_by_programs::{relay, stranger_wallet},
    localnet::{
        Localnet, NOW, Sent,
        accounts::Fields,
        events,
        instructions::{readonly, signer_and_payer},
        refusal::*,
        settings::{set_agent_wallet, unset_agent_wallet},
    },
};
use solana_address::Address;
use solana_instruction::AccountMeta;
use solana_signer::Signer;

#[track_caller]
fn assert_event(sent: &Sent, mint: Address, owner: Address, wallet: Address, now: i64) {
    let [event] = &events(sent.as_ref().unwrap())[..] else {
        panic!("one event")
    };
    let mut fields = Fields::of(event, [215, 35, 73, 192, 199, 156, 1, 51]);
    let whom = (fields.key(), fields.key(), fields.key());
    assert_eq!(whom, (mint, owner, wallet));
    assert_eq!(fields.i64(), now);
    fields.end();
}

#[test]
fn a_wallet_that_has_signed_becomes_the_agents() {
    let mut net = Localnet::new();
    let (agent, wallet) = (net.agent(), net.key());
    let mut expected = net.identity(&agent.mint);
    net.set_clock(NOW + 60);
    let instruction = set_agent_wallet(&agent.owner.pubkey(), &agent.mint, &wallet.pubkey());
    let sent = net.send(&[&agent.owner, &wallet], &[instruction]);
    assert_event(
        &sent,
        agent.mint,
        agent.owner.pubkey(),
        wallet.pubkey(),
        NOW + 60,
    );
    expected.agent_wallet = wallet.pubkey();
    expected.updated_at = NOW + 60;
    assert_eq!(net.identity(&agent.mint), expected);
}

#[test]
fn unset_leaves_none_however_often() {
    let mut net = Localnet::new();
    let agent = net.agent();
    let mut expected = net.identity(&agent.mint);
    for now in [NOW + 1, NOW + 2] {
        net.set_clock(now);
        let instruction = unset_agent_wallet(&agent.owner.pubkey(), &agent.mint);
        let sent = net.send(&[&agent.owner], &[instruction]);
        let none = Address::default();
        assert_event(&sent, agent.mint, agent.owner.pubkey(), none, now);
        (expected.agent_wallet, expected.updated_at) = (none, now);
        assert_eq!(net.identity(&agent.mint), expected);
    }
}

#[test]
fn the_owner_may_name_himself_though_he_pays_the_fee() {
    let mut net = Localnet::new();
    let agent = net.agent();
    let owner = agent.owner.pubkey();
    let unset = unset_agent_wallet(&owner, &agent.mint);
    let mut writable = set_agent_wallet(&owner, &agent.mint, &owner);
    writable.accounts[3] = signer_and_payer(owner);
    for set in [set_agent_wallet(&owner, &agent.mint, &owner), writable] {
        net.send(&[&agent.owner], &[unset.clone(), set]).unwrap();
        assert_eq!(net.identity(&agent.mint).agent_wallet, owner);
    }
}

#[test]
fn refuses_a_fee_payer_who_is_named_as_wallet() {
    let mut net = Localnet::new();
    let (agent, relayer) = (net.agent(), net.actor());
    let owner = agent.owner.pubkey();
    let instruction = set_agent_wallet(&owner, &agent.mint, &relayer.pubkey());
    let sent = net.send(&[&relayer, &agent.owner], &[instruction]);
    assert_refused(&sent, 0, WALLET_CONSENT_MISSING);
    assert_eq!(net.identity(&agent.mint).agent_wallet, owner);
}

#[test]
fn refuses_a_writable_wallet() {
    let mut net = Localnet::new();
    let (agent, wallet) = (net.agent(), net.key());
    let owner = agent.owner.pubkey();
    let mut instruction = set_agent_wallet(&owner, &agent.mint, &wallet.pubkey());
    instruction.accounts[3] = signer_and_payer(wallet.pubkey());
    let sent = net.send(&[&agent.owner, &wallet], &[instruction]);
    assert_refused(&sent, 0, WALLET_CONSENT_MISSING);
}

#[test]
fn refuses_a_wallet_that_has_not_signed() {
    let mut net = Localnet::new();
    let (agent, wallet) = (net.agent(), net.key());
    let mut instruction = set_agent_wallet(&agent.owner.pubkey(), &agent.mint, &wallet.pubkey());
    instruction.accounts[3] = readonly(wallet.pubkey());
    let sent = net.send(&[&agent.owner], &[instruction]);
    assert_refused(&sent, 0, WALLET_CONSENT_MISSING);
}

#[test]
fn a_relayer_may_pay_for_owner_and_wallet() {
    let mut net = Localnet::new();
    let (agent, wallet, relayer) = (net.agent(), net.key(), net.actor());
    let instruction = set_agent_wallet(&agent.owner.pubkey(), &agent.mint, &wallet.pubkey());
    net.send(&[&relayer, &agent.owner, &wallet], &[instruction])
        .unwrap();
    assert_eq!(net.identity(&agent.mint).agent_wallet, wallet.pubkey());
}

#[test]
fn a_program_may_pass_the_signatures_on() {
    let mut net = Localnet::new();
    let (agent, wallet) = (net.agent(), net.key());
    let set = set_agent_wallet(&agent.owner.pubkey(), &agent.mint, &wallet.pubkey());
    net.send(&[&agent.owner, &wallet], &[relay(&[set])])
        .unwrap();
    assert_eq!(net.identity(&agent.mint).agent_wallet, wallet.pubkey());
}

#[test]
fn a_program_may_consent_for_an_address_of_its_own() {
    let mut net = Localnet::new();
    let agent = net.agent();
    let (owner, wallet) = (agent.owner.pubkey(), stranger_wallet());
    let once = relay(&[set_agent_wallet(&owner, &agent.mint, &wallet)]);
    for through in [once.clone(), relay(&[once])] {
        let unset = unset_agent_wallet(&owner, &agent.mint);
        net.send(&[&agent.owner], &[unset, through]).unwrap();
        assert_eq!(net.identity(&agent.mint).agent_wallet, wallet);
    }
}

#[test]
fn an_owner_who_pays_the_fee_may_name_himself_through_a_program() {
    let mut net = Localnet::new();
    let agent = net.agent();
    let owner = agent.owner.pubkey();
    let unset = unset_agent_wallet(&owner, &agent.mint);
    let set = relay(&[set_agent_wallet(&owner, &agent.mint, &owner)]);
    net.send(&[&agent.owner], &[unset, set]).unwrap();
    assert_eq!(net.identity(&agent.mint).agent_wallet, owner);
}

#[test]
fn refuses_a_fee_payer_whom_a_program_passes_on_as_not_writable() {
    let mut net = Localnet::new();
    let (agent, relayer) = (net.agent(), net.actor());
    let owner = agent.owner.pubkey();
    let set = set_agent_wallet(&owner, &agent.mint, &relayer.pubkey());
    assert!(!set.accounts[3].is_writable);
    let once = relay(&[set]);
    for through in [once.clone(), relay(&[once])] {
        // Behind another instruction too, which does not name the wallet at all.
        let unset = unset_agent_wallet(&owner, &agent.mint);
        for (place, instructions) in [(0, vec![through.clone()]), (1, vec![unset, through])] {
            let sent = net.send(&[&relayer, &agent.owner], &instructions);
            assert_refused(&sent, place, WALLET_CONSENT_MISSING);
            assert_eq!(net.identity(&agent.mint).agent_wallet, owner);
        }
    }
}

#[test]
fn refuses_a_wallet_that_is_writable_for_the_program_that_passes_it_on() {
    let mut net = Localnet::new();
    let (agent, wallet) = (net.agent(), net.key());
    let owner = agent.owner.pubkey();
    for (wallet, signers) in [
        (wallet.pubkey(), vec![&agent.owner, &wallet]),
        (stranger_wallet(), vec![&agent.owner]),
    ] {
        let mut through = relay(&[set_agent_wallet(&owner, &agent.mint, &wallet)]);
        let its = |meta: &&mut AccountMeta| meta.pubkey == wallet;
        through.accounts.iter_mut().find(its).unwrap().is_writable = true;
        let sent = net.send(&signers, &[through]);
        assert_refused(&sent, 0, WALLET_CONSENT_MISSING);
    }
}

#[test]
fn reports_the_first_of_two_broken_rules() {
    let mut net = Localnet::new();
    let (agent, stranger) = (net.agent(), net.actor());
    let (nobody, none) = (net.key().pubkey(), Address::default());
    let unsigned = |caller: &Address, mint: &Address, wallet: &Address| {
        let mut instruction = set_agent_wallet(caller, mint, wallet);
        instruction.accounts[3] = readonly(*wallet);
        instruction
    };
    for (caller, mint, wallet, code) in [
        (&stranger, nobody, none, AGENT_NOT_FOUND),
        (&stranger, agent.mint, none, NOT_AUTHORIZED),
        (&stranger, agent.mint, nobody, NOT_AUTHORIZED),
        (&agent.owner, agent.mint, none, WALLET_ZERO),
        (&agent.owner, agent.mint, nobody, WALLET_CONSENT_MISSING),
    ] {
        let instruction = unsigned(&caller.pubkey(), &mint, &wallet);
        assert_refused(&net.send(&[caller], &[instruction]), 0, code);
    }
}

#[test]
fn a_sale_clears_it_and_the_buyer_sets_his_own() {
    let mut net = Localnet::new();
    let (agent, wallet, buyer) = (net.agent(), net.key(), net.actor());
    let instruction = set_agent_wallet(&agent.owner.pubkey(), &agent.mint, &wallet.pubkey());
    net.send(&[&agent.owner, &wallet], &[instruction]).unwrap();
    net.transfer(&agent.mint, &agent.owner, &buyer.pubkey())
        .unwrap();
    assert_eq!(net.identity(&agent.mint).agent_wallet, Address::default());
    let instruction = set_agent_wallet(&buyer.pubkey(), &agent.mint, &wallet.pubkey());
    net.send(&[&buyer, &wallet], &[instruction]).unwrap();
    assert_eq!(net.identity(&agent.mint).agent_wallet, wallet.pubkey());
}
