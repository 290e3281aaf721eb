//! What writers hold a feedback file to, beyond what readers take (R17, R37, R39).

use std::borrow::Cow;

use concord_canonical::{
    Error as CanonicalError,
    caip::EIP155,
    error::TextFault,
    limits::{ENDPOINT_MAX, TAG_MAX},
};

use super::FeedbackFile;
use crate::error::{Error, Rule};

/// Checks what only writers are held to.
pub(super) fn check(file: &FeedbackFile) -> Result<(), Error> {
    let head = file.head();
    check_text("$.tag1", head.tag1.as_deref(), TAG_MAX)?;
    check_text("$.tag2", head.tag2.as_deref(), TAG_MAX)?;
    check_endpoint(head.endpoint.as_deref().unwrap_or_default())?;
    check_agent_id(file)?;
    match file {
        FeedbackFile::Profile(file) => check_attachments(&file.attachments),
        _ => Ok(()),
    }
}

/// Requires that a text fits both registries: at most `max` bytes of UTF-8, and no NUL (R17).
///
/// # Errors
/// What is wrong with it.
pub fn check_portable_text(text: &str, max: usize) -> Result<(), TextFault> {
    let length = text.len();
    match text.bytes().position(|byte| byte == 0) {
        Some(offset) => Err(TextFault::Character { byte: 0, offset }),
        None if length > max => Err(TextFault::Length {
            length,
            min: 0,
            max,
        }),
        None => Ok(()),
    }
}

fn check_text(path: &str, text: Option<&str>, max: usize) -> Result<(), Error> {
    let text = text.unwrap_or_default();
    check_length(path, text, max).map_err(|error| error.found(text))
}

fn check_length(path: &str, text: &str, max: usize) -> Result<(), Error> {
    check_portable_text(text, max).map_err(|fault| {
        let field = "it";
        Error::new(
            path,
            Rule::Form(CanonicalError::LengthLimit { field, fault }),
        )
    })
}

/// R17, R39. No error repeats the endpoint: it can hold a secret.
fn check_endpoint(endpoint: &str) -> Result<(), Error> {
    check_length("$.endpoint", endpoint, ENDPOINT_MAX)?;
    let part = match endpoint.find(['?', '#']) {
        Some(at) if endpoint.as_bytes()[at] == b'?' => "a query",
        Some(_) => "a fragment",
        None if user_info(endpoint).is_some() => "user info",
        None => return Ok(()),
    };
    Err(Error::new("$.endpoint", Rule::Endpoint { part }))
}

/// R37: a number up to 2^53 − 1 in dialects that write numbers.
fn check_agent_id(file: &FeedbackFile) -> Result<(), Error> {
    let is_evm = file
        .head()
        .agent_registry
        .starts_with(&format!("{EIP155}:"));
    let is_number = file.agent_id().as_json_integer().is_some();
    if matches!(file, FeedbackFile::X402(_)) || !is_evm || is_number {
        return Ok(());
    }
    let limit = "a number up to 2^53 - 1 in this dialect; X402's writes any id, as text";
    Err(Error::new("$.agentId", Rule::Range { limit }).found(file.agent_id().as_str()))
}

/// PROFILE requires an attachment's size.
fn check_attachments(attachments: &[crate::Attachment]) -> Result<(), Error> {
    match attachments.iter().position(|file| file.size.is_none()) {
        Some(index) => Err(Error::new(
            format!("$.attachments[{index}].size"),
            Rule::Missing,
        )),
        None => Ok(()),
    }
}

/// An endpoint as files publish it: without query, fragment and user info (R39).
#[must_use]
pub fn published_endpoint(url: &str) -> Cow<'_, str> {
    let url = url.split(['?', '#']).next().unwrap_or_default();
    match user_info(url) {
        Some((start, end)) => Cow::Owned(format!("{}{}", &url[..start], &url[end..])),
        None => Cow::Borrowed(url),
    }
}

/// Where the user info of a URL's authority begins, and where what follows its `@` does.
fn user_info(url: &str) -> Option<(usize, usize)> {
    let start = url.find("://")? + 3;
    let authority = url[start..].split(['/', '?', '#']).next()?;
    let at = authority.rfind('@')?;
    Some((start, start + at + 1))
}

#[cfg(test)]
mod tests {
    use super::published_endpoint;
    use crate::parse_feedback;

    /// Whatever is wrong with an endpoint: it can hold a secret.
    #[test]
    fn r39_no_error_repeats_an_endpoint() {
        let long = format!("https://u:secret@h/{}", "a".repeat(200));
        for (endpoint, rule) in [
            ("https://u:secret@h/", "endpoint"),
            ("https://h/?key=secret", "endpoint"),
            ("https://h/#secret", "endpoint"),
            ("https://u:secret@h/\\u0000", "length"),
            (&long, "length"),
        ] {
            let text = format!(
                r#"{{"agentRegistry":"eip155:8453:0x8004A169FB4a3325136EB29fA0ceB6D2e539a432","agentId":42,
                "clientAddress":"eip155:8453:0x70997970C51812dc3A010C7d01b50e0d17dc79C8",
                "createdAt":"2025-09-23T12:00:00Z","value":85,"valueDecimals":0,"endpoint":"{endpoint}"}}"#
            );
            let file = parse_feedback(text.as_bytes()).expect("readers take it");
            let error = file.view().to_canonical().expect_err("writers do not");
            assert_eq!(error.path(), "$.endpoint");
            assert_eq!(
                (error.rule().name(), error.value()),
                (rule, None),
                "{error}"
            );
        }
    }

    #[test]
    fn r39_publishes_an_endpoint_without_query_fragment_and_user_info() {
        for (url, published) in [
            (
                "https://agent.example/weather",
                "https://agent.example/weather",
            ),
            (
                "https://agent.example/weather?city=London",
                "https://agent.example/weather",
            ),
            ("https://agent.example/#a?b", "https://agent.example/"),
            (
                "https://key:s3cret@agent.example/a@b",
                "https://agent.example/a@b",
            ),
            ("https://a@b@agent.example", "https://agent.example"),
            (
                "https://agent.example?next=https://u@h/",
                "https://agent.example",
            ),
            ("mcp.agent.example/tool@2", "mcp.agent.example/tool@2"),
            ("", ""),
        ] {
            assert_eq!(published_endpoint(url), published, "{url}");
        }
    }
}
