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

    /// The deployment on a chain, or the one of several that is named with it.
    pub fn on_chain(&self, field: &str, chain: &str) -> Result<DeploymentId, ApiError> {
        let found = self.on_chains(field, &[chain.to_owned()])?;
        match found.as_slice() {
            [one] => Ok(*one),
            several => {
                let known = self.registries(|it| several.contains(&it.id));
                let reason = format!(
                    "{:?} has several registries here; name one: {known:?}",
                    excerpt(chain)
                );
                Err(ApiError::malformed(field, reason))
            }
        }
    }

    /// CAIP-10 ids of registries.
    fn registries(&self, which: impl Fn(&Deployed) -> bool) -> Vec<String> {
        let found = self.0.iter().filter(|it| which(it));
        found
            .map(|it| format!("{}:{}", it.chain, it.registry))
            .collect()
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
        let agent = if chain.starts_with("eip155:") {
            word::parse_decimal("agentId", id).ok().map(AgentId::Evm)
        } else {
            id.parse::<svm::Address>().ok().map(AgentId::Svm)
        };
        let agent = agent.ok_or_else(malformed)?;
        let mut on_chain = self.named(&chain, registry);
        match (on_chain.next(), on_chain.next()) {
            (Some(it), None) => Ok((it.id, agent)),
            (None, _) => Err(not_found()),
            (Some(_), Some(_)) => Err(ApiError::malformed(
                field,
                format!("{chain} has several registries here; name one"),
            )),
        }
    }

    /// The deployments on a chain; only the one with this registry if it is named.
    fn named<'a>(
        &'a self,
        chain: &'a str,
        registry: Option<&'a str>,
    ) -> impl Iterator<Item = &'a Deployed> {
        self.0.iter().filter(move |it| {
            it.chain == chain && registry.is_none_or(|registry| is_registry(it, registry))
        })
    }

    /// The deployments on these chains; all of them if none is named. A chain is a CAIP-2 id, or the
    /// number of an EVM chain; a registry after it names one of several.
    pub fn on_chains(&self, field: &str, chains: &[String]) -> Result<Vec<DeploymentId>, ApiError> {
        if chains.is_empty() {
            return Ok(self.0.iter().map(|it| it.id).collect());
        }
        let mut found = Vec::new();
        for chain in chains {
            let parts: Vec<&str> = chain.split(':').collect();
            let (on, registry) = match parts.as_slice() {
                [space, reference] => (format!("{space}:{reference}"), None),
                [space, reference, registry] => (format!("{space}:{reference}"), Some(*registry)),
                _ => (format!("eip155:{chain}"), None),
            };
            let before = found.len();
            found.extend(self.named(&on, registry).map(|it| it.id));
            if found.len() == before {
                let reason = format!(
                    "{:?} is not indexed here; indexed: {:?}",
                    excerpt(chain),
                    self.registries(|_| true)
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
    if deployed.registry.starts_with("0x") {
        deployed.registry.eq_ignore_ascii_case(text)
    } else {
        deployed.registry == text
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
