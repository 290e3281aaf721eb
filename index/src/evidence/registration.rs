use super::Content;
use crate::table::{FileKey, FileUse, Lines, Registration};
use concord_canonical::caip::AccountId as Caip10;
use concord_files::{AgentId, RegistrationFile, Service, parse_registration};
use serde_json::Value;

/// Bytes of a file's texts and lists that are kept with each agent that refers to it. agent0's SDKs ask for 1,000
/// agents at once, of which each counts twice, and an answer has at most 32 MiB.
const KEPT: usize = 12 << 10;

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
                    row: shortened(read(&file, none)),
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
    let endpoint = |name: &str| service(name).map(|it| it.endpoint.clone());
    let version = |name: &str| service(name)?.version.clone();
    let list = |name: &str, members: &[&str]| {
        let found = service(name).map(|it| members_of(it, members));
        lines(&found.unwrap_or_default())
    };
    Registration {
        name: file.name.clone(),
        description: file.description.clone(),
        image: file.image.clone(),
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
    Lines::of(entries.iter().map(String::as_str))
}

/// The name, and of the other texts and lists the shortest, as many as have room together. Of a longer one, nothing is kept.
pub(crate) fn shortened(mut row: Registration) -> Registration {
    row.name.take_if(|it| it.len() > KEPT);
    let room = KEPT - row.name.as_ref().map_or(0, String::len);
    let (texts, lists) = parts(&mut row);
    let of_texts = texts.iter().map(|it| it.as_ref().map_or(0, String::len));
    let of_lists = lists.iter().map(|it| it.0.len());
    let longest = longest(of_texts.chain(of_lists).collect(), room);
    for text in texts {
        text.take_if(|it| it.len() > longest);
    }
    for list in lists {
        if list.0.len() > longest {
            *list = Lines::default();
        }
    }
    row
}

/// The length up to which all texts have room. Of several that are as long as each other, all have or none.
fn longest(mut lengths: Vec<usize>, room: usize) -> usize {
    lengths.sort_unstable();
    let (mut kept, mut longest) = (0, 0);
    for same in lengths.chunk_by(|one, other| one == other) {
        kept += same.iter().sum::<usize>();
        if kept > room {
            break;
        }
        longest = same[0];
    }
    longest
}

/// The members besides the name that a file can make long.
fn parts(row: &mut Registration) -> ([&mut Option<String>; 13], [&mut Lines; 7]) {
    let texts = [
        &mut row.description,
        &mut row.image,
        &mut row.mcp,
        &mut row.a2a,
        &mut row.web,
        &mut row.oasf,
        &mut row.ens,
        &mut row.did,
        &mut row.email,
        &mut row.mcp_version,
        &mut row.a2a_version,
        &mut row.oasf_version,
        &mut row.agent_wallet,
    ];
    let lists = [
        &mut row.supported_trusts,
        &mut row.mcp_tools,
        &mut row.mcp_prompts,
        &mut row.mcp_resources,
        &mut row.a2a_skills,
        &mut row.oasf_skills,
        &mut row.oasf_domains,
    ];
    (texts, lists)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(description: usize, image: usize, tool: usize) -> Registration {
        let text = |length: usize| Some("x".repeat(length)).filter(|it| !it.is_empty());
        Registration {
            name: Some("Ann".to_owned()),
            description: text(description),
            image: text(image),
            mcp_tools: Lines(text(tool).unwrap_or_default()),
            ..none()
        }
    }

    #[test]
    fn the_shortest_texts_and_lists_are_kept_with_an_agent() {
        let room = KEPT - "Ann".len();
        for (before, after) in [
            ((room, 0, 0), (room, 0, 0)),
            ((room + 1, 0, 0), (0, 0, 0)),
            ((1_000, room - 1_000, 0), (1_000, room - 1_000, 0)),
            ((1_000, room - 999, 0), (1_000, 0, 0)),
            ((room, 2_000, 1_000), (0, 2_000, 1_000)),
            ((3_000, 5_000, room), (3_000, 5_000, 0)),
            // Of two that are as long as each other, neither is the longer one.
            ((room - 1, room - 1, 1_000), (0, 0, 1_000)),
        ] {
            let [before, after] = [before, after].map(|(a, b, c)| of(a, b, c));
            assert_eq!(shortened(before), after);
        }
    }

    #[test]
    fn a_name_is_kept_before_other_texts() {
        for (length, kept) in [(KEPT - 1, true), (KEPT, true), (KEPT + 1, false)] {
            let name = Some("n".repeat(length));
            let before = Registration {
                name: name.clone(),
                ..of(length, 2, 0)
            };
            let after = shortened(before);
            assert_eq!(after.name, name.filter(|_| kept), "{length}");
            assert_eq!(after.description, None, "{length}");
            assert_eq!(after.image.is_some(), !kept, "{length}");
        }
    }
}
