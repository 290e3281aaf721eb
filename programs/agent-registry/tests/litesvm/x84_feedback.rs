//! R10: X84's unbounded message, for agents whose owner opted in.

use crate::localnet::{
    Agent, Localnet, NOW, Sent,
    accounts::Fields,
    authorization::{call, keccak, precompile},
    events,
    instructions::GiveFeedback,
    refusal::*,
    settings::{set_auth_schemes, set_feedback_authority},
    stranger_id,
};
use solana_address::Address;
use solana_instruction::Instruction;
use solana_keypair::Keypair;
use solana_signer::Signer;

fn message(reviewer: &Address, mint: &Address) -> Vec<u8> {
    [reviewer.as_ref(), mint.as_ref()].concat()
}

/// `feedback` with the scheme x84 in place of the bounded one.
fn instruction(feedback: &GiveFeedback) -> Instruction {
    let mut instruction = feedback.instruction();
    instruction.data.truncate(instruction.data.len() - 17);
    instruction.data.push(1);
    instruction
}

fn nth(agent: &Agent, client: &Keypair, feedback_index: u64) -> GiveFeedback {
    GiveFeedback {
        feedback_index,
        ..GiveFeedback::new(&agent.mint, &client.pubkey())
    }
}

fn give(net: &mut Localnet, agent: &Agent, client: &Keypair, index: u64, by: &Keypair) -> Sent {
    let signed = precompile(call(by, &message(&client.pubkey(), &agent.mint)));
    net.send(
        &[client],
        &[signed, instruction(&nth(agent, client, index))],
    )
}

fn choose(net: &mut Localnet, agent: &Agent, schemes: u8) {
    let set = set_auth_schemes(&agent.owner.pubkey(), &agent.mint, schemes);
    net.send(&[&agent.owner], &[set]).unwrap();
}

#[test]
fn a19_refuses_it_by_default() {
    let mut net = Localnet::new();
    let (agent, client) = (net.agent(), net.actor());
    let sent = give(&mut net, &agent, &client, 1, &agent.owner);
    assert_refused(&sent, 1, AUTH_WRONG_MESSAGE);
    assert_eq!(net.identity(&agent.mint).unverified, (0, 0));
}

#[test]
fn a19_refuses_64_bytes_that_were_signed_for_another_protocol() {
    let mut net = Localnet::new();
    let (agent, client) = (net.agent(), net.actor());
    let (me, mint) = (client.pubkey(), agent.mint);
    let hash = keccak(b"an interaction");
    let hex: String = hash.iter().map(|byte| format!("{byte:02x}")).collect();
    let foreign = [
        hex.into_bytes(),
        [hash, hash].concat(),
        [hash.as_slice(), mint.as_ref()].concat(),
        [me.as_ref(), hash.as_slice()].concat(),
        message(&mint, &me),
    ];
    for schemes in [1, 2, 3] {
        choose(&mut net, &agent, schemes);
        for payload in &foreign {
            let signed = precompile(call(&agent.owner, payload));
            let sent = net.send(&[&client], &[signed, instruction(&nth(&agent, &client, 1))]);
            assert_refused(&sent, 1, AUTH_WRONG_MESSAGE);
        }
    }
    // A payload that equals x84's message is that message: it has no domain (R10). Only for an
    // agent whose owner accepted this.
    let payload = message(&me, &mint);
    for (schemes, counts) in [(2, false), (1, true)] {
        choose(&mut net, &agent, schemes);
        let signed = precompile(call(&agent.owner, &payload));
        let sent = net.send(&[&client], &[signed, instruction(&nth(&agent, &client, 1))]);
        assert_eq!(sent.is_ok(), counts);
    }
}

#[test]
fn a1_to_a5_a8_a9_refuses_every_other_layout_of_the_precompiles_call() {
    // R11: the template is the bounded message's but for the length
    const SELF: u16 = 0xFFFF;
    let mut net = Localnet::new();
    let (agent, client) = (net.agent(), net.actor());
    choose(&mut net, &agent, 3);
    let give = instruction(&nth(&agent, &client, 1));
    let genuine = call(&agent.owner, &message(&client.pubkey(), &agent.mint));
    let elsewhere = Instruction {
        program_id: stranger_id(),
        accounts: vec![],
        data: genuine.clone(),
    };
    let mut calls: Vec<Vec<u8>> = [
        [2, 2, 2],
        [SELF, SELF, 2],
        [SELF, 2, SELF],
        [2, SELF, SELF],
        [0, 0, 0],
    ]
    .map(|[signature, key, message]| {
        let header = [48, signature, 16, key, 112, 64, message];
        let header = header.map(u16::to_le_bytes).concat();
        [&genuine[..2], &header, &genuine[16..]].concat()
    })
    .to_vec();
    calls.push(vec![0, 0]);
    calls.push([&genuine[..], &[0]].concat());
    let mut padded = genuine.clone();
    padded[1] = 1;
    calls.push(padded);
    for data in calls {
        let sent = net.send(
            &[&client],
            &[precompile(data), give.clone(), elsewhere.clone()],
        );
        assert_refused(&sent, 1, AUTH_MALFORMED);
    }
    net.send(&[&client], &[precompile(genuine), give, elsewhere])
        .unwrap();
}

#[test]
fn entry_and_event_say_that_x84_authorized_them() {
    let mut net = Localnet::new();
    let (agent, client) = (net.agent(), net.actor());
    choose(&mut net, &agent, 3);
    let sent = give(&mut net, &agent, &client, 1, &agent.owner).unwrap();
    let entry = net.entry(&agent.mint, &client.pubkey(), 1);
    assert_eq!((entry.auth_scheme, entry.auth_verified), (1, true));
    assert_eq!((entry.score, entry.created_at), (85, NOW));
    assert_eq!(net.identity(&agent.mint).unverified, (1, 85));
    let [event] = &events(&sent)[..] else {
        panic!("one event")
    };
    let mut fields = Fields::of(event, [64, 65, 2, 152, 174, 215, 156, 194]);
    assert_eq!(
        (fields.key(), fields.key(), fields.u8()),
        (agent.mint, client.pubkey(), 85)
    );
    assert_eq!(
        (fields.bytes32(), fields.bytes32()),
        ([0x11; 32], [0x22; 32])
    );
    assert_eq!((fields.flag(), fields.u64()), (false, 0));
    assert_eq!(fields.text(), "https://feedback.example/1.json");
    assert_eq!(fields.bytes32(), [0x33; 32]);
    let signature = agent
        .owner
        .sign_message(&message(&client.pubkey(), &agent.mint));
    assert_eq!(&fields.bytes64()[..], signature.as_ref());
    assert_eq!((fields.i64(), fields.u64(), fields.u8()), (NOW, 1, 1));
    fields.end();
}

#[test]
fn one_signature_serves_for_ever_and_any_number_of_times() {
    let mut net = Localnet::new();
    let (agent, client) = (net.agent(), net.actor());
    choose(&mut net, &agent, 1);
    for (index, clock) in [(1, NOW), (2, NOW + 1), (3, i64::MAX), (4, i64::MIN)] {
        net.set_clock(clock);
        give(&mut net, &agent, &client, index, &agent.owner).unwrap();
    }
    // the index is still each entry's own
    let sent = give(&mut net, &agent, &client, 4, &agent.owner);
    assert_refused(&sent, 1, FEEDBACK_INDEX_STALE);
}

#[test]
fn either_scheme_counts_only_where_the_owner_chose_it() {
    let mut net = Localnet::new();
    let (agent, client) = (net.agent(), net.actor());
    let mut index = 1;
    for (schemes, x84, bounded) in [(1, true, false), (2, false, true), (3, true, true)] {
        choose(&mut net, &agent, schemes);
        let sent = give(&mut net, &agent, &client, index, &agent.owner);
        if x84 {
            sent.unwrap();
            index += 1;
        } else {
            assert_refused(&sent, 1, AUTH_WRONG_MESSAGE);
        }
        let feedback = GiveFeedback {
            index_limit: 99,
            ..nth(&agent, &client, index)
        };
        let sent = net.give(&client, &agent.owner, &feedback);
        if bounded {
            sent.unwrap();
            index += 1;
        } else {
            assert_refused(&sent, 1, AUTH_WRONG_MESSAGE);
        }
    }
    let schemes = (1..index).map(|nth| net.entry(&agent.mint, &client.pubkey(), nth).auth_scheme);
    assert_eq!(schemes.collect::<Vec<u8>>(), [1, 2, 1, 2]);
}

#[test]
fn a_sale_opts_out() {
    // R4
    let mut net = Localnet::new();
    let (agent, client, buyer) = (net.agent(), net.actor(), net.actor());
    choose(&mut net, &agent, 3);
    give(&mut net, &agent, &client, 1, &agent.owner).unwrap();
    net.transfer(&agent.mint, &agent.owner, &buyer.pubkey())
        .unwrap();
    let sold = Agent {
        owner: buyer,
        mint: agent.mint,
    };
    let sent = give(&mut net, &sold, &client, 2, &agent.owner);
    assert_refused(&sent, 1, AUTH_WRONG_SIGNER);
    let sent = give(&mut net, &sold, &client, 2, &sold.owner);
    assert_refused(&sent, 1, AUTH_WRONG_MESSAGE);
    choose(&mut net, &sold, 1);
    let sent = give(&mut net, &sold, &client, 2, &agent.owner);
    assert_refused(&sent, 1, AUTH_WRONG_SIGNER);
    give(&mut net, &sold, &client, 2, &sold.owner).unwrap();
}

#[test]
fn exactly_one_key_signs() {
    // R7
    let mut net = Localnet::new();
    let (agent, client, authority) = (net.agent(), net.actor(), net.key());
    choose(&mut net, &agent, 1);
    let sent = give(&mut net, &agent, &client, 1, &authority);
    assert_refused(&sent, 1, AUTH_WRONG_SIGNER);
    let set = set_feedback_authority(&agent.owner.pubkey(), &agent.mint, &authority.pubkey());
    net.send(&[&agent.owner, &authority], &[set]).unwrap();
    let sent = give(&mut net, &agent, &client, 1, &agent.owner);
    assert_refused(&sent, 1, AUTH_WRONG_SIGNER);
    give(&mut net, &agent, &client, 1, &authority).unwrap();
}

#[test]
fn refuses_messages_for_another_reviewer_or_agent_and_other_lengths() {
    let mut net = Localnet::new();
    let (agent, other, client, friend) = (net.agent(), net.agent(), net.actor(), net.actor());
    choose(&mut net, &agent, 3);
    let (me, mint) = (client.pubkey(), agent.mint);
    for (signed, code) in [
        (message(&friend.pubkey(), &mint), AUTH_WRONG_MESSAGE),
        (message(&me, &other.mint), AUTH_WRONG_MESSAGE),
        (message(&mint, &me), AUTH_WRONG_MESSAGE),
        (message(&me, &mint)[..56].to_vec(), AUTH_MALFORMED),
        ([message(&me, &mint), vec![0]].concat(), AUTH_MALFORMED),
    ] {
        let signed = precompile(call(&agent.owner, &signed));
        let sent = net.send(&[&client], &[signed, instruction(&nth(&agent, &client, 1))]);
        assert_refused(&sent, 1, code);
    }
    // and without any
    let sent = net.send(&[&client], &[instruction(&nth(&agent, &client, 1))]);
    assert_refused(&sent, 0, AUTH_MISSING);
    // x84's message in a bounded call
    let signed = precompile(call(&agent.owner, &message(&me, &mint)));
    let bounded = nth(&agent, &client, 1).instruction();
    let sent = net.send(&[&client], &[signed, bounded]);
    assert_refused(&sent, 1, AUTH_MALFORMED);
}

#[test]
fn the_first_broken_rule_is_reported() {
    let mut net = Localnet::new();
    let (agent, client) = (net.agent(), net.actor());
    let signed = precompile(call(&agent.owner, &message(&client.pubkey(), &agent.mint)));
    let good = nth(&agent, &client, 1);
    let nobody = Address::from([5; 32]);
    for (feedback, code) in [
        (
            GiveFeedback {
                score: 101,
                ..good.clone()
            },
            SCORE_OUT_OF_RANGE,
        ),
        (
            GiveFeedback {
                mint: nobody,
                ..good.clone()
            },
            AGENT_NOT_FOUND,
        ),
        (
            GiveFeedback {
                detail_uri: vec![b'a'; 201],
                ..good.clone()
            },
            LENGTH_LIMIT,
        ),
        (
            GiveFeedback {
                feedback_index: 2,
                ..good.clone()
            },
            FEEDBACK_INDEX_STALE,
        ),
    ] {
        let sent = net.send(&[&client], &[signed.clone(), instruction(&feedback)]);
        assert_refused(&sent, 1, code);
    }
    let own = GiveFeedback::new(&agent.mint, &agent.owner.pubkey());
    let sent = net.send(&[&agent.owner], &[signed, instruction(&own)]);
    assert_refused(&sent, 1, SELF_FEEDBACK);
}

#[test]
fn refuses_a_scheme_that_does_not_exist() {
    let mut net = Localnet::new();
    let (agent, client) = (net.agent(), net.actor());
    choose(&mut net, &agent, 3);
    let signed = precompile(call(&agent.owner, &message(&client.pubkey(), &agent.mint)));
    let mut give = instruction(&nth(&agent, &client, 1));
    *give.data.last_mut().unwrap() = 2;
    // Anchor's InstructionDidNotDeserialize
    assert_refused(&net.send(&[&client], &[signed, give]), 1, 102);
}
