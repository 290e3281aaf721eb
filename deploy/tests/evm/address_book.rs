//! The address book and its schema.
use crate::{
    local_chain::{BASE_SEPOLIA, LocalChain},
    process::{clone_root, json_file},
    program::Workplace,
};
use concord_deploy::AddressBook;
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
        .apply(&["--accepts-draft-v1", "false"])
        .assert_done();
    let written = workplace.address_book();
    assert!(written["chains"]["eip155:84532"]["others"].is_array());
    schema().validate(&written).unwrap();
    assert!(workplace.file("addresses.schema.json").is_file());
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
