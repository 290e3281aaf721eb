//! The program's accounts: what the state does not hold, too.
use super::Asking;
use crate::{
    backend::{
        StepFault,
        svm::{World, ledger::Ledger, payment},
    },
    model::{Actor, Agent, AgentState, Bytes, Bytes32, Integer, PaddedTag},
};
use concord_registry::svm::accounts::{
    self, AgentIdentity, ClientIndex, FeedbackEntry, MetadataEntry, OpenClientIndex, OpenFeedback,
    SpentPayment, ValidationRequest, ValidationResponse,
};
use serde_json::{Value, json};
use solana_address::Address;
use std::collections::BTreeSet;

/// R10: what counts for an agent whose owner set nothing.
const BOUNDED: u8 = 2;

impl<L: Ledger> Asking<'_, L> {
    /// R9, R13: the registry's keys and lists.
    pub(super) fn registry(&mut self) -> Result<(), StepFault> {
        let records = self.known.records;
        let expected = json!({
            "chain": self.world.chain, "authority": records.authority,
            "proposed": records.proposed, "tokens": records.tokens,
            "facilitators": records.facilitators,
        });
        let address = self.world.program.registry();
        self.account(
            &address,
            json!({}),
            &expected,
            |world, it: accounts::Registry| {
                let all = |of: &[Address]| -> BTreeSet<Actor> {
                    of.iter().map(|at| world.agents.actor(*at)).collect()
                };
                json!({
                    "chain": it.chain, "authority": world.agents.actor(it.authority),
                    "proposed": actor_or_none(world, it.proposed_authority),
                    "tokens": all(&it.payment_tokens), "facilitators": all(&it.facilitators),
                })
            },
        )
    }

    /// R13: the marker of each payment that counted.
    pub(super) fn payments(&mut self) -> Result<(), StepFault> {
        for payment in &self.known.records.payments {
            let task = payment::task_ref_hash(&payment.task, self.world);
            let payer = self.world.keys.actor(&payment.payer);
            let address = self.world.program.spent_payment(&task, &payer);
            let expected = json!({
                "agent": payment.agent, "client": payment.client, "index": payment.index,
            });
            let arguments = json!({ "task": payment.task, "payer": payment.payer });
            self.account(&address, arguments, &expected, |world, it: SpentPayment| {
                json!({
                    "agent": world.agents.agent(it.nft_mint),
                    "client": world.agents.actor(it.reviewer), "index": it.feedback_index,
                })
            })?;
        }
        Ok(())
    }

    /// R3, R4, R7, R10, R13: everything but the times of registration and of the last change.
    pub(super) fn identity(&mut self, agent: &Agent, state: &AgentState) -> Result<(), StepFault> {
        let records = self.known.records;
        let (authorized, verified) = (&state.authorized, state.authorized.verified);
        let verified = verified.unwrap_or_default();
        let expected = json!({
            "agent": agent, "owner": state.owner, "wallet": state.wallet,
            "owner_version": records.transfers.get(agent).map_or(1, |it| it + 1),
            "feedback_authority": records.authorities.get(agent),
            "auth_schemes": records.schemes.get(agent).copied().unwrap_or(BOUNDED),
            "verified": verified,
            "unverified": {
                "count": authorized.count - verified.count, "sum": authorized.sum - verified.sum,
            },
            "validations": state.validations.answered,
            "clients": authorized.clients.len(), "open_clients": state.open.clients.len(),
            "wallet_set_at": records.wallets.get(agent).map(|(_, time)| time),
        });
        let ledger = self.ledger;
        let address = self.world.program.agent(&self.world.mint(agent));
        let arguments = json!({ "agent": agent });
        self.account(
            &address,
            arguments,
            &expected,
            |world, it: AgentIdentity| {
                json!({
                    "agent": world.agents.agent(it.nft_mint), "owner": world.agents.actor(it.owner),
                    "wallet": actor_or_none(world, it.agent_wallet),
                    "owner_version": it.owner_version,
                    "feedback_authority": actor_or_none(world, it.feedback_authority),
                    "auth_schemes": it.auth_schemes,
                    "verified": {
                        "count": it.verified_feedback_count, "sum": it.verified_score_sum,
                    },
                    "unverified": {
                        "count": it.unverified_feedback_count, "sum": it.unverified_score_sum,
                    },
                    "validations": it.validation_count, "clients": it.client_count,
                    "open_clients": it.open_client_count,
                    "wallet_set_at": seconds(ledger, world, it.wallet_set_at),
                })
            },
        )
    }

    pub(super) fn metadata(&mut self, agent: &Agent, state: &AgentState) -> Result<(), StepFault> {
        let mint = self.world.mint(agent);
        for (key, value) in &state.metadata {
            let address = self.world.program.metadata_entry(&mint, key);
            let expected = json!({ "agent": agent, "key": key, "value": value });
            let arguments = json!({ "agent": agent, "key": key });
            self.account(
                &address,
                arguments,
                &expected,
                |world, it: MetadataEntry| {
                    json!({
                        "agent": world.agents.agent(it.nft_mint), "key": it.key,
                        "value": Bytes(it.value),
                    })
                },
            )?;
        }
        Ok(())
    }

    /// R8, R10, R12: each client's index and entries.
    pub(super) fn authorized(
        &mut self,
        agent: &Agent,
        state: &AgentState,
    ) -> Result<(), StepFault> {
        let mint = self.world.mint(agent);
        for (client, ordinal) in state.authorized.clients.iter().zip(1_u64..) {
            let key = self.world.keys.actor(client);
            let address = self.world.program.client_index(&mint, &key);
            let last = state.authorized.last_index(client);
            let expected = index_json(agent, client, last, ordinal);
            let arguments = json!({ "agent": agent, "client": client });
            self.account(&address, arguments, &expected, |world, it: ClientIndex| {
                let (agent, client) = (world.agents.agent(it.agent), world.agents.actor(it.client));
                index_json(&agent, &client, it.last_index, it.ordinal)
            })?;
            let schemes = self
                .known
                .records
                .entry_schemes
                .get(&(agent.clone(), client.clone()));
            let schemes = schemes.map(Vec::as_slice).unwrap_or_default();
            let strangers = &self.known.records.by_strangers;
            let strangers = strangers.get(&(agent.clone(), client.clone()));
            let strangers = strangers.map(Vec::as_slice).unwrap_or_default();
            let entries = state.authorized.entries.get(client).into_iter().flatten();
            let entries = entries.zip(schemes).zip(strangers);
            for (((entry, scheme), by_stranger), index) in entries.zip(1_u64..) {
                let address = self.world.program.feedback_entry(&mint, &key, index);
                let expected = json!({
                    "agent": agent, "client": client, "index": index, "score": entry.score,
                    "tag1": entry.tag1, "tag2": entry.tag2, "revoked": entry.revoked,
                    "responses": entry.responses, "auth_verified": true, "auth_scheme": scheme,
                    "is_paid": entry.payment.is_some(), "by_stranger": by_stranger,
                });
                let arguments = json!({ "agent": agent, "client": client, "index": index });
                self.account(&address, arguments, &expected, entry_json)?;
            }
        }
        Ok(())
    }

    /// R12, R16: each client's index and entries.
    pub(super) fn open(&mut self, agent: &Agent, state: &AgentState) -> Result<(), StepFault> {
        let mint = self.world.mint(agent);
        for (client, ordinal) in state.open.clients.iter().zip(1_u64..) {
            let key = self.world.keys.actor(client);
            let address = self.world.program.open_client_index(&mint, &key);
            let last = state.open.last_index(client);
            let expected = index_json(agent, client, last, ordinal);
            let arguments = json!({ "agent": agent, "client": client });
            self.account(
                &address,
                arguments,
                &expected,
                |world, it: OpenClientIndex| {
                    let (agent, client) =
                        (world.agents.agent(it.agent), world.agents.actor(it.client));
                    index_json(&agent, &client, it.last_index, it.ordinal)
                },
            )?;
            let times = self
                .known
                .records
                .open_times
                .get(&(agent.clone(), client.clone()));
            let times = times.map(Vec::as_slice).unwrap_or_default();
            let entries = state.open.entries.get(client).into_iter().flatten();
            for ((entry, time), index) in entries.zip(times).zip(1_u64..) {
                let address = self.world.program.open_feedback(&mint, &key, index);
                let expected = json!({
                    "agent": agent, "client": client, "index": index, "value": entry.value,
                    "decimals": entry.decimals, "tag1": entry.tag1, "tag2": entry.tag2,
                    "revoked": entry.revoked, "responses": entry.responses, "time": time,
                });
                let arguments = json!({ "agent": agent, "client": client, "index": index });
                let ledger = self.ledger;
                self.account(&address, arguments, &expected, |world, it: OpenFeedback| {
                    open_entry_json(ledger, world, it)
                })?;
            }
        }
        Ok(())
    }

    /// R20: each request, and its response.
    pub(super) fn validations(&mut self) -> Result<(), StepFault> {
        for asked in &self.known.records.requests {
            let mint = self.world.mint(&asked.agent);
            let validator = self.world.keys.actor(&asked.validator);
            let program = &self.world.program;
            let hash = asked.request.0;
            let arguments = json!({
                "agent": asked.agent, "validator": asked.validator, "request": asked.request,
            });
            let times = |first: Option<&u64>| first.map(|it| json!(it)).unwrap_or_default();
            let expected = json!({
                "agent": asked.agent, "validator": asked.validator, "request": asked.request,
                "responded": !asked.answers.is_empty(), "time": asked.time,
            });
            let ledger = self.ledger;
            let address = program.validation_request(&mint, &validator, &hash);
            let response = program.validation_response(&mint, &validator, &hash);
            self.account(
                &address,
                arguments.clone(),
                &expected,
                |world, it: ValidationRequest| {
                    json!({
                        "agent": world.agents.agent(it.nft_mint),
                        "validator": world.agents.actor(it.validator),
                        "request": Bytes32(it.request_hash),
                        "responded": it.responded, "time": seconds(ledger, world, it.created_at),
                    })
                },
            )?;
            let agents = &self.known.state.agents;
            let validations = agents.get(&asked.agent).map(|it| &it.validations);
            let found = validations.and_then(|it| it.find(&asked.request, &asked.validator));
            let expected = match found.and_then(|it| it.answer.as_ref()) {
                None => Value::Null,
                Some(answer) => json!({
                    "score": answer.score, "hash": answer.hash, "tag": answer.tag,
                    "responses": asked.answers.len(), "first": times(asked.answers.first()),
                    "last": times(asked.answers.last()),
                }),
            };
            self.account(
                &response,
                arguments,
                &expected,
                |world, it: ValidationResponse| {
                    json!({
                        "score": it.score, "hash": Bytes32(it.evidence_hash),
                        "tag": PaddedTag(it.tag), "responses": it.response_count,
                        "first": seconds(ledger, world, it.created_at),
                        "last": seconds(ledger, world, it.last_update),
                    })
                },
            )?;
        }
        Ok(())
    }
}

fn actor_or_none(world: &World, address: Address) -> Option<Actor> {
    (address != Address::default()).then(|| world.agents.actor(address))
}

/// After the start; in words where the time is none of the scenario's.
fn seconds(ledger: &impl Ledger, world: &World, timestamp: i64) -> Value {
    match ledger.scenario_time(timestamp) {
        Ok(time) => json!(time.saturating_sub(world.start)),
        Err(fault) => json!(fault.to_string()),
    }
}

fn index_json(agent: &Agent, client: &Actor, last: u64, ordinal: u64) -> Value {
    json!({ "agent": agent, "client": client, "last": last, "ordinal": ordinal })
}

/// The entry's time and payment are in the canonical state, which was compared already.
fn entry_json(world: &World, it: FeedbackEntry) -> Value {
    json!({
        "agent": world.agents.agent(it.nft_mint), "client": world.agents.actor(it.reviewer),
        "index": it.feedback_index, "score": it.score,
        "tag1": PaddedTag(it.tag1), "tag2": PaddedTag(it.tag2),
        "revoked": it.revoked, "responses": it.response_count,
        "auth_verified": it.auth_verified, "auth_scheme": it.auth_scheme,
        "is_paid": it.has_payment_proof, "by_stranger": it.by_stranger,
    })
}

fn open_entry_json(ledger: &impl Ledger, world: &World, it: OpenFeedback) -> Value {
    json!({
        "agent": world.agents.agent(it.nft_mint), "client": world.agents.actor(it.client),
        "index": it.feedback_index, "value": Integer(it.value), "decimals": it.value_decimals,
        "tag1": it.tag1, "tag2": it.tag2, "revoked": it.revoked, "responses": it.response_count,
        "time": seconds(ledger, world, it.created_at),
    })
}
