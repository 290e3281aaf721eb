//! What came of an operation, as the event of its transaction has it.

use concord_canonical::{
    caip::EIP155,
    feedback_id::{FeedbackId, IndexBase},
    word,
};
use concord_chain::reviewers::parse_account;
use concord_registry::{
    event::{AccountId, AgentId, Event, Profile},
    svm,
};

use crate::{Feedback, Operation};

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
    /// crate writes one.
    ///
    /// # Errors
    /// A part that breaks its form.
    pub fn best_practices_id(&self) -> Result<String, concord_canonical::Error> {
        let id = FeedbackId::new(&self.agent, &self.client, self.index)?;
        Ok(id.text(IndexBase::Zero).to_string())
    }

    /// Reads BP's id, whose index counts from 0 (R44).
    ///
    /// # Errors
    /// A part that breaks its form.
    pub fn from_best_practices_id(text: &str) -> Result<Self, concord_canonical::Error> {
        let id = FeedbackId::parse(text, IndexBase::Zero)?;
        Ok(Self {
            agent: id.agent_id().to_owned(),
            client: id.client().to_owned(),
            index: id.index(),
        })
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
        match self.network.split_once(':')?.0 == EIP155 {
            true => word::parse_decimal("agent", text).ok().map(AgentId::Evm),
            false => text.parse::<svm::Address>().ok().map(AgentId::Svm),
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
