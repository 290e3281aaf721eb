//! What is handed to a block explorer comes to the very code that stands on chain.
use crate::evm::{
    interruptions::decoded,
    local_chain::{BASE_SEPOLIA, LocalChain},
    program::{CONTRACTS, Workplace},
};
use crate::shared::process::{clone_root, json_file};
use serde_json::{Value, json};
use std::{
    collections::BTreeMap,
    io::{BufRead, BufReader, Read, Write},
    net::{TcpListener, TcpStream},
    process::{Command, Stdio},
    thread,
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
pub fn compile(input: &Value) -> Value {
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

/// What a command sends: method and path, and the body.
fn sent_by(command: &str) -> (String, String) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let here = format!("http://{}", listener.local_addr().unwrap());
    let mut command = command.to_owned();
    for host in ["https://sourcify.dev", "https://api.etherscan.io"] {
        command = command.replace(host, &here);
    }
    let server = thread::spawn(move || request(&mut listener.accept().unwrap().0));
    let ran = Command::new("bash")
        .args(["-c", &command])
        .current_dir(clone_root())
        .env("ETHERSCAN_API_KEY", "a secret & a key")
        .env("no_proxy", "127.0.0.1")
        .output()
        .unwrap();
    assert!(ran.status.success(), "{command}: {ran:?}");
    assert!(!command.contains("a secret"));
    server.join().unwrap()
}

/// Reads one request, and answers it.
fn request(stream: &mut TcpStream) -> (String, String) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let (mut first, mut length) = (String::new(), 0);
    reader.read_line(&mut first).unwrap();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        let line = line.to_lowercase();
        if let Some(text) = line.strip_prefix("content-length:") {
            length = text.trim().parse().unwrap();
        }
        if line.starts_with("expect:") {
            stream.write_all(b"HTTP/1.1 100 Continue\r\n\r\n").unwrap();
        }
        if line.trim().is_empty() {
            break;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    let answer = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}";
    stream.write_all(answer).unwrap();
    (first, String::from_utf8(body).unwrap())
}

/// The fields of a form.
fn fields(body: &str) -> BTreeMap<String, String> {
    let decoded = |text: &str| {
        let (mut bytes, mut rest) = (Vec::new(), text.as_bytes());
        while let [first, left @ ..] = rest {
            rest = left;
            match first {
                b'+' => bytes.push(b' '),
                b'%' => {
                    let (digits, left) = left.split_at(2);
                    let digits = std::str::from_utf8(digits).unwrap();
                    bytes.push(u8::from_str_radix(digits, 16).unwrap());
                    rest = left;
                }
                other => bytes.push(*other),
            }
        }
        String::from_utf8(bytes).unwrap()
    };
    body.split('&')
        .map(|field| field.split_once('=').unwrap())
        .map(|(name, value)| (name.to_owned(), decoded(value)))
        .collect()
}

/// The commands are run, with a server of this test in place of the explorers'. They need curl and
/// no compiler.
#[test]
fn the_commands_send_the_standard_json_without_a_compiler() {
    let (workplace, applied) = deployed();
    let commands = applied["explorerCommands"].as_array().unwrap();
    assert_eq!(commands.len(), 2 * CONTRACTS.len());
    for (name, commands) in CONTRACTS.iter().zip(commands.chunks(2)) {
        let address = workplace.recorded()["contracts"][name]["address"].clone();
        let address = address.as_str().unwrap();
        let input = standard_json(&workplace, name);
        let source = format!("contracts/src/{name}.sol:{name}");
        let (to_sourcify, to_etherscan) = (&commands[0], &commands[1]);

        let (line, body) = sent_by(to_sourcify.as_str().unwrap());
        assert_eq!(
            line,
            format!("POST /server/v2/verify/84532/{address} HTTP/1.1\r\n")
        );
        let body: Value = serde_json::from_str(&body).unwrap();
        assert_eq!(body["stdJsonInput"], input);
        assert_eq!(body["contractIdentifier"], source);
        assert_eq!(body["compilerVersion"], "0.8.37+commit.f401782d");

        let (line, body) = sent_by(to_etherscan.as_str().unwrap());
        assert_eq!(line, "POST /v2/api?chainid=84532 HTTP/1.1\r\n");
        let fields = fields(&body);
        let sent: Value = serde_json::from_str(&fields["sourceCode"]).unwrap();
        assert_eq!(sent, input);
        for (field, expected) in [
            ("module", "contract"),
            ("action", "verifysourcecode"),
            ("codeformat", "solidity-standard-json-input"),
            ("contractaddress", address),
            ("contractname", &source),
            ("compilerversion", "v0.8.37+commit.f401782d"),
            ("apikey", "a secret & a key"),
        ] {
            assert_eq!(fields[field], expected, "{field}");
        }
        let arguments = &fields["constructorArguments"];
        assert_eq!(*arguments, fields["constructorArguements"]);
        assert_eq!(arguments.is_empty(), *name == "IdentityRegistry");
        assert_arguments_end_the_code(&workplace, name, arguments);
    }
}

/// The same, any time later; and not if explorers would find something else.
#[test]
fn verify_source_writes_the_same_for_the_deployment_on_record() {
    let chain = LocalChain::start(BASE_SEPOLIA);
    let workplace = Workplace::at(&chain);
    workplace
        .run(&["verify-source"])
        .assert_refused(2, "the address book has no deployment");
    let applied = workplace.apply(&["--json"]).assert_done().json();
    let input = standard_json(&workplace, "ValidationRegistry");
    std::fs::remove_dir_all(workplace.file("explorer")).unwrap();
    let commands = workplace.run(&["verify-source", "--json"]);
    assert_eq!(commands.assert_done().json(), applied["explorerCommands"]);
    assert_eq!(standard_json(&workplace, "ValidationRegistry"), input);

    let address = workplace.recorded()["contracts"]["ValidationRegistry"]["address"].clone();
    chain.set_code(address.as_str().unwrap(), "0x00");
    let refused = workplace.run(&["verify-source"]);
    assert_eq!(refused.code, Some(1));
    assert!(
        refused.stdout.contains("ValidationRegistry  code"),
        "{}",
        refused.stdout
    );
    assert!(!refused.stdout.contains("curl"));
}

/// The constructor arguments are the end of what was sent.
fn assert_arguments_end_the_code(workplace: &Workplace, name: &str, arguments: &str) {
    let run = workplace.run_record();
    let address = workplace.recorded()["contracts"][name]["address"].clone();
    let steps = run["steps"].as_array().unwrap();
    let step = steps
        .iter()
        .find(|step| step["address"] == address)
        .unwrap();
    let input = decoded(&step["attempts"][0]).input.to_string();
    assert!(input.ends_with(arguments), "{name}");
}
