//! Every reason not to deploy: one clear sentence, and nothing is sent.
use crate::evm::{
    local_chain::{BASE_SEPOLIA, LocalChain, deployer},
    program::{CONTRACTS, SENDING, Workplace},
};
use crate::shared::process::{answer, clone_root, json_file};
use concord_deploy::evm::create2;
use serde_json::json;
use std::fs;

#[test]
fn refuses_another_chain_than_the_one_named() {
    let chain = LocalChain::start(1337);
    let workplace = Workplace::at(&chain);
    let words = "the RPC endpoint is chain eip155:1337, --chain says eip155:84532";
    workplace.apply(&[]).assert_refused(2, words);
    workplace.plan(&[]).assert_refused(2, words);
    workplace.run(&["status"]).assert_refused(2, words);
    chain.assert_nothing_was_sent();
}

/// The contracts' sources are nowhere else, so no option helps and none is advised.
#[test]
fn outside_a_clone_contracts_cannot_be_compared_with_their_sources() {
    let chain = LocalChain::start(BASE_SEPOLIA);
    let workplace = Workplace::at(&chain);
    for arguments in [
        &["plan"][..],
        &["apply"],
        &["resume"],
        &["verify"],
        &["status"],
    ] {
        let mut command = workplace.command(arguments);
        command.current_dir(workplace.deployments());
        let refused = answer(command.spawn().unwrap());
        let words = "no folder contracts/src here or above: contracts on EVM chains";
        refused.assert_refused(2, words);
        assert!(
            !refused.stderr.contains("--artifacts"),
            "{}",
            refused.stderr
        );
    }
    chain.assert_nothing_was_sent();
}

#[test]
fn refuses_a_balance_that_does_not_reach() {
    let chain = LocalChain::start(BASE_SEPOLIA);
    chain.fund(deployer().address(), 10u128.pow(16)); // 0.01 ETH, a third of it
    let workplace = Workplace::at(&chain);
    let applied = workplace.apply(&["--json"]);
    applied.assert_refused(2, "has 0.010000000 ETH, the deployment needs up to 0.0");
    let planned = workplace.plan(&[]);
    assert_eq!(planned.code, Some(2));
    assert!(planned.stdout.contains("short"), "{}", planned.stdout);
    chain.assert_nothing_was_sent();
    assert!(!workplace.run_file().exists());
}

#[test]
fn refuses_foreign_code_at_any_address() {
    let chain = LocalChain::start(BASE_SEPOLIA);
    let workplace = Workplace::at(&chain);
    let plan = workplace.plan(&["--json"]).assert_done().json();
    for step in plan["steps"].as_array().unwrap() {
        let address = step["address"].as_str().unwrap();
        let code = chain.code(address);
        chain.set_code(address, "0x60016002");
        let title = step["title"].as_str().unwrap();
        // By `cast keccak 0x60016002`.
        let hash = "0xb19850dcf719b03fe1369d0896d0f58edfad601bcc6f2ad0e248cf3562d4df14";
        let words = format!("concord: {title}: other code is at {address}: code hash {hash}");
        workplace.apply(&[]).assert_refused(2, &words);
        chain.set_code(address, &code);
    }
    chain.assert_nothing_was_sent();
}

/// Its signer has no key: whatever that is sent would lie there for ever.
#[test]
fn refuses_a_chain_whose_deployment_proxy_can_come_no_more() {
    let chain = LocalChain::start_with(BASE_SEPOLIA, &["--disable-default-create2-deployer"]);
    let (proxy, signer) = (create2::PROXY, create2::PROXY_SIGNER);
    chain.ask("anvil_setNonce", json!([signer, "0x1"]));
    let words = format!(
        "the deployment proxy {proxy} has no code, and the only transaction that creates it is used up: its signer {signer} has nonce 1"
    );
    let workplace = Workplace::at(&chain);
    workplace.plan(&[]).assert_refused(2, &words);
    workplace.apply(&[]).assert_refused(2, &words);
    chain.assert_nothing_was_sent();
    let funds = chain.ask("eth_getBalance", json!([signer, "latest"]));
    assert_eq!(funds, "0x0");
}

/// One byte of the code, or one immutable of it.
#[test]
fn refuses_code_that_differs_in_one_byte() {
    let chain = LocalChain::start(BASE_SEPOLIA);
    let workplace = Workplace::at(&chain);
    let accepting = ["--accepts-draft-v1", "true"];
    workplace.apply(&accepting).assert_done();
    let fresh = Workplace::at(&chain);
    for name in CONTRACTS {
        let record = workplace.recorded()["contracts"][name].clone();
        let address = record["address"].as_str().unwrap();
        let code = chain.code(address);
        let mut digits = code.clone().into_bytes();
        let last = digits.len() - 1;
        digits[last] = if digits[last] == b'0' { b'1' } else { b'0' };
        chain.set_code(address, &String::from_utf8(digits).unwrap());
        let words = format!("{name}: other code is at {address}");
        fresh.apply(&accepting).assert_refused(2, &words);
        chain.set_code(address, &code);
    }
    let flag = format!("{:064x}", 1);
    let name = "AuthorizedReputationRegistry";
    let record = workplace.recorded()["contracts"][name].clone();
    let address = record["address"].as_str().unwrap();
    let code = chain.code(address);
    assert!(code.contains(&flag), "where acceptsDraftV1 is kept");
    chain.set_code(address, &code.replace(&flag, &format!("{:064x}", 0)));
    fresh
        .apply(&accepting)
        .assert_refused(2, "accepts draft v1");
}

#[test]
fn refuses_a_chain_that_is_not_a_listed_testnet_without_the_flag() {
    let chain = LocalChain::start(8453);
    let workplace = Workplace::at(&chain).of_chain("eip155:8453");
    let words = "eip155:8453 is not a listed testnet: pass --allow-mainnet to send to it anyway";
    workplace.apply(&[]).assert_refused(2, words);
    chain.assert_nothing_was_sent();
    workplace.apply(&["--allow-mainnet"]).assert_done();
}

#[test]
fn refuses_to_send_where_nobody_can_be_asked() {
    let chain = LocalChain::start(BASE_SEPOLIA);
    let workplace = Workplace::at(&chain);
    let applied = workplace.run(&["apply", "--json"]);
    applied.assert_refused(2, "stdin is not a terminal: pass --yes");
    chain.assert_nothing_was_sent();
    assert!(!workplace.run_file().exists());
}

/// R6: the first draft's form of an authorization does not name the reputation registry.
#[test]
fn r6_refuses_draft_v1_beside_another_reputation_registry() {
    let chain = LocalChain::start(BASE_SEPOLIA);
    let workplace = Workplace::at(&chain);
    workplace.apply(&[]).assert_done();
    let first = workplace.recorded()["contracts"]["AuthorizedReputationRegistry"].clone();
    let sent = chain.nonce(deployer().address());

    let address = first["address"].as_str().unwrap();
    let words = format!(
        "would accept draft v1 authorizations while {address} uses the same identity registry"
    );
    let accepting = ["--accepts-draft-v1", "true"];
    workplace.apply(&accepting).assert_refused(2, &words);
    workplace.plan(&accepting).assert_refused(2, &words);
    assert_eq!(chain.nonce(deployer().address()), sent);
}

/// R6: with the flag off, on another identity registry, or as the same registry, there is no clash.
#[test]
fn r6_allows_what_no_signature_could_serve_twice() {
    let chain = LocalChain::start(BASE_SEPOLIA);
    let workplace = Workplace::at(&chain);
    workplace
        .apply(&["--accepts-draft-v1", "true"])
        .assert_done();
    workplace.apply(&[]).assert_done();
    workplace.plan(&["--salt", "another"]).assert_done();
    workplace
        .apply(&["--accepts-draft-v1", "false"])
        .assert_done();
    let recorded = workplace.recorded();
    let others = recorded["others"].as_array().unwrap();
    assert_eq!(others.len(), 1, "{recorded}");
    assert_eq!(others[0]["contract"], "AuthorizedReputationRegistry");
    assert_eq!(others[0]["settings"]["acceptsDraftV1"], true);
    // Now the second one is another on the same identity registry.
    workplace
        .apply(&["--accepts-draft-v1", "true"])
        .assert_refused(2, "(R6)");
}

#[test]
fn refuses_a_registry_of_somebody_else_that_was_entered_by_hand() {
    let chain = LocalChain::start(BASE_SEPOLIA);
    let workplace = Workplace::at(&chain);
    let plan = workplace.plan(&["--json"]).assert_done().json();
    let identity = plan["steps"][1]["address"].as_str().unwrap().to_lowercase();
    let other = "0x2222222222222222222222222222222222222222";
    let book = json!({
        "$schema": "addresses.schema.json",
        "chains": {(workplace.chain()): {
            "deployer": other,
            "settings": {},
            "contracts": {},
            "others": [{
                "contract": "AuthorizedReputationRegistry",
                "address": other,
                "settings": {"identityRegistry": identity},
            }],
        }},
    });
    fs::write(workplace.file("addresses.json"), book.to_string()).unwrap();
    workplace
        .apply(&["--accepts-draft-v1", "true"])
        .assert_refused(2, "(R6)");
    chain.assert_nothing_was_sent();
}

#[test]
fn refuses_a_fee_above_the_limit() {
    let chain = LocalChain::start(BASE_SEPOLIA);
    let workplace = Workplace::at(&chain);
    let refused = workplace.apply(&["--max-fee", "0.5"]);
    refused.assert_refused(2, "gwei a unit of gas, above the limit of 0.5 gwei");
    for value in ["-1", "many", "0.0000000001"] {
        let refused = workplace.plan(&[&format!("--max-fee={value}")]);
        refused.assert_refused(2, &format!("--max-fee {value}: not a number of gwei"));
    }
    chain.assert_nothing_was_sent();
}

#[test]
fn refuses_artifacts_that_are_missing_or_stale() {
    let chain = LocalChain::start(BASE_SEPOLIA);
    let workplace = Workplace::at(&chain);
    let artifacts = tempfile::tempdir().unwrap();
    let folder = artifacts.path().to_str().unwrap();
    let missing = workplace.plan(&["--artifacts", folder]);
    missing.assert_refused(3, "IdentityRegistry.json not found: run scripts/build");
    let copy = |change: &dyn Fn(&mut serde_json::Value)| {
        for name in CONTRACTS {
            let file = format!("{name}.sol/{name}.json");
            let mut artifact = json_file(&clone_root().join("contracts/out").join(&file));
            change(&mut artifact);
            fs::create_dir_all(artifacts.path().join(format!("{name}.sol"))).unwrap();
            fs::write(artifacts.path().join(file), artifact.to_string()).unwrap();
        }
    };
    copy(&|_| {});
    workplace.plan(&["--artifacts", folder]).assert_done();
    copy(&|artifact| {
        let sources = &mut artifact["metadata"]["sources"];
        sources["contracts/src/interfaces/IIdentityRegistry.sol"]["keccak256"] =
            json!(format!("0x{}", "11".repeat(32)));
    });
    let words =
        "was built from another contracts/src/interfaces/IIdentityRegistry.sol: run scripts/build";
    workplace
        .apply(&["--artifacts", folder])
        .assert_refused(2, words);
    copy(&|artifact| artifact["metadata"]["settings"]["metadata"]["bytecodeHash"] = json!("ipfs"));
    let words = "compiled with metadata in the bytecode";
    workplace
        .apply(&["--artifacts", folder])
        .assert_refused(2, words);
    copy(&|artifact| artifact["bytecode"]["object"] = json!(7));
    let words = "IdentityRegistry.json: bytecode.object: invalid type";
    workplace
        .apply(&["--artifacts", folder])
        .assert_refused(2, words);
    chain.assert_nothing_was_sent();
}

#[test]
fn refuses_files_that_are_not_what_they_should_be() {
    let chain = LocalChain::start(BASE_SEPOLIA);
    let workplace = Workplace::at(&chain);
    let book = workplace.file("addresses.json");
    fs::write(
        &book,
        r#"{"$schema": "x", "chains": {"eip155:084532": {}}}"#,
    )
    .unwrap();
    workplace
        .apply(&[])
        .assert_refused(2, "addresses.json: chains");
    fs::write(&book, "{").unwrap();
    workplace.apply(&[]).assert_refused(2, "addresses.json: ");
    fs::remove_file(&book).unwrap();
    fs::create_dir_all(workplace.file("runs")).unwrap();
    fs::write(workplace.run_file(), r#"{"version": 2}"#).unwrap();
    workplace
        .apply(&[])
        .assert_refused(2, "version 2 is not known, 1 is");
    workplace
        .resume(&[])
        .assert_refused(2, "version 2 is not known, 1 is");
    chain.assert_nothing_was_sent();
}

#[test]
fn refuses_malformed_arguments() {
    let chain = LocalChain::start(BASE_SEPOLIA);
    let workplace = Workplace::at(&chain);
    let refused = workplace.run(&["plan", "--from", "0x12"]);
    refused.assert_refused(2, "--from 0x12: not an EVM address: 0x and 40 hex digits");
    for (id, words) in [
        ("84532", "CAIP-2"),
        ("eip155:99999999999999999999", "beyond 64 bits"),
        ("cosmos:cosmoshub-2", "only eip155 and solana chains"),
    ] {
        let refused = Workplace::at(&chain).of_chain(id).plan(&[]);
        assert_eq!(refused.code, Some(2));
        assert!(refused.stderr.contains(words), "{}", refused.stderr);
    }
    for url in ["", "localhost:8545", "ftp://localhost", "/dev/null"] {
        let refused = Workplace::at_url(url).plan(&[]);
        refused.assert_refused(2, "the RPC URL is not an http or https URL");
    }
    let mut without = workplace.command(&["status"]);
    without.env_remove("CONCORD_RPC_URL");
    answer(without.spawn().unwrap()).assert_refused(2, "no RPC URL: give --rpc-url");
}

/// Two processes would take each other's nonces.
#[test]
fn refuses_a_second_run_beside_the_first() {
    let chain = LocalChain::start_with(BASE_SEPOLIA, &["--no-mining"]);
    let workplace = Workplace::at(&chain);
    let mut first = workplace
        .command(&[&["apply"], SENDING].concat())
        .spawn()
        .unwrap();
    while !workplace.run_file().exists() {
        assert_eq!(first.try_wait().unwrap(), None, "it ended by itself");
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    let second = workplace.resume(&[]);
    first.kill().unwrap();
    first.wait().unwrap();
    second.assert_refused(2, "another deployment to eip155:84532 is running");
}
