//! Names of agents, accounts and chains, as requests and answers have them.
use super::ApiError;
use crate::{
    query::parse_account,
    store::{Deployed, DeploymentId, Engine, Store},
};
use concord_canonical::word;
use concord_registry::{
    event::{AccountId, AgentId, Profile},
    svm,
};

/// The deployments that the store has.
#[derive(Debug, Clone)]
pub(super) struct Directory(pub Vec<Deployed>);

impl Directory {
    pub fn read<E: Engine>(store: &mut Store<E>) -> Result<Self, ApiError> {
        Ok(Self(store.deployments()?))
    }

    /// `CAIP-10 of the registry:id`. Agents have it in every answer.
    pub fn name(&self, deployment: DeploymentId, agent: AgentId) -> String {
        match self.0.iter().find(|it| it.id == deployment) {
            Some(it) => format!("{}:{}:{agent}", it.chain, it.registry),
            None => agent.to_string(),
        }
    }

    /// An account's CAIP-10 id on a deployment's chain.
    pub fn account(&self, deployment: DeploymentId, account: AccountId) -> String {
        match self.0.iter().find(|it| it.id == deployment) {
            Some(it) => format!("{}:{account}", it.chain),
            None => account.to_string(),
        }
    }

    /// Reads `eip155:84532:0x…:42` or `solana:…:program:mint`, or BP's `84532:42` if the chain has one
    /// registry here.
    pub fn agent(&self, field: &str, text: &str) -> Result<(DeploymentId, AgentId), ApiError> {
        let malformed = || {
            let expected = "expected CAIP-2:registry:agent id, or EVM chain:agent id";
            ApiError::malformed(field, format!("{:?}: {expected}", excerpt(text)))
        };
        let not_found = || ApiError::NotFound {
            what: format!("the agent {:?}", excerpt(text)),
        };
        let parts: Vec<&str> = text.split(':').collect();
        let (chain, registry, id) = match parts.as_slice() {
            [number, id] => (format!("eip155:{number}"), None, *id),
            [space, reference, registry, id] => {
                (format!("{space}:{reference}"), Some(*registry), *id)
            }
            _ => return Err(malformed()),
        };
        let agent = match chain.starts_with("eip155:") {
            true => word::parse_decimal("agentId", id).ok().map(AgentId::Evm),
            false => id.parse::<svm::Address>().ok().map(AgentId::Svm),
        };
        let agent = agent.ok_or_else(malformed)?;
        let mut on_chain = self.0.iter().filter(|it| {
            it.chain == chain && registry.is_none_or(|registry| is_registry(it, registry))
        });
        match (on_chain.next(), on_chain.next()) {
            (Some(it), None) => Ok((it.id, agent)),
            (None, _) => Err(not_found()),
            (Some(_), Some(_)) => Err(ApiError::malformed(
                field,
                format!("{chain} has several registries here; name one"),
            )),
        }
    }

    /// The deployments on these chains; all of them if none is named. A chain is a CAIP-2 id, or the
    /// number of an EVM chain.
    pub fn on_chains(&self, field: &str, chains: &[String]) -> Result<Vec<DeploymentId>, ApiError> {
        if chains.is_empty() {
            return Ok(self.0.iter().map(|it| it.id).collect());
        }
        let mut found = Vec::new();
        for chain in chains {
            let chain = match chain.contains(':') {
                true => chain.clone(),
                false => format!("eip155:{chain}"),
            };
            let before = found.len();
            let on_chain = self.0.iter().filter(|it| it.chain == chain);
            found.extend(on_chain.map(|it| it.id));
            if found.len() == before {
                let known: Vec<&str> = self.0.iter().map(|it| it.chain.as_str()).collect();
                let reason = format!(
                    "{:?} is not indexed here; indexed: {known:?}",
                    excerpt(&chain)
                );
                return Err(ApiError::malformed(field, reason));
            }
        }
        found.sort_by_key(|id| id.0);
        found.dedup();
        Ok(found)
    }
}

fn is_registry(deployed: &Deployed, text: &str) -> bool {
    match deployed.registry.starts_with("0x") {
        true => deployed.registry.eq_ignore_ascii_case(text),
        false => deployed.registry == text,
    }
}

/// The beginning of what was sent.
pub(super) fn excerpt(text: &str) -> String {
    text.chars().take(80).collect()
}

pub(super) fn account(field: &str, text: &str) -> Result<AccountId, ApiError> {
    parse_account(text).ok_or_else(|| {
        let expected = "expected 0x and 40 hex digits, or a Solana address";
        ApiError::malformed(field, format!("{:?}: {expected}", excerpt(text)))
    })
}

pub(super) fn accounts(field: &str, texts: &[String]) -> Result<Vec<AccountId>, ApiError> {
    texts.iter().map(|text| account(field, text)).collect()
}

pub(super) fn profile(field: &str, text: &str) -> Result<Profile, ApiError> {
    match text {
        "open" => Ok(Profile::Open),
        "authorized" => Ok(Profile::Authorized),
        other => {
            let expected = "expected open or authorized";
            Err(ApiError::malformed(
                field,
                format!("{:?}: {expected}", excerpt(other)),
            ))
        }
    }
}

pub(super) const fn profile_name(profile: Profile) -> &'static str {
    match profile {
        Profile::Open => "open",
        Profile::Authorized => "authorized",
    }
}
