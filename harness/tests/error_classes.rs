//! R25: the error list of the canonical crate, the contracts' ABIs and the program's enum say the
//! same. Neither a native error without a class nor a class entry without its native error passes.
use std::{collections::BTreeSet, fs, path::Path};

use agent_registry::ConcordError;
use alloy::json_abi::JsonAbi;
use concord_canonical::error_class::{ALL, AnchorError, SolidityError};

const CONTRACTS: [&str; 4] = [
    "IdentityRegistry",
    "AuthorizedReputationRegistry",
    "ReputationRegistry",
    "ValidationRegistry",
];

/// Of OpenZeppelin's EIP712, whose constructor raises them for a name or version that is too long
/// or damaged. Ours are constants, so nobody can cause them (R25).
const UNREACHABLE: [&str; 2] = ["InvalidShortString()", "StringTooLong(string)"];

/// Of the language, in no ABI: a user causes them with a receiver that refuses in words, and with
/// calldata that claims a text of 2^64 bytes (`contracts/test/identity/register.t.sol`).
const OF_THE_LANGUAGE: [(&str, [u8; 4]); 2] = [
    ("Error(string)", [0x08, 0xc3, 0x79, 0xa0]),
    ("Panic(uint256)", [0x4e, 0x48, 0x7b, 0x71]),
];

fn listed_solidity_errors() -> BTreeSet<(String, [u8; 4])> {
    let listed = |error: &SolidityError| (error.signature.to_owned(), error.selector);
    ALL.iter()
        .flat_map(|class| class.info().solidity.iter().map(listed))
        .collect()
}

fn errors_of_contract(name: &str) -> Vec<(String, [u8; 4])> {
    let artifact = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join(format!("../contracts/out/{name}.sol/{name}.json"));
    let text = fs::read_to_string(&artifact)
        .unwrap_or_else(|error| panic!("{}: {error}: run scripts/build", artifact.display()));
    let artifact: serde_json::Value = serde_json::from_str(&text).expect("artifact is JSON");
    let abi: JsonAbi =
        serde_json::from_value(artifact["abi"].clone()).expect("artifact has an ABI");
    abi.errors()
        .map(|error| (error.signature(), error.selector().0))
        .filter(|(signature, _)| !UNREACHABLE.contains(&signature.as_str()))
        .collect()
}

#[test]
fn every_error_of_the_contracts_has_a_class_and_every_listed_one_a_contract() {
    let declared: BTreeSet<_> = CONTRACTS
        .iter()
        .flat_map(|name| errors_of_contract(name))
        .chain(OF_THE_LANGUAGE.map(|(signature, selector)| (signature.to_owned(), selector)))
        .collect();
    assert!(declared.len() > CONTRACTS.len());
    assert_eq!(declared, listed_solidity_errors());
}

/// These variants of `ConcordError`; the match makes the compiler ask for a new one.
macro_rules! every_variant {
    ($($variant:ident)+) => {{
        let all = [$(ConcordError::$variant),+];
        for error in &all {
            match error {
                $(ConcordError::$variant => (),)+
            }
        }
        all.into()
    }};
}

fn declared_program_errors() -> Vec<ConcordError> {
    every_variant! {
        ScoreOutOfRange
        AgentNotFound
        SelfFeedback
        LengthLimit
        FeedbackIndexStale
        AuthMissing
        AuthMalformed
        AuthExpired
        AuthIndexLimit
        AuthWrongSigner
        AuthWrongMessage
        FeedbackNotFound
        AlreadyRevoked
        CounterExhausted
        NotAuthorized
        NotInTransfer
        TransferRefused
        NotUpgradeAuthority
        AlreadyInitialized
        MalformedChainId
        AccountMismatch
        ReservedKey
        WalletZero
        WalletConsentMissing
        AuthSchemeUnknown
        PaymentAlreadyProven
        PaymentSpent
        PaymentWrongPayer
        PaymentInFuture
        PaymentWrongToken
        PaymentZeroAmount
        PaymentWrongFacilitator
        ListTooLong
        DecimalsOutOfRange
        ValueOutOfRange
        EmptyUri
        EmptyClients
        SummaryGap
        ValidatorZero
        RequestExists
        RequestPrefixCollision
        RequestNotFound
        NotValidator
        InstructionsTooLong
        SummaryRange
        AuthorityConsentMissing
    }
}

#[test]
fn every_error_of_the_program_has_a_class_and_every_listed_one_a_variant() {
    let declared: BTreeSet<_> = declared_program_errors()
        .into_iter()
        .map(|error| (u32::from(error), error.name()))
        .collect();
    let listed = |error: &AnchorError| (error.code, error.name.to_owned());
    let listed: BTreeSet<_> = ALL
        .iter()
        .flat_map(|class| class.info().anchor.iter().map(listed))
        .collect();
    assert_eq!(declared, listed);
}
