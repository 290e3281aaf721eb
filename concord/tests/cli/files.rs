//! `concord fill` and `concord lint`.
use super::{assert_sentence, changed, text};
use crate::invocation::{answer, clone_root, concord};
use serde_json::json;
use std::fs;

#[test]
fn filling_writes_the_model_s_expectations_only() {
    let source = clone_root().join("tests/scenarios/identity/register.json");
    let (_folder, file) = changed("register", "/steps/0/expect/events", json!([]));
    let filled = answer(&mut concord(&["fill", text(&file)]));
    assert_eq!(
        (filled.code, filled.stdout.as_str()),
        (0, ""),
        "{}",
        filled.stderr
    );
    assert_eq!(fs::read(&file).unwrap(), fs::read(source).unwrap());
}

#[test]
fn filling_leaves_a_file_alone_whose_outcome_is_not_the_model_s() {
    let (_folder, file) = changed("register", "/steps/0/expect/outcome", json!("ReservedKey"));
    let before = fs::read(&file).unwrap();
    let refused = answer(&mut concord(&["fill", text(&file)]));
    assert_sentence(&refused, 2, "the file says ReservedKey, the model says ok");
    assert_eq!(fs::read(&file).unwrap(), before);
}

#[test]
fn lint_finds_nothing_in_a_file_as_fill_leaves_it() {
    let clean = answer(&mut concord(&["lint", "identity/register"]));
    assert_eq!((clean.code, clean.stdout.as_str()), (0, ""), "{clean:?}");
}

#[test]
fn lint_names_each_file_that_is_not_as_it_should_be() {
    let digest = json!(format!("0x{}", "0".repeat(64)));
    let (_stale, stale) = changed("register", "/steps/0/expect/digest", digest);
    let (_wrong, wrong) = changed("register", "/steps/0/expect/outcome", json!("ReservedKey"));
    let (_shape, shape) = changed("register", "/actors", json!(["Alice"]));
    let found = answer(&mut concord(&[
        "lint",
        text(&stale),
        text(&wrong),
        text(&shape),
    ]));
    assert_eq!(found.code, 2, "{found:?}");
    let lines: Vec<_> = found.stdout.lines().collect();
    assert_eq!(lines.len(), 3, "{lines:#?}");
    assert!(lines[0].contains("changed.json: steps[0]: differs from the model"));
    assert!(lines[1].contains("the file says ReservedKey, the model says ok"));
    assert!(lines[2].contains("changed.json: actors[0]: `Alice` is not a label"));
}

#[test]
fn lint_of_a_clone_names_each_rule_that_no_scenario_shows() {
    let folder = tempfile::tempdir().unwrap();
    let area = folder.path().join("tests/scenarios/identity");
    fs::create_dir_all(&area).unwrap();
    fs::create_dir(folder.path().join("harness")).unwrap();
    fs::write(folder.path().join("harness/Cargo.toml"), "").unwrap();
    let name = "transfer-by-stranger.json";
    let source = clone_root().join("tests/scenarios/identity").join(name);
    fs::copy(source, area.join(name)).unwrap();
    let found = answer(concord(&["lint"]).current_dir(folder.path()));
    assert_eq!(found.code, 2, "{found:?}");
    let lines: Vec<_> = found.stdout.lines().collect();
    for gap in [
        "R8: no scenario shows it holding (in an accepted step)",
        "R8: no scenario shows it refusing (in a refused step)",
        "R14: no scenario shows it holding (in an accepted step)",
        "R3: no scenario shows it refusing (in a refused step)",
    ] {
        assert!(lines.contains(&gap), "{lines:#?}");
    }
    for shown in [
        "R4:",
        "R3: no scenario shows it holding",
        "R14: no scenario shows it refusing",
    ] {
        assert!(!found.stdout.contains(shown), "{lines:#?}");
    }
}
