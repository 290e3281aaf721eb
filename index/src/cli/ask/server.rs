//! Asks an index's `/v1`. An answer that no index gives is an error.
use super::{
    AskError,
    options::{Get, Server},
    profile,
};
use concord_chain::Blocking;
use concord_client::{ClientError, IndexClient, IndexError};
use serde_json::Value;
use std::env;

const VARIABLE: &str = "CONCORD_INDEX_URL";
const DEFAULT: &str = "http://127.0.0.1:8745";

/// A page of rows, as the index answers it. `path` are the parts of the URL's path.
pub fn page(server: &Server, path: &[&str], body: &Value) -> Result<Value, AskError> {
    let (blocking, index) = connect(server)?;
    Ok(blocking.wait(index.ask_page(path, body))?)
}

/// The summary of the agent that the body names.
pub fn summary(server: &Server, body: &Value) -> Result<Value, AskError> {
    let (blocking, index) = connect(server)?;
    Ok(blocking.wait(index.ask_summary(body))?)
}

/// One feedback.
pub fn feedback(of: &Get) -> Result<Value, AskError> {
    let (blocking, index) = connect(&of.server)?;
    let asked = index.feedback(profile(of.profile), &of.agent, &of.client, of.number);
    Ok(blocking.wait(asked)?)
}

fn connect(server: &Server) -> Result<(Blocking, IndexClient), AskError> {
    let from_environment = || env::var(VARIABLE).ok();
    let address = server.index.clone().or_else(from_environment);
    let address = address.unwrap_or_else(|| DEFAULT.to_owned());
    Ok((Blocking::new()?, IndexClient::new(&address)?))
}

impl From<ClientError> for AskError {
    fn from(error: ClientError) -> Self {
        match error {
            ClientError::Index(error) => error.into(),
            other => Self::Refused(other.to_string()),
        }
    }
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
