use crate::error::Error;

/// Which values a standard tag allows, in its unit, before decimals.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Range {
    /// Any value.
    Any,
    /// 0 and above.
    NonNegative,
    /// 0 to 100, both included.
    Percent,
    /// Exactly 0 or 1.
    Boolean,
}

impl Range {
    /// The range in words.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Any => "any value",
            Self::NonNegative => "0 and above",
            Self::Percent => "0 to 100",
            Self::Boolean => "0 or 1",
        }
    }

    /// Whether `value / 10^decimals` lies in the range.
    pub fn contains(self, value: i128, decimals: u8) -> bool {
        // 10^38 is the largest power in an i128; a smaller value than the unit is above 0 only.
        let unit = 10i128.checked_pow(u32::from(decimals));
        match self {
            Self::Any => true,
            Self::NonNegative => value >= 0,
            Self::Percent => {
                let limit = unit.and_then(|unit| unit.checked_mul(100));
                value >= 0 && limit.is_none_or(|limit| value <= limit)
            }
            Self::Boolean => value == 0 || unit == Some(value),
        }
    }
}

/// A tag whose meaning BP fixes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StandardTag {
    /// The text of `tag1`.
    pub name: &'static str,
    /// What is measured.
    pub measures: &'static str,
    /// The unit of `value / 10^valueDecimals`.
    pub unit: &'static str,
    /// The decimals that BP's example uses; others are allowed.
    pub decimals: u8,
    /// Which values make sense.
    pub range: Range,
    /// What `tag2` may say; empty if BP fixes nothing.
    pub tag2: &'static [&'static str],
}

impl StandardTag {
    /// Whether a value fits the tag's range.
    ///
    /// # Errors
    /// [`Error::TagValueOutOfRange`]. No registry enforces this.
    pub fn check(&self, value: i128, decimals: u8) -> Result<(), Error> {
        if self.range.contains(value, decimals) {
            Ok(())
        } else {
            Err(Error::TagValueOutOfRange {
                tag: self.name,
                value,
                decimals,
                range: self.range.name(),
            })
        }
    }
}

const fn tag(
    name: &'static str,
    measures: &'static str,
    unit: &'static str,
    decimals: u8,
    range: Range,
) -> StandardTag {
    StandardTag {
        name,
        measures,
        unit,
        decimals,
        range,
        tag2: &[],
    }
}

/// BP's table "Value/ValueDecimals Encoding".
pub const STANDARD_TAGS: &[StandardTag] = &[
    tag("starred", "quality rating", "points", 0, Range::Percent),
    tag(
        "reachable",
        "endpoint reachable",
        "boolean",
        0,
        Range::Boolean,
    ),
    tag(
        "ownerVerified",
        "endpoint owned by agent",
        "boolean",
        0,
        Range::Boolean,
    ),
    tag("uptime", "endpoint uptime", "%", 2, Range::Percent),
    tag(
        "successRate",
        "request success rate",
        "%",
        0,
        Range::Percent,
    ),
    tag("responseTime", "latency", "ms", 0, Range::NonNegative),
    tag(
        "blocktimeFreshness",
        "average block delay",
        "blocks",
        0,
        Range::NonNegative,
    ),
    tag(
        "revenues",
        "cumulative revenues",
        "USD",
        0,
        Range::NonNegative,
    ),
    StandardTag {
        tag2: &["day", "week", "month", "year"],
        ..tag("tradingYield", "yield", "%", 1, Range::Any)
    },
];

/// The entry of BP's table with this name.
pub fn standard_tag(name: &str) -> Option<&'static StandardTag> {
    STANDARD_TAGS.iter().find(|tag| tag.name == name)
}

/// A pair of tags whose meaning X402 fixes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct X402Tag {
    /// The dimension.
    pub tag1: &'static str,
    /// The qualifier or level of proof.
    pub tag2: &'static str,
    /// What the pair says.
    pub meaning: &'static str,
}

/// X402's table "x402-specific Tags".
pub const X402_TAGS: &[X402Tag] = &[
    X402Tag {
        tag1: "x402-resource-delivered",
        tag2: "proof-of-participation",
        meaning: "the resource came with the agent's signature",
    },
    X402Tag {
        tag1: "x402-resource-missing",
        tag2: "proof-of-participation",
        meaning: "the agent signed but did not deliver",
    },
    X402Tag {
        tag1: "x402-response-delayed",
        tag2: "proof-of-participation",
        meaning: "the resource came after the timeout",
    },
    X402Tag {
        tag1: "x402-payment-amount",
        tag2: "mismatch",
        meaning: "the agent asked for another amount than it declared",
    },
];

const STARS_MAX: u8 = 5;
const POINTS_PER_STAR: u8 = 20;

/// BP's mapping of 1 to 5 stars to 20, 40, 60, 80, 100 points.
///
/// # Errors
/// [`Error::StarsOutOfRange`].
pub fn stars_to_value(stars: u8) -> Result<u8, Error> {
    match stars {
        1..=STARS_MAX => Ok(stars * POINTS_PER_STAR),
        _ => Err(Error::StarsOutOfRange {
            stars,
            limit: STARS_MAX,
        }),
    }
}

/// The stars that map to exactly this many points, if any do.
pub fn stars_of_value(value: u8) -> Option<u8> {
    (1..=STARS_MAX).find(|stars| stars * POINTS_PER_STAR == value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ErrorClass, tag::Tag};

    #[test]
    fn bps_examples_fit_their_tags() {
        // BP's table, row by row.
        let examples = [
            ("starred", 87, 0),
            ("reachable", 1, 0),
            ("ownerVerified", 1, 0),
            ("uptime", 9977, 2),
            ("successRate", 89, 0),
            ("responseTime", 560, 0),
            ("blocktimeFreshness", 4, 0),
            ("revenues", 560, 0),
            ("tradingYield", -32, 1),
        ];
        assert_eq!(examples.len(), STANDARD_TAGS.len());
        for (name, value, decimals) in examples {
            let tag = standard_tag(name).unwrap();
            assert_eq!(tag.decimals, decimals, "{name}");
            tag.check(value, decimals).unwrap();
        }
        assert_eq!(standard_tag("tradingYield").unwrap().tag2.len(), 4);
    }

    #[test]
    fn refuses_values_outside_a_tags_range() {
        let cases = [
            ("starred", 101, 0),
            ("starred", -1, 0),
            ("uptime", 10_001, 2),
            ("reachable", 2, 0),
            ("reachable", 1, 1),
            ("reachable", 1, 255),
            ("responseTime", -1, 3),
        ];
        for (name, value, decimals) in cases {
            let error = standard_tag(name).unwrap().check(value, decimals);
            assert_eq!(
                error.unwrap_err().class(),
                ErrorClass::ValueOutOfRange,
                "{name} {value}"
            );
        }
        assert!(
            standard_tag("uptime")
                .unwrap()
                .check(i128::MAX, 255)
                .is_ok()
        );
        assert!(standard_tag("reachable").unwrap().check(100, 2).is_ok());
    }

    #[test]
    fn every_standard_tag_is_canonical() {
        for tag in STANDARD_TAGS {
            Tag::new(tag.name).unwrap();
        }
        for tag in X402_TAGS {
            Tag::new(tag.tag1).unwrap();
            Tag::new(tag.tag2).unwrap();
        }
    }

    #[test]
    fn stars_map_to_bps_values() {
        let values = [20, 40, 60, 80, 100];
        for (stars, value) in (1..).zip(values) {
            assert_eq!(stars_to_value(stars), Ok(value));
            assert_eq!(stars_of_value(value), Some(stars));
        }
        for stars in [0, 6, u8::MAX] {
            let error = stars_to_value(stars).unwrap_err();
            assert_eq!(error.class(), ErrorClass::NumberOutOfRange);
        }
        assert_eq!((stars_of_value(0), stars_of_value(99)), (None, None));
    }
}
