//! Comparing accounts: EVM addresses have no case, all others do. And what a registration file says of them.

use concord_canonical::caip::{AccountId, EIP155};
use concord_files::{Error, RegistrationFile, RegistrationId};

/// Whether two addresses of one chain are the same. `network`: the chain, CAIP-2.
#[must_use]
pub fn is_same_address(network: &str, a: &str, b: &str) -> bool {
    let is_evm = network.split_once(':').is_some_and(|(it, _)| it == EIP155);
    if is_evm {
        a.eq_ignore_ascii_case(b)
    } else {
        a == b
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

/// Whether the file lists a registration.
pub(crate) fn claims(file: &RegistrationFile, registration: &RegistrationId) -> bool {
    let registry = AccountId::parse(&registration.agent_registry);
    registry.is_ok_and(|registry| file.claims(&registry, &registration.agent_id))
}

/// The wallets that the file lists on one chain (R27).
///
/// # Errors
/// An `agentWallet` service, on any chain, whose endpoint is not a CAIP-10 id.
pub(crate) fn wallets_on<'f>(
    file: &'f RegistrationFile,
    network: &str,
) -> Result<Vec<AccountId<'f>>, Error> {
    let mut wallets = file.agent_wallets()?;
    wallets.retain(|it| it.chain_id().to_string() == network);
    Ok(wallets)
}
