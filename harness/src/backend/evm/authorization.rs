use super::{Deployment, key_of};
use crate::{
    backend::{StepFault, secrets::secret_of},
    model::{Authorization, Damage, Domain},
};
use alloy::primitives::{Address, U256};
use concord_canonical::{auth::EvmFeedbackAuth, sign, word};

/// The blob of R6: the seven fields and the signature, with the damage done to it.
pub(super) fn blob(
    authorization: &Authorization,
    agent_id: U256,
    deployment: &Deployment,
    start: u64,
) -> Result<Vec<u8>, StepFault> {
    if authorization.damage == Some(Damage::Missing) {
        return Ok(Vec::new());
    }
    let fields = fields(authorization, agent_id, deployment, start);
    let signature = signature(authorization, &fields, deployment)?;
    let mut blob = fields.blob(&signature).to_vec();
    match authorization.damage {
        Some(Damage::Truncated) => blob.truncate(blob.len() - 1),
        Some(Damage::Extended) => blob.push(0),
        _ => (),
    }
    Ok(blob)
}

fn fields(
    authorization: &Authorization,
    agent_id: U256,
    deployment: &Deployment,
    start: u64,
) -> EvmFeedbackAuth {
    let chain_id = match authorization.chain {
        Domain::Here => deployment.chain_id,
        Domain::Elsewhere => deployment.chain_id + 1,
    };
    let identity_registry = match authorization.registry {
        Domain::Here => deployment.identity,
        Domain::Elsewhere => Address::from_word(secret_of("registry", "elsewhere").into()),
    };
    EvmFeedbackAuth {
        agent_id: agent_id.to_be_bytes(),
        client_address: key_of(&authorization.client).address().into_array(),
        index_limit: authorization.index_limit,
        expiry: word::from_u64(start.saturating_add(authorization.expiry)),
        chain_id: word::from_u64(chain_id),
        identity_registry: identity_registry.into_array(),
        signer_address: key_of(&authorization.signer).address().into_array(),
    }
}

/// `r ‖ s ‖ v` over the EIP-712 digest, v ∈ {27, 28} as on chain (R23).
fn signature(
    authorization: &Authorization,
    fields: &EvmFeedbackAuth,
    deployment: &Deployment,
) -> Result<[u8; 65], StepFault> {
    let signer = match &authorization.damage {
        Some(Damage::SignedBy(actor)) => actor,
        _ => &authorization.signer,
    };
    let digest = fields.eip712_digest(&deployment.reputation.into_array());
    let mut signature = sign::secp256k1_sign(&secret_of("actor", &signer.0), &digest)
        .and_then(|signature| sign::to_ethereum_v(&signature))
        .map_err(|fault| StepFault::Inexpressible(format!("{signer} cannot sign: {fault}")))?;
    if authorization.damage == Some(Damage::SignatureCorrupted) {
        signature[63] ^= 1; // the lowest bit of s
    }
    Ok(signature)
}
