//! Compute units of open feedback, responses and validation; the table is completed by
//! `cargo test -p agent-registry --test litesvm compute_units -- --nocapture`

use crate::{
    compute_units::{ACTORS, Flow, search},
    localnet::{
        Agent, Localnet,
        open_feedback::{GiveOpenFeedback, OPEN_SUMMARY, open_summary, revoke_open_feedback},
        program_id,
        responses::Respond,
        validation::{Answer, Request},
    },
};
use solana_address::Address;
use solana_instruction::Instruction;
use solana_keypair::Keypair;
use solana_signer::Signer;

/// Runs one instruction of `flow`, whose program searches the addresses of `seeds`.
fn run(
    net: &mut Localnet,
    flow: &mut Flow,
    sender: &Keypair,
    instruction: Instruction,
    seeds: &[&[&[u8]]],
) {
    let sent = net.send(&[sender], &[instruction]).unwrap();
    let searched = seeds.iter().map(|seeds| search(seeds, &program_id())).sum();
    flow.add(sent.compute_units_consumed, searched);
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
    run(net, flow, client, feedback.instruction(), searched);
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
    run(
        net,
        requested,
        &agent.owner,
        request.instruction(),
        &[asked],
    );
    run(net, first, validator, answer.instruction(), &[answered]);
    run(net, again, validator, answer.instruction(), &[]);
}

#[test]
fn every_flow_of_open_feedback_and_validation_keeps_its_bar() {
    let mut net = Localnet::new();
    let mut first = Flow::new("give_open_feedback, first by a client");
    let mut again = Flow::new("give_open_feedback, again");
    let mut respond = Flow::new("append_response, URI 200");
    let mut respond_open = Flow::new("append_open_response, URI 200");
    let mut revoke = Flow::new("revoke_open_feedback");
    let mut validation = [
        Flow::new("validation_request, URI 200"),
        Flow::new("validation_response, first"),
        Flow::new("validation_response, again"),
    ];
    for _ in 0..ACTORS {
        let (agent, client) = (net.agent(), net.actor());
        give(&mut net, &agent, &client, 1, &mut first);
        give(&mut net, &agent, &client, 2, &mut again);
        net.given(&agent, &client, 1, 50);
        let response = Respond {
            response_uri: vec![b'a'; 200],
            ..Respond::new(&client.pubkey(), &agent.mint, &client.pubkey())
        };
        run(
            &mut net,
            &mut respond,
            &client,
            response.to_authorized(),
            &[],
        );
        run(
            &mut net,
            &mut respond_open,
            &client,
            response.to_open(),
            &[],
        );
        let instruction = revoke_open_feedback(&client.pubkey(), &agent.mint, 1);
        run(&mut net, &mut revoke, &client, instruction, &[]);
        validate(&mut net, &agent, &client, &mut validation);
    }
    println!("| flow, {ACTORS} random actors | at bump 255 | median | min | max |");
    println!("|---|---|---|---|---|");
    let [requested, answered, answered_again] = &validation;
    for flow in [
        &first,
        &again,
        &respond,
        &respond_open,
        &revoke,
        requested,
        answered,
        answered_again,
    ] {
        flow.print();
    }
    assert!(first.at_255() <= 18_000);
    assert!(again.at_255() <= 14_000);
    assert!(first.median() <= 22_000);
    assert!(respond.at_255() <= 7_000);
    assert!(respond_open.at_255() <= 7_000);
    assert!(revoke.at_255() <= 6_000);
    assert!(requested.at_255() <= 11_000);
    assert!(answered.at_255() <= 12_000);
    assert!(answered_again.at_255() <= 8_000);
}

#[test]
fn a_summary_of_all_accounts_that_a_transaction_locks_stays_below_the_default_limit() {
    // 64: payer, program, mint, index and 60 entries; a v0 transaction with a lookup table.
    let mut net = Localnet::new();
    let (agent, reader) = (net.agent(), net.actor());
    let mut clients: Vec<(Address, u64)> = vec![];
    for last in [60, 1, 1, 1, 1, 1, 1, 1, 1, 1] {
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
        clients.push((client.pubkey(), last));
    }
    let tag = "t".repeat(32);
    for (name, clients) in [
        ("one client, 60 entries", &clients[..1]),
        ("9 clients, one entry each", &clients[1..]),
    ] {
        let instruction = open_summary(OPEN_SUMMARY, &agent.mint, clients, &tag, &tag);
        let sent = net.send(&[&reader], &[instruction]).unwrap();
        println!("open_summary, {name}: {}", sent.compute_units_consumed);
        assert!(sent.compute_units_consumed <= 150_000);
    }
}
