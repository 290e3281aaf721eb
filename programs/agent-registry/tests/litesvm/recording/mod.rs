//! A run of the program in which every event and every account type occurs, recorded for Anchor's
//! TypeScript client (tests/clients/anchor), which decodes it with nothing but the IDL. What it must
//! come to is written here from the inputs, never from the program's answers.

mod agent;
mod feedback;
mod open_feedback;
mod registry;
mod validation;

use crate::localnet::{
    Localnet, NOW,
    authorization::{Word, keccak},
    instructions::agent_mint,
    program_id,
    responses::Respond,
};
use litesvm::types::TransactionMetadata;
use serde_json::{Value, json};
use solana_address::Address;
use solana_instruction::Instruction;
use solana_keypair::Keypair;
use solana_signer::Signer;
use std::{fs, path::Path};

fn key(address: &Address) -> Value {
    json!(address.to_string())
}

fn hex(bytes: &[u8]) -> Value {
    json!(
        bytes
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect::<String>()
    )
}

/// Integers wider than 32 bits are texts: JavaScript's numbers do not hold them.
fn wide(value: impl ToString) -> Value {
    json!(value.to_string())
}

struct Recording {
    net: Localnet,
    now: i64,
    transactions: Vec<Value>,
    accounts: Vec<Value>,
}

impl Recording {
    fn new() -> Self {
        Self {
            net: Localnet::uninitialized(),
            now: NOW,
            transactions: vec![],
            accounts: vec![],
        }
    }

    /// Sends one transaction, one second after the one before, which emits `events`: each a name
    /// and its fields without the timestamp.
    fn step(
        &mut self,
        signers: &[&Keypair],
        instructions: &[Instruction],
        events: &[(&str, Value)],
    ) {
        self.now += 1;
        self.net.set_clock(self.now);
        let sent = self.net.send(signers, instructions).unwrap();
        let inner = inner_instructions(&sent, signers, instructions);
        let events: Vec<Value> = events
            .iter()
            .map(|(name, fields)| {
                let mut fields = fields.clone();
                fields["timestamp"] = wide(self.now);
                json!({"name": name, "fields": fields})
            })
            .collect();
        let ours = instructions.iter().filter(|i| i.program_id == program_id());
        let calls: Vec<Value> = ours.map(|instruction| hex(&instruction.data)).collect();
        self.transactions
            .push(json!({"calls": calls, "inner_instructions": inner, "events": events}));
    }

    /// Records the account at `address`, found under `seeds`, which holds `fields` and its bump.
    fn keep(&mut self, name: &str, address: &Address, seeds: &[&[u8]], mut fields: Value) {
        let (found, bump) = Address::find_program_address(seeds, &program_id());
        assert_eq!(found, *address);
        fields["bump"] = json!(bump);
        fields["version"] = json!(1); // R12
        let data = hex(&self.net.account(address).data);
        self.accounts
            .push(json!({"name": name, "data": data, "fields": fields}));
    }
}

/// What the transaction's instructions called, with the addresses that the compiled form abbreviates.
fn inner_instructions(
    sent: &TransactionMetadata,
    signers: &[&Keypair],
    instructions: &[Instruction],
) -> Vec<Value> {
    let message = solana_message::Message::new(instructions, Some(&signers[0].pubkey()));
    sent.inner_instructions
        .iter()
        .flatten()
        .map(|inner| {
            let address = |at: u8| key(&message.account_keys[usize::from(at)]);
            let accounts = inner.instruction.accounts.iter().map(|at| address(*at));
            json!({
                "program": address(inner.instruction.program_id_index),
                "accounts": accounts.collect::<Vec<Value>>(),
                "data": hex(&inner.instruction.data),
            })
        })
        .collect()
}

/// The owner's, of the one agent that is not sold.
const NONCE: u64 = 0xFEDC_BA98_7654_3210;

/// Everybody who takes part.
struct Cast {
    first_authority: Keypair,
    authority: Keypair,
    proposed: Address,
    facilitator: Keypair,
    token: Address,
    owner: Keypair,
    mint: Address,
    wallet: Keypair,
    feedback_authority: Keypair,
    client: Keypair,
    stranger: Keypair,
    validator: Keypair,
    task: Word,
}

impl Cast {
    fn of(net: &mut Localnet) -> Self {
        let owner = net.actor();
        Self {
            first_authority: net.upgrade_authority.insecure_clone(),
            authority: net.actor(),
            proposed: net.key().pubkey(),
            facilitator: net.key(),
            token: net.key().pubkey(),
            mint: agent_mint(&owner.pubkey(), NONCE),
            owner,
            wallet: net.key(),
            feedback_authority: net.key(),
            client: net.actor(),
            stranger: net.actor(),
            validator: net.actor(),
            task: keccak(b"solana:localnet:task"),
        }
    }
}

fn respond(record: &mut Recording, cast: &Cast, event: &str, to: fn(&Respond) -> Instruction) {
    let (client, mint, responder) = (cast.client.pubkey(), cast.mint, cast.stranger.pubkey());
    let response = Respond::new(&responder, &mint, &client);
    let fields = json!({
        "nft_mint": key(&mint),
        "client": key(&client),
        "feedback_index": wide(1),
        "responder": key(&responder),
        "response_uri": String::from_utf8(response.response_uri.clone()).unwrap(),
        "response_hash": hex(&response.response_hash),
    });
    record.step(&[&cast.stranger], &[to(&response)], &[(event, fields)]);
}

#[test]
fn is_written_for_clients_of_the_idl() {
    let mut record = Recording::new();
    let cast = Cast::of(&mut record.net);
    registry::keep_registry(&mut record, &cast);
    let times = agent::set_up_agent(&mut record, &cast);
    feedback::review(&mut record, &cast);
    open_feedback::review_openly(&mut record, &cast);
    validation::validate(&mut record, &cast);
    agent::keep_agent(&mut record, &cast, &times);
    agent::sell(&mut record, &cast);
    let recording = json!({"transactions": record.transactions, "accounts": record.accounts});
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("agent_registry_recording.json");
    fs::write(file, serde_json::to_string_pretty(&recording).unwrap()).unwrap();
}
