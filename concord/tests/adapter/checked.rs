//! `concord adapter check` and `adapter schema`.
use super::{EXAMPLE, PARTIAL, VIEWS, answering, edited};
use crate::invocation::{self, Answer, answer, concord};
use std::fs;

fn check_on(chain: &str, command: &str) -> Answer {
    let arguments = ["adapter", "check", "--chain", chain, command];
    answer(&mut concord(&arguments))
}

fn check(command: &str) -> Answer {
    check_on("evm", command)
}

#[test]
fn the_check_of_a_sound_adapter_has_nothing_to_say() {
    for (chain, command, operations, views) in [
        ("evm", EXAMPLE, 8, VIEWS),
        ("evm", PARTIAL, 12, 16),
        ("svm", PARTIAL, 11, 2),
    ] {
        let answer = check_on(chain, command);
        assert_eq!(answer.code, 0, "{answer:?}");
        let lines = answer.stdout.lines();
        let executed = lines.clone().filter(|it| it.starts_with("ok     execute "));
        assert_eq!(executed.count(), operations, "{}", answer.stdout);
        let viewed = lines.clone().filter(|it| it.starts_with("ok     view "));
        assert_eq!(viewed.count(), views, "{}", answer.stdout);
        let last = lines.last().unwrap();
        assert!(last.ends_with(" answers: all of the protocol"), "{last}");
    }
}

#[test]
fn the_check_says_line_by_line_what_is_wrong() {
    let hello = r#"{"id":1,"ok":{"protocol":1,"name":"scripted","operations":["register"]}}"#;
    let again = hello.replacen("\"id\":1", "\"id\":2", 1);
    let event = r#"{"AgentRegistered":{"agent":"desk","owner":"alice"}}"#;
    let answers = [
        again.as_str(),
        r#"{"id":3,"ok":{"done":true}}"#,
        r#"{"id":4,"ok":{"time":7,"agents":{}}}"#,
        r#"{"id":5,"ok":{"agent":null}}"#,
        &format!(r#"{{"id":6,"ok":{{"outcome":"ok","events":[{event}]}}}}"#),
        r#"{"id":7,"error":"revert 0x12345678"}"#,
    ];
    let answer = check(&answering(hello, &answers));
    assert_eq!(answer.code, 1, "{answer:?}");
    let lines: Vec<_> = answer.stdout.lines().collect();
    for (at, start, words) in [
        (0, "ok     hello", ""),
        (1, "ok     hello, again", ""),
        (2, "WRONG  reset: ", "done: unknown field"),
        (
            3,
            "WRONG  state after reset: ",
            "$.time is 7, and must be 0",
        ),
        (4, "ok     agent_state of an unknown agent", ""),
        (5, "WRONG  execute register: ", "missing field `uri`"),
        (6, "WRONG  reset: ", "revert 0x12345678"),
        (7, "WRONG  state after reset: ", "the adapter"),
    ] {
        let line = lines.get(at).unwrap_or_else(|| panic!("{answer:?}"));
        assert!(line.starts_with(start) && line.contains(words), "{line}");
    }
    assert_eq!(lines[8..], ["", "8 answers: 5 wrong"]);
}

#[test]
fn the_check_says_where_a_view_returns_another_form() {
    let wrong = edited(r#"s/"returns": "ipfs[^}]*/"returns": 7/"#);
    let answer = check(&wrong);
    assert_eq!(answer.code, 1, "{answer:?}");
    let line = "WRONG  view IdentityRegistry.tokenURI(uint256): $ is 7, and must be text";
    assert!(answer.stdout.lines().any(|it| it == line), "{answer:?}");
}

#[test]
fn a_program_that_cannot_be_checked_is_exit_code_3() {
    let answer = check("true");
    assert_eq!((answer.code, answer.stdout.as_str()), (3, ""), "{answer:?}");
    assert!(
        answer.stderr.contains("the adapter `true` cannot be used"),
        "{answer:?}"
    );
}

#[test]
fn the_printed_schema_is_the_committed_one() {
    let answer = answer(&mut concord(&["adapter", "schema"]));
    assert_eq!(answer.code, 0);
    let committed = invocation::clone_root().join("tests/adapters/schema.json");
    assert_eq!(answer.stdout, fs::read_to_string(committed).unwrap());
}
