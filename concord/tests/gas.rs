//! Anvil and revm do the same, to the last unit of gas.
use crate::conform::report;

#[test]
fn every_committed_transaction_costs_the_same_gas_on_anvil_and_in_revm() {
    let mut transactions = 0;
    for scenario in report()["scenarios"].as_array().unwrap() {
        for step in scenario["steps"].as_array().unwrap() {
            let observed = |name: &str| &step["participants"][name]["observed"];
            let (anvil, revm) = (observed("evm-anvil"), observed("evm-revm"));
            assert_eq!(anvil, revm, "{} step {}", scenario["name"], step["step"]);
            let gas = anvil["cost"]["gas"].as_u64();
            transactions += usize::from(gas.is_some_and(|it| it >= 21_000));
        }
    }
    assert!(transactions > 100, "{transactions}");
}
