//! `concord init`, and the file concord.json that it writes.
use super::{assert_sentence, text};
use crate::invocation::{Answer, answer, clone_root, concord};
use serde_json::{Value, json};
use std::{fs, path::Path};
use tempfile::TempDir;

fn init(folder: &Path, language: &str) -> Answer {
    answer(&mut concord(&[
        "init",
        "--language",
        language,
        text(folder),
    ]))
}

/// In a folder of the test's own.
fn in_folder(folder: &TempDir, arguments: &[&str]) -> Answer {
    answer(concord(arguments).current_dir(folder.path()))
}

#[test]
fn the_starting_point_is_checked_by_its_own_options() {
    let folder = tempfile::tempdir().unwrap();
    let written = init(folder.path(), "python");
    assert_eq!(
        (written.code, written.stderr.as_str()),
        (0, ""),
        "{written:?}"
    );
    let command = "concord adapter check --chain evm 'python3 identity.py'";
    assert!(written.stdout.contains(command), "{}", written.stdout);
    let workflow = folder.path().join(".github/workflows/concord.yml");
    let workflow = fs::read_to_string(workflow).unwrap();
    assert!(workflow.contains(command), "{workflow}");
    let check = ["adapter", "check", "--chain", "evm", "python3 identity.py"];
    let checked = in_folder(&folder, &check);
    assert_eq!(checked.code, 0, "{checked:?}");
    let checked = in_folder(&folder, &["conform", "--json"]);
    assert_eq!(checked.code, 4, "{}", checked.stderr);
    assert!(
        checked.stderr.contains("options of concord.json\n"),
        "{}",
        checked.stderr
    );
    let report: Value = serde_json::from_str(&checked.stdout).unwrap();
    assert_eq!(report["participants"], json!(["model", "identity-py"]));
    assert_eq!(report["failures"], json!([]));
    assert!(report["totals"]["identity-py"]["passed"].as_u64().unwrap() > 300);
    let faulty = folder.path().join("identity.py");
    let sound = fs::read_to_string(&faulty).unwrap();
    let changed = sound.replace("if not self.keeps_wallet:", "if False:");
    assert_ne!(changed, sound);
    fs::write(&faulty, changed).unwrap();
    assert_eq!(in_folder(&folder, &["conform"]).code, 1);
}

#[test]
fn every_language_has_its_example_and_the_schemas() {
    for (language, example, source) in [
        ("typescript", "identity.ts", "typescript/identity.ts"),
        ("python", "identity.py", "identity.py"),
        ("rust", "src/main.rs", "rust/main.rs"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("new");
        assert_eq!(init(&target, language).code, 0, "{language}");
        let read = |name: &str| fs::read_to_string(target.join(name)).unwrap();
        let adapters = clone_root().join("tests/adapters");
        let committed = |name: &str| fs::read_to_string(adapters.join(name)).unwrap();
        assert_eq!(read(example), committed(source));
        assert_eq!(read("schema.json"), committed("schema.json"));
        let config: Value = serde_json::from_str(&read("concord.json")).unwrap();
        let schema: Value = serde_json::from_str(&read("concord.schema.json")).unwrap();
        assert!(
            jsonschema::validator_for(&schema)
                .unwrap()
                .is_valid(&config)
        );
        let workflow = read(".github/workflows/concord.yml");
        for placeholder in ["REPOSITORY", "BUILD", "COMMAND"] {
            assert!(!workflow.contains(placeholder), "{workflow}");
        }
    }
}

#[test]
fn nothing_is_overwritten() {
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().join("concord.json");
    fs::write(&config, "mine").unwrap();
    assert_sentence(&init(folder.path(), "rust"), 2, "concord.json exists");
    assert_eq!(fs::read_to_string(config).unwrap(), "mine");
    let count = fs::read_dir(folder.path()).unwrap().count();
    assert_eq!(count, 1, "nothing is written beside it");
    let nowhere = init(Path::new("/proc/registry"), "python");
    assert_sentence(&nowhere, 2, "/proc/registry cannot be written");
}

#[test]
fn options_that_cannot_be_read_are_exit_code_2() {
    let folder = tempfile::tempdir().unwrap();
    let write = |text: &str| fs::write(folder.path().join("concord.json"), text).unwrap();
    write(r#"{"adapter": {"command": "x", "chain": "near"}}"#);
    let wrong = in_folder(&folder, &["conform"]);
    assert_sentence(
        &wrong,
        2,
        "concord.json: adapter.chain: unknown variant `near`",
    );
    write(&" ".repeat(65_537));
    let long = in_folder(&folder, &["conform"]);
    assert_sentence(&long, 2, "concord.json: has more than 65536 bytes");
    let missing = in_folder(&folder, &["conform", "--config", "other.json"]);
    assert_sentence(&missing, 2, "other.json: not found");
}
