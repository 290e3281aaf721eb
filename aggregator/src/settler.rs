//! What a facilitator has settled, on whichever chain: reported by anybody, and believed only as far as the chain says it.

use async_trait::async_trait;
use concord_canonical::{
    caip::{AccountId, TaskRef},
    json::parse,
};
use concord_files::{AgentId, RegistrationId};

use crate::{
    Code, Refusal,
    form::{malformed, member, text_of},
    store::Settled,
};

/// A payment as somebody reports it. Only its form is checked.
pub struct PaymentReport {
    /// Whose wallet was paid.
    pub(crate) agent: RegistrationId,
    pub(crate) task_ref: String,
    /// Of the transaction, as its chain writes it.
    pub(crate) transaction: String,
    /// The payment chain, CAIP-2.
    pub(crate) network: String,
    /// Of the task's reference (R32).
    pub(crate) dedupe_key: String,
    pub(crate) task_ref_hash: [u8; 32],
    /// The payer's address.
    pub(crate) payer: String,
    /// The token's address.
    pub(crate) token: String,
}

/// An operator's accounts on one chain, and what they have settled there for the agents of one registry.
#[async_trait]
pub trait Settler: Send + Sync {
    /// The identity registry, CAIP-10.
    fn registry(&self) -> String;

    /// Reads a payment from its chain.
    ///
    /// # Errors
    /// [`Refusal`] if it is not what is reported, is not final, or was settled by somebody else.
    async fn settled(&self, report: &PaymentReport) -> Result<Settled, Refusal>;
}

impl PaymentReport {
    /// Reads `agentRegistry`, `agentId`, `taskRef`, `payer` and `token`.
    ///
    /// # Errors
    /// [`crate::Code::InvalidPayload`], with the member that breaks its form.
    pub(crate) fn read(body: &[u8]) -> Result<Self, Refusal> {
        let payload = parse(text_of(body)?)
            .map_err(|error| malformed("MalformedJson", format!("is not strict JSON: {error}")))?;
        let task_ref_text = member(&payload, "taskRef")?;
        let task_ref = TaskRef::parse(&task_ref_text)
            .map_err(|error| malformed(error.class().name(), error.to_string()).of("taskRef"))?;
        let registry = member(&payload, "agentRegistry")?;
        Ok(Self {
            agent: registration(&registry, &member(&payload, "agentId")?)?,
            transaction: task_ref.transaction().to_owned(),
            network: task_ref.chain_id().to_string(),
            dedupe_key: task_ref.dedupe_key().to_string(),
            task_ref_hash: task_ref.dedupe_key().hash(),
            payer: member(&payload, "payer")?,
            token: member(&payload, "token")?,
            task_ref: task_ref_text.clone(),
        })
    }

    /// Requires that the payment was made on this chain, CAIP-2.
    pub(crate) fn require_network(&self, network: &str) -> Result<(), Refusal> {
        if self.network == network {
            Ok(())
        } else {
            let message = format!("{} is not on {network}", self.task_ref);
            Err(malformed("PaymentChainNotServed", message).of("taskRef"))
        }
    }
}

/// R36: a node does not have yet what was just sent, and what is not final can still turn out otherwise.
pub(crate) fn not_final(message: String) -> Refusal {
    Refusal::new(Code::Unavailable, "NotFinal", message)
}

/// A final transaction that moved nothing.
pub(crate) fn failed(message: String) -> Refusal {
    malformed("PaymentNotFound", message).of("taskRef")
}

/// An agent, by the texts of `agentRegistry` and `agentId`.
pub(crate) fn registration(registry: &str, id: &str) -> Result<RegistrationId, Refusal> {
    let of = |error: concord_canonical::Error, field: &str| {
        malformed(error.class().name(), error.to_string()).of(field)
    };
    let account = AccountId::parse(registry).map_err(|error| of(error, "agentRegistry"))?;
    let agent_id = AgentId::parse(&account, id).map_err(|error| of(error, "agentId"))?;
    Ok(RegistrationId {
        agent_registry: registry.to_owned(),
        agent_id,
    })
}
