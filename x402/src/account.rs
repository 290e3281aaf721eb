//! Comparing accounts: EVM addresses have no case, all others do.

use concord_canonical::caip::{AccountId, EIP155};
use concord_files::RegistrationId;

/// Whether two addresses of one chain are the same.
pub(crate) fn is_same_address(network: &str, a: &str, b: &str) -> bool {
    let is_evm = network.split_once(':').is_some_and(|(it, _)| it == EIP155);
    match is_evm {
        true => a.eq_ignore_ascii_case(b),
        false => a == b,
    }
}

/// Whether two registrations name the same agent (R37).
pub(crate) fn is_same_agent(a: &RegistrationId, b: &RegistrationId) -> bool {
    let registries = [a, b].map(|it| AccountId::parse(&it.agent_registry));
    let [Ok(first), Ok(second)] = registries else {
        return false;
    };
    let network = first.chain_id().to_string();
    first.chain_id() == second.chain_id()
        && is_same_address(&network, first.address(), second.address())
        && a.agent_id == b.agent_id
}

/// The chain of a registration, CAIP-2.
pub(crate) fn chain_of(registration: &RegistrationId) -> Option<String> {
    let registry = AccountId::parse(&registration.agent_registry).ok()?;
    Some(registry.chain_id().to_string())
}
