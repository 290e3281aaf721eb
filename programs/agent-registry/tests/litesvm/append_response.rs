use crate::localnet::{
    Agent, Localnet, NOW,
    accounts::Fields,
    events,
    instructions::{agent_identity, client_index, feedback_entry, readonly, revoke_feedback},
    open_feedback::{open_client_index, open_feedback},
    refusal::*,
    responses::Respond,
    swaps::{assert_forgeries_refused, assert_swaps_refused},
};
use solana_keypair::Keypair;
use solana_signer::Signer;

/// An agent with two feedbacks of a client, and somebody else.
fn two_feedbacks() -> (Localnet, Agent, Keypair, Keypair) {
    let mut net = Localnet::new();
    let (agent, client, responder) = (net.agent(), net.actor(), net.actor());
    net.given(&agent, &client, 1, 70);
    net.given(&agent, &client, 2, 30);
    (net, agent, client, responder)
}

#[test]
fn counts_on_the_entry_alone() {
    let (mut net, agent, client, responder) = two_feedbacks();
    let (mint, me) = (agent.mint, client.pubkey());
    let (identity, first, second) = (
        net.identity(&mint),
        net.entry(&mint, &me, 1),
        net.entry(&mint, &me, 2),
    );
    // R19: anyone, the agent's owner and the client themselves included, as often as they like
    let everybody = [&responder, &agent.owner, &client, &responder];
    for (before, who) in everybody.into_iter().enumerate() {
        let count = net.entry(&mint, &me, 1).response_count;
        assert_eq!(count, before as u64);
        let respond = Respond::new(&who.pubkey(), &mint, &me);
        net.send(&[who], &[respond.to_authorized()]).unwrap();
    }
    let mut expected = first;
    expected.response_count = 4;
    assert_eq!(net.entry(&mint, &me, 1), expected);
    assert_eq!(net.entry(&mint, &me, 2), second);
    assert_eq!(net.identity(&mint), identity);
}

#[test]
fn one_event_reports_it_with_the_responder() {
    let (mut net, agent, client, responder) = two_feedbacks();
    net.set_clock(NOW + 8);
    let respond = Respond {
        feedback_index: 2,
        response_uri: vec![b'r'; 200],
        ..Respond::new(&responder.pubkey(), &agent.mint, &client.pubkey())
    };
    let sent = net.send(&[&responder], &[respond.to_authorized()]).unwrap();
    let [event] = &events(&sent)[..] else {
        panic!("one event")
    };
    let mut fields = Fields::of(event, [168, 169, 214, 193, 171, 1, 232, 123]);
    assert_eq!((fields.key(), fields.key()), (agent.mint, client.pubkey()));
    assert_eq!((fields.u64(), fields.key()), (2, responder.pubkey()));
    assert_eq!(fields.text(), "r".repeat(200));
    assert_eq!((fields.bytes32(), fields.i64()), ([0x55; 32], NOW + 8));
    fields.end();
}

#[test]
fn a_revoked_feedback_can_be_responded_to() {
    // R19
    let (mut net, agent, client, responder) = two_feedbacks();
    let revoke = revoke_feedback(&client.pubkey(), &agent.mint, 1);
    net.send(&[&client], &[revoke]).unwrap();
    let respond = Respond::new(&responder.pubkey(), &agent.mint, &client.pubkey());
    net.send(&[&responder], &[respond.to_authorized()]).unwrap();
    let entry = net.entry(&agent.mint, &client.pubkey(), 1);
    assert_eq!((entry.revoked, entry.response_count), (true, 1));
}

#[test]
fn refuses_what_does_not_exist() {
    let (mut net, agent, client, responder) = two_feedbacks();
    let nobody = net.key().pubkey();
    net.given_open(&agent.mint, &client, 1); // of the other profile
    for (mint, client, index) in [
        (agent.mint, client.pubkey(), 0),        // indices begin at 1
        (agent.mint, client.pubkey(), 3),        // beyond the last
        (agent.mint, client.pubkey(), u64::MAX), //
        (nobody, client.pubkey(), 1),            // no such agent
        (agent.mint, responder.pubkey(), 1),     // never gave feedback
    ] {
        let respond = Respond {
            feedback_index: index,
            ..Respond::new(&responder.pubkey(), &mint, &client)
        };
        let sent = net.send(&[&responder], &[respond.to_authorized()]);
        assert_refused(&sent, 0, FEEDBACK_NOT_FOUND);
    }
}

#[test]
fn reports_the_first_of_any_two_broken_rules() {
    let (mut net, agent, client, responder) = two_feedbacks();
    let new = Respond::new(&responder.pubkey(), &agent.mint, &client.pubkey());
    for (index, uri, code) in [
        (0, vec![], FEEDBACK_NOT_FOUND),
        (0, vec![b'a'; 201], FEEDBACK_NOT_FOUND),
        (0, b"a".to_vec(), FEEDBACK_NOT_FOUND),
        (3, vec![], EMPTY_URI),
        (1, vec![], EMPTY_URI),
        (3, vec![b'a'; 201], FEEDBACK_NOT_FOUND),
        (1, vec![b'a'; 201], LENGTH_LIMIT),
        (1, b"a\0".to_vec(), LENGTH_LIMIT),
    ] {
        let respond = Respond {
            feedback_index: index,
            response_uri: uri,
            ..new.clone()
        };
        let sent = net.send(&[&responder], &[respond.to_authorized()]);
        assert_refused(&sent, 0, code);
    }
    // index 0 is wrong whatever account stands for it
    let respond = Respond {
        feedback_index: 0,
        ..new
    };
    let mut instruction = respond.to_authorized();
    instruction.accounts[2].pubkey = feedback_entry(&agent.mint, &client.pubkey(), 1);
    assert_refused(
        &net.send(&[&responder], &[instruction]),
        0,
        FEEDBACK_NOT_FOUND,
    );
}

#[test]
fn refuses_a_counter_at_its_maximum() {
    // R8
    let (mut net, agent, client, responder) = two_feedbacks();
    let at = feedback_entry(&agent.mint, &client.pubkey(), 1);
    let respond = Respond::new(&responder.pubkey(), &agent.mint, &client.pubkey());
    let mut account = net.account(&at);
    let offset = 189 + 8 + 1; // after the index and the scheme
    account.data[offset..offset + 8].copy_from_slice(&(u64::MAX - 1).to_le_bytes());
    net.svm.set_account(at, account).unwrap();
    net.send(&[&responder], &[respond.to_authorized()]).unwrap();
    let entry = net.entry(&agent.mint, &client.pubkey(), 1);
    assert_eq!(entry.response_count, u64::MAX);
    let sent = net.send(&[&responder], &[respond.to_authorized()]);
    assert_refused(&sent, 0, COUNTER_EXHAUSTED);
}

#[test]
fn refuses_another_account_in_each_place() {
    let (mut net, agent, client, stranger) = two_feedbacks();
    let other = net.agent();
    for (agent, who, first) in [(&agent, &stranger, 1), (&other, &client, 1)] {
        net.given_open(&agent.mint, who, first);
        net.given(agent, who, first, 50);
    }
    net.given_open(&agent.mint, &client, 1); // of the other profile
    let (mint, me, her) = (agent.mint, client.pubkey(), stranger.pubkey());
    let pool = [
        agent_identity(&mint),
        other.mint,
        client_index(&mint, &me),
        open_client_index(&mint, &me),
        feedback_entry(&mint, &me, 2),
        feedback_entry(&mint, &me, 3), // does not exist
        feedback_entry(&mint, &her, 1),
        feedback_entry(&other.mint, &me, 1),
        open_feedback(&mint, &me, 1),
        me,
    ];
    let instruction = Respond::new(&her, &mint, &me).to_authorized();
    let mut frozen = instruction.clone();
    frozen.accounts[2] = readonly(frozen.accounts[2].pubkey);
    assert_refused(&net.send(&[&stranger], &[frozen]), 0, ACCOUNT_MISMATCH);
    let mut unsigned = instruction.clone();
    unsigned.accounts[0].is_signer = false;
    assert_refused(&net.send(&[&client], &[unsigned]), 0, 3010); // Anchor's AccountNotSigner
    assert_forgeries_refused(&mut net, &stranger, &instruction, &[2], ACCOUNT_MISMATCH);
    assert_swaps_refused(&mut net, &stranger, &instruction, &pool, ACCOUNT_MISMATCH);
}
