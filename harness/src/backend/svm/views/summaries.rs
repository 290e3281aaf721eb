//! The program's read instructions (R16).
use super::Asking;
use crate::{
    backend::{StepFault, svm::ledger::Ledger, views::Draw},
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
