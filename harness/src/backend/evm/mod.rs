//! The Solidity registries on anvil, over JSON-RPC.
mod abi;
mod anvil;
mod artifact;
mod authorization;
mod node;
mod observation;
mod translation;

use super::{Backend, Cost, Directory, Missing, Observed, StepFault, secrets::secret_of};
use crate::model::{
    Actor, Agent, AgentState, CanonicalState, Chain, Feedback, Operation, Outcome, Summary,
};
use abi::{AuthorizedReputation, AuthorizedReputationDeployment, Identity};
use alloy::{
    node_bindings::AnvilInstance,
    primitives::{Address, B256, Bytes, Log, U256},
    rpc::types::TransactionReceipt,
    signers::local::PrivateKeySigner,
    sol_types::{SolCall, SolConstructor, SolEvent},
};
use node::Node;
use std::path::Path;

const CAPABILITIES: &[&str] = &[
    "register",
    "transfer",
    "give_feedback",
    "revoke_feedback",
    "summary",
];
const NAME: &str = "evm-anvil";

type Agents = Directory<Address, U256>;

/// Where the registries stand.
struct Deployment {
    chain_id: u64,
    identity: Address,
    reputation: Address,
}

/// The backend `evm-anvil`: one anvil, one deployment, put back to its beginning for each scenario.
pub struct EvmAnvil {
    node: Node,
    deployment: Deployment,
    /// The chain right after deployment.
    snapshot: U256,
    /// Unix seconds.
    start: u64,
    agents: Agents,
    /// Ends anvil when it is dropped.
    _anvil: AnvilInstance,
}

impl EvmAnvil {
    /// Starts anvil (`anvil`, else `CONCORD_ANVIL`, else the one on PATH) and deploys the
    /// contracts from forge's output folder `artifacts`.
    ///
    /// # Errors
    /// A tool or an artifact that is missing or unusable.
    pub fn start(anvil: Option<&Path>, artifacts: &Path) -> Result<Self, Missing> {
        let path = anvil::locate(anvil)?;
        let identity_code = artifact::creation_code(artifacts, "IdentityRegistry")?;
        let reputation_code = artifact::creation_code(artifacts, "AuthorizedReputationRegistry")?;
        let anvil = anvil::start(&path)?;
        let failed = |fault: StepFault| Missing::Deployment {
            participant: NAME,
            reason: fault.to_string(),
        };
        let node = Node::connect(&anvil.endpoint()).map_err(failed)?;
        let deployment = deploy(&node, identity_code, reputation_code).map_err(failed)?;
        Ok(Self {
            snapshot: node.snapshot().map_err(failed)?,
            node,
            deployment,
            start: 0,
            agents: Agents::default(),
            _anvil: anvil,
        })
    }

    fn register(&mut self, agent: &Agent, by: &Actor, uri: &str) -> Result<Observed, StepFault> {
        let call = Identity::registerCall {
            agentURI: uri.to_owned(),
        };
        let receipt = self.send(by, self.deployment.identity, &call)?;
        let registered = logs(&receipt)
            .iter()
            .find_map(|log| Identity::Registered::decode_log_validate(log).ok());
        if let Some(registered) = registered {
            self.agents.add_agent(registered.agentId, agent.clone());
        }
        self.observe(&receipt)
    }

    fn transfer(&self, agent: &Agent, by: &Actor, to: &Actor) -> Result<Observed, StepFault> {
        let agent_id = self.id_of(agent);
        let owner = self
            .node
            .try_read(
                self.deployment.identity,
                &Identity::ownerOfCall { agentId: agent_id },
            )?
            .unwrap_or_else(|_| key_of(by).address());
        let call = Identity::transferFromCall {
            from: owner,
            to: key_of(to).address(),
            agentId: agent_id,
        };
        self.observe(&self.send(by, self.deployment.identity, &call)?)
    }

    fn give_feedback(&self, feedback: &Feedback) -> Result<Observed, StepFault> {
        let blob = match &feedback.authorization {
            Some(sent) => {
                let agent_id = self.id_of(&sent.agent);
                authorization::blob(sent, agent_id, &self.deployment, self.start)?
            }
            None => Vec::new(),
        };
        let call = AuthorizedReputation::giveFeedbackCall {
            agentId: self.id_of(&feedback.agent),
            score: feedback.score,
            tag1: feedback.tag1.0.into(),
            tag2: feedback.tag2.0.into(),
            fileuri: feedback.uri.clone(),
            filehash: feedback.hash.0.into(),
            feedbackAuth: blob.into(),
        };
        self.observe(&self.send(&feedback.by, self.deployment.reputation, &call)?)
    }

    fn revoke_feedback(
        &self,
        agent: &Agent,
        by: &Actor,
        index: u64,
    ) -> Result<Observed, StepFault> {
        let call = AuthorizedReputation::revokeFeedbackCall {
            agentId: self.id_of(agent),
            feedbackIndex: index,
        };
        self.observe(&self.send(by, self.deployment.reputation, &call)?)
    }

    fn summary(&self, agent: &Agent) -> Result<Observed, StepFault> {
        let call = AuthorizedReputation::getSummaryCall {
            agentId: self.id_of(agent),
        };
        let answer = self.node.read(self.deployment.reputation, &call)?;
        Ok(Outcome::answered(Summary::Authorized {
            count: answer.count,
            average: answer.averageScore,
        })
        .into())
    }

    fn send(
        &self,
        by: &Actor,
        contract: Address,
        call: &impl SolCall,
    ) -> Result<TransactionReceipt, StepFault> {
        self.node
            .send(&key_of(by), Some(contract), call.abi_encode().into())
    }

    fn observe(&self, receipt: &TransactionReceipt) -> Result<Observed, StepFault> {
        if receipt.status() {
            let reader = translation::LogReader {
                identity: self.deployment.identity,
                reputation: self.deployment.reputation,
                agents: &self.agents,
                start: self.start,
            };
            return Ok(Observed {
                outcome: Outcome::accepted(reader.read(&logs(receipt))?),
                native_error: None,
                cost: Some(Cost::Gas(receipt.gas_used)),
            });
        }
        let data = self.node.returned(receipt.transaction_hash)?;
        Ok(Observed {
            outcome: Outcome::refused(translation::class_of(&data)?),
            native_error: Some(translation::native_words(&data)),
            cost: Some(Cost::Gas(receipt.gas_used)),
        })
    }

    /// A label that no registration stands behind gets an id that no registry reaches.
    fn id_of(&self, agent: &Agent) -> U256 {
        self.agents
            .id_of(agent)
            .unwrap_or_else(|| U256::from_be_bytes(secret_of("agent", &agent.0)))
    }
}

impl Backend for EvmAnvil {
    fn name(&self) -> &'static str {
        NAME
    }

    fn chain(&self) -> Chain {
        Chain::Evm
    }

    fn supports(&self, operation: &Operation) -> bool {
        CAPABILITIES.contains(&operation.name()) && operation.only_on() != Some(Chain::Svm)
    }

    fn reset(&mut self, start: u64, actors: &[Actor]) -> Result<(), StepFault> {
        self.node.revert(self.snapshot)?;
        self.snapshot = self.node.snapshot()?; // a snapshot can be reverted to once
        self.start = start;
        self.agents = Agents::default();
        for actor in actors {
            let address = key_of(actor).address();
            self.node.fund(address)?;
            self.agents.add_actor(address, actor.clone());
        }
        Ok(())
    }

    fn execute(&mut self, operation: &Operation, time: u64) -> Result<Observed, StepFault> {
        if !operation.is_read() {
            self.node
                .set_next_block_time(self.start.saturating_add(time))?;
        }
        match operation {
            Operation::Register { agent, by, uri, .. } => self.register(agent, by, uri),
            Operation::Transfer { agent, by, to, .. } => self.transfer(agent, by, to),
            Operation::GiveFeedback(feedback) => self.give_feedback(feedback),
            Operation::RevokeFeedback { agent, by, index } => {
                self.revoke_feedback(agent, by, *index)
            }
            Operation::Summary { agent } => self.summary(agent),
            other => Err(StepFault::Inexpressible(other.name().to_owned())),
        }
    }

    fn state(&mut self) -> Result<CanonicalState, StepFault> {
        observation::state(&self.node, &self.deployment, &self.agents, self.start)
    }

    fn agent_state(&mut self, agent: &Agent) -> Result<Option<AgentState>, StepFault> {
        Ok(self.state()?.agents.remove(agent))
    }
}

fn deploy(
    node: &Node,
    identity_code: Bytes,
    reputation_code: Bytes,
) -> Result<Deployment, StepFault> {
    if node.chain_id() != anvil::CHAIN_ID {
        return Err(StepFault::Unreachable(format!(
            "chain id is {}, not {}",
            node.chain_id(),
            anvil::CHAIN_ID
        )));
    }
    let deployer = key_of(&Actor::from("deployer"));
    node.fund(deployer.address())?;
    let create = |code: Bytes| -> Result<Address, StepFault> {
        let receipt = node.send(&deployer, None, code)?;
        receipt
            .contract_address
            .filter(|_| receipt.status())
            .ok_or_else(|| StepFault::Unreachable("a constructor reverted".to_owned()))
    };
    let identity = create(identity_code)?;
    let arguments = AuthorizedReputationDeployment::constructorCall {
        identityRegistry: identity,
        acceptsDraftV1: true, // R6: the default
    };
    let reputation = create(
        [&reputation_code[..], &arguments.abi_encode()]
            .concat()
            .into(),
    )?;
    Ok(Deployment {
        chain_id: node.chain_id(),
        identity,
        reputation,
    })
}

fn key_of(actor: &Actor) -> PrivateKeySigner {
    PrivateKeySigner::from_bytes(&B256::from(secret_of("actor", &actor.0)))
        .expect("keccak256 of a label is a secp256k1 secret")
}

fn logs(receipt: &TransactionReceipt) -> Vec<Log> {
    receipt.logs().iter().map(|log| log.inner.clone()).collect()
}
