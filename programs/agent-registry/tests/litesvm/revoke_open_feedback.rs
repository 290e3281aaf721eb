use crate::localnet::{
    Localnet, NOW,
    accounts::Fields,
    events,
    instructions::{agent_identity, feedback_entry, readonly},
    open_feedback::{
        GiveOpenFeedback, OpenFeedback, open_client_index, open_feedback, revoke_open_feedback,
    },
    refusal::*,
    swaps::{assert_forgeries_refused, assert_swaps_refused},
};
use solana_signer::Signer;

#[test]
fn marks_the_entry_and_nothing_else() {
    let mut net = Localnet::new();
    let (agent, client) = (net.agent(), net.actor());
    net.given_open(&agent.mint, &client, 1);
    net.given_open(&agent.mint, &client, 2);
    let (mint, me) = (agent.mint, client.pubkey());
    let (identity, index) = (net.identity(&mint), net.open_client_index(&mint, &me));
    let (first, second) = (net.open_entry(&mint, &me, 1), net.open_entry(&mint, &me, 2));
    net.set_clock(NOW + 3);
    let sent = net
        .send(&[&client], &[revoke_open_feedback(&me, &mint, 1)])
        .unwrap();
    let revoked = OpenFeedback {
        revoked: true,
        ..first
    };
    assert_eq!(net.open_entry(&mint, &me, 1), revoked);
    assert_eq!(net.open_entry(&mint, &me, 2), second);
    assert_eq!(net.open_client_index(&mint, &me), index);
    assert_eq!(net.identity(&mint), identity);

    let [event] = &events(&sent)[..] else {
        panic!("one event")
    };
    let mut fields = Fields::of(event, [196, 71, 232, 42, 105, 223, 223, 96]);
    assert_eq!((fields.key(), fields.key()), (mint, me));
    assert_eq!((fields.u64(), fields.i64()), (1, NOW + 3));
    fields.end();
}

#[test]
fn gives_no_index_back() {
    // R8
    let mut net = Localnet::new();
    let (agent, client) = (net.agent(), net.actor());
    net.given_open(&agent.mint, &client, 1);
    let revoke = revoke_open_feedback(&client.pubkey(), &agent.mint, 1);
    net.send(&[&client], &[revoke]).unwrap();
    let again = GiveOpenFeedback::new(&agent.mint, &client.pubkey());
    assert_refused(&net.give_open(&client, &again), 0, FEEDBACK_INDEX_STALE);
    net.given_open(&agent.mint, &client, 2);
    assert_eq!(net.identity(&agent.mint).open_client_count, 1);
}

#[test]
fn refuses_a_second_time_and_what_does_not_exist() {
    let mut net = Localnet::new();
    let (agent, client, stranger) = (net.agent(), net.actor(), net.actor());
    net.given_open(&agent.mint, &client, 1);
    net.given(&agent, &client, 1, 50);
    net.given(&agent, &client, 2, 50); // of the other profile
    let revoke = revoke_open_feedback(&client.pubkey(), &agent.mint, 1);
    net.send(&[&client], std::slice::from_ref(&revoke)).unwrap();
    assert_refused(&net.send(&[&client], &[revoke]), 0, ALREADY_REVOKED);
    let nobody = net.key().pubkey();
    for (who, mint, index) in [
        (&client, agent.mint, 0),        // indices begin at 1
        (&client, agent.mint, 2),        // beyond the last
        (&client, agent.mint, u64::MAX), //
        (&client, nobody, 1),            // no such agent
        (&stranger, agent.mint, 1),      // never gave feedback
    ] {
        let sent = net.send(&[who], &[revoke_open_feedback(&who.pubkey(), &mint, index)]);
        assert_refused(&sent, 0, FEEDBACK_NOT_FOUND);
    }
}

#[test]
fn refuses_another_account_in_each_place() {
    let mut net = Localnet::new();
    let (agent, other, client, stranger) = (net.agent(), net.agent(), net.actor(), net.actor());
    for (agent, who) in [(&agent, &client), (&agent, &stranger), (&other, &client)] {
        net.given_open(&agent.mint, who, 1);
        net.given_open(&agent.mint, who, 2);
        net.given(agent, who, 1, 50);
    }
    let (mint, me, her) = (agent.mint, client.pubkey(), stranger.pubkey());
    let pool = [
        agent_identity(&mint),
        other.mint,
        open_client_index(&mint, &me),
        open_feedback(&mint, &me, 2),
        open_feedback(&mint, &me, 3), // does not exist
        open_feedback(&mint, &her, 1),
        open_feedback(&other.mint, &me, 1),
        feedback_entry(&mint, &me, 1),
        her,
    ];
    let instruction = revoke_open_feedback(&me, &mint, 1);
    let mut frozen = instruction.clone();
    frozen.accounts[2] = readonly(frozen.accounts[2].pubkey);
    assert_refused(&net.send(&[&client], &[frozen]), 0, ACCOUNT_MISMATCH);
    let mut theirs = revoke_open_feedback(&her, &mint, 1);
    theirs.accounts[0].is_signer = false;
    assert_refused(&net.send(&[&client], &[theirs]), 0, 3010); // Anchor's AccountNotSigner
    let mut hers = revoke_open_feedback(&her, &mint, 1);
    hers.accounts[0].pubkey = me;
    assert_refused(&net.send(&[&client], &[hers]), 0, ACCOUNT_MISMATCH);
    assert_forgeries_refused(&mut net, &client, &instruction, &[2], ACCOUNT_MISMATCH);
    assert_swaps_refused(&mut net, &client, &instruction, &pool);
}
