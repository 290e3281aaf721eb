//! The oracle's answers against answers that others published or computed: RFC 8032, RFC 8785, the facts
//! measured on the canonical contracts and on X84, Foundry's `cast`, and Solana's own SDK.

mod authorization;
mod complete;
mod hashing;
mod integers;
mod naming;
mod protocol;
mod scores;
mod signing;
mod statements;
mod summary;
mod wrong_values;

use concord_oracle as oracle;
use serde_json::{Value, json};

const OWNER: &str = "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266";
const OWNER_SECRET: &str = "ac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80";
const CLIENT: &str = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";
const IDENTITY: &str = "0x8004A818BFB912233c491871b3d84c89A494BD9e";
const REPUTATION: &str = "0x8004B663056A597Dffe9eCcC1965A193B7388713";
const DEVNET: &str = "solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1";
const DATA_HASH: &str = "0x54ff40b9165bc013d79cc6a608270dfe7ab5815364ade2f7be770e86d4504f84";

/// base58 of 32 bytes 1, 2, 3 and 4.
const MINT: &str = "4vJ9JU1bJJE96FWSJKvHsmmFADCg4gpZQff4P3bkLKi";
const REVIEWER: &str = "8qbHbw2BbbTHBW1sbeqakYXVKRQM8Ne7pLK7m6CVfeR";
const PROGRAM: &str = "CktRuQ2mttgRGkXJtyksdKHjUdc2C4TgDzyB98oEzy8";
const AUTHORITY: &str = "GgBaCs3NCBuZN12kCJgAW63ydqohFkHEdfdEXBPzLHq";

fn ask(request: &Value) -> Value {
    serde_json::from_str(&oracle::answer(&request.to_string())).expect("an answer is JSON")
}

#[track_caller]
fn expect_ok(request: Value, ok: Value) {
    assert_eq!(ask(&request), json!({"id": null, "ok": ok}), "{request}");
}

/// The message of an error of this class.
#[track_caller]
fn expect_class(request: Value, class: &str) -> String {
    let answer = ask(&request);
    assert_eq!(answer["error"]["class"], class, "{request}\n{answer}");
    answer["error"]["message"].as_str().unwrap().to_string()
}

/// `request` with some members replaced, or removed where the new value is null.
fn with(request: &Value, changes: Value) -> Value {
    let mut request = request.clone();
    for (name, value) in changes.as_object().unwrap() {
        match value {
            Value::Null => drop(request.as_object_mut().unwrap().remove(name)),
            value => request[name] = value.clone(),
        }
    }
    request
}
