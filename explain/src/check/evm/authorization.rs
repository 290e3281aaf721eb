//! R5 to R8: the authorization in the input of the call that gave the feedback.
use super::{EvmHome, owner};
use crate::{
    State, Step,
    check::{
        given::Given,
        home::Home,
        verdict::{Checked, Verdict, state_of},
    },
    evidence::Gap,
    proof::transaction,
    trust::AUTHORIZED,
};
use alloy_primitives::{Address, B256, U256, keccak256};
use concord_canonical::{
    auth::{EvmFeedbackAuth, decode_blob},
    sign::{from_ethereum_v, secp256k1_verify},
    word,
};
use concord_registry::evm::{
    abi::AuthorizedReputationRegistry::giveFeedbackCall, alloy_sol_types::SolCall,
};

/// [`crate::Step::Authorization`] on EVM.
pub(super) fn check(home: &EvmHome<'_>, given: &Given) -> Checked {
    let executed = home.transaction()?;
    let Some(blob) = blob_of(home, executed.raw)? else {
        return by_registry(
            home,
            "the registry was called by a contract, and a chain records no input of such a call",
        );
    };
    let (auth, signature) = match decode_blob(&blob) {
        Ok(parts) => parts,
        Err(error) => return Ok(Verdict::refuted(error)),
    };
    if let Some(fault) = fault_of(home, given, &auth) {
        return Ok(Verdict::refuted(fault));
    }
    let block = given
        .block
        .ok_or_else(|| Gap::cannot_check("the block is not known"))?;
    let owner = owner::for_step(home, block, Step::Authorization)?;
    if owner.as_slice() != auth.signer_address {
        let signer = Address::from(auth.signer_address);
        return Ok(Verdict::refuted(format!(
            "{signer} signed; the agent's owner is {owner} (R7)"
        )));
    }
    signed(home, block, &auth, signature)
}

/// The authorization, if the transaction calls the registry itself.
fn blob_of(home: &EvmHome<'_>, raw: &[u8]) -> Result<Option<Vec<u8>>, Gap> {
    let Some(sent) = transaction::read(raw)? else {
        return Ok(None);
    };
    if sent.to != Some(home.reputation) {
        return Ok(None);
    }
    let call = giveFeedbackCall::abi_decode_validate(sent.input);
    Ok(call.ok().map(|it| it.feedbackAuth.to_vec()))
}

/// What the fields say, against the feedback (R5, R8).
fn fault_of(home: &EvmHome<'_>, given: &Given, auth: &EvmFeedbackAuth) -> Option<String> {
    let chain = home.named.chain.split_once(':').map_or("", |(_, it)| it);
    let last = home.named.index.saturating_sub(1);
    let expiry = U256::from_be_bytes(auth.expiry);
    if auth.agent_id != home.agent.to_be_bytes::<32>() {
        Some("it is for another agent".to_owned())
    } else if auth.client_address != home.client.into_array() {
        Some(format!(
            "it is for the client {}",
            Address::from(auth.client_address)
        ))
    } else if word::parse_decimal("chainId", chain) != Ok(auth.chain_id) {
        Some("it is for another chain".to_owned())
    } else if auth.identity_registry != home.identity.into_array() {
        Some(format!(
            "it is for the registry {}",
            Address::from(auth.identity_registry)
        ))
    } else if last >= auth.index_limit {
        Some(format!(
            "its index limit is {}; the client had given {last} (R8)",
            auth.index_limit
        ))
    } else if given.time.is_none_or(|time| U256::from(time) >= expiry) {
        Some(format!("it expired at {expiry} (R8)"))
    } else {
        None
    }
}

/// R6: EIP-712, the first draft's EIP-191, or a contract's own judgement (ERC-1271).
fn signed(home: &EvmHome<'_>, block: B256, auth: &EvmFeedbackAuth, signature: &[u8]) -> Checked {
    let forms = [
        ("EIP-712", auth.eip712_digest(&home.reputation.into_array())),
        ("EIP-191", auth.eip191_digest()),
    ];
    let bytes = <&[u8; 65]>::try_from(signature)
        .ok()
        .and_then(|it| from_ethereum_v(it).ok());
    let by_key = bytes.and_then(|signature| {
        let holds =
            |digest: &[u8; 32]| secp256k1_verify(&auth.signer_address, digest, &signature).is_ok();
        forms.iter().find(|(_, digest)| holds(digest))
    });
    let signer = Address::from(auth.signer_address);
    if let Some((form, _)) = by_key {
        return Ok(Verdict::verified()
            .with("form", form)
            .with("signer", signer));
    }
    let code = home.view.account(block, signer)?.code_hash;
    Ok(if code.0 == keccak256([]).0 || code.0 == [0; 32] {
        Verdict::refuted("the owner's signature does not hold")
    } else {
        let judged = "the owner is a contract, which judged the signature itself (ERC-1271)";
        by_registry(home, judged)?.with("signer", signer)
    })
}

/// What no bundle has, the registry had: it gives feedback only after this check (R6). That proves as much as is
/// known of its code, which no chain with Cancun's opcodes can replace (EIP-6780).
fn by_registry(home: &EvmHome<'_>, what: &str) -> Checked {
    if home.known(AUTHORIZED, home.reputation)?.code_hash.is_none() {
        return Ok(Verdict::cannot_check(format!(
            "{what}; an address book with the hash of the registry's code would prove that the registry checked it"
        )));
    }
    match state_of(&home.registry()) {
        Some(State::Verified) => Ok(Verdict::verified_since(format!(
            "{what}; the registry, whose code is known, checked it"
        ))),
        _ => Err(Gap::Needs(Step::Registry)),
    }
}
