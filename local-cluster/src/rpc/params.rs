//! Reading parameters, with errors that name what cannot be read.
use crate::{LocalCluster, RpcError, blocks::Commitment};
use serde_json::{Value, json};
use solana_address::Address;
use solana_hash::Hash;
use solana_signature::Signature;

/// The positional parameters of a question.
pub struct Params<'a>(&'a [Value]);

impl<'a> Params<'a> {
    pub fn new(params: &'a Value) -> Result<Self, RpcError> {
        match params {
            Value::Null => Ok(Self(&[])),
            Value::Array(values) => Ok(Self(values)),
            _ => Err(RpcError::params("params", "not an array")),
        }
    }

    /// `null` if there is none.
    fn value(&self, at: usize) -> &'a Value {
        self.0.get(at).unwrap_or(&Value::Null)
    }

    fn given(&self, at: usize, field: &str) -> Result<&'a Value, RpcError> {
        match self.value(at) {
            Value::Null => Err(RpcError::params(field, "missing")),
            value => Ok(value),
        }
    }

    pub fn text(&self, at: usize, field: &str) -> Result<&'a str, RpcError> {
        text(self.given(at, field)?, field)
    }

    pub fn number(&self, at: usize, field: &str) -> Result<u64, RpcError> {
        number(self.given(at, field)?, field)
    }

    pub fn flag(&self, at: usize, field: &str) -> Result<bool, RpcError> {
        flag(self.given(at, field)?, field)
    }

    pub fn address(&self, at: usize, field: &str) -> Result<Address, RpcError> {
        address(self.given(at, field)?, field)
    }

    pub fn hash(&self, at: usize, field: &str) -> Result<Hash, RpcError> {
        Ok(Hash::new_from_array(base58(self.given(at, field)?, field)?))
    }

    pub fn signature(&self, at: usize, field: &str) -> Result<Signature, RpcError> {
        signature(self.given(at, field)?, field)
    }

    /// At most so many values.
    pub fn list(&self, at: usize, field: &str, limit: usize) -> Result<&'a [Value], RpcError> {
        list(self.given(at, field)?, field, limit)
    }

    /// The object with what can be left out.
    pub fn config(&self, at: usize) -> Result<Config<'a>, RpcError> {
        Config::new(self.value(at), "config")
    }

    pub fn commitment(&self, at: usize) -> Result<Commitment, RpcError> {
        self.config(at)?.commitment("commitment")
    }

    /// Whichever parameter has the configuration: the cluster must have got so far.
    pub fn check_min_context_slot(&self, cluster: &LocalCluster) -> Result<(), RpcError> {
        let mut asked = self
            .0
            .iter()
            .filter_map(|value| value.get("minContextSlot"));
        let Some(asked) = asked.find(|value| !value.is_null()) else {
            return Ok(());
        };
        let (asked, slot) = (number(asked, "minContextSlot")?, cluster.newest().slot);
        if asked <= slot {
            return Ok(());
        }
        let message = "Minimum context slot has not been reached";
        Err(RpcError::new(RpcError::MIN_CONTEXT_SLOT, message)
            .with_data(json!({"contextSlot": slot})))
    }
}

/// An object whose members can be left out. Unknown ones are ignored, as nodes do.
#[derive(Clone, Copy)]
pub struct Config<'a>(&'a Value);

impl<'a> Config<'a> {
    pub fn new(value: &'a Value, field: &str) -> Result<Self, RpcError> {
        match value {
            Value::Null | Value::Object(_) => Ok(Self(value)),
            _ => Err(RpcError::params(field, "not an object")),
        }
    }

    pub fn get(&self, field: &str) -> Option<&'a Value> {
        self.0.get(field).filter(|value| !value.is_null())
    }

    pub fn text(&self, field: &str) -> Result<Option<&'a str>, RpcError> {
        self.get(field).map(|value| text(value, field)).transpose()
    }

    pub fn number(&self, field: &str) -> Result<Option<u64>, RpcError> {
        self.get(field)
            .map(|value| number(value, field))
            .transpose()
    }

    pub fn flag(&self, field: &str) -> Result<bool, RpcError> {
        self.get(field)
            .map_or(Ok(false), |value| flag(value, field))
    }

    pub fn signature(&self, field: &str) -> Result<Option<Signature>, RpcError> {
        self.get(field)
            .map(|value| signature(value, field))
            .transpose()
    }

    pub fn object(&self, field: &str) -> Result<Option<Self>, RpcError> {
        self.get(field)
            .map(|value| Self::new(value, field))
            .transpose()
    }

    /// Finalized if it is left out.
    pub fn commitment(&self, field: &str) -> Result<Commitment, RpcError> {
        match self.text(field)? {
            None | Some("finalized") => Ok(Commitment::Finalized),
            Some("confirmed") => Ok(Commitment::Confirmed),
            Some("processed") => Ok(Commitment::Processed),
            Some(other) => Err(RpcError::params(
                field,
                format!("{other:?} is not processed, confirmed or finalized"),
            )),
        }
    }
}

pub fn text<'a>(value: &'a Value, field: &str) -> Result<&'a str, RpcError> {
    let read = value.as_str();
    read.ok_or_else(|| RpcError::params(field, format!("{value} is not a string")))
}

pub fn number(value: &Value, field: &str) -> Result<u64, RpcError> {
    let read = value.as_u64();
    read.ok_or_else(|| RpcError::params(field, format!("{value} is not an unsigned integer")))
}

fn flag(value: &Value, field: &str) -> Result<bool, RpcError> {
    let read = value.as_bool();
    read.ok_or_else(|| RpcError::params(field, format!("{value} is not true or false")))
}

pub fn list<'a>(value: &'a Value, field: &str, limit: usize) -> Result<&'a [Value], RpcError> {
    match value.as_array() {
        None => Err(RpcError::params(field, "not an array")),
        Some(values) if values.len() > limit => Err(RpcError::params(
            field,
            format!("{} values, more than {limit}", values.len()),
        )),
        Some(values) => Ok(values),
    }
}

pub fn address(value: &Value, field: &str) -> Result<Address, RpcError> {
    base58(value, field).map(Address::from)
}

pub fn signature(value: &Value, field: &str) -> Result<Signature, RpcError> {
    base58(value, field).map(Signature::from)
}

fn base58<const SIZE: usize>(value: &Value, field: &str) -> Result<[u8; SIZE], RpcError> {
    let written = text(value, field)?;
    let mut bytes = [0; SIZE];
    match bs58::decode(written).onto(&mut bytes) {
        Ok(size) if size == SIZE => Ok(bytes),
        _ => Err(RpcError::params(
            field,
            format!("{written:?} is not {SIZE} bytes in base58"),
        )),
    }
}
