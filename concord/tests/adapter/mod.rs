//! A registry in another language joins the matrix, and an adapter that misbehaves gets one clear
//! error.
mod checked;
mod profiles;
mod silence;
mod views;

use crate::invocation::{Answer, answer, concord};
use serde_json::Value;

const EXAMPLE: &str = "python3 tests/adapters/identity.py";
const SCENARIOS: [&str; 2] = [
    "identity/transfer-clears-wallet",
    "identity/transfer-by-stranger",
];

/// Identity and open profile, in Node.js.
const PARTIAL: &str = "node tests/adapters/partial.mjs";

fn conform(command: &str, scenarios: &[&str]) -> Answer {
    let mut arguments = vec!["conform", "--json", "--backend", "none"];
    arguments.extend(["--adapter", command, "--adapter-chain", "evm"]);
    for scenario in scenarios {
        arguments.extend(["--scenario", scenario]);
    }
    answer(&mut concord(&arguments))
}

fn report(answer: &Answer) -> Value {
    serde_json::from_str(&answer.stdout).unwrap_or_else(|_| panic!("{answer:?}"))
}

/// A shell program that answers `hello`, then each line with the next of `answers`; then it ends.
fn scripted(answers: &[&str]) -> String {
    let hello = r#"{"id":1,"ok":{"protocol":1,"name":"scripted","operations":["register"]}}"#;
    answering(hello, answers)
}

fn answering(hello: &str, answers: &[&str]) -> String {
    let lines: Vec<_> = [hello]
        .iter()
        .chain(answers)
        .map(|line| format!("read -r asked; echo '{line}'"))
        .collect();
    format!("sh -c \"{}\"", lines.join("; ").replace('"', "\\\""))
}

/// The example, with each of its lines edited by sed.
fn edited(script: &str) -> String {
    format!("sh -c '{EXAMPLE} | sed -u \"$0\"' '{script}'")
}

/// One sentence on stderr besides the model's progress, nothing on stdout.
fn assert_ends_the_run(answer: &Answer, words: &str) {
    assert_eq!((answer.code, answer.stdout.as_str()), (3, ""), "{answer:?}");
    let sentences: Vec<_> = answer
        .stderr
        .lines()
        .filter(|line| !line.starts_with("model "))
        .collect();
    assert_eq!(sentences.len(), 1, "{answer:?}");
    assert!(sentences[0].contains(words), "{answer:?}");
}

/// What the example declares.
const VIEWS: usize = 9;

/// Every committed scenario, checked for this adapter alone.
fn everything(chain: &str, command: &str) -> Answer {
    answer(&mut concord(&[
        "adapter", "--chain", chain, command, "--json",
    ]))
}
