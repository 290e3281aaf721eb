//! Nothing secret in what is printed, written, or seen in the list of processes.
use crate::evm::{
    keys::keystore,
    local_chain::{BASE_SEPOLIA, LocalChain, PASSWORD, SECRET},
    program::{SENDING, Workplace},
};
use crate::shared::fault_proxy::{FaultAction, FaultProxy};
use crate::shared::process::answer;
use alloy::primitives::U256;
use std::{
    fs,
    path::Path,
    process::Command,
    sync::{Arc, Mutex},
    thread,
};

/// Providers put the account's key into the path of the URL.
const API_KEY: &str = "k3y-of-the-provider";

fn secrets() -> Vec<String> {
    let number: U256 = format!("0x{SECRET}").parse().unwrap();
    let bytes: [u8; 32] = number.to_be_bytes();
    vec![
        SECRET.to_owned(),
        SECRET.to_uppercase(),
        number.to_string(),
        format!("{bytes:?}"),
        PASSWORD.to_owned(),
        API_KEY.to_owned(),
    ]
}

fn assert_clean(text: &str, place: &str) {
    for secret in secrets() {
        assert!(!text.contains(&secret), "{secret} in {place}: {text}");
    }
}

/// Every file below, whatever it is called.
fn assert_files_clean(folder: &Path) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            assert_files_clean(&path)
        } else {
            let text = fs::read(&path).unwrap();
            let place = path.to_string_lossy().into_owned();
            assert_clean(&String::from_utf8_lossy(&text), &place);
        }
    }
}

/// The command line of every process of this machine that can be seen.
fn command_lines() -> String {
    let lines = fs::read_dir("/proc").unwrap().filter_map(|entry| {
        let file = entry.ok()?.path().join("cmdline");
        Some(String::from_utf8_lossy(&fs::read(file).ok()?).into_owned())
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// Runs it and looks at everything it leaves behind; returns the exit code.
fn run_clean(workplace: &Workplace, mut command: Command) -> Option<i32> {
    let arguments: Vec<_> = command.get_args().map(|word| word.to_owned()).collect();
    for word in &arguments {
        assert_clean(word.to_str().unwrap(), "the arguments");
    }
    let answer = answer(command.spawn().unwrap());
    assert_clean(&answer.stdout, "stdout");
    assert_clean(&answer.stderr, "stderr");
    assert_files_clean(workplace.deployments());
    eprintln!("{arguments:?}: {}", answer.stderr); // shown where the test fails
    answer.code
}

fn with_keystore(mut command: Command, password_file: &Path) -> Command {
    command
        .env_remove("CONCORD_EVM_PRIVATE_KEY")
        .env("CONCORD_EVM_KEYSTORE", keystore("scrypt.json"))
        .env("CONCORD_EVM_PASSWORD_FILE", password_file);
    command
}

#[test]
fn no_secret_is_printed_written_or_an_argument() {
    let chain = LocalChain::start(BASE_SEPOLIA);
    let seen = Arc::new(Mutex::new(String::new()));
    let during = seen.clone();
    let proxy = FaultProxy::start(chain.port(), move |question| {
        if question.method == "eth_sendRawTransaction" {
            during.lock().unwrap().push_str(&command_lines());
        }
        FaultAction::Forward
    });
    let workplace = Workplace::at_url(&format!("{}/v2/{API_KEY}", proxy.url()));
    let folder = tempfile::tempdir().unwrap();
    let password = folder.path().join("words");
    fs::write(&password, PASSWORD).unwrap();

    let apply = [&["apply"], SENDING].concat();
    let applied = with_keystore(workplace.command(&apply), &password);
    assert_eq!(run_clean(&workplace, applied), Some(0));
    for arguments in [
        &["plan"][..],
        &apply,
        &["verify"],
        &["status"],
        &["resume", "--yes"],
    ] {
        let code = run_clean(&workplace, workplace.command(arguments));
        assert_eq!(code, Some(if arguments[0] == "resume" { 2 } else { 0 }));
    }
    let seen = seen.lock().unwrap();
    assert!(
        seen.contains("concord\0deploy\0apply"),
        "the program was not seen"
    );
    assert_clean(&seen, "the list of processes");
}

#[test]
fn no_secret_is_in_an_error() {
    let chain = LocalChain::start(BASE_SEPOLIA);
    let folder = tempfile::tempdir().unwrap();
    let password = folder.path().join("words");
    fs::write(&password, format!("{PASSWORD}!")).unwrap();
    let apply = [&["apply"], SENDING].concat();

    let workplace = Workplace::at(&chain);
    let wrong = with_keystore(workplace.command(&apply), &password);
    assert_eq!(run_clean(&workplace, wrong), Some(2));
    let mut long = workplace.command(&apply);
    long.env("CONCORD_EVM_PRIVATE_KEY", format!("{SECRET}{SECRET}"));
    assert_eq!(run_clean(&workplace, long), Some(2));

    let fails = |url: &str, code: i32| {
        let workplace = Workplace::at_url(url);
        assert_eq!(run_clean(&workplace, workplace.command(&apply)), Some(code));
    };
    let port = chain.port();
    let fails_behind = |policy: fn() -> FaultAction| {
        let proxy = FaultProxy::start(port, move |_| policy());
        fails(&format!("{}/v2/{API_KEY}", proxy.url()), 3);
    };
    // each gives up only after several pauses
    thread::scope(|scope| {
        scope.spawn(|| fails_behind(|| FaultAction::HangUp));
        scope.spawn(|| fails_behind(|| FaultAction::TooManyRequests));
        scope.spawn(|| fails_behind(|| FaultAction::Answer("no number".into())));
        scope.spawn(|| {
            let url = format!("http://user:{API_KEY}@127.0.0.1:1/?key={API_KEY}");
            fails(&url, 3);
        });
        scope.spawn(|| fails(&format!("https://127.0.0.1:1/{API_KEY}"), 3));
    });
    fails(&format!("ftp://host/{API_KEY}"), 2);
    fails(&format!("http://[{API_KEY}"), 2);
}
