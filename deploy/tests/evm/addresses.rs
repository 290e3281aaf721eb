//! Golden: salts, hashes of the creation code, addresses. The committed values are viem's;
//! `CONCORD_BLESS=1 tests/clients/agent0/run create2.test.mjs` writes them anew.
use crate::evm::program::CONTRACTS;
use crate::shared::process::{clone_root, json_file};
use concord_deploy::evm::contracts::{Choices, registries};
use serde_json::json;

#[test]
fn salts_code_hashes_and_addresses_are_viem_s() {
    let golden = json_file(&clone_root().join("deploy/tests/evm/addresses.json"));
    for text in ["concord", "another"] {
        let choices = Choices {
            salt: text.to_owned(),
            accepts_draft_v1: false,
            identity: None,
        };
        let contracts = registries(&clone_root().join("contracts/out"), &choices).unwrap();
        assert_eq!(
            contracts
                .iter()
                .map(|contract| contract.name)
                .collect::<Vec<_>>(),
            CONTRACTS
        );
        for contract in contracts {
            let ours = json!({
                "salt": contract.salt,
                "initcodeHash": contract.creation_code_hash(),
                "address": contract.address.to_string(),
            });
            assert_eq!(ours, golden[text][contract.name], "{}", contract.name);
        }
    }
}

#[test]
fn the_flag_moves_the_authorized_registry_and_no_other() {
    let of = |accepts_draft_v1| {
        let choices = Choices {
            accepts_draft_v1,
            ..Choices::default()
        };
        registries(&clone_root().join("contracts/out"), &choices)
            .unwrap()
            .into_iter()
            .map(|contract| contract.address)
            .collect::<Vec<_>>()
    };
    let (with, without) = (of(true), of(false));
    let moved = std::iter::zip(with, without).map(|(one, other)| one != other);
    assert_eq!(moved.collect::<Vec<_>>(), [false, false, true, false]);
}
