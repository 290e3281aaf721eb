//! What came of an operation, as the event of its transaction has it.

use concord_canonical::{
    ErrorClass,
    caip::{ChainId, EIP155},
    feedback_id::{FeedbackId, IndexBase},
    word,
};
use concord_chain::reviewers::parse_account;
use concord_registry::{
    event::{AccountId, AgentId, Event, Profile},
    svm,
};

use crate::{ClientError, Feedback, Operation};

/// An operation that is on chain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// The transaction: a hash (EVM) or the first signature (Solana).
    pub transaction: String,
    /// Its block or slot.
    pub block: u64,
    /// The registry's event.
    pub event: Event,
}

/// An agent that was registered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Registered {
    /// Its id: a decimal number (EVM) or its mint (Solana).
    pub agent: String,
    /// Where it happened.
    pub outcome: Outcome,
}

/// A feedback that is on chain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Given {
    /// Its place.
    pub feedback: FeedbackRef,
    /// Where it happened.
    pub outcome: Outcome,
}

/// The name of a feedback.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FeedbackRef {
    /// The agent.
    pub agent: String,
    /// Who gave it.
    pub client: String,
    /// Counts from 1, per agent and client (R44).
    pub index: u64,
}

impl FeedbackRef {
    /// BP's id `agentId:clientAddress:feedbackIndex`, whose index counts from 0 (R44). The only place where this
    /// crate writes one. `chain` is the registry's ([`Registries::network`](crate::Registries::network)): BP's agent
    /// id begins with its number, as in `84532:42:0x742d...:0`. A chain of Solana has no number, and its CAIP-2 id
    /// is written.
    ///
    /// # Errors
    /// [`ClientError`] if a part breaks its form.
    pub fn best_practices_id(&self, chain: &str) -> Result<String, ClientError> {
        require_bare(&self.agent)?;
        let agent = format!("{}:{}", best_practices_chain(chain)?, self.agent);
        let id = FeedbackId::new(&agent, &self.client, self.index)?;
        Ok(id.text(IndexBase::Zero).to_string())
    }

    /// Reads BP's id of a feedback on this chain, as [`Self::best_practices_id`] writes it.
    ///
    /// # Errors
    /// [`ClientError`] if a part breaks its form, or the id names another chain or none.
    pub fn from_best_practices_id(text: &str, chain: &str) -> Result<Self, ClientError> {
        let id = FeedbackId::parse(text, IndexBase::Zero)?;
        let prefix = best_practices_chain(chain)?;
        let agent = id.agent_id().strip_prefix(prefix);
        let agent = agent.and_then(|it| it.strip_prefix(':')).ok_or_else(|| {
            let expected = format!("{prefix}:agent:client:index, of {chain}");
            malformed_id("feedback id", text, &expected)
        })?;
        require_bare(agent)?;
        Ok(Self {
            agent: agent.to_owned(),
            client: id.client().to_owned(),
            index: id.index(),
        })
    }
}

/// What BP's ids on a chain begin with: the number of an EVM chain, and the CAIP-2 id of any other.
fn best_practices_chain(chain: &str) -> Result<&str, ClientError> {
    let id = ChainId::parse(chain)?;
    Ok(match id.namespace() {
        EIP155 => id.reference(),
        _ => chain,
    })
}

/// Requires an agent's id as its chain writes it: the chain is named beside it.
fn require_bare(agent: &str) -> Result<(), ClientError> {
    if agent.is_empty() || agent.contains(':') {
        Err(malformed_id("agent", agent, "its id without the chain"))
    } else {
        Ok(())
    }
}

fn malformed_id(field: &'static str, found: &str, expected: &str) -> ClientError {
    ClientError::Malformed {
        field,
        found: found.chars().take(80).collect(),
        expected: expected.to_owned(),
        class: ErrorClass::MalformedFeedbackId,
    }
}

/// Whose operation it was, and on which chain.
pub(crate) struct By {
    network: String,
    account: Option<AccountId>,
}

impl By {
    /// By an account, CAIP-10.
    pub(crate) fn new(account: &str) -> Self {
        let (network, address) = account.rsplit_once(':').unwrap_or_default();
        Self {
            network: network.to_owned(),
            account: parse_account(address),
        }
    }

    fn agent(&self, text: &str) -> Option<AgentId> {
        if self.network.split_once(':')?.0 == EIP155 {
            word::parse_decimal("agent", text).ok().map(AgentId::Evm)
        } else {
            text.parse::<svm::Address>().ok().map(AgentId::Svm)
        }
    }

    /// Whether the event is what the operation emits.
    pub(crate) fn did(&self, operation: &Operation, event: &Event) -> bool {
        let is_own = |it: &AccountId| self.account == Some(*it);
        let is_of = |text: &str, it: &AgentId| self.agent(text) == Some(*it);
        let is = |text: &str, it: &AccountId| parse_account(text) == Some(*it);
        match (operation, event) {
            (Operation::Register(it), Event::AgentRegistered { owner, uri, .. }) => {
                is_own(owner) && *uri == it.uri
            }
            (Operation::SetWallet(it), Event::AgentWalletSet { agent, wallet }) => {
                is_of(&it.agent, agent) && wallet.is_some_and(|wallet| is(&it.wallet, &wallet))
            }
            (Operation::Give(it), _) => self.gave(it, event),
            (
                Operation::Revoke(it),
                Event::FeedbackRevoked {
                    profile,
                    agent,
                    client,
                    index,
                },
            ) => {
                *profile == Profile::from(it.kind)
                    && is_of(&it.agent, agent)
                    && is_own(client)
                    && *index == it.index
            }
            (
                Operation::Respond(it),
                Event::ResponseAppended {
                    agent,
                    client,
                    index,
                    responder,
                    hash,
                    ..
                },
            ) => {
                is_of(&it.agent, agent)
                    && is(&it.client, client)
                    && (*index, *hash) == (it.index, it.hash)
                    && is_own(responder)
            }
            (
                Operation::RequestValidation(it),
                Event::ValidationRequested {
                    agent,
                    validator,
                    request,
                    ..
                },
            ) => is_of(&it.agent, agent) && is(&it.validator, validator) && *request == it.request,
            (
                Operation::AnswerValidation(it),
                Event::ValidationResponded {
                    validator,
                    request,
                    score,
                    ..
                },
            ) => is_own(validator) && (*request, *score) == (it.request, it.score),
            _ => false,
        }
    }

    fn gave(&self, feedback: &Feedback, event: &Event) -> bool {
        let (agent, client, sent) = match event {
            Event::OpenFeedback {
                agent,
                client,
                uri,
                hash,
                ..
            }
            | Event::AuthorizedFeedback {
                agent,
                client,
                uri,
                hash,
                ..
            } => (agent, client, (&**uri, *hash)),
            _ => return false,
        };
        self.agent(&feedback.agent) == Some(*agent)
            && self.account == Some(*client)
            && sent == (&*feedback.uri, feedback.hash)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOLANA: &str = "solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1";
    const MINT: &str = "11111111111111111111111111111112";

    fn feedback(agent: &str, client: &str, index: u64) -> FeedbackRef {
        FeedbackRef {
            agent: agent.to_owned(),
            client: client.to_owned(),
            index,
        }
    }

    /// BP "Feedback ID Format": its own example, and ids of Solana, whose chains have no number.
    #[test]
    fn r44_bps_id_names_the_chain_and_counts_from_0() {
        let on_solana = format!("{SOLANA}:{MINT}:{MINT}:8");
        for (chain, text, named) in [
            (
                "eip155:84532",
                "84532:42:0x742d...:0",
                feedback("42", "0x742d...", 1),
            ),
            (SOLANA, &on_solana, feedback(MINT, MINT, 9)),
        ] {
            assert_eq!(named.best_practices_id(chain).unwrap(), text);
            let read = FeedbackRef::from_best_practices_id(text, chain);
            assert_eq!(read.unwrap(), named);
        }
    }

    #[test]
    fn r44_an_id_of_another_chain_or_of_none_is_refused() {
        let on_solana = format!("{SOLANA}:{MINT}:{MINT}:8");
        for (chain, text) in [
            ("eip155:8453", "84532:42:0x742d...:0"),
            ("eip155:845", "84532:42:0x742d...:0"),
            ("eip155:84532", "42:0x742d...:0"),
            ("eip155:84532", "84532::0x742d...:0"),
            ("eip155:84532", "84532:84532:42:0x742d...:0"),
            ("eip155:84532", "eip155:84532:42:0x742d...:0"),
            ("eip155:84532", &on_solana),
            (SOLANA, "84532:42:0x742d...:0"),
            (SOLANA, &on_solana[SOLANA.len() + 1..]),
        ] {
            let error = FeedbackRef::from_best_practices_id(text, chain).unwrap_err();
            let class = Some(ErrorClass::MalformedFeedbackId);
            assert_eq!(error.class(), class, "{chain} {text}: {error}");
        }
        let read = FeedbackRef::from_best_practices_id("1:42:0x742d...:0", "eip155:84532");
        let error = read.unwrap_err().to_string();
        assert!(error.contains("expected 84532:"), "{error}");
        // an agent that is named with its chain already
        let twice = feedback("84532:42", "0x742d...", 1);
        assert!(twice.best_practices_id("eip155:84532").is_err());
        let bare = feedback("42", "0x742d...", 1);
        assert!(bare.best_practices_id("84532").is_err());
    }
}
