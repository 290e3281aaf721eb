use super::Content;
use crate::table::{FileKey, FileUse, Registration};
use concord_canonical::caip::AccountId as Caip10;
use concord_files::{AgentId, RegistrationFile, parse_registration};

/// Returns what an agent's registration file comes to. `registry` is its CAIP-10 id.
#[must_use]
pub fn registration(registry: &str, agent: &str, uri: &str, content: &Content) -> Registration {
    let none = Registration {
        file: FileKey::of(uri).id,
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
        json: None,
    };
    let (bytes, is_proven) = match content {
        Content::Bytes { bytes, is_proven } => (bytes, *is_proven),
        Content::None { state, reason } => {
            return Registration {
                state: *state,
                reason: reason.clone(),
                ..none
            };
        }
    };
    match parse_registration(bytes) {
        Err(error) => Registration {
            state: FileUse::Unreadable,
            reason: Some(error.to_string()),
            is_proven,
            ..none
        },
        Ok(parsed) => {
            let file = parsed.view();
            Registration {
                state: FileUse::Read,
                is_proven,
                claims: claims(file, registry, agent),
                json: Some(parsed.to_canonical()),
                ..read(file, none)
            }
        }
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
        found.map(|it| it.endpoint.clone())
    };
    Registration {
        name: file.name.clone(),
        description: file.description.clone(),
        image: file.image.clone(),
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
