//! Parts of summaries: exact, and taken apart again if a feedback is revoked (R47).
use super::{Fold, Loader, read};
use crate::{
    StoreError,
    table::{AgentKey, Feedback, FeedbackKey, Part, PartKey, Total, TotalKey},
};
use concord_canonical::{
    hash::keccak256,
    limits::DECIMALS_MAX,
    summary::{Accumulator, DECIMALS_COUNT, I256},
};
use concord_registry::event::Profile;
use std::collections::BTreeSet;

impl<L: Loader> Fold<'_, L> {
    /// Takes a feedback in.
    pub(super) fn put_in(
        &mut self,
        key: &FeedbackKey,
        feedback: &Feedback,
    ) -> Result<(), StoreError> {
        self.change_parts(key, feedback, put)?;
        self.change_counts(key, feedback, |count| count.checked_add(1))
    }

    /// Takes a feedback out that was taken in.
    pub(super) fn take_out(
        &mut self,
        key: &FeedbackKey,
        feedback: &Feedback,
    ) -> Result<(), StoreError> {
        self.change_parts(key, feedback, take)?;
        self.change_counts(key, feedback, |count| count.checked_sub(1))
    }

    /// Changes how much the client has, and whether they are one of the agent's reviewers and payers.
    fn change_counts(
        &mut self,
        key: &FeedbackKey,
        feedback: &Feedback,
        change: fn(u64) -> Option<u64>,
    ) -> Result<(), StoreError> {
        let (client_key, agent_key) = (key.client(), AgentKey { agent: key.agent });
        let client = read(&mut self.tables.clients, self.loader, &client_key)?;
        let agent = read(&mut self.tables.agents, self.loader, &agent_key)?;
        let (Some(before), Some(mut agent)) = (client, agent) else {
            return Err(OUT_OF_RANGE); // both are there before their feedback
        };
        let mut client = before;
        client.count = change(client.count).ok_or(OUT_OF_RANGE)?;
        if feedback.is_paid {
            client.paid = change(client.paid).ok_or(OUT_OF_RANGE)?;
        }
        let reviewers = match key.profile {
            Profile::Authorized => &mut agent.authorized_reviewers,
            Profile::Open => &mut agent.open_reviewers,
        };
        for (of_agent, before, now) in [
            (reviewers, before.count, client.count),
            (&mut agent.payers, before.paid, client.paid),
        ] {
            match (before, now) {
                (0, 1..) => *of_agent = of_agent.saturating_add(1),
                (1.., 0) => *of_agent = of_agent.saturating_sub(1),
                _ => (),
            }
        }
        self.tables.clients.put(client_key, client);
        self.tables.agents.put(agent_key, agent);
        Ok(())
    }

    /// Changes the client's part, and the totals that the feedback is in.
    fn change_parts(
        &mut self,
        key: &FeedbackKey,
        feedback: &Feedback,
        change: fn(Part, &Feedback) -> Option<Part>,
    ) -> Result<(), StoreError> {
        let of_client = part_key(key, feedback);
        let part = read(&mut self.tables.parts, self.loader, &of_client)?;
        let changed = change(part.unwrap_or(EMPTY), feedback).ok_or(OUT_OF_RANGE)?;
        match changed.count {
            0 => self.tables.parts.delete(of_client),
            _ => self.tables.parts.put(of_client, changed),
        }
        for of_all in total_keys(key, feedback) {
            let total = read(&mut self.tables.totals, self.loader, &of_all)?;
            let total = total.unwrap_or(NO_TOTAL);
            let changed = Total {
                all: change(total.all, feedback).ok_or(OUT_OF_RANGE)?,
                paid: if feedback.is_paid {
                    change(total.paid, feedback).ok_or(OUT_OF_RANGE)?
                } else {
                    total.paid
                },
            };
            match changed.all.count {
                0 => self.tables.totals.delete(of_all),
                _ => self.tables.totals.put(of_all, changed),
            }
        }
        Ok(())
    }
}

const OUT_OF_RANGE: StoreError = StoreError::OutOfRange {
    what: "a part of a summary",
};

/// A part of nothing.
pub(crate) const EMPTY: Part = Part {
    count: 0,
    sum: [0; 32],
    histogram: [0; DECIMALS_COUNT],
};

const NO_TOTAL: Total = Total {
    all: EMPTY,
    paid: EMPTY,
};

pub(super) fn part_key(key: &FeedbackKey, feedback: &Feedback) -> PartKey {
    PartKey {
        profile: key.profile,
        agent: key.agent,
        client: key.client,
        tag1: tag_key(&feedback.tag1),
        tag2: tag_key(&feedback.tag2),
        is_paid: feedback.is_paid,
    }
}

/// Bytes of a tag that parts of summaries keep. A tag of R17 has 32.
const TAG_MAX: usize = 128;
/// Bytes of a longer one, before its hash. Both together are more than [`TAG_MAX`].
const TAG_START: usize = 96;

/// Returns what parts of summaries have for a tag: the tag itself, or the start and the keccak256 of
/// one that is too long for a database's keys.
pub(crate) fn tag_key(tag: &str) -> String {
    if tag.len() <= TAG_MAX {
        return tag.to_owned();
    }
    let start = &tag[..tag.floor_char_boundary(TAG_START)];
    format!("{start}{}", hex::encode(keccak256(tag.as_bytes())))
}

/// One for each pair of tags that a summary with this feedback can name: an empty one matches all
/// (R16).
pub(super) fn total_keys(key: &FeedbackKey, feedback: &Feedback) -> BTreeSet<TotalKey> {
    let (tag1, tag2) = (feedback.tag1.as_str(), feedback.tag2.as_str());
    let pairs = [("", ""), (tag1, ""), ("", tag2), (tag1, tag2)];
    let keys = pairs.map(|(tag1, tag2)| TotalKey {
        profile: key.profile,
        agent: key.agent,
        tag1: tag_key(tag1),
        tag2: tag_key(tag2),
    });
    keys.into()
}

/// `None` beyond the bounds that the registries enforce (R16).
fn put(part: Part, feedback: &Feedback) -> Option<Part> {
    let mut accumulator = accumulator(&part)?;
    accumulator.add(feedback.value, feedback.decimals).ok()?;
    Some(Part {
        count: accumulator.count(),
        sum: accumulator.sum().to_be_bytes(),
        histogram: *accumulator.histogram(),
    })
}

fn take(part: Part, feedback: &Feedback) -> Option<Part> {
    let scale = DECIMALS_MAX.checked_sub(feedback.decimals)?;
    let negated = I256::product(
        feedback.value.checked_neg()?,
        10u64.checked_pow(scale.into())?,
    );
    let mut histogram = part.histogram;
    let of_decimals = histogram.get_mut(usize::from(feedback.decimals))?;
    *of_decimals = of_decimals.checked_sub(1)?;
    Some(Part {
        count: part.count.checked_sub(1)?,
        sum: I256::from_be_bytes(&part.sum)
            .checked_add(negated)?
            .to_be_bytes(),
        histogram,
    })
}

/// The canonical crate's accumulator of a part; `None` if the part contradicts itself.
pub(crate) fn accumulator(part: &Part) -> Option<Accumulator> {
    Accumulator::from_parts(I256::from_be_bytes(&part.sum), part.count, part.histogram).ok()
}

/// What is left of a part without a part of it; `None` if it is not a part of it.
pub(crate) fn difference(part: &Part, without: &Part) -> Option<Part> {
    let mut histogram = part.histogram;
    for (left, gone) in histogram.iter_mut().zip(without.histogram) {
        *left = left.checked_sub(gone)?;
    }
    let inverted = without.sum.map(|byte| !byte);
    let negated = I256::from_be_bytes(&inverted).checked_add(I256::product(1, 1))?;
    Some(Part {
        count: part.count.checked_sub(without.count)?,
        sum: I256::from_be_bytes(&part.sum)
            .checked_add(negated)?
            .to_be_bytes(),
        histogram,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_tags_have_one_key() {
        for short in ["", "starred", &"é".repeat(TAG_MAX / 2)] {
            assert_eq!(tag_key(short), short);
        }
        let long = "é".repeat(TAG_MAX);
        let key = tag_key(&long);
        assert!(key.len() > TAG_MAX && key.len() <= TAG_START + 64, "{key}");
        assert_ne!(tag_key(&format!("{long}é")), key);
        assert_ne!(tag_key(&key), key); // a tag that pretends
    }
}
