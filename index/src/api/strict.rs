//! JSON that says one thing to every reader: what serde_json would change is refused.
use super::names::excerpt;
use concord_canonical::json;
use serde_json::{Number, Value};
use std::fmt::{self, Display, Formatter};

/// Why a text is not read.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct StrictError {
    /// The member; empty if it is the whole text.
    pub path: String,
    /// What is wrong.
    pub reason: String,
}

impl Display for StrictError {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if self.path.is_empty() {
            f.write_str(&self.reason)
        } else {
            write!(f, "{}: {}", self.path, self.reason)
        }
    }
}

/// Reads JSON. R22: a member that comes twice is refused, of which serde_json takes the last one. R47: so is a number that
/// a double would change.
pub(crate) fn read(text: &str) -> Result<Value, StrictError> {
    let malformed = |reason: String| StrictError {
        path: String::new(),
        reason,
    };
    let parsed = json::parse(text).map_err(|error| malformed(error.to_string()))?;
    if let Some((path, number)) = inexact(&parsed) {
        let number = excerpt(number);
        let reason = format!("{number} is not exact as a JSON number: send it as text");
        return Err(StrictError { path, reason });
    }
    serde_json::from_str(text).map_err(|error| malformed(error.to_string()))
}

/// A number that a double would change, with its path.
fn inexact<'a>(value: &json::Value<'a>) -> Option<(String, &'a str)> {
    match value {
        json::Value::Number(number) if !is_exact(number.literal()) => {
            Some((String::new(), number.literal()))
        }
        json::Value::Array(entries) => entries.iter().find_map(inexact),
        json::Value::Object(members) => members.iter().find_map(|(name, it)| {
            let (rest, number) = inexact(it)?;
            let dot = if rest.is_empty() { "" } else { "." };
            Some((format!("{}{dot}{rest}", excerpt(name)), number))
        }),
        _ => None,
    }
}

/// Whether a number is read as one with the same digits.
fn is_exact(literal: &str) -> bool {
    let read = literal.parse().map(|it: Number| it.to_string());
    read.is_ok_and(|read| digits(literal).is_some_and(|it| digits(&read) == Some(it)))
}

/// A number's digits without the zeros around them, and the power of ten of the last one.
fn digits(literal: &str) -> Option<(String, i64)> {
    let (mantissa, exponent) = literal.split_once(['e', 'E']).unwrap_or((literal, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let all = format!("{whole}{fraction}");
    let significant = all.trim_end_matches('0');
    let digits = significant.trim_start_matches(['-', '0']);
    if digits.is_empty() {
        return Some((String::new(), 0));
    }
    let zeros = i64::try_from(all.len() - significant.len()).ok()?;
    let places = i64::try_from(fraction.len()).ok()?;
    let exponent = exponent.parse::<i64>().ok()?.checked_add(zeros - places)?;
    Some((digits.to_owned(), exponent))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn r47_a_number_is_exact_if_a_double_has_its_digits() {
        for literal in [
            "0",
            "-0.00",
            "0e999",
            "80.50",
            "8.05E+1",
            "0.30000000000000004",
            "-9223372036854775808",
            "18446744073709551615",
            "1e21",
            "5e-324",
        ] {
            assert!(is_exact(literal), "{literal}");
        }
        for literal in [
            "79.666666666666666666",
            "79666666666666666666e-18",
            "0.10000000000000001",
            "18446744073709551617",
            "0.1e-400",
            "1e-99999999999999999999",
        ] {
            assert!(!is_exact(literal), "{literal}");
        }
    }

    #[test]
    fn a_fault_is_named_by_its_path() {
        let error = read(r#"{ "a": [{ "b": 1 }, { "c": 0.10000000000000001 }] }"#).unwrap_err();
        assert_eq!(error.path, "a.c");
        assert_eq!(read("[0.10000000000000001]").unwrap_err().path, "");
        let twice = read(r#"{ "a": 1, "a": 2 }"#).unwrap_err();
        assert!(twice.reason.contains('a'), "{}", twice.reason);
        assert_eq!(
            read(r#"{ "a": 1.50 }"#).unwrap(),
            serde_json::json!({ "a": 1.5 })
        );
    }
}
