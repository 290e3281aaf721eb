//! Registration, authorized feedback, its payment proofs, and the sale of an agent.

use super::flow::{ACTORS, Flow, search};
use crate::localnet::{
    Agent, Localnet,
    authorization::{Authorization, call, precompile},
    instructions::{GiveFeedback, agent_mint, register_agent, revoke_feedback},
    payment::Purchase,
    program_id,
    registry::{set_facilitator, set_payment_token},
    responses::Respond,
    settings::set_auth_schemes,
    token_2022,
    token_2022::token_account,
};
use litesvm::types::TransactionMetadata;
use solana_instruction::Instruction;
use solana_keypair::Keypair;
use solana_signer::Signer;

pub fn flows() -> Vec<Flow> {
    let mut flows = feedback();
    flows.extend(payments());
    flows
}

fn feedback() -> Vec<Flow> {
    let mut net = Localnet::new();
    let mut flows = [
        Flow::new("register_agent", "in total", 62_000),
        Flow::new("register_agent", "own share", 29_000),
        Flow::new("transfer_hook", "with the whole transfer", 21_000),
        Flow::new("give_feedback", "first by a client", 22_000).with_median(25_000),
        Flow::new("give_feedback", "again", 20_000).with_median(25_000),
        Flow::new("give_feedback", "x84, first by a client", 22_000).with_median(25_000),
        Flow::new("revoke_feedback", "", 7_000),
        Flow::new("append_response", "", 7_000),
    ];
    for _ in 0..ACTORS {
        let [total, own, transfer, first, again, x84, revoke, respond] = &mut flows;
        let (agent, client) = (register(&mut net, total, own), net.actor());
        let (me, mint) = (client.pubkey(), agent.mint);
        give(&mut net, &agent, &client, 1, first);
        give(&mut net, &agent, &client, 2, again);
        let response = Respond {
            response_uri: vec![b'a'; 200],
            ..Respond::new(&me, &mint, &me)
        };
        respond.run(&mut net, &client, response.to_authorized(), &[]);
        revoke.run(&mut net, &client, revoke_feedback(&me, &mint, 1), &[]);
        let reviewer = net.actor();
        give_x84(&mut net, &agent, &reviewer, x84);
        sell(&mut net, &agent, transfer);
    }
    flows.into()
}

/// What the top-level instruction of `program` used, less what the programs it called used.
fn own_share(sent: &TransactionMetadata) -> u64 {
    let mut depth = 0;
    let mut share: i64 = 0;
    for line in &sent.logs {
        if line.contains(" invoke [") {
            depth += 1;
        } else if let Some((_, consumed)) = line.split_once(" consumed ") {
            let units: i64 = consumed.split(' ').next().unwrap().parse().unwrap();
            share += match depth {
                1 => units,
                2 => -units,
                _ => 0,
            };
        } else if line.starts_with("Program ") && line.ends_with(" success") {
            depth -= 1;
        }
    }
    share.try_into().unwrap()
}

fn register(net: &mut Localnet, total: &mut Flow, own: &mut Flow) -> Agent {
    let (owner, nonce) = (net.actor(), net.nonce());
    let payer = owner.pubkey();
    let instruction = register_agent(&payer, nonce, &"a".repeat(200));
    let sent = net.send(&[&owner], &[instruction]).unwrap();
    let at = agent_mint(&payer, nonce);
    let mint: &[&[u8]] = &[b"mint", payer.as_ref(), &nonce.to_le_bytes()];
    let ours = search(mint, &program_id())
        + search(&[b"agent", at.as_ref()], &program_id())
        + search(&[b"extra-account-metas", at.as_ref()], &program_id());
    let tokens = [
        owner.pubkey().to_bytes(),
        token_2022::program().to_bytes(),
        at.to_bytes(),
    ];
    let theirs = search(
        &tokens.each_ref().map(|seed| &seed[..]),
        &token_2022::associated_token_program(),
    );
    total.add(sent.compute_units_consumed, ours + theirs);
    own.add(own_share(&sent), ours);
    Agent { owner, mint: at }
}

/// Sends a feedback behind the precompile's call.
fn run_signed(
    net: &mut Localnet,
    flow: &mut Flow,
    client: &Keypair,
    feedback: &GiveFeedback,
    instructions: [Instruction; 2],
) {
    let sent = net.send(&[client], &instructions).unwrap();
    let (mint, me) = (feedback.mint, feedback.client);
    let number = feedback.feedback_index.to_le_bytes();
    let entry: [&[u8]; 4] = [b"feedback", mint.as_ref(), me.as_ref(), &number];
    let mut searched = search(&entry, &program_id());
    if feedback.feedback_index == 1 {
        searched += search(&[b"client", mint.as_ref(), me.as_ref()], &program_id());
    }
    flow.add(sent.compute_units_consumed, searched);
}

fn give(net: &mut Localnet, agent: &Agent, client: &Keypair, index: u64, flow: &mut Flow) {
    let feedback = GiveFeedback {
        feedback_index: index,
        index_limit: index,
        detail_uri: vec![b'a'; 200],
        ..GiveFeedback::new(&agent.mint, &client.pubkey())
    };
    let authorization = Authorization::of(&feedback, &agent.owner.pubkey());
    let instructions = [
        authorization.signed_by(&agent.owner),
        feedback.instruction(),
    ];
    run_signed(net, flow, client, &feedback, instructions);
}

fn give_x84(net: &mut Localnet, agent: &Agent, client: &Keypair, flow: &mut Flow) {
    let opt_in = set_auth_schemes(&agent.owner.pubkey(), &agent.mint, 3);
    net.send(&[&agent.owner], &[opt_in]).unwrap();
    let feedback = GiveFeedback::new(&agent.mint, &client.pubkey());
    let mut give = feedback.instruction();
    give.data.truncate(give.data.len() - 17);
    give.data.push(1);
    let message = [client.pubkey().as_ref(), agent.mint.as_ref()].concat();
    let signed = precompile(call(&agent.owner, &message));
    run_signed(net, flow, client, &feedback, [signed, give]);
}

fn sell(net: &mut Localnet, agent: &Agent, flow: &mut Flow) {
    let buyer = net.key().pubkey();
    let (owner, mint) = (&agent.owner, agent.mint);
    let create = token_2022::create_associated(&owner.pubkey(), &buyer, &mint);
    net.send(&[owner], &[create]).unwrap();
    let (from, to) = (
        token_account(&owner.pubkey(), &mint),
        token_account(&buyer, &mint),
    );
    let transfer = token_2022::transfer(&from, &mint, &to, &owner.pubkey(), 1);
    let list: &[&[u8]] = &[b"extra-account-metas", mint.as_ref()];
    flow.run(net, owner, transfer, &[list]);
}

/// With both lists full.
fn payments() -> Vec<Flow> {
    let mut it = Purchase::new();
    let authority = it.net.upgrade_authority.insecure_clone();
    let me = authority.pubkey();
    let mut flows = [
        Flow::new("attach_payment_proof", "both lists full", 22_000),
        Flow::new("set_payment_token", "listed", 7_000),
        Flow::new("set_facilitator", "listed", 9_000),
        Flow::new("set_payment_token", "no longer", 9_000),
        Flow::new("set_facilitator", "no longer", 9_000),
    ];
    let [attach, add_token, add, remove_token, remove] = &mut flows;
    for number in 1..8 {
        let token = set_payment_token(&me, &[number; 32].into(), true);
        add_token.run(&mut it.net, &authority, token, &[]);
    }
    for number in 1..16 {
        let facilitator = set_facilitator(&me, &[number; 32].into(), true);
        add.run(&mut it.net, &authority, facilitator, &[]);
    }
    for index in 1..=ACTORS {
        if index > 1 {
            it.net.given(&it.agent, &it.client, index as u64, 80);
        }
        let mut proof = it.proof(index as u8);
        proof.feedback_index = index as u64;
        let sent = it.attach(&proof).unwrap();
        let marker: &[&[u8]] = &[b"spent", &proof.task_ref_hash, proof.payer.as_ref()];
        let searched = search(marker, &program_id());
        attach.add(sent.compute_units_consumed, searched);
    }
    for number in 1..8 {
        let token = set_payment_token(&me, &[number; 32].into(), false);
        remove_token.run(&mut it.net, &authority, token, &[]);
    }
    for number in 1..16 {
        let facilitator = set_facilitator(&me, &[number; 32].into(), false);
        remove.run(&mut it.net, &authority, facilitator, &[]);
    }
    flows.into()
}
