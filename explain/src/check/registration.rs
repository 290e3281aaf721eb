//! The agent's registration file, and whether both point at each other.
use super::{
    home::Home,
    verdict::{Checked, Verdict},
};
use crate::{
    evidence::{Evidence, ProvenBy},
    subject::Named,
};
use concord_canonical::caip::AccountId;
use concord_files::{AgentId, parse_registration};

/// [`crate::Step::Registration`]: the URI on chain names the file, and the file lists the agent. Beside a bundle, a host's file is
/// anybody's (R36).
pub(super) fn check(evidence: &Evidence<'_>, named: &Named, home: &dyn Home) -> Checked {
    let uri = home.agent_uri()?;
    if uri.is_empty() {
        return Ok(Verdict::not_applicable("the agent has no URI"));
    }
    let content = evidence.registration(&uri)?;
    let parsed = match parse_registration(&content.bytes) {
        Ok(parsed) => parsed,
        Err(error) => {
            return Ok(Verdict::refuted(format!(
                "the registration file is malformed: {error}"
            )));
        }
    };
    let registry = &evidence.bundle.feedback.agent_registry;
    let claims = AccountId::parse(registry).is_ok_and(|registry| {
        let id = AgentId::parse(&registry, &named.agent.to_string());
        id.is_ok_and(|id| parsed.view().claims(&registry, &id))
    });
    if !claims {
        let (agent, registry) = (named.agent, registry);
        return Ok(Verdict::refuted(format!(
            "the file does not list agent {agent} of {registry}"
        )));
    }
    let verdict = match content.proven_by {
        ProvenBy::Uri | ProvenBy::Cid => Verdict::verified(),
        ProvenBy::Host(host) => {
            Verdict::verified_since("the file can change at its host").with("delivered by", host)
        }
        ProvenBy::Bundle(host) => {
            Verdict::claimed("only the bundle says that its host delivers this file")
                .with("delivered by", host)
        }
    };
    Ok(verdict
        .with("uri", uri.chars().take(120).collect::<String>())
        .with("signers", parsed.view().signers.len()))
}
