//! Parts of a summary (R16), which add up as summaries do not.
use super::{Answer, failure::Failure, summary::Summary, types::Int256};
use alloc::{format, string::ToString, vec::Vec};
use concord_canonical::{
    Word,
    summary::{Accumulator, DECIMALS_COUNT, I256},
    word::Decimal,
};
use serde::Deserialize;
use serde_json::{Value as Json, json};

impl Summary<'_> {
    /// The part that the matching feedback makes.
    pub fn part(&self) -> Answer {
        let mut accumulator = Accumulator::default();
        for entry in self.matching()? {
            accumulator.add(entry.value, entry.decimals)?;
        }
        Ok(part_json(&accumulator))
    }
}

/// Parts of disjoint feedback, from any chain.
#[derive(Deserialize)]
pub(super) struct SummaryMerge {
    parts: Vec<Part>,
}

#[derive(Deserialize)]
struct Part {
    sum: Int256,
    count: u64,
    histogram: Vec<u64>,
}

impl SummaryMerge {
    /// Their common part, and its summary.
    pub fn answer(&self) -> Answer {
        let mut whole = Accumulator::default();
        for (at, part) in self.parts.iter().enumerate() {
            let merged = part.accumulator().and_then(|part| Ok(whole.merge(&part)?));
            merged.map_err(|failure| failure.inside(&format!("parts[{at}]")))?;
        }
        let summary = whole.finish();
        Ok(json!({
            "part": part_json(&whole),
            "count": summary.count.to_string(),
            "value": summary.value.to_string(),
            "value_decimals": summary.decimals,
        }))
    }
}

impl Part {
    fn accumulator(&self) -> Result<Accumulator, Failure> {
        let histogram: [u64; DECIMALS_COUNT] =
            self.histogram.as_slice().try_into().map_err(|_| {
                let length = self.histogram.len();
                let message = format!("histogram has {length} entries, must have {DECIMALS_COUNT}");
                Failure::bad_request(message)
            })?;
        let sum = I256::from_be_bytes(&self.sum.0);
        Ok(Accumulator::from_parts(sum, self.count, histogram)?)
    }
}

/// Every member is wider than 53 bits, so a decimal string.
fn part_json(part: &Accumulator) -> Json {
    let histogram: Vec<_> = part.histogram().iter().map(ToString::to_string).collect();
    json!({
        "sum": signed_decimal(part.sum()),
        "count": part.count().to_string(),
        "histogram": histogram,
    })
}

fn signed_decimal(sum: I256) -> Json {
    let word = sum.to_be_bytes();
    if !sum.is_negative() {
        return Decimal(word).to_string().into();
    }
    format!("-{}", Decimal(negated(word))).into()
}

/// Two's complement of a 256-bit integer.
pub(super) fn negated(word: Word) -> Word {
    let mut carry = true;
    let mut negated = word.map(|byte| !byte);
    for byte in negated.iter_mut().rev() {
        (*byte, carry) = byte.overflowing_add(u8::from(carry));
    }
    negated
}
