//! The canonical state, read through the contracts' view functions.
use super::{
    Agents, Deployment,
    abi::{AuthorizedReputation, Identity},
    node::Node,
};
use crate::{
    backend::StepFault,
    model::{AgentState, AuthorizedState, CanonicalState, FeedbackState, PaddedTag},
};
use alloy::primitives::{Address, U256};

pub(super) fn state(
    node: &Node,
    deployment: &Deployment,
    agents: &Agents,
    start: u64,
) -> Result<CanonicalState, StepFault> {
    let reader = Reader {
        node,
        deployment,
        agents,
        start,
    };
    // Before the first transaction the latest block is older than the start.
    let mut state = CanonicalState {
        time: node.latest_block_time()?.saturating_sub(start),
        ..CanonicalState::default()
    };
    for (id, agent) in agents.agents() {
        state.agents.insert(agent.clone(), reader.agent(id)?);
    }
    Ok(state)
}

struct Reader<'a> {
    node: &'a Node,
    deployment: &'a Deployment,
    agents: &'a Agents,
    start: u64,
}

impl Reader<'_> {
    fn agent(&self, agent_id: U256) -> Result<AgentState, StepFault> {
        let identity = self.deployment.identity;
        let owner = self
            .node
            .read(identity, &Identity::ownerOfCall { agentId: agent_id })?;
        let uri = self
            .node
            .read(identity, &Identity::tokenURICall { agentId: agent_id })?;
        let wallet = self.node.read(
            identity,
            &Identity::getAgentWalletCall { agentId: agent_id },
        )?;
        Ok(AgentState {
            wallet: (wallet != Address::ZERO).then(|| self.agents.actor(wallet)),
            authorized: self.authorized(agent_id)?,
            ..AgentState::registered(self.agents.actor(owner), uri)
        })
    }

    fn authorized(&self, agent_id: U256) -> Result<AuthorizedState, StepFault> {
        let registry = self.deployment.reputation;
        let totals = self.node.read(
            registry,
            &AuthorizedReputation::getTotalsCall { agentId: agent_id },
        )?;
        let summary = self.node.read(
            registry,
            &AuthorizedReputation::getSummaryCall { agentId: agent_id },
        )?;
        let clients = self.node.read(
            registry,
            &AuthorizedReputation::getClientsCall { agentId: agent_id },
        )?;
        let mut authorized = AuthorizedState {
            count: totals.count,
            sum: totals.sum,
            average: summary.averageScore,
            ..AuthorizedState::default()
        };
        for client in clients {
            let label = self.agents.actor(client);
            authorized.clients.push(label.clone());
            authorized
                .entries
                .insert(label, self.entries(agent_id, client)?);
        }
        Ok(authorized)
    }

    fn entries(&self, agent_id: U256, client: Address) -> Result<Vec<FeedbackState>, StepFault> {
        let last_index = self.node.read(
            self.deployment.reputation,
            &AuthorizedReputation::getLastIndexCall {
                agentId: agent_id,
                clientAddress: client,
            },
        )?;
        (1..=last_index)
            .map(|index| self.entry(agent_id, client, index))
            .collect()
    }

    fn entry(
        &self,
        agent_id: U256,
        client: Address,
        index: u64,
    ) -> Result<FeedbackState, StepFault> {
        let call = AuthorizedReputation::readFeedbackCall {
            agentId: agent_id,
            clientAddress: client,
            feedbackIndex: index,
        };
        let entry = self.node.read(self.deployment.reputation, &call)?;
        let time = entry
            .timestamp
            .checked_sub(self.start)
            .ok_or_else(|| StepFault::UnexplainedState(format!("timestamp {}", entry.timestamp)))?;
        Ok(FeedbackState {
            score: entry.score,
            tag1: PaddedTag(entry.tag1.0),
            tag2: PaddedTag(entry.tag2.0),
            time,
            revoked: entry.isRevoked,
            responses: 0, // the contract has no responses yet
            payment: None,
        })
    }
}
