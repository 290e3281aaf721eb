//! What `concord conform` checks and writes.
use super::{assert_sentence, changed, conform, folder_with, text};
use crate::invocation::{answer, concord};
use serde_json::{Value, json};
use std::{
    fs,
    io::{BufRead, BufReader, Read},
    path::PathBuf,
    process::Stdio,
};
use tempfile::TempDir;

#[test]
fn one_backend_alone_runs_without_the_other_s_tools() {
    let mut command = conform(&["--backend", "svm-litesvm", "--json"]);
    command
        .env("PATH", "/nonexistent")
        .env_remove("CONCORD_ANVIL");
    let answer = answer(&mut command);
    assert_eq!(answer.code, 0, "{}", answer.stderr);
    let report: Value = serde_json::from_str(&answer.stdout).expect("stdout is one JSON value");
    assert_eq!(report["participants"], json!(["model", "svm-litesvm"]));
    assert_eq!(report["matrix"]["R2"]["svm-litesvm"]["passed"], 1);
}

#[test]
fn a_stale_digest_is_exit_code_1_and_names_everybody() {
    let digest = json!(format!("0x{}", "0".repeat(64)));
    let (_folder, file) = changed("register", "/steps/0/expect/digest", digest);
    let arguments = [
        "conform",
        "--backend",
        "svm-litesvm",
        "--scenario",
        text(&file),
    ];
    let answer = answer(&mut concord(&arguments));
    assert_eq!(answer.code, 1, "{}", answer.stderr);
    let report = answer.stdout;
    assert!(report.contains("FAILED model: broken/changed step 1 (register; R1 R2 R3)\n  state"));
    assert!(
        report.contains("FAILED svm-litesvm: broken/changed step 1 (register; R1 R2 R3)\n  state")
    );
    assert!(
        report.ends_with("1 scenario: wrong: model, svm-litesvm\n"),
        "{report}"
    );
}

#[test]
fn a_filter_that_leaves_nothing_is_exit_code_2() {
    let none = answer(&mut concord(&["conform", "--filter", "no-such-scenario"]));
    assert_sentence(&none, 2, "no scenario has `no-such-scenario` in its name");
}

#[test]
fn a_filter_takes_a_part_of_a_name_or_a_rule() {
    let names = |filter: &str| {
        let arguments = ["conform", "--backend", "none", "--json", "--filter", filter];
        let answer = answer(&mut concord(&arguments));
        assert_eq!(answer.code, 0, "{}", answer.stderr);
        let report: Value = serde_json::from_str(&answer.stdout).unwrap();
        let scenarios = report["scenarios"].as_array().unwrap().clone();
        let name = |it: &Value| it["name"].as_str().unwrap().to_owned();
        scenarios.iter().map(name).collect::<Vec<_>>()
    };
    let by_name = names("transfer-cl");
    assert_eq!(by_name, ["identity/transfer-clears-wallet"]);
    let by_rule = names("R2");
    assert!(
        by_rule.contains(&"identity/register".to_owned()),
        "{by_rule:?}"
    );
    assert!(!by_rule.contains(&"identity/transfer-clears-wallet".to_owned()));
}

/// The scenarios that are left, on the model alone.
fn chosen(filters: &[&str]) -> Vec<String> {
    let arguments = [&["conform", "--backend", "none", "--json"], filters].concat();
    let answer = answer(&mut concord(&arguments));
    assert_eq!(answer.code, 0, "{}", answer.stderr);
    let report: Value = serde_json::from_str(&answer.stdout).unwrap();
    let scenarios = report["scenarios"].as_array().unwrap().clone();
    let name = |it: &Value| it["name"].as_str().unwrap().to_owned();
    scenarios.iter().map(name).collect()
}

#[test]
fn filters_of_one_kind_are_alternatives_and_those_of_two_kinds_must_both_hold() {
    let identity = chosen(&["--filter", "identity/"]);
    let open = chosen(&["--filter", "open/"]);
    let either = chosen(&["--filter", "identity/", "--filter", "open/"]);
    assert_eq!(either.len(), identity.len() + open.len());

    let rule = chosen(&["--rule", "R16"]);
    let both = chosen(&["--filter", "open/", "--rule", "R16"]);
    assert!(!both.is_empty() && both.len() < rule.len().max(open.len()));
    assert!(both.iter().all(|it| rule.contains(it) && open.contains(it)));

    let rules = chosen(&["--rule", "R16", "--rule", "R20"]);
    assert_eq!(rules, chosen(&["--rule", "R16,R20"]));
    assert!(rules.len() > rule.len());
    assert!(rule.iter().all(|it| rules.contains(it)));

    let without = chosen(&["--filter", "open/", "--exclude", "summary"]);
    assert!(!without.is_empty() && without.len() < open.len());
    assert!(!without.iter().any(|it| it.contains("summary")));

    let validation = chosen(&["--filter", "validation/"]);
    let by_profile = chosen(&["--profile", "validation"]);
    assert!(validation.iter().all(|it| by_profile.contains(it)));
    assert!(by_profile.len() < chosen(&["--profile", "validation,identity"]).len());
}

#[test]
fn filters_that_leave_nothing_say_what_they_asked_for() {
    let none = answer(&mut concord(&[
        "conform",
        "--filter",
        "open/",
        "--exclude",
        "open/",
    ]));
    assert_sentence(
        &none,
        2,
        "no scenario has `open/` in its name or cites it as a rule, and is without `open/`",
    );
    for (option, value, words) in [
        (
            "--rule",
            "R26",
            "`R26` is not a rule: use R1 to R25, or §3a",
        ),
        (
            "--profile",
            "Open",
            "`Open` is neither identity, open, authorized nor validation",
        ),
    ] {
        let refused = answer(&mut concord(&["conform", option, value]));
        assert_eq!((refused.code, &*refused.stdout), (2, ""), "{refused:?}");
        assert!(refused.stderr.contains(words), "{refused:?}");
    }
}

#[test]
fn views_are_asked_and_counted() {
    let answer = answer(&mut conform(&[
        "--backend",
        "evm-revm,svm-litesvm",
        "--json",
    ]));
    assert_eq!(answer.code, 0, "{}", answer.stderr);
    let report: Value = serde_json::from_str(&answer.stdout).unwrap();
    for (backend, least) in [("evm-revm", 100), ("svm-litesvm", 4)] {
        let total = &report["views"]["totals"][backend];
        assert!(total["passed"].as_u64().unwrap() >= least, "{total}");
        assert_eq!((&total["failed"], &total["errors"]), (&json!(0), &json!(0)));
    }
    let asked = &report["views"]["asked"]["evm-revm"];
    assert!(asked["IdentityRegistry.ownerOf(uint256)"].as_u64().unwrap() > 0);
    let asked = &report["views"]["asked"]["svm-litesvm"];
    assert_eq!(asked["account AgentIdentity"], 1);
}

#[test]
fn a_report_that_cannot_be_written_is_exit_code_2_before_anybody_plays() {
    for option in ["--json-file", "--html", "--junit"] {
        for (place, words) in [
            ("/nonexistent/report", "No such file"),
            ("/proc", "is a directory"),
        ] {
            let refused = answer(&mut conform(&["--backend", "none", option, place]));
            let words = format!("concord: {place} cannot be written: {words}");
            assert_sentence(&refused, 2, &words);
        }
    }
}

/// `identity/set-uri` or the like, with a URI of so many bytes.
fn too_long(bytes: usize) -> (TempDir, PathBuf) {
    let by_alice = |uri: String| json!({"agent": "desk", "by": "alice", "uri": uri});
    let scenario = json!({
        "title": "A URI that no transaction holds",
        "rules": ["R2"],
        "start": 1_800_000_000,
        "actors": ["alice"],
        "steps": [
            {"do": {"register": by_alice("a".to_owned())}, "expect": {"outcome": "ok"}},
            {
                "do": {"set_agent_uri": by_alice("a".repeat(bytes))},
                "expect": {"outcome": "ok"},
                "variance": [{"kind": 2, "chain": "svm", "reason": "lengths", "expect": {"outcome": "LengthLimit"}}]
            }
        ]
    });
    let (folder, file) = folder_with("long/uri.json", scenario.to_string().as_bytes());
    let filled = answer(&mut concord(&["fill", text(&file)]));
    assert_eq!(filled.code, 0, "{}", filled.stderr);
    (folder, file)
}

#[test]
fn a_step_that_no_transaction_of_a_chain_holds_is_not_checked_and_the_others_are() {
    for (bytes, on_evm) in [
        (66_000, "takes all of a transaction's 25000000 gas"),
        (1_000_000, "exceeds the gas limit"),
    ] {
        let (_folder, file) = too_long(bytes);
        let backends = "evm-anvil,evm-revm,svm-litesvm";
        let arguments = ["conform", "--backend", backends, "--scenario", text(&file)];
        let run = answer(&mut concord(&arguments));
        assert_eq!(run.code, 1, "{}", run.stderr);
        assert_eq!(run.stdout.matches(on_evm).count(), 2, "{}", run.stdout);
        assert!(
            run.stdout.contains("does not fit a packet of 1232"),
            "{}",
            run.stdout
        );
    }
}

#[test]
fn a_report_that_cannot_be_written_any_more_leaves_the_matrix() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("reports");
    fs::create_dir(&place).unwrap();
    let html = place.join("report.html");
    let mut run = concord(&["conform", "--backend", "evm-revm", "--filter", "open/"])
        .args(["--html", text(&html)])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut progress = BufReader::new(run.stderr.take().unwrap());
    progress.read_line(&mut String::new()).unwrap(); // the run is on its way
    fs::remove_dir(&place).unwrap();
    let mut said = String::new();
    progress.read_to_string(&mut said).unwrap();
    let output = run.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{said}");
    let matrix = String::from_utf8(output.stdout).unwrap();
    assert!(matrix.contains("evm-revm"), "{matrix}");
    assert!(said.contains("report.html cannot be written"), "{said}");
}

#[test]
fn a_report_into_a_device_leaves_the_device() {
    let full = conform(&["--backend", "none", "--html", "/dev/full"]);
    let answer = answer(&mut { full });
    assert_eq!(answer.code, 2, "{}", answer.stderr);
    assert!(answer.stdout.contains("agree"), "{}", answer.stdout);
    assert!(!fs::metadata("/dev/full").unwrap().is_file());
}

#[test]
fn two_reports_in_one_file_or_none_beside_a_backend_are_exit_code_2() {
    let twice = ["--backend", "none", "--html", "report", "--junit", "report"];
    let words = "--html and --junit both name report";
    assert_sentence(&answer(&mut conform(&twice)), 2, words);
    for (command, both) in [("conform", "none,evm-revm"), ("fuzz", "none,evm-revm")] {
        let refused = answer(&mut concord(&[command, "--backend", both]));
        assert_eq!((refused.code, refused.stdout.as_str()), (2, ""));
        assert!(refused.stderr.contains("--backend none means no backend"));
    }
}
