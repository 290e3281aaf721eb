//! Scores, stars and the tags that have a meaning of their own.
use super::{Answer, failure::Failure};
use alloc::{format, string::ToString, vec::Vec};
use concord_canonical::{
    score::{Tally, weighted},
    tag::{STANDARD_TAGS, StandardTag, X402_TAGS, standard_tag, stars_of_value, stars_to_value},
};
use serde::Deserialize;
use serde_json::json;

/// X84's weighted score, from an agent's four counters.
#[derive(Deserialize)]
pub(super) struct WeightedScore {
    verified_count: u64,
    verified_score_sum: u64,
    unverified_count: u64,
    unverified_score_sum: u64,
}

impl WeightedScore {
    pub fn answer(&self) -> Answer {
        let verified = Tally {
            count: self.verified_count,
            score_sum: self.verified_score_sum,
        };
        let unverified = Tally {
            count: self.unverified_count,
            score_sum: self.unverified_score_sum,
        };
        Ok(weighted(&verified, &unverified).to_string().into())
    }
}

/// BP's stars as points.
#[derive(Deserialize)]
pub(super) struct Stars {
    stars: u8,
}

impl Stars {
    pub fn answer(&self) -> Answer {
        Ok(stars_to_value(self.stars)?.into())
    }
}

/// BP's stars of so many points; `null` where no number of stars has them.
#[derive(Deserialize)]
pub(super) struct StarsOfValue {
    value: u8,
}

impl StarsOfValue {
    pub fn answer(&self) -> Answer {
        Ok(stars_of_value(self.value).into())
    }
}

/// A row of BP's table.
#[derive(Deserialize)]
pub(super) struct StandardTagRow<'a> {
    name: &'a str,
}

impl StandardTagRow<'_> {
    pub fn answer(&self) -> Answer {
        let tag = known_tag(self.name)?;
        Ok(json!({
            "measures": tag.measures, "unit": tag.unit, "decimals": tag.decimals,
            "range": tag.range.name(), "tag2": tag.tag2,
        }))
    }
}

/// Whether a value is in the range of one of BP's tags.
#[derive(Deserialize)]
pub(super) struct StandardTagValue<'a> {
    name: &'a str,
    value: i128,
    value_decimals: u8,
}

impl StandardTagValue<'_> {
    pub fn answer(&self) -> Answer {
        known_tag(self.name)?.check(self.value, self.value_decimals)?;
        Ok(true.into())
    }
}

/// What a pair of X402's tags says.
#[derive(Deserialize)]
pub(super) struct X402Tag<'a> {
    tag1: &'a str,
    tag2: &'a str,
}

impl X402Tag<'_> {
    pub fn answer(&self) -> Answer {
        let mut all = X402_TAGS.iter();
        let found = all.find(|it| it.tag1 == self.tag1 && it.tag2 == self.tag2);
        let found = found.ok_or_else(|| {
            let pairs = X402_TAGS
                .iter()
                .map(|it| format!("{} {}", it.tag1, it.tag2));
            let pairs: Vec<_> = pairs.collect();
            let pairs = pairs.join(", ");
            Failure::bad_request(format!("tag1 and tag2 must be one pair of {pairs}"))
        })?;
        Ok(found.meaning.into())
    }
}

fn known_tag(name: &str) -> Result<&'static StandardTag, Failure> {
    standard_tag(name).ok_or_else(|| {
        let names: Vec<_> = STANDARD_TAGS.iter().map(|it| it.name).collect();
        Failure::not_one_of("name", &names)
    })
}
