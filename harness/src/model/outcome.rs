use super::{Event, Integer};
use concord_canonical::ErrorClass;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};
use std::{fmt, str::FromStr};

/// What came of one operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    pub verdict: Verdict,
    /// In the order of their emission; none where the operation was refused.
    pub events: Vec<Event>,
    /// The answer of a summary, of either profile.
    pub summary: Option<Summary>,
}

/// Accepted, or refused for one rule, or nothing that this chain has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    Ok,
    Refused(ErrorClass),
    /// The chain cannot express the operation: nothing was sent.
    Unsupported,
}

/// A summary, over feedback that is not revoked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(untagged, deny_unknown_fields)]
pub enum Summary {
    /// Of the authorized profile (R15).
    Authorized {
        count: u64,
        /// floor(sum / count); 0 when there is none.
        average: u8,
    },
    /// Of the open profile (R16).
    Open {
        count: u64,
        /// The average, truncated toward zero to `decimals`; 0 when there is none.
        value: Integer,
        decimals: u8,
    },
}

impl Outcome {
    pub fn accepted(events: Vec<Event>) -> Self {
        Self {
            verdict: Verdict::Ok,
            events,
            summary: None,
        }
    }

    pub fn refused(class: ErrorClass) -> Self {
        Self {
            verdict: Verdict::Refused(class),
            events: Vec::new(),
            summary: None,
        }
    }

    pub fn unsupported() -> Self {
        Self {
            verdict: Verdict::Unsupported,
            events: Vec::new(),
            summary: None,
        }
    }

    pub fn answered(summary: Summary) -> Self {
        Self {
            verdict: Verdict::Ok,
            events: Vec::new(),
            summary: Some(summary),
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ok => f.write_str("ok"),
            Self::Refused(class) => f.write_str(class.name()),
            Self::Unsupported => f.write_str("unsupported"),
        }
    }
}

impl FromStr for Verdict {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "ok" => Ok(Self::Ok),
            "unsupported" => Ok(Self::Unsupported),
            class => ErrorClass::from_name(class)
                .map(Self::Refused)
                .ok_or_else(|| {
                    format!("`{text}` is neither `ok`, nor `unsupported`, nor an error class")
                }),
        }
    }
}

impl Serialize for Verdict {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Verdict {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?
            .parse()
            .map_err(D::Error::custom)
    }
}
