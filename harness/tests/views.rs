//! The list of views is that of the published ABIs, and of the program's interface description: none
//! is missing, so that a run which asks every listed view has asked what clients read.
use concord_harness::{
    backend::views::{self, ViewName},
    model::{Chain, RegistryProfile},
};
use serde_json::Value;
use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

fn clone_root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn json(path: &str) -> Value {
    let text = fs::read_to_string(clone_root().join(path)).unwrap();
    serde_json::from_str(&text).unwrap()
}

/// A function's argument type, as its signature has it.
fn type_of(argument: &Value) -> String {
    let name = argument["type"].as_str().unwrap();
    let Some(suffix) = name.strip_prefix("tuple") else {
        return name.to_owned();
    };
    let members = argument["components"].as_array().unwrap();
    let members: Vec<_> = members.iter().map(type_of).collect();
    format!("({}){suffix}", members.join(","))
}

fn views_of_abi(contract: &str) -> BTreeSet<String> {
    let abi = json(&format!("contracts/abi/{contract}.json"));
    let items = abi.as_array().expect("an ABI is a list");
    let is_view = |item: &&Value| {
        let kind = item["stateMutability"].as_str();
        item["type"] == "function" && matches!(kind, Some("view" | "pure"))
    };
    let signature = |item: &Value| {
        let inputs = item["inputs"].as_array().unwrap();
        let types: Vec<_> = inputs.iter().map(type_of).collect();
        format!("{}({})", item["name"].as_str().unwrap(), types.join(","))
    };
    items.iter().filter(is_view).map(signature).collect()
}

fn listed(all: &BTreeSet<ViewName>, interface: &str) -> BTreeSet<String> {
    let own = all.iter().filter(|view| view.interface == interface);
    own.map(|view| view.signature.to_owned()).collect()
}

#[test]
fn every_view_of_our_contracts_is_listed_and_nothing_else() {
    let all = views::of(Chain::Evm);
    let contracts = [
        views::IDENTITY,
        views::OPEN,
        views::AUTHORIZED,
        views::VALIDATION,
    ];
    let interfaces: BTreeSet<_> = all.iter().map(|view| view.interface).collect();
    assert_eq!(interfaces, contracts.into());
    for contract in contracts {
        assert_eq!(listed(&all, contract), views_of_abi(contract), "{contract}");
    }
}

/// The canonical list says `function NAME(TYPES) SELECTOR`, and not which of them are views: those
/// that ours have as a view are, and what is left changes something, or is of the proxy.
#[test]
fn every_view_of_the_canonical_contracts_is_listed() {
    let canonical = views::all(views::CANONICAL);
    for contract in [views::IDENTITY, views::OPEN, views::VALIDATION] {
        let path = format!("registry/tests/canonical_abi/{contract}.txt");
        let text = fs::read_to_string(clone_root().join(path)).unwrap();
        let functions: BTreeSet<_> = text
            .lines()
            .filter_map(|line| line.strip_prefix("function ")?.split(' ').next())
            .map(str::to_owned)
            .collect();
        assert!(!functions.is_empty(), "{contract}");
        let ours = views_of_abi(contract);
        let expected: BTreeSet<_> = functions.intersection(&ours).cloned().collect();
        assert_eq!(listed(&canonical, contract), expected, "{contract}");

        let reads = |name: &&String| {
            let starts = [
                "get", "read", "is", "has", "supports", "eip712", "name", "symbol",
            ];
            let others = ["ownerOf(", "balanceOf(", "tokenURI("];
            starts
                .iter()
                .chain(&others)
                .any(|start| name.starts_with(start))
        };
        let missed: Vec<_> = functions.difference(&expected).filter(reads).collect();
        assert!(missed.is_empty(), "{contract}: {missed:?}");
    }
}

#[test]
fn every_account_and_read_instruction_of_the_program_is_listed_and_nothing_else() {
    let idl = json("programs/agent-registry/idl/agent_registry.json");
    let all = views::of(Chain::Svm);
    let names = |list: &str, is: fn(&Value) -> bool| -> BTreeSet<String> {
        let items = idl[list].as_array().unwrap().iter();
        let names = items.filter(|item| is(item)).map(|item| &item["name"]);
        names
            .map(|name| name.as_str().unwrap().to_owned())
            .collect()
    };
    assert_eq!(listed(&all, "account"), names("accounts", |_| true));
    let returns = |item: &Value| !item["returns"].is_null();
    assert_eq!(listed(&all, "instruction"), names("instructions", returns));
}

#[test]
fn every_view_has_a_rule_and_a_profile() {
    let all = &views::of(Chain::Evm) | &views::of(Chain::Svm);
    assert!(all.iter().all(|view| !view.rules().is_empty()));
    for profile in RegistryProfile::ALL {
        assert!(
            all.iter().any(|view| view.profile() == profile),
            "{profile}"
        );
    }
}
