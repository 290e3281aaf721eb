//! Open feedback with its summaries, and validation.

use super::flow::{ACTORS, Flow};
use crate::localnet::{
    Agent, Localnet,
    open_feedback::{
        GiveOpenFeedback, OPEN_SUMMARY, OPEN_SUMMARY_PART, open_summary, revoke_open_feedback,
    },
    responses::Respond,
    validation::{Answer, Request},
};
use solana_address::Address;
use solana_keypair::Keypair;
use solana_signer::Signer;

pub fn flows() -> Vec<Flow> {
    let mut net = Localnet::new();
    let mut flows = [
        Flow::new("give_open_feedback", "first by a client", 18_000).with_median(22_000),
        Flow::new("give_open_feedback", "again", 14_000),
        Flow::new("append_open_response", "", 7_000),
        Flow::new("revoke_open_feedback", "", 6_000),
        Flow::new("validation_request", "", 11_000),
        Flow::new("validation_response", "first", 12_000),
        Flow::new("validation_response", "again", 9_000),
    ];
    for _ in 0..ACTORS {
        let [first, again, respond, revoke, validation @ ..] = &mut flows;
        let (agent, client) = (net.agent(), net.actor());
        give(&mut net, &agent, &client, 1, first);
        give(&mut net, &agent, &client, 2, again);
        let (me, mint) = (client.pubkey(), agent.mint);
        let response = Respond {
            response_uri: vec![b'a'; 200],
            ..Respond::new(&me, &mint, &me)
        };
        respond.run(&mut net, &client, response.to_open(), &[]);
        let withdrawal = revoke_open_feedback(&me, &mint, 1);
        revoke.run(&mut net, &client, withdrawal, &[]);
        validate(&mut net, &agent, &client, validation);
    }
    flows.into_iter().chain(summaries()).collect()
}

fn give(net: &mut Localnet, agent: &Agent, client: &Keypair, index: u64, flow: &mut Flow) {
    let (mint, me) = (agent.mint, client.pubkey());
    let feedback = GiveOpenFeedback {
        feedback_index: index,
        ..GiveOpenFeedback::longest(&mint, &me)
    };
    let number = index.to_le_bytes();
    let entry: &[&[u8]] = &[b"open_feedback", mint.as_ref(), me.as_ref(), &number];
    let client_index: &[&[u8]] = &[b"open_client", mint.as_ref(), me.as_ref()];
    let both = [entry, client_index];
    let searched = if index == 1 { &both[..] } else { &both[..1] };
    flow.run(net, client, feedback.instruction(), searched);
}

fn validate(net: &mut Localnet, agent: &Agent, validator: &Keypair, flows: &mut [Flow; 3]) {
    let (mint, who) = (agent.mint, validator.pubkey());
    let request = Request {
        uri: vec![b'a'; 200],
        ..Request::new(&agent.owner.pubkey(), &mint, &who)
    };
    let answer = Answer {
        uri: vec![b'a'; 200],
        ..Answer::new(&who, &mint)
    };
    let prefix = &request.hash[..8];
    let asked: &[&[u8]] = &[b"val_request", mint.as_ref(), who.as_ref(), prefix];
    let answered: &[&[u8]] = &[b"val_response", mint.as_ref(), who.as_ref(), prefix];
    let [requested, first, again] = flows;
    requested.run(net, &agent.owner, request.instruction(), &[asked]);
    first.run(net, validator, answer.instruction(), &[answered]);
    again.run(net, validator, answer.instruction(), &[]);
}

/// Of all accounts that a transaction locks, 64: payer, program, mint, index and 60 entries, in
/// a v0 transaction with a lookup table. Below the default limit of 200,000.
fn summaries() -> Vec<Flow> {
    let mut net = Localnet::new();
    let (agent, reader) = (net.agent(), net.actor());
    let lasts = [60, 1, 1, 1, 1, 1, 1, 1, 1, 1];
    let clients: Vec<(Address, u64)> = lasts
        .into_iter()
        .map(|last| (with_entries(&mut net, &agent, last), last))
        .collect();
    let tag = "t".repeat(32);
    let mut flows = vec![];
    for (name, kind) in [
        ("open_summary", OPEN_SUMMARY),
        ("open_summary_part", OPEN_SUMMARY_PART),
    ] {
        for (variant, clients) in [
            ("one client with 60 entries", &clients[..1]),
            ("9 clients with one entry each", &clients[1..]),
        ] {
            let mut flow = Flow::new(name, variant, 150_000);
            let summary = open_summary(kind, &agent.mint, clients, &tag, &tag);
            flow.run(&mut net, &reader, summary, &[]);
            flows.push(flow);
        }
    }
    flows
}

/// A client with `last` entries, the longest in value and tags.
fn with_entries(net: &mut Localnet, agent: &Agent, last: u64) -> Address {
    let client = net.actor();
    for index in 1..=last {
        let feedback = GiveOpenFeedback {
            feedback_index: index,
            value: 100_000_000_000_000_000_000_000_000_000_000_000_000,
            value_decimals: 18,
            tag1: vec![b't'; 32],
            tag2: vec![b't'; 32],
            ..GiveOpenFeedback::new(&agent.mint, &client.pubkey())
        };
        net.give_open(&client, &feedback).unwrap();
    }
    client.pubkey()
}
