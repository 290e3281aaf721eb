//! The interfaces beside the published ABIs: ours in `contracts/abi`, and the canonical
//! contracts' in `tests/canonical_abi`, which lists what their verified sources compile to. No item
//! is missing and none is too many.
use alloy_sol_types::SolInterface;
use concord_registry::canonical::hash::keccak256;
use concord_registry::evm::{
    abi::{
        AuthorizedReputationRegistry as authorized, Feedback as feedback,
        IdentityRegistry as identity, ReputationRegistry as open, ValidationRegistry as validation,
    },
    canonical::{BoundInitializer, IdentityInitializer, Upgradeable},
};
use serde_json::Value;
use std::{collections::BTreeSet, fs, path::Path};

/// Selectors of functions and errors, topics of events.
#[derive(Debug, Default, PartialEq, Eq)]
struct Items {
    functions: BTreeSet<[u8; 4]>,
    events: BTreeSet<[u8; 32]>,
    errors: BTreeSet<[u8; 4]>,
}

impl Items {
    fn and(mut self, other: Self) -> Self {
        self.functions.extend(other.functions);
        self.events.extend(other.events);
        self.errors.extend(other.errors);
        self
    }

    fn add(&mut self, kind: &str, signature: &str) {
        let hash = keccak256(signature.as_bytes());
        let selector = *hash.first_chunk().unwrap();
        match kind {
            "function" => self.functions.insert(selector),
            "event" => self.events.insert(hash),
            "error" => self.errors.insert(selector),
            other => panic!("{other}"),
        };
    }
}

macro_rules! functions {
    ($calls:ty) => {
        <$calls>::selectors().collect::<BTreeSet<_>>()
    };
}

macro_rules! items {
    ($module:ident, $calls:ident, $events:ident, $errors:ident) => {
        Items {
            functions: functions!($module::$calls),
            events: $module::$events::SELECTORS.iter().copied().collect(),
            errors: functions!($module::$errors),
        }
    };
}

fn identity() -> Items {
    items!(
        identity,
        IdentityRegistryCalls,
        IdentityRegistryEvents,
        IdentityRegistryErrors
    )
}

fn shared() -> Items {
    items!(feedback, FeedbackCalls, FeedbackEvents, FeedbackErrors)
}

fn authorized() -> Items {
    items!(
        authorized,
        AuthorizedReputationRegistryCalls,
        AuthorizedReputationRegistryEvents,
        AuthorizedReputationRegistryErrors
    )
}

fn open() -> Items {
    items!(
        open,
        ReputationRegistryCalls,
        ReputationRegistryEvents,
        ReputationRegistryErrors
    )
}

fn validation() -> Items {
    items!(
        validation,
        ValidationRegistryCalls,
        ValidationRegistryEvents,
        ValidationRegistryErrors
    )
}

fn file(path: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    fs::read_to_string(&path).unwrap_or_else(|fault| panic!("{}: {fault}", path.display()))
}

/// A parameter's type as it enters a signature.
fn type_of(parameter: &Value) -> String {
    let name = parameter["type"].as_str().unwrap();
    match name.strip_prefix("tuple") {
        None => name.to_owned(),
        Some(array) => format!("{}{array}", types_of(&parameter["components"])),
    }
}

fn types_of(parameters: &Value) -> String {
    let types: Vec<_> = parameters.as_array().unwrap().iter().map(type_of).collect();
    format!("({})", types.join(","))
}

fn published(contract: &str) -> Items {
    let text = file(&format!("../contracts/abi/{contract}.json"));
    let abi: Vec<Value> = serde_json::from_str(&text).unwrap();
    let mut items = Items::default();
    for item in abi.iter().filter(|it| it["type"] != "constructor") {
        let name = item["name"].as_str().unwrap();
        let signature = format!("{name}{}", types_of(&item["inputs"]));
        items.add(item["type"].as_str().unwrap(), &signature);
    }
    items
}

#[test]
fn r2_the_interfaces_are_the_contracts() {
    assert_eq!(identity(), published("IdentityRegistry"));
    assert_eq!(
        authorized().and(shared()),
        published("AuthorizedReputationRegistry")
    );
    assert_eq!(open().and(shared()), published("ReputationRegistry"));
    assert_eq!(validation(), published("ValidationRegistry"));
}

/// The canonical contract's functions and events.
fn canonical(contract: &str) -> Items {
    let mut items = Items::default();
    for line in file(&format!("tests/canonical_abi/{contract}.txt")).lines() {
        let mut words = line.split(' ');
        let mut word = || words.next().unwrap();
        let (kind, signature, selector) = (word(), word(), word());
        let hash = keccak256(signature.as_bytes()).map(|byte| format!("{byte:02x}"));
        assert!(
            hash.concat().starts_with(&selector[2..]),
            "{signature} is not {selector}"
        );
        items.add(kind, signature);
    }
    items
}

fn upgradeable() -> Items {
    items!(
        Upgradeable,
        UpgradeableCalls,
        UpgradeableEvents,
        UpgradeableErrors
    )
}

/// What Concord has beside the canonical contracts.
fn without(mut items: Items, additions: &[&str]) -> Items {
    let mut added = Items::default();
    for signature in additions {
        added.add("function", signature);
    }
    assert!(added.functions.is_subset(&items.functions));
    items.functions = &items.functions - &added.functions;
    items
}

#[track_caller]
fn assert_is_canonical(ours: Items, initializer: BTreeSet<[u8; 4]>, contract: &str) {
    let mut ours = ours.and(upgradeable());
    ours.functions.extend(initializer);
    let theirs = canonical(contract);
    assert_eq!(ours.functions, theirs.functions);
    assert_eq!(ours.events, theirs.events);
    assert!(upgradeable().errors.is_subset(&theirs.errors));
}

#[test]
fn r2_the_canonical_contracts_have_the_same_abi_and_their_upgrades() {
    assert_is_canonical(
        identity(),
        functions!(IdentityInitializer::IdentityInitializerCalls),
        "IdentityRegistry",
    );
    let bound = || functions!(BoundInitializer::BoundInitializerCalls);
    let reputation = without(
        open().and(shared()),
        &[
            "getClientCount(uint256)",
            "getClientsWindow(uint256,uint256,uint256)",
            "readFeedbackWindow(uint256,address,uint64,uint64)",
            "getSummaryPart(uint256,address[],string,string)",
            "getSummaryPartOfClients(uint256,uint256,uint256,string,string)",
            "getSummaryPartOfIndices(uint256,address,uint64,uint64,string,string)",
            "finishSummary((int256,uint64,uint64[19])[])",
        ],
    );
    assert_is_canonical(reputation, bound(), "ReputationRegistry");
    let validation = without(
        validation(),
        &[
            "hasResponse(bytes32)",
            "getValidationCount(uint256)",
            "getAgentValidationsPage(uint256,uint256,uint256)",
            "getValidatorRequestsPage(address,uint256,uint256)",
            "getSummaryPart(uint256,address[],string,uint256,uint256)",
            "finishSummary((uint256,uint64)[])",
        ],
    );
    assert_is_canonical(validation, bound(), "ValidationRegistry");
}
