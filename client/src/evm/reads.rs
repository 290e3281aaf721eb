use alloy::{
    network::TransactionBuilder,
    primitives::{Address, Bytes},
    rpc::types::{TransactionRequest, state::StateOverride},
    sol_types::SolCall,
};
use async_trait::async_trait;
use concord_canonical::{ErrorClass, score::Tally, summary::Summary, tag::Tag};
use concord_chain::{ChainId, evm::Node};
use concord_registry::{
    event::AccountId,
    evm::{
        Dialect, RegistryAddresses,
        abi::{
            AuthorizedReputationRegistry as Authorized, Feedback, IdentityRegistry as Identity,
            ReputationRegistry as Open,
        },
        calls, revert_text,
        text::decode_returns,
    },
};

use super::calls::{address, agent_id};
use crate::{
    Agent, ClientError, FeedbackState, Kind, Registries, StoredRating, Tags, Tallies,
    operation::malformed,
};

/// The registries of one deployment on an EVM chain: Concord's, or the canonical ones.
#[derive(Clone, Debug)]
pub struct EvmRegistries {
    pub(super) node: Node,
    pub(super) network: String,
    pub(super) addresses: RegistryAddresses,
}

impl EvmRegistries {
    /// The registries at these addresses. No request is made yet.
    #[must_use]
    pub fn new(node: Node, network: &ChainId, addresses: RegistryAddresses) -> Self {
        Self {
            node,
            network: network.to_string(),
            addresses,
        }
    }

    pub(super) fn refused(&self, reason: impl Into<String>) -> ClientError {
        ClientError::Registry {
            network: self.network.clone(),
            reason: reason.into(),
        }
    }

    /// What a revert means. Ours have custom errors and the canonical contracts texts: one dialect reads both.
    fn refusal(&self, data: Option<Bytes>, words: &str) -> ClientError {
        let data = data.unwrap_or_default();
        let network = self.network.clone();
        let reason = revert_text(&data).unwrap_or_else(|| words.to_owned());
        match Dialect::OverCanonicalIdentity.class_of(&data) {
            Some(class) => ClientError::Refused {
                network,
                class,
                reason,
            },
            None => ClientError::Unclassified { network, reason },
        }
    }

    /// Calls a contract as `from`, and returns the answer's bytes.
    pub(super) async fn try_call(
        &self,
        from: Option<Address>,
        to: Address,
        input: Bytes,
    ) -> Result<Bytes, ClientError> {
        let mut request = TransactionRequest::default().with_to(to).with_input(input);
        request.from = from;
        let called = self.node.call(&request, &StateOverride::default()).await?;
        called.map_err(|no| match no.as_revert_data() {
            None if !is_of_the_call(&no.message) => {
                let reason = no.message.into_owned();
                self.node.endpoint().unreachable("eth_call", reason).into()
            }
            data => self.refusal(data, &no.message),
        })
    }

    /// Calls a view.
    pub(super) async fn ask<C: SolCall>(
        &self,
        to: Address,
        call: &C,
    ) -> Result<C::Return, ClientError> {
        self.ask_with::<C>(to, call.abi_encode().into()).await
    }

    /// Calls a view with an input that was made before.
    async fn ask_with<C: SolCall>(
        &self,
        to: Address,
        input: Bytes,
    ) -> Result<C::Return, ClientError> {
        let answer = self.try_call(None, to, input).await?;
        decode_returns::<C>(&answer)
            .map_err(|_| self.refused(format!("{to} answers {} with {answer}", C::SIGNATURE)))
    }

    /// The addresses of a set of reviewers; of everyone who gave feedback, if the set is `None`.
    async fn clients(
        &self,
        kind: Kind,
        agent: &str,
        reviewers: Option<&[AccountId]>,
    ) -> Result<Vec<Address>, ClientError> {
        let Some(listed) = reviewers else {
            let agent_id = agent_id(agent)?;
            let call = Feedback::getClientsCall { agentId: agent_id };
            return self.ask(self.reputation(kind)?, &call).await;
        };
        let listed = listed.iter().map(|it| match it {
            AccountId::Evm(address) => Ok(Address::from(*address)),
            AccountId::Svm(other) => {
                let expected = "an address of this chain";
                Err(malformed("reviewer", &other.to_string(), expected))
            }
        });
        listed.collect()
    }

    async fn open_feedback(
        &self,
        agent: &str,
        client: Address,
        index: u64,
    ) -> Result<FeedbackState, ClientError> {
        let call = Open::readFeedbackCall {
            agentId: agent_id(agent)?,
            clientAddress: client,
            feedbackIndex: index,
        };
        let found = self.ask(self.reputation(Kind::Open)?, &call).await?;
        Ok(FeedbackState {
            rating: StoredRating::Open {
                value: found.value,
                decimals: found.valueDecimals,
                tag1: found.tag1,
                tag2: found.tag2,
            },
            is_revoked: found.isRevoked,
        })
    }

    async fn authorized_feedback(
        &self,
        agent: &str,
        client: Address,
        index: u64,
    ) -> Result<FeedbackState, ClientError> {
        let call = Authorized::readFeedbackCall {
            agentId: agent_id(agent)?,
            clientAddress: client,
            feedbackIndex: index,
        };
        let found = self.ask(self.reputation(Kind::Authorized)?, &call).await?;
        Ok(FeedbackState {
            rating: StoredRating::Authorized {
                score: found.score,
                tag1: found.tag1.0,
                tag2: found.tag2.0,
                has_payment_proof: false, // declared variance 4: EVM has none
            },
            is_revoked: found.isRevoked,
        })
    }
}

/// Whether a node's refusal without data is about the call. Anything else is the node's own state, and may pass.
fn is_of_the_call(message: &str) -> bool {
    let message = message.to_lowercase();
    let has = |words: &[&str]| words.iter().any(|word| message.contains(word));
    let of_call = [
        "revert",
        "gas",
        "opcode",
        "stack",
        "invalid jump",
        "out of bounds",
        "write protection",
    ];
    let of_node = ["timeout", "timed out", "aborted"];
    has(&of_call) && !has(&of_node)
}

/// `None` for what is not there.
fn found<T>(read: Result<T, ClientError>, absent: ErrorClass) -> Result<Option<T>, ClientError> {
    match read {
        Ok(found) => Ok(Some(found)),
        Err(error) if error.class() == Some(absent) => Ok(None),
        Err(error) => Err(error),
    }
}

#[async_trait]
impl Registries for EvmRegistries {
    fn network(&self) -> &str {
        &self.network
    }

    fn registry(&self) -> String {
        format!("{}:{}", self.network, self.addresses.identity)
    }

    async fn agent(&self, agent: &str) -> Result<Option<Agent>, ClientError> {
        let (agent_id, identity) = (agent_id(agent)?, self.addresses.identity);
        let owner = found(self.owner(agent_id).await, ErrorClass::AgentNotFound)?;
        let Some(owner) = owner else {
            return Ok(None);
        };
        let wallet = Identity::getAgentWalletCall { agentId: agent_id };
        let wallet = self.ask(identity, &wallet).await?;
        let uri = Identity::tokenURICall { tokenId: agent_id };
        Ok(Some(Agent {
            owner: owner.into(),
            wallet: (!wallet.is_zero()).then(|| wallet.into()),
            uri: self.ask(identity, &uri).await?,
        }))
    }

    async fn feedback(
        &self,
        kind: Kind,
        agent: &str,
        client: &str,
        index: u64,
    ) -> Result<Option<FeedbackState>, ClientError> {
        let client = address("client", client)?;
        let read = match kind {
            Kind::Open => self.open_feedback(agent, client, index).await,
            Kind::Authorized => self.authorized_feedback(agent, client, index).await,
        };
        found(read, ErrorClass::FeedbackNotFound)
    }

    async fn open_summary(
        &self,
        agent: &str,
        reviewers: Option<&[AccountId]>,
        tags: Tags<'_>,
    ) -> Result<Summary, ClientError> {
        let clients = self.clients(Kind::Open, agent, reviewers).await?;
        if clients.is_empty() && reviewers.is_none() {
            return Ok(Summary::default()); // there is no feedback
        }
        let input = calls::open_summary(agent_id(agent)?, &clients, tags.tag1, tags.tag2);
        let summary = self.ask_with::<Open::getSummaryCall>(self.reputation(Kind::Open)?, input);
        let summary = summary.await?;
        Ok(Summary {
            count: summary.count,
            value: summary.summaryValue,
            decimals: summary.summaryValueDecimals,
        })
    }

    async fn tallies(
        &self,
        agent: &str,
        reviewers: Option<&[AccountId]>,
        tags: Tags<'_>,
    ) -> Result<Tallies, ClientError> {
        let clients = self.clients(Kind::Authorized, agent, reviewers).await?;
        if clients.is_empty() && reviewers.is_none() {
            return Ok(Tallies::default());
        }
        let call = Authorized::getTotals_1Call {
            agentId: agent_id(agent)?,
            clientAddresses: clients,
            tag1: Tag::new(tags.tag1)?.padded().into(), // R14
            tag2: Tag::new(tags.tag2)?.padded().into(),
        };
        let totals = self.ask(self.reputation(Kind::Authorized)?, &call).await?;
        Ok(Tallies {
            verified: Tally::default(),
            unverified: Tally {
                count: totals.count,
                score_sum: totals.sum,
            },
        })
    }
}
