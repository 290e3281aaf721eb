//! R10: the owner chooses which authorizations count.

use crate::localnet::{
    Localnet, NOW, accounts::Fields, events, refusal::*, settings::set_auth_schemes,
};
use solana_signer::Signer;

#[test]
fn records_x84_bounded_or_both_and_reports_it() {
    let mut net = Localnet::new();
    let agent = net.agent();
    let mut expected = net.identity(&agent.mint);
    assert_eq!(expected.auth_schemes, 2);
    for (now, schemes) in [(NOW + 1, 1), (NOW + 2, 2), (NOW + 3, 3)] {
        net.set_clock(now);
        let instruction = set_auth_schemes(&agent.owner.pubkey(), &agent.mint, schemes);
        let sent = net.send(&[&agent.owner], &[instruction]).unwrap();
        (expected.auth_schemes, expected.updated_at) = (schemes, now);
        assert_eq!(net.identity(&agent.mint), expected);
        let [event] = &events(&sent)[..] else {
            panic!("one event")
        };
        let mut fields = Fields::of(event, [118, 18, 4, 17, 62, 110, 106, 65]);
        assert_eq!(
            (fields.key(), fields.key()),
            (agent.mint, agent.owner.pubkey())
        );
        assert_eq!((fields.u8(), fields.i64()), (schemes, now));
        fields.end();
    }
}

#[test]
fn refuses_none_and_every_unknown_scheme() {
    let mut net = Localnet::new();
    let agent = net.agent();
    for schemes in std::iter::once(0).chain(4..=255) {
        let instruction = set_auth_schemes(&agent.owner.pubkey(), &agent.mint, schemes);
        let sent = net.send(&[&agent.owner], &[instruction]);
        assert_refused(&sent, 0, AUTH_SCHEME_UNKNOWN);
    }
    assert_eq!(net.identity(&agent.mint).auth_schemes, 2);
}

#[test]
fn reports_the_first_of_two_broken_rules() {
    let mut net = Localnet::new();
    let (agent, stranger, nobody) = (net.agent(), net.actor(), net.key().pubkey());
    for (mint, code) in [(nobody, AGENT_NOT_FOUND), (agent.mint, NOT_AUTHORIZED)] {
        let instruction = set_auth_schemes(&stranger.pubkey(), &mint, 0);
        assert_refused(&net.send(&[&stranger], &[instruction]), 0, code);
    }
}
