//! What a registry's views answer over a canonical state: filters, windows and summaries.
use super::{
    Actor, AuthorizedState, Bytes32, FeedbackState, OpenFeedbackState, OpenState, PaddedTag,
    Records, Summary, ValidationState, ValidationsState, WideInteger,
    open::{summarize, wad},
};
use alloy::primitives::I256;
use concord_canonical::limits;
use std::{collections::BTreeMap, ops::Range};

/// Numbers of decimals: 0 to 18.
const DECIMALS_COUNT: usize = limits::DECIMALS_MAX as usize + 1;

/// An entry that a filter lets through.
#[derive(Debug)]
pub struct Found<'a, T> {
    pub client: &'a Actor,
    /// 1-based.
    pub index: u64,
    pub entry: &'a T,
}

impl<T> Clone for Found<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Found<'_, T> {}

/// What an open summary is computed from (R16). Parts over different entries add up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpenPart {
    /// In units of 1e-18.
    pub sum: WideInteger,
    pub count: u64,
    /// How many entries had 0, 1, … 18 decimals.
    pub histogram: [u64; DECIMALS_COUNT],
}

impl OpenState {
    /// The matching entries of the listed clients, in the order of the list and then of the
    /// indices: one listed twice is found twice; an empty tag matches all (R16).
    pub fn matching<'a>(
        &'a self,
        clients: &'a [Actor],
        (tag1, tag2): (&str, &str),
        with_revoked: bool,
    ) -> Vec<Found<'a, OpenFeedbackState>> {
        of_clients(&self.entries, clients)
            .filter(|found| with_revoked || !found.entry.revoked)
            .filter(|found| tag1.is_empty() || found.entry.tag1 == tag1)
            .filter(|found| tag2.is_empty() || found.entry.tag2 == tag2)
            .collect()
    }
}

impl AuthorizedState {
    /// As [`OpenState::matching`], with tags of 32 bytes, of which zeros match all (R15).
    pub fn matching<'a>(
        &'a self,
        clients: &'a [Actor],
        (tag1, tag2): (PaddedTag, PaddedTag),
        with_revoked: bool,
    ) -> Vec<Found<'a, FeedbackState>> {
        of_clients(&self.entries, clients)
            .filter(|found| with_revoked || !found.entry.revoked)
            .filter(|found| tag1.is_empty() || found.entry.tag1 == tag1)
            .filter(|found| tag2.is_empty() || found.entry.tag2 == tag2)
            .collect()
    }
}

impl ValidationsState {
    /// Count and sum of scores of the answered requests among `requests`: of the listed validators,
    /// each counted once however often listed, or of everybody for an empty list; with this tag, or
    /// with any for an empty one (R20).
    pub fn totals<'a>(
        &self,
        requests: impl IntoIterator<Item = (&'a Bytes32, &'a Actor)>,
        validators: &[Actor],
        tag: PaddedTag,
    ) -> (u64, u64) {
        let answers = requests
            .into_iter()
            .filter(|(_, validator)| validators.is_empty() || validators.contains(validator))
            .filter_map(|(request, validator)| self.find(request, validator)?.answer.as_ref())
            .filter(|answer| tag.is_empty() || answer.tag == tag);
        answers.fold((0, 0), |(count, sum), answer| {
            (count + 1, sum + u64::from(answer.score))
        })
    }

    /// One validation.
    pub fn find(&self, request: &Bytes32, validator: &Actor) -> Option<&ValidationState> {
        self.requests.get(request)?.get(validator)
    }
}

impl Records {
    /// The agent's requests, in order.
    pub fn requests_of<'a>(
        &'a self,
        agent: &'a super::Agent,
    ) -> impl Iterator<Item = (&'a Bytes32, &'a Actor)> {
        let requests = self.requests.iter();
        requests
            .filter(move |it| it.agent == *agent)
            .map(|it| (&it.request, &it.validator))
    }
}

fn of_clients<'a, T>(
    entries: &'a BTreeMap<Actor, Vec<T>>,
    clients: &'a [Actor],
) -> impl Iterator<Item = Found<'a, T>> {
    clients.iter().flat_map(|client| {
        let own = entries.get(client).into_iter().flatten();
        own.zip(1..).map(move |(entry, index)| Found {
            client,
            index,
            entry,
        })
    })
}

/// The part that these entries make (R16).
pub fn open_part(found: &[Found<'_, OpenFeedbackState>]) -> OpenPart {
    let mut histogram = [0; DECIMALS_COUNT];
    let mut sum = I256::ZERO;
    for it in found {
        if let Some(count) = histogram.get_mut(usize::from(it.entry.decimals)) {
            *count += 1;
        }
        sum += wad(it.entry);
    }
    OpenPart {
        sum: WideInteger(sum),
        count: found.len() as u64,
        histogram,
    }
}

/// The summary of these entries (R16).
pub fn open_summary(found: &[Found<'_, OpenFeedbackState>]) -> Summary {
    let entries: Vec<_> = found.iter().map(|it| it.entry).collect();
    summarize(&entries)
}

/// R15, R20: rounded down; 0 for none.
pub fn average(count: u64, sum: u64) -> u64 {
    sum.checked_div(count).unwrap_or(0)
}

/// The items at the positions `start` to `start + limit - 1`, as far as there are any.
pub fn window<T>(all: &[T], start: u64, limit: u64) -> &[T] {
    let length = all.len() as u64;
    let from = start.min(length);
    let to = from.saturating_add(limit).min(length);
    all.get(position(from)..position(to)).unwrap_or_default()
}

/// The 1-based indices from `start` to `start + limit - 1` of somebody whose last is `last`. Index
/// 0 is nobody's, though a window may begin there.
pub fn indices(last: u64, start: u64, limit: u64) -> Range<u64> {
    let end = start.saturating_add(limit).min(last.saturating_add(1));
    let from = start.max(1).min(end.max(1));
    from..end.max(from)
}

fn position(at: u64) -> usize {
    usize::try_from(at).unwrap_or(usize::MAX)
}
