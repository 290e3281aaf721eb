//! The authorized reputation registry (R15).
use super::{
    book::Book,
    feedback::{self, Ledger, bound, entry_at, window_arguments, windows},
    question::{Expected, Questions},
};
use crate::{
    backend::views::{AUTHORIZED, Draw},
    model::{Actor, AuthorizedState, FeedbackState, Found, PaddedTag, Profile, average, window},
};
use alloy::primitives::{Address, B256, FixedBytes, U256};
use concord_canonical::ErrorClass;
use concord_registry::evm::abi::AuthorizedReputationRegistry as Authorized;
use serde_json::{Value, json};

/// EIP-712: name, version, chain and contract are set.
const DOMAIN_FIELDS: u8 = 0x0f;

pub(super) fn ask(book: &Book<'_>, registry: Address, draw: &mut Draw, q: &mut Questions) {
    let registry = (AUTHORIZED, registry);
    feedback::ask_constants(book, registry, q);
    ask_constants(book, registry, q);
    let nothing = AuthorizedState::default();
    for (agent, state) in book.agents() {
        let mut aside = draw.clone();
        let draw = book.draw_for(&agent, draw, &mut aside);
        let authorized = state.map_or(&nothing, |it| &it.authorized);
        let clients = &authorized.clients;
        let ledger = Ledger {
            registry,
            profile: Profile::Authorized,
            agent: &agent,
            id: book.id(&agent),
            clients,
            last_indices: clients.iter().map(|it| authorized.last_index(it)).collect(),
        };
        feedback::ask(book, &ledger, draw, q);
        let asked = Asked {
            book,
            ledger,
            authorized,
        };
        asked.entries(draw, q);
        asked.windows(draw, q);
        asked.totals_of_all(q);
        asked.totals(draw, q);
        // What is asked after it stays what it would be without it.
        asked.totals_in_parts(&mut draw.clone(), q);
    }
}

fn ask_constants(book: &Book<'_>, registry: (&'static str, Address), q: &mut Questions) {
    let call = Authorized::acceptsDraftV1Call {};
    let accepts = Ok(json!(book.accepts_draft_v1)); // R6
    q.ask(registry, &call, json!({}), accepts, |_, it| Ok(json!(it)));
    let domain = json!({
        "fields": DOMAIN_FIELDS, "name": "ERC8004ReputationRegistry", "version": "1",
        "chain_id": book.chain_id.to_string(), "contract": registry.1.to_string(),
        "salt": FixedBytes::<32>::ZERO.to_string(), "extensions": 0,
    });
    let call = Authorized::eip712DomainCall {};
    q.ask(registry, &call, json!({}), Ok(domain), |_, it| {
        Ok(json!({
            "fields": it.fields.0[0], "name": it.name, "version": it.version,
            "chain_id": it.chainId.to_string(), "contract": it.verifyingContract.to_string(),
            "salt": it.salt.to_string(), "extensions": it.extensions.len(),
        }))
    });
}

/// What is asked about one agent.
struct Asked<'a> {
    book: &'a Book<'a>,
    ledger: Ledger<'a>,
    authorized: &'a AuthorizedState,
}

type Tags = (PaddedTag, PaddedTag);

impl Asked<'_> {
    /// Tags that entries have, one that none has, and none at all.
    fn tags(&self, draw: &mut Draw) -> Tags {
        let entries = self.authorized.entries.values().flatten();
        let mut known = vec![Tags::default()];
        known.extend(entries.map(|it| (it.tag1, it.tag2)));
        let (tag1, tag2) = draw.pick(&known).unwrap_or_default();
        match draw.below(6) {
            0 => (PaddedTag([0xee; 32]), tag2),
            1 => (PaddedTag::default(), tag2),
            2 => (tag1, PaddedTag::default()),
            3 => (tag2, tag1),
            _ => (tag1, tag2),
        }
    }

    /// An empty list means everybody (R15).
    fn matching<'s>(
        &'s self,
        clients: &'s [Actor],
        tags: Tags,
        with_revoked: bool,
    ) -> Vec<Found<'s, FeedbackState>> {
        let listed: &[Actor] = match clients {
            [] => &self.authorized.clients,
            listed => listed,
        };
        self.authorized.matching(listed, tags, with_revoked)
    }

    /// One entry by its index, one that is not there, and everything with and without a filter.
    fn entries(&self, draw: &mut Draw, q: &mut Questions) {
        if let Some(client) = self.ledger.some_client(self.book, draw) {
            let last = self.ledger.last_index(&client);
            for index in [0, draw.below(last) + 1, last.saturating_add(1)] {
                self.entry(&client, index, q);
            }
        }
        let everything = (Vec::new(), Tags::default(), true);
        let drawn = (
            self.ledger.some_clients(self.book, draw),
            self.tags(draw),
            draw.coin(),
        );
        for (clients, tags, with_revoked) in [everything, drawn] {
            self.all_entries(&clients, tags, with_revoked, q);
        }
    }

    fn entry(&self, client: &Actor, index: u64, q: &mut Questions) {
        let found = entry_at(self.authorized.entries.get(client), index);
        let expected: Expected = match found {
            Some(entry) => Ok(json!({
                "score": entry.score, "tag1": entry.tag1, "tag2": entry.tag2,
                "revoked": entry.revoked, "time": entry.time,
            })),
            None => Err(ErrorClass::FeedbackNotFound),
        };
        let call = Authorized::readFeedbackCall {
            agentId: self.ledger.id,
            clientAddress: self.book.address(client),
            feedbackIndex: index,
        };
        let arguments = json!({ "agent": self.ledger.agent, "client": client, "index": index });
        q.ask(
            self.ledger.registry,
            &call,
            arguments,
            expected,
            |reader, it| {
                Ok(json!({
                    "score": it.score, "tag1": tag(it.tag1), "tag2": tag(it.tag2),
                    "revoked": it.isRevoked, "time": reader.seconds(U256::from(it.timestamp))?,
                }))
            },
        );
    }

    fn all_entries(&self, clients: &[Actor], tags: Tags, with_revoked: bool, q: &mut Questions) {
        let found = self.matching(clients, tags, with_revoked);
        let expected = json!({
            "clients": column(&found, |it| json!(it.client)),
            "scores": column(&found, |it| json!(it.entry.score)),
            "tag1s": column(&found, |it| json!(it.entry.tag1)),
            "tag2s": column(&found, |it| json!(it.entry.tag2)),
            "revoked": column(&found, |it| json!(it.entry.revoked)),
        });
        let call = Authorized::readAllFeedbackCall {
            agentId: self.ledger.id,
            clientAddresses: self.book.addresses(clients),
            tag1: word(tags.0),
            tag2: word(tags.1),
            includeRevoked: with_revoked,
        };
        let mut arguments = self.filter(clients, tags);
        arguments["include_revoked"] = json!(with_revoked);
        q.ask(
            self.ledger.registry,
            &call,
            arguments,
            Ok(expected),
            |reader, it| {
                let scores = it.scores.iter().map(|it| json!(it));
                Ok(json!({
                    "clients": reader.actors(it.clients), "scores": scores.collect::<Value>(),
                    "tag1s": tag_list(it.tag1s), "tag2s": tag_list(it.tag2s),
                    "revoked": it.revokedStatuses,
                }))
            },
        );
    }

    fn windows(&self, draw: &mut Draw, q: &mut Questions) {
        for (client, start, limit, within) in windows(self.book, &self.ledger, draw) {
            let entries = self.authorized.entries.get(&client);
            let counts = |index| {
                let (records, agent) = (self.book.records, self.ledger.agent);
                records.response_count(Profile::Authorized, agent, Some(&client), Some(index), &[])
            };
            let found = within.iter().filter_map(|index| {
                let entry = entry_at(entries, *index)?;
                Some(json!({
                    "index": index, "score": entry.score, "tag1": entry.tag1,
                    "tag2": entry.tag2, "revoked": entry.revoked, "time": entry.time,
                    "responses": counts(*index),
                }))
            });
            let expected = Ok(found.collect());
            let call = Authorized::readFeedbackWindowCall {
                agentId: self.ledger.id,
                clientAddress: self.book.address(&client),
                start,
                limit,
            };
            let arguments = window_arguments(&self.ledger, &client, start, limit);
            q.ask(
                self.ledger.registry,
                &call,
                arguments,
                expected,
                |reader, it| {
                    let records = it.into_iter().map(|it| {
                        Ok(json!({
                            "index": it.feedbackIndex, "score": it.score, "tag1": tag(it.tag1),
                            "tag2": tag(it.tag2), "revoked": it.isRevoked,
                            "time": reader.seconds(U256::from(it.timestamp))?,
                            "responses": it.responseCount,
                        }))
                    });
                    records
                        .collect::<Result<Vec<Value>, String>>()
                        .map(Value::Array)
                },
            );
        }
    }

    /// R15: at constant cost, over everything that is not revoked.
    fn totals_of_all(&self, q: &mut Questions) {
        let (count, sum) = totals(&self.matching(&[], Tags::default(), false));
        let id = self.ledger.id;
        let named = || json!({ "agent": self.ledger.agent });
        let expected = Ok(json!({ "count": count, "sum": sum }));
        let call = Authorized::getTotals_0Call { agentId: id };
        q.ask(self.ledger.registry, &call, named(), expected, |_, it| {
            Ok(json!({ "count": it.count, "sum": it.sum }))
        });
        let expected = Ok(json!({ "count": count, "average": average(count, sum) }));
        let call = Authorized::getSummary_0Call { agentId: id };
        q.ask(self.ledger.registry, &call, named(), expected, |_, it| {
            Ok(json!({ "count": it.count, "average": it.averageScore }))
        });
    }

    /// Of everybody without a filter, of everybody with one, of some.
    fn totals(&self, draw: &mut Draw, q: &mut Questions) {
        let drawn = self.ledger.some_clients(self.book, draw);
        let filters = [
            (Vec::new(), Tags::default()),
            (Vec::new(), self.tags(draw)),
            (drawn, self.tags(draw)),
        ];
        for (clients, tags) in filters {
            let (count, sum) = totals(&self.matching(&clients, tags, false));
            let call = Authorized::getTotals_1Call {
                agentId: self.ledger.id,
                clientAddresses: self.book.addresses(&clients),
                tag1: word(tags.0),
                tag2: word(tags.1),
            };
            let expected = Ok(json!({ "count": count, "sum": sum }));
            let arguments = self.filter(&clients, tags);
            q.ask(
                self.ledger.registry,
                &call,
                arguments.clone(),
                expected,
                |_, it| Ok(json!({ "count": it.count, "sum": it.sum })),
            );
            let call = Authorized::getSummary_1Call {
                agentId: self.ledger.id,
                clientAddresses: self.book.addresses(&clients),
                tag1: word(tags.0),
                tag2: word(tags.1),
            };
            let expected = Ok(json!({ "count": count, "average": average(count, sum) }));
            q.ask(self.ledger.registry, &call, arguments, expected, |_, it| {
                Ok(json!({ "count": it.count, "average": it.averageScore }))
            });
        }
    }

    /// Of a window over the clients, and of one over a client's entries (R15).
    fn totals_in_parts(&self, draw: &mut Draw, q: &mut Questions) {
        let (start, limit) = draw.window(self.authorized.clients.len() as u64);
        let tags = self.tags(draw);
        let listed = window(&self.authorized.clients, start, limit);
        // An empty window is nobody, where an empty list is everybody.
        let found = self.authorized.matching(listed, tags, false);
        let (count, sum) = totals(&found);
        let call = Authorized::getTotalsOfClientsCall {
            agentId: self.ledger.id,
            start: bound(start),
            limit: bound(limit),
            tag1: word(tags.0),
            tag2: word(tags.1),
        };
        let arguments = json!({
            "agent": self.ledger.agent, "start": start, "limit": limit,
            "tag1": tags.0, "tag2": tags.1,
        });
        let expected = Ok(json!({ "count": count, "sum": sum }));
        q.ask(self.ledger.registry, &call, arguments, expected, |_, it| {
            Ok(json!({ "count": it.count, "sum": it.sum }))
        });
        self.totals_of_indices(draw, q);
    }

    fn totals_of_indices(&self, draw: &mut Draw, q: &mut Questions) {
        for (client, start, limit, within) in windows(self.book, &self.ledger, draw) {
            let tags = self.tags(draw);
            let own = std::slice::from_ref(&client);
            let mut found = self.authorized.matching(own, tags, false);
            found.retain(|it| within.contains(&it.index));
            let (count, sum) = totals(&found);
            let call = Authorized::getTotalsOfIndicesCall {
                agentId: self.ledger.id,
                clientAddress: self.book.address(&client),
                start,
                limit,
                tag1: word(tags.0),
                tag2: word(tags.1),
            };
            let mut arguments = window_arguments(&self.ledger, &client, start, limit);
            arguments["tag1"] = json!(tags.0);
            arguments["tag2"] = json!(tags.1);
            let expected = Ok(json!({ "count": count, "sum": sum }));
            q.ask(self.ledger.registry, &call, arguments, expected, |_, it| {
                Ok(json!({ "count": it.count, "sum": it.sum }))
            });
        }
    }

    fn filter(&self, clients: &[Actor], tags: Tags) -> Value {
        json!({
            "agent": self.ledger.agent, "clients": clients, "tag1": tags.0, "tag2": tags.1,
        })
    }
}

fn totals(found: &[Found<'_, FeedbackState>]) -> (u64, u64) {
    let sum = found.iter().map(|it| u64::from(it.entry.score)).sum();
    (found.len() as u64, sum)
}

fn column(
    found: &[Found<'_, FeedbackState>],
    value: impl Fn(&Found<'_, FeedbackState>) -> Value,
) -> Value {
    found.iter().map(value).collect()
}

fn word(tag: PaddedTag) -> B256 {
    B256::from(tag.0)
}

fn tag(word: B256) -> PaddedTag {
    PaddedTag(word.0)
}

fn tag_list(words: Vec<B256>) -> Value {
    words.into_iter().map(|it| json!(tag(it))).collect()
}
