//! The main job: every committed scenario on anvil, in litesvm and on the model. Needs what
//! `scripts/build` makes, and anvil on PATH or in CONCORD_ANVIL.

use crate::invocation::{answer, clone_root, concord};
use concord_harness::scenario::{Rule, find_files};
use quick_xml::events::Event;
use serde_json::Value;
use std::{env, fs, str::FromStr, sync::OnceLock};
use tempfile::tempdir;

const PARTICIPANTS: [&str; 3] = ["model", "evm-anvil", "svm-litesvm"]; // unless others are named
const PLAYED: [&str; 4] = ["model", "evm-anvil", "evm-revm", "svm-litesvm"];

fn committed_scenarios() -> usize {
    find_files(&clone_root().join("tests/scenarios"))
        .expect("the clone has scenarios")
        .len()
}

/// A member of the result of each participant at a step.
fn played(step: &Value, member: &str) -> Vec<Value> {
    let of = |participant: &&str| step["participants"][participant]["observed"][member].clone();
    PARTICIPANTS.iter().map(of).collect()
}

/// The report of every scenario on everything that plays in this process or beside it. `scripts/test` has played them, and
/// CONCORD_CONFORMANCE names the report; otherwise they are played here.
pub(crate) fn report() -> &'static Value {
    static REPORT: OnceLock<Value> = OnceLock::new();
    REPORT.get_or_init(|| {
        let text = env::var_os("CONCORD_CONFORMANCE").map_or_else(played_here, |file| {
            fs::read_to_string(file).expect("the report of scripts/test")
        });
        serde_json::from_str(&text).expect("a report is one JSON value")
    })
}

fn played_here() -> String {
    let backends = PLAYED[1..].iter().flat_map(|it| ["--backend", it]);
    let arguments: Vec<_> = ["conform", "--json"].into_iter().chain(backends).collect();
    let answer = answer(&mut concord(&arguments));
    assert_eq!(answer.code, 0, "{}\n{}", answer.stderr, answer.stdout);
    answer.stdout
}

#[test]
fn every_participant_passes_every_step_of_every_scenario() {
    let report = report();
    assert_eq!(report["agree"], true);
    assert_eq!(report["participants"], serde_json::json!(PLAYED));
    assert_eq!(report["failures"], serde_json::json!([]));
    let scenarios = report["scenarios"].as_array().unwrap();
    assert_eq!(scenarios.len(), committed_scenarios());
    let steps = &report["totals"]["model"]["passed"];
    assert!(steps.as_u64().unwrap() > 100);
    for participant in PLAYED {
        let total = &report["totals"][participant];
        let count = |name: &str| total[name].as_u64().unwrap();
        assert_eq!(total["failed"], 0);
        assert_eq!(total["errors"], 0);
        assert_eq!(total["not_reached"], 0);
        let as_told = count("passed") + count("varied") + count("absent");
        assert_eq!(steps, as_told);
    }
    let mut rows = report["matrix"].as_object().unwrap().clone();
    rows.insert("steps".to_owned(), report["totals"].clone());
    let views = report["views"]["totals"].clone();
    for backend in &PARTICIPANTS[1..] {
        assert!(
            views[backend]["passed"].as_u64().unwrap() > 1_000,
            "{views}"
        );
        assert_eq!(views[backend]["failed"], 0);
    }
    assert_eq!(views["model"], Value::Null, "the model answers no view");
    rows.insert("views".to_owned(), views);
    assert_eq!(report["views"]["not_asked"], serde_json::json!({}));
    let rows = rows.iter().map(|(name, row)| row_of_matrix(name, row));
    let rows: Vec<_> = rows.collect();
    let shown = rows_of_document("docs/CONFORMANCE.md");
    for row in &rows {
        assert!(shown.contains(row), "docs/CONFORMANCE.md lacks {row:?}");
    }
    let excerpt = rows_of_document("README.md");
    assert!(!excerpt.is_empty(), "README.md shows no row");
    for row in &excerpt {
        assert!(rows.contains(row), "README.md has a stale row: {row:?}");
    }
}

/// The rows of a matrix that a document shows, in words.
fn rows_of_document(name: &str) -> Vec<Vec<String>> {
    let document = fs::read_to_string(clone_root().join(name)).unwrap();
    let words = |line: &str| line.split_whitespace().map(str::to_owned).collect();
    let is_number = |it: &str| !it.is_empty() && it.bytes().all(|byte| byte.is_ascii_digit());
    let is_count = |word: &String| {
        let counts = word.split_once('/');
        counts.is_some_and(|(passed, failed)| is_number(passed) && is_number(failed))
    };
    let is_name = |word: &str| Rule::from_str(word).is_ok() || ["steps", "views"].contains(&word);
    let is_row =
        |row: &Vec<String>| row.first().is_some_and(|it| is_name(it)) && row.iter().any(is_count);
    document.lines().map(words).filter(is_row).collect()
}

/// The words of a row, as the report prints them where nothing failed.
fn row_of_matrix(name: &str, row: &Value) -> Vec<String> {
    let mut words = vec![name.to_owned()];
    if let Ok(rule) = Rule::from_str(name) {
        words.extend(rule.title().split_whitespace().map(str::to_owned));
    }
    for participant in PARTICIPANTS {
        if row[participant].is_null() {
            continue; // an empty cell
        }
        let count = |what: &str| row[participant][what].as_u64().unwrap();
        words.push(format!("{}/{}", count("passed"), count("failed")));
        let varied = count("varied") + count("absent");
        words.extend((varied > 0).then(|| format!("~{varied}")));
    }
    words
}

#[test]
fn the_json_report_has_each_step_with_its_cost_and_what_was_tested() {
    let arguments = ["conform", "--json", "--scenario", "identity/register"];
    let answer = answer(&mut concord(&arguments));
    assert_eq!(answer.code, 0, "{}", answer.stderr);
    let report: Value = serde_json::from_str(&answer.stdout).unwrap();
    let step = &report["scenarios"][0]["steps"][0];
    assert_eq!(step["operation"], "register");
    assert_eq!(played(step, "outcome"), ["ok", "ok", "ok"]);
    let last = &report["scenarios"][0]["steps"][1];
    let digest = &last["source"]["expect"]["digest"];
    assert!(digest.is_string());
    assert!(played(last, "digest").iter().all(|it| it == digest));
    let cost = played(step, "cost");
    assert_eq!(cost[0], Value::Null);
    assert!(cost[1]["gas"].as_u64().unwrap() > 21_000);
    assert!(cost[2]["compute_units"].as_u64().unwrap() > 1_000);
    let artifacts = report["artifacts"].as_array().unwrap();
    for name in ["IdentityRegistry", "agent_registry.so"] {
        let artifact = artifacts.iter().find(|it| it["name"] == name).unwrap();
        assert_eq!(artifact["hash"].as_str().unwrap().len(), 66);
    }
    let tools = report["versions"].as_array().unwrap().iter();
    let tools: Vec<_> = tools.map(|it| it["tool"].as_str().unwrap()).collect();
    assert_eq!(tools, ["concord", "anvil", "solc", "alloy", "litesvm"]); // HARN-60: revm took no part
}

#[test]
fn junit_has_a_test_case_for_each_scenario_and_participant() {
    let folder = tempdir().unwrap();
    let file = folder.path().join("run.xml");
    let mut command = concord(&["conform", "--filter", "identity/transfer", "--junit"]);
    let answer = answer(command.arg(&file));
    assert_eq!(answer.code, 0, "{}", answer.stderr);
    let text = fs::read_to_string(&file).unwrap();
    let mut cases = Vec::new();
    let mut reader = quick_xml::Reader::from_str(&text);
    loop {
        match reader.read_event().unwrap() {
            Event::Eof => break,
            Event::Empty(element) if element.name().as_ref() == "testcase" => {
                let of = |name| element.try_get_attribute(name).unwrap().unwrap();
                let value = |name| of(name).value.into_owned();
                cases.push((value("classname"), value("name")));
            }
            _ => (),
        }
    }
    for participant in PARTICIPANTS {
        let case = (
            participant.to_owned(),
            "identity/transfer-clears-wallet".to_owned(),
        );
        assert!(cases.contains(&case), "{cases:#?}");
    }
}

#[test]
fn the_matrix_counts_declared_variances_and_tells_each_when_asked() {
    let scenarios = [
        "conform",
        "--scenario",
        "authorized/corrupted-signature",
        "--scenario",
        "identity/register",
    ];
    let short = answer(&mut concord(&scenarios));
    assert_eq!(short.code, 0, "{}", short.stderr);
    let report = short.stdout;
    let header = format!("{:35}         model     evm-anvil   svm-litesvm\n", "rule");
    assert!(report.starts_with(&header), "{report}");
    assert!(
        report.contains("\nR11  The Ed25519 precompile  "),
        "{report}"
    );
    let counted = "  1 svm-litesvm 2×: a bad Ed25519 signature fails in the precompile";
    assert!(report.contains(counted), "{report}");
    assert!(report.ends_with("2 scenarios: model, evm-anvil, svm-litesvm agree\n"));
    let told = "declared variance 1: authorized/corrupted-signature step 4: \
                svm-litesvm gives AuthNotGranted, elsewhere ScoreOutOfRange";
    assert!(!report.contains(told), "{report}");
    let full = answer(concord(&scenarios).arg("--verbose")).stdout;
    assert!(full.contains(told), "{full}");
}
