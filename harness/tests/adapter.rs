//! A registry in another language joins the matrix, and an adapter that misbehaves gets one clear
//! error.
mod invocation;

use concord_harness::{
    backend::{Backend, StepFault, adapter::Adapter},
    model::{Actor, Chain},
};
use invocation::{Answer, answer, concord};
use serde_json::{Value, json};
use std::{fs, path::Path, time::Duration};

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
    let told: Vec<_> = answer
        .stderr
        .lines()
        .filter(|line| !line.starts_with("model "))
        .collect();
    assert_eq!(told.len(), 1, "{answer:?}");
    assert!(told[0].contains(words), "{answer:?}");
}

#[test]
fn the_example_agrees_in_every_step_that_it_can_express() {
    let answer = conform(EXAMPLE, &SCENARIOS);
    assert_eq!(answer.code, 0, "{answer:?}");
    let report = report(&answer);
    assert_eq!(report["participants"], json!(["model", "identity-py"]));
    let total = &report["totals"]["identity-py"];
    assert_eq!(total["passed"], report["totals"]["model"]["passed"]);
    assert!(total["passed"].as_u64().unwrap() >= 5);
}

#[test]
fn the_command_adapter_is_conform_with_the_adapter_alone() {
    let arguments = ["adapter", "--chain", "evm", EXAMPLE, "--json"];
    let scenario = ["--scenario", SCENARIOS[0]];
    let answer = answer(&mut concord(&[&arguments[..], &scenario].concat()));
    assert_eq!(answer.code, 0, "{answer:?}");
    let participants = &report(&answer)["participants"];
    assert_eq!(participants, &json!(["model", "identity-py"]));
}

#[test]
fn a_faulty_example_is_named_with_the_place_that_differs() {
    let answer = conform(&format!("{EXAMPLE} --faulty"), &SCENARIOS[..1]);
    assert_eq!(answer.code, 1, "{answer:?}");
    let report = report(&answer);
    let failures = report["failures"].as_array().unwrap();
    assert_eq!(failures.len(), 1, "{failures:#?}");
    let failure = &failures[0];
    assert_eq!(failure["participant"], "identity-py");
    assert_eq!(failure["scenario"], "identity/transfer-clears-wallet");
    assert_eq!(failure["path"], "$.agents.desk.wallet");
    assert_eq!(failure["expected"], Value::Null);
    assert_eq!(failure["actual"], "alice");
}

#[test]
fn a_profile_that_the_adapter_does_not_declare_ends_the_scenario_apart_from_failures() {
    let answer = conform(EXAMPLE, &["authorized/no-authorization", SCENARIOS[0]]);
    assert_eq!(answer.code, 4, "{answer:?}");
    let report = report(&answer);
    assert_eq!(report["conclusion"], "not_declared");
    assert_eq!(report["agree"], false); // nobody may take a part for the whole
    assert_eq!(report["failures"], json!([]));
    let undeclared = json!({"identity-py": ["open", "authorized", "validation"]});
    assert_eq!(report["not_declared"], undeclared);
    let total = &report["totals"]["identity-py"];
    assert_eq!(
        (&total["not_declared"], &total["failed"]),
        (&json!(2), &json!(0))
    );
}

#[test]
fn an_operation_of_a_declared_profile_that_is_lacking_fails_as_a_missing_capability() {
    let hello =
        r#"{"id":1,"ok":{"protocol":1,"name":"partial","operations":[],"profiles":["identity"]}}"#;
    let command = answering(hello, &[r#"{"id":2,"ok":{}}"#]);
    let answer = conform(&command, &SCENARIOS[..1]);
    assert_eq!(answer.code, 1, "{answer:?}");
    let failure = &report(&answer)["failures"][0];
    assert_eq!(failure["subject"], "capability");
    assert_eq!(failure["expected"], "register");
}

#[test]
fn the_profiles_of_the_command_line_are_all_that_is_checked() {
    let arguments = [
        "conform",
        "--json",
        "--backend",
        "none",
        "--adapter-chain",
        "evm",
    ];
    let faulty = format!("{EXAMPLE} --faulty");
    let chosen = ["--profile", "validation", "--adapter", &faulty];
    let answer = answer(&mut concord(&[&arguments[..], &chosen].concat()));
    assert_eq!(answer.code, 4, "{answer:?}");
    let total = &report(&answer)["totals"]["identity-py"];
    assert_eq!((&total["passed"], &total["failed"]), (&json!(0), &json!(0)));
}

/// What the example declares.
const VIEWS: usize = 9;

#[test]
fn an_adapter_without_views_is_checked_as_before_and_its_views_are_named_as_not_asked() {
    let silent = edited(r#"s/, "views": .[^]]*.//"#);
    let answer = conform(&silent, &SCENARIOS);
    assert_eq!(answer.code, 0, "{answer:?}");
    let views = &report(&answer)["views"];
    let not_asked = views["not_asked"]["identity-py"].as_array().unwrap();
    let owner_of = json!("IdentityRegistry.ownerOf(uint256)");
    assert!(not_asked.contains(&owner_of), "{not_asked:?}");
    let of_others = |it: &&Value| !it.as_str().unwrap().starts_with("IdentityRegistry.");
    assert_eq!(not_asked.iter().filter(of_others).count(), 0);
    assert_eq!(not_asked.len(), VIEWS + 4);
}

#[test]
fn the_views_that_an_adapter_declares_are_asked_and_the_others_named() {
    let answer = conform(EXAMPLE, &SCENARIOS);
    let views = &report(&answer)["views"];
    let asked = views["asked"]["identity-py"].as_object().unwrap();
    assert_eq!(asked.len(), VIEWS, "{asked:?}");
    assert!(asked.values().all(|times| times.as_u64() > Some(0)));
    let of_the_deployment = json!({"identity-py": [
        "IdentityRegistry.eip712Domain()", "IdentityRegistry.getVersion()",
        "IdentityRegistry.name()", "IdentityRegistry.symbol()",
    ]});
    assert_eq!(views["not_asked"], of_the_deployment);
}

#[test]
fn the_terminal_and_the_page_name_the_views_that_were_not_asked() {
    let folder = tempfile::tempdir().unwrap();
    let page = folder.path().join("run.html");
    let arguments = ["adapter", "--chain", "evm", EXAMPLE, "--html"];
    let mut command = concord(&arguments);
    let answer = answer(command.arg(&page).args(["--scenario", SCENARIOS[0]]));
    assert_eq!(answer.code, 0, "{answer:?}");
    let named = "IdentityRegistry.eip712Domain(), IdentityRegistry.getVersion(), IdentityRegistry.name(), IdentityRegistry.symbol()";
    let line = format!("views not asked of identity-py: {named}\n");
    assert!(answer.stdout.contains(&line), "{}", answer.stdout);
    let page = fs::read_to_string(page).unwrap();
    for view in named.split(", ") {
        assert!(page.contains(view), "{view}");
    }
}

#[test]
fn an_answer_to_a_view_outside_the_protocol_fails_that_view_alone() {
    let broken = edited(r#"s/"returns": "0"/"refused": "Nonsense"/"#);
    let answer = conform(&broken, &SCENARIOS[..1]);
    assert_eq!(answer.code, 1, "{answer:?}");
    let report = report(&answer);
    let failures = report["failures"].as_array().unwrap();
    assert_eq!(failures.len(), 1, "{failures:#?}");
    assert_eq!(
        failures[0]["operation"],
        "IdentityRegistry.balanceOf(address)"
    );
    let words = failures[0].to_string();
    assert!(
        words.contains("`Nonsense` is not an error class"),
        "{words}"
    );
}

/// What only views show: outcomes, events and states are sound.
#[test]
fn planted_faults_of_an_adapter_s_views_name_the_views_and_nothing_else() {
    for (command, view) in [
        (
            format!("{EXAMPLE} --faulty-view"),
            "IdentityRegistry.isAuthorizedOrOwner(address,uint256)",
        ),
        (
            format!("{PARTIAL} window-from-the-start"),
            "ReputationRegistry.getClientsWindow(uint256,uint256,uint256)",
        ),
    ] {
        let answer = everything(&command);
        assert_eq!(answer.code, 1, "{command}: {}", answer.stderr);
        let report = report(&answer);
        let failures = report["failures"].as_array().unwrap();
        assert!(!failures.is_empty());
        for failure in failures {
            let named = (&failure["subject"], &failure["operation"]);
            assert_eq!(named, (&json!("view"), &json!(view)), "{failure:#}");
        }
    }
}

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
        ("true".to_owned(), "hello: the adapter"),
        (
            hello("registry", 2),
            "hello.protocol is 2, this harness speaks 1",
        ),
        (hello("svm-litesvm", 1), "which is another participant's"),
        (
            with_view("IdentityRegistry.totalSupply()"),
            "hello.views has `IdentityRegistry.totalSupply()`, which is not a view that an adapter is asked",
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
        (&["[]"], "reset: `[]` is not an answer"),
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
    let told = report["lost"][0]["reason"].as_str().unwrap();
    assert!(told.contains(reason), "{told}");
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

/// Every committed scenario, checked for this adapter alone.
fn everything(command: &str) -> Answer {
    answer(&mut concord(&[
        "adapter", "--chain", "evm", command, "--json",
    ]))
}

#[test]
fn a_sound_adapter_of_one_or_two_profiles_fails_nowhere() {
    for (command, name, undeclared, least) in [
        (
            EXAMPLE,
            "identity-py",
            json!(["open", "authorized", "validation"]),
            600,
        ),
        (
            PARTIAL,
            "partial-node",
            json!(["authorized", "validation"]),
            1_100,
        ),
    ] {
        let answer = everything(command);
        assert_eq!(
            answer.code, 4,
            "{name}: {}\n{}",
            answer.stderr, answer.stdout
        );
        let report = report(&answer);
        assert_eq!(report["failures"], json!([]));
        assert_eq!(report["not_declared"], json!({name: undeclared}));
        let total = &report["totals"][name];
        assert!(total["passed"].as_u64().unwrap() > least, "{total}");
        assert!(total["not_declared"].as_u64().unwrap() > 0, "{total}");
        assert_eq!(
            (&total["errors"], &total["not_reached"]),
            (&json!(0), &json!(0))
        );
    }
}

/// Each fault is named by the operation that has it, and by its rule, and nothing else is.
#[test]
fn planted_faults_of_an_adapter_are_named() {
    for (fault, operations, rule) in [
        (
            "revoked-counts",
            &[
                "open_summary",
                "ReputationRegistry.getSummary(uint256,address[],string,string)",
            ][..],
            "R16",
        ),
        ("ties-to-the-most-decimals", &["open_summary"], "R16"),
        ("self-feedback", &["give_open_feedback"], "R18"),
        ("approval-survives", &["set_agent_uri", "transfer"], "R4"),
        ("consent-again", &["set_agent_wallet"], "R3"),
    ] {
        let answer = everything(&format!("{PARTIAL} {fault}"));
        assert_eq!(answer.code, 1, "{fault}: {}", answer.stderr);
        let report = report(&answer);
        let failures = report["failures"].as_array().unwrap();
        let is_it = |it: &Value| operations.iter().any(|name| it["operation"] == **name);
        assert!(failures.iter().all(is_it), "{fault}: {failures:#?}");
        let cites = |it: &Value| it["rules"].as_array().unwrap().contains(&json!(rule));
        assert!(failures.iter().any(cites), "{fault}: {failures:#?}");
    }
}

fn check(command: &str) -> Answer {
    answer(&mut concord(&[
        "adapter", "check", "--chain", "evm", command,
    ]))
}

#[test]
fn the_check_of_a_sound_adapter_has_nothing_to_say() {
    for (command, operations, views) in [(EXAMPLE, 8, VIEWS), (PARTIAL, 12, 16)] {
        let answer = check(command);
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
        (4, "ok     agent_state of nobody", ""),
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
