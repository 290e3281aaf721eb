//! Answers as JSON.
use super::{Answer, failure::SECRET_MIN};
use alloc::{
    format,
    string::{String, ToString},
    vec::Vec,
};
use concord_canonical::json::{Object, Value};

/// Whether `shown` contains the request's secret key.
pub(super) fn repeats_secret(request: &Object<'_>, shown: &str) -> bool {
    let secret = request.get("secret_key").and_then(Value::as_str);
    secret.is_some_and(|secret| {
        let secret = secret.strip_prefix("0x").unwrap_or(secret);
        let contains = shown
            .to_ascii_lowercase()
            .contains(&secret.to_ascii_lowercase());
        secret.len() >= SECRET_MIN && contains
    })
}

/// One answer's line. `id` is JSON text already.
pub(super) fn envelope(id: &str, answer: Answer) -> String {
    match answer {
        Ok(ok) => format!("{{\"id\":{id},\"ok\":{ok}}}"),
        Err(failure) => {
            let class = failure.class.name();
            let message = serde_json::Value::from(failure.message);
            format!("{{\"id\":{id},\"error\":{{\"class\":\"{class}\",\"message\":{message}}}}}")
        }
    }
}

/// A JSON value's text with numbers as they were written, so that an id comes back the same.
pub(super) fn verbatim(value: &Value<'_>) -> String {
    match value {
        Value::Number(number) => number.literal().to_string(),
        Value::Array(elements) => {
            let elements: Vec<_> = elements.iter().map(verbatim).collect();
            format!("[{}]", elements.join(","))
        }
        Value::Object(object) => {
            let member = |(key, value): (&str, &Value<'_>)| {
                format!("{}:{}", serde_json::Value::from(key), verbatim(value))
            };
            let members: Vec<_> = object.iter().map(member).collect();
            format!("{{{}}}", members.join(","))
        }
        scalar => scalar.to_canonical(),
    }
}

/// Lower-case hex with `0x`.
pub(super) fn hex_text(bytes: &[u8]) -> String {
    format!("0x{}", hex::encode(bytes))
}

/// [`hex_text`] as JSON.
pub(super) fn hex_json(bytes: &[u8]) -> serde_json::Value {
    hex_text(bytes).into()
}
