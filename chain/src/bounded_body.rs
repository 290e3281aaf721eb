//! The bodies of answers, read no further than a limit.
use alloy::transports::http::reqwest::{Error, Response};

/// Why a body was not read whole.
pub(crate) enum BodyFault {
    Broken(Error),
    TooLong,
}

/// Reads a body of at most `max` bytes. A length that the answer announces is believed if it is too
/// long.
pub(crate) async fn read(mut response: Response, max: usize) -> Result<Vec<u8>, BodyFault> {
    let announced = response.content_length();
    if announced.is_some_and(|length| length > max as u64) {
        return Err(BodyFault::TooLong);
    }
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(BodyFault::Broken)? {
        if body.len() + chunk.len() > max {
            return Err(BodyFault::TooLong);
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body)
}
