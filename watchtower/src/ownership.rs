use concord_canonical::caip::AccountId;
use concord_x402::{
    quote::{Origin, OriginProofs},
    verify::{AgentRecord, FileError},
};

use crate::Agent;

/// Whether the host of a service proves that it is the agent's (R43); `None` if that cannot be checked now (R36).
pub async fn is_owned(
    agent: &Agent,
    record: &AgentRecord,
    url: &str,
    proofs: &dyn OriginProofs,
) -> Option<bool> {
    let origin = Origin::of(url).filter(Origin::is_https);
    let Some(origin) = origin else {
        return Some(false);
    };
    let of_file = Origin::of(&record.uri);
    if of_file.is_some_and(|it| it.is_https() && it.host() == origin.host()) {
        return Some(true);
    }
    match proofs.proof(&origin).await {
        Ok(proof) => {
            let registration = agent.registration();
            let registry = AccountId::parse(&registration.agent_registry).ok()?;
            Some(proof.claims(&registry, &registration.agent_id))
        }
        Err(FileError::Unavailable(_)) => None,
        Err(_) => Some(false), // it is there, and is not a proof
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use async_trait::async_trait;
    use concord_files::{RegistrationFile, parse_registration};

    const REGISTRY: &str = "eip155:84532:0x8004A818BFB912233c491871b3d84c89A494BD9e";

    /// The host of one proof.
    struct Host(Result<String, FileError>);

    #[async_trait]
    impl OriginProofs for Host {
        async fn proof(&self, origin: &Origin) -> Result<RegistrationFile, FileError> {
            assert_eq!(origin.host(), "agent.example");
            let text = self.0.clone()?;
            Ok(parse_registration(text.as_bytes()).unwrap().into_view())
        }
    }

    fn proof(registry: &str, id: &str) -> Host {
        Host(Ok(format!(
            r#"{{"registrations":[{{"agentRegistry":"{registry}","agentId":"{id}"}}]}}"#
        )))
    }

    async fn asked(uri: &str, url: &str, host: Host) -> Option<bool> {
        let agent = Agent::parse(&REGISTRY.to_lowercase(), "42").unwrap();
        let record = AgentRecord {
            wallet: None,
            is_wallet_contract: false,
            uri: uri.to_owned(),
            block: 1,
        };
        is_owned(&agent, &record, url, &host).await
    }

    #[tokio::test]
    async fn r43_a_host_proves_the_agent_by_its_file_or_by_having_the_agents() {
        let url = "https://agent.example/mcp";
        let silent = || Host(Err(FileError::Unavailable("no answer".to_owned())));
        assert_eq!(asked("", url, proof(REGISTRY, "42")).await, Some(true));
        let file = "https://agent.example/agent.json";
        assert_eq!(asked(file, url, silent()).await, Some(true));
    }

    #[tokio::test]
    async fn r43_nothing_else_proves_it() {
        let url = "https://agent.example/mcp";
        let other = REGISTRY.replace("84532", "8453");
        for host in [
            proof(REGISTRY, "43"),
            proof(&other, "42"),
            Host(Ok("{}".to_owned())),
            Host(Err(FileError::Malformed("redirects".to_owned()))),
        ] {
            assert_eq!(asked("", url, host).await, Some(false));
        }
        let plain = "http://agent.example/mcp";
        assert_eq!(
            asked("", plain, proof(REGISTRY, "42")).await,
            Some(false),
            "not over HTTPS"
        );
        let file = "http://agent.example/agent.json";
        assert_eq!(asked(file, url, proof(REGISTRY, "43")).await, Some(false));
    }

    #[tokio::test]
    async fn r36_a_host_that_does_not_answer_is_not_refuted() {
        let silent = Host(Err(FileError::Unavailable("no answer".to_owned())));
        assert_eq!(asked("", "https://agent.example/", silent).await, None);
    }
}
