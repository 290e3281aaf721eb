//! Parts of summaries: exact, and taken apart again if a feedback is revoked (R47).
use super::{Fold, Loader, read};
use crate::{
    StoreError,
    table::{Feedback, FeedbackKey, Part, PartKey},
};
use concord_canonical::{
    limits::DECIMALS_MAX,
    summary::{Accumulator, DECIMALS_COUNT, I256},
};
use concord_registry::event::AccountId;

impl<L: Loader> Fold<'_, L> {
    /// Takes a feedback in.
    pub(super) fn put_in(
        &mut self,
        key: &FeedbackKey,
        feedback: &Feedback,
    ) -> Result<(), StoreError> {
        self.change_parts(key, feedback, put)
    }

    /// Takes a feedback out that was taken in.
    pub(super) fn take_out(
        &mut self,
        key: &FeedbackKey,
        feedback: &Feedback,
    ) -> Result<(), StoreError> {
        self.change_parts(key, feedback, take)
    }

    /// Changes the client's part, and that of all clients.
    fn change_parts(
        &mut self,
        key: &FeedbackKey,
        feedback: &Feedback,
        change: fn(Part, &Feedback) -> Option<Part>,
    ) -> Result<(), StoreError> {
        for client in [Some(key.client), None] {
            let key = part_key(key, feedback, client);
            let part = read(&mut self.tables.parts, self.loader, &key)?;
            let changed = change(part.unwrap_or(EMPTY), feedback).ok_or(OUT_OF_RANGE)?;
            match changed.count {
                0 => self.tables.parts.delete(key),
                _ => self.tables.parts.put(key, changed),
            }
        }
        Ok(())
    }
}

const OUT_OF_RANGE: StoreError = StoreError::OutOfRange {
    what: "a part of a summary",
};

const EMPTY: Part = Part {
    count: 0,
    sum: [0; 32],
    histogram: [0; DECIMALS_COUNT],
};

fn part_key(key: &FeedbackKey, feedback: &Feedback, client: Option<AccountId>) -> PartKey {
    PartKey {
        profile: key.profile,
        agent: key.agent,
        client,
        tag1: feedback.tag1.clone(),
        tag2: feedback.tag2.clone(),
        is_paid: feedback.is_paid,
    }
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
