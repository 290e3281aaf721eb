//! The open reputation registry (R16).
use super::{
    book::Book,
    feedback::{self, Ledger, bound, entry_at, window_arguments, windows},
    question::{Expected, Questions},
};
use crate::{
    backend::views::{Draw, OPEN},
    model::{
        Actor, Found, Integer, OpenFeedbackState, OpenPart, OpenState, Profile, Summary,
        WideInteger, indices, open_part, open_summary, window,
    },
};
use alloy::primitives::{Address, I256};
use concord_canonical::ErrorClass;
use concord_registry::evm::abi::ReputationRegistry as Open;
use serde_json::{Value, json};

/// Below this, sums of some thousand values are the same in the canonical contracts, which wrap.
const NEVER_WRAPS: u128 = 1_000_000_000_000_000;

pub(super) fn ask(book: &Book<'_>, registry: Address, draw: &mut Draw, q: &mut Questions) {
    let registry = (OPEN, registry);
    feedback::ask_constants(book, registry, q);
    let nothing = OpenState::default();
    for (agent, state) in book.agents() {
        let mut aside = draw.clone();
        let draw = book.draw_for(&agent, draw, &mut aside);
        let open = state.map_or(&nothing, |it| &it.open);
        let ledger = Ledger {
            registry,
            profile: Profile::Open,
            agent: &agent,
            id: book.id(&agent),
            clients: &open.clients,
            last_indices: open.clients.iter().map(|it| open.last_index(it)).collect(),
        };
        feedback::ask(book, &ledger, draw, q);
        let asked = Asked { book, ledger, open };
        asked.entries(draw, q);
        asked.summaries(draw, q);
        if book.is_ours() {
            asked.windows(draw, q);
            asked.parts(draw, q);
        }
    }
    if book.is_ours() {
        ask_impossible_parts(registry, q);
    }
}

/// What is asked about one agent.
struct Asked<'a> {
    book: &'a Book<'a>,
    ledger: Ledger<'a>,
    open: &'a OpenState,
}

type Tags = (String, String);

impl Asked<'_> {
    /// Tags that entries have, one that none has, and none at all.
    fn tags(&self, draw: &mut Draw) -> Tags {
        let entries = self.open.entries.values().flatten();
        let mut known = vec![(String::new(), String::new())];
        known.extend(entries.map(|it| (it.tag1.clone(), it.tag2.clone())));
        let (mut tag1, mut tag2) = draw.pick(&known).unwrap_or_default();
        match draw.below(6) {
            0 => tag1 = "no such tag".to_owned(),
            1 => tag1.clear(),
            2 => tag2.clear(),
            3 => (tag1, tag2) = (tag2, tag1),
            _ => (),
        }
        (tag1, tag2)
    }

    fn matching<'s>(
        &'s self,
        clients: &'s [Actor],
        tags: &Tags,
        with_revoked: bool,
    ) -> Vec<Found<'s, OpenFeedbackState>> {
        self.open
            .matching(clients, (&tags.0, &tags.1), with_revoked)
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
            self.all_entries(clients, &tags, with_revoked, q);
        }
    }

    fn entry(&self, client: &Actor, index: u64, q: &mut Questions) {
        let found = entry_at(self.open.entries.get(client), index);
        let expected: Expected = match found {
            Some(entry) => Ok(json!({
                "value": entry.value, "decimals": entry.decimals,
                "tag1": entry.tag1, "tag2": entry.tag2, "revoked": entry.revoked,
            })),
            None => Err(ErrorClass::FeedbackNotFound),
        };
        let call = Open::readFeedbackCall {
            agentId: self.ledger.id,
            clientAddress: self.book.address(client),
            feedbackIndex: index,
        };
        let arguments = json!({ "agent": self.ledger.agent, "client": client, "index": index });
        q.ask(self.ledger.registry, &call, arguments, expected, |_, it| {
            Ok(json!({
                "value": Integer(it.value), "decimals": it.valueDecimals,
                "tag1": it.tag1, "tag2": it.tag2, "revoked": it.isRevoked,
            }))
        });
    }

    /// An empty list means everybody.
    fn all_entries(&self, clients: Vec<Actor>, tags: &Tags, with_revoked: bool, q: &mut Questions) {
        let listed = if clients.is_empty() {
            &self.open.clients
        } else {
            &clients
        };
        let found = self.matching(listed, tags, with_revoked);
        let expected = json!({
            "clients": column(&found, |it| json!(it.client)),
            "indices": column(&found, |it| json!(it.index)),
            "values": column(&found, |it| json!(it.entry.value)),
            "decimals": column(&found, |it| json!(it.entry.decimals)),
            "tag1s": column(&found, |it| json!(it.entry.tag1)),
            "tag2s": column(&found, |it| json!(it.entry.tag2)),
            "revoked": column(&found, |it| json!(it.entry.revoked)),
        });
        let call = Open::readAllFeedbackCall {
            agentId: self.ledger.id,
            clientAddresses: self.book.addresses(&clients),
            tag1: tags.0.clone(),
            tag2: tags.1.clone(),
            includeRevoked: with_revoked,
        };
        let arguments = json!({
            "agent": self.ledger.agent, "clients": clients, "tag1": tags.0, "tag2": tags.1,
            "include_revoked": with_revoked,
        });
        q.ask(
            self.ledger.registry,
            &call,
            arguments,
            Ok(expected),
            |reader, it| {
                let values = it.values.into_iter().map(|it| json!(Integer(it)));
                Ok(json!({
                    "clients": reader.actors(it.clients), "indices": it.feedbackIndexes,
                    "values": values.collect::<Value>(), "decimals": numbers(&it.valueDecimals),
                    "tag1s": it.tag1s, "tag2s": it.tag2s, "revoked": it.revokedStatuses,
                }))
            },
        );
    }

    fn windows(&self, draw: &mut Draw, q: &mut Questions) {
        for (client, start, limit, within) in windows(self.book, &self.ledger, draw) {
            let entries = self.open.entries.get(&client);
            let counts = |index| {
                let (records, agent) = (self.book.records, self.ledger.agent);
                records.response_count(Profile::Open, agent, Some(&client), Some(index), &[])
            };
            let found = within.iter().filter_map(|index| {
                let entry = entry_at(entries, *index)?;
                Some(json!({
                    "index": index, "value": entry.value, "decimals": entry.decimals,
                    "tag1": entry.tag1, "tag2": entry.tag2, "revoked": entry.revoked,
                    "responses": counts(*index),
                }))
            });
            let expected = Ok(found.collect());
            let call = Open::readFeedbackWindowCall {
                agentId: self.ledger.id,
                clientAddress: self.book.address(&client),
                start,
                limit,
            };
            let arguments = window_arguments(&self.ledger, &client, start, limit);
            q.ask(self.ledger.registry, &call, arguments, expected, |_, it| {
                let records = it.into_iter().map(|it| {
                    json!({
                        "index": it.feedbackIndex, "value": Integer(it.value),
                        "decimals": it.valueDecimals, "tag1": it.tag1, "tag2": it.tag2,
                        "revoked": it.isRevoked, "responses": it.responseCount,
                    })
                });
                Ok(records.collect())
            });
        }
    }

    /// Of everybody, of some, and of nobody, which is refused (R16).
    fn summaries(&self, draw: &mut Draw, q: &mut Questions) {
        let everybody = (self.open.clients.clone(), Tags::default());
        let drawn = (self.ledger.some_clients(self.book, draw), self.tags(draw));
        let nobody = (Vec::new(), self.tags(draw));
        for (clients, tags) in [everybody, drawn, nobody] {
            self.summary(&clients, &tags, q);
            if self.book.is_ours() {
                self.part(&clients, &tags, q);
            }
        }
    }

    fn summary(&self, clients: &[Actor], tags: &Tags, q: &mut Questions) {
        let found = self.matching(clients, tags, false);
        let can_wrap = found
            .iter()
            .any(|it| it.entry.value.0.unsigned_abs() > NEVER_WRAPS);
        if can_wrap && self.book.is_known_to_wrap() {
            return; // R16: the one deliberate difference
        }
        let expected = if clients.is_empty() {
            Err(ErrorClass::EmptyClients)
        } else {
            Ok(summary_json(open_summary(&found)))
        };
        let call = Open::getSummaryCall {
            agentId: self.ledger.id,
            clientAddresses: self.book.addresses(clients),
            tag1: tags.0.clone(),
            tag2: tags.1.clone(),
        };
        q.ask(
            self.ledger.registry,
            &call,
            self.filter(clients, tags),
            expected,
            |_, it| {
                Ok(answer_json(
                    it.count,
                    it.summaryValue,
                    it.summaryValueDecimals,
                ))
            },
        );
    }

    fn part(&self, clients: &[Actor], tags: &Tags, q: &mut Questions) {
        let expected = if clients.is_empty() {
            Err(ErrorClass::EmptyClients)
        } else {
            Ok(part_json(&open_part(&self.matching(clients, tags, false))))
        };
        let call = Open::getSummaryPartCall {
            agentId: self.ledger.id,
            clientAddresses: self.book.addresses(clients),
            tag1: tags.0.clone(),
            tag2: tags.1.clone(),
        };
        q.ask(
            self.ledger.registry,
            &call,
            self.filter(clients, tags),
            expected,
            |_, it| Ok(native_part_json(it)),
        );
    }

    /// Parts by windows, and what several of them come to together.
    fn parts(&self, draw: &mut Draw, q: &mut Questions) {
        let (start, limit) = draw.window(self.open.clients.len() as u64);
        let tags = self.tags(draw);
        let listed = window(&self.open.clients, start, limit);
        let expected = open_part(&self.matching(listed, &tags, false));
        let call = Open::getSummaryPartOfClientsCall {
            agentId: self.ledger.id,
            start: bound(start),
            limit: bound(limit),
            tag1: tags.0.clone(),
            tag2: tags.1.clone(),
        };
        let arguments = json!({
            "agent": self.ledger.agent, "start": start, "limit": limit,
            "tag1": tags.0, "tag2": tags.1,
        });
        q.ask(
            self.ledger.registry,
            &call,
            arguments,
            Ok(part_json(&expected)),
            |_, it| Ok(native_part_json(it)),
        );
        self.part_of_indices(draw, q);
        self.finished(draw, q);
    }

    fn part_of_indices(&self, draw: &mut Draw, q: &mut Questions) {
        if let Some(client) = self.ledger.some_client(self.book, draw) {
            let last = self.ledger.last_index(&client);
            let (start, limit) = draw.window(last.saturating_add(1));
            let tags = self.tags(draw);
            let within = indices(last, start, limit);
            let mut found = self.matching(std::slice::from_ref(&client), &tags, false);
            found.retain(|it| within.contains(&it.index));
            let call = Open::getSummaryPartOfIndicesCall {
                agentId: self.ledger.id,
                clientAddress: self.book.address(&client),
                start,
                limit,
                tag1: tags.0.clone(),
                tag2: tags.1.clone(),
            };
            let mut arguments = window_arguments(&self.ledger, &client, start, limit);
            arguments["tag1"] = json!(tags.0);
            arguments["tag2"] = json!(tags.1);
            let expected = Ok(part_json(&open_part(&found)));
            q.ask(self.ledger.registry, &call, arguments, expected, |_, it| {
                Ok(native_part_json(it))
            });
        }
    }

    /// Parts of everybody, one a client, make the summary of everybody.
    fn finished(&self, draw: &mut Draw, q: &mut Questions) {
        let tags = self.tags(draw);
        let each = self.open.clients.iter().map(|client| {
            let own = std::slice::from_ref(client);
            open_part(&self.matching(own, &tags, false))
        });
        let parts: Vec<_> = each.collect();
        let call = finish_call(&parts);
        let found = self.matching(&self.open.clients, &tags, false);
        let arguments = parts_json(&parts);
        let expected = Ok(summary_json(open_summary(&found)));
        q.ask(self.ledger.registry, &call, arguments, expected, |_, it| {
            Ok(answer_json(
                it.count,
                it.summaryValue,
                it.summaryValueDecimals,
            ))
        });
    }

    fn filter(&self, clients: &[Actor], tags: &Tags) -> Value {
        json!({
            "agent": self.ledger.agent, "clients": clients, "tag1": tags.0, "tag2": tags.1,
        })
    }
}

/// A part that no feedback makes is refused (R16): a histogram that is not the count, a sum without
/// entries, one of 1e56 at 18 decimals, one with decimals of entries that have none.
fn ask_impossible_parts(registry: (&'static str, Address), q: &mut Questions) {
    let nothing = open_part(&[]);
    let counted = OpenPart {
        count: 1,
        ..nothing
    };
    let summed = OpenPart {
        sum: WideInteger(I256::ONE),
        ..nothing
    };
    let too_much = one_at(18, I256::exp10(56));
    let too_fine = one_at(0, I256::ONE);
    for part in [counted, summed, too_much, too_fine] {
        let parts = [open_part(&[]), part];
        let call = finish_call(&parts);
        let arguments = parts_json(&parts);
        let expected = Err(ErrorClass::BadRequest);
        q.ask(registry, &call, arguments, expected, |_, it| {
            Ok(answer_json(
                it.count,
                it.summaryValue,
                it.summaryValueDecimals,
            ))
        });
    }
}

/// A part of one entry with so many decimals.
fn one_at(decimals: usize, sum: I256) -> OpenPart {
    let mut part = open_part(&[]);
    part.sum = WideInteger(sum);
    part.count = 1;
    part.histogram[decimals] = 1;
    part
}

fn column(
    found: &[Found<'_, OpenFeedbackState>],
    value: impl Fn(&Found<'_, OpenFeedbackState>) -> Value,
) -> Value {
    found.iter().map(value).collect()
}

/// Bytes would be written as text.
fn numbers(all: &[u8]) -> Value {
    all.iter().map(|it| json!(it)).collect()
}

fn summary_json(summary: Summary) -> Value {
    json!(summary)
}

fn answer_json(count: u64, value: i128, decimals: u8) -> Value {
    json!(Summary::Open {
        count,
        value: Integer(value),
        decimals,
    })
}

fn part_json(part: &OpenPart) -> Value {
    json!({ "sum": part.sum, "count": part.count, "histogram": part.histogram })
}

fn parts_json(parts: &[OpenPart]) -> Value {
    json!({ "parts": parts.iter().map(part_json).collect::<Value>() })
}

fn finish_call(parts: &[OpenPart]) -> Open::finishSummaryCall {
    Open::finishSummaryCall {
        parts: parts.iter().map(native_part).collect(),
    }
}

fn native_part_json(part: Open::SummaryPart) -> Value {
    part_json(&OpenPart {
        sum: WideInteger(part.sum),
        count: part.count,
        histogram: part.histogram,
    })
}

fn native_part(part: &OpenPart) -> Open::SummaryPart {
    Open::SummaryPart {
        sum: part.sum.0,
        count: part.count,
        histogram: part.histogram,
    }
}
