use super::Content;
use crate::table::{FileKey, FileUse, Lines, Registration};
use concord_canonical::caip::AccountId as Caip10;
use concord_files::{AgentId, RegistrationFile, Service, parse_registration};
use serde_json::Value;

/// Bytes of a text of a file that are kept with each agent that refers to it. Of a longer one, nothing
/// is.
const TEXT: usize = 16 << 10;

/// A registration file, read once for every agent that refers to it.
#[derive(Debug)]
pub struct RegistrationContent {
    /// As for no agent.
    row: Registration,
    file: Option<RegistrationFile>,
}

impl RegistrationContent {
    /// Parses a file.
    #[must_use]
    pub fn of(content: &Content) -> Self {
        let none = none();
        let (bytes, is_proven) = match content {
            Content::Bytes { bytes, is_proven } => (bytes, *is_proven),
            Content::None { state, reason } => {
                let row = Registration {
                    state: *state,
                    reason: reason.clone(),
                    ..none
                };
                return Self { row, file: None };
            }
        };
        match parse_registration(bytes) {
            Err(error) => Self {
                row: Registration {
                    state: FileUse::Unreadable,
                    reason: Some(error.to_string()),
                    is_proven,
                    ..none
                },
                file: None,
            },
            Ok(parsed) => {
                let file = parsed.into_view();
                let none = Registration {
                    state: FileUse::Read,
                    is_proven,
                    ..none
                };
                Self {
                    row: read(&file, none),
                    file: Some(file),
                }
            }
        }
    }

    /// Returns what the file says of an agent. `registry` is its CAIP-10 id.
    #[must_use]
    pub fn registration(&self, registry: &str, agent: &str, uri: &str) -> Registration {
        Registration {
            file: FileKey::of(uri).id,
            claims: self
                .file
                .as_ref()
                .is_some_and(|it| claims(it, registry, agent)),
            ..self.row.clone()
        }
    }
}

const fn none() -> Registration {
    Registration {
        file: [0; 32],
        state: FileUse::Waiting,
        reason: None,
        is_proven: false,
        claims: false,
        name: None,
        description: None,
        image: None,
        active: None,
        x402: None,
        mcp: None,
        a2a: None,
        web: None,
        oasf: None,
        ens: None,
        did: None,
        email: None,
        mcp_version: None,
        a2a_version: None,
        oasf_version: None,
        agent_wallet: None,
        supported_trusts: Lines(String::new()),
        mcp_tools: Lines(String::new()),
        mcp_prompts: Lines(String::new()),
        mcp_resources: Lines(String::new()),
        a2a_skills: Lines(String::new()),
        oasf_skills: Lines(String::new()),
        oasf_domains: Lines(String::new()),
    }
}

fn claims(file: &RegistrationFile, registry: &str, agent: &str) -> bool {
    let Ok(registry) = Caip10::parse(registry) else {
        return false;
    };
    AgentId::parse(&registry, agent).is_ok_and(|id| file.claims(&registry, &id))
}

fn read(file: &RegistrationFile, none: Registration) -> Registration {
    let service = |name: &str| {
        let mut services = file.services.iter();
        services.find(|it| it.name.eq_ignore_ascii_case(name))
    };
    let endpoint = |name: &str| service(name).and_then(|it| kept(&it.endpoint));
    let version = |name: &str| kept(service(name)?.version.as_deref()?);
    let list = |name: &str, members: &[&str]| {
        let found = service(name).map(|it| members_of(it, members));
        lines(&found.unwrap_or_default())
    };
    let text = |it: &Option<String>| it.as_deref().and_then(kept);
    Registration {
        name: text(&file.name),
        description: text(&file.description),
        image: text(&file.image),
        active: file.active,
        x402: file.x402_support,
        mcp: endpoint("MCP"),
        a2a: endpoint("A2A"),
        web: endpoint("web"),
        oasf: endpoint("OASF"),
        ens: endpoint("ENS"),
        did: endpoint("DID"),
        email: endpoint("email"),
        mcp_version: version("MCP"),
        a2a_version: version("A2A"),
        oasf_version: version("OASF"),
        agent_wallet: endpoint("agentWallet"),
        supported_trusts: lines(&file.supported_trust),
        mcp_tools: list("MCP", &["mcpTools", "tools"]),
        mcp_prompts: list("MCP", &["mcpPrompts", "prompts"]),
        mcp_resources: list("MCP", &["mcpResources", "resources"]),
        a2a_skills: list("A2A", &["a2aSkills", "skills"]),
        oasf_skills: list("OASF", &["skills"]),
        oasf_domains: list("OASF", &["domains"]),
        ..none
    }
}

/// The texts of the first of these members that a service has as a list: agent0's, or the protocol's.
fn members_of(service: &Service, names: &[&str]) -> Vec<String> {
    let mut found = names.iter().filter_map(|name| service.extra.get(*name));
    let list = found.find_map(|it| match serde_json::from_str(it.as_str()) {
        Ok(Value::Array(list)) => Some(list),
        _ => None,
    });
    let texts = list
        .unwrap_or_default()
        .into_iter()
        .filter_map(|it| match it {
            Value::String(text) => Some(text),
            _ => None,
        });
    texts.collect()
}

fn lines(entries: &[String]) -> Lines {
    let lines = Lines::of(entries.iter().map(String::as_str));
    match lines.0.len() {
        0..=TEXT => lines,
        _ => Lines::default(),
    }
}

fn kept(text: &str) -> Option<String> {
    (text.len() <= TEXT).then(|| text.to_owned())
}
