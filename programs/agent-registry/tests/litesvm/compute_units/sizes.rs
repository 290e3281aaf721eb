//! Bytes: of transactions, accounts and the program.

use super::table;
use crate::{
    localnet::{
        instructions::*,
        open_feedback::{open_client_index, open_feedback},
        payment::spent_payment,
        settings::metadata_entry,
        stage::{ANSWERED, Stage},
        token_2022::token_account,
        validation::{request_address, response_address},
    },
    transaction_size,
};
use solana_signer::Signer;
use std::collections::BTreeMap;

/// By instruction; with two compute-budget instructions and every text at its limit.
pub fn transactions() -> BTreeMap<&'static str, usize> {
    transaction_size::of_every_instruction()
}

/// Name, bytes and lamports of each kind of account, at its longest.
pub fn accounts() -> Vec<(&'static str, u64, u64)> {
    let mut stage = Stage::new();
    for call in stage.calls() {
        if ["register_agent", "give_open_feedback", "set_metadata"].contains(&call.name) {
            stage.send(&call.transaction()).unwrap();
        }
    }
    let (mint, client, new) = (stage.agent.mint, stage.client.pubkey(), stage.new_mint());
    let validator = stage.validator.pubkey();
    [
        ("registry", registry()),
        ("agent", agent_identity(&new)),
        ("the agent's mint, URI 200", new),
        (
            "its token account",
            token_account(&stage.agent.owner.pubkey(), &new),
        ),
        (
            "list of the transfer hook's accounts",
            extra_account_metas(&new),
        ),
        (
            "metadata entry, 32 + 256",
            metadata_entry(&mint, &[b'k'; 32]),
        ),
        ("client index", client_index(&mint, &client)),
        ("feedback entry", feedback_entry(&mint, &client, 1)),
        (
            "spent payment",
            spent_payment(&[1; 32], &stage.friend.pubkey()),
        ),
        ("open client index", open_client_index(&mint, &client)),
        (
            "open feedback, tags of 32",
            open_feedback(&mint, &client, 3),
        ),
        (
            "validation request",
            request_address(&mint, &validator, &ANSWERED),
        ),
        (
            "validation response",
            response_address(&mint, &validator, &ANSWERED),
        ),
    ]
    .map(|(name, at)| {
        let bytes = stage.net.account(&at).data.len();
        let lamports = stage.net.svm.minimum_balance_for_rent_exemption(bytes);
        (name, bytes as u64, lamports)
    })
    .to_vec()
}

fn deployed(file: &str) -> String {
    format!("{}/../../target/deploy/{file}", env!("CARGO_MANIFEST_DIR"))
}

/// What built the program.
pub fn toolchain() -> String {
    let said = std::fs::read_to_string(deployed("agent_registry.build.json"));
    let said = said.expect("target/deploy/agent_registry.build.json: run scripts/build-program");
    let build: serde_json::Value = serde_json::from_str(&said).unwrap();
    build["toolchain"].as_str().unwrap().to_owned()
}

/// The upgradeable loader keeps 45 bytes before the ELF, and 36 in the program's own account.
pub fn program(toolchain: &str) -> String {
    let elf = std::fs::metadata(deployed("agent_registry.so"))
        .unwrap()
        .len();
    let svm = litesvm::LiteSVM::new();
    let rent = |bytes: u64| svm.minimum_balance_for_rent_exemption(bytes as usize);
    table::program(elf, rent(45 + elf) + rent(36), toolchain)
}
