//! Adapters that die, stay silent or break the protocol.
use super::{EXAMPLE, SCENARIOS, answering, assert_ends_the_run, conform, report, scripted};
use crate::invocation::{answer, concord};
use concord_harness::{
    backend::{Backend, StepFault, adapter::Adapter},
    model::{Actor, Chain},
};
use serde_json::json;
use std::{fs, path::Path, time::Duration};

#[test]
fn an_adapter_that_does_not_introduce_itself_is_exit_code_3() {
    let hello = |name: &str, protocol: u64| {
        let ok = json!({"protocol": protocol, "name": name, "operations": []});
        format!(
            "sh -c 'read -r asked; echo \"$0\"' '{}'",
            json!({"id": 1, "ok": ok})
        )
    };
    let with_view = |view: &str| {
        let ok = json!({"protocol": 1, "name": "x", "operations": ["register"], "views": [view]});
        answering(&json!({"id": 1, "ok": ok}).to_string(), &[])
    };
    for (command, words) in [
        ("/nonexistent/adapter".to_owned(), "No such file"),
        ("'python3".to_owned(), "a quotation mark is not closed"),
        (String::new(), "the command is empty"),
        ("true".to_owned(), "cannot be used: hello: the adapter"),
        (
            hello("registry", 2),
            "hello.protocol is 2, this harness speaks 1",
        ),
        (hello("svm-litesvm", 1), "which is another participant's"),
        (hello("svm-rpc", 1), "which is another participant's"),
        (
            with_view("IdentityRegistry.totalSupply()"),
            "hello.views has `IdentityRegistry.totalSupply()`, which is not a view that an adapter is asked on evm",
        ),
        (
            with_view("ReputationRegistry.getClients(uint256)"),
            "hello.profiles does not have `open`",
        ),
        (hello("<b>", 1), "must be 1 to 12 lower-case letters"),
    ] {
        let answer = conform(&command, &SCENARIOS[..1]);
        assert_ends_the_run(&answer, words);
        assert!(answer.stderr.contains("the adapter `"), "{answer:?}");
    }
}

#[test]
fn an_adapter_that_dies_or_writes_garbage_fails_that_step_and_leaves_the_report() {
    for (answers, words) in [
        (&[][..], "reset: the adapter"),
        (
            &["not json"],
            "reset: `not json` is not an answer: expected ident",
        ),
        (
            &["7"],
            "reset: `7` is not an answer: invalid type: integer `7`, expected an object with `id`, and `ok` or `error`",
        ),
        (
            &[r#"{"id":7,"ok":{}}"#],
            "reset: the answer's id is 7, the question's 2",
        ),
        (
            &[r#"{"id":2}"#],
            "reset: the answer has not one of `ok` and `error`",
        ),
        (&[r#"{"id":2,"ok":{}}"#], "execute: the adapter"),
    ] {
        let answer = conform(&scripted(answers), &SCENARIOS[..1]);
        assert_eq!(answer.code, 3, "{answer:?}");
        let report = report(&answer);
        assert_eq!(report["conclusion"], "lost");
        let lost = &report["lost"][0];
        assert_eq!(lost["participant"], "scripted");
        assert!(lost["reason"].as_str().unwrap().contains(words), "{lost}");
        assert_eq!(report["failures"][0]["subject"], "lost");
        assert_eq!(report["totals"]["scripted"]["errors"], 1);
        let who = "scripted stopped answering in scenario identity/transfer-clears-wallet: ";
        assert!(answer.stderr.contains(who), "{answer:?}");
    }
}

#[test]
fn an_adapter_that_dies_once_is_started_again_and_checked_further() {
    let folder = tempfile::tempdir().unwrap();
    let mark = folder.path().join("began");
    let mark = mark.display();
    // The first process answers nothing after `hello`.
    let command =
        format!("sh -c 'test -e {mark} && exec {EXAMPLE}; touch {mark}; head -n 1 | {EXAMPLE}'");
    let answer = conform(&command, &SCENARIOS);
    assert_eq!(answer.code, 3, "{answer:?}");
    let report = report(&answer);
    assert_eq!(report["lost"].as_array().unwrap().len(), 1);
    assert_eq!(report["lost"][0]["scenario"], SCENARIOS[0]);
    let total = &report["totals"]["identity-py"];
    assert_eq!((&total["errors"], &total["failed"]), (&json!(1), &json!(0)));
    assert!(total["passed"].as_u64().unwrap() > 0, "{total}");
}

#[test]
fn an_adapter_that_always_dies_is_given_up_after_three_new_starts() {
    let scenarios = [
        SCENARIOS[0],
        SCENARIOS[1],
        "identity/register",
        "identity/register-empty-uri",
        "identity/register-same-uri",
        "identity/uri-change",
    ];
    let answer = conform(&scripted(&[]), &scenarios);
    assert_eq!(answer.code, 3, "{answer:?}");
    let report = report(&answer);
    assert_eq!(report["lost"].as_array().unwrap().len(), 4);
    assert_eq!(report["totals"]["scripted"]["errors"], scenarios.len());
    let last = report["failures"].as_array().unwrap().last().unwrap();
    let words = last["actual"].as_str().unwrap();
    assert!(
        words.starts_with("given up after 3 new starts: "),
        "{words}"
    );
}

#[test]
fn an_answer_outside_the_protocol_is_a_step_that_could_not_be_checked() {
    for (executed, words) in [
        (r#"{"id":3,"error":"revert 0x12345678"}"#, "0x12345678"), // R25
        (
            r#"{"id":3,"ok":{"outcome":"Nonsense"}}"#,
            "execute: outcome: `Nonsense` is neither",
        ),
        (
            r#"{"id":3,"ok":{"outcome":"ok","events":[{"Minted":{}}]}}"#,
            "execute: events[0]",
        ),
        (
            r#"{"id":3,"ok":{"outcome":"ok","gas":1}}"#,
            "execute: gas: unknown field",
        ),
    ] {
        let command = scripted(&[r#"{"id":2,"ok":{}}"#, executed]);
        let answer = conform(&command, &SCENARIOS[..1]);
        assert_eq!(answer.code, 1, "{answer:?}");
        let report = report(&answer);
        assert_eq!(report["totals"]["scripted"]["errors"], 1);
        assert_eq!(report["failures"][0]["subject"], "fault");
        let actual = report["failures"][0]["actual"].as_str().unwrap();
        assert!(actual.contains(words), "{actual}");
    }
}

#[test]
fn a_silent_adapter_is_given_up_and_killed() {
    let folder = tempfile::tempdir().unwrap();
    let note = folder.path().join("pid");
    let hello = r#"{"id":1,"ok":{"protocol":1,"name":"silent","operations":[]}}"#;
    let command = format!(
        "sh -c 'echo $$ > {}; read -r asked; echo \"$0\"; exec sleep 600' '{hello}'",
        note.display()
    );
    let limit = Duration::from_millis(1500);
    let mut adapter = Adapter::start(&command, Chain::Evm, limit).unwrap();
    let fault = adapter.reset(0, &[Actor::from("alice")]).unwrap_err();
    let StepFault::Unreachable(reason) = &fault else {
        panic!("{fault}")
    };
    assert_eq!(reason, "reset: the adapter gave no answer within 1.5s");
    let process = fs::read_to_string(note).unwrap();
    let process = Path::new("/proc").join(process.trim());
    assert!(process.exists());
    drop(adapter);
    assert!(!process.exists());
}

/// A whole run: the step is inconclusive, and every report has what was compared before and after.
#[test]
fn a_silent_adapter_fails_its_step_and_every_report_of_the_run_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let mark = folder.path().join("began").display().to_string();
    // The first process answers `hello`, and nothing after it.
    let silent =
        format!("touch {mark}; read -r asked; echo \"$asked\" | {EXAMPLE}; exec sleep 600");
    let command = format!("sh -c 'test -e {mark} && exec {EXAMPLE}; {silent}'");
    let [html, junit] = ["run.html", "run.xml"].map(|it| folder.path().join(it));
    let mut arguments = vec![
        "conform",
        "--json",
        "--backend",
        "none",
        "--adapter-timeout",
        "5",
    ];
    arguments.extend(["--adapter", &command, "--adapter-chain", "evm"]);
    arguments.extend(["--html", html.to_str().unwrap()]);
    arguments.extend(["--junit", junit.to_str().unwrap()]);
    for scenario in SCENARIOS {
        arguments.extend(["--scenario", scenario]);
    }
    let answer = answer(&mut concord(&arguments));
    assert_eq!(answer.code, 3, "{answer:?}");
    let reason = "reset: the adapter gave no answer within 5s";
    let report = report(&answer);
    assert_eq!(report["conclusion"], "lost");
    assert_eq!(report["lost"].as_array().unwrap().len(), 1);
    let lost = report["lost"][0]["reason"].as_str().unwrap();
    assert!(lost.contains(reason), "{lost}");
    let total = &report["totals"]["identity-py"];
    assert_eq!((&total["errors"], &total["failed"]), (&json!(1), &json!(0)));
    assert!(total["passed"].as_u64().unwrap() > 0, "{total}");

    let html = fs::read_to_string(html).unwrap();
    assert!(html.contains("identity-py stopped answering in "), "{html}");
    assert!(html.contains(reason));
    assert!(html.contains(SCENARIOS[1]));
    let junit = fs::read_to_string(junit).unwrap();
    let suite = "name=\"identity-py\" tests=\"2\" failures=\"0\" errors=\"1\"";
    assert!(junit.contains(suite), "{junit}");
    assert!(junit.contains("<error type=\"inconclusive: no answer\"") && junit.contains(reason));
}

#[test]
fn a_wait_without_an_end_or_without_a_beginning_is_refused() {
    for limit in ["0", "3601", "soon"] {
        let arguments = ["conform", "--adapter", EXAMPLE, "--adapter-chain", "evm"];
        let answer = answer(concord(&arguments).args(["--adapter-timeout", limit]));
        assert_eq!((answer.code, answer.stdout.as_str()), (2, ""), "{answer:?}");
        assert!(
            answer.stderr.contains("--adapter-timeout <SECONDS>"),
            "{answer:?}"
        );
    }
}
