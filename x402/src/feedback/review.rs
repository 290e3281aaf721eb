use concord_canonical::value::Value;

use super::FeedbackError;

/// What the reviewer says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Review {
    /// The rating. X402's tags rate from 0 to 100.
    pub value: Value,
    /// The tags; `None` for those of the interaction's profile (R40).
    pub tags: Option<[String; 2]>,
    /// A comment in words.
    pub comment: Option<String>,
}

impl Review {
    /// The score for a registry that stores one.
    pub(super) fn score(&self) -> Result<u8, FeedbackError> {
        let score = u8::try_from(self.value.value()).ok();
        let score = score.filter(|it| *it <= 100 && self.value.decimals() == 0);
        score.ok_or_else(|| FeedbackError::Review {
            field: "value",
            found: self.value.to_string(),
            expected: "a whole number from 0 to 100 for authorized feedback".to_owned(),
        })
    }
}
