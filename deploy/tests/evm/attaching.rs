//! Authorized reputation and validation over an identity registry that is deployed already.
use crate::evm::{
    explorer::compile,
    local_chain::{BASE_SEPOLIA, LocalChain, deployer},
    program::{SENDING, Workplace},
};
use crate::shared::fault_proxy::{FaultAction, FaultProxy};
use crate::shared::process::{answer, clone_root, json_file};
use serde_json::{Value, json};
use std::{env, fs, thread, time::Duration};

/// One of anvil's own accounts, which it signs for.
const OTHER: &str = "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266";
/// ERC-1967's slot of a proxy's code.
const IMPLEMENTATION: &str = "0x360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc";

/// The canonical identity registries of Base and of Base Sepolia.
const ON_MAINNETS: &str = "0x8004A169FB4a3325136EB29fA0ceB6D2e539a432";
const ON_TESTNETS: &str = "0x8004A818BFB912233c491871b3d84c89A494BD9e";

/// Creates a contract of `contracts/test/fixtures/CanonicalIdentity.sol`.
fn create(chain: &LocalChain, contract: &str, argument: Option<&str>) -> String {
    let artifact = format!("contracts/out/CanonicalIdentity.sol/{contract}.json");
    let artifact = json_file(&clone_root().join(artifact));
    let code = artifact["bytecode"]["object"].as_str().unwrap();
    let argument = argument.map_or(String::new(), |it| format!("{:0>64}", &it[2..]));
    let call = json!([{ "from": OTHER, "data": format!("{code}{argument}") }]);
    let hash = chain.ask("eth_sendTransaction", call);
    loop {
        let receipt = chain.ask("eth_getTransactionReceipt", json!([hash]));
        if let Some(address) = receipt["contractAddress"].as_str() {
            return address.to_owned();
        }
        thread::sleep(Duration::from_millis(20)); // it is not mined yet
    }
}

/// As the canonical one: behind a proxy.
fn canonical(chain: &LocalChain) -> String {
    let implementation = create(chain, "CanonicalIdentity", None);
    create(chain, "CanonicalProxy", Some(&implementation))
}

fn same(one: &Value, other: &str) -> bool {
    one.as_str().unwrap().eq_ignore_ascii_case(other)
}

/// Both registries are deployed over the identity registry, and the address book knows all three.
fn assert_attached(chain: &LocalChain, workplace: &Workplace, identity: &str) {
    let book = workplace.recorded();
    let contracts = book["contracts"].as_object().unwrap();
    let names: Vec<&String> = contracts.keys().collect();
    let expected = [
        "AuthorizedReputationRegistry",
        "IdentityRegistry",
        "ValidationRegistry",
    ];
    assert_eq!(names, expected);
    assert!(same(&contracts["IdentityRegistry"]["address"], identity));
    assert_eq!(contracts["IdentityRegistry"]["settings"]["attached"], true);
    assert!(same(&book["settings"]["identity"], identity));
    for name in ["AuthorizedReputationRegistry", "ValidationRegistry"] {
        let selector = "0xbc4d861b"; // cast sig "getIdentityRegistry()"
        let call = json!([{ "to": contracts[name]["address"], "data": selector }, "latest"]);
        let answer = chain.ask("eth_call", call);
        assert!(
            answer
                .as_str()
                .unwrap()
                .ends_with(&identity[2..].to_lowercase()),
            "{name}"
        );
    }
    for command in ["verify", "status"] {
        workplace.run(&[command]).assert_done();
    }
}

#[test]
fn two_registries_are_deployed_over_one_of_others() {
    let chain = LocalChain::start(BASE_SEPOLIA);
    let workplace = Workplace::at(&chain);
    let identity = canonical(&chain);
    let plan = workplace.plan(&["--identity", &identity]);
    let words = "of others, version 2.0.0, a proxy of 0x";
    assert!(plan.assert_done().stdout.contains(words), "{}", plan.stdout);
    let plan = workplace
        .plan(&["--identity", &identity, "--json"])
        .assert_done()
        .json();
    let steps: Vec<(&str, &str)> = (plan["steps"].as_array().unwrap().iter())
        .map(|step| {
            (
                step["id"].as_str().unwrap(),
                step["action"].as_str().unwrap(),
            )
        })
        .collect();
    let expected = [
        ("create2-proxy", "exists"),
        ("identity-registry", "exists"),
        ("authorized-reputation-registry", "create"),
        ("validation-registry", "create"),
    ];
    assert_eq!(steps, expected);
    chain.assert_nothing_was_sent();

    workplace.apply(&["--identity", &identity]).assert_done();
    assert_eq!(chain.nonce(deployer().address()), 2);
    assert_attached(&chain, &workplace, &identity);
    // R6: the default.
    assert_eq!(workplace.recorded()["settings"]["acceptsDraftV1"], false);
    // It stays attached, until something else is said.
    let again = workplace.apply(&[]);
    assert!(again.assert_done().stderr.contains("nothing was sent"));
    let attached = workplace.recorded()["contracts"]["ValidationRegistry"]["address"].clone();
    let own = workplace.apply(&["--identity", "own"]);
    let words = format!(
        "over identity registry {}",
        plan["steps"][1]["address"].as_str().unwrap()
    );
    assert!(own.assert_done().stdout.contains(&words), "{}", own.stdout);
    assert_eq!(
        workplace.recorded()["contracts"].as_object().unwrap().len(),
        4
    );
    let others = workplace.recorded()["others"].clone();
    let mut others = others.as_array().unwrap().iter();
    assert!(others.any(|it| it["address"] == attached));
    assert_eq!(chain.nonce(deployer().address()), 6);
    workplace.run(&["verify"]).assert_done();
    workplace.run(&["status"]).assert_done();
}

/// If ours is deployed, the plan says so.
#[test]
fn our_own_identity_registry_is_recognized() {
    let chain = LocalChain::start(BASE_SEPOLIA);
    let workplace = Workplace::at(&chain);
    workplace.apply(&[]).assert_done();
    let identity = workplace.recorded()["contracts"]["IdentityRegistry"]["address"].clone();
    let identity = identity.as_str().unwrap();
    let elsewhere = Workplace::at(&chain);
    let applied = elsewhere.apply(&["--identity", identity, "--salt", "attached"]);
    let words = "of the local build, version 2.0.0+concord.2";
    assert!(
        applied.assert_done().stdout.contains(words),
        "{}",
        applied.stdout
    );
    assert_attached(&chain, &elsewhere, identity);
}

/// Puts a registry behind its proxy at an address, as whoever deploys with the same factory can.
fn put_at(chain: &LocalChain, address: &str) {
    let proxy = canonical(chain);
    let code = chain.ask("eth_getCode", json!([proxy, "latest"]));
    chain.ask("anvil_setCode", json!([address, code]));
    let behind = json!([proxy, IMPLEMENTATION, "latest"]);
    let behind = chain.ask("eth_getStorageAt", behind);
    let behind = json!([address, IMPLEMENTATION, behind]);
    chain.ask("anvil_setStorageAt", behind);
}

/// On chain 38833 a proxy at the address of mainnets was never upgraded, as reported.
#[test]
fn r28_a_registry_is_the_canonical_one_on_its_networks_only() {
    let others = "of others, at the address of the canonical one of other networks, version 2.0.0";
    for (chain, identity, words) in [
        (
            BASE_SEPOLIA,
            ON_TESTNETS,
            "the canonical one, version 2.0.0",
        ),
        (BASE_SEPOLIA, ON_MAINNETS, others),
        (38_833, ON_MAINNETS, others),
        (38_833, ON_TESTNETS, others),
    ] {
        let id = format!("eip155:{chain}");
        let chain = LocalChain::start(chain);
        put_at(&chain, identity);
        let workplace = Workplace::at(&chain).of_chain(&id);
        let plan = workplace.plan(&["--identity", identity]);
        let note = format!("{identity}: {words}");
        assert!(plan.assert_done().stdout.contains(&note), "{}", plan.stdout);
    }
}

#[test]
fn what_is_no_identity_registry_is_refused() {
    let chain = LocalChain::start(BASE_SEPOLIA);
    let workplace = Workplace::at(&chain);
    let owners_only = create(&chain, "OwnersOnlyIdentity", None);
    let empty = create(&chain, "CanonicalProxy", Some(&owners_only));
    // A proxy whose code is gone, and a contract that is something else.
    let word = format!("0x{:064x}", 7);
    chain.ask("anvil_setStorageAt", json!([empty, IMPLEMENTATION, word]));
    let create2 = "0x4e59b44847b379578588920cA78FbF26c0B4956C";
    for (identity, words) in [
        ("0x8004", "neither `own` nor an EVM address"),
        (OTHER, "no contract"),
        (
            ON_MAINNETS,
            "it is the canonical one of other networks, and this one has 0x8004A818",
        ),
        (create2, "supportsInterface of ERC-165 is not true"),
        (&*empty, "supportsInterface of ERC-165 is not true"),
        (
            &*owners_only,
            "isAuthorizedOrOwner of the approved address is not true",
        ),
    ] {
        let refused = workplace.apply(&["--identity", identity]);
        refused.assert_refused(2, words);
        let option = format!("--identity {identity}").to_lowercase();
        let said = refused.stderr.to_lowercase();
        assert!(said.contains(&option), "{said}");
    }
    chain.assert_nothing_was_sent();
    let svm = "solana:localnet";
    Workplace::at(&chain)
        .of_chain(svm)
        .apply(&["--identity", OTHER])
        .assert_refused(2, "--identity is for EVM chains, not for solana:localnet");
}

/// Subject and fact of each line of `verify` that differs, or of each that agrees.
fn lines(workplace: &Workplace, differ: bool) -> Vec<(String, String)> {
    let verified = workplace.run(&["verify", "--json"]);
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let checks = verified.json();
    let checks = checks.as_array().unwrap();
    let differing = checks.iter().filter(|it| it["expected"] != it["found"]);
    let code = i32::from(differing.count() > 0);
    assert_eq!(verified.code, Some(code), "{}", verified.stderr);
    let chosen = checks
        .iter()
        .filter(|it| (it["expected"] != it["found"]) == differ)
        .filter(|it| !text(&it["subject"]).contains('/')); // a scenario that was played
    let line = |it: &Value| (text(&it["subject"]), text(&it["fact"]));
    chosen.map(line).collect()
}

fn facts(contract: &str, facts: &[&str]) -> Vec<(String, String)> {
    let line = |fact: &&str| (contract.to_owned(), (*fact).to_owned());
    facts.iter().map(line).collect()
}

/// Of the identity registry only what it does and whether it is still the same; of the two others
/// everything.
#[test]
fn verify_compares_what_is_attached_with_the_book_and_the_rest_with_the_build() {
    let chain = LocalChain::start(BASE_SEPOLIA);
    let workplace = Workplace::at(&chain);
    let identity = canonical(&chain);
    workplace.apply(&["--identity", &identity]).assert_done();
    let identity_registry = ["address", "code hash", "implementation", "behaves"];
    let both = ["address", "settings", "code hash", "code", "getVersion()"];
    let bound = [&both[..], &["getIdentityRegistry()"]].concat();
    let authorized = ["acceptsDraftV1()", "getSummary(uint256)"];
    let expected = [
        facts("IdentityRegistry", &identity_registry),
        facts(
            "AuthorizedReputationRegistry",
            &[&bound[..], &authorized].concat(),
        ),
        facts(
            "ValidationRegistry",
            &[&bound[..], &["getValidationCount(uint256)"]].concat(),
        ),
    ];
    assert_eq!(lines(&workplace, false), expected.concat());
    assert_eq!(lines(&workplace, true), []);
}

/// What is on chain is attached to another identity registry than the book says.
#[test]
fn verify_refutes_registries_that_are_attached_elsewhere() {
    let chain = LocalChain::start(BASE_SEPOLIA);
    let (here, elsewhere) = (Workplace::at(&chain), Workplace::at(&chain));
    here.apply(&["--identity", &canonical(&chain)])
        .assert_done();
    (elsewhere.apply(&["--identity", &canonical(&chain)])).assert_done();
    for name in ["AuthorizedReputationRegistry", "ValidationRegistry"] {
        let address = |of: &Workplace| of.recorded()["contracts"][name]["address"].clone();
        let code = chain.code(address(&elsewhere).as_str().unwrap());
        chain.set_code(address(&here).as_str().unwrap(), &code);
    }
    let differing = ["code hash", "code", "getIdentityRegistry()"];
    let expected = [
        facts("AuthorizedReputationRegistry", &differing),
        facts("ValidationRegistry", &differing),
    ];
    assert_eq!(lines(&here, true), expected.concat());
    assert_eq!(lines(&elsewhere, true), []);
}

/// The identity registry is gone, or the book was edited.
#[test]
fn verify_refutes_a_lost_identity_registry_and_an_edited_book() {
    let chain = LocalChain::start(BASE_SEPOLIA);
    let workplace = Workplace::at(&chain);
    let identity = canonical(&chain);
    workplace.apply(&["--identity", &identity]).assert_done();
    let book = workplace.address_book();
    let code = chain.code(&identity);
    chain.set_code(&identity, "0x");
    let gone = facts("IdentityRegistry", &["code hash", "behaves"]);
    assert_eq!(lines(&workplace, true), gone);
    chain.set_code(&identity, &code);
    assert_eq!(lines(&workplace, true), []);

    let edited = |edit: &dyn Fn(&mut Value)| {
        let mut book = book.clone();
        edit(&mut book["chains"]["eip155:84532"]);
        fs::write(workplace.file("addresses.json"), book.to_string()).unwrap();
    };
    edited(&|it| it["contracts"]["IdentityRegistry"]["address"] = json!(OTHER));
    let moved = facts("IdentityRegistry", &["address"]);
    assert_eq!(lines(&workplace, true), moved);
    edited(&|it| {
        drop(
            it["contracts"]
                .as_object_mut()
                .unwrap()
                .remove("IdentityRegistry"),
        )
    });
    let missing = ["address", "code hash", "implementation"];
    assert_eq!(lines(&workplace, true), facts("IdentityRegistry", &missing));
    edited(&|it| it["settings"]["identity"] = json!("0x8004"));
    let refused = workplace.run(&["verify"]);
    refused.assert_refused(2, "settings");
}

/// Whoever owns the proxy has changed what is behind it.
#[test]
fn verify_and_status_see_an_upgrade_of_the_identity_registry() {
    let chain = LocalChain::start(BASE_SEPOLIA);
    let workplace = Workplace::at(&chain);
    let identity = canonical(&chain);
    workplace.apply(&["--identity", &identity]).assert_done();
    let upgrade_to = |code: String| {
        let word = format!("0x{:0>64}", &code[2..]);
        let slot = json!([identity, IMPLEMENTATION, word]);
        chain.ask("anvil_setStorageAt", slot);
    };
    // One that behaves can be accepted: the book then has it.
    upgrade_to(create(&chain, "CanonicalIdentity", None));
    let upgraded = facts("IdentityRegistry", &["implementation"]);
    assert_eq!(lines(&workplace, true), upgraded);
    let entered = workplace.apply(&[]);
    assert!(entered.assert_done().stderr.contains("nothing was sent"));
    assert_eq!(lines(&workplace, true), []);

    upgrade_to(create(&chain, "OwnersOnlyIdentity", None));
    let words = "isAuthorizedOrOwner of the approved address is not true";
    workplace.apply(&[]).assert_refused(2, words);
    let upgraded = facts("IdentityRegistry", &["implementation", "behaves"]);
    assert_eq!(lines(&workplace, true), upgraded);
    let status = workplace.run(&["status"]);
    assert_eq!(status.code, Some(1));
    let words = "other code than on record";
    assert!(status.stdout.contains(words), "{}", status.stdout);
}

/// The run knows what it is attached to.
#[test]
fn killed_around_a_send_it_goes_on() {
    let boundaries: [(usize, fn() -> FaultAction); 2] = [
        (1, || FaultAction::Kill),
        (2, || FaultAction::ForwardThenKill),
    ];
    for (place, action) in boundaries {
        let chain = LocalChain::start(BASE_SEPOLIA);
        let identity = canonical(&chain);
        let proxy = FaultProxy::start(chain.port(), move |question| {
            if question.method == "eth_sendRawTransaction" && question.sends == place {
                action()
            } else {
                FaultAction::Forward
            }
        });
        let workplace = Workplace::at_url(&proxy.url());
        let apply = [&["apply", "--identity", &identity], SENDING].concat();
        let child = workplace.command(&apply).spawn().unwrap();
        proxy.set_victim(child.id());
        assert_eq!(answer(child).code, None);
        let workplace = workplace.to(&chain.url());
        workplace.resume(&[]).assert_done();
        assert_eq!(chain.nonce(deployer().address()), 2);
        assert_attached(&chain, &workplace, &identity);
    }
}

/// Golden: the probe's creation code. `CONCORD_BLESS=1` writes it anew.
#[test]
fn the_probe_is_compiled_from_its_source() {
    let source = fs::read_to_string(clone_root().join("deploy/src/evm/IdentityProbe.sol")).unwrap();
    let input = json!({
        "language": "Solidity",
        "sources": { "IdentityProbe.sol": { "content": source } },
        "settings": {
            "evmVersion": "cancun",
            "viaIR": true,
            "optimizer": { "enabled": true, "runs": 1 },
            "metadata": { "bytecodeHash": "none", "appendCBOR": false },
            "outputSelection": { "*": { "*": ["evm.bytecode.object"] } },
        },
    });
    let compiled = compile(&input);
    let code = &compiled["contracts"]["IdentityProbe.sol"]["IdentityProbe"]["evm"]["bytecode"];
    let code = format!("0x{}\n", code["object"].as_str().expect("compiled"));
    let golden = clone_root().join("deploy/src/evm/IdentityProbe.hex");
    if env::var_os("CONCORD_BLESS").is_some() {
        fs::write(&golden, &code).unwrap();
    }
    assert_eq!(fs::read_to_string(golden).unwrap(), code);
}
