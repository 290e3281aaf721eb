//! plan, apply, apply again, verify, status.
use crate::evm::{
    interruptions::{assert_within_plan, decoded},
    local_chain::{BASE_SEPOLIA, LocalChain, deployer},
    program::{CONTRACTS, Workplace, assert_deployed},
};
use crate::shared::fault_proxy::{FaultAction, FaultProxy};
use alloy::{consensus::TxEnvelope, eips::Decodable2718, primitives::U256};
use concord_deploy::evm::create2;
use serde_json::{Value, json};
use std::fs;

/// The plan's steps: id and action.
fn actions(plan: &Value) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let steps = plan["steps"].as_array().unwrap();
    steps
        .iter()
        .map(|step| (text(&step["id"]), text(&step["action"])))
        .collect()
}

fn amount(value: &Value) -> u128 {
    value.as_str().unwrap().parse().unwrap()
}

#[test]
fn first_a_plan_then_apply_then_nothing_then_verify_and_status() {
    let chain = LocalChain::start(BASE_SEPOLIA);
    let workplace = Workplace::at(&chain);
    let plan = workplace.plan(&["--json"]).assert_done().json();
    let actions = actions(&plan);
    assert_eq!(actions[0], ("create2-proxy".into(), "exists".into()));
    assert!(actions[1..].iter().all(|(_, action)| action == "create"));

    let applied = workplace.apply(&["--json"]).assert_done().json();
    assert_eq!(applied["steps"].as_array().unwrap().len(), 5);
    for (planned, landed) in std::iter::zip(
        plan["steps"].as_array().unwrap(),
        applied["steps"].as_array().unwrap(),
    ) {
        assert_eq!(planned["address"], landed["address"]);
        if planned["action"] == "create" {
            let cost = amount(&landed["landing"]["cost"]);
            assert!(cost > 0 && cost <= amount(&planned["cost"]), "{landed}");
        }
    }
    assert_deployed(&chain, &workplace, 4);
}

#[test]
fn a_plan_sends_nothing_and_adds_up() {
    let chain = LocalChain::start(BASE_SEPOLIA);
    let proxy = FaultProxy::start(chain.port(), |_| FaultAction::Forward);
    let workplace = Workplace::at_url(&proxy.url());
    let plan = workplace.plan(&["--json"]).assert_done().json();
    assert_eq!(proxy.times("eth_sendRawTransaction"), 0);
    chain.assert_nothing_was_sent();
    assert!(!workplace.run_file().exists());
    let mut left = amount(&plan["balance"]);
    for step in plan["steps"].as_array().unwrap() {
        left -= amount(&step["cost"]);
        assert_eq!(amount(&step["balanceAfter"]), left, "{step}");
    }
    assert_eq!(amount(&plan["balance"]) - amount(&plan["total"]), left);
}

/// Every step of the text names what the JSON has.
#[test]
fn the_table_has_step_chain_address_action_gas_cost_and_balance() {
    let chain = LocalChain::start(BASE_SEPOLIA);
    let workplace = Workplace::at(&chain);
    let plan = workplace.plan(&["--json"]).assert_done().json();
    let text = workplace.plan(&[]).assert_done().stdout.clone();
    for (line, step) in text.lines().skip(1).zip(plan["steps"].as_array().unwrap()) {
        for field in ["id", "chain", "address", "action"] {
            assert!(line.contains(step[field].as_str().unwrap()), "{line}");
        }
        if let Some(gas) = step["needs"]["gas"].as_u64() {
            assert!(line.contains(&format!(" {gas} ")), "{line}");
        }
        assert!(line.ends_with(" ETH"), "{line}");
    }
}

#[test]
fn the_deployment_proxy_is_put_there_where_it_is_missing() {
    let chain = LocalChain::start_with(BASE_SEPOLIA, &["--disable-default-create2-deployer"]);
    let proxy = create2::PROXY.to_string();
    assert_eq!(chain.code(&proxy), "0x");
    let workplace = Workplace::at(&chain);
    let plan = workplace.plan(&["--json"]).assert_done().json();
    let changes = [
        ("create2-proxy-funds".into(), "change".into()),
        ("create2-proxy".into(), "create".into()),
    ];
    assert_eq!(actions(&plan)[..2], changes);
    let balance = || -> U256 {
        let balance = chain.ask("eth_getBalance", json!([deployer().address(), "latest"]));
        serde_json::from_value(balance).unwrap()
    };
    let before = balance();
    workplace.apply(&[]).assert_done();
    // The proxy's own transaction pays 100 gwei for a unit of gas. That is not a reason to follow it.
    assert!(before - balance() <= U256::from(amount(&plan["total"])));
    let run = workplace.run_record();
    for step in run["steps"].as_array().unwrap() {
        let id = step["id"].as_str().unwrap();
        for attempt in step["attempts"].as_array().unwrap() {
            if id != "create2-proxy" {
                assert_within_plan(&plan, id, &decoded(attempt));
            }
        }
    }
    assert_eq!(chain.code(&proxy), create2::PROXY_CODE.to_string());
    assert_deployed(&chain, &workplace, 5);
}

/// Neither Hardhat's node nor some providers' take a state override in `eth_estimateGas`, others ignore
/// one, or refuse it in `eth_call` too.
#[test]
fn gas_is_measured_where_the_endpoint_cannot_simulate_a_missing_proxy() {
    let chain = LocalChain::start_with(BASE_SEPOLIA, &["--disable-default-create2-deployer"]);
    let by_anvil = Workplace::at(&chain).plan(&["--json"]).assert_done().json();
    for (method, said) in [
        ("eth_call", "eth_call: trailing characters"),
        ("eth_call", "eth_call: 0x,"),
        ("eth_estimateGas", "eth_estimateGas: trailing"),
    ] {
        let proxy = FaultProxy::start(chain.port(), move |question| {
            let is_given_code = question.params.get(2).is_some();
            match question.method == method && is_given_code {
                true if said.ends_with(',') => FaultAction::Answer(json!("0x")),
                true => FaultAction::Refuse(-32_602, "trailing characters at line 1 column 23401"),
                false => FaultAction::Forward,
            }
        });
        let workplace = Workplace::at_url(&proxy.url());
        let plan = workplace.plan(&["--json"]).assert_done().json();
        assert!(plan["notes"].to_string().contains(said), "{plan}");
        let gas = |plan: &Value, step: usize| plan["steps"][step]["needs"]["gas"].as_u64().unwrap();
        for step in 2..6 {
            let (estimated, measured) = (gas(&by_anvil, step), gas(&plan, step));
            let difference = measured.abs_diff(estimated);
            assert!(difference <= estimated / 100, "{measured} {estimated}");
        }
        if method == "eth_estimateGas" {
            workplace.apply(&[]).assert_done();
            assert_deployed(&chain, &workplace.to(&chain.url()), 5);
        }
    }
}

/// The signature was chosen, the signer follows from it, and the address from the signer.
#[test]
fn the_proxy_s_transaction_makes_the_proxy() {
    let raw = create2::PROXY_TRANSACTION;
    let transaction = TxEnvelope::decode_2718_exact(&raw).unwrap();
    assert_eq!(*transaction.tx_hash(), create2::PROXY_TRANSACTION_HASH);
    let TxEnvelope::Legacy(signed) = transaction else {
        panic!("not a legacy transaction")
    };
    let hash = signed.signature_hash();
    let signer = signed.signature().recover_address_from_prehash(&hash);
    assert_eq!(signer.unwrap(), create2::PROXY_SIGNER);
    assert_eq!(create2::PROXY_SIGNER.create(0), create2::PROXY);
    assert_eq!(signed.tx().gas_limit, create2::PROXY_GAS);
    assert_eq!(signed.tx().gas_price, create2::PROXY_GAS_PRICE);
}

#[test]
fn two_chains_come_to_the_same_addresses() {
    let plan_on = |chain_id: u64| {
        let chain = LocalChain::start(chain_id);
        let workplace = Workplace::at(&chain).of_chain(&format!("eip155:{chain_id}"));
        workplace.apply(&[]).assert_done();
        workplace.run(&["verify"]).assert_done();
        let recorded = workplace.recorded();
        CONTRACTS.map(|name| {
            let record = recorded["contracts"][name].clone();
            (record["address"].clone(), record["codeHash"].clone())
        })
    };
    let here = plan_on(BASE_SEPOLIA);
    let there = plan_on(11_155_111);
    for (here, there) in here.iter().zip(&there) {
        assert_eq!(here.0, there.0);
    }
    // The chain id is an immutable of two of them: equal addresses, and yet other code.
    assert_ne!(here[0].1, there[0].1);
    assert_eq!(here[1].1, there[1].1);
}

/// On an OP-stack chain the plan counts what its oracle asks for the chain below. The oracle here
/// answers 7 wei.
#[test]
fn the_fee_of_the_chain_below_is_in_the_cost() {
    let chain = LocalChain::start(BASE_SEPOLIA);
    let workplace = Workplace::at(&chain);
    let total = |workplace: &Workplace| {
        let plan = workplace.plan(&["--json"]).assert_done().json();
        amount(&plan["total"])
    };
    let without = total(&workplace);
    let seven = "0x60075f5260205ff3"; // PUSH1 7, PUSH0, MSTORE, PUSH1 32, PUSH0, RETURN
    chain.set_code("0x420000000000000000000000000000000000000F", seven);
    assert_eq!(total(&workplace), without + 4 * 7);
}

#[test]
fn verify_and_status_see_what_changed() {
    let chain = LocalChain::start(BASE_SEPOLIA);
    let workplace = Workplace::at(&chain);
    let before = workplace.run(&["status", "--json"]);
    assert_eq!(before.code, Some(1), "{}", before.stderr);
    let drifts = before.json();
    assert!((drifts.as_array().unwrap().iter()).all(|row| row["drift"] == "not deployed"));
    workplace
        .run(&["verify"])
        .assert_refused(2, "the address book has no deployment on eip155:84532");

    workplace.apply(&[]).assert_done();
    let recorded = workplace.recorded();
    let address = recorded["contracts"]["ReputationRegistry"]["address"].clone();
    let code = chain.code(address.as_str().unwrap());
    let identity = recorded["contracts"]["IdentityRegistry"]["address"]
        .as_str()
        .unwrap();
    let word = identity[2..].to_lowercase();
    assert!(code.contains(&word));
    // The same code, wired to another identity registry.
    let rewired = code.replace(&word, &deployer().address().to_string()[2..].to_lowercase());
    chain.set_code(address.as_str().unwrap(), &rewired);

    let differing = differing(&workplace);
    let expected = ["code hash", "code", "getIdentityRegistry()"]
        .map(|fact| format!("ReputationRegistry {fact}"));
    assert_eq!(differing, expected);
    let status = workplace.run(&["status", "--json"]);
    assert_eq!(status.code, Some(1));
    let row = &status.json()[1];
    assert_eq!(row["title"], "ReputationRegistry");
    assert_eq!(row["drift"], "foreign code");
}

/// What `verify` finds to be another than it should.
fn differing(workplace: &Workplace) -> Vec<String> {
    let verified = workplace.run(&["verify", "--json"]);
    assert_eq!(verified.code, Some(1), "{}", verified.stderr);
    (verified.json().as_array().unwrap().iter())
        .filter(|check| check["expected"] != check["found"])
        .filter(|check| !check["subject"].as_str().unwrap().contains('/')) // a scenario that was played
        .map(|check| format!("{} {}", check["subject"], check["fact"]).replace('"', ""))
        .collect()
}

fn drifts(workplace: &Workplace) -> Vec<(String, String)> {
    let status = workplace.run(&["status", "--json"]);
    assert_eq!(status.code, Some(1), "{}", status.stderr);
    let rows = status.json();
    let rows = rows.as_array().unwrap().iter();
    rows.filter_map(|row| {
        let title = row["title"].as_str().unwrap().to_owned();
        Some((title, row["drift"].as_str()?.to_owned()))
    })
    .collect()
}

/// The address book with one value changed.
fn tamper(workplace: &Workplace, pointer: &str, value: &Value) {
    let mut book = workplace.address_book();
    let chain = &mut book["chains"][workplace.chain()];
    *chain.pointer_mut(pointer).unwrap() = value.clone();
    fs::write(workplace.file("addresses.json"), book.to_string()).unwrap();
}

/// R6's rule trusts what the book says of each registry.
#[test]
fn verify_and_status_see_settings_that_are_not_those_of_the_chain() {
    let chain = LocalChain::start(BASE_SEPOLIA);
    let workplace = Workplace::at(&chain);
    workplace
        .apply(&["--accepts-draft-v1", "true"])
        .assert_done();
    workplace
        .apply(&["--accepts-draft-v1", "false"])
        .assert_done(); // the one that accepts it is among the others now
    workplace.run(&["status"]).assert_done();
    workplace.run(&["verify"]).assert_done();
    let good = workplace.recorded();
    let another = json!(deployer().address().to_string());
    let drift = "other settings on record";

    for (name, setting, value) in [
        ("ReputationRegistry", "identityRegistry", &another),
        ("AuthorizedReputationRegistry", "identityRegistry", &another),
        (
            "AuthorizedReputationRegistry",
            "acceptsDraftV1",
            &json!("false"),
        ),
        ("ValidationRegistry", "identityRegistry", &json!(true)),
    ] {
        let pointer = format!("/contracts/{name}/settings/{setting}");
        tamper(&workplace, &pointer, value);
        assert_eq!(differing(&workplace), [format!("{name} settings")]);
        assert_eq!(drifts(&workplace), [(name.into(), drift.into())]);
        tamper(&workplace, "", &good);
    }

    let other = good["others"][0].clone();
    let (name, address) = (&other["contract"], &other["address"]);
    tamper(&workplace, "/others/0/settings/identityRegistry", &another);
    let fact = format!("{name} {address} getIdentityRegistry()").replace('"', "");
    assert_eq!(differing(&workplace), [fact]);
    let name = name.as_str().unwrap();
    assert_eq!(drifts(&workplace), [(name.into(), drift.into())]);
}

#[test]
fn verify_and_status_refuse_choices_that_are_none() {
    let chain = LocalChain::start(BASE_SEPOLIA);
    let workplace = Workplace::at(&chain);
    workplace.apply(&[]).assert_done();
    let good = workplace.recorded();
    for (pointer, value) in [
        ("/settings/acceptsDraftV1", json!("true")),
        ("/settings/salt", json!(true)),
        ("/settings", json!({})),
    ] {
        tamper(&workplace, pointer, &value);
        for command in ["verify", "status"] {
            let words = "chains.eip155:84532.settings have no salt and acceptsDraftV1";
            workplace.run(&[command]).assert_refused(2, words);
        }
        tamper(&workplace, "", &good);
    }
    // Nothing of ours is on record: nothing was chosen.
    tamper(&workplace, "/settings", &json!({}));
    tamper(&workplace, "/contracts", &json!({}));
    assert!((drifts(&workplace).iter()).all(|(_, drift)| drift == "not on record"));
}

/// A deployment that somebody else made, or that a fresh clone does not know, is entered.
#[test]
fn what_stands_already_is_recorded_and_not_sent() {
    let chain = LocalChain::start(BASE_SEPOLIA);
    Workplace::at(&chain).apply(&[]).assert_done();
    let fresh = Workplace::at(&chain);
    let applied = fresh.apply(&[]);
    assert!(applied.assert_done().stderr.contains("nothing was sent"));
    assert_eq!(chain.nonce(deployer().address()), 4);
    let record = &fresh.recorded()["contracts"]["IdentityRegistry"];
    assert_eq!(record["transaction"], json!(null));
    fresh.run(&["verify"]).assert_done();
}
