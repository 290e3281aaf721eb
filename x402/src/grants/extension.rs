use concord_canonical::{
    caip::AccountId,
    json::{self, Value},
};
use concord_files::{AgentId, RegistrationId};
use serde::{Deserialize, Serialize};

use crate::{server::FEEDBACK_AUTH_EXTENSION, wire::Settlement};

/// A grant to give one feedback, as a settled response carries it (R41).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct FeedbackGrant {
    /// The identity registry, CAIP-10.
    pub agent_registry: String,
    /// The agent.
    pub agent_id: String,
    /// Who may give feedback: an address on the registry's chain.
    pub client_address: String,
    /// Valid while the client's last index is below it (R8).
    pub index_limit: u64,
    /// Unix seconds; valid before it (R8).
    pub expiry: u64,
    /// What the registry takes (R6, R9), hex with `0x`.
    pub authorization: String,
}

/// A grant that cannot be read or used: which field, what was found, and what was expected.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("$.extensions.{FEEDBACK_AUTH_EXTENSION}{field} is {found}, expected {expected}")]
pub struct GrantMalformed {
    field: &'static str,
    found: String,
    expected: String,
}

impl GrantMalformed {
    pub(crate) fn new(field: &'static str, found: &str, expected: impl Into<String>) -> Self {
        Self {
            field,
            found: found.chars().take(80).collect(),
            expected: expected.into(),
        }
    }
}

impl FeedbackGrant {
    /// Reads the grant of a settled response; `None` if it has none.
    ///
    /// # Errors
    /// [`GrantMalformed`].
    pub fn of(settlement: &Settlement) -> Result<Option<Self>, GrantMalformed> {
        let Some(extensions) = &settlement.extensions else {
            return Ok(None);
        };
        let value = json::parse(extensions.as_str())
            .map_err(|error| GrantMalformed::new("", "malformed", error.to_string()))?;
        value
            .get(FEEDBACK_AUTH_EXTENSION)
            .map(Self::read)
            .transpose()
    }

    fn read(value: &Value<'_>) -> Result<Self, GrantMalformed> {
        let text = |key: &str, field| {
            let found = value.get(key).and_then(Value::as_str).map(str::to_owned);
            found.ok_or_else(|| GrantMalformed::new(field, "no text", "a text"))
        };
        let index_limit = text("indexLimit", ".indexLimit")?;
        let index = index_limit.parse::<u64>().ok();
        let index = index.filter(|it| it.to_string() == index_limit);
        let expiry = value.get("expiry").and_then(|it| it.as_integer("expiry"));
        let expiry = expiry
            .and_then(Result::ok)
            .and_then(|it| u64::try_from(it).ok());
        let grant = Self {
            agent_registry: text("agentRegistry", ".agentRegistry")?,
            agent_id: text("agentId", ".agentId")?,
            client_address: text("clientAddress", ".clientAddress")?,
            index_limit: index.ok_or_else(|| {
                GrantMalformed::new(".indexLimit", &index_limit, "a decimal uint64")
            })?,
            expiry: expiry
                .ok_or_else(|| GrantMalformed::new(".expiry", "no number", "unix seconds"))?,
            authorization: text("authorization", ".authorization")?,
        };
        grant.registration()?;
        grant.authorization_bytes()?;
        Ok(grant)
    }

    /// The agent that it is for.
    ///
    /// # Errors
    /// [`GrantMalformed`].
    pub fn registration(&self) -> Result<RegistrationId, GrantMalformed> {
        let registry = AccountId::parse(&self.agent_registry).map_err(|error| {
            GrantMalformed::new(".agentRegistry", &self.agent_registry, error.to_string())
        })?;
        let agent_id = AgentId::parse(&registry, &self.agent_id)
            .map_err(|error| GrantMalformed::new(".agentId", &self.agent_id, error.to_string()))?;
        Ok(RegistrationId {
            agent_registry: self.agent_registry.clone(),
            agent_id,
        })
    }

    /// The authorization's bytes.
    ///
    /// # Errors
    /// [`GrantMalformed`].
    pub fn authorization_bytes(&self) -> Result<Vec<u8>, GrantMalformed> {
        let digits = self.authorization.strip_prefix("0x");
        let bytes = digits.and_then(|it| hex::decode(it).ok());
        bytes.ok_or_else(|| {
            GrantMalformed::new(".authorization", &self.authorization, "0x and hexadecimal")
        })
    }
}
