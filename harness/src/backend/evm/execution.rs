//! What becomes of operations on the chain.
use super::{
    Clock, Dialect, Registries,
    event_order::{registration_before_its_wallet, registration_first},
    labels::{LogLabels, native_words},
    ledger::{Answer, Ledger, Receipt, try_view, view},
    token_events::{self, TokenEvent},
};
use crate::{
    backend::{Cost, Observed, StepFault},
    model::{
        Actor, Agent, Integer, OpenSummaryQuery, Operation, Outcome, Register, SetMetadata,
        Summary, Transfer, Verdict,
    },
};
use alloy::{
    primitives::{Address, Bytes, Log, U256},
    signers::local::PrivateKeySigner,
    sol_types::SolEvent,
};
use concord_registry::evm::abi::{
    AuthorizedReputationRegistry as AuthorizedReputation, IdentityRegistry as Identity,
    ReputationRegistry as OpenReputation,
};
use std::borrow::Cow;

impl<L: Ledger> Registries<L> {
    /// Sends the operation at `time`, in seconds after the start.
    pub(super) fn transact(
        &mut self,
        registry: Address,
        operation: &Operation,
        time: u64,
    ) -> Answer<Observed> {
        let now = self.start.saturating_add(time);
        let (by, input) = self.call(registry, operation, now)?;
        let key = self.key(&by);
        self.ledger.set_next_block_time(now)?;
        let receipt = self.ledger.send(&key, Some(registry), input)?;
        if let Operation::Register(Register { agent, .. }) = operation {
            self.note_registration(agent, &receipt);
        }
        if let Some(data) = &receipt.refusal
            && self.others.is_refused_later(registry, data)
        {
            return Err(StepFault::LaterVersion(native_words(data)));
        }
        let known = self.others.known_logs(&receipt.logs, &self.addresses);
        let mut observed = self.observe(&receipt, &known)?;
        if observed.outcome.verdict == Verdict::Ok {
            let expected = self.token_events(operation);
            observed.token_events = token_events::difference(
                &receipt.logs,
                self.addresses.identity,
                expected,
                &self.agents,
            );
            self.note(operation);
        }
        Ok(observed)
    }

    pub(super) fn summary(&mut self, registry: Address, agent: &Agent) -> Answer<Observed> {
        let call = AuthorizedReputation::getSummary_0Call {
            agentId: self.id_of(agent),
        };
        let answer = view(&mut self.ledger, registry, &call)?;
        Ok(Outcome::answered(Summary::Authorized {
            count: answer.count,
            average: answer.averageScore,
        })
        .into())
    }

    pub(super) fn open_summary(
        &mut self,
        registry: Address,
        query: &OpenSummaryQuery,
    ) -> Answer<Observed> {
        let clients = query.clients.iter();
        let call = OpenReputation::getSummaryCall {
            agentId: self.id_of(&query.agent),
            clientAddresses: clients.map(|it| self.address_of(it)).collect(),
            tag1: query.tag1.clone(),
            tag2: query.tag2.clone(),
        };
        match try_view(&mut self.ledger, registry, &call)? {
            Ok(answer) => Ok(Outcome::answered(Summary::Open {
                count: answer.count,
                value: Integer(answer.summaryValue),
                decimals: answer.summaryValueDecimals,
            })
            .into()),
            Err(data) => self.refused(&data, None),
        }
    }

    fn observe(&self, receipt: &Receipt, logs: &[Log]) -> Answer<Observed> {
        let cost = Some(Cost::Gas(receipt.gas));
        if let Some(data) = &receipt.refusal {
            return self.refused(data, cost);
        }
        let identity = self.addresses.identity;
        let logs = match self.dialect {
            Dialect::CanonicalAbi => Cow::Owned(registration_first(logs, identity)),
            Dialect::Canonical | Dialect::OverCanonicalIdentity => {
                Cow::Owned(registration_before_its_wallet(logs, identity))
            }
            Dialect::Concord => Cow::Borrowed(logs),
        };
        let labels = LogLabels {
            registries: &self.addresses,
            agents: &self.agents,
            requests: &self.requests,
            clock: Clock {
                start: self.start,
                times: self.ledger.scenario_times(),
            },
        };
        Ok(Observed {
            outcome: Outcome::accepted(labels.read(&logs)?),
            native_error: None,
            cost,
            transaction: receipt.transaction.map(|it| it.to_string()),
            token_events: None,
        })
    }

    fn refused(&self, revert_data: &Bytes, cost: Option<Cost>) -> Answer<Observed> {
        let own = self.error_classes.class_of(revert_data);
        let class = own.or_else(|| self.dialect.class_of(revert_data));
        let class = class.ok_or_else(|| StepFault::UnmappedError(native_words(revert_data)))?; // R25
        Ok(Observed {
            outcome: Outcome::refused(class),
            native_error: Some(native_words(revert_data)),
            cost,
            transaction: None,
            token_events: None,
        })
    }

    /// The events of the same transaction name the agent already.
    fn note_registration(&mut self, agent: &Agent, receipt: &Receipt) {
        let registered = receipt.logs.iter().find_map(|log| {
            Identity::Registered::decode_log_validate(log)
                .ok()
                .filter(|registered| registered.address == self.addresses.identity)
        });
        if let Some(registered) = registered {
            self.agents.add_agent(registered.agentId, agent.clone());
        }
    }

    /// What an accepted operation must say beside its canonical events (R2, R3).
    fn token_events(&mut self, operation: &Operation) -> Vec<TokenEvent> {
        let id = operation.agent().and_then(|it| self.agents.id_of(it));
        let owner = id.and_then(|id| self.memory.owner(id));
        match (operation, id, owner) {
            (Operation::Register(it), Some(id), _) => {
                let owner = self.address_of(&it.by);
                let mut events = vec![
                    TokenEvent::Transfer {
                        from: Address::ZERO,
                        to: owner,
                        id,
                    },
                    TokenEvent::FirstWallet { id, wallet: owner },
                ];
                if !it.uri.is_empty() {
                    events.push(TokenEvent::MetadataUpdate { id });
                }
                events
            }
            (Operation::SetAgentUri(_), Some(id), _) => vec![TokenEvent::MetadataUpdate { id }],
            (Operation::Transfer(it), Some(id), Some(from)) => vec![TokenEvent::Transfer {
                from,
                to: self.address_of(&it.to),
                id,
            }],
            (Operation::Approve(it), Some(id), Some(owner)) => vec![TokenEvent::Approval {
                owner,
                approved: self.address_or_zero(it.operator.as_ref()),
                id,
            }],
            (Operation::SetOperator(it), ..) => vec![TokenEvent::ApprovalForAll {
                owner: self.address_of(&it.by),
                operator: self.address_of(&it.operator),
                approved: it.approved,
            }],
            _ => Vec::new(),
        }
    }

    /// Keeps the parts of an accepted operation that no view returns.
    fn note(&mut self, operation: &Operation) {
        match operation {
            Operation::Register(Register {
                agent,
                by,
                metadata,
                ..
            }) => {
                let id = self.id_of(agent);
                let owner = self.address_of(by);
                self.memory.note_owner(id, owner);
                for entry in metadata {
                    self.memory.note_metadata(id, &entry.key);
                }
            }
            Operation::Transfer(Transfer { agent, to, .. }) => {
                let id = self.id_of(agent);
                let owner = self.address_of(to);
                self.memory.note_owner(id, owner);
            }
            Operation::SetMetadata(SetMetadata { agent, key, .. }) => {
                let id = self.id_of(agent);
                self.memory.note_metadata(id, key);
            }
            Operation::ValidationResponse(answer) => {
                let request = self.requests.native(&answer.request);
                self.memory.note_answer(request);
            }
            _ => (),
        }
    }

    /// A label without a registration gets the id of no agent.
    pub(super) fn id_of(&mut self, agent: &Agent) -> U256 {
        let registered = self.agents.id_of(agent);
        registered.unwrap_or_else(|| self.unregistered.id_of(agent, &self.agents))
    }

    fn key(&mut self, actor: &Actor) -> PrivateKeySigner {
        let derive = || self.keyring.key(actor);
        self.keys
            .entry(actor.clone())
            .or_insert_with(derive)
            .clone()
    }

    pub(super) fn address_of(&mut self, actor: &Actor) -> Address {
        self.key(actor).address()
    }

    pub(super) fn address_or_zero(&mut self, actor: Option<&Actor>) -> Address {
        actor.map_or(Address::ZERO, |actor| self.address_of(actor))
    }
}
