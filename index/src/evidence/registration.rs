use super::Content;
use crate::table::{FileKey, FileUse, Registration};
use concord_canonical::caip::AccountId as Caip10;
use concord_files::{AgentId, RegistrationFile, parse_registration};

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
    }
}

fn claims(file: &RegistrationFile, registry: &str, agent: &str) -> bool {
    let Ok(registry) = Caip10::parse(registry) else {
        return false;
    };
    AgentId::parse(&registry, agent).is_ok_and(|id| file.claims(&registry, &id))
}

fn read(file: &RegistrationFile, none: Registration) -> Registration {
    let endpoint = |names: &[&str]| {
        let is_named = |name: &str| names.iter().any(|it| it.eq_ignore_ascii_case(name));
        let found = file.services.iter().find(|it| is_named(&it.name));
        found.and_then(|it| kept(&it.endpoint))
    };
    let text = |it: &Option<String>| it.as_deref().and_then(kept);
    Registration {
        name: text(&file.name),
        description: text(&file.description),
        image: text(&file.image),
        active: file.active,
        x402: file.x402_support,
        mcp: endpoint(&["MCP"]),
        a2a: endpoint(&["A2A"]),
        web: endpoint(&["web"]),
        oasf: endpoint(&["OASF"]),
        ens: endpoint(&["ENS"]),
        did: endpoint(&["DID"]),
        email: endpoint(&["email"]),
        ..none
    }
}

fn kept(text: &str) -> Option<String> {
    (text.len() <= TEXT).then(|| text.to_owned())
}
