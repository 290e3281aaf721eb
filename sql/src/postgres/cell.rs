//! Cells in Postgres's binary form.
use crate::Value;
use bytes::BytesMut;
use std::error::Error;
use tokio_postgres::types::{FromSql, IsNull, ToSql, Type, to_sql_checked};

type Failure = Box<dyn Error + Sync + Send>;

impl ToSql for Value {
    fn to_sql(&self, of: &Type, out: &mut BytesMut) -> Result<IsNull, Failure> {
        match (self, of) {
            (Self::Null, _) => Ok(IsNull::Yes),
            (Self::Int(number), &Type::INT8) => number.to_sql(of, out),
            (Self::Int(number), &Type::INT4) => i32::try_from(*number)?.to_sql(of, out),
            (Self::Real(number), &Type::FLOAT8) => number.to_sql(of, out),
            (Self::Text(text), &Type::TEXT) => escaped(text).to_sql(of, out),
            (Self::Blob(bytes), &Type::BYTEA) => bytes.to_sql(of, out),
            (value, of) => Err(format!("{value:?} is not of the type {of}").into()),
        }
    }

    fn accepts(_: &Type) -> bool {
        true // `to_sql` checks the type together with the value
    }

    to_sql_checked!();
}

impl<'a> FromSql<'a> for Value {
    fn from_sql(of: &Type, raw: &'a [u8]) -> Result<Self, Failure> {
        Ok(match *of {
            Type::INT8 => Self::Int(i64::from_sql(of, raw)?),
            Type::INT4 => Self::Int(i32::from_sql(of, raw)?.into()),
            Type::BOOL => Self::Int(bool::from_sql(of, raw)?.into()),
            Type::FLOAT8 => Self::Real(f64::from_sql(of, raw)?),
            Type::TEXT => Self::Text(unescaped(<&str>::from_sql(of, raw)?)),
            Type::BYTEA => Self::Blob(raw.to_vec()),
            _ => return Err(format!("the type {of} is none that the index stores").into()),
        })
    }

    fn from_sql_null(_: &Type) -> Result<Self, Failure> {
        Ok(Self::Null)
    }

    fn accepts(_: &Type) -> bool {
        true // `from_sql` names any other
    }
}

/// Marks a character that Postgres's text cannot hold. Escaped texts sort as the texts do.
const ESCAPE: char = '\u{1}';

/// Postgres's text has no NUL, and a chain's may.
fn escaped(text: &str) -> String {
    if text.contains(['\0', ESCAPE]) {
        text.replace(ESCAPE, "\u{1}\u{2}")
            .replace('\0', "\u{1}\u{1}")
    } else {
        text.to_owned()
    }
}

fn unescaped(text: &str) -> String {
    if !text.contains(ESCAPE) {
        return text.to_owned();
    }
    let mut plain = String::with_capacity(text.len());
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        plain.push(match character {
            ESCAPE if characters.next() == Some(ESCAPE) => '\0',
            other => other,
        });
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_with_nul_is_read_as_it_was_written_and_sorts_as_before() {
        let mut texts = [
            "", "\0", "\0\0", "\0\u{1}a", "\0a", "\u{1}", "\u{1}\0", "\u{2}", "a\0b",
        ];
        texts.sort_unstable();
        let all = texts.map(escaped);
        assert!(all.is_sorted(), "{all:?}");
        for (text, escaped) in texts.iter().zip(&all) {
            assert!(!escaped.contains('\0'));
            assert_eq!(unescaped(escaped), *text);
        }
    }
}
