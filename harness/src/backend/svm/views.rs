//! Every account and every read instruction of the program, asked at the end of a scenario.
use super::{Registry, World, ledger::Ledger, view};
use crate::{
    backend::{
        StepFault,
        views::{self, Draw, Known, ViewAnswer, ViewDifference, ViewName},
    },
    model::{
        Actor, Agent, AgentState, Found, Integer, OpenFeedbackState, OpenPart, Summary,
        WideInteger, first_difference, open_part, open_summary,
    },
};
use alloy::primitives::{I256, U256};
use concord_canonical::ErrorClass;
use concord_registry::svm::{
    accounts::{
        self, AccountType, AgentIdentity, ClientIndex, FeedbackEntry, MetadataEntry,
        OpenClientIndex, OpenFeedback, SpentPayment, ValidationRequest, ValidationResponse,
    },
    instructions::{ClientEntries, SUMMARY_ACCOUNTS_MAX, accounts_of_summary},
    views::{OpenSummary, OpenSummaryPart, View},
};
use serde_json::{Value, json};
use solana_address::Address;
use solana_instruction::Instruction;
use std::{collections::BTreeSet, ops::RangeInclusive};

/// R10: what counts for an agent whose owner set nothing.
const BOUNDED: u8 = 2;
/// A tag that no entry of a scenario has.
const NO_SUCH_TAG: &str = "no such tag";

impl<L: Ledger> Registry<L> {
    /// All of them, on a cluster that is not shared: there an endpoint counts each question.
    pub(super) fn askable(&self) -> BTreeSet<ViewName> {
        if self.ledger.is_shared() {
            return BTreeSet::new();
        }
        views::all(views::SVM)
    }

    pub(super) fn ask_every_view(
        &self,
        known: Known<'_>,
        draw: &mut Draw,
    ) -> Result<Vec<ViewAnswer>, StepFault> {
        if self.ledger.is_shared() {
            return Ok(Vec::new());
        }
        let mut asking = Asking {
            ledger: &self.ledger,
            world: &self.world,
            known,
            answers: Vec::new(),
        };
        asking.registry()?;
        asking.payments()?;
        for (agent, state) in &known.state.agents {
            asking.identity(agent, state)?;
            asking.metadata(agent, state)?;
            asking.authorized(agent, state)?;
            asking.open(agent, state)?;
            asking.summaries(agent, state, draw)?;
        }
        asking.validations()?;
        Ok(asking.answers)
    }
}

struct Asking<'a, L> {
    ledger: &'a L,
    world: &'a World,
    known: Known<'a>,
    answers: Vec<ViewAnswer>,
}

impl<L: Ledger> Asking<'_, L> {
    /// Reads an account; `read` says in canonical terms what it holds.
    fn account<T: AccountType>(
        &mut self,
        address: &Address,
        arguments: Value,
        expected: &Value,
        read: impl FnOnce(&World, T) -> Value,
    ) -> Result<(), StepFault> {
        let held = self.ledger.load::<T>(&self.world.program, address)?;
        let actual = held.map_or(Value::Null, |held| read(self.world, held));
        let view = named("account", T::NAME);
        self.note(view, arguments, expected, &actual, None)
    }

    fn note(
        &mut self,
        view: ViewName,
        arguments: Value,
        expected: &Value,
        actual: &Value,
        native_error: Option<String>,
    ) -> Result<(), StepFault> {
        let difference = first_difference(expected, actual);
        self.answers.push(ViewAnswer {
            view,
            arguments,
            difference: difference.map(|(path, expected, actual)| ViewDifference {
                path,
                expected,
                actual,
                native_error,
            }),
        });
        Ok(())
    }

    /// R9, R13: the registry's keys and lists.
    fn registry(&mut self) -> Result<(), StepFault> {
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
    fn payments(&mut self) -> Result<(), StepFault> {
        for payment in &self.known.records.payments {
            let task = super::payment::task_ref_hash(&payment.task, self.world);
            let address = self.world.program.spent_payment(&task);
            let expected = json!({
                "agent": payment.agent, "client": payment.client, "index": payment.index,
            });
            let arguments = json!({ "task": payment.task });
            self.account(&address, arguments, &expected, |world, it: SpentPayment| {
                json!({
                    "agent": world.agents.agent(it.nft_mint),
                    "client": world.agents.actor(it.reviewer), "index": it.feedback_index,
                })
            })?;
        }
        Ok(())
    }

    /// R3, R4, R7, R10, R13: everything but times.
    fn identity(&mut self, agent: &Agent, state: &AgentState) -> Result<(), StepFault> {
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
        });
        let address = self.world.program.agent(&self.world.keys.mint(agent));
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
                })
            },
        )
    }

    fn metadata(&mut self, agent: &Agent, state: &AgentState) -> Result<(), StepFault> {
        let mint = self.world.keys.mint(agent);
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
                        "value": crate::model::Bytes(it.value),
                    })
                },
            )?;
        }
        Ok(())
    }

    /// R8, R10, R12: each client's index and entries.
    fn authorized(&mut self, agent: &Agent, state: &AgentState) -> Result<(), StepFault> {
        let mint = self.world.keys.mint(agent);
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
            let entries = state.authorized.entries.get(client).into_iter().flatten();
            for ((entry, scheme), index) in entries.zip(schemes).zip(1_u64..) {
                let address = self.world.program.feedback_entry(&mint, &key, index);
                let expected = json!({
                    "agent": agent, "client": client, "index": index, "score": entry.score,
                    "tag1": entry.tag1, "tag2": entry.tag2, "revoked": entry.revoked,
                    "responses": entry.responses, "auth_verified": true, "auth_scheme": scheme,
                    "is_paid": entry.payment.is_some(),
                });
                let arguments = json!({ "agent": agent, "client": client, "index": index });
                self.account(&address, arguments, &expected, entry_json)?;
            }
        }
        Ok(())
    }

    /// R12, R16: each client's index and entries.
    fn open(&mut self, agent: &Agent, state: &AgentState) -> Result<(), StepFault> {
        let mint = self.world.keys.mint(agent);
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
    fn validations(&mut self) -> Result<(), StepFault> {
        for asked in &self.known.records.requests {
            let mint = self.world.keys.mint(&asked.agent);
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
                        "request": crate::model::Bytes32(it.request_hash),
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
                        "score": it.score, "hash": crate::model::Bytes32(it.evidence_hash),
                        "tag": crate::model::PaddedTag(it.tag), "responses": it.response_count,
                        "first": seconds(ledger, world, it.created_at),
                        "last": seconds(ledger, world, it.last_update),
                    })
                },
            )?;
        }
        Ok(())
    }

    /// R16: over drawn clients with drawn tags, over a range of one client's entries, and over
    /// nobody, which is refused.
    fn summaries(
        &mut self,
        agent: &Agent,
        state: &AgentState,
        draw: &mut Draw,
    ) -> Result<(), StepFault> {
        self.summary_of(agent, state, &[], ("", ""))?;
        let mut clients = draw.list(&state.open.clients, 3);
        let actors: Vec<_> = self
            .world
            .agents
            .actors()
            .map(|(_, it)| it.clone())
            .collect();
        clients.extend(draw.pick(&actors));
        let (tag1, tag2) = drawn_tags(state, draw);
        self.summary_of(agent, state, &clients, (&tag1, &tag2))?;
        if let Some(client) = draw.pick(&state.open.clients) {
            let last = state.open.last_index(&client);
            let first = draw.below(last) + 1;
            let end = first + draw.below(last - first + 1);
            let (tag1, tag2) = drawn_tags(state, draw);
            let most = SUMMARY_ACCOUNTS_MAX - 1;
            let range = first..=end.min(first + most - 1);
            self.range_of(agent, state, &client, range, (&tag1, &tag2))?;
        }
        Ok(())
    }

    /// Both instructions, unless the clients' entries are more than a transaction can lock.
    fn summary_of(
        &mut self,
        agent: &Agent,
        state: &AgentState,
        clients: &[Actor],
        tags: (&str, &str),
    ) -> Result<(), StepFault> {
        let listed: Vec<_> = clients
            .iter()
            .map(|client| ClientEntries {
                client: self.world.keys.actor(client),
                last: state.open.last_index(client),
            })
            .collect();
        if accounts_of_summary(&listed) > SUMMARY_ACCOUNTS_MAX {
            return Ok(());
        }
        let found = state.open.matching(clients, tags, false);
        let refusal = || {
            clients
                .is_empty()
                .then(|| json!(ErrorClass::EmptyClients.name()))
        };
        let arguments = json!({
            "agent": agent, "clients": clients, "tag1": tags.0, "tag2": tags.1,
        });
        let (program, mint) = (&self.world.program, self.world.keys.mint(agent));
        let whole = program.open_summary(mint, &listed, tags.0, tags.1);
        let part = program.open_summary_part(mint, &listed, tags.0, tags.1);
        let expected = refusal().unwrap_or_else(|| json!(open_summary(&found)));
        self.call(
            &whole,
            "open_summary",
            arguments.clone(),
            &expected,
            summary_json,
        )?;
        let expected = refusal().unwrap_or_else(|| part_json(&open_part(&found)));
        self.call(
            &part,
            "open_summary_part",
            arguments,
            &expected,
            native_part_json,
        )
    }

    fn range_of(
        &mut self,
        agent: &Agent,
        state: &AgentState,
        client: &Actor,
        range: RangeInclusive<u64>,
        tags: (&str, &str),
    ) -> Result<(), StepFault> {
        let own = std::slice::from_ref(client);
        let mut found: Vec<Found<'_, OpenFeedbackState>> = state.open.matching(own, tags, false);
        found.retain(|it| range.contains(&it.index));
        let (program, keys) = (&self.world.program, &self.world.keys);
        let (mint, key) = (keys.mint(agent), keys.actor(client));
        let read = program.open_summary_range(mint, key, range.clone(), tags.0, tags.1);
        let arguments = json!({
            "agent": agent, "client": client, "first": range.start(), "last": range.end(),
            "tag1": tags.0, "tag2": tags.1,
        });
        let expected = part_json(&open_part(&found));
        self.call(
            &read,
            "open_summary_part",
            arguments,
            &expected,
            native_part_json,
        )
    }

    fn call<T: View>(
        &mut self,
        instruction: &Instruction,
        name: &'static str,
        arguments: Value,
        expected: &Value,
        read: impl FnOnce(T) -> Value,
    ) -> Result<(), StepFault> {
        let answer = view::call::<T>(self.ledger, &self.world.program, instruction)?;
        let (actual, native_error) = match answer {
            Ok(answer) => (read(answer), None),
            Err(refusal) => (json!(refusal.class.name()), Some(refusal.native)),
        };
        let view = named("instruction", name);
        self.note(view, arguments, expected, &actual, native_error)
    }
}

fn named(interface: &'static str, signature: &'static str) -> ViewName {
    ViewName {
        interface,
        signature,
    }
}

fn drawn_tags(state: &AgentState, draw: &mut Draw) -> (String, String) {
    let entries = state.open.entries.values().flatten();
    let mut known = vec![(String::new(), String::new())];
    known.extend(entries.map(|it| (it.tag1.clone(), it.tag2.clone())));
    let (tag1, tag2) = draw.pick(&known).unwrap_or_default();
    match draw.below(6) {
        0 => (NO_SUCH_TAG.to_owned(), tag2),
        3 => (String::new(), tag1),
        1 => (tag1, String::new()),
        2 => (String::new(), tag2),
        _ => (tag1, tag2),
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
        "tag1": crate::model::PaddedTag(it.tag1), "tag2": crate::model::PaddedTag(it.tag2),
        "revoked": it.revoked, "responses": it.response_count,
        "auth_verified": it.auth_verified, "auth_scheme": it.auth_scheme,
        "is_paid": it.has_payment_proof,
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

fn summary_json(answer: OpenSummary) -> Value {
    json!(Summary::Open {
        count: answer.count,
        value: Integer(answer.value),
        decimals: answer.decimals,
    })
}

fn part_json(part: &OpenPart) -> Value {
    json!({ "sum": part.sum, "count": part.count, "histogram": part.histogram })
}

fn native_part_json(part: OpenSummaryPart) -> Value {
    part_json(&OpenPart {
        sum: WideInteger(I256::from_raw(U256::from_be_bytes(part.sum))),
        count: part.count,
        histogram: part.histogram,
    })
}
