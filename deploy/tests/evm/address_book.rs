//! The address book and its schema.
use crate::evm::{
    local_chain::{BASE_SEPOLIA, LocalChain},
    program::{SENDING, Workplace},
};
use crate::shared::process::{answer, clone_root, json_file};
use concord_chain::ChainId;
use concord_deploy::{AddressBook, Deployment};
use serde_json::{Value, json};
use std::fs;

fn schema() -> jsonschema::Validator {
    let schema = json_file(&clone_root().join("deployments/addresses.schema.json"));
    jsonschema::draft202012::new(&schema).unwrap()
}

fn loads(book: &Value) -> bool {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("addresses.json"), book.to_string()).unwrap();
    AddressBook::load(folder.path()).is_ok()
}

#[test]
fn the_committed_book_and_a_written_one_fit_the_schema() {
    let committed = json_file(&clone_root().join("deployments/addresses.json"));
    assert!(schema().is_valid(&committed));
    assert!(loads(&committed));
    let chain = LocalChain::start(BASE_SEPOLIA);
    let workplace = Workplace::at(&chain);
    workplace.apply(&[]).assert_done();
    workplace
        .apply(&["--salt", "second", "--accepts-draft-v1", "true"])
        .assert_done();
    let written = workplace.address_book();
    assert!(written["chains"]["eip155:84532"]["others"].is_array());
    schema().validate(&written).unwrap();
    assert!(workplace.file("addresses.schema.json").is_file());
}

/// What is not said stays as the book has it; what is said is announced.
#[test]
fn the_set_in_use_changes_only_when_it_is_said() {
    let chain = LocalChain::start(BASE_SEPOLIA);
    let workplace = Workplace::at(&chain);
    workplace.apply(&[]).assert_done();
    let first = workplace.recorded();
    workplace.apply(&["--salt", "second"]).assert_done();
    let second = workplace.recorded();
    assert_eq!(second["settings"]["salt"], "second");
    let again = workplace.apply(&[]);
    assert!(again.assert_done().stderr.contains("nothing was sent"));
    assert_eq!(workplace.recorded(), second);
    let back = workplace.apply(&["--salt", "concord"]);
    let words =
        "the address book has the set of salt second (draft v1 authorizations: false) in use";
    assert!(back.assert_done().stdout.contains(words), "{}", back.stdout);
    assert_eq!(workplace.recorded()["settings"], first["settings"]);
}

/// A run that sends nothing has deployed nothing.
#[test]
fn whoever_finds_all_done_is_not_the_deployer() {
    let chain = LocalChain::start(BASE_SEPOLIA);
    let workplace = Workplace::at(&chain);
    workplace.apply(&[]).assert_done();
    let before = workplace.recorded();
    let mut command = workplace.command(&["apply", "--yes"]);
    command.env(
        "CONCORD_EVM_PRIVATE_KEY",
        "0x".to_owned() + &"42".repeat(32),
    );
    answer(command.spawn().unwrap()).assert_done();
    assert_eq!(workplace.recorded(), before);
}

/// The tree may have changes; what is recorded says so, and a run that sends nothing changes nothing.
#[test]
fn the_commit_of_the_sources_is_on_record() {
    let chain = LocalChain::start(BASE_SEPOLIA);
    let workplace = Workplace::at(&chain);
    let plan = workplace.plan(&[]);
    let git = std::process::Command::new("git")
        .args(["rev-parse", "HEAD"])
        .current_dir(clone_root())
        .output()
        .unwrap();
    let head = String::from_utf8(git.stdout).unwrap();
    let words = format!("git commit: {}", head.trim());
    assert!(
        plan.assert_done().stdout.contains(&words),
        "{}",
        plan.stdout
    );
    workplace.apply(&[]).assert_done();
    let recorded = workplace.recorded();
    let commit = recorded["contracts"]["IdentityRegistry"]["commit"].as_str();
    assert!(
        plan.stdout
            .contains(&format!("git commit: {}\n", commit.unwrap()))
    );

    // The commit of an earlier deployment of the same code stays.
    let earlier = "0123456789abcdef0123456789abcdef01234567";
    let mut book = workplace.address_book();
    book["chains"][workplace.chain()]["contracts"]["IdentityRegistry"]["commit"] = json!(earlier);
    fs::write(workplace.file("addresses.json"), book.to_string()).unwrap();
    workplace.apply(&[]).assert_done();
    let recorded = workplace.recorded();
    assert_eq!(recorded["contracts"]["IdentityRegistry"]["commit"], earlier);
}

/// Whatever breaks the form breaks it for both.
#[test]
fn schema_and_program_refuse_the_same_books() {
    let address = "0x1111111111111111111111111111111111111111";
    let good = json!({
        "$schema": "addresses.schema.json",
        "chains": {"eip155:84532": {
            "deployer": address,
            "settings": {"salt": "concord", "acceptsDraftV1": true},
            "contracts": {"IdentityRegistry": {
                "address": address,
                "codeHash": format!("0x{}", "11".repeat(32)),
                "transaction": format!("0x{}", "22".repeat(32)),
                "block": 7,
            }},
            "others": [{"contract": "AuthorizedReputationRegistry", "address": address}],
        }},
    });
    assert!(schema().is_valid(&good) && loads(&good));
    let chain = "/chains/eip155:84532";
    let broken: Vec<(String, Value)> = vec![
        (String::new(), json!({"chains": {}})),
        (String::new(), json!([])),
        ("/chains".into(), json!({"base-sepolia": {}})),
        ("/chains".into(), json!({"eip155:084532": {}})),
        (format!("{chain}/deployer"), json!("0x11")),
        (format!("{chain}/settings/salt"), json!(7)),
        (format!("{chain}/settings"), json!(null)),
        (format!("{chain}/contracts"), json!([])),
        (
            format!("{chain}/contracts/IdentityRegistry/address"),
            json!("nobody"),
        ),
        (
            format!("{chain}/contracts/IdentityRegistry/codeHash"),
            json!("0x11"),
        ),
        (
            format!("{chain}/contracts/IdentityRegistry/block"),
            json!(-1),
        ),
        (
            format!("{chain}/contracts/IdentityRegistry"),
            json!({"address": address}),
        ),
        (
            format!("{chain}/contracts/IdentityRegistry"),
            json!({"address": address, "codeHash": format!("0x{:064}", 1), "commit": "main"}),
        ),
        (
            format!("{chain}/contracts/IdentityRegistry"),
            json!({"address": address, "codeHash": format!("0x{:064}", 1),
                "replaced": [{"codeHash": "1"}]}),
        ),
        (format!("{chain}/others/0/contract"), json!("")),
        (format!("{chain}/others/0"), json!({"address": address})),
        (format!("{chain}/others"), json!({})),
    ];
    for (pointer, value) in broken {
        let mut book = good.clone();
        *book.pointer_mut(&pointer).unwrap() = value.clone();
        assert!(!schema().is_valid(&book), "{pointer} {value}");
        assert!(!loads(&book), "{pointer} {value}");
    }
    let mut extra = good;
    extra["chains"]["eip155:84532"]["surplus"] = json!(1);
    assert!(!schema().is_valid(&extra) && !loads(&extra));
}

/// Runs on different chains may end at the same moment.
#[test]
fn two_chains_at_once_are_both_entered() {
    let folder = tempfile::tempdir().unwrap();
    let deployment: Deployment = serde_json::from_value(json!({
        "deployer": "0x1111111111111111111111111111111111111111",
        "settings": {},
        "contracts": {},
    }))
    .unwrap();
    let chains: Vec<ChainId> = (1..=24)
        .map(|id| format!("eip155:{id}").parse().unwrap())
        .collect();
    std::thread::scope(|scope| {
        for chain in &chains {
            let (folder, deployment) = (folder.path(), deployment.clone());
            scope.spawn(move || AddressBook::enter(folder, chain, deployment).unwrap());
        }
    });
    let book = AddressBook::load(folder.path()).unwrap();
    for chain in &chains {
        assert!(book.deployment(chain).is_some(), "{chain}");
    }
}

#[test]
fn a_book_behind_a_link_stays_behind_it() {
    let (folder, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (link, target) = (
        folder.path().join("addresses.json"),
        elsewhere.path().join("book.json"),
    );
    fs::write(&target, json!({"$schema": "x", "chains": {}}).to_string()).unwrap();
    std::os::unix::fs::symlink(&target, &link).unwrap();
    let deployment = serde_json::from_value(json!({
        "deployer": "0x1111111111111111111111111111111111111111",
        "settings": {},
        "contracts": {},
    }));
    let chain = "eip155:1".parse().unwrap();
    AddressBook::enter(folder.path(), &chain, deployment.unwrap()).unwrap();
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert!(json_file(&target)["chains"]["eip155:1"].is_object());
}

/// After something was sent and paid for, the exit code is not that of a refusal.
#[test]
fn a_book_that_cannot_be_written_is_exit_code_3_and_resume_goes_on() {
    let chain = LocalChain::start(BASE_SEPOLIA);
    let workplace = Workplace::at(&chain);
    fs::write(workplace.file("explorer"), "in the way").unwrap();
    let stopped = workplace.apply(&[]);
    assert_eq!(stopped.code, Some(3), "{}", stopped.stderr);
    let words = "`concord deploy resume` continues from here";
    assert!(stopped.stderr.contains(words), "{}", stopped.stderr);
    fs::remove_file(workplace.file("explorer")).unwrap();

    let full = fs::File::options().write(true).open("/dev/full").unwrap();
    let mut resume = workplace.command(&["resume", "--json"]);
    let unshown = resume.args(SENDING).stdout(full).output().unwrap();
    assert_eq!(unshown.status.code(), Some(3));
    let said = String::from_utf8(unshown.stderr).unwrap();
    assert!(said.contains("everything was sent"), "{said}");
    workplace.run(&["verify"]).assert_done();
}
