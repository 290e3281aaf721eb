//! The two-step hand-over of the registry's authority.

use crate::localnet::{
    Localnet, NOW, Sent,
    accounts::Fields,
    events,
    instructions::{agent_identity, readonly, registry},
    refusal::*,
    registry::*,
};
use solana_address::Address;
use solana_signer::Signer;

#[track_caller]
fn assert_event(sent: &Sent, discriminator: [u8; 8], keys: (Address, Address), now: i64) {
    let [event] = &events(sent.as_ref().unwrap())[..] else {
        panic!("one event")
    };
    let mut fields = Fields::of(event, discriminator);
    assert_eq!((fields.key(), fields.key()), keys);
    assert_eq!(fields.i64(), now);
    fields.end();
}

#[test]
fn a_proposal_and_its_acceptance_hand_the_registry_over() {
    let mut net = Localnet::new();
    let (authority, successor) = (net.upgrade_authority.insecure_clone(), net.actor());
    let (from, to) = (authority.pubkey(), successor.pubkey());
    let mut expected = net.registry();

    let sent = net.send(&[&authority], &[propose_authority(&from, &to)]);
    assert_event(&sent, [192, 160, 68, 80, 58, 110, 6, 51], (from, to), NOW);
    expected.proposed_authority = to;
    assert_eq!(net.registry(), expected);
    // no right has moved yet
    let token = Address::from([5; 32]);
    let sent = net.send(&[&successor], &[set_payment_token(&to, &token, true)]);
    assert_refused(&sent, 0, NOT_AUTHORIZED);

    net.set_clock(NOW + 60);
    let sent = net.send(&[&successor], &[accept_authority(&to)]);
    assert_event(
        &sent,
        [86, 41, 138, 232, 198, 35, 216, 90],
        (from, to),
        NOW + 60,
    );
    expected.authority = to;
    expected.proposed_authority = Address::default();
    assert_eq!(net.registry(), expected);
    let sent = net.send(&[&authority], &[set_payment_token(&from, &token, true)]);
    assert_refused(&sent, 0, NOT_AUTHORIZED);
    net.send(&[&successor], &[set_payment_token(&to, &token, true)])
        .unwrap();
}

#[test]
fn only_the_authority_proposes() {
    let mut net = Localnet::new();
    let (authority, successor) = (net.upgrade_authority.insecure_clone(), net.actor());
    let propose = propose_authority(&successor.pubkey(), &successor.pubkey());
    let sent = net.send(&[&successor], std::slice::from_ref(&propose));
    assert_refused(&sent, 0, NOT_AUTHORIZED);
    // nor the proposed authority
    let proposal = propose_authority(&authority.pubkey(), &successor.pubkey());
    net.send(&[&authority], &[proposal]).unwrap();
    assert_refused(&net.send(&[&successor], &[propose]), 0, NOT_AUTHORIZED);
}

#[test]
fn only_the_last_one_proposed_accepts_and_only_once() {
    let mut net = Localnet::new();
    let authority = net.upgrade_authority.insecure_clone();
    let (first, second) = (net.actor(), net.actor());
    let propose = |to: &Address| propose_authority(&authority.pubkey(), to);
    // nobody is proposed
    for caller in [&first, &authority] {
        let sent = net.send(&[caller], &[accept_authority(&caller.pubkey())]);
        assert_refused(&sent, 0, NOT_AUTHORIZED);
    }
    net.send(&[&authority], &[propose(&first.pubkey())])
        .unwrap();
    net.send(&[&authority], &[propose(&second.pubkey())])
        .unwrap();
    let sent = net.send(&[&first], &[accept_authority(&first.pubkey())]);
    assert_refused(&sent, 0, NOT_AUTHORIZED);
    let accept = accept_authority(&second.pubkey());
    net.send(&[&second], std::slice::from_ref(&accept)).unwrap();
    assert_refused(&net.send(&[&second], &[accept]), 0, NOT_AUTHORIZED);
}

#[test]
fn a_withdrawn_proposal_cannot_be_accepted() {
    let mut net = Localnet::new();
    let (authority, successor) = (net.upgrade_authority.insecure_clone(), net.actor());
    for to in [successor.pubkey(), Address::default()] {
        let proposal = propose_authority(&authority.pubkey(), &to);
        net.send(&[&authority], &[proposal]).unwrap();
    }
    let sent = net.send(&[&successor], &[accept_authority(&successor.pubkey())]);
    assert_refused(&sent, 0, NOT_AUTHORIZED);
    assert_eq!(net.registry().authority, authority.pubkey());
}

#[test]
fn the_programs_upgrade_authority_is_another_matter() {
    let mut net = Localnet::new();
    let stranger = net.actor();
    net.set_upgrade_authority(Some(stranger.pubkey()));
    let proposal = propose_authority(&stranger.pubkey(), &stranger.pubkey());
    assert_refused(&net.send(&[&stranger], &[proposal]), 0, NOT_AUTHORIZED);
}

#[test]
fn refuses_without_registry_signature_or_the_right_accounts() {
    let mut net = Localnet::new();
    let (agent, authority) = (net.agent(), net.upgrade_authority.insecure_clone());
    let (key, payer) = (authority.pubkey(), net.actor());
    let calls = [
        propose_authority(&key, &key),
        accept_authority(&key),
        set_payment_token(&key, &key, true),
        set_facilitator(&key, &key, true),
    ];
    let mut bare = Localnet::uninitialized();
    for call in &calls {
        let sent = bare.send(&[&authority], std::slice::from_ref(call));
        assert_refused(&sent, 0, ACCOUNT_MISMATCH);
        let mut unsigned = call.clone();
        unsigned.accounts[0].is_signer = false;
        assert_refused(&net.send(&[&payer], &[unsigned]), 0, 3010); // AccountNotSigner
        let mut unwritable = call.clone();
        unwritable.accounts[1] = readonly(registry());
        let sent = net.send(&[&authority], &[unwritable]);
        assert_refused(&sent, 0, ACCOUNT_MISMATCH);
        for place in 1..4 {
            let mut swapped = call.clone();
            swapped.accounts[place].pubkey = agent_identity(&agent.mint);
            assert_refused(&net.send(&[&authority], &[swapped]), 0, ACCOUNT_MISMATCH);
        }
    }
}
