//! FeedbackAuth in all its forms, and the other messages that registries check.

use concord_canonical::{
    Error, auth,
    auth::{EvmFeedbackAuth, SvmFeedbackAuth},
    caip::{ChainId, TaskRef},
    payment::PaymentProof,
    validation::ValidationRequest,
    wallet::AgentWalletSet,
    word::Decimal,
};
use serde_json::{Value, json};

use crate::vectors::{arguments::Arguments, functions::hex};

pub(crate) const AUTH: &[&str] = &[
    "scheme",
    "agent_id",
    "client_address",
    "index_limit",
    "expiry",
    "chain_id",
    "identity_registry",
    "signer_address",
    "verifying_contract",
];
pub(crate) const AUTH_BLOB: &[&str] = &[
    "agent_id",
    "client_address",
    "index_limit",
    "expiry",
    "chain_id",
    "identity_registry",
    "signer_address",
    "signature",
];
pub(crate) const DOMAIN: &[&str] = &["name", "version", "chain_id", "verifying_contract"];
pub(crate) const PAYMENT: &[&str] = &[
    "agent_id",
    "payer",
    "payee",
    "token",
    "amount",
    "task_ref",
    "paid_at",
    "expiry",
    "chain_id",
    "program_id",
    "facilitator",
];
pub(crate) const VALIDATION: &[&str] = &[
    "chain_id",
    "registry",
    "agent_id",
    "validator",
    "payload_hash",
    "nonce",
];
pub(crate) const WALLET: &[&str] = &[
    "agent_id",
    "new_wallet",
    "owner",
    "deadline",
    "chain_id",
    "verifying_contract",
];

fn evm_auth(a: &Arguments<'_>) -> Result<EvmFeedbackAuth, Error> {
    Ok(EvmFeedbackAuth {
        agent_id: a.uint256("agent_id")?,
        client_address: a.evm_address("client_address")?,
        index_limit: a.u64("index_limit"),
        expiry: a.uint256("expiry")?,
        chain_id: a.uint256("chain_id")?,
        identity_registry: a.evm_address("identity_registry")?,
        signer_address: a.evm_address("signer_address")?,
    })
}

fn svm_auth(a: &Arguments<'_>) -> Result<SvmFeedbackAuth, Error> {
    Ok(SvmFeedbackAuth {
        agent_mint: a.solana_key("agent_id")?,
        client: a.solana_key("client_address")?,
        index_limit: a.u64("index_limit"),
        expiry: a.u64("expiry"),
        chain: ChainId::parse(a.text("chain_id"))?.hash(),
        program_id: a.solana_key("identity_registry")?,
        signer: a.solana_key("signer_address")?,
    })
}

pub(crate) fn feedback_auth(a: &Arguments<'_>) -> Result<Value, Error> {
    let digest = |word| Ok(json!({ "digest": hex(word) }));
    match a.text("scheme") {
        "svm" => Ok(json!({ "message": hex(svm_auth(a)?.message()) })),
        "x84" => {
            let (reviewer, mint) = (a.solana_key("client_address")?, a.solana_key("agent_id")?);
            Ok(json!({ "message": hex(auth::x84_message(&reviewer, &mint)) }))
        }
        scheme => {
            let auth = evm_auth(a)?;
            let contract = || a.evm_address("verifying_contract");
            match scheme {
                "eip712" => digest(auth.eip712_digest(&contract()?)),
                "eip712-fs" => digest(auth.eip712_fs_digest(&contract()?)),
                "eip191" => digest(auth.eip191_digest()),
                "packed" => digest(auth.packed_hash()),
                other => panic!("unknown scheme {other}"),
            }
        }
    }
}

pub(crate) fn feedback_auth_blob(a: &Arguments<'_>) -> Result<Value, Error> {
    let (auth, signature) = (evm_auth(a)?, a.bytes("signature"));
    let mut out = vec![0; auth::WORDS_LENGTH + signature.len()];
    let blob = hex(auth.encode_blob(&signature, &mut out)?);
    if let Ok(signature) = signature.try_into() {
        assert_eq!(hex(auth.blob(&signature)), blob);
    }
    Ok(blob)
}

pub(crate) fn feedback_auth_blob_decode(a: &Arguments<'_>) -> Result<Value, Error> {
    let blob = a.bytes("blob");
    let (auth, signature) = auth::decode_blob(&blob)?;
    Ok(decoded(&auth, signature))
}

pub(crate) fn feedback_auth_eoa_blob_decode(a: &Arguments<'_>) -> Result<Value, Error> {
    let (auth, signature) = auth::decode_eoa_blob(&a.bytes("blob"))?;
    Ok(decoded(&auth, &signature))
}

fn decoded(auth: &EvmFeedbackAuth, signature: &[u8]) -> Value {
    json!({
        "agent_id": Decimal(auth.agent_id).to_string(),
        "client_address": hex(auth.client_address),
        "index_limit": auth.index_limit.to_string(),
        "expiry": Decimal(auth.expiry).to_string(),
        "chain_id": Decimal(auth.chain_id).to_string(),
        "identity_registry": hex(auth.identity_registry),
        "signer_address": hex(auth.signer_address),
        "signature": hex(signature),
    })
}

pub(crate) fn eip712_domain(a: &Arguments<'_>) -> Result<Value, Error> {
    let (name, version) = (a.text("name"), a.text("version"));
    let contract = a.evm_address("verifying_contract")?;
    Ok(hex(auth::domain_separator(
        name,
        version,
        &a.uint256("chain_id")?,
        &contract,
    )))
}

pub(crate) fn payment_proof(a: &Arguments<'_>) -> Result<Value, Error> {
    let proof = PaymentProof {
        agent_mint: a.solana_key("agent_id")?,
        payer: a.solana_key("payer")?,
        payee: a.solana_key("payee")?,
        token: a.solana_key("token")?,
        amount: a.u64("amount"),
        task_ref_hash: TaskRef::parse(a.text("task_ref"))?.dedupe_key().hash(),
        paid_at: a.u64("paid_at"),
        expiry: a.u64("expiry"),
        chain: ChainId::parse(a.text("chain_id"))?.hash(),
        program_id: a.solana_key("program_id")?,
        facilitator: a.solana_key("facilitator")?,
    };
    Ok(json!({ "message": hex(proof.message()) }))
}

pub(crate) fn validation_request_hash(a: &Arguments<'_>) -> Result<Value, Error> {
    let chain_id = ChainId::parse(a.text("chain_id"))?;
    let (chain, payload_hash, nonce) =
        (chain_id.hash(), a.array("payload_hash"), a.uint256("nonce"));
    let request = match chain_id.namespace() {
        "solana" => ValidationRequest {
            chain,
            registry: a.solana_key("registry")?,
            agent: a.solana_key("agent_id")?,
            validator: a.solana_key("validator")?,
            payload_hash,
            nonce: nonce?,
        },
        _ => ValidationRequest::evm(
            chain,
            &a.evm_address("registry")?,
            a.uint256("agent_id")?,
            &a.evm_address("validator")?,
            payload_hash,
            nonce?,
        ),
    };
    Ok(hex(request.hash()))
}

pub(crate) fn agent_wallet_set(a: &Arguments<'_>) -> Result<Value, Error> {
    let consent = AgentWalletSet {
        agent_id: a.uint256("agent_id")?,
        new_wallet: a.evm_address("new_wallet")?,
        owner: a.evm_address("owner")?,
        deadline: a.uint256("deadline")?,
    };
    let contract = a.evm_address("verifying_contract")?;
    Ok(json!({ "digest": hex(consent.digest(&a.uint256("chain_id")?, &contract)) }))
}
