use alloy::transports::http::reqwest::Url;
use concord_canonical::{
    caip::{AccountId, EIP155},
    limits::ENDPOINT_MAX,
};
use concord_files::{AgentId, RegistrationFile, RegistrationId, published_endpoint};

/// Where an A2A agent's card is.
const AGENT_CARD: &str = "/.well-known/agent-card.json";

/// An agent that is watched.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Agent(RegistrationId);

impl Agent {
    /// Reads registry (CAIP-10) and id.
    ///
    /// # Errors
    /// Names the part that is malformed.
    pub fn parse(registry: &str, id: &str) -> Result<Self, concord_canonical::Error> {
        let account = AccountId::parse(registry)?;
        Ok(Self(RegistrationId {
            agent_id: AgentId::parse(&account, id)?,
            agent_registry: registry.to_owned(),
        }))
    }

    /// Registry and id.
    #[must_use]
    pub const fn registration(&self) -> &RegistrationId {
        &self.0
    }

    /// The agent's name in the store. EVM addresses have no case, so that the same agent never has two (R60).
    #[must_use]
    pub fn key(&self) -> String {
        format!(
            "{} {}",
            registry_key(&self.0.agent_registry),
            self.0.agent_id
        )
    }

    /// The agent with this name in the store.
    ///
    /// # Errors
    /// If it is no such name.
    pub fn of_key(key: &str) -> Result<Self, concord_canonical::Error> {
        let (registry, id) = key.split_once(' ').unwrap_or((key, ""));
        Self::parse(registry, id)
    }

    /// The registry's name in the store.
    #[must_use]
    pub fn registry_key(&self) -> String {
        registry_key(&self.0.agent_registry)
    }
}

/// A registry in one spelling.
pub(crate) fn registry_key(registry: &str) -> String {
    if registry.starts_with(&format!("{EIP155}:")) {
        registry.to_ascii_lowercase()
    } else {
        registry.to_owned()
    }
}

/// How a service is probed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ServiceKind {
    /// A GET must answer with success, or with an offer of x402.
    Http,
    /// `initialize` over MCP's streamable HTTP transport must be answered.
    Mcp,
    /// The agent card must be there.
    A2a,
    /// A GET must answer with 402 and an offer.
    X402,
}

impl ServiceKind {
    const ALL: [Self; 4] = [Self::Http, Self::Mcp, Self::A2a, Self::X402];

    /// Its stable name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Http => "http",
            Self::Mcp => "mcp",
            Self::A2a => "a2a",
            Self::X402 => "x402",
        }
    }

    /// The kind with this name.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|it| it.name() == name)
    }

    /// The kind of a service by its name in a registration file. Other names are probed as plain HTTP.
    #[must_use]
    pub fn of_service(name: &str) -> Self {
        let name = name.to_ascii_lowercase();
        Self::parse(&name).unwrap_or(Self::Http)
    }
}

/// A service that is probed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// What feedback names: without query, fragment and user info (R39).
    pub endpoint: String,
    /// What is asked.
    pub url: String,
    /// How.
    pub kind: ServiceKind,
}

/// The services of a registration file that can be probed: each endpoint once, and no more than `max`. An
/// agent's owner decides what its file lists, and must not decide what a watchtower spends.
#[must_use]
pub fn targets_of(file: &RegistrationFile, max: usize) -> Vec<Target> {
    let mut targets: Vec<Target> = Vec::new();
    for service in &file.services {
        let target = target_of(ServiceKind::of_service(&service.name), &service.endpoint);
        if let Some(target) = target
            && !targets.iter().any(|it| it.endpoint == target.endpoint)
        {
            targets.push(target);
        }
    }
    targets.truncate(max);
    targets
}

/// `None` for what is not behind a URL, has user info, or is longer than a registry takes (R17).
fn target_of(kind: ServiceKind, endpoint: &str) -> Option<Target> {
    let url: Url = endpoint.parse().ok()?;
    let is_web = matches!(url.scheme(), "https" | "http") && url.has_host();
    let has_user_info = !url.username().is_empty() || url.password().is_some();
    let published = published_endpoint(endpoint);
    let is_portable = published.len() <= ENDPOINT_MAX && !published.contains('\0');
    if !is_web || has_user_info || !is_portable {
        return None;
    }
    let asked = match kind {
        ServiceKind::A2a if !url.path().ends_with(".json") => url.join(AGENT_CARD).ok()?.into(),
        _ => endpoint.to_owned(),
    };
    Some(Target {
        endpoint: published.into_owned(),
        url: asked,
        kind,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use concord_files::parse_registration;

    fn targets(services: &str, max: usize) -> Vec<Target> {
        let file = format!("{{\"services\":{services}}}");
        targets_of(parse_registration(file.as_bytes()).unwrap().view(), max)
    }

    #[test]
    fn a_service_is_probed_by_its_kind() {
        for (name, endpoint, kind, url) in [
            (
                "MCP",
                "https://a.example/mcp",
                ServiceKind::Mcp,
                "https://a.example/mcp",
            ),
            (
                "A2A",
                "https://a.example/a2a?x",
                ServiceKind::A2a,
                "https://a.example/.well-known/agent-card.json",
            ),
            (
                "a2a",
                "https://a.example/agent.json",
                ServiceKind::A2a,
                "https://a.example/agent.json",
            ),
            (
                "x402",
                "https://a.example/paid",
                ServiceKind::X402,
                "https://a.example/paid",
            ),
            (
                "web",
                "http://a.example/?q=1",
                ServiceKind::Http,
                "http://a.example/?q=1",
            ),
        ] {
            let services = format!(r#"[{{"name":"{name}","endpoint":"{endpoint}"}}]"#);
            let found = targets(&services, 9);
            assert_eq!((found[0].kind, &*found[0].url), (kind, url));
            assert!(
                !found[0].endpoint.contains('?'),
                "R39: {}",
                found[0].endpoint
            );
        }
    }

    #[test]
    fn what_cannot_be_asked_or_named_is_left_out() {
        let long = format!("https://a.example/{}", "a".repeat(ENDPOINT_MAX));
        for endpoint in [
            "eip155:1:0x0000000000000000000000000000000000000001",
            "vitalik.eth",
            "mailto:agent@a.example",
            "ftp://a.example",
            "https://key:secret@a.example/",
            "file:///etc/passwd",
            "",
            &long,
        ] {
            let services = format!(r#"[{{"name":"web","endpoint":"{endpoint}"}}]"#);
            assert_eq!(targets(&services, 9), [], "{endpoint}");
        }
    }

    #[test]
    fn r60_an_endpoint_counts_once_and_a_file_cannot_list_without_end() {
        let one = |path: &str| format!(r#"{{"name":"web","endpoint":"https://a.example/{path}"}}"#);
        let twice = format!("[{},{}]", one("x?a"), one("x?b"));
        assert_eq!(targets(&twice, 9).len(), 1);
        let many: Vec<String> = (0..50).map(|it| one(&it.to_string())).collect();
        assert_eq!(targets(&format!("[{}]", many.join(",")), 4).len(), 4);
    }

    #[test]
    fn r60_an_agent_has_one_name() {
        let registry = "eip155:84532:0x8004A818BFB912233c491871b3d84c89A494BD9e";
        let [a, b] = [registry, &registry.to_lowercase()].map(|it| Agent::parse(it, "42").unwrap());
        assert_eq!(a.key(), b.key());
        assert_eq!(Agent::of_key(&a.key()).unwrap().key(), a.key());
        assert!(Agent::parse(registry, "042").is_err());
    }
}
