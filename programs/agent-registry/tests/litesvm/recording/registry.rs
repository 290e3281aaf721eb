//! The registry account, its lists and its authorities.

use super::{Cast, Recording, hex, key};
use crate::localnet::{
    CHAIN,
    authorization::keccak,
    instructions::{initialize, registry},
    registry::{accept_authority, propose_authority, set_facilitator, set_payment_token},
};
use serde_json::json;
use solana_address::Address;
use solana_signer::Signer;

pub fn keep_registry(record: &mut Recording, cast: &Cast) {
    let (first, second) = (cast.first_authority.pubkey(), cast.authority.pubkey());
    let (token, facilitator) = (cast.token, cast.facilitator.pubkey());
    record.step(
        &[&cast.first_authority],
        &[initialize(&first, CHAIN)],
        &[(
            "RegistryInitialized",
            json!({"authority": key(&first), "chain": CHAIN}),
        )],
    );
    record.step(
        &[&cast.first_authority],
        &[set_payment_token(&first, &token, true)],
        &[(
            "PaymentTokenListed",
            json!({"token": key(&token), "listed": true}),
        )],
    );
    let listed = json!({"facilitator": key(&facilitator), "listed": true});
    record.step(
        &[&cast.first_authority],
        &[set_facilitator(&first, &facilitator, true)],
        &[("FacilitatorListed", listed)],
    );
    let proposed = |from: &Address, to: &Address| {
        let fields = json!({"authority": key(from), "proposed_authority": key(to)});
        [("RegistryAuthorityProposed", fields)]
    };
    record.step(
        &[&cast.first_authority],
        &[propose_authority(&first, &second)],
        &proposed(&first, &second),
    );
    record.step(
        &[&cast.authority],
        &[accept_authority(&second)],
        &[(
            "RegistryAuthorityAccepted",
            json!({"from": key(&first), "to": key(&second)}),
        )],
    );
    record.step(
        &[&cast.authority],
        &[propose_authority(&second, &cast.proposed)],
        &proposed(&second, &cast.proposed),
    );
    let fields = json!({
        "chain_hash": hex(&keccak(CHAIN.as_bytes())),
        "authority": key(&second),
        "proposed_authority": key(&cast.proposed),
        "chain": CHAIN,
        "payment_tokens": [key(&token)],
        "facilitators": [key(&facilitator)],
    });
    record.keep("Registry", &registry(), &[b"registry"], fields);
}
