//! Payment proofs, validation requests and wallet consents.

use super::Answer;
use super::arguments::{Arguments, Failure, hex_json, hex_text, wrong_namespace};
use concord_canonical::caip::{self, TaskRef};
use concord_canonical::payment::PaymentProof;
use concord_canonical::validation::ValidationRequest;
use concord_canonical::wallet::AgentWalletSet;
use serde_json::json;

pub(super) fn payment_proof(arguments: &Arguments<'_>) -> Answer {
    arguments.expect(
        &[
            "agent_id",
            "payer",
            "payee",
            "token",
            "amount",
            "task_ref",
            "expiry",
            "chain_id",
            "program_id",
            "facilitator",
        ],
        &[],
    )?;
    let proof = PaymentProof {
        agent_mint: arguments.solana_key("agent_id")?,
        payer: arguments.solana_key("payer")?,
        payee: arguments.solana_key("payee")?,
        token: arguments.solana_key("token")?,
        amount: arguments.uint64("amount")?,
        task_ref_hash: TaskRef::parse(arguments.text("task_ref")?)?
            .dedupe_key()
            .hash(),
        expiry: arguments.uint64("expiry")?,
        chain: arguments.solana_chain("chain_id")?,
        program_id: arguments.solana_key("program_id")?,
        facilitator: arguments.solana_key("facilitator")?,
    };
    Ok(json!({"message": hex_text(&proof.message())}))
}

pub(super) fn validation_request_hash(arguments: &Arguments<'_>) -> Answer {
    arguments.expect(
        &[
            "chain_id",
            "registry",
            "agent_id",
            "validator",
            "payload_hash",
            "nonce",
        ],
        &[],
    )?;
    let request = match arguments.chain_id("chain_id")?.namespace() {
        caip::EIP155 => evm_request(arguments)?,
        caip::SOLANA => svm_request(arguments)?,
        other => return Err(wrong_namespace(other, "\"eip155\" or \"solana\"")),
    };
    Ok(hex_json(&request.hash()))
}

fn evm_request(arguments: &Arguments<'_>) -> Result<ValidationRequest, Failure> {
    Ok(ValidationRequest::evm(
        arguments.chain_id("chain_id")?.hash(),
        &arguments.evm_address("registry")?,
        arguments.uint256("agent_id")?,
        &arguments.evm_address("validator")?,
        arguments.word("payload_hash")?,
        arguments.uint256("nonce")?,
    ))
}

fn svm_request(arguments: &Arguments<'_>) -> Result<ValidationRequest, Failure> {
    Ok(ValidationRequest {
        chain: arguments.chain_id("chain_id")?.hash(),
        registry: arguments.solana_key("registry")?,
        agent: arguments.solana_key("agent_id")?,
        validator: arguments.solana_key("validator")?,
        payload_hash: arguments.word("payload_hash")?,
        nonce: arguments.uint256("nonce")?,
    })
}

pub(super) fn agent_wallet_set(arguments: &Arguments<'_>) -> Answer {
    arguments.expect(
        &[
            "agent_id",
            "new_wallet",
            "owner",
            "deadline",
            "chain_id",
            "verifying_contract",
        ],
        &[],
    )?;
    let consent = AgentWalletSet {
        agent_id: arguments.uint256("agent_id")?,
        new_wallet: arguments.evm_address("new_wallet")?,
        owner: arguments.evm_address("owner")?,
        deadline: arguments.uint256("deadline")?,
    };
    let chain_id = arguments.uint256("chain_id")?;
    let contract = arguments.evm_address("verifying_contract")?;
    Ok(json!({"digest": hex_text(&consent.digest(&chain_id, &contract))}))
}
