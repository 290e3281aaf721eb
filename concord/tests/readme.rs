//! The README's examples, run from its own text. Each block belongs to a test; one that belongs to none fails. Needs what
//! `scripts/build` makes, and anvil on PATH or in CONCORD_ANVIL.
use concord_harness::{backend::evm::EvmAnvil, scenario::find_files};
use std::{
    env, fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::{Command, Output},
};

/// How the README calls `concord` in a clone that has not installed it.
const IN_CLONE: &str = "cargo run -q -p concord --";
const NODE: &str = "http://127.0.0.1:8545";
/// `concord`'s exit codes.
const AGREE: i32 = 0;
const NOT_DECLARED: i32 = 4;

/// A fenced block, and the heading that it stands under.
#[derive(Clone, Debug)]
struct Block {
    heading: String,
    language: String,
    text: String,
}

fn clone_root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn read(name: &str) -> String {
    fs::read_to_string(clone_root().join(name)).unwrap()
}

fn blocks() -> Vec<Block> {
    let readme = read("README.md");
    let mut found: Vec<Block> = Vec::new();
    let (mut heading, mut is_inside) = (String::new(), false);
    for line in readme.lines() {
        match (line.strip_prefix("```"), is_inside) {
            (Some(_), true) => is_inside = false,
            (Some(language), false) => {
                is_inside = true;
                found.push(Block {
                    heading: heading.clone(),
                    language: language.to_owned(),
                    text: String::new(),
                });
            }
            (None, true) => found.last_mut().unwrap().text += &format!("{line}\n"),
            (None, false) => {
                if let Some(title) = line.strip_prefix('#') {
                    title.trim_matches(['#', ' ']).clone_into(&mut heading);
                }
            }
        }
    }
    found
}

/// The blocks under a heading.
fn under(heading: &str) -> Vec<Block> {
    let mut blocks = blocks();
    blocks.retain(|it| it.heading == heading);
    blocks
}

fn only(heading: &str) -> Block {
    let blocks = under(heading);
    let [block] = &blocks[..] else {
        panic!("{heading}: {blocks:?}");
    };
    block.clone()
}

/// A script in bash, with the `concord` of this build, as `concord` and as the README calls it in a clone.
fn run(script: &str, folder: &Path) -> Output {
    let binary = Path::new(env!("CARGO_BIN_EXE_concord"));
    let path = env::var_os("PATH").unwrap_or_default();
    let folders = [binary.parent().unwrap().to_owned()];
    let path = env::join_paths(folders.into_iter().chain(env::split_paths(&path))).unwrap();
    let script = format!("set -e\n{}", script.replace(IN_CLONE, "concord"));
    let mut command = Command::new("bash");
    command.args(["-c", &script]).env("PATH", path);
    command.current_dir(folder).output().unwrap()
}

fn assert_code(output: &Output, code: i32) {
    assert_eq!(output.status.code(), Some(code), "{output:?}");
}

#[test]
fn every_block_belongs_to_a_test() {
    let expected = [
        ("Concord", ""),                      // the_sample_is_what_the_run_prints
        ("Two commands", "sh"),               // the_two_commands_are_those_of_the_checks
        ("Test your registry", "sh"),         // a_registry_is_started_and_checked
        ("Test your registry", "sh"),         // deployed_contracts_are_checked
        ("Deploy", "sh"),                     // the_deployments_are_those_that_are_rehearsed
        ("Use it", "sh"),                     // the_oracle_answers_what_is_shown
        ("A paid, signed, rated call", "sh"), // examples/weather-agent/tests/paid_call.rs
        ("A paid, signed, rated call", "sh"),
        ("The tree", ""), // the_tree_is_that_of_the_clone
    ];
    let blocks = blocks();
    let found: Vec<_> = blocks
        .iter()
        .map(|it| (it.heading.as_str(), it.language.as_str()))
        .collect();
    assert_eq!(found, expected, "write a test that runs the new block");
    let purchase = read("examples/weather-agent/tests/paid_call.rs");
    assert!(purchase.contains("## A paid, signed, rated call"));
}

/// `conform` compares the counts with those of a whole run.
#[test]
fn the_sample_is_what_the_run_prints() {
    let sample = only("Concord").text;
    let document = read("docs/CONFORMANCE.md");
    for line in sample.lines().filter(|it| !it.is_empty()) {
        assert!(
            document.contains(line),
            "docs/CONFORMANCE.md lacks {line:?}"
        );
    }
    let scenarios = find_files(&clone_root().join("tests/scenarios")).unwrap();
    let verdict = format!(
        "{} scenarios: model, evm-anvil, svm-litesvm agree",
        scenarios.len()
    );
    assert_eq!(sample.lines().last(), Some(&*verdict));
}

#[test]
fn the_two_commands_are_those_of_the_checks() {
    let checks = [read(".ci/run"), read("scripts/test")].concat(); // the one calls the other
    for line in only("Two commands").text.lines() {
        let command = line.split_whitespace().next().unwrap();
        let is_run = checks
            .lines()
            .any(|it| it.split_whitespace().any(|word| word == command));
        assert!(is_run, "neither .ci/run nor scripts/test runs {command}");
        assert_executable(command);
    }
}

fn assert_executable(script: &str) {
    let file = fs::metadata(clone_root().join(script)).expect(script);
    assert!(file.permissions().mode() & 0o111 != 0, "{script}");
}

#[test]
fn a_registry_is_started_and_checked() {
    let block = &under("Test your registry")[0];
    let contracts = fs::canonicalize(clone_root().join("contracts/out")).unwrap();
    let program = clone_root().join("target/deploy/agent_registry.so");
    let program = fs::canonicalize(program).unwrap();
    let mut checked = 0;
    let mut script = String::new();
    for line in block.text.lines() {
        // The example declares one profile of four: exit code 4 where a scenario needs another.
        if line.starts_with("concord conform") {
            let (command, _) = line.split_once(" #").unwrap();
            // A test build carries no registries; tests/installed/run has a build that does.
            let built = if command.contains("--backend") {
                format!(
                    " --artifacts {} --program {}",
                    contracts.display(),
                    program.display()
                )
            } else {
                String::new()
            };
            script += &format!("code=0; {command}{built} || code=$?; echo \"exit code $code\"\n");
            checked += 1;
        } else {
            script += &format!("{line}\n");
        }
    }
    assert_eq!(checked, 2);
    let folder = tempfile::tempdir().unwrap();
    let cache = tempfile::tempdir().unwrap();
    let script = format!(
        "export XDG_CACHE_HOME='{}'\n{script}",
        cache.path().display()
    );
    let output = run(&script, folder.path());
    assert_code(&output, AGREE);
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(said.contains(": all of the protocol\n"), "{said}");
    assert_eq!(said.matches("exit code 4\n").count(), checked, "{said}");
    for participants in [
        "model, identity-py",
        "model, evm-revm, svm-litesvm, identity-py",
    ] {
        let verdict = format!("scenarios: {participants} agree in what is declared\n");
        assert!(said.contains(&verdict), "{said}");
    }
}

#[test]
fn deployed_contracts_are_checked() {
    let anvil = EvmAnvil::start(None, &clone_root().join("contracts/out")).unwrap();
    let addresses = anvil.addresses();
    let block = under("Test your registry")[1]
        .text
        .replace(NODE, anvil.ledger().url());
    let block = block.replacen("0x…", &addresses.identity.to_string(), 1);
    let open = addresses.open_reputation.unwrap();
    let block = block.replacen("0x…", &open.to_string(), 1);
    let output = run(&block, &clone_root());
    assert_code(&output, NOT_DECLARED);
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(
        said.contains("not declared by evm-rpc: authorized, validation\n"),
        "{said}"
    );
    assert!(
        said.ends_with("model, evm-rpc agree in what is declared\n"),
        "{said}"
    );
}

/// harness/tests/deploying runs the commands of docs/DEPLOYING.md.
#[test]
fn the_deployments_are_those_that_are_rehearsed() {
    let document = read("docs/DEPLOYING.md");
    for line in only("Deploy").text.lines().filter(|it| !it.is_empty()) {
        if line.starts_with("export ") {
            assert!(document.contains(&format!("\n{line}\n")), "{line}");
        } else {
            assert!(document.contains(&format!("\n$ {line}")), "{line}");
            assert_executable(line.split_whitespace().next().unwrap());
        }
    }
}

#[test]
fn the_oracle_answers_what_is_shown() {
    let block = only("Use it").text;
    let (commands, shown): (Vec<_>, Vec<_>) = block.lines().partition(|it| it.starts_with("$ "));
    let script: Vec<_> = commands
        .iter()
        .filter_map(|it| it.strip_prefix("$ "))
        .collect();
    let output = run(&script.join("\n"), &clone_root());
    assert_code(&output, AGREE);
    let answers = String::from_utf8(output.stdout).unwrap();
    assert_eq!(answers.lines().collect::<Vec<_>>(), shown);
}

#[test]
fn the_tree_is_that_of_the_clone() {
    let block = only("The tree").text;
    let rows = block.lines().filter(|it| !it.starts_with(' '));
    let mut shown: Vec<_> = rows.map(|it| it.split('/').next().unwrap()).collect();
    shown.sort_unstable();
    let listed = Command::new("git")
        .args(["ls-tree", "-d", "--name-only", "HEAD"])
        .current_dir(clone_root())
        .output()
        .unwrap();
    let listed = String::from_utf8(listed.stdout).unwrap();
    let folders: Vec<_> = listed.lines().filter(|it| !it.starts_with('.')).collect();
    assert_eq!(shown, folders);
}
