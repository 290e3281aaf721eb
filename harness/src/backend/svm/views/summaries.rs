//! The program's read instructions (R16).
use super::{Asking, named};
use crate::{
    backend::{
        StepFault,
        svm::ledger::Ledger,
        views::{Draw, Known, ViewQuestion, shown},
    },
    model::{
        Actor, Agent, AgentState, Found, Integer, OpenFeedbackState, OpenPart, Summary,
        WideInteger, open_part, open_summary,
    },
};
use alloy::primitives::{I256, U256};
use concord_canonical::ErrorClass;
use concord_registry::svm::{
    instructions::{ClientEntries, SUMMARY_ACCOUNTS_MAX, accounts_of_summary},
    views::{OpenSummary, OpenSummaryPart},
};
use serde_json::{Value, json};
use std::ops::RangeInclusive;

/// A tag that no entry of a scenario has.
const NO_SUCH_TAG: &str = "no such tag";

/// What the read instructions are asked about an agent, in canonical terms.
pub(in crate::backend) fn questions(
    known: Known<'_>,
    actors: &[Actor],
    draw: &mut Draw,
) -> Vec<ViewQuestion> {
    let each = known.state.agents.iter().flat_map(|(agent, state)| {
        let mut clients = draw.list(&state.open.clients, 3);
        clients.extend(draw.pick(actors));
        let drawn = (clients, drawn_tags(state, draw));
        let nobody = (Vec::new(), (String::new(), String::new()));
        let everybody = (state.open.clients.clone(), drawn_tags(state, draw));
        [nobody, everybody, drawn]
            .into_iter()
            .filter(|(clients, _)| fits_a_transaction(state, clients))
            .flat_map(|(clients, (tag1, tag2))| {
                both_questions(agent, state, &clients, (&tag1, &tag2))
            })
            .collect::<Vec<_>>()
    });
    each.collect()
}

/// Whether a transaction can lock the accounts of these clients and their entries.
fn fits_a_transaction(state: &AgentState, clients: &[Actor]) -> bool {
    let listed: Vec<_> = (clients.iter())
        .map(|client| ClientEntries {
            client: Default::default(), // only their number counts
            last: state.open.last_index(client),
        })
        .collect();
    accounts_of_summary(&listed) <= SUMMARY_ACCOUNTS_MAX
}

fn both_questions(
    agent: &Agent,
    state: &AgentState,
    clients: &[Actor],
    tags: (&str, &str),
) -> [ViewQuestion; 2] {
    let found = state.open.matching(clients, tags, false);
    let unless_nobody = |value: Value| {
        if clients.is_empty() {
            Err(ErrorClass::EmptyClients)
        } else {
            Ok(value)
        }
    };
    let question = |name, value| ViewQuestion {
        view: named("instruction", name),
        arguments: json!({
            "agent": agent, "clients": clients, "tag1": tags.0, "tag2": tags.1,
        }),
        expected: unless_nobody(value),
    };
    [
        question("open_summary", json!(open_summary(&found))),
        question("open_summary_part", part_json(&open_part(&found))),
    ]
}

impl<L: Ledger> Asking<'_, L> {
    /// R16: over drawn clients with drawn tags, over a range of one client's entries, and over
    /// nobody, which is refused.
    pub(super) fn summaries(
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
        if !fits_a_transaction(state, clients) {
            return Ok(());
        }
        let [of_whole, of_part] = both_questions(agent, state, clients, tags);
        let (program, mint) = (&self.world.program, self.world.mint(agent));
        let whole = program.open_summary(mint, &listed, tags.0, tags.1);
        let part = program.open_summary_part(mint, &listed, tags.0, tags.1);
        self.call(
            &whole,
            "open_summary",
            of_whole.arguments,
            &shown(&of_whole.expected),
            summary_json,
        )?;
        self.call(
            &part,
            "open_summary_part",
            of_part.arguments,
            &shown(&of_part.expected),
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
        let (program, world) = (&self.world.program, self.world);
        let (mint, key) = (world.mint(agent), world.keys.actor(client));
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
