//! What is handed to a block explorer comes to the very code that stands on chain.
use crate::{
    interruptions::decoded,
    local_chain::{BASE_SEPOLIA, LocalChain},
    process::{clone_root, json_file},
    program::{CONTRACTS, Workplace},
};
use serde_json::{Value, json};
use std::{
    io::Write,
    process::{Command, Stdio},
};

fn deployed() -> (Workplace, Value) {
    let chain = LocalChain::start(BASE_SEPOLIA);
    let workplace = Workplace::at(&chain);
    let applied = workplace.apply(&["--json"]).assert_done().json();
    (workplace, applied)
}

fn standard_json(workplace: &Workplace, name: &str) -> Value {
    let folder = workplace.file("explorer").join("eip155-84532");
    json_file(&folder.join(format!("{name}.json")))
}

/// The compiler's answer to a standard JSON input.
fn compile(input: &Value) -> Value {
    let mut solc = Command::new(clone_root().join("scripts/toolchain/solc"))
        .arg("--standard-json")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = solc.stdin.take().unwrap();
    stdin.write_all(input.to_string().as_bytes()).unwrap();
    drop(stdin);
    let output = solc.wait_with_output().unwrap();
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn the_standard_json_compiles_to_the_code_that_was_sent() {
    let (workplace, _) = deployed();
    for name in CONTRACTS {
        let compiled = compile(&standard_json(&workplace, name));
        let source = format!("contracts/src/{name}.sol");
        let evm = &compiled["contracts"][source][name]["evm"];
        let artifact = clone_root().join(format!("contracts/out/{name}.sol/{name}.json"));
        let artifact = json_file(&artifact);
        for (theirs, ours) in [
            ("bytecode", "bytecode"),
            ("deployedBytecode", "deployedBytecode"),
        ] {
            let code = evm[theirs]["object"].as_str().expect("compiled");
            assert_eq!(
                artifact[ours]["object"],
                json!(format!("0x{code}")),
                "{name}"
            );
        }
    }
}

/// The command itself asks servers, so it is read and not run.
#[test]
fn the_commands_name_what_was_deployed_in_forge_s_own_options() {
    let (workplace, applied) = deployed();
    let help = Command::new("forge")
        .args(["verify-contract", "--help"])
        .output()
        .unwrap();
    let help = String::from_utf8(help.stdout).unwrap();
    let commands = applied["explorerCommands"].as_array().unwrap();
    assert_eq!(commands.len(), CONTRACTS.len());
    for (name, command) in CONTRACTS.iter().zip(commands) {
        let words: Vec<&str> = command.as_str().unwrap().split(' ').collect();
        let address = workplace.recorded()["contracts"][name]["address"].clone();
        let source = format!("contracts/src/{name}.sol:{name}");
        let start = [
            "forge",
            "verify-contract",
            address.as_str().unwrap(),
            &source,
        ];
        assert_eq!(words[..4], start);
        assert!(
            words.windows(2).any(|two| two == ["--chain", "84532"]),
            "{words:?}"
        );
        for option in words.iter().filter(|word| word.starts_with("--")) {
            assert!(
                help.contains(&format!("{option} ")) || help.contains(&format!("{option}\n")),
                "{option}"
            );
        }
        assert_arguments_end_the_code(&workplace, name, &words);
    }
}

/// The constructor arguments are the end of what was sent.
fn assert_arguments_end_the_code(workplace: &Workplace, name: &str, words: &[&str]) {
    let run = workplace.run_record();
    let address = workplace.recorded()["contracts"][name]["address"].clone();
    let steps = run["steps"].as_array().unwrap();
    let step = steps
        .iter()
        .find(|step| step["address"] == address)
        .unwrap();
    let input = decoded(&step["attempts"][0]).input.to_string();
    match words.iter().position(|word| *word == "--constructor-args") {
        Some(at) => assert!(input.ends_with(&words[at + 1][2..]), "{name}"),
        None => assert_eq!(name, "IdentityRegistry"),
    }
}
