//! Why a request got no result. No message repeats bytes, or any text that may be a secret.
use alloc::{
    borrow::ToOwned,
    format,
    string::{String, ToString},
};
use concord_canonical::{
    Error, ErrorClass,
    error::{Excerpt, TextFault},
    json::Value,
};
use core::fmt;
use serde::de::{self, Expected, Unexpected};

#[derive(Debug)]
pub(super) struct Failure {
    pub class: ErrorClass,
    pub message: String,
}

impl Failure {
    pub fn bad_request(message: String) -> Self {
        Self {
            class: ErrorClass::BadRequest,
            message,
        }
    }

    /// The line is not JSON. Names the offset, but no key and no number, which may be a secret.
    pub fn not_json(error: &Error) -> Self {
        Self::bad_request(match error {
            Error::DuplicateKey { offset, .. } => {
                format!("line is not JSON: an object names one key twice at byte {offset}")
            }
            Error::NumberOutOfRange { .. } => {
                "line is not JSON: a number is beyond the range of a double".into()
            }
            other => format!("line is not JSON: {other}"),
        })
    }

    pub fn missing(name: &str) -> Self {
        Self::bad_request(format!("{name} is missing"))
    }

    pub fn wrong_type(name: &str, value: &Value<'_>, wanted: &str) -> Self {
        let found = match value {
            Value::Null => "null",
            Value::Bool(_) => "a boolean",
            Value::Number(_) => "a number",
            Value::String(_) => "a string",
            Value::Array(_) => "a list",
            Value::Object(_) => "an object",
        };
        Self::bad_request(format!("{name} is {found}, must be {wanted}"))
    }

    /// `name` has none of the values in `allowed`. The value may be a secret in the wrong place.
    pub fn not_one_of(name: &str, allowed: &[&str]) -> Self {
        let allowed = match allowed {
            [first @ .., last] => format!("{} or {last}", first.join(", ")),
            [] => "absent".to_owned(),
        };
        Self::bad_request(format!("{name} must be {allowed}"))
    }

    pub fn unknown_function(name: &str, known: &[&str]) -> Self {
        let (name, known) = (shown_name(name), known.join(", "));
        Self::bad_request(format!("fn is {name}, must be one of {known}"))
    }

    pub fn unknown_argument(name: &str, known: &[&str]) -> Self {
        let (name, known) = (shown_name(name), known.join(", "));
        Self::bad_request(format!(
            "{name} is not an argument here, which are: {known}"
        ))
    }

    /// A well-formed chain id of a namespace for which the function is not defined.
    pub fn wrong_namespace(namespace: &str, allowed: &'static str) -> Self {
        Error::MalformedChainId {
            field: "namespace",
            value: Excerpt::new(namespace),
            fault: TextFault::Name { allowed },
        }
        .into()
    }

    pub fn out_of_range(field: &'static str, text: &str, limit: &'static str) -> Self {
        let value = Excerpt::new(text);
        Error::NumberOutOfRange {
            field,
            value,
            limit,
        }
        .into()
    }

    /// Adds what else may be given.
    pub fn with(mut self, words: &str) -> Self {
        self.message.push_str(words);
        self
    }

    /// Adds the place where it happened, such as `feedback[3]`.
    pub fn inside(self, place: &str) -> Self {
        let message = if self.message.starts_with(place) {
            self.message
        } else {
            format!("{place}: {}", self.message)
        };
        Self { message, ..self }
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self {
            class: error.class(),
            message: without_secrets(&without_cut_words(&error.to_string())),
        }
    }
}

/// Shortest run of hex digits in an error's excerpt, or of letters and digits before its cut, that is
/// left out: a key cut short is still most of a key.
const HEX_RUN_MIN: usize = 24;

/// An excerpt that was cut ends with this.
const CUT: char = '…';

/// Leaves out a word that the excerpt has cut: the keypairs of Solana's tools are 88 base58
/// characters, more than half of which hold the secret.
fn without_cut_words(message: &str) -> String {
    let mut shown = String::with_capacity(message.len());
    let mut word = String::new();
    for c in message.chars().chain(['\n']) {
        if c.is_ascii_alphanumeric() {
            word.push(c);
            continue;
        }
        if c == CUT && word.len() >= HEX_RUN_MIN {
            shown.push_str(&format!("<{} letters and digits>", word.len()))
        } else {
            shown.push_str(&word)
        }
        word.clear();
        shown.push(c);
    }
    shown.pop(); // the end that was added
    shown
}

/// An error of the crate quotes the text that it refuses, which may be a secret in the wrong place.
fn without_secrets(message: &str) -> String {
    let mut shown = String::with_capacity(message.len());
    let mut run = String::new();
    for c in message.chars().chain(['\n']) {
        if c.is_ascii_hexdigit() {
            run.push(c);
            continue;
        }
        let is_number = run.bytes().all(|byte| byte.is_ascii_digit());
        if run.len() >= HEX_RUN_MIN && !is_number {
            shown.push_str(&format!("<{} hex digits>", run.len()))
        } else {
            shown.push_str(&run)
        }
        run.clear();
        shown.push(c);
    }
    shown.pop(); // the end that was added
    shown
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl core::error::Error for Failure {}

/// Serde's own messages repeat the value that was found. These do not.
impl de::Error for Failure {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self::bad_request(message.to_string())
    }

    fn invalid_type(_: Unexpected<'_>, wanted: &dyn Expected) -> Self {
        Self::bad_request(format!("an argument has the wrong type, must be {wanted}"))
    }

    fn invalid_value(_: Unexpected<'_>, wanted: &dyn Expected) -> Self {
        Self::bad_request(format!("an argument has a wrong value, must be {wanted}"))
    }

    fn missing_field(name: &'static str) -> Self {
        Self::missing(name)
    }
}

/// Shortest text that is guarded as a secret. Shorter ones occur in anything.
pub(super) const SECRET_MIN: usize = 16;

/// A name for a message: quoted if it looks like one. Any other may be a secret, so only its length
/// is shown.
fn shown_name(name: &str) -> String {
    let is_name = name.len() <= 32
        && name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte));
    let is_hex = name.len() >= SECRET_MIN && name.bytes().all(|byte| byte.is_ascii_hexdigit());
    if is_name && !is_hex {
        format!("\"{name}\"")
    } else {
        format!("a name of {} bytes", name.len())
    }
}
