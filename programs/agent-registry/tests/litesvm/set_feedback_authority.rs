//! R7: exactly one key authorizes feedback.

use crate::localnet::{
    Localnet, NOW, accounts::Fields, events, instructions::GiveFeedback, refusal::*,
    settings::set_feedback_authority,
};
use solana_address::Address;
use solana_signer::Signer;

#[test]
fn records_the_key_and_reports_it() {
    let mut net = Localnet::new();
    let (agent, authority) = (net.agent(), net.key().pubkey());
    let owner = agent.owner.pubkey();
    let mut expected = net.identity(&agent.mint);
    for (now, key) in [(NOW + 1, authority), (NOW + 2, Address::default())] {
        net.set_clock(now);
        let instruction = set_feedback_authority(&owner, &agent.mint, &key);
        let sent = net.send(&[&agent.owner], &[instruction]).unwrap();
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
    net.send(&[&agent.owner], &[name(&authority.pubkey())])
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
