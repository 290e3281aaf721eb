//! The consent by which an address becomes an agent's wallet (R3).
use super::Keyring;
use crate::{backend::StepFault, model::Consent};
use alloy::primitives::{Address, U256};
use concord_canonical::{sign, wallet::AgentWalletSet, word};

/// `r ‖ s ‖ v` of the consent's signer over the EIP-712 digest of what the consent says.
/// `deadline` in unix seconds.
pub(super) fn signature(
    consent: &Consent,
    keys: &Keyring,
    agent_id: U256,
    deadline: u64,
    chain_id: u64,
    identity: Address,
) -> Result<[u8; 65], StepFault> {
    let text = AgentWalletSet {
        agent_id: agent_id.to_be_bytes(),
        new_wallet: keys.key(&consent.wallet).address().into_array(),
        owner: keys.key(&consent.owner).address().into_array(),
        deadline: word::from_u64(deadline),
    };
    let digest = text.digest(&word::from_u64(chain_id), &identity.into_array());
    let signer = &consent.signer;
    sign::secp256k1_sign(&keys.signing_secret(signer), &digest)
        .and_then(|signature| sign::to_ethereum_v(&signature))
        .map_err(|fault| StepFault::Inexpressible(format!("{signer} cannot sign: {fault}")))
}
