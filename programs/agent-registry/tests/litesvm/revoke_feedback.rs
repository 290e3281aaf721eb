use crate::localnet::{
    Localnet, NOW,
    accounts::Fields,
    events,
    instructions::{GiveFeedback, agent_identity, client_index, feedback_entry, revoke_feedback},
    refusal::*,
};
use solana_address::Address;
use solana_signer::Signer;

#[test]
fn marks_the_entry_and_takes_it_out_of_the_counters() {
    let mut net = Localnet::new();
    let (agent, client) = (net.agent(), net.actor());
    net.given(&agent, &client, 1, 70);
    net.given(&agent, &client, 2, 30);
    let before = net.entry(&agent.mint, &client.pubkey(), 1);
    net.send(
        &[&client],
        &[revoke_feedback(&client.pubkey(), &agent.mint, 1)],
    )
    .unwrap();
    let after = net.entry(&agent.mint, &client.pubkey(), 1);
    assert!(after.revoked);
    assert_eq!(before.score, after.score);
    assert!(!net.entry(&agent.mint, &client.pubkey(), 2).revoked);
    let identity = net.identity(&agent.mint);
    assert_eq!(identity.unverified, (1, 30));
    assert_eq!(identity.client_count, 1);
    let index = net.client_index(&agent.mint, &client.pubkey());
    assert_eq!((index.last_index, index.ordinal), (2, 1));
}

#[test]
fn one_event_reports_it() {
    let mut net = Localnet::new();
    let (agent, client) = (net.agent(), net.actor());
    net.given(&agent, &client, 1, 70);
    net.set_clock(NOW + 5);
    let instruction = revoke_feedback(&client.pubkey(), &agent.mint, 1);
    let sent = net.send(&[&client], &[instruction]).unwrap();
    let [event] = &events(&sent)[..] else {
        panic!("one event")
    };
    let mut fields = Fields::of(event, [205, 16, 31, 94, 54, 101, 16, 199]);
    assert_eq!((fields.key(), fields.key()), (agent.mint, client.pubkey()));
    assert_eq!((fields.u64(), fields.i64()), (1, NOW + 5));
    fields.end();
}

#[test]
fn gives_no_allowance_back() {
    // R8
    let mut net = Localnet::new();
    let (agent, client) = (net.agent(), net.actor());
    net.given(&agent, &client, 1, 70);
    net.send(
        &[&client],
        &[revoke_feedback(&client.pubkey(), &agent.mint, 1)],
    )
    .unwrap();
    let again = GiveFeedback::new(&agent.mint, &client.pubkey());
    let sent = net.give(&client, &agent.owner, &again);
    assert_refused(&sent, 1, FEEDBACK_INDEX_STALE);
    let next = GiveFeedback {
        feedback_index: 2,
        ..again
    };
    let sent = net.give(&client, &agent.owner, &next);
    assert_refused(&sent, 1, AUTH_INDEX_LIMIT);
}

#[test]
fn a_client_whose_entries_are_all_revoked_is_not_counted_again() {
    let mut net = Localnet::new();
    let (agent, client) = (net.agent(), net.actor());
    net.given(&agent, &client, 1, 70);
    net.send(
        &[&client],
        &[revoke_feedback(&client.pubkey(), &agent.mint, 1)],
    )
    .unwrap();
    net.given(&agent, &client, 2, 40);
    let identity = net.identity(&agent.mint);
    assert_eq!((identity.client_count, identity.unverified), (1, (1, 40)));
}

#[test]
fn refuses_a_second_time() {
    let mut net = Localnet::new();
    let (agent, client) = (net.agent(), net.actor());
    net.given(&agent, &client, 1, 70);
    let revoke = revoke_feedback(&client.pubkey(), &agent.mint, 1);
    net.send(&[&client], std::slice::from_ref(&revoke)).unwrap();
    assert_refused(&net.send(&[&client], &[revoke]), 0, ALREADY_REVOKED);
    assert_eq!(net.identity(&agent.mint).unverified, (0, 0));
}

#[test]
fn refuses_what_does_not_exist() {
    let mut net = Localnet::new();
    let (agent, client, stranger) = (net.agent(), net.actor(), net.actor());
    net.given(&agent, &client, 1, 70);
    let nobody = net.key().pubkey();
    for (who, mint, index) in [
        (&client, agent.mint, 0),        // indices begin at 1
        (&client, agent.mint, 2),        // beyond the last
        (&client, agent.mint, u64::MAX), //
        (&client, nobody, 1),            // no such agent
        (&stranger, agent.mint, 1),      // never gave feedback
    ] {
        let sent = net.send(&[who], &[revoke_feedback(&who.pubkey(), &mint, index)]);
        assert_refused(&sent, 0, FEEDBACK_NOT_FOUND);
    }
}

#[test]
fn refuses_another_account_in_each_place() {
    let mut net = Localnet::new();
    let (agent, other, client, stranger) = (net.agent(), net.agent(), net.actor(), net.actor());
    for (agent, client) in [(&agent, &client), (&agent, &stranger), (&other, &client)] {
        net.given(agent, client, 1, 50);
        net.given(agent, client, 2, 50);
    }
    let (mint, me) = (agent.mint, client.pubkey());
    let accounts: [Address; 7] = [
        agent_identity(&other.mint),
        client_index(&mint, &me),
        feedback_entry(&mint, &me, 2),
        feedback_entry(&mint, &stranger.pubkey(), 1),
        feedback_entry(&other.mint, &me, 1),
        other.mint,
        stranger.pubkey(),
    ];
    for place in 1..6 {
        for account in accounts {
            let mut instruction = revoke_feedback(&me, &mint, 1);
            instruction.accounts[place].pubkey = account;
            let sent = net.send(&[&client], &[instruction]);
            assert_refused(&sent, 0, ACCOUNT_MISMATCH);
        }
    }
    // another client's entry, in that client's name but without its signature
    let mut theirs = revoke_feedback(&stranger.pubkey(), &mint, 1);
    theirs.accounts[0].is_signer = false;
    assert_refused(&net.send(&[&client], &[theirs]), 0, 3010); // AccountNotSigner
    net.send(&[&client], &[revoke_feedback(&me, &mint, 1)])
        .unwrap();
}

#[test]
fn a_transfer_of_the_agent_leaves_the_right_to_revoke() {
    let mut net = Localnet::new();
    let (agent, client, buyer) = (net.agent(), net.actor(), net.actor());
    net.given(&agent, &client, 1, 70);
    net.transfer(&agent.mint, &agent.owner, &buyer.pubkey())
        .unwrap();
    net.send(
        &[&client],
        &[revoke_feedback(&client.pubkey(), &agent.mint, 1)],
    )
    .unwrap();
    assert_eq!(net.identity(&agent.mint).unverified, (0, 0));
}
