//! Cells as GraphQL has them, and values of filters as cells.
use super::schema::{Id, Scalar};
use crate::{
    query::parse_account,
    store::{Cell as _, DeploymentId, Value as Stored},
    table::Lines,
};
use concord_canonical::{
    caip::{AccountId as Caip10, EIP155},
    value::Value as Decimal,
    word,
};
use concord_registry::event::AgentId;
use serde_json::{Value, json};

/// One registry of one EVM chain, which a query is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scope {
    /// In the store.
    pub deployment: DeploymentId,
    /// The chain's number, in decimal.
    pub chain: String,
}

impl Scalar {
    /// A cell in an answer.
    pub fn answer(self, cell: &Stored, scope: &Scope) -> Option<Value> {
        if *cell == Stored::Null {
            return Some(Value::Null);
        }
        Some(match (self, cell) {
            (Self::Bytes, Stored::Blob(bytes)) => json!(format!("0x{}", hex::encode(bytes))),
            (Self::Text, Stored::Text(text)) => json!(text),
            (Self::BigInt, Stored::Int(number)) => json!(number.to_string()),
            (Self::Int, Stored::Int(number)) => json!(number),
            (Self::Bool, Stored::Int(truth)) => json!(*truth != 0),
            (Self::AgentNumber, cell) => json!(AgentId::from_value(cell)?.to_string()),
            (Self::AgentName, cell) => {
                json!(format!("{}:{}", scope.chain, AgentId::from_value(cell)?))
            }
            (Self::Decimal, Stored::Text(text)) => {
                let (value, decimals) = text.split_once('/')?;
                let value = Decimal::new(value.parse().ok()?, decimals.parse().ok()?);
                json!(shortest(&value.ok()?.to_string()))
            }
            (Self::List, cell) => json!(Lines::from_value(cell)?.entries()),
            // A file says what it likes: what is no CAIP-10 id names no account.
            (Self::Address, Stored::Text(text)) => json!(account(text).map(|it| it.address())),
            (Self::ChainOf, Stored::Text(text)) => {
                let chain = account(text).map(|it| it.chain_id());
                let evm = chain.filter(|it| it.namespace() == EIP155);
                json!(evm.map(|it| it.reference()))
            }
            _ => return None,
        })
    }

    /// The value of a filter, as the store compares it; `None` if it is not of the scalar's form.
    pub fn bound(self, value: &Value) -> Option<Stored> {
        Some(match self {
            Self::Bytes => {
                let digits = value.as_str()?.strip_prefix("0x")?;
                Stored::Blob(hex::decode(digits).ok()?)
            }
            Self::Text | Self::List => Stored::Text(value.as_str()?.to_owned()),
            Self::BigInt | Self::Int => Stored::Int(integer(value)?),
            Self::Bool => Stored::Int(value.as_bool()?.into()),
            Self::AgentNumber => {
                let word = word::parse_decimal("agentId", &digits(value)?).ok()?;
                AgentId::Evm(word).to_value()
            }
            Self::Decimal => Stored::Real(match value {
                Value::String(text) => text.parse().ok().filter(|it: &f64| it.is_finite())?,
                number => number.as_f64()?,
            }),
            Self::AgentName | Self::Address | Self::ChainOf => return None,
        })
    }

    /// In words, for an error.
    pub const fn expected(self) -> &'static str {
        match self {
            Self::Bytes => "0x and hex digits",
            Self::Text => "text",
            Self::List => "a list of texts",
            Self::BigInt | Self::Int => "a whole number",
            Self::Bool => "true or false",
            Self::AgentNumber => "an agent's number",
            Self::Decimal => "a number",
            Self::AgentName | Self::Address | Self::ChainOf => "nothing",
        }
    }
}

fn account(text: &str) -> Option<Caip10<'_>> {
    Caip10::parse(text).ok()
}

/// The subgraph's decimals have no zeros at their ends.
fn shortest(decimal: &str) -> &str {
    if decimal.contains('.') {
        decimal.trim_end_matches('0').trim_end_matches('.')
    } else {
        decimal
    }
}

/// Integers that JSON cannot hold arrive as text. One beyond the store's is as good as its largest.
fn integer(value: &Value) -> Option<i64> {
    let number: i128 = digits(value)?.parse().ok()?;
    let clamped = number.clamp(i64::MIN.into(), i64::MAX.into());
    i64::try_from(clamped).ok()
}

fn digits(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

impl Id {
    /// The id that cells of [`Self::columns`] make.
    pub fn answer(self, cells: &[Stored], scope: &Scope) -> Option<String> {
        if self == Self::Validation {
            let [Stored::Blob(hash)] = cells else {
                return None;
            };
            return Some(format!("0x{}", hex::encode(hash)));
        }
        let (agent, rest) = cells.split_first()?;
        let mut id = format!("{}:{}", scope.chain, AgentId::from_value(agent)?);
        for cell in rest {
            id.push(':');
            match cell {
                Stored::Blob(client) => id.push_str(&format!("0x{}", hex::encode(client))),
                Stored::Int(number) => id.push_str(&number.to_string()),
                Stored::Text(key) => id.push_str(key),
                _ => return None,
            }
        }
        Some(id)
    }

    /// The cells of [`Self::columns`] that an id is made of; `None` if it names nothing here.
    pub fn cells(self, id: &str, scope: &Scope) -> Option<Vec<Stored>> {
        if self == Self::Validation {
            return Some(vec![Scalar::Bytes.bound(&Value::from(id))?]);
        }
        let parts = match self {
            Self::Metadata => id.splitn(3, ':').collect::<Vec<_>>(),
            _ => id.split(':').collect(),
        };
        let (chain, parts) = parts.split_first()?;
        if *chain != scope.chain || parts.len() != self.columns().len() {
            return None;
        }
        let cells = parts.iter().zip(self.columns()).map(|(part, column)| {
            Some(match *column {
                "agent" => AgentId::Evm(word::parse_decimal("agentId", part).ok()?).to_value(),
                "client" => parse_account(part)?.to_value(),
                "key" => Stored::Text((*part).to_owned()),
                _ => Stored::Int(part.parse().ok()?),
            })
        });
        cells.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scope() -> Scope {
        Scope {
            deployment: DeploymentId(1),
            chain: "84532".to_owned(),
        }
    }

    #[test]
    fn an_id_is_read_as_it_is_written() {
        let client = format!("0x{}", "ab".repeat(20));
        let cases = [
            (Id::Agent, "84532:7".to_owned()),
            (Id::Metadata, "84532:7:a:b".to_owned()),
            (Id::Feedback, format!("84532:7:{client}:1")),
            (Id::Response, format!("84532:7:{client}:1:2")),
            (Id::Validation, format!("0x{}", "01".repeat(32))),
        ];
        for (id, text) in &cases {
            let cells = id.cells(text, &scope()).unwrap();
            assert_eq!(id.answer(&cells, &scope()).as_ref(), Some(text));
        }
        for text in ["", "7", "1:7", "84532:x", "84532:7:8", "84532:-7"] {
            assert_eq!(Id::Agent.cells(text, &scope()), None, "{text:?}");
        }
    }

    #[test]
    fn numbers_come_as_numbers_or_as_text() {
        for (value, expected) in [
            (json!(7), Some(7)),
            (json!("7"), Some(7)),
            (json!("99999999999999999999"), Some(i64::MAX)),
            (json!(1.5), None),
            (json!("x"), None),
            (json!(true), None),
        ] {
            let bound = Scalar::BigInt.bound(&value);
            assert_eq!(bound, expected.map(Stored::Int), "{value}");
        }
        for (value, expected) in [
            (json!(1e21), Some(1e21)),
            (json!("1.5"), Some(1.5)),
            (json!("NaN"), None),
        ] {
            let bound = Scalar::Decimal.bound(&value);
            assert_eq!(bound, expected.map(Stored::Real), "{value}");
        }
    }

    #[test]
    fn a_list_has_its_entries_and_no_others() {
        let entries = ["a", ",", "\n\"b", ""];
        let list = Lines::of(entries);
        assert_eq!(
            Scalar::List.answer(&list.to_value(), &scope()),
            Some(json!(entries))
        );
        for entry in entries {
            assert!(list.0.contains(&Lines::line(entry)), "{entry:?}");
        }
        for other in ["b", "\"b", "A", ",\n"] {
            assert!(!list.0.contains(&Lines::line(other)), "{other:?}");
        }
        let none = Scalar::List.answer(&Lines::default().to_value(), &scope());
        assert_eq!(none, Some(json!([])));
    }

    /// Exact to the digit (R47).
    #[test]
    fn r47_a_value_is_its_decimal() {
        for (value, decimal) in [
            (
                "-123456789012345678901234567891/18",
                "-123456789012.345678901234567891",
            ),
            ("9950/2", "99.5"),
            ("-100/2", "-1"),
            ("100/0", "100"),
            ("0/18", "0"),
        ] {
            let found = Scalar::Decimal.answer(&Stored::Text(value.to_owned()), &scope());
            assert_eq!(found, Some(json!(decimal)));
        }
    }
}
