use super::Keyring;
use crate::{
    backend::{StepFault, secrets::secret_of},
    model::{Authorization, Form, Tamper},
};
use alloy::primitives::{Address, U256, uint};
use concord_canonical::{auth::EvmFeedbackAuth, sign, word};

/// SEC 2: the order n of secp256k1's group.
const SECP256K1_ORDER: U256 =
    uint!(0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141_U256);
/// The first byte of the second word, an address with twelve zero bytes before it (R6).
const DIRTY_BYTE: usize = 32;

/// The registries that an authorization is made for.
pub(super) struct Audience {
    pub chain_id: u64,
    pub identity: Address,
    pub reputation: Address,
}

/// The blob of R6: the seven fields and the signature, with the damage done to it.
pub(super) fn blob(
    authorization: &Authorization,
    keys: &Keyring,
    agent_id: U256,
    audience: &Audience,
    start: u64,
) -> Result<Vec<u8>, StepFault> {
    if authorization.tamper == Some(Tamper::Empty) {
        return Ok(Vec::new());
    }
    let fields = fields(authorization, keys, agent_id, audience, start);
    let signature = signature(authorization, keys, &fields, audience)?;
    let mut blob = fields.blob(&signature).to_vec();
    match authorization.tamper {
        Some(Tamper::Truncated) => blob.truncate(blob.len() - 1),
        Some(Tamper::Extended) => blob.push(0),
        Some(Tamper::Dirty) => blob[DIRTY_BYTE] = 1,
        _ => (),
    }
    Ok(blob)
}

fn fields(
    authorization: &Authorization,
    keys: &Keyring,
    agent_id: U256,
    audience: &Audience,
    start: u64,
) -> EvmFeedbackAuth {
    let chain_id = match authorization.tamper {
        Some(Tamper::WrongChain) => audience.chain_id + 1,
        _ => audience.chain_id,
    };
    let identity_registry = match authorization.tamper {
        Some(Tamper::WrongRegistry) => {
            Address::from_word(secret_of("registry", "elsewhere").into())
        }
        _ => audience.identity,
    };
    EvmFeedbackAuth {
        agent_id: agent_id.to_be_bytes(),
        client_address: keys.key(&authorization.client).address().into_array(),
        index_limit: authorization.index_limit,
        expiry: word::from_u64(start.saturating_add(authorization.expiry)),
        chain_id: word::from_u64(chain_id),
        identity_registry: identity_registry.into_array(),
        signer_address: keys.key(&authorization.signer).address().into_array(),
    }
}

/// `r ‖ s ‖ v` over the digest of the form, v ∈ {27, 28} as on chain (R23).
fn signature(
    authorization: &Authorization,
    keys: &Keyring,
    fields: &EvmFeedbackAuth,
    audience: &Audience,
) -> Result<[u8; 65], StepFault> {
    let signer = match &authorization.tamper {
        Some(Tamper::SignedBy(actor)) => actor,
        _ => &authorization.signer,
    };
    let digest = match authorization.form {
        Form::DraftV1 => fields.eip191_digest(),
        _ => fields.eip712_digest(&audience.reputation.into_array()),
    };
    let mut signature = sign::secp256k1_sign(&keys.signing_secret(signer), &digest)
        .and_then(|signature| sign::to_ethereum_v(&signature))
        .map_err(|fault| StepFault::Inexpressible(format!("{signer} cannot sign: {fault}")))?;
    match authorization.tamper {
        Some(Tamper::CorruptSignature) => signature[63] ^= 1, // the lowest bit of s
        Some(Tamper::MalleateSignature) => malleate(&mut signature),
        _ => (),
    }
    Ok(signature)
}

/// The high-s counterpart: n - s, and the other parity.
fn malleate(signature: &mut [u8; 65]) {
    let s = U256::from_be_slice(&signature[32..64]);
    signature[32..64].copy_from_slice(&(SECP256K1_ORDER - s).to_be_bytes::<32>());
    signature[64] ^= 27 ^ 28;
}
