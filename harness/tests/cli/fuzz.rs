//! `concord fuzz`: what it takes, and what it says of runs that find nothing.
use super::{
    assert_sentence,
    invocation::{answer, concord},
};
use serde_json::Value;
use std::fs::File;

#[test]
fn no_steps_no_minutes_or_more_of_them_than_a_year_has_are_exit_code_2() {
    let limits = [
        ("--steps", "0", "1..18446744073709551615"),
        ("--minutes", "0", "1..=525600"),
        ("--minutes", "999999999999999999", "1..=525600"),
        ("--workers", "0", "1..=64"),
    ];
    for (option, value, limit) in limits {
        let refused = answer(&mut concord(&["fuzz", "--backend", "none", option, value]));
        assert_eq!((refused.code, refused.stdout.as_str()), (2, ""));
        let words = format!("invalid value '{value}' for '{option} <N>'");
        assert!(refused.stderr.contains(&words), "{}", refused.stderr);
        assert!(refused.stderr.contains(limit), "{}", refused.stderr);
    }
}

#[test]
fn regressions_that_could_not_be_written_are_exit_code_2_before_the_run() {
    let nowhere = ["fuzz", "--backend", "none", "--regressions", "/proc/nope"];
    let refused = answer(&mut concord(&nowhere));
    assert_sentence(&refused, 2, "/proc/nope cannot be written");
}

#[test]
fn a_run_too_short_to_be_judged_says_so() {
    let short = answer(&mut concord(&[
        "fuzz",
        "--backend",
        "none",
        "--steps",
        "200",
        "--seed",
        "7",
    ]));
    assert_eq!(short.code, 0, "{}", short.stderr);
    let words = "below 10000 steps it is not judged what was tried too seldom\nno divergence\n";
    assert!(short.stdout.ends_with(words), "{}", short.stdout);
}

#[test]
fn a_run_is_sound_as_json_too() {
    let run = answer(&mut concord(&[
        "fuzz",
        "--json",
        "--backend",
        "none",
        "--seed",
        "7",
    ]));
    let report: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!((run.code, &report["sound"]), (0, &Value::Bool(true)));
}

#[test]
fn a_run_goes_on_when_nobody_hears_its_progress() {
    let nobody = File::options().write(true).open("/dev/full").unwrap();
    let arguments = ["--backend", "none", "--steps", "2000", "--seed", "7"];
    let mut fuzz = concord(&[&["fuzz"][..], &arguments].concat());
    let output = fuzz.stderr(nobody).output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    let report = String::from_utf8(output.stdout).unwrap();
    assert!(report.ends_with("no divergence\n"), "{report}");
}

#[test]
fn anvil_plays_what_the_fuzzer_draws() {
    let arguments = ["--backend", "evm-anvil", "--steps", "600", "--seed", "8004"];
    let run = answer(&mut concord(
        &[&["fuzz", "--json"][..], &arguments].concat(),
    ));
    assert_eq!(run.code, 0, "{}\n{}", run.stdout, run.stderr);
    let report: Value = serde_json::from_str(&run.stdout).unwrap();
    let operations = report["operations"].as_object().unwrap().values();
    let accepted = operations.filter(|tally| tally["accepted"].as_u64() > Some(0));
    assert!(accepted.count() >= 18, "{report:#}");
}
