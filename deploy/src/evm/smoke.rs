//! The shortest way through a deployment: one agent, one authorized feedback, one summary.
use super::{
    EvmTarget, contracts,
    fees::{self, Fees},
    planning::TRANSFER_GAS,
    sending::{Call, Sender},
};
use crate::{Check, Deed, Deployment, Fault, Smoke, network};
use alloy::{
    network::TransactionBuilder,
    primitives::{Address, B256, Bytes, FixedBytes, U256},
    rpc::types::{TransactionReceipt, TransactionRequest, state::StateOverride},
    signers::{SignerSync, local::PrivateKeySigner},
    sol_types::{SolCall, SolEvent},
};
use concord_canonical::{auth::EvmFeedbackAuth, word};
use concord_registry::evm::{
    abi::{AuthorizedReputationRegistry, IdentityRegistry},
    calls::{self, GiveFeedback},
};
use std::time::Duration;

/// Registration, the client's funds, the feedback.
pub(super) const TRANSACTIONS: usize = 3;
const SCORE: u8 = 87;
/// Seconds that the authorization is good for.
const GOOD_FOR: u64 = 3_600;

impl EvmTarget {
    /// Registers an agent of the key, lets a client whose key is made for this and forgotten give
    /// one feedback, and reads the summary. Three transactions; the agent stays.
    ///
    /// # Errors
    /// Whatever keeps a transaction from landing within `patience`.
    pub(super) fn run_smoke(
        &self,
        recorded: &Deployment,
        patience: Duration,
    ) -> Result<Smoke, Fault> {
        let identity = self.on_record(recorded, contracts::IDENTITY)?;
        let reputation = self.on_record(recorded, contracts::AUTHORIZED_REPUTATION)?;
        let client = PrivateKeySigner::random();
        let registered = self.register(identity, patience)?;
        let agent_id = agent_of(&registered)?;
        let feedback = self.feedback(agent_id, identity, reputation, &client)?;
        let funded = self.fund(&client, &feedback, patience)?;
        let given = self.land(&client, feedback, patience)?;
        let of_address = |what, value: String, address: Address| {
            self.deed(what, value, "address", address.to_string())
        };
        Ok(Smoke {
            deeds: vec![
                of_address("agent", agent_id.to_string(), identity),
                self.transaction_deed("register", &registered),
                of_address("client", client.address().to_string(), client.address()),
                self.transaction_deed("funds of the client", &funded),
                self.transaction_deed("giveFeedback", &given),
            ],
            checks: vec![self.summary_check(reputation, agent_id)?],
        })
    }

    fn summary_check(&self, reputation: Address, agent_id: U256) -> Result<Check, Fault> {
        let call = AuthorizedReputationRegistry::getSummary_0Call { agentId: agent_id };
        let found = match self.node.read(reputation, &call)? {
            Ok(summary) => format!("count {}, average {}", summary.count, summary.averageScore),
            Err(reason) => reason,
        };
        let expected = format!("count 1, average {SCORE}");
        let fact = format!("getSummary({agent_id})");
        let subject = contracts::AUTHORIZED_REPUTATION;
        Ok(Check::new(subject, &fact, expected, found))
    }

    fn on_record(&self, recorded: &Deployment, name: &str) -> Result<Address, Fault> {
        let record = recorded.contracts.get(name);
        record
            .and_then(|record| record.address.parse().ok())
            .ok_or_else(|| Fault::NotOnRecord(self.chain.to_string()))
    }

    fn register(&self, identity: Address, patience: Duration) -> Result<TransactionReceipt, Fault> {
        let input = IdentityRegistry::register_0Call {}.abi_encode().into();
        let key = self.key()?;
        let call = self.simulated(key.address(), identity, input)?;
        self.land(key, call, patience)
    }

    /// The feedback, with the owner's permission for just one (R5, R6, R8).
    fn feedback(
        &self,
        agent_id: U256,
        identity: Address,
        reputation: Address,
        client: &PrivateKeySigner,
    ) -> Result<Call, Fault> {
        let owner = self.key()?;
        let fields = EvmFeedbackAuth {
            agent_id: agent_id.to_be_bytes(),
            client_address: client.address().into_array(),
            index_limit: 1,
            expiry: word::from_u64(self.node.latest_time()?.saturating_add(GOOD_FOR)),
            chain_id: word::from_u64(self.chain_id),
            identity_registry: identity.into_array(),
            signer_address: owner.address().into_array(),
        };
        let digest = B256::from(fields.eip712_digest(&reputation.into_array()));
        let signature = owner
            .sign_hash_sync(&digest)
            .map_err(|fault| Fault::KeyUnreadable {
                source_name: "signing".to_owned(),
                reason: fault.to_string(),
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
        self.simulated(client.address(), reputation, input)
    }

    /// Gives the client what its one transaction can cost.
    fn fund(
        &self,
        client: &PrivateKeySigner,
        feedback: &Call,
        patience: Duration,
    ) -> Result<TransactionReceipt, Fault> {
        let fees = Fees::current(&self.node, self.fee_limit)?;
        // Three times: fees may rise before the client sends.
        let cost = fees.cost(feedback.gas).0.saturating_mul(3);
        let below = fees::layer_one_fee(&self.node, feedback.input.len())?;
        let call = Call {
            to: client.address(),
            value: U256::from(cost.saturating_add(below.0.saturating_mul(3))),
            gas: TRANSFER_GAS,
            input: Bytes::new(),
        };
        self.land(self.key()?, call, patience)
    }

    fn simulated(&self, from: Address, to: Address, input: Bytes) -> Result<Call, Fault> {
        let request = TransactionRequest::default()
            .with_from(from)
            .with_to(to)
            .with_input(input.clone());
        let gas = self.node.estimate(&request, &StateOverride::default())?;
        let gas = gas.map_err(|no| Fault::SimulationFailed {
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
    fn land(
        &self,
        key: &PrivateKeySigner,
        call: Call,
        patience: Duration,
    ) -> Result<TransactionReceipt, Fault> {
        let sender = Sender {
            node: &self.node,
            chain_id: self.chain_id,
            step: "smoke",
        };
        let nonce = self.node.next_nonce(key.address())?;
        let fees = Fees::current(&self.node, self.fee_limit)?;
        let hash = sender.send(key, nonce, fees, call)?;
        sender.landed(hash, patience)
    }

    fn transaction_deed(&self, what: &str, receipt: &TransactionReceipt) -> Deed {
        let hash = receipt.transaction_hash.to_string();
        self.deed(what, hash.clone(), "tx", hash)
    }

    fn deed(&self, what: &str, value: String, kind: &str, shown: String) -> Deed {
        Deed {
            what: what.to_owned(),
            value,
            link: network::link(&self.chain, kind, &shown),
        }
    }
}

fn agent_of(receipt: &TransactionReceipt) -> Result<U256, Fault> {
    let registered = receipt
        .logs()
        .iter()
        .find_map(|log| IdentityRegistry::Registered::decode_log(&log.inner).ok());
    registered
        .map(|event| event.agentId)
        .ok_or_else(|| Fault::TransactionFailed {
            step: "register".to_owned(),
            reason: format!("{} has no event Registered", receipt.transaction_hash),
        })
}
