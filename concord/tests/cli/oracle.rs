//! The program itself, as a third party runs it.

use std::io::Write as _;
use std::process::{Command, Stdio};

#[test]
fn concord_oracle_answers_on_stdout_and_ends_with_its_input() {
    let mut concord = Command::new(env!("CARGO_BIN_EXE_concord"))
        .arg("oracle")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = b"{\"id\":1,\"fn\":\"data_hash\",\"request\":\"0x\",\"response\":\"0x\"}\n\xff\n";
    concord.stdin.take().unwrap().write_all(lines).unwrap();
    let output = concord.wait_with_output().unwrap();
    assert!(output.status.success() && output.stderr.is_empty());
    let stdout = String::from_utf8(output.stdout).unwrap();
    // `cast keccak 0x00000000`.
    let first = "{\"id\":1,\"ok\":\"0xe8e77626586f73b955364c7b4bbf0bb7f7685ebd40e852b164633a4acbd3244c\"}\n";
    let rest = stdout.strip_prefix(first).unwrap();
    assert!(rest.starts_with("{\"id\":null,\"error\":{\"class\":\"BadRequest\""));
    assert_eq!(rest.lines().count(), 1);
}
