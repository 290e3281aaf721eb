//! Calls of scores, stars, tags with a meaning, feedback ids and parts of summaries.

use concord_canonical::{
    Error,
    feedback_id::{FeedbackId, IndexBase},
    score::{Tally, weighted},
    summary::{self, Accumulator, DECIMALS_COUNT, Feedback, I256, Query},
    tag,
    word::{self, Decimal},
};
use serde_json::{Value, json};

use crate::vectors::arguments::{Arguments, integer_text};

pub(crate) const COUNTERS: &[&str] = &[
    "verified_count",
    "verified_score_sum",
    "unverified_count",
    "unverified_score_sum",
];

pub(crate) fn weighted_score(a: &Arguments<'_>) -> Result<Value, Error> {
    let tally = |count, score_sum| Tally {
        count: a.u64(count),
        score_sum: a.u64(score_sum),
    };
    let verified = tally("verified_count", "verified_score_sum");
    let unverified = tally("unverified_count", "unverified_score_sum");
    Ok(json!(weighted(&verified, &unverified).to_string()))
}

pub(crate) fn stars_to_value(a: &Arguments<'_>) -> Result<Value, Error> {
    tag::stars_to_value(uint8(a, "stars")).map(Value::from)
}

pub(crate) fn stars_of_value(a: &Arguments<'_>) -> Result<Value, Error> {
    Ok(tag::stars_of_value(uint8(a, "value")).into())
}

pub(crate) fn standard_tag(a: &Arguments<'_>) -> Result<Value, Error> {
    let tag = tag::standard_tag(a.text("name")).expect("a row of the table");
    Ok(json!({
        "measures": tag.measures, "unit": tag.unit, "decimals": tag.decimals,
        "range": tag.range.name(), "tag2": tag.tag2,
    }))
}

pub(crate) fn standard_tag_value(a: &Arguments<'_>) -> Result<Value, Error> {
    let tag = tag::standard_tag(a.text("name")).expect("a row of the table");
    let value = a.integer_text("value").parse().expect("an i128");
    tag.check(value, uint8(a, "value_decimals"))?;
    Ok(true.into())
}

pub(crate) fn x402_tag(a: &Arguments<'_>) -> Result<Value, Error> {
    let (tag1, tag2) = (a.text("tag1"), a.text("tag2"));
    let mut all = tag::X402_TAGS.iter();
    let found = all.find(|it| it.tag1 == tag1 && it.tag2 == tag2);
    Ok(found.expect("a row of the table").meaning.into())
}

pub(crate) fn feedback_id(a: &Arguments<'_>) -> Result<Value, Error> {
    let base = |name| match a.u64(name) {
        0 => IndexBase::Zero,
        1 => IndexBase::One,
        other => panic!("{name} {other}"),
    };
    let id = FeedbackId::parse(a.text("text"), base("base"))?;
    Ok(json!({
        "agent_id": id.agent_id(), "client": id.client(), "index": id.index().to_string(),
        "text": id.text(base("target")).to_string(),
    }))
}

/// The part of what a summary of the same arguments takes in.
pub(crate) fn part_of(
    feedback: &[Feedback<'_, &str>],
    query: &Query<'_, &str>,
) -> Result<Value, Error> {
    summary::summarize(feedback, query)?;
    let mut part = Accumulator::default();
    for entry in feedback.iter().filter(|entry| query.matches(entry)) {
        let listed = query.clients.iter().filter(|it| **it == entry.client);
        for _ in listed {
            part.add(entry.value, entry.decimals)?;
        }
    }
    Ok(part_json(&part))
}

pub(crate) fn summary_merge(a: &Arguments<'_>) -> Result<Value, Error> {
    let parts = a.get("parts").and_then(Value::as_array).expect("parts");
    let mut whole = Accumulator::default();
    for part in parts {
        whole.merge(&accumulator(part)?)?;
    }
    let summary = whole.finish();
    Ok(json!({
        "part": part_json(&whole), "count": summary.count.to_string(),
        "value": summary.value.to_string(), "value_decimals": summary.decimals,
    }))
}

fn accumulator(part: &Value) -> Result<Accumulator, Error> {
    let count = |value: &Value| integer_text(value).parse().expect("a u64");
    let histogram = part["histogram"].as_array().expect("a histogram");
    let histogram: Vec<u64> = histogram.iter().map(count).collect();
    let histogram: [u64; DECIMALS_COUNT] = histogram.try_into().expect("19 counts");
    let text = integer_text(&part["sum"]);
    let digits = text.trim_start_matches('-');
    let magnitude = I256::from_be_bytes(&word::parse_decimal("sum", digits)?);
    let sum = if text.starts_with('-') {
        negated(magnitude)
    } else {
        magnitude
    };
    Accumulator::from_parts(sum, count(&part["count"]), histogram)
}

/// Two's complement: every bit turned over, plus 1.
fn negated(value: I256) -> I256 {
    let turned = I256::from_be_bytes(&value.to_be_bytes().map(|byte| !byte));
    turned.checked_add(I256::product(1, 1)).expect("an int256")
}

fn part_json(part: &Accumulator) -> Value {
    let sum = part.sum();
    let sum = if sum.is_negative() {
        format!("-{}", Decimal(negated(sum).to_be_bytes()))
    } else {
        Decimal(sum.to_be_bytes()).to_string()
    };
    let histogram: Vec<_> = part.histogram().iter().map(u64::to_string).collect();
    json!({ "sum": sum, "count": part.count().to_string(), "histogram": histogram })
}

fn uint8(a: &Arguments<'_>, name: &'static str) -> u8 {
    u8::try_from(a.u64(name)).expect("a u8")
}
