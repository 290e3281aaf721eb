//! `set_agent_wallet` and `unset_agent_wallet`: R3. The wallet's consent is the matter of `consent`.

use crate::localnet::{
    Localnet, NOW, Sent,
    accounts::Fields,
    events,
    instructions::readonly,
    refusal::*,
    settings::{set_agent_wallet, unset_agent_wallet},
};
use solana_address::Address;
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
    (expected.updated_at, expected.wallet_set_at) = (NOW + 60, NOW + 60);
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
        expected.agent_wallet = none;
        (expected.updated_at, expected.wallet_set_at) = (now, now);
        assert_eq!(net.identity(&agent.mint), expected);
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
