//! R7 to R9: whose authorization counts, for what, how often and until when.

use crate::localnet::{
    Localnet, NOW,
    authorization::{Authorization, keccak, word},
    instructions::GiveFeedback,
    refusal::*,
    stranger_id,
};
use solana_signer::Signer;

#[test]
fn one_limit_covers_every_index_below_it_plus_one() {
    // R8: last index < limit, exclusive
    let mut net = Localnet::new();
    let (agent, client) = (net.agent(), net.actor());
    let give = |net: &mut Localnet, feedback_index, index_limit| {
        let feedback = GiveFeedback {
            feedback_index,
            index_limit,
            ..GiveFeedback::new(&agent.mint, &client.pubkey())
        };
        net.give(&client, &agent.owner, &feedback)
    };
    assert_refused(&give(&mut net, 1, 0), 1, AUTH_INDEX_LIMIT);
    for index in 1..=3 {
        give(&mut net, index, 3).unwrap();
    }
    assert_refused(&give(&mut net, 4, 3), 1, AUTH_INDEX_LIMIT);
    assert_refused(&give(&mut net, 4, 2), 1, AUTH_INDEX_LIMIT);
    give(&mut net, 4, u64::MAX).unwrap();
}

#[test]
fn counts_until_the_second_before_its_expiry() {
    // R8, A22: now < expiry, strict
    let mut net = Localnet::new();
    let (agent, client) = (net.agent(), net.actor());
    let feedback = GiveFeedback {
        expiry: NOW as u64,
        ..GiveFeedback::new(&agent.mint, &client.pubkey())
    };
    for clock in [NOW, NOW + 1, i64::MAX] {
        net.set_clock(clock);
        let sent = net.give(&client, &agent.owner, &feedback);
        assert_refused(&sent, 1, AUTH_EXPIRED);
    }
    net.set_clock(NOW - 1);
    net.give(&client, &agent.owner, &feedback).unwrap();
    assert_eq!(
        net.entry(&agent.mint, &client.pubkey(), 1).created_at,
        NOW - 1
    );
}

#[test]
fn a_negative_clock_counts_as_0() {
    // R9, A22
    let mut net = Localnet::new();
    let (agent, client) = (net.agent(), net.actor());
    for clock in [-1, i64::MIN] {
        net.set_clock(clock);
        let expired = GiveFeedback {
            expiry: 0,
            ..GiveFeedback::new(&agent.mint, &client.pubkey())
        };
        let sent = net.give(&client, &agent.owner, &expired);
        assert_refused(&sent, 1, AUTH_EXPIRED);
    }
    let good = GiveFeedback {
        expiry: 1,
        ..GiveFeedback::new(&agent.mint, &client.pubkey())
    };
    net.give(&client, &agent.owner, &good).unwrap();
    assert_eq!(
        net.entry(&agent.mint, &client.pubkey(), 1).created_at,
        i64::MIN
    );
}

#[test]
fn an_expiry_beyond_every_clock_counts() {
    // R9, A22
    let mut net = Localnet::new();
    let (agent, client) = (net.agent(), net.actor());
    net.set_clock(i64::MAX);
    for (index, expiry) in [(1, i64::MAX as u64 + 1), (2, u64::MAX)] {
        let feedback = GiveFeedback {
            feedback_index: index,
            index_limit: index,
            expiry,
            ..GiveFeedback::new(&agent.mint, &client.pubkey())
        };
        net.give(&client, &agent.owner, &feedback).unwrap();
    }
    let feedback = GiveFeedback {
        feedback_index: 3,
        index_limit: 3,
        expiry: i64::MAX as u64,
        ..GiveFeedback::new(&agent.mint, &client.pubkey())
    };
    let sent = net.give(&client, &agent.owner, &feedback);
    assert_refused(&sent, 1, AUTH_EXPIRED);
}

#[test]
fn only_the_owner_signs_where_no_authority_is_set() {
    // R7
    let mut net = Localnet::new();
    let (agent, client, stranger) = (net.agent(), net.actor(), net.actor());
    let feedback = GiveFeedback::new(&agent.mint, &client.pubkey());
    for signer in [&stranger, &client] {
        let sent = net.give(&client, signer, &feedback);
        assert_refused(&sent, 1, AUTH_WRONG_SIGNER);
    }
    net.give(&client, &agent.owner, &feedback).unwrap();
}

#[test]
fn only_the_authority_signs_where_one_is_set() {
    // R7, A15: neither the owner nor the authority before it
    let mut net = Localnet::new();
    let (agent, client) = (net.agent(), net.actor());
    let (first, second) = (net.key(), net.key());
    let feedback = GiveFeedback::new(&agent.mint, &client.pubkey());
    net.set_feedback_authority(&agent.mint, &first.pubkey());
    net.set_feedback_authority(&agent.mint, &second.pubkey());
    for signer in [&agent.owner, &first] {
        let sent = net.give(&client, signer, &feedback);
        assert_refused(&sent, 1, AUTH_WRONG_SIGNER);
    }
    net.give(&client, &second, &feedback).unwrap();
}

#[test]
fn a_previous_owners_signature_dies_with_the_transfer() {
    // R7, A15
    let mut net = Localnet::new();
    let (agent, client, buyer) = (net.agent(), net.actor(), net.actor());
    let feedback = GiveFeedback::new(&agent.mint, &client.pubkey());
    let old = Authorization::of(&feedback, &agent.owner.pubkey()).signed_by(&agent.owner);
    net.transfer(&agent.mint, &agent.owner, &buyer.pubkey())
        .unwrap();
    let sent = net.send(&[&client], &[old, feedback.instruction()]);
    assert_refused(&sent, 1, AUTH_WRONG_SIGNER);
    net.give(&client, &buyer, &feedback).unwrap();
}

#[test]
fn a_set_authority_dies_with_the_transfer() {
    // R4, A15
    let mut net = Localnet::new();
    let (agent, client, buyer) = (net.agent(), net.actor(), net.actor());
    let authority = net.key();
    net.set_feedback_authority(&agent.mint, &authority.pubkey());
    net.transfer(&agent.mint, &agent.owner, &buyer.pubkey())
        .unwrap();
    let feedback = GiveFeedback::new(&agent.mint, &client.pubkey());
    let sent = net.give(&client, &authority, &feedback);
    assert_refused(&sent, 1, AUTH_WRONG_SIGNER);
    net.give(&client, &buyer, &feedback).unwrap();
}

#[test]
fn refuses_a_message_that_differs_in_any_field() {
    // R9, A14
    let mut net = Localnet::new();
    let (agent, client, other) = (net.agent(), net.actor(), net.agent());
    let feedback = GiveFeedback::new(&agent.mint, &client.pubkey());
    let right = Authorization::of(&feedback, &agent.owner.pubkey());
    let another_key = other.mint.to_bytes();
    let wrong = [
        (
            "agent",
            Authorization {
                agent: another_key,
                ..right.clone()
            },
        ),
        (
            "client",
            Authorization {
                client: another_key,
                ..right.clone()
            },
        ),
        (
            "index limit",
            Authorization {
                index_limit: word(2),
                ..right.clone()
            },
        ),
        (
            "expiry",
            Authorization {
                expiry: word(feedback.expiry + 1),
                ..right.clone()
            },
        ),
        (
            "chain",
            Authorization {
                chain: keccak(b"solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1"),
                ..right.clone()
            },
        ),
        (
            "program",
            Authorization {
                program: stranger_id().to_bytes(),
                ..right.clone()
            },
        ),
        (
            "signer",
            Authorization {
                signer: another_key,
                ..right.clone()
            },
        ),
    ];
    for (field, authorization) in wrong {
        let precompile = authorization.signed_by(&agent.owner);
        let sent = net.send(&[&client], &[precompile, feedback.instruction()]);
        println!("another {field}");
        assert_refused(&sent, 1, AUTH_WRONG_MESSAGE);
    }
    net.give(&client, &agent.owner, &feedback).unwrap();
}

#[test]
fn refuses_a_message_with_another_prefix_or_width() {
    // R9: a 24-byte prefix, big-endian words
    let mut net = Localnet::new();
    let (agent, client) = (net.agent(), net.actor());
    let feedback = GiveFeedback::new(&agent.mint, &client.pubkey());
    let right = Authorization::of(&feedback, &agent.owner.pubkey());
    let mut little_endian = [0; 32];
    little_endian[..8].copy_from_slice(&feedback.expiry.to_le_bytes());
    let swapped = Authorization {
        expiry: little_endian,
        ..right.clone()
    };
    let mut prefix = right.message();
    prefix[23] = b'2';
    for message in [swapped.message(), prefix] {
        let call = crate::localnet::authorization::call(&agent.owner, &message);
        let precompile = crate::localnet::authorization::precompile(call);
        let sent = net.send(&[&client], &[precompile, feedback.instruction()]);
        assert_refused(&sent, 1, AUTH_WRONG_MESSAGE);
    }
}

#[test]
fn a_replay_is_stopped_by_the_index_and_by_the_limit() {
    // A17
    let mut net = Localnet::new();
    let (agent, client) = (net.agent(), net.actor());
    let feedback = GiveFeedback::new(&agent.mint, &client.pubkey());
    net.give(&client, &agent.owner, &feedback).unwrap();
    // the same instructions under a new blockhash
    let sent = net.give(&client, &agent.owner, &feedback);
    assert_refused(&sent, 1, FEEDBACK_INDEX_STALE);
    // the same authorization for the next index
    let next = GiveFeedback {
        feedback_index: 2,
        ..feedback
    };
    let sent = net.give(&client, &agent.owner, &next);
    assert_refused(&sent, 1, AUTH_INDEX_LIMIT);
}
