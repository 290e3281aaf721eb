//! R16 on chain, against the vectors that other implementations made.

use crate::localnet::{
    Localnet,
    open_feedback::{
        GiveOpenFeedback, OPEN_SUMMARY, OPEN_SUMMARY_PART, open_summary, revoke_open_feedback,
    },
    open_summary::{Part, scaled, summary},
    refusal::*,
};
use serde_json::Value;
use solana_address::Address;
use solana_instruction::{Instruction, error::InstructionError};
use solana_keypair::Keypair;
use solana_signer::Signer;
use std::collections::BTreeMap;

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
