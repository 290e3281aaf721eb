//! The shortest way through a deployment: one agent, one authorized feedback, one summary.
use super::{Deployer, EvmTarget, contracts};
use crate::{Check, DeployError, Deployment, Smoke, SmokeStep};
use alloy::{
    network::TransactionBuilder,
    primitives::{Address, B256, Bytes, FixedBytes, U256},
    rpc::types::{TransactionReceipt, TransactionRequest, state::StateOverride},
    signers::{SignerSync, local::PrivateKeySigner},
    sol_types::{SolCall, SolEvent},
};
use concord_canonical::{auth::EvmFeedbackAuth, word};
use concord_chain::{
    ChainError,
    evm::{Call, Client, Fees, TRANSFER_GAS, layer_one_fee},
    network,
};
use concord_registry::evm::{
    abi::{AuthorizedReputationRegistry, IdentityRegistry},
    calls::{self, GiveFeedback},
};
use std::time::Duration;

/// Registration, the client's funds, the feedback.
pub(super) const TRANSACTIONS: usize = 3;
const SCORE: u8 = 87;
/// Seconds that the authorization is valid.
const GOOD_FOR: u64 = 3_600;

impl EvmTarget {
    /// Registers an agent of the key, lets a client whose key is made for this and forgotten give
    /// one feedback, and reads the summary. Three transactions; the agent stays.
    ///
    /// # Errors
    /// Whatever keeps a transaction from landing within `give_up_after`.
    pub(super) async fn run_smoke(
        &self,
        recorded: &Deployment,
        give_up_after: Duration,
    ) -> Result<Smoke, DeployError> {
        let identity = self.on_record(recorded, contracts::IDENTITY)?;
        let reputation = self.on_record(recorded, contracts::AUTHORIZED_REPUTATION)?;
        let client = PrivateKeySigner::random();
        let chain_id = self.chain_id;
        let node = self.node.clone();
        let sender = &mut Client::at(node, chain_id, self.fee_limit, give_up_after).await?;
        let registered = self.register(identity, sender).await?;
        let agent_id = agent_of(&registered)?;
        let feedback = self
            .feedback(agent_id, identity, reputation, &client)
            .await?;
        let funded = self.fund(&client, &feedback, sender).await?;
        let given = self.land(&client, feedback, sender).await?;
        let of_address = |what, value: String, address: Address| {
            self.step(what, value, "address", address.to_string())
        };
        Ok(Smoke {
            steps: vec![
                of_address("agent", agent_id.to_string(), identity),
                self.transaction_step("register", &registered),
                of_address("client", client.address().to_string(), client.address()),
                self.transaction_step("funds of the client", &funded),
                self.transaction_step("giveFeedback", &given),
            ],
            checks: vec![self.summary_check(reputation, agent_id).await?],
        })
    }

    async fn summary_check(
        &self,
        reputation: Address,
        agent_id: U256,
    ) -> Result<Check, DeployError> {
        let call = AuthorizedReputationRegistry::getSummary_0Call { agentId: agent_id };
        let found = match self.node.read(reputation, &call).await? {
            Ok(summary) => format!("count {}, average {}", summary.count, summary.averageScore),
            Err(reason) => reason,
        };
        let expected = format!("count 1, average {SCORE}");
        let fact = format!("getSummary({agent_id})");
        let subject = contracts::AUTHORIZED_REPUTATION;
        Ok(Check::new(subject, &fact, expected, found))
    }

    fn on_record(&self, recorded: &Deployment, name: &str) -> Result<Address, DeployError> {
        let record = recorded.contracts.get(name);
        record
            .and_then(|record| record.address.parse().ok())
            .ok_or_else(|| DeployError::NotOnRecord(self.chain.to_string()))
    }

    async fn register(
        &self,
        identity: Address,
        sender: &mut Client,
    ) -> Result<TransactionReceipt, DeployError> {
        let input = IdentityRegistry::register_0Call {}.abi_encode().into();
        let key = self.key()?;
        let call = self.simulated(key.address(), identity, input).await?;
        self.land(key, call, sender).await
    }

    /// The feedback, with the owner's permission for just one (R5, R6, R8).
    async fn feedback(
        &self,
        agent_id: U256,
        identity: Address,
        reputation: Address,
        client: &PrivateKeySigner,
    ) -> Result<Call, DeployError> {
        let owner = self.key()?;
        let fields = EvmFeedbackAuth {
            agent_id: agent_id.to_be_bytes(),
            client_address: client.address().into_array(),
            index_limit: 1,
            expiry: word::from_u64(self.node.latest_time().await?.saturating_add(GOOD_FOR)),
            chain_id: word::from_u64(self.chain_id),
            identity_registry: identity.into_array(),
            signer_address: owner.address().into_array(),
        };
        let digest = B256::from(fields.eip712_digest(&reputation.into_array()));
        let signature =
            owner
                .sign_hash_sync(&digest)
                .map_err(|error| ChainError::KeyUnreadable {
                    source_name: "signing".to_owned(),
                    reason: error.to_string(),
                })?;
        let input = calls::give_feedback(&GiveFeedback {
            agent_id,
            score: SCORE,
            tag1: FixedBytes::right_padding_from(b"smoke").0,
            tag2: [0; 32],
            uri: "",
            hash: [0; 32],
            authorization: &fields.blob(&signature.as_bytes()),
        });
        self.simulated(client.address(), reputation, input).await
    }

    /// Gives the client what its one transaction can cost.
    async fn fund(
        &self,
        client: &PrivateKeySigner,
        feedback: &Call,
        sender: &mut Client,
    ) -> Result<TransactionReceipt, DeployError> {
        let fees = Fees::current(&self.node, self.fee_limit).await?;
        // Three times: fees may rise before the client sends.
        let cost = fees.cost(feedback.gas).0.saturating_mul(3);
        let below = layer_one_fee(&self.node, feedback.input.len()).await?;
        let call = Call {
            to: client.address(),
            value: U256::from(cost.saturating_add(below.0.saturating_mul(3))),
            gas: TRANSFER_GAS,
            input: Bytes::new(),
        };
        self.land(self.key()?, call, sender).await
    }

    async fn simulated(
        &self,
        from: Address,
        to: Address,
        input: Bytes,
    ) -> Result<Call, DeployError> {
        let request = TransactionRequest::default()
            .with_from(from)
            .with_to(to)
            .with_input(input.clone());
        let gas = self
            .node
            .estimate(&request, &StateOverride::default())
            .await?;
        let gas = gas.map_err(|no| ChainError::SimulationFailed {
            title: to.to_string(),
            reason: no.message.into_owned(),
        })?;
        Ok(Call {
            to,
            value: U256::ZERO,
            gas: gas.saturating_add(gas / 10),
            input,
        })
    }

    /// Sends it once and waits.
    async fn land(
        &self,
        key: &PrivateKeySigner,
        call: Call,
        sender: &mut Client,
    ) -> Result<TransactionReceipt, DeployError> {
        let hash = sender.send(key, call).await?;
        Ok(sender.landed(hash).await?)
    }

    /// The agent's owner signs an authorization, which a device does not do.
    fn key(&self) -> Result<&PrivateKeySigner, DeployError> {
        match &self.deployer {
            Deployer::Key(key) => Ok(key),
            _ => Err(DeployError::KeyMissing { or_from: "" }),
        }
    }

    fn transaction_step(&self, what: &str, receipt: &TransactionReceipt) -> SmokeStep {
        let hash = receipt.transaction_hash.to_string();
        self.step(what, hash.clone(), "tx", hash)
    }

    fn step(&self, what: &str, value: String, kind: &str, shown: String) -> SmokeStep {
        SmokeStep {
            what: what.to_owned(),
            value,
            link: network::link(&self.chain, kind, &shown),
        }
    }
}

fn agent_of(receipt: &TransactionReceipt) -> Result<U256, DeployError> {
    let registered = receipt
        .logs()
        .iter()
        .find_map(|log| IdentityRegistry::Registered::decode_log(&log.inner).ok());
    registered.map(|event| event.agentId).ok_or_else(|| {
        ChainError::TransactionFailed {
            job: "register".to_owned(),
            reason: format!("{} has no event Registered", receipt.transaction_hash),
        }
        .into()
    })
}
