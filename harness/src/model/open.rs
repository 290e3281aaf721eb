//! The open profile (R16 to R18).
use super::{
    Actor, Agent, Event, Integer, Model, OpenFeedback, OpenFeedbackState, OpenState, Summary,
    WideInteger,
    registry::{Done, Refusal},
};
use alloy::primitives::I256;
use concord_canonical::{ErrorClass, limits};

impl Model {
    /// The checks of §3a, in its order.
    pub(super) fn give_open_feedback(&mut self, feedback: &OpenFeedback) -> Done {
        if feedback.decimals > limits::DECIMALS_MAX {
            return Err(ErrorClass::DecimalsOutOfRange); // R16
        }
        if feedback.value.0.unsigned_abs() > limits::VALUE_MAX.unsigned_abs() {
            return Err(ErrorClass::ValueOutOfRange); // R16
        }
        self.check_is_no_insider(&feedback.agent, &feedback.by)?; // R18
        self.check_portable(&feedback.tag1, limits::TAG_MAX)?; // R17
        self.check_portable(&feedback.tag2, limits::TAG_MAX)?;
        self.check_portable(&feedback.endpoint, limits::ENDPOINT_MAX)?;
        self.check_portable(&feedback.uri, limits::URI_MAX)?;
        let last_index = self.agent(&feedback.agent)?.open.last_index(&feedback.by);
        self.check_explicit_index(feedback.index, last_index)?; // R12
        Ok(vec![self.record_open_feedback(feedback)?])
    }

    fn record_open_feedback(&mut self, feedback: &OpenFeedback) -> Result<Event, Refusal> {
        let open = &mut self.agent_mut(&feedback.agent)?.open;
        let index = open
            .last_index(&feedback.by)
            .checked_add(1)
            .ok_or(ErrorClass::CounterExhausted)?; // R8
        if index == 1 {
            open.clients.push(feedback.by.clone());
        }
        let entries = open.entries.entry(feedback.by.clone()).or_default();
        entries.push(OpenFeedbackState {
            value: feedback.value,
            decimals: feedback.decimals,
            tag1: feedback.tag1.clone(),
            tag2: feedback.tag2.clone(),
            revoked: false,
            responses: 0,
        });
        recount(open);
        Ok(Event::OpenFeedback {
            agent: feedback.agent.clone(),
            client: feedback.by.clone(),
            index,
            value: feedback.value,
            decimals: feedback.decimals,
            tag1: feedback.tag1.clone(),
            tag2: feedback.tag2.clone(),
            endpoint: feedback.endpoint.clone(),
            uri: feedback.uri.clone(),
            hash: feedback.hash,
        })
    }

    /// R16: clients as listed, so that one listed twice counts twice; an empty tag matches all.
    pub(super) fn open_summary(
        &self,
        agent: &Agent,
        clients: &[Actor],
        tag1: &str,
        tag2: &str,
    ) -> Result<Summary, Refusal> {
        if clients.is_empty() {
            return Err(ErrorClass::EmptyClients);
        }
        let open = self.state.agents.get(agent).map(|record| &record.open);
        let found = open.map_or_else(Vec::new, |open| open.matching(clients, (tag1, tag2), false));
        let entries: Vec<_> = found.into_iter().map(|found| found.entry).collect();
        Ok(summarize(&entries))
    }
}

/// R16: the average at the number of decimals that most entries have, the smallest of equally frequent ones. If it
/// does not fit 128 bits there, at the largest smaller number of decimals at which it does.
pub(super) fn summarize(entries: &[&OpenFeedbackState]) -> Summary {
    let Some(mode) = (0..=limits::DECIMALS_MAX).rev().max_by_key(|decimals| {
        let has = entries.iter().filter(|entry| entry.decimals == *decimals);
        has.count() // max_by_key takes the last of equals: the fewest decimals
    }) else {
        return nothing();
    };
    if entries.is_empty() {
        return nothing();
    }
    let sum = entries
        .iter()
        .copied()
        .map(wad)
        .fold(I256::ZERO, |a, b| a + b);
    let count = entries.len() as u64;
    let average = sum / I256::try_from(count).expect("a count fits 255 bits"); // toward zero
    let fits = |decimals: u8| {
        let value = average / power_of_ten(limits::DECIMALS_MAX - decimals);
        i128::try_from(value).ok().map(|value| (value, decimals))
    };
    let (value, decimals) = (0..=mode)
        .rev()
        .find_map(fits)
        .expect("an average of values up to 1e38 fits without decimals");
    Summary::Open {
        count,
        value: Integer(value),
        decimals,
    }
}

fn nothing() -> Summary {
    Summary::Open {
        count: 0,
        value: Integer(0),
        decimals: 0,
    }
}

/// Over what is not revoked.
pub(super) fn recount(open: &mut OpenState) {
    let standing = || {
        let entries = open.entries.values().flatten();
        entries.filter(|entry| !entry.revoked)
    };
    let sum = standing().map(wad).fold(I256::ZERO, |a, b| a + b);
    open.count = standing().count() as u64;
    open.sum = WideInteger(sum);
}

/// In units of 1e-18.
pub(super) fn wad(entry: &OpenFeedbackState) -> I256 {
    let value = I256::try_from(entry.value.0).expect("128 bits fit 256");
    value * power_of_ten(limits::DECIMALS_MAX - entry.decimals)
}

fn power_of_ten(exponent: u8) -> I256 {
    I256::try_from(10u128.pow(exponent.into())).expect("1e18 at most")
}
