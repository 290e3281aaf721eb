//! R16 on chain, against the vectors that other implementations made.

use crate::calls_by_programs::relay;
use crate::localnet::{
    Localnet,
    accounts::Fields,
    instructions::agent_identity,
    open_feedback::{
        GiveOpenFeedback, OPEN_SUMMARY, OPEN_SUMMARY_PART, open_client_index, open_feedback,
        open_summary, revoke_open_feedback,
    },
    program_id,
    refusal::*,
    stranger_id,
};
use litesvm::types::TransactionMetadata;
use serde_json::Value;
use solana_address::Address;
use solana_instruction::{Instruction, error::InstructionError};
use solana_keypair::Keypair;
use solana_signer::Signer;
use std::collections::BTreeMap;

/// An int256, two's complement, big-endian; arithmetic wraps.
type Int256 = [u8; 32];

fn int256(value: i128) -> Int256 {
    let mut word = if value < 0 { [0xFF; 32] } else { [0; 32] };
    word[16..].copy_from_slice(&value.to_be_bytes());
    word
}

fn plus(a: Int256, b: Int256) -> Int256 {
    let mut sum = [0; 32];
    let mut carry = 0;
    for place in (0..32).rev() {
        let digit = u16::from(a[place]) + u16::from(b[place]) + carry;
        sum[place] = digit as u8;
        carry = digit >> 8;
    }
    sum
}

/// `value` at 18 decimals.
fn scaled(value: i128, decimals: u8) -> Int256 {
    (decimals..18).fold(int256(value), |word, _| {
        (0..9).fold(word, |tenfold, _| plus(tenfold, word))
    })
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Part {
    sum: Int256,
    count: u64,
    histogram: [u64; 19],
}

impl Part {
    const NONE: Self = Self {
        sum: [0; 32],
        count: 0,
        histogram: [0; 19],
    };

    fn merged(&self, other: &Self) -> Self {
        Self {
            sum: plus(self.sum, other.sum),
            count: self.count + other.count,
            histogram: std::array::from_fn(|i| self.histogram[i] + other.histogram[i]),
        }
    }

    fn of(sent: &TransactionMetadata) -> Self {
        let mut fields = returned(sent);
        let part = Self {
            sum: fields.bytes32(),
            count: fields.u64(),
            histogram: std::array::from_fn(|_| fields.u64()),
        };
        fields.end();
        part
    }
}

/// The program's return data.
fn returned(sent: &TransactionMetadata) -> Fields {
    assert_eq!(sent.return_data.program_id, program_id());
    Fields::of(&[&[0; 8], &sent.return_data.data[..]].concat(), [0; 8])
}

/// (count, value, decimals)
fn summary(sent: &TransactionMetadata) -> (u64, i128, u8) {
    let mut fields = returned(sent);
    let summary = (fields.u64(), fields.i128(), fields.u8());
    fields.end();
    summary
}

/// A cluster whose clients are those of the vectors, by label.
struct History {
    net: Localnet,
    clients: BTreeMap<String, Keypair>,
    reader: Keypair,
}

/// One agent's feedback as a vector has it.
struct Told {
    mint: Address,
    /// How many entries each client has.
    last: BTreeMap<String, u64>,
}

fn integer(value: &Value) -> i128 {
    match value {
        Value::String(text) => text.parse().unwrap(),
        number => number.as_i64().unwrap().into(),
    }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap().to_owned()
}

impl History {
    fn new() -> Self {
        let mut net = Localnet::new();
        let reader = net.actor();
        Self {
            net,
            clients: BTreeMap::new(),
            reader,
        }
    }

    fn client(&mut self, label: &str) -> Keypair {
        if !self.clients.contains_key(label) {
            let client = self.net.actor();
            self.clients.insert(label.to_owned(), client);
        }
        self.clients[label].insecure_clone()
    }

    /// Gives a vector's feedback to a new agent; the error class that the program names, if it
    /// refuses one.
    fn tell(&mut self, feedback: &[Value]) -> Result<Told, u32> {
        let mint = self.net.agent().mint;
        let mut last = BTreeMap::new();
        for given in feedback {
            let label = text(&given["client"]);
            let client = self.client(&label);
            let index = last.entry(label).or_insert(0);
            let feedback = GiveOpenFeedback {
                feedback_index: *index + 1,
                value: integer(&given["value"]),
                value_decimals: given["value_decimals"].as_u64().unwrap() as u8,
                tag1: text(&given["tag1"]).into_bytes(),
                tag2: text(&given["tag2"]).into_bytes(),
                ..GiveOpenFeedback::new(&mint, &client.pubkey())
            };
            let sent = self.net.give_open(&client, &feedback);
            if sent.is_err() {
                return match refusal(&sent) {
                    (0, InstructionError::Custom(code)) => Err(code),
                    other => panic!("{other:?}"),
                };
            }
            *index += 1;
            if given["revoked"].as_bool().unwrap() {
                let revoke = revoke_open_feedback(&client.pubkey(), &mint, *index);
                self.net.send(&[&client], &[revoke]).unwrap();
            }
        }
        Ok(Told { mint, last })
    }

    fn query(&mut self, told: &Told, kind: [u8; 8], query: &Value) -> Instruction {
        let mut clients = vec![];
        for label in query["clients"].as_array().unwrap() {
            let label = text(label);
            let last = told.last.get(&label).copied().unwrap_or_default();
            clients.push((self.client(&label).pubkey(), last));
        }
        let (tag1, tag2) = (text(&query["tag1"]), text(&query["tag2"]));
        open_summary(kind, &told.mint, &clients, &tag1, &tag2)
    }
}

/// What the part over `query` must be, from the vector alone.
fn expected_part(feedback: &[Value], query: &Value) -> Part {
    let mut part = Part::NONE;
    for client in query["clients"].as_array().unwrap() {
        for given in feedback {
            let tag_matches = |tag: &str| query[tag] == "" || query[tag] == given[tag];
            if given["client"] != *client
                || given["revoked"] == true
                || !tag_matches("tag1")
                || !tag_matches("tag2")
            {
                continue;
            }
            let decimals = given["value_decimals"].as_u64().unwrap() as u8;
            let mut one = Part {
                sum: scaled(integer(&given["value"]), decimals),
                count: 1,
                histogram: [0; 19],
            };
            one.histogram[usize::from(decimals)] = 1;
            part = part.merged(&one);
        }
    }
    part
}

#[test]
fn every_vector_comes_out_to_the_digit() {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../tests/vectors/summary.json"
    );
    let file: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let vectors = file["vectors"].as_array().unwrap();
    assert!(vectors.len() >= 70);
    let mut history = History::new();
    for vector in vectors {
        let id = &vector["id"];
        let feedback = vector["feedback"].as_array().unwrap();
        let told = match history.tell(feedback) {
            Ok(told) => told,
            Err(code) => {
                let expected = match vector["error"].as_str() {
                    Some("DecimalsOutOfRange") => DECIMALS_OUT_OF_RANGE,
                    Some("ValueOutOfRange") => VALUE_OUT_OF_RANGE,
                    other => panic!("{id}: {other:?}"),
                };
                assert_eq!(code, expected, "{id}");
                continue;
            }
        };
        let whole = history.query(&told, OPEN_SUMMARY, &vector["query"]);
        let part = history.query(&told, OPEN_SUMMARY_PART, &vector["query"]);
        let reader = history.reader.insecure_clone();
        let sent = history.net.send(&[&reader], &[whole]);
        let sent_part = history.net.send(&[&reader], &[part]);
        let Some(ok) = vector.get("ok") else {
            assert_eq!(vector["error"], "EmptyClients", "{id}");
            assert_refused(&sent, 0, EMPTY_CLIENTS);
            assert_refused(&sent_part, 0, EMPTY_CLIENTS);
            continue;
        };
        let expected = (
            ok["count"].as_u64().unwrap(),
            integer(&ok["value"]),
            ok["value_decimals"].as_u64().unwrap() as u8,
        );
        assert_eq!(summary(&sent.unwrap()), expected, "{id}");
        let part = Part::of(&sent_part.unwrap());
        assert_eq!(part, expected_part(feedback, &vector["query"]), "{id}");
    }
}

/// Three clients with 2, 1 and 3 entries, one of them revoked, and one without any.
fn four_clients() -> (Localnet, Address, Vec<(Keypair, u64)>) {
    let mut net = Localnet::new();
    let mint = net.agent().mint;
    let mut clients = vec![];
    for last in [2, 1, 3, 0] {
        let client = net.actor();
        for feedback_index in 1..=last {
            let feedback = GiveOpenFeedback {
                feedback_index,
                value: 1000 * i128::from(last) + i128::from(feedback_index),
                value_decimals: feedback_index as u8,
                ..GiveOpenFeedback::new(&mint, &client.pubkey())
            };
            net.give_open(&client, &feedback).unwrap();
        }
        clients.push((client, last));
    }
    let revoke = revoke_open_feedback(&clients[2].0.pubkey(), &mint, 2);
    net.send(&[&clients[2].0], &[revoke]).unwrap();
    (net, mint, clients)
}

fn listed(clients: &[(Keypair, u64)]) -> Vec<(Address, u64)> {
    let address = |(client, last): &(Keypair, u64)| (client.pubkey(), *last);
    clients.iter().map(address).collect()
}

#[test]
fn parts_of_different_transactions_add_up_to_the_whole() {
    let (mut net, mint, clients) = four_clients();
    let reader = net.actor();
    let clients = listed(&clients);
    let mut part = |clients: &[(Address, u64)]| {
        let instruction = open_summary(OPEN_SUMMARY_PART, &mint, clients, "", "");
        Part::of(&net.send(&[&reader], &[instruction]).unwrap())
    };
    let whole = part(&clients);
    assert_eq!(whole.count, 5);
    assert_eq!(whole.histogram[..4], [0, 3, 1, 1]);
    let mut merged = Part::NONE;
    for client in &clients {
        merged = merged.merged(&part(&[*client]));
    }
    assert_eq!(merged, whole);
}

#[test]
fn reads_nothing_where_nothing_is() {
    // SPEC 3a: no error, count 0
    let (mut net, mint, clients) = four_clients();
    let (reader, nobody) = (net.actor(), net.key().pubkey());
    let without = [(clients[3].0.pubkey(), 0)];
    for (mint, tag1) in [(mint, ""), (nobody, ""), (mint, "no such tag")] {
        let instruction = open_summary(OPEN_SUMMARY, &mint, &without, tag1, "");
        let sent = net.send(&[&reader], &[instruction]).unwrap();
        assert_eq!(summary(&sent), (0, 0, 0));
        let instruction = open_summary(OPEN_SUMMARY_PART, &mint, &without, tag1, "");
        let sent = net.send(&[&reader], &[instruction]).unwrap();
        assert_eq!(Part::of(&sent), Part::NONE);
    }
}

#[test]
fn changes_nothing_and_emits_nothing() {
    let (mut net, mint, clients) = four_clients();
    let reader = net.actor();
    let instruction = open_summary(OPEN_SUMMARY, &mint, &listed(&clients), "", "");
    let before: Vec<_> = instruction
        .accounts
        .iter()
        .map(|meta| net.svm.get_account(&meta.pubkey))
        .collect();
    assert!(instruction.accounts.iter().all(|meta| !meta.is_writable));
    let sent = net
        .send(&[&reader], std::slice::from_ref(&instruction))
        .unwrap();
    assert_eq!(sent.inner_instructions.iter().flatten().count(), 0);
    for (meta, before) in instruction.accounts.iter().zip(before) {
        assert_eq!(net.svm.get_account(&meta.pubkey), before);
    }
}

#[test]
fn refuses_an_empty_list_of_clients_before_all_else() {
    let (mut net, mint, clients) = four_clients();
    let reader = net.actor();
    for kind in [OPEN_SUMMARY, OPEN_SUMMARY_PART] {
        let mut instruction = open_summary(kind, &mint, &[], "", "");
        let sent = net.send(&[&reader], std::slice::from_ref(&instruction));
        assert_refused(&sent, 0, EMPTY_CLIENTS);
        let spare = open_client_index(&mint, &clients[0].0.pubkey());
        instruction
            .accounts
            .push(crate::localnet::instructions::readonly(spare));
        let sent = net.send(&[&reader], &[instruction]);
        assert_refused(&sent, 0, EMPTY_CLIENTS);
    }
}

#[test]
fn refuses_an_entry_left_out_put_twice_or_moved() {
    // R16
    let (mut net, mint, clients) = four_clients();
    let reader = net.actor();
    for kind in [OPEN_SUMMARY, OPEN_SUMMARY_PART] {
        let whole = open_summary(kind, &mint, &listed(&clients), "", "");
        net.send(&[&reader], std::slice::from_ref(&whole)).unwrap();
        let last = whole.accounts.len();
        for place in 1..last {
            let mut without = whole.clone();
            without.accounts.remove(place);
            let sent = net.send(&[&reader], &[without]);
            assert_refused(&sent, 0, SUMMARY_GAP);
            let mut twice = whole.clone();
            twice.accounts.insert(place, whole.accounts[place].clone());
            assert_refused(&net.send(&[&reader], &[twice]), 0, SUMMARY_GAP);
            if place + 1 < last {
                let mut moved = whole.clone();
                moved.accounts.swap(place, place + 1);
                assert_refused(&net.send(&[&reader], &[moved]), 0, SUMMARY_GAP);
            }
        }
    }
}

#[test]
fn refuses_a_foreign_account_in_each_place() {
    let (mut net, mint, clients) = four_clients();
    let (other, reader) = (net.agent(), net.actor());
    let me = &clients[0].0;
    net.given_open(&other.mint, me, 1);
    net.given_open(&other.mint, me, 2);
    let last = clients[2].0.pubkey();
    let pool = [
        other.mint,
        agent_identity(&mint),
        open_client_index(&mint, &me.pubkey()),
        open_client_index(&mint, &last),
        open_client_index(&mint, &clients[3].0.pubkey()), // has no feedback
        open_client_index(&other.mint, &me.pubkey()),
        open_feedback(&mint, &me.pubkey(), 2),
        open_feedback(&mint, &last, 1),
        open_feedback(&other.mint, &me.pubkey(), 1),
        open_feedback(&other.mint, &me.pubkey(), 2),
        me.pubkey(),
    ];
    let whole = open_summary(OPEN_SUMMARY, &mint, &listed(&clients), "", "");
    for place in 0..whole.accounts.len() {
        for account in pool {
            let mut swapped = whole.clone();
            if swapped.accounts[place].pubkey != account {
                swapped.accounts[place].pubkey = account;
                assert_refused(&net.send(&[&reader], &[swapped]), 0, SUMMARY_GAP);
            }
        }
        // a copy that a stranger's program owns
        let Some(mut forged) = net.svm.get_account(&whole.accounts[place].pubkey) else {
            continue;
        };
        forged.owner = stranger_id();
        let at = Address::from([230; 32]);
        net.svm.set_account(at, forged).unwrap();
        let mut swapped = whole.clone();
        swapped.accounts[place].pubkey = at;
        assert_refused(&net.send(&[&reader], &[swapped]), 0, SUMMARY_GAP);
    }
}

#[test]
fn another_program_can_give_feedback_and_read_the_summary() {
    let mut net = Localnet::new();
    let (agent, client) = (net.agent(), net.actor());
    let (mint, me) = (agent.mint, client.pubkey());
    let nth = |feedback_index| GiveOpenFeedback {
        feedback_index,
        value: 40 * i128::from(feedback_index),
        value_decimals: 0,
        ..GiveOpenFeedback::new(&mint, &me)
    };
    let calls = [
        nth(1).instruction(),
        nth(2).instruction(),
        open_summary(OPEN_SUMMARY, &mint, &[(me, 2)], "uptime", "week"),
    ];
    let sent = net.send(&[&client], &[relay(&calls)]).unwrap();
    assert_eq!(summary(&sent), (2, 60, 0));
}
