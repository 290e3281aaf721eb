//! Canonical contracts of a later version than the one that this harness knows: what they have beside it, and the one
//! refusal that they are announced to add.
use super::{
    Dialect, RegistryAddresses,
    attach::code_behind,
    labels::placed,
    ledger::{Answer, try_view},
    node::Node,
};
use crate::backend::{
    News,
    views::{self, IDENTITY, OPEN, VALIDATION},
};
use alloy::primitives::{Address, B256, Bytes, Log, keccak256};
use concord_registry::{
    event::EventError,
    evm::{
        abi::{
            Feedback as feedback, IdentityRegistry as identity, ReputationRegistry as open,
            ValidationRegistry as validation,
        },
        alloy_sol_types::SolInterface,
        canonical::{BoundInitializer, IdentityInitializer, Upgradeable},
        revert_text,
    },
};
use std::collections::{BTreeMap, BTreeSet};

type Selector = [u8; 4];

/// The version of the canonical contracts that the harness knows.
const KNOWN: [u64; 3] = [2, 0, 0];

/// What the version 2.1.0 that is being prepared is announced to add. Its authors may change it: names are for reports only.
const VIEWS: [&str; 2] = [
    "agentByMetadata(string,bytes)",
    "getOwnerFromAgentWallet(address)",
];
const FUNCTIONS: [&str; 1] = ["setReverseLookup(uint256,string,bytes)"];
const EVENTS: [&str; 1] = ["MetadataReverseLookupSet(uint256,string,bytes,address)"];
/// How it refuses a wallet that another agent has, and so a second registration by one owner.
const WALLET_TAKEN: &str = "wallet already assigned";

/// Registries of others that were attached to.
#[derive(Debug, Default)]
pub(super) struct Foreign {
    contracts: BTreeMap<Address, News>,
}

impl Foreign {
    /// Reads version and code of the registries that are not Concord's.
    pub fn look(node: &mut Node, of: &RegistryAddresses, dialect: Dialect) -> Answer<Self> {
        let mut contracts = BTreeMap::new();
        for (contract, address) in foreign_contracts(of, dialect) {
            let version = try_view(node, address, &feedback::getVersionCall {});
            let version = version.ok().and_then(Result::ok);
            let mut news = News::of(contract, version.unwrap_or_else(|| "unknown".to_owned()));
            if dialect != Dialect::CanonicalAbi {
                note_code(&mut news, &code_behind(node, address)?);
            }
            contracts.insert(address, news);
        }
        Ok(Self { contracts })
    }

    pub fn news(&self) -> Vec<News> {
        let found = self.contracts.values().filter(|it| it.is_any());
        found.cloned().collect()
    }

    /// What each answers to `getVersion()`.
    pub fn version_of(&self, address: Address) -> Option<&str> {
        self.contracts.get(&address).map(|it| &*it.version)
    }

    /// The logs of a transaction without events that the harness does not know, which it counts. Concord's registries have none.
    pub fn known_logs(&mut self, logs: &[Log], registries: &RegistryAddresses) -> Vec<Log> {
        let mut known = Vec::with_capacity(logs.len());
        for log in logs {
            match self.contracts.get_mut(&log.address) {
                Some(news) if is_unknown(log, registries) => {
                    *news.events.entry(event_name(log)).or_default() += 1;
                }
                _ => known.push(log.clone()),
            }
        }
        known
    }

    /// Whether a contract of a later version refuses what the known one accepts.
    pub fn is_refused_later(&self, contract: Address, revert_data: &[u8]) -> bool {
        let version = self.version_of(contract);
        version.is_some_and(is_later)
            && revert_text(revert_data).is_some_and(|it| it == WALLET_TAKEN)
    }
}

fn foreign_contracts(of: &RegistryAddresses, dialect: Dialect) -> Vec<(&'static str, Address)> {
    let others = [(OPEN, of.open_reputation), (VALIDATION, of.validation)];
    let others = others
        .into_iter()
        .filter_map(|(name, at)| Some((name, at?)));
    let identity = [(IDENTITY, of.identity)];
    match dialect {
        Dialect::Concord => Vec::new(),
        Dialect::OverCanonicalIdentity => identity.into(),
        Dialect::Canonical | Dialect::CanonicalAbi => identity.into_iter().chain(others).collect(),
    }
}

fn is_unknown(log: &Log, registries: &RegistryAddresses) -> bool {
    let decoded = registries.events("", &[placed((0, log))]);
    let mut undecoded = decoded.undecoded.iter();
    undecoded.any(|it| it.reason == EventError::Unknown)
}

/// Of an announced event its signature, else the topic.
fn event_name(log: &Log) -> String {
    let topic = log.topics().first();
    let announced = EVENTS.iter().find(|it| Some(&keccak256(it)) == topic);
    let topic = || topic.map_or_else(|| "without a topic".to_owned(), B256::to_string);
    announced.map_or_else(topic, |it| (*it).to_owned())
}

/// Is a version later than the known one? Build metadata and pre-releases do not count.
fn is_later(version: &str) -> bool {
    let numbers = version.split(['-', '+']).next().unwrap_or_default();
    let numbers: Option<Vec<u64>> = numbers.split('.').map(|it| it.parse().ok()).collect();
    numbers.is_some_and(|it| it.len() == KNOWN.len() && it[..] > KNOWN[..])
}

/// What the code has that the known version has not.
fn note_code(news: &mut News, code: &[u8]) {
    let known = known_functions(news.contract);
    let named = |of: &[&'static str]| -> BTreeMap<Selector, &'static str> {
        of.iter().map(|it| (selector(it), *it)).collect()
    };
    let of_ours = views::EVM.iter().chain(views::CANONICAL);
    let of_ours: Vec<&str> = of_ours.flat_map(|(_, it)| it.iter().copied()).collect();
    let (views, functions) = (named(&[&VIEWS[..], &of_ours].concat()), named(&FUNCTIONS));
    for selector in functions_of(code).difference(&known) {
        match (views.get(selector), functions.get(selector)) {
            (Some(view), _) => news.views.insert((*view).to_owned()),
            (_, Some(function)) => news.functions.insert((*function).to_owned()),
            _ => news
                .functions
                .insert(Bytes::copy_from_slice(selector).to_string()),
        };
    }
    let words: BTreeSet<B256> = pushes(code)
        .filter_map(|(_, it)| it.try_into().ok())
        .collect();
    let events = EVENTS.iter().filter(|it| words.contains(&keccak256(it)));
    news.events.extend(events.map(|it| ((*it).to_owned(), 0)));
}

fn selector(signature: &str) -> Selector {
    let [a, b, c, d, ..] = keccak256(signature).0;
    [a, b, c, d]
}

/// The functions of the known version: those of Concord's contract of the same name, less the views that only it has, and
/// those of a proxy.
fn known_functions(contract: &str) -> BTreeSet<Selector> {
    let mut known: BTreeSet<Selector> = match contract {
        IDENTITY => identity::IdentityRegistryCalls::selectors().collect(),
        OPEN => {
            let own = open::ReputationRegistryCalls::selectors();
            own.chain(feedback::FeedbackCalls::selectors()).collect()
        }
        _ => validation::ValidationRegistryCalls::selectors().collect(),
    };
    let views = |of: views::Interfaces| -> BTreeSet<Selector> {
        let mut all = of.iter().filter(|(name, _)| *name == contract);
        let own = all.next().map_or(&[][..], |(_, signatures)| signatures);
        own.iter().map(|it| selector(it)).collect()
    };
    let canonical = views(views::CANONICAL);
    let added = views(views::EVM);
    known.retain(|it| !added.contains(it) || canonical.contains(it));
    known.extend(Upgradeable::UpgradeableCalls::selectors());
    known.extend(match contract {
        IDENTITY => IdentityInitializer::IdentityInitializerCalls::selectors().collect::<Vec<_>>(),
        _ => BoundInitializer::BoundInitializerCalls::selectors().collect(),
    });
    known
}

const PUSH1: u8 = 0x60;
const PUSH2: u8 = 0x61;
const PUSH32: u8 = 0x7f;
const DUP1: u8 = 0x80;
const SWAP16: u8 = 0x9f;
const EQ: u8 = 0x14;
const JUMPI: u8 = 0x57;

/// Each instruction, with the bytes that it pushes.
fn instructions(code: &[u8]) -> impl Iterator<Item = (u8, &[u8])> {
    let mut rest = code;
    std::iter::from_fn(move || {
        let (operation, after) = rest.split_first()?;
        let pushed = match operation {
            PUSH1..=PUSH32 => usize::from(operation - PUSH1) + 1,
            _ => 0,
        };
        let (pushed, after) = after.split_at(pushed.min(after.len()));
        rest = after;
        Some((*operation, pushed))
    })
}

fn pushes(code: &[u8]) -> impl Iterator<Item = (u8, &[u8])> {
    instructions(code).filter(|(_, pushed)| !pushed.is_empty())
}

/// The selectors that a contract compares a call's with before it jumps: Solidity's compiler writes them so. One of three
/// bytes begins with a zero, which is not pushed.
fn functions_of(code: &[u8]) -> BTreeSet<Selector> {
    let all: Vec<_> = instructions(code).collect();
    let dispatched = (0..all.len()).filter_map(|at| {
        let (_, pushed) = all[at];
        let selector: Selector = match *pushed {
            [a, b, c, d] => [a, b, c, d],
            [b, c, d] => [0, b, c, d],
            _ => return None,
        };
        let after = &all[at + 1..];
        let after = match after.first() {
            Some((DUP1..=SWAP16, _)) => &after[1..],
            _ => after,
        };
        let is_dispatch = matches!(after, [(EQ, _), (PUSH1..=PUSH2, _), (JUMPI, _), ..]);
        is_dispatch.then_some(selector)
    });
    dispatched.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;
    use std::{fs, path::Path};

    fn file(path: &str) -> String {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(path);
        fs::read_to_string(&path).unwrap_or_else(|fault| panic!("{}: {fault}", path.display()))
    }

    /// Selectors and deployed code of a contract, as forge wrote them.
    fn built(file_name: &str, contract: &str) -> (BTreeSet<Selector>, Vec<u8>) {
        let text = file(&format!("contracts/out/{file_name}.sol/{contract}.json"));
        let artifact: Value = serde_json::from_str(&text).unwrap();
        let selectors = artifact["methodIdentifiers"].as_object().unwrap().values();
        let selectors = selectors.map(|it| hex::decode(it.as_str().unwrap()).unwrap());
        let code = artifact["deployedBytecode"]["object"].as_str().unwrap();
        let code = hex::decode(code.trim_start_matches("0x")).unwrap();
        (selectors.map(|it| it.try_into().unwrap()).collect(), code)
    }

    #[test]
    fn the_functions_of_a_contract_are_those_that_forge_lists() {
        for (file, contract) in [
            ("IdentityRegistry", "IdentityRegistry"),
            ("ReputationRegistry", "ReputationRegistry"),
            (
                "AuthorizedReputationRegistry",
                "AuthorizedReputationRegistry",
            ),
            ("ValidationRegistry", "ValidationRegistry"),
            ("CanonicalIdentity", "CanonicalIdentity"),
            ("CanonicalIdentity", "CanonicalIdentityNext"),
        ] {
            let (listed, code) = built(file, contract);
            assert_eq!(functions_of(&code), listed, "{contract}");
        }
        assert_eq!(functions_of(&[PUSH32, 1, 2]), BTreeSet::new());
    }

    /// `registry/tests/canonical_abi` lists what the verified sources compile to.
    #[test]
    fn the_known_functions_are_those_of_the_canonical_contracts() {
        for contract in [IDENTITY, OPEN, VALIDATION] {
            let text = file(&format!("registry/tests/canonical_abi/{contract}.txt"));
            let lines = text.lines().filter(|it| it.starts_with("function "));
            let listed = lines.map(|line| {
                let (_, digits) = line.rsplit_once(" 0x").unwrap();
                hex::decode(digits).unwrap().try_into().unwrap()
            });
            assert_eq!(known_functions(contract), listed.collect(), "{contract}");
        }
    }

    #[test]
    fn what_a_later_version_adds_is_named() {
        let (_, code) = built("CanonicalIdentity", "CanonicalIdentityNext");
        let mut news = News::of(IDENTITY, "2.1.0".to_owned());
        note_code(&mut news, &code);
        let names = |of: &[&str]| of.iter().map(|it| (*it).to_owned()).collect();
        assert_eq!(news.views, names(&VIEWS));
        assert_eq!(news.functions, names(&FUNCTIONS));
        assert_eq!(news.events, BTreeMap::from([(EVENTS[0].to_owned(), 0)]));
        let words = "IdentityRegistry 2.1.0: views agentByMetadata(string,bytes), \
                     getOwnerFromAgentWallet(address); functions \
                     setReverseLookup(uint256,string,bytes); events \
                     MetadataReverseLookupSet(uint256,string,bytes,address)";
        assert_eq!(news.in_words(), words);

        let (_, code) = built("CanonicalIdentity", "CanonicalIdentity");
        let mut nothing = News::of(IDENTITY, "2.0.0".to_owned());
        note_code(&mut nothing, &code);
        assert!(!nothing.is_any(), "{nothing:?}");
    }

    #[test]
    fn a_version_is_later_by_its_numbers() {
        for later in [
            "2.1.0",
            "2.0.1",
            "3.0.0",
            "10.0.0",
            "2.1.0-rc.1",
            "2.1.0+build",
        ] {
            assert!(is_later(later), "{later}");
        }
        for other in [
            "2.0.0",
            "2.0.0+concord.2",
            "1.9.9",
            "2.1",
            "2.1.0.0",
            "v2.1.0",
            "",
            "unknown",
        ] {
            assert!(!is_later(other), "{other}");
        }
    }
}
