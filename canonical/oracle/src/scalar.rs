//! Texts and numbers as bytes and integers.
use super::{failure::Failure, parts::negated, reader::Reader};
use alloc::{
    format,
    string::{String, ToString},
    vec::Vec,
};
use concord_canonical::{
    Error, Word,
    caip::{self, ChainId},
    error::{Excerpt, TextFault},
    json::Value,
    word,
};
use core::str::FromStr;

impl Reader<'_> {
    pub(super) fn bytes(&self) -> Result<Vec<u8>, Failure> {
        let text = self.value.as_str();
        let text = text.ok_or_else(|| self.wrong_type("a string of hex digits"))?;
        // The text may be a secret in the wrong place, so its digits stay out of the message.
        let digits = text.strip_prefix("0x").unwrap_or(text);
        hex::decode(digits).map_err(|error| {
            let place = &self.place;
            Failure::bad_request(match error {
                hex::FromHexError::InvalidHexCharacter { index, .. } => {
                    let offset = index + text.len() - digits.len();
                    format!("{place} has a character at offset {offset} that is not a hex digit")
                }
                _ => format!(
                    "{place} has {} hex digits, must be an even number",
                    digits.len()
                ),
            })
        })
    }

    pub(super) fn word(&self) -> Result<Vec<u8>, Failure> {
        let bytes = self.bytes()?;
        match bytes.len() {
            32 => Ok(bytes),
            length => Err(Failure::bad_request(format!(
                "{} is {length} bytes, must be 32",
                self.place
            ))),
        }
    }

    pub(super) fn evm_address(&self) -> Result<[u8; 20], Failure> {
        let text = self.text()?;
        let is_bare = text.len() == 40 && !text.starts_with("0x");
        Ok(if is_bare {
            caip::parse_evm_address(self.field, &format!("0x{text}"))?
        } else {
            caip::parse_evm_address(self.field, text)?
        })
    }

    pub(super) fn solana_chain(&self) -> Result<Word, Failure> {
        let chain = ChainId::parse(self.text()?)?;
        match chain.namespace() {
            caip::SOLANA => Ok(chain.hash()),
            other => Err(Failure::wrong_namespace(other, "\"solana\"")),
        }
    }

    pub(super) fn uint256(&self) -> Result<Word, Failure> {
        let text = self.integer()?;
        if text.starts_with('-') {
            let limit = "a uint256, 0 to 2^256 - 1";
            Err(Failure::out_of_range(self.field, &text, limit))
        } else {
            Ok(word::parse_decimal(self.field, &text)?)
        }
    }

    pub(super) fn int256(&self) -> Result<Word, Failure> {
        let limit = "an int256, -2^255 to 2^255 - 1";
        let text = self.integer()?;
        let beyond = || Failure::out_of_range(self.field, &text, limit);
        let (digits, is_negative) = match text.strip_prefix('-') {
            Some(digits) => (digits, true),
            None => (text.as_str(), false),
        };
        let magnitude = word::parse_decimal(self.field, digits).map_err(|_| beyond())?;
        let word = if is_negative {
            negated(magnitude)
        } else {
            magnitude
        };
        // The sign bit says otherwise where the magnitude is too large.
        let reads_negative = word[0] >= 0x80;
        if reads_negative == is_negative || word == [0; 32] {
            Ok(word)
        } else {
            Err(beyond())
        }
    }

    pub(super) fn integer_of<T: FromStr>(&self, limit: &'static str) -> Result<T, Failure> {
        let text = self.integer().map_err(|failure| match self.value {
            Value::Number(_) => failure.with(&format!("; as a decimal string, {limit}")),
            _ => failure,
        })?;
        text.parse()
            .map_err(|_| Failure::out_of_range(self.field, &text, limit))
    }

    /// An integer's decimal text, `0` or without leading zeros: a JSON number that is an integer
    /// within 2^53 - 1 (R22), or a string `-?(0|[1-9][0-9]*)`.
    pub(super) fn integer(&self) -> Result<String, Failure> {
        match self.value {
            Value::Number(number) => Ok(number.to_integer(self.field)?.to_string()),
            Value::String(text) => decimal(self.field, text),
            _ => Err(self.wrong_type("an integer or its decimal string")),
        }
    }
}

fn decimal(field: &'static str, text: &str) -> Result<String, Failure> {
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
        field,
        value: Excerpt::new(text),
        fault,
    }
    .into())
}
