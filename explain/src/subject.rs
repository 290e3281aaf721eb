use concord_canonical::caip::{
    AccountId as Caip10, EIP155, SOLANA, parse_evm_address, parse_solana_key,
};
use concord_canonical::word;
use concord_registry::event::{AccountId, AgentId, Profile};
use concord_registry::svm::Address;
use core::fmt;
use serde::{Deserialize, Serialize};

/// Which feedback is explained. It names the feedback and proves nothing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Subject {
    /// The identity registry, CAIP-10; on Solana the program.
    pub agent_registry: String,
    /// The address of the reputation registry; on Solana the program again.
    pub reputation_registry: String,
    /// `open` or `authorized`.
    pub profile: String,
    /// The agent's id.
    pub agent_id: String,
    /// The address that submitted it.
    pub client: String,
    /// Counts from 1, per agent and client (R44).
    pub index: u64,
    /// The transaction that gave it.
    pub transaction: String,
    /// E: the number of the block whose state is asked whether it is revoked.
    pub at_block: u64,
}

/// Which part of a [`Subject`] is malformed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("feedback.{field}: {reason}")]
pub struct SubjectError {
    field: &'static str,
    reason: String,
}

impl SubjectError {
    /// A feedback of another agent or registry than the one that is asked about.
    pub(crate) fn of_another(own: &str, asked: &str) -> Self {
        fault(
            "agentId",
            format!("is about {own}, and the number is over {asked}"),
        )
    }
}

/// A subject whose parts were read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Named {
    pub chain: String,
    pub is_evm: bool,
    pub identity: AccountId,
    pub reputation: AccountId,
    pub profile: Profile,
    pub agent: AgentId,
    pub client: AccountId,
    pub index: u64,
}

impl Subject {
    pub(crate) fn read(&self) -> Result<Named, SubjectError> {
        let registry = Caip10::parse(&self.agent_registry);
        let registry = registry.map_err(|error| fault("agentRegistry", error))?;
        let is_evm = match registry.chain_id().namespace() {
            EIP155 => true,
            SOLANA => false,
            other => {
                return Err(fault(
                    "agentRegistry",
                    format!("{other} is neither eip155 nor solana"),
                ));
            }
        };
        let identity = account("agentRegistry", is_evm, registry.address())?;
        let reputation = account("reputationRegistry", is_evm, &self.reputation_registry)?;
        if !is_evm && reputation != identity {
            let detail = format!("is {reputation}; on Solana it is the program again, {identity}");
            return Err(fault("reputationRegistry", detail));
        }
        Ok(Named {
            chain: registry.chain_id().to_string(),
            is_evm,
            identity,
            reputation,
            profile: self.read_profile()?,
            agent: agent(is_evm, &self.agent_id)?,
            client: account("client", is_evm, &self.client)?,
            index: match self.index {
                0 => return Err(fault("index", "is 0; indices count from 1 (R44)")),
                index => index,
            },
        })
    }

    fn read_profile(&self) -> Result<Profile, SubjectError> {
        match self.profile.as_str() {
            "open" => Ok(Profile::Open),
            "authorized" => Ok(Profile::Authorized),
            other => Err(fault(
                "profile",
                format!("{other:?} is neither open nor authorized"),
            )),
        }
    }

    /// The feedback's id, as the index writes it.
    #[must_use]
    pub fn name(&self) -> String {
        let Self {
            agent_registry,
            profile,
            agent_id,
            client,
            index,
            ..
        } = self;
        format!("{agent_registry}:{agent_id}/{profile}/{client}/{index}")
    }

    /// The chain of the registry, CAIP-2, as far as it can be read.
    #[must_use]
    pub fn chain(&self) -> String {
        Caip10::parse(&self.agent_registry)
            .map_or_else(|_| String::new(), |it| it.chain_id().to_string())
    }
}

impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name())
    }
}

fn account(field: &'static str, is_evm: bool, text: &str) -> Result<AccountId, SubjectError> {
    if is_evm {
        parse_evm_address(field, text).map(AccountId::Evm)
    } else {
        parse_solana_key(field, text).map(|key| AccountId::Svm(Address::from(key)))
    }
    .map_err(|error| fault(field, error))
}

fn agent(is_evm: bool, text: &str) -> Result<AgentId, SubjectError> {
    if is_evm {
        word::parse_decimal("agentId", text).map(AgentId::Evm)
    } else {
        parse_solana_key("agentId", text).map(|key| AgentId::Svm(Address::from(key)))
    }
    .map_err(|error| fault("agentId", error))
}

fn fault(field: &'static str, reason: impl ToString) -> SubjectError {
    SubjectError {
        field,
        reason: reason.to_string(),
    }
}
