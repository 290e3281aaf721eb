//! Undoes what a proxy did to a body. The hash covers decoded bytes, and a server is asked for no encoding.

use std::{borrow::Cow, io::Read};

use flate2::read::{MultiGzDecoder, ZlibDecoder};
use http::header::CONTENT_ENCODING;

use super::Response;

/// The body as the server's handler wrote it, of at most `limit` bytes; or why it cannot be had.
pub(super) fn decoded(response: &Response, limit: usize) -> Result<Cow<'_, [u8]>, String> {
    let body = &response.body[..];
    let codings: Vec<_> = response.headers.get_all(CONTENT_ENCODING).iter().collect();
    let [coding] = codings[..] else {
        return if codings.is_empty() {
            Ok(body.into())
        } else {
            Err("the body has several encodings".to_owned())
        };
    };
    let coding = String::from_utf8_lossy(coding.as_bytes()).to_ascii_lowercase();
    match coding.trim() {
        "identity" => Ok(body.into()),
        _ if body.is_empty() => Ok(body.into()), // an answer to HEAD
        "gzip" | "x-gzip" => inflated(MultiGzDecoder::new(body), &coding, limit),
        "deflate" => inflated(ZlibDecoder::new(body), &coding, limit),
        other => {
            let shown: String = other.chars().take(40).collect();
            Err(format!(
                "the body is encoded as {shown}, expected gzip, deflate or nothing"
            ))
        }
    }
}

fn inflated(reader: impl Read, coding: &str, limit: usize) -> Result<Cow<'static, [u8]>, String> {
    let mut body = Vec::new();
    let most = u64::try_from(limit).unwrap_or(u64::MAX);
    let read = reader.take(most.saturating_add(1)).read_to_end(&mut body);
    match read {
        Err(_) => Err(format!("the body is not {coding}")),
        Ok(length) if length > limit => Err(format!(
            "the body is more than {limit} bytes after decoding"
        )),
        Ok(_) => Ok(body.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::{Compression, write::GzEncoder};
    use http::{HeaderMap, StatusCode};
    use proptest::prelude::*;
    use std::io::Write;

    const LIMIT: usize = 4_096;

    fn response(coding: &str, body: Vec<u8>) -> Response {
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_ENCODING, coding.parse().unwrap());
        Response {
            status: StatusCode::OK,
            headers,
            body: body.into(),
            is_complete: true,
        }
    }

    fn gzip(body: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(body).unwrap();
        encoder.finish().unwrap()
    }

    #[test]
    fn decoding_stops_at_the_limit() {
        let whole = response("gzip", gzip(&[7; LIMIT]));
        assert_eq!(decoded(&whole, LIMIT).unwrap().len(), LIMIT);
        let bomb = response("gzip", gzip(&vec![0; 64 << 20]));
        assert!(bomb.body.len() < 70_000);
        let error = decoded(&bomb, LIMIT).unwrap_err();
        assert_eq!(error, "the body is more than 4096 bytes after decoding");
    }

    proptest! {
        #[test]
        fn no_body_panics_or_grows_beyond_the_limit(
            coding in prop::sample::select(vec!["gzip", "X-GZIP", "deflate", "identity", "br", "gzip, gzip"]),
            body in prop::collection::vec(any::<u8>(), 0..300),
            at in any::<prop::sample::Index>(),
            byte in any::<u8>(),
        ) {
            let mut changed = gzip(&body);
            let at = at.index(changed.len());
            changed[at] = byte;
            for body in [body, changed] {
                let response = response(coding, body);
                if let Ok(found) = decoded(&response, LIMIT) {
                    prop_assert!(found.len() <= LIMIT);
                }
            }
        }
    }
}
