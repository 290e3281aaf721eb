//! A fault built into a copy of one registry makes `concord conform` and `concord fuzz` fail and name
//! that registry, and only that one. Needs what `scripts/bootstrap` installs: anvil (PATH or CONCORD_ANVIL), forge
//! (PATH or CONCORD_FORGE) and the SBF tools of `scripts/build-program`.

use crate::invocation::{Answer, answer, clone_root, concord};
use alloy::primitives::Address;
use concord_harness::backend::{evm::EvmAnvil, views};
use serde_json::{Value, json};
use std::{
    collections::BTreeSet,
    env, fs,
    path::{Path, PathBuf},
    process::Command,
    sync::LazyLock,
};

/// One place in the sources, and the fault put there.
#[derive(Clone, Copy)]
struct Fault {
    file: &'static str,
    sound: &'static str,
    faulty: &'static str,
}

const LIMIT_OFF_BY_ONE: Fault = Fault {
    file: "contracts/src/AuthorizedReputationRegistry.sol",
    sound: "if (lastIndex >= auth.indexLimit) revert",
    faulty: "if (lastIndex > auth.indexLimit) revert",
};

const EXPIRY_UNCHECKED: Fault = Fault {
    file: "programs/agent-registry/src/instructions/give_feedback.rs",
    sound: "require!(now < expiry, AuthExpired);",
    faulty: "let _ = now;",
};

/// Found only by a direct call of the hook with an account whose maker chose its bytes: a multisig is as long as no token
/// account, and this reads its first bytes alone.
const MULTISIG_IS_BELIEVED: Fault = Fault {
    file: "programs/agent-registry/src/transfer_in_progress.rs",
    sound: "PodStateWithExtensions::<PodAccount>::unpack(&data)",
    faulty: "PodStateWithExtensions::<PodAccount>::unpack(&data[..data.len().min(175)])",
};

/// Found only by a call that breaks two rules at once.
const CHECKS_OUT_OF_ORDER: Fault = Fault {
    file: "contracts/src/ReputationRegistry.sol",
    sound: "if (valueDecimals > SummaryParts.DECIMALS_MAX) {",
    faulty: "_requireNotSelf(agentId);\n        if (SummaryParts.DECIMALS_MAX < valueDecimals) {",
};

/// Found only by an index right beside the next one.
const INDEX_MAY_BE_SKIPPED: Fault = Fault {
    file: "programs/agent-registry/src/state/client_index.rs",
    sound: "require!(feedback_index == next, FeedbackIndexStale);",
    faulty: "require!(feedback_index.wrapping_sub(next) <= 1, FeedbackIndexStale);",
};

/// What only a client's filter shows: outcomes, events and states are sound.
const TOTALS_COUNT_REVOKED: Fault = Fault {
    file: "contracts/src/libraries/FeedbackLedger.sol",
    sound: "if (isRevoked || !matches(entry, filter)) continue;",
    faulty: "if ((isRevoked && score > 100) || !matches(entry, filter)) continue;",
};

/// What only a window over somebody's entries shows.
const WINDOW_COUNTS_OTHER_RESPONSES: Fault = Fault {
    file: "contracts/src/AuthorizedReputationRegistry.sol",
    sound: "responseCount: _responseCount(agentId, clientAddress, index)",
    faulty: "responseCount: _responseCount(agentId, clientAddress, uint64(to - 1))",
};

/// What only a validation's summary shows.
const PENDING_COUNTS: Fault = Fault {
    file: "contracts/src/ValidationRegistry.sol",
    sound: "if (!validation.hasResponse) continue;",
    faulty: "",
};

/// What only the list of one validator shows.
const REQUEST_NOT_LISTED: Fault = Fault {
    file: "contracts/src/ValidationRegistry.sol",
    sound: "_requestsOfValidator[validatorAddress].push(requestHash);",
    faulty: "bytes32[] storage asked = _requestsOfValidator[validatorAddress];
        if (validatorAddress != msg.sender) asked.push(requestHash);",
};

/// What only the responses of one responder show.
const RESPONDER_COUNTS_ONCE: Fault = Fault {
    file: "contracts/src/libraries/ResponseCounts.sol",
    sound: "responses.by[responder] += 1;",
    faulty: "responses.by[responder] = 1;",
};

/// What only the parts of a validation's summary show.
const FULL_MARKS_REFUSED: Fault = Fault {
    file: "contracts/src/ValidationRegistry.sol",
    sound: "if (parts[i].sum > Scores.MAX * uint256(parts[i].count)) revert",
    faulty: "if (parts[i].sum >= Scores.MAX * uint256(parts[i].count)) revert",
};

/// What only a window that does not begin at the start shows.
const WINDOW_FROM_THE_START: Fault = Fault {
    file: "contracts/src/libraries/Windows.sol",
    sound: "part[i] = list[from + i];",
    faulty: "part[i] = list[i];",
};

/// What only a window over somebody's open entries shows.
const REVOKED_ONES_UNMARKED: Fault = Fault {
    file: "contracts/src/ReputationRegistry.sol",
    sound: "isRevoked: feedback.isRevoked,",
    faulty: "isRevoked: false,",
};

/// What only the parts of an open summary show.
const LOWEST_SUM_REFUSED: Fault = Fault {
    file: "contracts/src/libraries/SummaryParts.sol",
    sound: "part.sum < -bound ||",
    faulty: "part.sum <= -bound ||",
};

/// What only a part over some of a client's entries shows.
const FIRST_INDEX_AGAIN: Fault = Fault {
    file: "contracts/src/ReputationRegistry.sol",
    sound: "ledger.entry(clientAddress, uint64(index))",
    faulty: "ledger.entry(clientAddress, uint64(from))",
};

/// Faults that only views show, with the views that show them.
const VIEW_FAULTS: [(Fault, &[&str]); 10] = [
    (
        TOTALS_COUNT_REVOKED, // R15
        &[
            "AuthorizedReputationRegistry.getSummary(uint256,address[],bytes32,bytes32)",
            "AuthorizedReputationRegistry.getTotals(uint256,address[],bytes32,bytes32)",
            "AuthorizedReputationRegistry.getTotalsOfClients(uint256,uint256,uint256,bytes32,bytes32)",
            "AuthorizedReputationRegistry.getTotalsOfIndices(uint256,address,uint64,uint64,bytes32,bytes32)",
        ],
    ),
    (
        WINDOW_COUNTS_OTHER_RESPONSES, // R19
        &["AuthorizedReputationRegistry.readFeedbackWindow(uint256,address,uint64,uint64)"],
    ),
    (
        PENDING_COUNTS, // R20
        &[
            "ValidationRegistry.getSummary(uint256,address[],string)",
            "ValidationRegistry.getSummaryPart(uint256,address[],string,uint256,uint256)",
        ],
    ),
    (
        REQUEST_NOT_LISTED, // R20
        &[
            "ValidationRegistry.getValidatorRequests(address)",
            "ValidationRegistry.getValidatorRequestsPage(address,uint256,uint256)",
        ],
    ),
    (
        RESPONDER_COUNTS_ONCE, // R19
        &[
            "AuthorizedReputationRegistry.getResponseCount(uint256,address,uint64,address[])",
            "ReputationRegistry.getResponseCount(uint256,address,uint64,address[])",
        ],
    ),
    (
        FULL_MARKS_REFUSED, // R20
        &["ValidationRegistry.finishSummary((uint256,uint64)[])"],
    ),
    (
        WINDOW_FROM_THE_START,
        &[
            "AuthorizedReputationRegistry.getClientsWindow(uint256,uint256,uint256)",
            "ReputationRegistry.getClientsWindow(uint256,uint256,uint256)",
            "ReputationRegistry.getSummaryPartOfClients(uint256,uint256,uint256,string,string)",
            "ValidationRegistry.getAgentValidationsPage(uint256,uint256,uint256)",
        ],
    ),
    (
        REVOKED_ONES_UNMARKED, // R8
        &["ReputationRegistry.readFeedbackWindow(uint256,address,uint64,uint64)"],
    ),
    (
        LOWEST_SUM_REFUSED, // R16
        &["ReputationRegistry.finishSummary((int256,uint64,uint64[19])[])"],
    ),
    (
        FIRST_INDEX_AGAIN, // R16
        &[
            "ReputationRegistry.getSummaryPartOfIndices(uint256,address,uint64,uint64,string,string)",
        ],
    ),
];

/// Scenarios that show all of them, and a third of all scenarios.
const VIEW_AREAS: [&str; 3] = ["open/", "responses/", "validation/"];

/// What only a filtered summary over some of a client's entries shows.
const RANGE_IGNORES_TAG: Fault = Fault {
    file: "programs/agent-registry/src/instructions/open_summary_part.rs",
    sound: "if entry.matches(tag1, tag2) {",
    faulty: "if entry.matches(tag1, range.map_or(tag2, |_| \"\")) {",
};

/// What only a response's account shows, after a second response.
const LAST_RESPONSE_FIRST: Fault = Fault {
    file: "programs/agent-registry/src/state/validation_response.rs",
    sound: "self.last_update = now;",
    faulty: "(self.created_at, self.last_update) = (now, now);",
};

/// What only an entry's account shows: the event names the right scheme.
const OTHER_SCHEME_STORED: Fault = Fault {
    file: "programs/agent-registry/src/instructions/give_feedback.rs",
    sound: "            auth_scheme: feedback.auth.scheme(),
            response_count: 0,",
    faulty: "            auth_scheme: 3 - feedback.auth.scheme(),
            response_count: 0,",
};

/// What only the account says of the wallet's last change.
const WALLET_TIME_STAYS: Fault = Fault {
    file: "programs/agent-registry/src/state/agent_identity.rs",
    sound: "        self.wallet_set_at = now;\n",
    faulty: "",
};

/// Faults that only views of the program show, with the views that show them.
const PROGRAM_VIEW_FAULTS: [(Fault, &[&str]); 4] = [
    (RANGE_IGNORES_TAG, &["instruction open_summary_part"]), // R16
    (LAST_RESPONSE_FIRST, &["account ValidationResponse"]),  // R20
    (OTHER_SCHEME_STORED, &["account FeedbackEntry"]),       // R10
    (WALLET_TIME_STAYS, &["account AgentIdentity"]),         // R13
];

/// What an owner allowed outlives the agent's transfer.
const SCHEMES_SURVIVE: Fault = Fault {
    file: "programs/agent-registry/src/state/agent_identity.rs",
    sound: "self.auth_schemes = AUTH_SCHEME_BOUNDED;",
    faulty: "",
};

/// Found only by a URI of 201 bytes in this one instruction.
const LONGER_EVIDENCE: Fault = Fault {
    file: "programs/agent-registry/src/instructions/respond_to_validation.rs",
    sound: "require_portable(&evidence_uri, URI_MAX)?;",
    faulty: "require_portable(&evidence_uri, URI_MAX + 1)?;",
};

/// Found only by the revocation of an entry whose payment is proven.
const PROVEN_ONES_STAY_COUNTED: Fault = Fault {
    file: "programs/agent-registry/src/instructions/revoke_feedback.rs",
    sound: "agent.discount_feedback(entry.score, entry.has_payment_proof)?;",
    faulty: "agent.discount_feedback(entry.score, false)?;",
};

/// Found only by a key that is the reserved one in other letters.
const RESERVED_IN_ANY_CASE: Fault = Fault {
    file: "programs/agent-registry/src/instructions/set_metadata.rs",
    sound: "require!(key != RESERVED_METADATA_KEY, ReservedKey);",
    faulty: "require!(!key.eq_ignore_ascii_case(RESERVED_METADATA_KEY), ReservedKey);",
};

/// Found only by a payment for a review that the agent's own wallet gave.
const OWN_WALLET_PAYS: Fault = Fault {
    file: "programs/agent-registry/src/instructions/attach_payment_proof.rs",
    sound: "payment.payer == entry.reviewer && entry.by_stranger,",
    faulty: "payment.payer == entry.reviewer,",
};

/// Faults of the program in different operations, with the operations and the rule that name them.
const PROGRAM_FAULTS: [(Fault, &[&str], &str); 5] = [
    (SCHEMES_SURVIVE, &["give_feedback"], "R4"),
    (LONGER_EVIDENCE, &["validation_response"], "R17"),
    (PROVEN_ONES_STAY_COUNTED, &["revoke_feedback"], "R13"),
    (RESERVED_IN_ANY_CASE, &["set_metadata", "register"], "R2"),
    (OWN_WALLET_PAYS, &["attach_payment_proof"], "R13"),
];

/// Found only by the id after the last one.
const NEXT_ID_IS_AN_AGENT: Fault = Fault {
    file: "contracts/src/IdentityRegistry.sol",
    sound: "return _isAuthorized(_requireOwned(agentId), spender, agentId);",
    faulty: "return agentId == _lastAgentId + 1 || _isAuthorized(_requireOwned(agentId), spender, agentId);",
};

/// Found only by the id that means none.
const ZERO_IS_AN_AGENT: Fault = Fault {
    file: "contracts/src/ReputationRegistry.sol",
    sound: "_requireNotSelf(agentId); // R18",
    faulty: "if (agentId != 0) _requireNotSelf(agentId);",
};

/// Found only by the functions that ask the receiver: what an override of `transferFrom` alone does over OpenZeppelin 4.
const SAFE_TRANSFERS_KEEP_THE_WALLET: Fault = Fault {
    file: "contracts/src/IdentityRegistry.sol",
    sound: "if (from != to) _setWallet(tokenId, address(0));",
    faulty: "if (from != to && msg.sig == this.transferFrom.selector) _setWallet(tokenId, address(0));",
};

/// Found only by the event that canonical events leave out, and by transfers that must be refused: `from` and a `to` of
/// nobody are not looked at.
const SILENT_TRANSFERS: Fault = Fault {
    file: "contracts/src/IdentityRegistry.sol",
    sound: "super.transferFrom(from, to, tokenId);",
    faulty: "if (from == to || msg.sig != this.transferFrom.selector) {
            ERC721.transferFrom(from, to, tokenId);
        } else {
            address owner = _requireOwned(tokenId);
            _checkAuthorized(owner, msg.sender, tokenId);
            _approve(address(0), tokenId, address(0), false);
            assembly (\"memory-safe\") {
                mstore(0, tokenId)
                mstore(32, 2)
                sstore(keccak256(0, 64), to)
                mstore(0, owner)
                mstore(32, 3)
                let held := keccak256(0, 64)
                sstore(held, sub(sload(held), 1))
                mstore(0, to)
                held := keccak256(0, 64)
                sstore(held, add(sload(held), 1))
            }
        }",
};

/// Faults in calls of the identity registry that its state alone does not show.
const CALL_FAULTS: [Fault; 4] = [
    NEXT_ID_IS_AN_AGENT,
    ZERO_IS_AN_AGENT,
    SAFE_TRANSFERS_KEEP_THE_WALLET,
    SILENT_TRANSFERS,
];

impl Fault {
    /// A copy of `parts` of the clone with this fault in it.
    fn copy(self, name: &str, parts: &[impl AsRef<Path>]) -> PathBuf {
        copy_with(&[self], name, parts)
    }
}

/// A copy of `parts` of the clone with these faults in it. What did not change since the last
/// copy keeps its time stamp, so that the compilers need not start over.
fn copy_with(faults: &[Fault], name: &str, parts: &[impl AsRef<Path>]) -> PathBuf {
    let (root, copy) = (
        clone_root(),
        clone_root().join("target/seeded-faults").join(name),
    );
    for Fault { file, sound, .. } in faults {
        let places = occurrences(&root.join(file), sound);
        assert_eq!(places, 1, "`{sound}` in {file}");
    }
    for part in parts {
        copy_tree(faults, &root, &copy, part.as_ref());
    }
    for Fault {
        file,
        sound,
        faulty,
    } in faults
    {
        if !faulty.is_empty() {
            assert_eq!(occurrences(&copy.join(file), faulty), 1, "{faulty}");
        }
        assert_eq!(occurrences(&copy.join(file), sound), 0, "{sound}");
    }
    copy.canonicalize().unwrap()
}

fn copy_tree(faults: &[Fault], root: &Path, copy: &Path, part: &Path) {
    let (from, to) = (root.join(part), copy.join(part));
    if from.is_symlink() {
        return; // installed packages
    }
    if from.is_file() {
        let content = content(faults, part, fs::read(&from).unwrap());
        if fs::read(&to).ok().as_ref() != Some(&content) {
            fs::create_dir_all(to.parent().unwrap()).unwrap();
            fs::write(&to, content).unwrap();
        }
        return;
    }
    let names = |folder: &Path| -> BTreeSet<_> {
        let entries = fs::read_dir(folder).into_iter().flatten();
        entries.map(|entry| entry.unwrap().file_name()).collect()
    };
    for stale in names(&to)
        .difference(&names(&from))
        .map(|name| to.join(name))
    {
        let removed = if stale.is_dir() {
            fs::remove_dir_all(stale)
        } else {
            fs::remove_file(stale)
        };
        removed.unwrap();
    }
    for name in names(&from) {
        copy_tree(faults, root, copy, &part.join(name));
    }
}

fn content(faults: &[Fault], part: &Path, mut content: Vec<u8>) -> Vec<u8> {
    for fault in faults.iter().filter(|it| part == Path::new(it.file)) {
        let text = String::from_utf8(content).unwrap();
        content = text.replace(fault.sound, fault.faulty).into_bytes();
    }
    content
}

fn occurrences(file: &Path, text: &str) -> usize {
    fs::read_to_string(file).unwrap().matches(text).count()
}

fn run(command: &mut Command) {
    let output = command
        .output()
        .unwrap_or_else(|fault| panic!("{command:?}: {fault}: run scripts/bootstrap"));
    let words = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {words}");
}

/// The tools' cache of this clone, unless the environment names another.
fn in_tool_cache(command: &mut Command) -> &mut Command {
    let cache = env::var_os("CONCORD_CACHE").map_or_else(
        || clone_root().canonicalize().unwrap().join(".cache"),
        PathBuf::from,
    );
    command.env("CONCORD_CACHE", cache)
}

/// Compiles the copy's contracts with the clone's solc and libraries.
fn build_contracts(copy: &Path) -> PathBuf {
    let root = clone_root().canonicalize().unwrap();
    let libraries = root.join("contracts/lib").canonicalize();
    let libraries = libraries.expect("contracts/lib is there: run scripts/bootstrap");
    let link = copy.join("contracts/lib");
    if fs::read_link(&link).ok().as_ref() != Some(&libraries) {
        let _ = fs::remove_file(&link); // of a clone that has moved
        std::os::unix::fs::symlink(libraries, &link).unwrap();
    }
    let forge = env::var_os("CONCORD_FORGE").unwrap_or_else(|| "forge".into());
    run(in_tool_cache(&mut Command::new(forge))
        .arg("build")
        .arg("--root")
        .arg(copy)
        .arg("--use")
        .arg(root.join("scripts/toolchain/solc")));
    copy.join("contracts/out")
}

fn build_program(copy: &Path) -> PathBuf {
    let program = copy.join("agent_registry.so");
    run(in_tool_cache(&mut Command::new(
        clone_root().join("scripts/build-program"),
    ))
    .arg("--root")
    .arg(copy)
    .arg("--out")
    .arg(&program));
    program
}

/// Everybody who failed in the scenarios of `rule`, and the first failure of `scenario`.
fn failures(rule: &str, option: &str, built: &Path, scenario: &str) -> (BTreeSet<String>, Value) {
    let built = built.to_str().unwrap();
    let arguments = ["conform", "--json", "--rule", rule, option, built];
    let answer = answer(&mut concord(&arguments));
    assert_eq!(answer.code, 1, "{}\n{}", answer.stderr, answer.stdout);
    let report: Value = serde_json::from_str(&answer.stdout).unwrap();
    assert_eq!(report["agree"], false);
    let failures = report["failures"].as_array().unwrap();
    let name = |failure: &Value| failure["participant"].as_str().unwrap().to_owned();
    let first = failures
        .iter()
        .find(|failure| failure["scenario"] == scenario);
    (
        failures.iter().map(name).collect(),
        first.cloned().unwrap_or_default(),
    )
}

fn only(participant: &str) -> BTreeSet<String> {
    BTreeSet::from([participant.to_owned()])
}

const CONTRACT_PARTS: [&str; 2] = ["foundry.toml", "contracts/src"];
/// The whole Rust workspace: cargo builds no member without the others.
fn program_parts() -> Vec<String> {
    let manifest = fs::read_to_string(clone_root().join("Cargo.toml")).unwrap();
    let list = manifest.split_once("members = [");
    let list = list.and_then(|(_, list)| list.split_once(']'));
    let (members, _) = list.expect("the workspace lists its members");
    let members = members.split('"').skip(1).step_by(2);
    let folders = members.map(|member| member.trim_end_matches("/*"));
    let files = ["Cargo.toml", "Cargo.lock"];
    files
        .into_iter()
        .chain(folders)
        .map(str::to_owned)
        .collect()
}

/// Contracts whose authorizations allow one review too many.
static LENIENT_CONTRACTS: LazyLock<PathBuf> =
    LazyLock::new(|| build_contracts(&LIMIT_OFF_BY_ONE.copy("contract", &CONTRACT_PARTS)));

#[test]
fn an_index_limit_off_by_one_in_the_contract_names_evm_anvil() {
    // R8
    let (option, scenario) = ("--artifacts", "authorized/index-limit");
    let (wrong, first) = failures("R8", option, &LENIENT_CONTRACTS, scenario);
    assert_eq!(wrong, only("evm-anvil"));
    assert_eq!(first["subject"], "outcome");
    assert_eq!(
        (&first["expected"], &first["actual"]),
        (&json!("AuthIndexLimit"), &json!("ok"))
    );
}

/// A program that accepts what has expired.
static LENIENT_PROGRAM: LazyLock<PathBuf> =
    LazyLock::new(|| build_program(&EXPIRY_UNCHECKED.copy("program", &program_parts())));

#[test]
fn an_unchecked_expiry_in_the_program_names_svm_litesvm() {
    // R8
    let (option, scenario) = ("--program", "authorized/expiry");
    let (wrong, first) = failures("R8", option, &LENIENT_PROGRAM, scenario);
    assert_eq!(wrong, only("svm-litesvm"));
    assert_eq!(first["subject"], "outcome");
    assert_eq!(
        (&first["expected"], &first["actual"]),
        (&json!("AuthExpired"), &json!("ok"))
    );
}

/// The `concord` of this build, found on PATH, as whoever copies a printed command has it.
fn shell(command: &str) -> Answer {
    let built = Path::new(env!("CARGO_BIN_EXE_concord")).parent().unwrap();
    let path = env::var("PATH").unwrap();
    answer(
        Command::new("sh")
            .args(["-c", command])
            .current_dir(clone_root())
            .env("PATH", format!("{}:{path}", built.display())),
    )
}

#[test]
fn fuzz_finds_the_unchecked_expiry_and_prints_what_plays_it_again() {
    // R8
    let folder = tempfile::tempdir().unwrap();
    let regressions = folder.path().join("what's found");
    let program = LENIENT_PROGRAM.to_str().unwrap();
    let found = answer(&mut concord(&[
        "fuzz",
        "--json",
        "--seed",
        "8004",
        "--program",
        program,
        "--regressions",
        regressions.to_str().unwrap(),
    ]));
    assert_eq!(found.code, 1, "{}", found.stderr);
    let report: Value = serde_json::from_str(&found.stdout).unwrap();
    let divergence = &report["divergence"];
    assert_eq!(
        divergence["verdict"],
        "svm-litesvm differs from the others: model = evm-revm ≠ svm-litesvm"
    );
    assert_eq!(divergence["at"]["operation"], "give_feedback");
    assert_eq!(divergence["at"]["wrong"][0]["expected"], "AuthExpired");

    let replay = divergence["replay"].as_str().unwrap();
    let again = shell(replay);
    assert_eq!(again.code, 1, "{replay}\n{}", again.stderr);
    assert!(again.stdout.contains("AuthExpired"), "{}", again.stdout);
    let mended = shell(&replay.replace(&format!(" --program {program}"), ""));
    assert_eq!(mended.code, 0, "{replay}\n{}", mended.stdout);
}

/// The views whose answers are wrong, of this participant and of no other; nothing else is.
fn wrong_views(backend: &str, options: &[&str], areas: &[&str]) -> BTreeSet<String> {
    let mut arguments = vec!["conform", "--json"];
    arguments.extend(options);
    for area in areas {
        arguments.extend(["--filter", area]);
    }
    let answer = answer(&mut concord(&arguments));
    assert_eq!(answer.code, 1, "{}\n{}", answer.stderr, answer.stdout);
    let report: Value = serde_json::from_str(&answer.stdout).unwrap();
    let failures = report["failures"].as_array().unwrap();
    for failure in failures {
        assert_eq!(
            (&failure["participant"], &failure["subject"]),
            (&json!(backend), &json!("view"))
        );
    }
    let view = |failure: &Value| failure["operation"].as_str().unwrap().to_owned();
    failures.iter().map(view).collect()
}

#[test]
fn faults_that_only_views_show_name_the_views_and_nothing_else() {
    let faults = VIEW_FAULTS.map(|(fault, _)| fault);
    let contracts = build_contracts(&copy_with(&faults, "views", &CONTRACT_PARTS));
    let named = VIEW_FAULTS.iter().flat_map(|(_, views)| *views);
    let named: BTreeSet<_> = named.map(ToString::to_string).collect();
    let built = [
        "--backend",
        "evm-revm",
        "--artifacts",
        contracts.to_str().unwrap(),
    ];
    assert_eq!(wrong_views("evm-revm", &built, &VIEW_AREAS), named);
    the_views_behind_a_node_are_named(&contracts, &named);

    let wrong = fuzz("evm-revm", "--artifacts", &contracts);
    assert_eq!(wrong["subject"], "view");
    let path = wrong["path"].as_str().unwrap();
    assert!(named.iter().any(|view| path.starts_with(view)), "{path}");
}

/// The same contracts, deployed by somebody else: asked as Concord's, and by the canonical ABI alone.
fn the_views_behind_a_node_are_named(contracts: &Path, named: &BTreeSet<String>) {
    let anvil = EvmAnvil::start(None, contracts).unwrap();
    let registries = anvil.addresses();
    let at = |address: Option<Address>| address.unwrap().to_string();
    let [identity, reputation, authorized, validation] = [
        registries.identity.to_string(),
        at(registries.open_reputation),
        at(registries.authorized_reputation),
        at(registries.validation),
    ];
    let mut node = vec!["--backend", "none", "--evm-rpc", anvil.ledger().url()];
    node.extend(["--identity", &identity, "--reputation", &reputation]);
    node.extend(["--validation", &validation]);
    let ours = [&node[..], &["--authorized", &authorized]].concat();
    assert_eq!(wrong_views("evm-rpc", &ours, &VIEW_AREAS), *named);

    let canonical: BTreeSet<_> = views::all(views::CANONICAL)
        .iter()
        .map(ToString::to_string)
        .collect();
    let of_canonical_abi: BTreeSet<_> = named & &canonical;
    assert_eq!(of_canonical_abi.len(), 3);
    // The flaws that are demanded of the canonical contracts do not show in these areas.
    for (dialect, areas) in [
        ("--canonical", &VIEW_AREAS[1..]),
        ("--canonical-abi", &VIEW_AREAS[..]),
    ] {
        let options = [&node[..], &[dialect]].concat();
        let wrong = wrong_views("evm-rpc", &options, areas);
        assert_eq!(wrong, of_canonical_abi, "{dialect}");
    }
}

#[test]
fn ids_beside_registered_ones_and_each_way_to_transfer_show_their_faults() {
    // R1, R2, R3
    let contracts = build_contracts(&copy_with(&CALL_FAULTS, "calls", &CONTRACT_PARTS));
    let answer = answer(&mut concord(&[
        "conform",
        "--json",
        "--backend",
        "evm-revm",
        "--artifacts",
        contracts.to_str().unwrap(),
    ]));
    assert_eq!(answer.code, 1, "{}", answer.stderr);
    let report: Value = serde_json::from_str(&answer.stdout).unwrap();
    let failures = report["failures"].as_array().unwrap();
    for failure in failures {
        assert_eq!(failure["participant"], "evm-revm", "{failure:#}");
    }
    let has = |operation: &str, expected: Value, actual: Value| {
        let is_this = |it: &&Value| {
            (&it["operation"], &it["expected"], &it["actual"])
                == (&json!(operation), &expected, &actual)
        };
        assert!(
            failures.iter().any(|it| is_this(&it)),
            "{operation}: {expected}, {actual}: {failures:#?}"
        );
    };
    let unknown = || json!("AgentNotFound");
    has("give_open_feedback", unknown(), json!("SelfFeedback")); // the next id
    has("give_open_feedback", unknown(), json!("ok")); // zero
    let wallet = json!({"AgentWalletSet": {"agent": "desk", "wallet": null}});
    has("transfer", wallet, Value::Null); // by safeTransferFrom
    let sold = json!("Transfer of desk from alice to bob");
    has("transfer", sold, json!("")); // by transferFrom
    let view = "IdentityRegistry.transferFrom(address,address,uint256)";
    has(view, json!("a refusal"), json!("accepted"));
}

#[test]
fn faults_that_only_views_of_the_program_show_name_them_and_nothing_else() {
    let faults = PROGRAM_VIEW_FAULTS.map(|(fault, _)| fault);
    let program = build_program(&copy_with(&faults, "program-views", &program_parts()));
    let backend = "svm-litesvm";
    let built = ["--backend", backend, "--program", program.to_str().unwrap()];
    let named = PROGRAM_VIEW_FAULTS.iter().flat_map(|(_, views)| *views);
    let named: BTreeSet<_> = named.map(ToString::to_string).collect();
    assert_eq!(wrong_views(backend, &built, &VIEW_AREAS), named);

    let wrong = fuzz(backend, "--program", &program);
    assert_eq!(wrong["subject"], "view");
    let path = wrong["path"].as_str().unwrap();
    assert!(named.iter().any(|view| path.starts_with(view)), "{path}");
}

/// Five faults at once, each in operations of its own.
static FAULTY_PROGRAM: LazyLock<PathBuf> = LazyLock::new(|| {
    let faults = PROGRAM_FAULTS.map(|(fault, ..)| fault);
    build_program(&copy_with(&faults, "five", &program_parts()))
});

#[test]
fn faults_of_the_program_name_their_operations_and_no_others() {
    // R2, R4, R13, R17
    let answer = answer(&mut concord(&[
        "conform",
        "--json",
        "--backend",
        "svm-litesvm",
        "--program",
        FAULTY_PROGRAM.to_str().unwrap(),
    ]));
    assert_eq!(answer.code, 1, "{}", answer.stderr);
    let report: Value = serde_json::from_str(&answer.stdout).unwrap();
    let failures = report["failures"].as_array().unwrap();
    let is_of = |failure: &Value, operations: &[&str]| {
        operations.iter().any(|it| failure["operation"] == **it)
    };
    for (fault, operations, rule) in PROGRAM_FAULTS {
        let named = failures.iter().filter(|it| is_of(it, operations));
        let cited = |it: &&Value| it["rules"].as_array().unwrap().contains(&json!(rule));
        let sound = fault.sound;
        assert!(
            named.into_iter().any(|it| cited(&it)),
            "{sound}: {failures:#?}"
        );
    }
    for failure in failures {
        assert_eq!(failure["participant"], "svm-litesvm");
        let mut faults = PROGRAM_FAULTS.iter();
        assert!(faults.any(|it| is_of(failure, it.1)), "{failure:#}");
    }
}

#[test]
fn fuzz_finds_one_of_the_program_s_faults_and_names_it() {
    let wrong = fuzz("svm-litesvm", "--program", &FAULTY_PROGRAM);
    assert_ne!(wrong["subject"], "view", "{wrong}");
}

/// Fuzzes one faulty registry; the difference that was found.
fn fuzz(backend: &str, option: &str, built: &Path) -> Value {
    let regressions = tempfile::tempdir().unwrap();
    let found = answer(&mut concord(&[
        "fuzz",
        "--json",
        "--backend",
        backend,
        "--seed",
        "8004",
        "--steps",
        "40000",
        option,
        built.to_str().unwrap(),
        "--regressions",
        regressions.path().to_str().unwrap(),
    ]));
    assert_eq!(found.code, 1, "{}\n{}", found.stdout, found.stderr);
    let mut report: Value = serde_json::from_str(&found.stdout).unwrap();
    let mut wrong = report["divergence"]["at"]["wrong"].take();
    assert_eq!(wrong.as_array().map(Vec::len), Some(1), "{wrong}");
    assert_eq!(wrong[0]["participant"], backend);
    wrong[0].take()
}

#[test]
fn fuzz_on_anvil_finds_the_index_limit_off_by_one() {
    // R8
    let wrong = fuzz("evm-anvil", "--artifacts", &LENIENT_CONTRACTS);
    assert_eq!(
        (&wrong["expected"], &wrong["actual"]),
        (&json!("AuthIndexLimit"), &json!("ok"))
    );
}

#[test]
fn fuzz_finds_checks_that_are_out_of_order() {
    // R16, R25
    let copy = CHECKS_OUT_OF_ORDER.copy("order", &CONTRACT_PARTS);
    let wrong = fuzz("evm-revm", "--artifacts", &build_contracts(&copy));
    let is_one_of = |value: &Value, classes: [&str; 2]| classes.iter().any(|it| value == it);
    assert!(
        is_one_of(
            &wrong["expected"],
            ["DecimalsOutOfRange", "ValueOutOfRange"]
        ) && is_one_of(&wrong["actual"], ["AgentNotFound", "SelfFeedback"]),
        "{wrong}"
    );
}

#[test]
fn fuzz_finds_that_an_index_may_be_skipped() {
    // R12
    let copy = INDEX_MAY_BE_SKIPPED.copy("skipped-index", &program_parts());
    let wrong = fuzz("svm-litesvm", "--program", &build_program(&copy));
    assert_eq!(
        (&wrong["expected"], &wrong["actual"]),
        (&json!("FeedbackIndexStale"), &json!("ok"))
    );
}

#[test]
fn fuzz_finds_that_a_multisig_passes_for_a_token_account() {
    // R4
    let copy = MULTISIG_IS_BELIEVED.copy("multisig", &program_parts());
    let wrong = fuzz("svm-litesvm", "--program", &build_program(&copy));
    assert_eq!(wrong["subject"], "impostor", "{wrong}");
    let impostors = wrong["path"].as_str().unwrap();
    for words in [
        "in place of transfer_hook.source",
        "in place of transfer_hook.destination",
        "kind multisig_in_transfer",
    ] {
        assert!(impostors.contains(words), "{wrong}");
    }
    let came = &wrong["actual"];
    assert_eq!(came["outcome"]["outcome"], "ok", "{wrong}");
    // The agent has another owner on record, and its holder did not sign.
    let states = came["states"].as_str().unwrap();
    assert!(states.contains("is on record under"), "{wrong}");
}
