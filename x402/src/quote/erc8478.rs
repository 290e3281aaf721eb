//! The words of draft ERC-8478 for what a check before a payment found. Its words for delegations are not
//! used, and neither is `owner-only`: the owner is not read, because they never substitute for the wallet
//! (R27).

use super::{PreClass, Quote, Refusal, WalletState};

impl Quote {
    /// The draft's outcome; `None` if only the agent's own file names the wallet, which the draft does not name.
    #[must_use]
    pub fn erc8478_outcome(&self) -> Option<&'static str> {
        match (self.wallet, &self.origin_unbound) {
            (WalletState::Claimed, _) => None,
            (WalletState::Verified, Some(_)) => Some("endpoint-unlisted"),
            (WalletState::Verified, None) => Some("verified-wallet"),
        }
    }
}

impl Refusal {
    /// The draft's outcome; `None` if the refusal is not about the agent.
    #[must_use]
    pub fn erc8478_outcome(&self) -> Option<&'static str> {
        use PreClass as Class;
        Some(match self.class {
            None | Some(Class::ContentMismatch | Class::RegistrationMalformed) => "not-read",
            Some(
                Class::PaymentRequiredMalformed
                | Class::ResourceMismatch
                | Class::NoAcceptableOffer,
            ) => return None,
            Some(
                Class::IdentityMissing
                | Class::IdentityMalformed
                | Class::RegistryUnknown
                | Class::AgentNotFound
                | Class::RegistrationNotClaimed,
            ) => "no-identity",
            Some(Class::WalletUndeclared) => "no-agent-wallet",
            Some(Class::WalletConflict | Class::PayToMismatch) => "mismatch",
            Some(Class::OriginUnbound) => "endpoint-unlisted",
        })
    }
}
