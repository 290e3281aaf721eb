//! R7: exactly one key authorizes feedback. Its consent is the matter of `consent`.

use crate::localnet::{
    Localnet, NOW,
    accounts::Fields,
    events,
    instructions::{GiveFeedback, readonly},
    open_feedback::GiveOpenFeedback,
    refusal::*,
    settings::set_feedback_authority,
};
use solana_address::Address;
use solana_signer::Signer;

#[test]
fn records_the_key_and_reports_it() {
    let mut net = Localnet::new();
    let (agent, authority) = (net.agent(), net.key());
    let owner = agent.owner.pubkey();
    let mut expected = net.identity(&agent.mint);
    let none = Address::default();
    for (now, key, signers) in [
        (NOW + 1, authority.pubkey(), vec![&agent.owner, &authority]),
        (NOW + 2, none, vec![&agent.owner]),
        (NOW + 3, owner, vec![&agent.owner]),
    ] {
        net.set_clock(now);
        let instruction = set_feedback_authority(&owner, &agent.mint, &key);
        let sent = net.send(&signers, &[instruction]).unwrap();
        (expected.feedback_authority, expected.updated_at) = (key, now);
        assert_eq!(net.identity(&agent.mint), expected);
        let [event] = &events(&sent)[..] else {
            panic!("one event")
        };
        let mut fields = Fields::of(event, [73, 100, 166, 222, 91, 200, 241, 174]);
        let whom = (fields.key(), fields.key(), fields.key());
        assert_eq!(whom, (agent.mint, owner, key));
        assert_eq!(fields.i64(), now);
        fields.end();
    }
}

#[test]
fn the_key_authorizes_instead_of_the_owner_until_it_is_withdrawn() {
    let mut net = Localnet::new();
    let (agent, authority, client) = (net.agent(), net.key(), net.actor());
    let owner = agent.owner.pubkey();
    let name = |key: &Address| set_feedback_authority(&owner, &agent.mint, key);
    net.send(&[&agent.owner, &authority], &[name(&authority.pubkey())])
        .unwrap();
    let feedback = GiveFeedback::new(&agent.mint, &client.pubkey());
    let sent = net.give(&client, &agent.owner, &feedback);
    assert_refused(&sent, 1, AUTH_WRONG_SIGNER);
    net.give(&client, &authority, &feedback).unwrap();
    net.send(&[&agent.owner], &[name(&Address::default())])
        .unwrap();
    let feedback = GiveFeedback {
        feedback_index: 2,
        index_limit: 2,
        ..feedback
    };
    let sent = net.give(&client, &authority, &feedback);
    assert_refused(&sent, 1, AUTH_WRONG_SIGNER);
    net.give(&client, &agent.owner, &feedback).unwrap();
}

#[test]
fn an_owner_silences_no_reviewer_by_naming_them() {
    // R7, R18: an authority cannot review the agent
    let mut net = Localnet::new();
    let (agent, client) = (net.agent(), net.actor());
    let (owner, me) = (agent.owner.pubkey(), client.pubkey());
    let mut name = set_feedback_authority(&owner, &agent.mint, &me);
    name.accounts[3] = readonly(me);
    let sent = net.send(&[&agent.owner], &[name]);
    assert_refused(&sent, 0, AUTHORITY_CONSENT_MISSING);
    // nor in the transaction in which they review, and pay the fee
    let open = GiveOpenFeedback::new(&agent.mint, &me).instruction();
    let name = set_feedback_authority(&owner, &agent.mint, &me);
    let sent = net.send(&[&client, &agent.owner], &[open.clone(), name]);
    assert_refused(&sent, 1, AUTHORITY_CONSENT_MISSING);
    net.send(&[&client], &[open]).unwrap();
    net.given(&agent, &client, 1, 85);
}

#[test]
fn reports_the_first_of_two_broken_rules() {
    let mut net = Localnet::new();
    let (agent, stranger, nobody) = (net.agent(), net.actor(), net.key().pubkey());
    for (caller, mint, code) in [
        (&stranger, nobody, AGENT_NOT_FOUND),
        (&stranger, agent.mint, NOT_AUTHORIZED),
        (&agent.owner, agent.mint, AUTHORITY_CONSENT_MISSING),
    ] {
        let mut name = set_feedback_authority(&caller.pubkey(), &mint, &nobody);
        name.accounts[3] = readonly(nobody);
        assert_refused(&net.send(&[caller], &[name]), 0, code);
    }
}
