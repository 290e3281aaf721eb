//! What `plan --json` gives to a Safe, or to any other sender.
use crate::evm::{
    local_chain::{BASE_SEPOLIA, LocalChain, deployer},
    program::{CONTRACTS, Workplace},
};
use alloy::primitives::U256;
use serde_json::{Value, json};

/// Some contract's address, such as a Safe's: it has no key.
const SENDER: &str = "0x5afe5afe5afe5afe5afe5afe5afe5afe5afe5afe";

/// Sends the step as it is in the plan, from another account than the deployer.
fn send(chain: &LocalChain, step: &Value) {
    let unsigned = &step["transaction"];
    let hash = match unsigned.get("raw") {
        Some(raw) => chain.ask("eth_sendRawTransaction", json!([raw])),
        None => {
            let value: U256 = unsigned["value"].as_str().unwrap().parse().unwrap();
            let call = json!({
                "from": SENDER,
                "to": unsigned["to"],
                "value": value,
                "data": unsigned["data"],
            });
            chain.ask("eth_sendTransaction", json!([call]))
        }
    };
    // The node mines after it has answered.
    let receipts = std::iter::repeat_with(|| {
        std::thread::sleep(std::time::Duration::from_millis(50));
        chain.ask("eth_getTransactionReceipt", json!([hash]))
    });
    let receipt = receipts.take(400).find(|it| !it.is_null());
    let receipt = receipt.expect("a receipt within 20 seconds");
    assert_eq!(receipt["status"], "0x1", "{step}");
}

#[test]
fn another_sender_can_carry_out_the_plan() {
    let chain = LocalChain::start_with(BASE_SEPOLIA, &["--disable-default-create2-deployer"]);
    chain.fund(deployer().address(), 2 * 10u128.pow(18));
    chain.fund(SENDER.parse().unwrap(), 2 * 10u128.pow(18));
    chain.ask("anvil_impersonateAccount", json!([SENDER]));
    let workplace = Workplace::at(&chain);
    let plan = workplace.plan(&["--json"]).assert_done().json();
    let steps = plan["steps"].as_array().unwrap();
    assert_eq!(steps.len(), 2 + CONTRACTS.len());
    for step in steps {
        send(&chain, step);
    }
    for step in steps.iter().skip(1) {
        assert_ne!(chain.code(step["address"].as_str().unwrap()), "0x");
    }
    let applied = workplace.apply(&[]);
    assert!(applied.assert_done().stderr.contains("nothing was sent"));
    assert_eq!(chain.nonce(deployer().address()), 0);
    workplace.run(&["verify"]).assert_done();

    // Nothing is left to send, for anybody.
    let plan = workplace.plan(&["--json"]).assert_done().json();
    let steps = plan["steps"].as_array().unwrap();
    assert!(steps.iter().all(|step| step.get("transaction").is_none()));
}
