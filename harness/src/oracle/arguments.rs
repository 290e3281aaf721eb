//! Typed reading of a request's arguments. Every refusal names the argument and what it must be,
//! and repeats no bytes.

use concord_canonical::error::{Excerpt, TextFault};
use concord_canonical::json::{Object, Value};
use concord_canonical::{Error, ErrorClass, Word, caip, word};

/// Why a request got no result.
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

    /// The whole line is refused, whichever rule of JSON it breaks. The offset is told; a key or a
    /// number, which may be a secret, is not.
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
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self {
            class: error.class(),
            message: error.to_string(),
        }
    }
}

/// Shortest text that is guarded as a secret; shorter ones occur in anything.
const SECRET_MIN: usize = 16;

/// The arguments of one request, or the members of one object inside it.
pub(super) struct Arguments<'a> {
    object: &'a Object<'a>,
}

impl<'a> Arguments<'a> {
    pub fn new(object: &'a Object<'a>) -> Self {
        Self { object }
    }

    /// Whether `shown` would give away the request's secret key.
    pub fn is_secret_in(&self, shown: &str) -> bool {
        let secret = self.object.get("secret_key").and_then(Value::as_str);
        secret.is_some_and(|secret| {
            let secret = secret.strip_prefix("0x").unwrap_or(secret);
            let contains = shown
                .to_ascii_lowercase()
                .contains(&secret.to_ascii_lowercase());
            secret.len() >= SECRET_MIN && contains
        })
    }

    /// Refuses a request that lacks one of `required` or has an argument beside these.
    pub fn expect(&self, required: &[&str], optional: &[&str]) -> Result<(), Failure> {
        if let Some(missing) = required.iter().find(|name| self.object.get(name).is_none()) {
            return Err(Failure::bad_request(format!("{missing} is missing")));
        }
        let is_known = |name: &str| {
            ["id", "fn"].contains(&name) || required.contains(&name) || optional.contains(&name)
        };
        self.refuse_unknown(is_known, required, optional)
    }

    /// As [`Arguments::expect`], for the members of an object inside the request.
    pub fn expect_members(&self, required: &[&str], optional: &[&str]) -> Result<(), Failure> {
        self.expect(required, optional)?;
        let is_known = |name: &str| required.contains(&name) || optional.contains(&name);
        self.refuse_unknown(is_known, required, optional)
    }

    fn refuse_unknown(
        &self,
        is_known: impl Fn(&str) -> bool,
        required: &[&str],
        optional: &[&str],
    ) -> Result<(), Failure> {
        match self.object.iter().find(|(name, _)| !is_known(name)) {
            None => Ok(()),
            Some((name, _)) => Err(Failure::bad_request(format!(
                "{} is not an argument here, which are: {}",
                shown_name(name),
                [required, optional].concat().join(", ")
            ))),
        }
    }

    pub fn has(&self, name: &str) -> bool {
        self.object.get(name).is_some()
    }

    fn get(&self, name: &str) -> Result<&'a Value<'a>, Failure> {
        self.object
            .get(name)
            .ok_or_else(|| Failure::bad_request(format!("{name} is missing")))
    }

    pub fn text(&self, name: &str) -> Result<&'a str, Failure> {
        let value = self.get(name)?;
        value
            .as_str()
            .ok_or_else(|| wrong_type(name, value, "a string"))
    }

    /// A string that may be absent.
    pub fn text_or<'b>(&self, name: &str, absent: &'b str) -> Result<&'b str, Failure>
    where
        'a: 'b,
    {
        match self.object.get(name) {
            Some(_) => self.text(name),
            None => Ok(absent),
        }
    }

    pub fn flag(&self, name: &str) -> Result<bool, Failure> {
        let value = self.get(name)?;
        value
            .as_bool()
            .ok_or_else(|| wrong_type(name, value, "true or false"))
    }

    pub fn list(&self, name: &str) -> Result<&'a [Value<'a>], Failure> {
        let value = self.get(name)?;
        value
            .as_array()
            .ok_or_else(|| wrong_type(name, value, "a list"))
    }

    pub fn members(&self, name: &str) -> Result<Arguments<'a>, Failure> {
        members_of(name, self.get(name)?)
    }

    /// Bytes: hex of even length, with or without `0x`.
    pub fn bytes(&self, name: &str) -> Result<Vec<u8>, Failure> {
        let value = self.get(name)?;
        let text = value
            .as_str()
            .ok_or_else(|| wrong_type(name, value, "a string of hex digits"))?;
        // The text may be a secret in the wrong place, so its digits stay out of the message.
        let digits = text.strip_prefix("0x").unwrap_or(text);
        hex::decode(digits).map_err(|error| {
            Failure::bad_request(match error {
                hex::FromHexError::InvalidHexCharacter { index, .. } => {
                    let offset = index + text.len() - digits.len();
                    format!("{name} has a character at offset {offset} that is not a hex digit")
                }
                _ => format!(
                    "{name} has {} hex digits, must be an even number",
                    digits.len()
                ),
            })
        })
    }

    /// Exactly 32 bytes.
    pub fn word(&self, name: &str) -> Result<Word, Failure> {
        let bytes = self.bytes(name)?;
        let length = bytes.len();
        bytes
            .try_into()
            .map_err(|_| Failure::bad_request(format!("{name} is {length} bytes, must be 32")))
    }

    /// An EVM address: 40 hex digits, with or without `0x`.
    pub fn evm_address(&self, name: &'static str) -> Result<[u8; 20], Failure> {
        let text = self.text(name)?;
        let is_bare = text.len() == 40 && !text.starts_with("0x");
        Ok(match is_bare {
            true => caip::parse_evm_address(name, &format!("0x{text}"))?,
            false => caip::parse_evm_address(name, text)?,
        })
    }

    /// A Solana address: base58 of 32 bytes.
    pub fn solana_key(&self, name: &'static str) -> Result<Word, Failure> {
        Ok(caip::parse_solana_key(name, self.text(name)?)?)
    }

    /// A CAIP-2 chain id.
    pub fn chain_id(&self, name: &str) -> Result<caip::ChainId<'a>, Failure> {
        Ok(caip::ChainId::parse(self.text(name)?)?)
    }

    /// keccak256 of the CAIP-2 text of a Solana cluster.
    pub fn solana_chain(&self, name: &str) -> Result<Word, Failure> {
        let chain = self.chain_id(name)?;
        match chain.namespace() {
            caip::SOLANA => Ok(chain.hash()),
            other => Err(wrong_namespace(other, "\"solana\"")),
        }
    }

    pub fn uint256(&self, name: &'static str) -> Result<Word, Failure> {
        let text = self.integer(name)?;
        match text.starts_with('-') {
            true => Err(out_of_range(name, &text, "a uint256, 0 to 2^256 - 1")),
            false => Ok(word::parse_decimal(name, &text)?),
        }
    }

    pub fn uint64(&self, name: &'static str) -> Result<u64, Failure> {
        let text = self.integer(name)?;
        let limit = "a uint64, 0 to 18446744073709551615";
        text.parse().map_err(|_| out_of_range(name, &text, limit))
    }

    pub fn uint8(&self, name: &'static str) -> Result<u8, Failure> {
        let text = self.integer(name)?;
        let limit = "a uint8, 0 to 255";
        text.parse().map_err(|_| out_of_range(name, &text, limit))
    }

    pub fn int128(&self, name: &'static str) -> Result<i128, Failure> {
        let text = self.integer(name)?;
        let limit = "an int128, -2^127 to 2^127 - 1";
        text.parse().map_err(|_| out_of_range(name, &text, limit))
    }

    /// An integer's decimal text, `0` or without leading zeros: a JSON number that is an integer
    /// within 2^53 - 1 (R22), or a string `-?(0|[1-9][0-9]*)`.
    fn integer(&self, name: &'static str) -> Result<String, Failure> {
        match self.get(name)? {
            Value::Number(number) => Ok(number.to_integer(name)?.to_string()),
            Value::String(text) => decimal(name, text),
            other => Err(wrong_type(name, other, "an integer or its decimal string")),
        }
    }
}

/// The object that `name` is.
pub(super) fn members_of<'a>(name: &str, value: &'a Value<'a>) -> Result<Arguments<'a>, Failure> {
    match value.as_object() {
        Some(object) => Ok(Arguments::new(object)),
        None => Err(wrong_type(name, value, "an object")),
    }
}

fn decimal(name: &'static str, text: &str) -> Result<String, Failure> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let offset = text.len() - digits.len();
    let fault = if digits.is_empty() {
        TextFault::Empty
    } else if let Some(at) = digits.bytes().position(|byte| !byte.is_ascii_digit()) {
        TextFault::Character {
            byte: digits.as_bytes()[at],
            offset: offset + at,
        }
    } else if digits.len() > 1 && digits.starts_with('0') {
        TextFault::LeadingZero
    } else {
        return Ok(if digits == "0" { digits } else { text }.to_string());
    };
    Err(Error::MalformedNumber {
        field: name,
        value: Excerpt::new(text),
        fault,
    }
    .into())
}

fn out_of_range(field: &'static str, text: &str, limit: &'static str) -> Failure {
    let value = Excerpt::new(text);
    Error::NumberOutOfRange {
        field,
        value,
        limit,
    }
    .into()
}

/// A well-formed chain id of a namespace for which the function is not defined.
pub(super) fn wrong_namespace(namespace: &str, allowed: &'static str) -> Failure {
    Error::MalformedChainId {
        field: "namespace",
        value: Excerpt::new(namespace),
        fault: TextFault::Name { allowed },
    }
    .into()
}

fn wrong_type(name: &str, value: &Value<'_>, wanted: &str) -> Failure {
    let found = match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    };
    Failure::bad_request(format!("{name} is {found}, must be {wanted}"))
}

/// A name for a message: quoted where it looks like one, else only measured, because a secret may
/// stand in its place.
pub(super) fn shown_name(name: &str) -> String {
    let is_name = name.len() <= 32
        && name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte));
    let is_hex = name.len() >= SECRET_MIN && name.bytes().all(|byte| byte.is_ascii_hexdigit());
    match is_name && !is_hex {
        true => format!("\"{name}\""),
        false => format!("a name of {} bytes", name.len()),
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
