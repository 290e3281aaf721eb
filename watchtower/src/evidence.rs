use concord_files::{
    BestPracticesFeedback, Extra, FeedbackFile, FeedbackHead, RatingValue, RawJson, RegistrationId,
    Timestamp,
};
use serde_json::Value;

use crate::WatchtowerError;

/// The member of a feedback file that says how its value came about.
const STATEMENT: &str = "watchtower";

/// A feedback file in BP's form, and what it states of its window.
pub(crate) struct Evidence<'a> {
    pub registration: &'a RegistrationId,
    pub client: &'a str,
    pub endpoint: &'a str,
    pub tags: [&'a str; 2],
    pub value: i128,
    pub decimals: u8,
    /// Unix seconds.
    pub created_at: u64,
    pub statement: &'a Value,
}

impl Evidence<'_> {
    /// RFC 8785 text: the same evidence has the same bytes.
    pub fn to_canonical(&self) -> Result<String, WatchtowerError> {
        let [tag1, tag2] = self.tags.map(str::to_owned);
        let statement = RawJson::parse(&self.statement.to_string())?;
        let created_at = Timestamp::from_unix_seconds(self.created_at)
            .ok_or(WatchtowerError::Clock(self.created_at))?;
        let file = FeedbackFile::BestPractices(BestPracticesFeedback {
            head: FeedbackHead {
                agent_registry: self.registration.agent_registry.clone(),
                client_address: self.client.to_owned(),
                created_at,
                tag1: Some(tag1),
                tag2: Some(tag2),
                endpoint: (!self.endpoint.is_empty()).then(|| self.endpoint.to_owned()),
            },
            agent_id: self.registration.agent_id.clone(),
            value: RatingValue {
                value: self.value,
                value_decimals: self.decimals,
            },
            mcp: None,
            a2a: None,
            oasf: None,
            payment: None,
            extra: Extra::from([(STATEMENT.to_owned(), statement)]),
        });
        let text = file.to_canonical();
        text.map_err(|error| WatchtowerError::Evidence {
            agent: self.registration.agent_id.to_string(),
            error,
        })
    }
}

/// A time as files write it; `None` beyond the year 9999.
pub(crate) fn time(unix_seconds: u64) -> Option<String> {
    let time = Timestamp::from_unix_seconds(unix_seconds)?;
    Some(time.as_str().to_owned())
}
