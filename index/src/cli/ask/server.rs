//! Asks an index's `/v1`.
use super::{AskError, options::Server};
use concord_chain::Blocking;
use concord_client::{IndexClient, IndexError};
use serde_json::Value;
use std::env;

const VARIABLE: &str = "CONCORD_INDEX_URL";
const DEFAULT: &str = "http://127.0.0.1:8745";

/// Asks, and returns the answer's JSON. `path` are the parts of the URL's path.
pub fn ask(server: &Server, path: &[&str], body: Option<&Value>) -> Result<Value, AskError> {
    let from_environment = || env::var(VARIABLE).ok();
    let address = server.index.clone().or_else(from_environment);
    let address = address.unwrap_or_else(|| DEFAULT.to_owned());
    let blocking = Blocking::new().map_err(|error| AskError::Silent {
        index: address.clone(),
        reason: error.to_string(),
    })?;
    let asked = async { IndexClient::new(&address)?.ask(path, body).await };
    Ok(blocking.wait(asked)?)
}

impl From<IndexError> for AskError {
    fn from(error: IndexError) -> Self {
        match error {
            IndexError::Url(reason) => Self::Usage(format!("--index: {reason}")),
            IndexError::Refused(message) => Self::Refused(message),
            IndexError::NotIndexed(message) => Self::NotIndexed(message),
            IndexError::Silent { index, reason } => Self::Silent { index, reason },
            other => Self::Refused(other.to_string()),
        }
    }
}
