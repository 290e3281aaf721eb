//! `concord fuzz`: what it takes, and what it says of runs that find nothing.
use super::assert_sentence;
use crate::invocation::{answer, concord};
use serde_json::Value;
use std::{
    fs::{self, File},
    io::{BufRead, BufReader},
    path::Path,
    process::{Command, Stdio},
    thread,
    time::Duration,
};

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
fn runs_that_check_one_folder_at_once_do_not_disturb_each_other() {
    let folder = tempfile::tempdir().unwrap();
    let shared = folder.path().join("made/and/taken/away");
    let shared = shared.to_str().unwrap();
    let arguments = ["fuzz", "--backend", "none", "--steps", "1"];
    let arguments = [&arguments[..], &["--regressions", shared]].concat();
    let quiet = |_| {
        let mut run = concord(&arguments);
        run.stdout(Stdio::null()).stderr(Stdio::piped()).spawn()
    };
    let runs: Vec<_> = (0..24).map(|number| quiet(number).unwrap()).collect();
    for run in runs {
        let output = run.wait_with_output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{said}");
    }
    assert!(!Path::new(shared).exists());
}

#[test]
fn a_run_too_short_to_be_checked_says_so() {
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
    let words =
        "runs below 10000 steps are not checked for what was tried too seldom\nno divergence\n";
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

/// A run of the model alone, with more arguments.
fn alone(more: &[&str]) -> crate::invocation::Answer {
    let arguments = ["fuzz", "--json", "--backend", "none", "--workers", "1"];
    answer(&mut concord(&[&arguments[..], more].concat()))
}

fn sound_report(more: &[&str]) -> Value {
    let run = alone(more);
    assert_eq!(run.code, 0, "{}\n{}", run.stdout, run.stderr);
    serde_json::from_str(&run.stdout).unwrap()
}

#[test]
fn a_corpus_is_gone_on_from_and_counts_the_steps_of_every_run() {
    let folder = tempfile::tempdir().unwrap();
    let corpus = folder.path().to_str().unwrap();
    let first = sound_report(&["--seed", "7", "--steps", "2000", "--corpus", corpus]);
    assert_eq!(
        (&first["steps"], &first["corpus"]["steps"]),
        (&2000.into(), &2000.into())
    );
    let worlds = first["corpus"]["worlds"].as_u64().unwrap();
    assert!((2..=10).contains(&worlds), "{first:#}");

    let second = sound_report(&["--steps", "3000", "--corpus", corpus]);
    assert_eq!(
        (&second["seed"], &second["steps"]),
        (&7.into(), &1000.into())
    );
    assert_eq!(second["corpus"]["steps"], 3000);
    assert!(second["corpus"]["features"].as_u64() > first["corpus"]["features"].as_u64());

    let third = sound_report(&["--steps", "3000", "--corpus", corpus]);
    assert_eq!(third["steps"], 0);
    for of in ["features", "worlds", "steps"] {
        assert_eq!(third["corpus"][of], second["corpus"][of], "{of}");
    }
}

#[test]
fn a_corpus_plays_worlds_that_go_on_from_others() {
    let folder = tempfile::tempdir().unwrap();
    let corpus = folder.path().to_str().unwrap();
    sound_report(&["--seed", "7", "--steps", "8000", "--corpus", corpus]);
    let kept = fs::read_to_string(folder.path().join("corpus.json")).unwrap();
    let kept: Value = serde_json::from_str(&kept).unwrap();
    let worlds = kept["worlds"].as_array().unwrap();
    let names = worlds.iter().map(|it| it["world"].as_str().unwrap());
    let continued: Vec<_> = names.filter(|it| it.contains(',')).collect();
    assert!(continued.len() >= 5, "{kept:#}");
    let again = sound_report(&["--world", continued[0]]);
    assert_eq!(
        (&again["worlds"], &again["steps"]),
        (&1.into(), &200.into())
    );
}

#[test]
fn a_corpus_that_cannot_be_used_is_exit_code_2_and_stays_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let corpus = folder.path().to_str().unwrap();
    let refused = |more: &[&str], words: &str| {
        let run = alone(&[&["--steps", "200", "--corpus", corpus], more].concat());
        assert_sentence(&run, 2, words);
    };
    sound_report(&["--seed", "7", "--steps", "200", "--corpus", corpus]);
    refused(&["--seed", "8"], "was begun with the seed 7, not 8");
    let file = folder.path().join("corpus.json");
    let sound = fs::read_to_string(&file).unwrap();
    for (broken, words) in [
        ("{}".to_owned(), "corpus.json: missing field `format`"),
        (
            sound.replace("\"format\": 1", "\"format\": 9"),
            "format is 9; this version reads 1",
        ),
        (
            sound.replace("7-0-200", "7-0-201"),
            "a world has at most 200",
        ),
    ] {
        fs::write(&file, &broken).unwrap();
        refused(&[], words);
        assert_eq!(fs::read_to_string(&file).unwrap(), broken);
    }
    fs::write(&file, &sound).unwrap();
    let lock = File::create(folder.path().join("lock")).unwrap();
    lock.lock().unwrap();
    refused(&[], "is in use by another run");
    assert_sentence(
        &alone(&["--corpus", "/proc/nope"]),
        2,
        "--corpus /proc/nope: ",
    );
}

#[test]
fn one_world_is_named_by_its_seed_number_and_steps() {
    let report = sound_report(&["--world", "7-3-120,7-9-30"]);
    assert_eq!(
        (&report["worlds"], &report["steps"]),
        (&1.into(), &150.into())
    );
    let refused = alone(&["--world", "7-3-201"]);
    assert_eq!(refused.code, 2);
    let words = "`7-3-201` has 201 steps; a world has at most 200";
    assert!(refused.stderr.contains(words), "{}", refused.stderr);
}

/// Ends a run by SIGINT, a moment after it began.
fn interrupted(arguments: &[&str], until: impl FnOnce()) -> (Option<i32>, Value) {
    let mut run = concord(&[&["fuzz", "--json", "--seed", "7"][..], arguments].concat())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut said = BufReader::new(run.stderr.take().unwrap());
    let mut line = String::new();
    said.read_line(&mut line).unwrap(); // from now on it listens
    assert_eq!(line, "seed 7\n");
    until();
    let sent = Command::new("kill")
        .args(["-INT", &run.id().to_string()])
        .status();
    assert!(sent.unwrap().success());
    thread::spawn(move || said.lines().count());
    let output = run.wait_with_output().unwrap();
    let report = serde_json::from_slice(&output.stdout).unwrap();
    (output.status.code(), report)
}

#[test]
fn sigint_prints_what_was_done_and_keeps_the_corpus() {
    let folder = tempfile::tempdir().unwrap();
    let corpus = folder.path().to_str().unwrap();
    let file = folder.path().join("corpus.json");
    let has_worlds = |file: &Path| {
        let kept = fs::read_to_string(file).unwrap_or_default();
        kept.contains("last_new")
    };
    let arguments = [
        "--backend",
        "none",
        "--steps",
        "100000000",
        "--corpus",
        corpus,
    ];
    let (code, report) = interrupted(&arguments, || {
        while !has_worlds(&file) {
            thread::sleep(Duration::from_millis(20));
        }
    });
    assert_eq!((code, &report["stopped"]), (Some(130), &Value::Bool(true)));
    let steps = report["corpus"]["steps"].as_u64().unwrap();
    assert!(steps >= 200 && report["divergence"].is_null(), "{report:#}");
    let kept: Value = serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
    assert_eq!(kept["steps"].as_u64(), Some(steps));
}

#[test]
fn sigint_ends_a_run_on_anvil_in_good_order() {
    let arguments = [
        "--backend",
        "evm-anvil",
        "--workers",
        "1",
        "--steps",
        "1000000",
    ];
    let (code, report) = interrupted(&arguments, || thread::sleep(Duration::from_secs(2)));
    assert_eq!((code, &report["stopped"]), (Some(130), &Value::Bool(true)));
    assert!(report["divergence"].is_null(), "{report:#}");
}
