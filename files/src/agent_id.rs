//! An agent's id, exact whatever form a file gives it (R1, R37).

use core::fmt;

use concord_canonical::{
    caip::{AccountId, EIP155, SOLANA, parse_solana_key},
    error::TextFault,
    json::INTEGER_MAX,
    word,
};
use serde::Serializer;

use crate::{
    error::{Error, Rule},
    mapping::{MappingKind, Mappings},
    reader::{Fields, Node, account_id, u53},
};

/// An agent's id: a decimal uint256 on EVM, a base58 mint on Solana. Two ids are equal if they are the
/// same number or the same mint, whether a file gave them as a number or as text (R37).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(transparent))]
pub struct AgentId(String);

/// How a dialect writes the id (R37).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum IdForm {
    /// As text: X402.
    Text,
    /// As a number if it is one: PROFILE, BP, agent0.
    Number,
}

impl AgentId {
    /// Takes the id's text for a registry.
    ///
    /// # Errors
    /// Refuses anything but a decimal uint256 without leading zeros on eip155, base58 of 32 bytes on
    /// Solana, and 1 to 128 printable characters elsewhere.
    pub fn parse(registry: &AccountId<'_>, text: &str) -> Result<Self, concord_canonical::Error> {
        match registry.chain_id().namespace() {
            EIP155 => word::parse_decimal("agentId", text).map(drop)?,
            SOLANA => parse_solana_key("agentId", text).map(drop)?,
            _ => check_printable(text)?,
        }
        Ok(Self(text.to_owned()))
    }

    /// The id as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The id as a number, if it is one that every JSON reader agrees on: at most 2^53 − 1.
    #[must_use]
    pub fn as_json_integer(&self) -> Option<u64> {
        let id: u64 = self.0.parse().ok()?;
        let is_exact = id <= INTEGER_MAX.unsigned_abs() && id.to_string() == self.0;
        is_exact.then_some(id)
    }

    /// Reads `agentRegistry` and `agentId`.
    pub(crate) fn read_pair(
        fields: &mut Fields<'_>,
        form: IdForm,
        notes: &mut Mappings,
    ) -> Result<(String, Self), Error> {
        let registry = account_id(&fields.need("agentRegistry")?)?;
        let id = Self::read(&fields.need("agentId")?, &registry, form, notes)?;
        Ok((registry, id))
    }

    /// R37: a number or text, whichever the dialect writes; the other one is noted.
    pub(crate) fn read(
        node: &Node<'_>,
        registry: &str,
        form: IdForm,
        notes: &mut Mappings,
    ) -> Result<Self, Error> {
        let registry = AccountId::parse(registry).map_err(|error| node.form(error))?;
        let is_number = node.value.as_number().is_some();
        let text = if is_number {
            u53(node)?.to_string()
        } else {
            node.value
                .as_str()
                .ok_or_else(|| {
                    node.broken(Rule::Type {
                        expected: "a number or a string",
                    })
                })?
                .to_owned()
        };
        let id = Self::parse(&registry, &text).map_err(|error| node.form(error))?;
        match (form, is_number) {
            (IdForm::Text, true) => notes.note(MappingKind::AgentIdNumber, &node.path),
            (IdForm::Number, false) if id.as_json_integer().is_some() => {
                notes.note(MappingKind::AgentIdText, &node.path);
            }
            _ => {}
        }
        Ok(id)
    }
}

impl fmt::Display for AgentId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

fn check_printable(text: &str) -> Result<(), concord_canonical::Error> {
    let value = concord_canonical::error::Excerpt::new(text);
    let malformed = |fault| concord_canonical::Error::MalformedAddress {
        field: "agentId",
        value,
        fault,
    };
    if !(1..=128).contains(&text.len()) {
        return Err(malformed(TextFault::Length {
            length: text.len(),
            min: 1,
            max: 128,
        }));
    }
    let unprintable = |(_, byte): &(usize, u8)| !(0x21..=0x7e).contains(byte);
    match text.bytes().enumerate().find(unprintable) {
        Some((offset, byte)) => Err(malformed(TextFault::Character { byte, offset })),
        None => Ok(()),
    }
}

/// R37: text in X402 files.
pub(crate) fn as_text<S: Serializer>(id: &AgentId, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(&id.0)
}

/// R37: a number in PROFILE and BP files. A mint stays text, and so does a larger number, which the
/// writers then refuse.
pub(crate) fn as_number<S: Serializer>(id: &AgentId, to: S) -> Result<S::Ok, S::Error> {
    match id.as_json_integer() {
        Some(number) => to.serialize_u64(number),
        None => to.serialize_str(&id.0),
    }
}
