use async_trait::async_trait;
use concord_files::{RawJson, RegistrationId};

use super::signer::SignerError;
use crate::account::is_same_address;

/// The extension that carries a feedback grant in a settled response (R41). Never part of X402's object.
pub const FEEDBACK_AUTH_EXTENSION: &str = "8004-feedback-auth";
/// Seconds that a grant may be valid: 30 days (R41).
pub const GRANT_EXPIRY_MAX: u64 = 30 * 24 * 60 * 60;

/// A request for a grant: one feedback by the client who paid.
#[derive(Clone, Copy, Debug)]
pub struct GrantRequest<'a> {
    /// The agent.
    pub registration: &'a RegistrationId,
    /// The chain of the payment, CAIP-2.
    pub network: &'a str,
    /// Who paid: the only client that the grant may name.
    pub payer: &'a str,
    /// The latest expiry that may be granted: unix seconds.
    pub expiry_max: u64,
}

/// A grant to give one feedback (R5, R9).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grant {
    /// Who may give feedback.
    pub client: String,
    /// One above the client's last index, as it was read at settlement.
    pub index_limit: u64,
    /// Unix seconds.
    pub expiry: u64,
    /// What the registry takes: the 289 bytes of R6 on EVM, the 64 of R9 on Solana.
    pub authorization: Vec<u8>,
}

/// Issues feedback grants after settlement. Off unless one is installed, because the agent's owner must sign
/// (R7): a web server that holds the owner's key risks the agent itself.
#[async_trait]
pub trait GrantIssuer: Send + Sync {
    /// Issues a grant; `None` if this payer gets none.
    ///
    /// # Errors
    /// [`SignerError`]. The response is then returned without a grant.
    async fn issue(&self, request: GrantRequest<'_>) -> Result<Option<Grant>, SignerError>;
}

impl Grant {
    /// The extension's content, if the grant keeps to what was asked for (R41).
    pub(super) fn to_extension(&self, request: &GrantRequest<'_>) -> Result<RawJson, SignerError> {
        // R41: client = payer, at most 30 days
        if !is_same_address(request.network, &self.client, request.payer) {
            let (client, payer) = (&self.client, request.payer);
            let words = format!("the grant names client {client}, but {payer} paid (R41)");
            return Err(SignerError(words));
        }
        if self.expiry > request.expiry_max {
            let (expiry, limit) = (self.expiry, request.expiry_max);
            let words = format!("the grant expires at {expiry}, at most {limit} is allowed (R41)");
            return Err(SignerError(words));
        }
        let text = serde_json::json!({
            "agentRegistry": request.registration.agent_registry,
            "agentId": request.registration.agent_id.as_str(),
            "clientAddress": self.client,
            "indexLimit": self.index_limit.to_string(),
            "expiry": self.expiry,
            "authorization": format!("0x{}", hex::encode(&self.authorization)),
        });
        RawJson::parse(&text.to_string()).map_err(|error| SignerError(error.to_string()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use concord_canonical::caip::AccountId;
    use concord_files::AgentId;

    const SOLANA: &str = "solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1";
    const PROGRAM: &str = "TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA";
    const PAYER: &str = "So11111111111111111111111111111111111111112";

    fn registration(network: &str, registry: &str, agent: &str) -> RegistrationId {
        let agent_registry = format!("{network}:{registry}");
        let agent_id = AgentId::parse(&AccountId::parse(&agent_registry).unwrap(), agent);
        RegistrationId {
            agent_id: agent_id.unwrap(),
            agent_registry,
        }
    }

    fn is_passed_on(
        (registration, network): (&RegistrationId, &str),
        payer: &str,
        client: &str,
    ) -> bool {
        let request = GrantRequest {
            registration,
            network,
            payer,
            expiry_max: 2,
        };
        let grant = Grant {
            client: client.to_owned(),
            index_limit: 1,
            expiry: 1,
            authorization: vec![7],
        };
        grant.to_extension(&request).is_ok()
    }

    #[test]
    fn r41_only_the_payer_is_granted() {
        let on_solana = registration(SOLANA, PROGRAM, PAYER);
        let on_solana = (&on_solana, SOLANA);
        assert!(is_passed_on(on_solana, PAYER, PAYER));
        // base58 tells the cases apart: this is somebody else's key
        assert!(!is_passed_on(
            on_solana,
            PAYER,
            &PAYER.replacen('S', "s", 1)
        ));
        let address = format!("0x{}", "aB".repeat(20));
        let on_evm = registration("eip155:84532", &address, "42");
        let on_evm = (&on_evm, "eip155:84532");
        assert!(is_passed_on(on_evm, &address, &address.to_lowercase()));
        assert!(!is_passed_on(on_evm, &address, &address.replace('a', "c")));
    }
}
