//! Where keys come from, and what is said when they do not.
use crate::evm::{
    local_chain::{BASE_SEPOLIA, LocalChain, PASSWORD, SECRET, deployer},
    program::{SENDING, Workplace},
};
use crate::shared::process::{Answer, answer};
use alloy::primitives::U256;
use serde_json::{Value, json};
use std::{
    fs,
    io::{Read, Write},
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

pub fn keystore(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/keystores")
        .join(name)
}

fn plan_with(workplace: &Workplace, keystore: &Path, password: &str) -> Answer {
    let file = workplace.file("password");
    fs::write(&file, password).unwrap();
    let mut command = workplace.command(&["plan", "--json"]);
    command.arg("--keystore").arg(keystore);
    command.arg("--password-file").arg(file);
    answer(
        command
            .env_remove("CONCORD_EVM_PRIVATE_KEY")
            .spawn()
            .unwrap(),
    )
}

/// The two examples of the Web3 Secret Storage Definition.
#[test]
fn opens_both_kinds_of_keystore() {
    let chain = LocalChain::start(BASE_SEPOLIA);
    let workplace = Workplace::at(&chain);
    for name in ["pbkdf2.json", "scrypt.json"] {
        for password in [PASSWORD, "testpassword\n", "testpassword\r\nsecond line"] {
            let plan = plan_with(&workplace, &keystore(name), password);
            let plan = plan.assert_done().json();
            let address = "0x008AeEda4D805471dF9b2A5B0f38A0C3bCBA786b";
            assert_eq!(plan["deployer"], address);
        }
    }
}

#[test]
fn refuses_a_wrong_password() {
    let chain = LocalChain::start(BASE_SEPOLIA);
    let workplace = Workplace::at(&chain);
    for password in ["", "Testpassword", " testpassword", "\ntestpassword"] {
        let refused = plan_with(&workplace, &keystore("scrypt.json"), password);
        refused.assert_refused(2, "the password does not open the keystore");
    }
    chain.assert_nothing_was_sent();
}

#[test]
fn refuses_a_keystore_that_would_not_open_or_take_all_memory() {
    let chain = LocalChain::start(BASE_SEPOLIA);
    let workplace = Workplace::at(&chain);
    let cases = [
        ("/version", json!(1), "version is 1, expected 3"),
        (
            "/crypto/cipher",
            json!("aes-256"),
            "crypto.cipher is aes-256",
        ),
        ("/crypto/ciphertext", json!("00"), "crypto.ciphertext is 2"),
        (
            "/crypto/cipherparams/iv",
            json!("00"),
            "crypto.cipherparams.iv is 2",
        ),
        (
            "/crypto/kdfparams/dklen",
            json!(16),
            "kdfparams.dklen is 16",
        ),
        (
            "/crypto/kdfparams/n",
            json!(262_143),
            "kdfparams.n is 262143",
        ),
        ("/crypto/kdfparams/n", json!(1u64 << 31), "kdfparams n·r is"),
        ("/crypto/kdfparams/r", json!(0), "kdfparams n·r is 0"),
        ("/crypto/kdfparams/p", json!(17), "kdfparams.p is 17"),
        ("/crypto/kdfparams", json!({}), "not a version 3 keystore"),
        ("/crypto/mac", json!("zz"), "keystore"),
        ("/id", json!(7), "keystore"),
    ];
    let file = workplace.file("keystore.json");
    let original: Value =
        serde_json::from_slice(&fs::read(keystore("scrypt.json")).unwrap()).unwrap();
    for (pointer, value, words) in cases {
        let mut changed = original.clone();
        *changed.pointer_mut(pointer).unwrap() = value;
        fs::write(&file, changed.to_string()).unwrap();
        plan_with(&workplace, &file, PASSWORD).assert_refused(2, words);
    }
    fs::write(&file, "no JSON").unwrap();
    plan_with(&workplace, &file, PASSWORD).assert_refused(2, "not a version 3 keystore");
    let missing = workplace.file("none.json");
    plan_with(&workplace, &missing, PASSWORD).assert_refused(2, "none.json: No such file");
}

/// A key as a JSON string, a keypair of Solana, a password file in the keystore's place: no piece of four
/// characters of it is shown.
#[test]
fn a_file_that_was_named_by_mistake_is_not_shown() {
    let workplace = Workplace::at_url("http://127.0.0.1:1");
    let number: U256 = format!("0x{SECRET}").parse().unwrap();
    let bytes: [u8; 32] = number.to_be_bytes();
    let file = workplace.file("k.json");
    for content in [
        json!(SECRET).to_string(),
        json!(format!("0x{SECRET}")).to_string(),
        SECRET.to_owned(),
        number.to_string(),
        json!(bytes).to_string(),
        PASSWORD.to_owned(),
        json!({ "version": SECRET }).to_string(),
        json!({ "version": 3, "crypto": PASSWORD }).to_string(),
        "82591437".to_owned(),
    ] {
        fs::write(&file, &content).unwrap();
        let refused = plan_with(&workplace, &file, PASSWORD);
        let words = "k.json: not a version 3 keystore (line 1 column ";
        refused.assert_refused(2, words);
        let shown = refused.stderr.replace(file.to_str().unwrap(), "");
        let secret: Vec<char> = content.replace("version", "").chars().collect();
        for piece in secret.windows(4).map(|it| it.iter().collect::<String>()) {
            assert!(!shown.contains(&piece), "{piece} in {shown}");
        }
    }
}

#[test]
fn refuses_a_variable_that_is_no_key() {
    let chain = LocalChain::start(BASE_SEPOLIA);
    let workplace = Workplace::at(&chain);
    let order = "fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141";
    let with = |key: &str| {
        let mut command = workplace.command(&["plan", "--json"]);
        answer(command.env("CONCORD_EVM_PRIVATE_KEY", key).spawn().unwrap())
    };
    for key in [
        "",
        "0x",
        "12",
        &SECRET[..63],
        &format!("{SECRET}0"),
        &SECRET.replace('7', "g"),
    ] {
        with(key).assert_refused(2, "CONCORD_EVM_PRIVATE_KEY: not 64 hex digits");
    }
    for key in [order, &"00".repeat(32)] {
        let words = "CONCORD_EVM_PRIVATE_KEY: not a number from 1 to the order of secp256k1";
        with(key).assert_refused(2, words);
    }
    for key in [
        SECRET,
        &format!("0x{SECRET}"),
        &SECRET.to_uppercase(),
        &format!(" {SECRET}\n"),
    ] {
        with(key).assert_done();
    }
}

#[test]
fn refuses_to_send_without_a_key() {
    let chain = LocalChain::start(BASE_SEPOLIA);
    let workplace = Workplace::at(&chain);
    let mut command = workplace.command(&[&["apply"], SENDING].concat());
    command.env_remove("CONCORD_EVM_PRIVATE_KEY");
    let words = "no key: give --keystore or set CONCORD_EVM_PRIVATE_KEY";
    answer(command.spawn().unwrap()).assert_refused(2, words);
    let mut command = workplace.command(&["plan"]);
    command.env_remove("CONCORD_EVM_PRIVATE_KEY");
    let words = "or --from with the deployer's address";
    answer(command.spawn().unwrap()).assert_refused(2, words);
    chain.assert_nothing_was_sent();
}

/// Runs it on a terminal of its own, and types what it waits for.
pub fn on_a_terminal(command: &Command, typed: &[(&str, &str)]) -> Answer {
    let mut words: Vec<String> = vec![command.get_program().to_str().unwrap().to_owned()];
    words.extend(
        command
            .get_args()
            .map(|word| word.to_str().unwrap().to_owned()),
    );
    let quoted: Vec<String> = words.iter().map(|word| format!("'{word}'")).collect();
    let mut script = Command::new("script");
    script
        .args(["--quiet", "--return", "--echo", "never", "--command"])
        .arg(quoted.join(" "))
        .arg("/dev/null")
        .current_dir(command.get_current_dir().unwrap())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => script.env(name, value),
            None => script.env_remove(name),
        };
    }
    let mut child = script.spawn().expect("script (bsdutils) is on PATH");
    let mut keyboard = child.stdin.take().unwrap();
    let mut screen = child.stdout.take().unwrap();
    let mut shown = Vec::new();
    for (prompt, answer) in typed {
        let mut byte = [0];
        while !shown.ends_with(prompt.as_bytes()) {
            let read = screen.read(&mut byte).unwrap();
            assert_ne!(read, 0, "{}", String::from_utf8_lossy(&shown));
            shown.push(byte[0]);
        }
        keyboard
            .write_all(format!("{answer}\n").as_bytes())
            .unwrap();
    }
    screen.read_to_end(&mut shown).unwrap();
    Answer {
        code: child.wait().unwrap().code(),
        stdout: String::from_utf8(shown).unwrap(),
        stderr: String::new(),
    }
}

#[test]
fn a_terminal_is_asked_for_the_password_and_for_consent() {
    let chain = LocalChain::start(BASE_SEPOLIA);
    let workplace = Workplace::at(&chain);
    let file = keystore("pbkdf2.json");
    let mut command = workplace.command(&["apply", "--confirmations", "1"]);
    command.arg("--keystore").arg(&file);
    command.env_remove("CONCORD_EVM_PRIVATE_KEY");
    let password = ("pbkdf2.json: ", PASSWORD);
    let consent = "Send up to 4 transactions to eip155:84532 (Base Sepolia)? [y/N] ";

    for no in ["", "n", "maybe"] {
        let declined = on_a_terminal(&command, &[password, (consent, no)]);
        assert_eq!(declined.code, Some(2), "{}", declined.stdout);
        assert!(declined.stdout.contains("not confirmed; nothing was sent"));
        chain.assert_nothing_was_sent();
        assert!(!workplace.run_file().exists());
    }
    let wrong = on_a_terminal(&command, &[("pbkdf2.json: ", "wrong password")]);
    assert_eq!(wrong.code, Some(2), "{}", wrong.stdout);
    assert!(
        wrong
            .stdout
            .contains("the password does not open the keystore")
    );

    let applied = on_a_terminal(&command, &[password, (consent, "y")]);
    assert_eq!(applied.code, Some(0), "{}", applied.stdout);
    assert!(!applied.stdout.contains(PASSWORD), "{}", applied.stdout);
    assert_eq!(chain.nonce(deployer().address()), 4);
}
