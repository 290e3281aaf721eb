//! A vector's arguments, read by name.

use concord_canonical::{Error, Word, caip, word};
use serde_json::{Map, Value};

pub(crate) struct Arguments<'a> {
    id: &'a str,
    values: &'a Map<String, Value>,
}

impl<'a> Arguments<'a> {
    /// A field beyond `fields` is a mistake in the vector or in this consumer.
    pub(crate) fn new(id: &'a str, values: &'a Map<String, Value>, fields: &[&str]) -> Self {
        for name in values.keys() {
            assert!(
                fields.contains(&name.as_str()),
                "{id}: unknown field {name}"
            );
        }
        Self { id, values }
    }

    pub(crate) fn get(&self, name: &str) -> Option<&'a Value> {
        self.values.get(name)
    }

    fn required(&self, name: &str) -> &'a Value {
        self.get(name)
            .unwrap_or_else(|| panic!("{}: no {name}", self.id))
    }

    pub(crate) fn text(&self, name: &str) -> &'a str {
        self.required(name)
            .as_str()
            .unwrap_or_else(|| panic!("{}: {name} is not text", self.id))
    }

    pub(crate) fn text_or_empty(&self, name: &str) -> &'a str {
        self.get(name)
            .map_or("", |value| value.as_str().expect("text"))
    }

    pub(crate) fn bytes(&self, name: &str) -> Vec<u8> {
        let text = self.text(name);
        hex::decode(text.strip_prefix("0x").unwrap_or(text)).expect("hexadecimal")
    }

    pub(crate) fn array<const N: usize>(&self, name: &str) -> [u8; N] {
        self.bytes(name)
            .try_into()
            .unwrap_or_else(|_| panic!("{}: {name} not {N} bytes", self.id))
    }

    /// A JSON integer or decimal string, as decimal text.
    pub(crate) fn integer_text(&self, name: &str) -> String {
        integer_text(self.required(name))
    }

    pub(crate) fn uint256(&self, name: &'static str) -> Result<Word, Error> {
        word::parse_decimal(name, &self.integer_text(name))
    }

    pub(crate) fn u64(&self, name: &'static str) -> u64 {
        self.integer_text(name).parse().expect("a u64")
    }

    pub(crate) fn evm_address(&self, name: &'static str) -> Result<[u8; 20], Error> {
        caip::parse_evm_address(name, self.text(name))
    }

    pub(crate) fn solana_key(&self, name: &'static str) -> Result<Word, Error> {
        caip::parse_solana_key(name, self.text(name))
    }
}

pub(crate) fn integer_text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Number(number) => number.to_string(),
        other => panic!("{other} is not an integer"),
    }
}
