use concord_canonical::caip::{AccountId, ChainId, EIP155, SOLANA, TaskRef};
use concord_registry::event::Profile;
use core::str::FromStr;

/// How a person names a feedback.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FeedbackName {
    /// The transaction that gave it: `eip155:84532:0x…`, `solana:…:signature`.
    Transaction {
        /// CAIP-2.
        chain: String,
        /// Its hash, or its first signature.
        id: String,
    },
    /// Its id, as the index writes it: `eip155:84532:0xregistry:42/open/0xclient/1`.
    Id {
        /// The identity registry, CAIP-10; on Solana the program.
        registry: String,
        /// The agent's id.
        agent: String,
        /// The kind of feedback.
        profile: Profile,
        /// The address that submitted it.
        client: String,
        /// Counts from 1 (R44).
        index: u64,
    },
}

/// How a person names an agent: `eip155:84532:0xregistry:42`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentName {
    /// The identity registry, CAIP-10; on Solana the program.
    pub registry: String,
    /// The agent's id.
    pub agent: String,
}

impl FromStr for AgentName {
    type Err = NameMalformed;

    fn from_str(text: &str) -> Result<Self, NameMalformed> {
        let (registry, agent) = agent_parts(text).map_err(|reason| NameMalformed {
            found: text.chars().take(160).collect(),
            reason,
        })?;
        Ok(Self {
            registry: registry.to_owned(),
            agent: agent.to_owned(),
        })
    }
}

fn agent_parts(text: &str) -> Result<(&str, &str), String> {
    let parts = text.rsplit_once(':');
    let (registry, agent) = parts.ok_or("the agent has no registry before its id")?;
    AccountId::parse(registry).map_err(|error| error.to_string())?;
    Ok((registry, agent))
}

/// A text that names no feedback or agent.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{found:?} is not a name: {reason}")]
pub struct NameMalformed {
    found: String,
    reason: String,
}

impl FeedbackName {
    /// The chain that has it, CAIP-2.
    #[must_use]
    pub fn chain(&self) -> String {
        match self {
            Self::Transaction { chain, .. } => chain.clone(),
            Self::Id { registry, .. } => registry
                .rsplit_once(':')
                .map_or_else(String::new, |(chain, _)| chain.to_owned()),
        }
    }
}

impl FromStr for FeedbackName {
    type Err = NameMalformed;

    fn from_str(text: &str) -> Result<Self, NameMalformed> {
        let read = if text.contains('/') {
            id(text)
        } else {
            transaction(text)
        };
        read.map_err(|reason| NameMalformed {
            found: text.chars().take(160).collect(),
            reason,
        })
    }
}

fn transaction(text: &str) -> Result<FeedbackName, String> {
    let expected = "expected CHAIN:TRANSACTION, or REGISTRY:AGENT/PROFILE/CLIENT/INDEX";
    let (chain, id) = text.rsplit_once(':').ok_or(expected)?;
    let chain = ChainId::parse(chain).map_err(|error| format!("{error}; {expected}"))?;
    let is_read = [EIP155, SOLANA].contains(&chain.namespace());
    let fits = is_read && TaskRef::parse(text).is_ok(); // of one form with a payment's reference
    if fits {
        Ok(FeedbackName::Transaction {
            chain: chain.to_string(),
            id: match chain.namespace() {
                EIP155 => id.to_lowercase(),
                _ => id.to_owned(),
            },
        })
    } else {
        let shown: String = id.chars().take(160).collect();
        Err(format!("{shown} is not a transaction of {chain}"))
    }
}

fn id(text: &str) -> Result<FeedbackName, String> {
    let parts: Vec<&str> = text.split('/').collect();
    let [agent, profile, client, index] = parts[..] else {
        return Err("expected REGISTRY:AGENT/PROFILE/CLIENT/INDEX".to_owned());
    };
    let (registry, agent) = agent_parts(agent)?;
    Ok(FeedbackName::Id {
        registry: registry.to_owned(),
        agent: agent.to_owned(),
        profile: match profile {
            "open" => Profile::Open,
            "authorized" => Profile::Authorized,
            other => return Err(format!("{other:?} is neither open nor authorized")),
        },
        client: client.to_owned(),
        index: match index.parse() {
            Ok(index @ 1..) => index,
            _ => return Err(format!("index {index:?}: indices count from 1 (R44)")),
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_transaction_and_an_id_are_told_apart_by_their_form() {
        let hash = "ab".repeat(32);
        let name: FeedbackName = format!("eip155:84532:0x{hash}").parse().expect("a name");
        assert_eq!(name.chain(), "eip155:84532");
        let id = "eip155:84532:0x8004A818BFB912233c491871b3d84c89A494BD9e:42/open/0x01/3";
        let name: FeedbackName = id.parse().expect("a name");
        let FeedbackName::Id {
            agent,
            profile,
            index,
            ..
        } = name
        else {
            panic!("an id");
        };
        assert_eq!((agent.as_str(), profile, index), ("42", Profile::Open, 3));
    }

    #[test]
    fn what_names_nothing_is_refused_with_the_reason() {
        let registry = "eip155:84532:0x8004A818BFB912233c491871b3d84c89A494BD9e:42";
        for (text, reason) in [
            ("eip155:84532:0xab", "is not a transaction of eip155:84532"),
            ("42", "expected CHAIN:TRANSACTION"),
            (
                "cosmos:cosmoshub-3:ABC_d.e%2F-9",
                "is not a transaction of cosmos:cosmoshub-3",
            ),
            // decoding base58 takes time that grows with the square of the length
            (
                &format!(
                    "solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1:{}",
                    "2".repeat(1_000_000)
                ),
                "is not a transaction of solana:",
            ),
            (
                &format!("{registry}/open/0x01/0"),
                "indices count from 1 (R44)",
            ),
            (
                &format!("{registry}/closed/0x01/1"),
                "neither open nor authorized",
            ),
        ] {
            let error = text.parse::<FeedbackName>().expect_err(text).to_string();
            assert!(error.contains(reason), "{error}");
        }
    }
}
