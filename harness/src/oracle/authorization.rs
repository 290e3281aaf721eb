//! Feedback authorization in every named form, and the EVM blob.

use super::Answer;
use super::arguments::{Arguments, Failure, hex_json, hex_text};
use concord_canonical::auth::{self, EvmFeedbackAuth, SvmFeedbackAuth};
use concord_canonical::word::Decimal;
use serde_json::json;

const SCHEMES: &str = "eip712, eip712-fs, eip191, packed, svm or x84";

/// The seven fields of R5, after the scheme.
const FIELDS: &[&str] = &[
    "scheme",
    "agent_id",
    "client_address",
    "index_limit",
    "expiry",
    "chain_id",
    "identity_registry",
    "signer_address",
];

pub(super) fn feedback_auth(arguments: &Arguments<'_>) -> Answer {
    match arguments.text("scheme")? {
        "eip712" => typed_data(arguments, EvmFeedbackAuth::eip712_digest),
        "eip712-fs" => typed_data(arguments, EvmFeedbackAuth::eip712_fs_digest),
        "eip191" => untyped(arguments, EvmFeedbackAuth::eip191_digest),
        "packed" => untyped(arguments, EvmFeedbackAuth::packed_hash),
        "svm" => {
            arguments.expect(FIELDS, &[])?;
            let message = svm_fields(arguments)?.message();
            Ok(json!({"message": hex_text(&message)}))
        }
        "x84" => {
            arguments.expect(&["scheme", "agent_id", "client_address"], &[])?;
            let reviewer = arguments.solana_key("client_address")?;
            let mint = arguments.solana_key("agent_id")?;
            Ok(json!({"message": hex_text(&auth::x84_message(&reviewer, &mint))}))
        }
        _ => Err(unknown_scheme(SCHEMES)),
    }
}

fn typed_data(
    arguments: &Arguments<'_>,
    digest: fn(&EvmFeedbackAuth, &[u8; 20]) -> [u8; 32],
) -> Answer {
    arguments.expect(&[FIELDS, &["verifying_contract"]].concat(), &[])?;
    let contract = arguments.evm_address("verifying_contract")?;
    let digest = digest(&evm_fields(arguments)?, &contract);
    Ok(json!({"digest": hex_text(&digest)}))
}

fn untyped(arguments: &Arguments<'_>, digest: fn(&EvmFeedbackAuth) -> [u8; 32]) -> Answer {
    arguments.expect(FIELDS, &[])?;
    let digest = digest(&evm_fields(arguments)?);
    Ok(json!({"digest": hex_text(&digest)}))
}

fn unknown_scheme(allowed: &str) -> Failure {
    Failure::bad_request(format!("scheme must be {allowed}"))
}

fn evm_fields(arguments: &Arguments<'_>) -> Result<EvmFeedbackAuth, Failure> {
    Ok(EvmFeedbackAuth {
        agent_id: arguments.uint256("agent_id")?,
        client_address: arguments.evm_address("client_address")?,
        index_limit: arguments.uint64("index_limit")?,
        expiry: arguments.uint256("expiry")?,
        chain_id: arguments.uint256("chain_id")?,
        identity_registry: arguments.evm_address("identity_registry")?,
        signer_address: arguments.evm_address("signer_address")?,
    })
}

fn svm_fields(arguments: &Arguments<'_>) -> Result<SvmFeedbackAuth, Failure> {
    Ok(SvmFeedbackAuth {
        agent_mint: arguments.solana_key("agent_id")?,
        client: arguments.solana_key("client_address")?,
        index_limit: arguments.uint64("index_limit")?,
        expiry: arguments.uint64("expiry")?, // R9: a u64 on Solana
        chain: arguments.solana_chain("chain_id")?,
        program_id: arguments.solana_key("identity_registry")?,
        signer: arguments.solana_key("signer_address")?,
    })
}

/// Scheme and verifying contract do not enter the blob; they may come along, because a request
/// for a digest has them.
pub(super) fn feedback_auth_blob(arguments: &Arguments<'_>) -> Answer {
    let required = [&FIELDS[1..], &["signature"]].concat();
    arguments.expect(&required, &["scheme", "verifying_contract"])?;
    if !["eip712", "eip191"].contains(&arguments.text_or("scheme", "eip712")?) {
        return Err(unknown_scheme("eip712 or eip191"));
    }
    if arguments.has("verifying_contract") {
        arguments.evm_address("verifying_contract")?;
    }
    let fields = evm_fields(arguments)?;
    let signature = arguments.bytes("signature")?;
    let mut blob = vec![0; auth::WORDS_LENGTH + signature.len()];
    fields.encode_blob(&signature, &mut blob)?;
    Ok(hex_json(&blob))
}

pub(super) fn feedback_auth_blob_decode(arguments: &Arguments<'_>) -> Answer {
    arguments.expect(&["blob"], &[])?;
    let blob = arguments.bytes("blob")?;
    let (fields, signature) = auth::decode_blob(&blob)?;
    Ok(json!({
        "agent_id": Decimal(fields.agent_id).to_string(),
        "client_address": hex_text(&fields.client_address),
        "index_limit": fields.index_limit.to_string(),
        "expiry": Decimal(fields.expiry).to_string(),
        "chain_id": Decimal(fields.chain_id).to_string(),
        "identity_registry": hex_text(&fields.identity_registry),
        "signer_address": hex_text(&fields.signer_address),
        "signature": hex_text(signature),
    }))
}
