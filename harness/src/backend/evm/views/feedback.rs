//! What the two reputation registries have in common: clients, indices, responses.
use super::{
    book::{Book, VERSION},
    question::Questions,
};
use crate::{
    backend::views::Draw,
    model::{Actor, Agent, Profile, indices, window},
};
use alloy::primitives::{Address, U256};
use concord_registry::evm::abi::Feedback;
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// How many clients, and responders, are asked about whatever is drawn.
const ALWAYS_ASKED: usize = 4;

/// One profile of one agent, in the registry that keeps it.
pub(super) struct Ledger<'a> {
    /// The contract's name and address.
    pub registry: (&'static str, Address),
    pub profile: Profile,
    pub agent: &'a Agent,
    pub id: U256,
    /// In the order of their first feedback.
    pub clients: &'a [Actor],
    /// The last index of each of them, in the same order.
    pub last_indices: Vec<u64>,
}

impl Ledger<'_> {
    /// A client's last index; 0 for an account that is not a client.
    pub fn last_index(&self, client: &Actor) -> u64 {
        let place = self.clients.iter().position(|it| it == client);
        let last = place.and_then(|place| self.last_indices.get(place));
        last.copied().unwrap_or(0)
    }

    /// Some clients, and perhaps an actor who is none.
    pub fn some_clients(&self, book: &Book<'_>, draw: &mut Draw) -> Vec<Actor> {
        let mut listed = draw.list(self.clients, 4);
        if draw.coin() {
            listed.extend(draw.pick(&book.actors));
        }
        listed
    }

    /// A client, or, less often, an actor who is none.
    pub fn some_client(&self, book: &Book<'_>, draw: &mut Draw) -> Option<Actor> {
        let clients = if draw.below(4) == 0 {
            &book.actors[..]
        } else {
            self.clients
        };
        draw.pick(clients).or_else(|| draw.pick(&book.actors))
    }
}

pub(super) fn ask_constants(book: &Book<'_>, registry: (&'static str, Address), q: &mut Questions) {
    let version = Ok(json!(VERSION));
    q.ask(
        registry,
        &Feedback::getVersionCall {},
        json!({}),
        version,
        |_, it| Ok(json!(it)),
    );
    let identity = Ok(json!(book.registries.identity.to_string()));
    let call = Feedback::getIdentityRegistryCall {};
    q.ask(registry, &call, json!({}), identity, |_, it| {
        Ok(json!(it.to_string()))
    });
}

pub(super) fn ask(book: &Book<'_>, ledger: &Ledger<'_>, draw: &mut Draw, q: &mut Questions) {
    ask_clients(book, ledger, draw, q);
    ask_last_indices(book, ledger, draw, q);
    ask_responses(book, ledger, draw, q);
}

fn ask_clients(book: &Book<'_>, ledger: &Ledger<'_>, draw: &mut Draw, q: &mut Questions) {
    let named = || json!({ "agent": ledger.agent });
    let all = Ok(json!(ledger.clients));
    let call = Feedback::getClientsCall { agentId: ledger.id };
    q.ask(ledger.registry, &call, named(), all, |reader, it| {
        Ok(reader.actors(it))
    });
    if !book.is_ours() {
        return;
    }
    let count = Ok(json!(ledger.clients.len().to_string()));
    let call = Feedback::getClientCountCall { agentId: ledger.id };
    q.ask(ledger.registry, &call, named(), count, |_, it| {
        Ok(json!(it.to_string()))
    });
    for _ in 0..2 {
        let (start, limit) = draw.window(ledger.clients.len() as u64);
        let call = Feedback::getClientsWindowCall {
            agentId: ledger.id,
            start: bound(start),
            limit: bound(limit),
        };
        let arguments = json!({ "agent": ledger.agent, "start": start, "limit": limit });
        let part = Ok(json!(window(ledger.clients, start, limit)));
        q.ask(ledger.registry, &call, arguments, part, |reader, it| {
            Ok(reader.actors(it))
        });
    }
}

/// A bound at its greatest is the greatest of the ABI's type, too.
pub(super) fn bound(at: u64) -> U256 {
    match at {
        u64::MAX => U256::MAX,
        at => U256::from(at),
    }
}

fn ask_last_indices(book: &Book<'_>, ledger: &Ledger<'_>, draw: &mut Draw, q: &mut Questions) {
    let mut clients = ledger.clients.to_vec();
    clients.extend(draw.pick(&book.actors));
    for client in clients {
        let call = Feedback::getLastIndexCall {
            agentId: ledger.id,
            clientAddress: book.address(&client),
        };
        let arguments = json!({ "agent": ledger.agent, "client": client });
        let last = Ok(json!(ledger.last_index(&client)));
        q.ask(ledger.registry, &call, arguments, last, |_, it| {
            Ok(json!(it))
        });
    }
}

/// To one entry, to all of a client's (index 0), to everybody's (client 0, whatever the index); of
/// everybody, of those who responded, and of whoever is drawn.
fn ask_responses(book: &Book<'_>, ledger: &Ledger<'_>, draw: &mut Draw, q: &mut Questions) {
    let records = book.records.responses.iter();
    let own = records.filter(|it| it.profile == ledger.profile && it.agent == *ledger.agent);
    let answered: BTreeSet<_> = own
        .map(|it| (&it.client, it.index, &it.responder))
        .collect();
    for (client, index, responder) in answered.into_iter().take(ALWAYS_ASKED) {
        let responders = std::slice::from_ref(responder);
        ask_response_count(book, ledger, Some(client), index, responders, q);
    }
    let mut asked = vec![(None, draw.below(3))];
    if let Some(client) = ledger.some_client(book, draw) {
        let beyond = ledger.last_index(&client).saturating_add(1);
        asked.push((Some(client.clone()), draw.below(beyond.saturating_add(1))));
        asked.push((Some(client), 0));
    }
    for (client, index) in asked {
        let responders = if draw.coin() {
            Vec::new()
        } else {
            draw.list(&book.actors, 3)
        };
        ask_response_count(book, ledger, client.as_ref(), index, &responders, q);
    }
}

fn ask_response_count(
    book: &Book<'_>,
    ledger: &Ledger<'_>,
    client: Option<&Actor>,
    index: u64,
    responders: &[Actor],
    q: &mut Questions,
) {
    let of_index = (index != 0 && client.is_some()).then_some(index);
    let (records, profile) = (book.records, ledger.profile);
    let expected = records.response_count(profile, ledger.agent, client, of_index, responders);
    let call = Feedback::getResponseCountCall {
        agentId: ledger.id,
        clientAddress: client.map_or(Address::ZERO, |it| book.address(it)),
        feedbackIndex: index,
        responders: book.addresses(responders),
    };
    let arguments = json!({
        "agent": ledger.agent, "client": client, "index": index, "responders": responders,
    });
    q.ask(
        ledger.registry,
        &call,
        arguments,
        Ok(json!(expected)),
        |_, it| Ok(json!(it)),
    );
}

/// The windows to ask of a client: their arguments, and the indices that must come.
pub(super) fn windows(
    book: &Book<'_>,
    ledger: &Ledger<'_>,
    draw: &mut Draw,
) -> Vec<(Actor, u64, u64, Vec<u64>)> {
    let whole = ledger.clients.iter().take(ALWAYS_ASKED).map(|client| {
        let last = ledger.last_index(client);
        (
            client.clone(),
            0,
            u64::MAX,
            (1..=last).collect::<Vec<u64>>(),
        )
    });
    let mut windows: Vec<_> = whole.collect();
    for _ in 0..2 {
        if let Some(client) = ledger.some_client(book, draw) {
            let last = ledger.last_index(&client);
            let (start, limit) = draw.window(last.saturating_add(1));
            let within = indices(last, start, limit).collect();
            windows.push((client, start, limit, within));
        }
    }
    windows
}

/// The arguments of a window, for the report.
pub(super) fn window_arguments(
    ledger: &Ledger<'_>,
    client: &Actor,
    start: u64,
    limit: u64,
) -> Value {
    json!({ "agent": ledger.agent, "client": client, "start": start, "limit": limit })
}

/// The entry with a 1-based index.
pub(super) fn entry_at<T>(entries: Option<&Vec<T>>, index: u64) -> Option<&T> {
    let place = usize::try_from(index.checked_sub(1)?).ok()?;
    entries?.get(place)
}
