//! The bars of SPEC 8, and the table that reports them:
//! `cargo test -p agent-registry --test litesvm compute_units -- --nocapture`
//!
//! "At bump 255" subtracts what each searched address cost beyond its first try: 1,500 a try.

use crate::localnet::{
    Agent, Localnet,
    authorization::{Authorization, call, precompile},
    instructions::{GiveFeedback, register_agent, revoke_feedback},
    payment::Purchase,
    program_id,
    registry::{accept_authority, add_facilitator, add_payment_token, propose_authority},
    settings::*,
    token_2022,
    token_2022::token_account,
};
use litesvm::types::TransactionMetadata;
use solana_address::Address;
use solana_instruction::Instruction;
use solana_keypair::Keypair;
use solana_signer::Signer;

pub const ACTORS: usize = 200;
const TRY: u64 = 1500;

/// Units spent searching for the address of `seeds` beyond the first try.
pub fn search(seeds: &[&[u8]], program: &Address) -> u64 {
    TRY * u64::from(255 - Address::find_program_address(seeds, program).1)
}

/// One flow over many random actors: units as run, and with every searched bump at 255.
pub struct Flow {
    name: &'static str,
    as_run: Vec<u64>,
    at_255: Vec<u64>,
}

impl Flow {
    pub fn new(name: &'static str) -> Self {
        Self {
            name,
            as_run: vec![],
            at_255: vec![],
        }
    }

    pub fn add(&mut self, units: u64, searched: u64) {
        self.as_run.push(units);
        self.at_255.push(units - searched);
    }

    pub fn median(&self) -> u64 {
        let mut sorted = self.as_run.clone();
        sorted.sort_unstable();
        sorted[sorted.len() / 2]
    }

    pub fn at_255(&self) -> u64 {
        *self.at_255.iter().max().unwrap()
    }

    pub fn print(&self) {
        println!(
            "| {} | {} | {} | {} | {} |",
            self.name,
            self.at_255(),
            self.median(),
            self.as_run.iter().min().unwrap(),
            self.as_run.iter().max().unwrap()
        );
    }
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

fn give(net: &mut Localnet, agent: &Agent, client: &Keypair, index: u64) -> (u64, u64) {
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
    let sent = net.send(&[client], &instructions).unwrap();
    let (mint, client) = (agent.mint, client.pubkey());
    let number = index.to_le_bytes();
    let mut searched = search(
        &[b"feedback", mint.as_ref(), client.as_ref(), &number],
        &program_id(),
    );
    if index == 1 {
        searched += search(&[b"client", mint.as_ref(), client.as_ref()], &program_id());
    }
    (sent.compute_units_consumed, searched)
}

fn register(net: &mut Localnet, total: &mut Flow, own: &mut Flow) -> Agent {
    let (owner, mint) = (net.actor(), net.key());
    let instruction = register_agent(&owner.pubkey(), &mint.pubkey(), &"a".repeat(200));
    let sent = net.send(&[&owner, &mint], &[instruction]).unwrap();
    let at = mint.pubkey();
    let ours = search(&[b"agent", at.as_ref()], &program_id())
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
    let sent = net.send(&[owner], &[transfer]).unwrap();
    let searched = search(&[b"extra-account-metas", mint.as_ref()], &program_id());
    flow.add(sent.compute_units_consumed, searched);
}

#[test]
fn every_flow_keeps_its_bar() {
    let mut net = Localnet::new();
    let mut total = Flow::new("register_agent, URI 200, total");
    let mut own = Flow::new("register_agent, own share");
    let mut first = Flow::new("give_feedback, first by a client");
    let mut again = Flow::new("give_feedback, again");
    let mut revoke = Flow::new("revoke_feedback");
    let mut transfer = Flow::new("transfer of an agent");
    for _ in 0..ACTORS {
        let agent = register(&mut net, &mut total, &mut own);
        let client = net.actor();
        let (units, searched) = give(&mut net, &agent, &client, 1);
        first.add(units, searched);
        let (units, searched) = give(&mut net, &agent, &client, 2);
        again.add(units, searched);
        let instruction = revoke_feedback(&client.pubkey(), &agent.mint, 1);
        let sent = net.send(&[&client], &[instruction]).unwrap();
        revoke.add(sent.compute_units_consumed, 0);
        sell(&mut net, &agent, &mut transfer);
    }
    println!("| flow, {ACTORS} random actors | at bump 255 | median | min | max |");
    println!("|---|---|---|---|---|");
    for flow in [&total, &own, &first, &again, &revoke, &transfer] {
        flow.print();
    }
    assert!(own.at_255() <= 29_000);
    assert!(first.at_255() <= 22_000);
    assert!(again.at_255() <= 20_000);
    assert!(first.median() <= 25_000);
    assert!(again.median() <= 25_000);
    assert!(transfer.at_255() <= 21_000);
}

/// Sends one instruction of an agent's owner.
fn change(net: &mut Localnet, flow: &mut Flow, agent: &Agent, instruction: Instruction) {
    let sent = net.send(&[&agent.owner], &[instruction]).unwrap();
    flow.add(sent.compute_units_consumed, 0);
}

#[test]
fn what_the_owners_settings_cost() {
    let mut net = Localnet::new();
    let mut flows = [
        "set_agent_uri, 200",
        "set_metadata, 32 + 256, new",
        "set_metadata, 32 + 256, again",
        "set_agent_wallet",
        "unset_agent_wallet",
        "set_feedback_authority",
        "set_auth_schemes",
        "give_feedback, x84, first by a client",
    ]
    .map(Flow::new);
    let [uri, new, again, set, unset, authority, schemes, x84] = &mut flows;
    for _ in 0..ACTORS {
        let (agent, client) = (net.agent(), net.actor());
        let (owner, mint) = (agent.owner.pubkey(), agent.mint);
        let longest = set_agent_uri(&owner, &mint, &[b'a'; 200]);
        change(&mut net, uri, &agent, longest);
        let metadata = set_metadata(&owner, &mint, &[b'k'; 32], &[7; 256]);
        let sent = net
            .send(&[&agent.owner], std::slice::from_ref(&metadata))
            .unwrap();
        let hash: [u8; 32] = <sha2::Sha256 as sha2::Digest>::digest([b'k'; 32]).into();
        let searched = search(&[b"metadata", mint.as_ref(), &hash], &program_id());
        new.add(sent.compute_units_consumed, searched);
        change(&mut net, again, &agent, metadata);
        change(
            &mut net,
            set,
            &agent,
            set_agent_wallet(&owner, &mint, &owner),
        );
        change(&mut net, unset, &agent, unset_agent_wallet(&owner, &mint));
        let nobody = Address::default();
        change(
            &mut net,
            authority,
            &agent,
            set_feedback_authority(&owner, &mint, &nobody),
        );
        change(
            &mut net,
            schemes,
            &agent,
            set_auth_schemes(&owner, &mint, 3),
        );

        let feedback = GiveFeedback::new(&mint, &client.pubkey());
        let mut give = feedback.instruction();
        give.data.truncate(give.data.len() - 17);
        give.data.push(1);
        let message = [client.pubkey().as_ref(), mint.as_ref()].concat();
        let signed = precompile(call(&agent.owner, &message));
        let sent = net.send(&[&client], &[signed, give]).unwrap();
        let of_client: [&[u8]; 3] = [b"client", mint.as_ref(), &client.pubkey().to_bytes()];
        let of_entry: [&[u8]; 4] = [
            b"feedback",
            mint.as_ref(),
            &client.pubkey().to_bytes(),
            &1u64.to_le_bytes(),
        ];
        let searched = search(&of_client, &program_id()) + search(&of_entry, &program_id());
        x84.add(sent.compute_units_consumed, searched);
    }
    flows.iter().for_each(Flow::print);
    assert!(flows[7].at_255() <= 22_000);
}

#[test]
fn what_a_payment_proof_costs_with_full_lists() {
    let mut it = Purchase::new();
    let authority = it.net.upgrade_authority.insecure_clone();
    let me = authority.pubkey();
    let mut flows = [
        "add_payment_token",
        "add_facilitator",
        "attach_payment_proof",
    ]
    .map(Flow::new);
    for number in 1..8 {
        let add = add_payment_token(&me, &[number; 32].into());
        let sent = it.net.send(&[&authority], &[add]).unwrap();
        flows[0].add(sent.compute_units_consumed, 0);
    }
    for number in 1..16 {
        let add = add_facilitator(&me, &[number; 32].into());
        let sent = it.net.send(&[&authority], &[add]).unwrap();
        flows[1].add(sent.compute_units_consumed, 0);
    }
    for index in 1..=ACTORS {
        if index > 1 {
            it.net.given(&it.agent, &it.client, index as u64, 80);
        }
        let mut proof = it.proof(index as u8);
        proof.feedback_index = index as u64;
        let sent = it.attach(&proof).unwrap();
        let searched = search(&[b"spent", &proof.task_ref_hash], &program_id());
        flows[2].add(sent.compute_units_consumed, searched);
    }
    flows.iter().for_each(Flow::print);
    for call in [propose_authority(&me, &me), accept_authority(&me)] {
        let sent = it.net.send(&[&authority], &[call]).unwrap();
        println!("propose, then accept: {}", sent.compute_units_consumed);
    }
    assert!(flows[2].at_255() <= 22_000);
}
