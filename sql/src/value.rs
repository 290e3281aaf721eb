//! Cells of a table, and the types that are written as one.
use concord_registry::event::{AccountId, AgentId, Profile};

/// A cell of a table, in either engine.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// SQL's NULL.
    Null,
    /// INTEGER, BIGINT.
    Int(i64),
    /// REAL, DOUBLE PRECISION.
    Real(f64),
    /// TEXT.
    Text(String),
    /// BLOB, BYTEA.
    Blob(Vec<u8>),
}

/// What a cell can hold: written and read again, it is the same.
pub trait Cell: Sized {
    /// As a cell.
    fn to_value(&self) -> Value;
    /// `None` if the cell is not of the form that [`Self::to_value`] writes.
    fn from_value(value: &Value) -> Option<Self>;
}

/// Implements [`Cell`] for types that are one value each.
#[macro_export]
macro_rules! cells {
    ($($of:ty: $this:ident => $to:expr, $value:pat => $from:expr;)+) => {$(
        impl $crate::Cell for $of {
            fn to_value(&self) -> $crate::Value {
                let $this = self;
                $to
            }

            fn from_value(value: &$crate::Value) -> Option<Self> {
                match value {
                    $value => $from,
                    _ => None,
                }
            }
        }
    )+};
}

cells! {
    i64: it => Value::Int(*it), Value::Int(it) => Some(*it);
    // The same 64 bits; what a chain counts stays below 2^63, so that it sorts.
    u64: it => Value::Int(it.cast_signed()), Value::Int(it) => Some(it.cast_unsigned());
    u8: it => Value::Int((*it).into()), Value::Int(it) => u8::try_from(*it).ok();
    bool: it => Value::Int((*it).into()), Value::Int(it) => u8::try_from(*it).ok().filter(|it| *it < 2).map(|it| it == 1);
    f64: it => Value::Real(*it), Value::Real(it) => Some(*it);
    i128: it => Value::Text(it.to_string()), Value::Text(it) => it.parse().ok();
    String: it => Value::Text(it.clone()), Value::Text(it) => Some(it.clone());
    Vec<u8>: it => Value::Blob(it.clone()), Value::Blob(it) => Some(it.clone());
    [u8; 32]: it => Value::Blob(it.to_vec()), Value::Blob(it) => it.as_slice().try_into().ok();
    Profile: it => Value::Int(i64::from(*it == Profile::Open)), Value::Int(it) => match it {
        0 => Some(Profile::Authorized),
        1 => Some(Profile::Open),
        _ => None,
    };
    AgentId: it => Value::Blob(agent_bytes(it)), Value::Blob(it) => agent_of(it);
    AccountId: it => Value::Blob(account_bytes(it)), Value::Blob(it) => account_of(it);
}

impl<T: Cell> Cell for Option<T> {
    fn to_value(&self) -> Value {
        self.as_ref().map_or(Value::Null, Cell::to_value)
    }

    fn from_value(value: &Value) -> Option<Self> {
        match value {
            Value::Null => Some(None),
            value => T::from_value(value).map(Some),
        }
    }
}

/// Marks a mint: no id on EVM has as many bytes.
const MINT: u8 = 0xff;

/// On EVM the number of significant bytes, then these, big-endian: short, and sorted as numbers are.
fn agent_bytes(id: &AgentId) -> Vec<u8> {
    match id {
        AgentId::Evm(word) => {
            let zeros = word.iter().take_while(|byte| **byte == 0).count();
            let significant = &word[zeros..];
            let mut bytes = vec![u8::try_from(significant.len()).unwrap_or(MINT)];
            bytes.extend(significant);
            bytes
        }
        AgentId::Svm(mint) => [&[MINT][..], mint.as_ref()].concat(),
    }
}

fn agent_of(bytes: &[u8]) -> Option<AgentId> {
    let (kind, bytes) = bytes.split_first()?;
    if *kind == MINT {
        return Some(AgentId::Svm(<[u8; 32]>::try_from(bytes).ok()?.into()));
    }
    if usize::from(*kind) != bytes.len() || bytes.first() == Some(&0) {
        return None;
    }
    let mut word = [0; 32];
    word.get_mut(32usize.checked_sub(bytes.len())?..)?
        .copy_from_slice(bytes);
    Some(AgentId::Evm(word))
}

fn account_bytes(id: &AccountId) -> Vec<u8> {
    match id {
        AccountId::Evm(address) => address.to_vec(),
        AccountId::Svm(address) => address.to_bytes().to_vec(),
    }
}

fn account_of(bytes: &[u8]) -> Option<AccountId> {
    match <[u8; 20]>::try_from(bytes) {
        Ok(address) => Some(AccountId::Evm(address)),
        Err(_) => Some(AccountId::Svm(<[u8; 32]>::try_from(bytes).ok()?.into())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agent_ids_are_short_sorted_and_read_again() {
        let evm = |number: u64| {
            let mut word = [0; 32];
            word[24..].copy_from_slice(&number.to_be_bytes());
            AgentId::Evm(word)
        };
        let mints = [[0u8; 32], [31; 32], [255; 32]].map(|it| AgentId::Svm(it.into()));
        let ids: Vec<AgentId> = [0, 1, 255, 256, 65_535, 65_536, u64::MAX]
            .map(evm)
            .into_iter()
            .chain([AgentId::Evm([0xff; 32])])
            .chain(mints)
            .collect();
        assert_eq!(agent_bytes(&evm(7)), [1, 7]);
        assert!(ids.iter().map(agent_bytes).is_sorted());
        for id in ids {
            assert_eq!(AgentId::from_value(&id.to_value()), Some(id));
        }
        for malformed in [&[][..], &[1], &[2, 0, 1], &[255, 1], &[0, 0]] {
            assert_eq!(agent_of(malformed), None, "{malformed:?}");
        }
    }

    #[test]
    fn what_is_written_is_read_again() {
        for number in [0, 1, u64::MAX] {
            assert_eq!(u64::from_value(&number.to_value()), Some(number));
        }
        for value in [i128::MIN, -1, 0, i128::MAX] {
            assert_eq!(i128::from_value(&value.to_value()), Some(value));
        }
        assert_eq!(bool::from_value(&Value::Int(2)), None);
        assert_eq!(Option::<i64>::from_value(&Value::Null), Some(None));
        assert_eq!(i64::from_value(&Value::Null), None);
    }
}
