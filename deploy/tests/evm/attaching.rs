//! Authorized reputation and validation over an identity registry that stands already.
use crate::{
    fault_proxy::{FaultAction, FaultProxy},
    local_chain::{BASE_SEPOLIA, LocalChain, deployer},
    process::{answer, clone_root, json_file},
    program::{SENDING, Workplace},
};
use serde_json::{Value, json};
use std::{
    env, fs,
    io::Write,
    process::{Command, Stdio},
    thread,
    time::Duration,
};

/// One of anvil's own accounts, which it signs for.
const OTHER: &str = "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266";
/// ERC-1967's slot of a proxy's code.
const IMPLEMENTATION: &str = "0x360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc";

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

/// Both registries stand over the identity registry, and the address book knows all three.
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
    // R6: others may have a registry over it, too.
    assert_eq!(workplace.recorded()["settings"]["acceptsDraftV1"], false);
    // It stays attached, until something else is said.
    let again = workplace.apply(&[]);
    assert!(again.assert_done().stderr.contains("nothing was sent"));
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
    assert_eq!(chain.nonce(deployer().address()), 6);
    workplace.run(&["verify"]).assert_done();
    workplace.run(&["status"]).assert_done();
}

/// Where ours stands, the plan says so.
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
    let on_mainnets = "0x8004A169FB4a3325136EB29fA0ceB6D2e539a432";
    for (identity, words) in [
        ("0x8004", "neither `own` nor an EVM address"),
        (OTHER, "no contract"),
        (
            on_mainnets,
            "it is the canonical one of mainnets, and testnets have 0x8004A818",
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

/// Whoever owns the proxy has changed what is behind it.
#[test]
fn verify_and_status_see_an_upgrade_of_the_identity_registry() {
    let chain = LocalChain::start(BASE_SEPOLIA);
    let workplace = Workplace::at(&chain);
    let identity = canonical(&chain);
    workplace.apply(&["--identity", &identity]).assert_done();
    let other = create(&chain, "OwnersOnlyIdentity", None);
    let word = format!("0x{:0>64}", &other[2..]);
    chain.ask(
        "anvil_setStorageAt",
        json!([identity, IMPLEMENTATION, word]),
    );
    let verified = workplace.run(&["verify", "--json"]);
    assert_eq!(verified.code, Some(1), "{}", verified.stderr);
    let checks = verified.json();
    let differing: Vec<&Value> = (checks.as_array().unwrap().iter())
        .filter(|check| check["expected"] != check["found"])
        .map(|check| &check["fact"])
        .collect();
    assert_eq!(differing, ["implementation", "behaves"]);
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
            match question.method == "eth_sendRawTransaction" && question.sends == place {
                true => action(),
                false => FaultAction::Forward,
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
    let mut solc = Command::new(clone_root().join("scripts/toolchain/solc"))
        .arg("--standard-json")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = solc.stdin.take().unwrap();
    stdin.write_all(input.to_string().as_bytes()).unwrap();
    drop(stdin);
    let output = solc.wait_with_output().unwrap();
    let compiled: Value = serde_json::from_slice(&output.stdout).unwrap();
    let code = &compiled["contracts"]["IdentityProbe.sol"]["IdentityProbe"]["evm"]["bytecode"];
    let code = format!("0x{}\n", code["object"].as_str().expect("compiled"));
    let golden = clone_root().join("deploy/src/evm/IdentityProbe.hex");
    if env::var_os("CONCORD_BLESS").is_some() {
        fs::write(&golden, &code).unwrap();
    }
    assert_eq!(fs::read_to_string(golden).unwrap(), code);
}
