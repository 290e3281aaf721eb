//! One agent, one authorized feedback, one summary.
use crate::{
    local_chain::{BASE_SEPOLIA, LocalChain, deployer},
    program::Workplace,
};
use serde_json::json;

/// keccak256 of the first draft's `NewFeedback` event, by `cast sig-event`.
const NEW_FEEDBACK: &str = "0x54b3254e4cc01969e70376d20390cc2f6af90539d9adaa78a53ebcda17f78154";

#[test]
fn one_agent_gets_one_feedback_and_a_summary() {
    let chain = LocalChain::start(BASE_SEPOLIA);
    let workplace = Workplace::at(&chain);
    let early = workplace.run(&["smoke", "--yes"]);
    early.assert_refused(2, "the address book has no deployment on eip155:84532");
    workplace.apply(&[]).assert_done();
    let asked = workplace.run(&["smoke"]);
    asked.assert_refused(2, "standard input is no terminal to ask on");
    assert_eq!(chain.nonce(deployer().address()), 4);

    for agent in 1..=2 {
        let smoke = workplace.run(&["smoke", "--yes", "--json"]);
        let smoke = smoke.assert_done().json();
        assert_eq!(smoke["deeds"][0]["value"], agent.to_string());
        let link = smoke["deeds"][4]["link"].as_str().unwrap();
        let transaction = smoke["deeds"][4]["value"].as_str().unwrap();
        assert_eq!(
            link,
            format!("https://sepolia.basescan.org/tx/{transaction}")
        );
        let receipt = chain.ask("eth_getTransactionReceipt", json!([transaction]));
        let recorded = workplace.recorded();
        let registry = recorded["contracts"]["AuthorizedReputationRegistry"]["address"].as_str();
        assert_eq!(
            receipt["to"].as_str().unwrap(),
            registry.unwrap().to_lowercase()
        );
        assert_eq!(receipt["logs"][0]["topics"][0], NEW_FEEDBACK);
        let id = format!("0x{agent:064x}");
        assert_eq!(receipt["logs"][0]["topics"][1], id);
        // By `cast calldata 'getSummary(uint256)'`; count 1, average 87.
        let call = json!({"to": registry, "data": format!("0xaee14460{}", &id[2..])});
        let summary = chain.ask("eth_call", json!([call, "latest"]));
        assert_eq!(summary, format!("0x{:064x}{:064x}", 1, 87));
    }
}

#[test]
fn a_registry_that_says_something_else_is_exit_code_1() {
    let chain = LocalChain::start(BASE_SEPOLIA);
    let workplace = Workplace::at(&chain);
    workplace.apply(&[]).assert_done();
    let recorded = workplace.recorded();
    let registry = &recorded["contracts"]["AuthorizedReputationRegistry"]["address"];
    chain.set_code(registry.as_str().unwrap(), "0x00"); // STOP: takes everything, says nothing
    let smoke = workplace.run(&["smoke", "--yes"]);
    assert_eq!(smoke.code, Some(1), "{}", smoke.stderr);
    assert!(smoke.stdout.contains("DIFFERS"), "{}", smoke.stdout);
}

#[test]
fn refuses_to_smoke_on_what_is_not_a_listed_testnet() {
    let chain = LocalChain::start(8453);
    let workplace = Workplace::at(&chain).of_chain("eip155:8453");
    workplace.apply(&["--allow-mainnet"]).assert_done();
    let refused = workplace.run(&["smoke", "--yes"]);
    refused.assert_refused(2, "eip155:8453 is not a listed testnet");
    assert_eq!(chain.nonce(deployer().address()), 4);
    let smoke = workplace.run(&["smoke", "--yes", "--allow-mainnet"]);
    assert!(smoke.assert_done().stdout.contains("giveFeedback"));
}
