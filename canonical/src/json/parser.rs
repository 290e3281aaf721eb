//! A reader of RFC 8259 text that refuses what R22 refuses.

use alloc::{borrow::Cow, string::String, vec::Vec};

use super::{
    number::Number,
    value::{Object, Value, compare_utf16},
};
use crate::error::{Error, Excerpt};

/// Arrays and objects may nest this deep; deeper text is refused before it can exhaust the stack.
pub const DEPTH_MAX: usize = 128;

/// Reads one value that spans the whole text.
pub(super) fn parse(text: &str) -> Result<Value<'_>, Error> {
    let mut parser = Parser { text, at: 0 };
    parser.skip_white_space();
    let value = parser.value(0)?;
    parser.skip_white_space();
    if parser.at < text.len() {
        return Err(parser.malformed("text after the value"));
    }
    Ok(value)
}

struct Parser<'a> {
    text: &'a str,
    /// Byte offset of the next unread byte; always on a character boundary when a slice is taken.
    at: usize,
}

impl<'a> Parser<'a> {
    fn value(&mut self, depth: usize) -> Result<Value<'a>, Error> {
        match self.peek() {
            Some(b'{') => self.object(depth),
            Some(b'[') => self.array(depth),
            Some(b'"') => Ok(Value::String(self.string()?)),
            Some(b'-' | b'0'..=b'9') => Ok(Value::Number(self.number()?)),
            Some(b'n') => self.literal("null", Value::Null),
            Some(b't') => self.literal("true", Value::Bool(true)),
            Some(b'f') => self.literal("false", Value::Bool(false)),
            _ => Err(self.malformed("a value is missing")),
        }
    }

    fn literal(&mut self, word: &'static str, value: Value<'a>) -> Result<Value<'a>, Error> {
        if !self.rest().starts_with(word.as_bytes()) {
            return Err(self.malformed("null, true or false is misspelt"));
        }
        self.at += word.len();
        Ok(value)
    }

    fn array(&mut self, depth: usize) -> Result<Value<'a>, Error> {
        self.open(depth)?;
        let mut elements = Vec::new();
        if self.closes(b']') {
            return Ok(Value::Array(elements));
        }
        loop {
            self.skip_white_space();
            elements.push(self.value(depth + 1)?);
            if !self.continues(b']', "',' or ']' is missing")? {
                return Ok(Value::Array(elements));
            }
        }
    }

    fn object(&mut self, depth: usize) -> Result<Value<'a>, Error> {
        self.open(depth)?;
        let mut members = Vec::new();
        if self.closes(b'}') {
            return sorted_object(members);
        }
        loop {
            self.skip_white_space();
            let offset = self.at;
            if self.peek() != Some(b'"') {
                return Err(self.malformed("a key in double quotes is missing"));
            }
            let key = self.string()?;
            self.skip_white_space();
            if !self.take(b':') {
                return Err(self.malformed("':' is missing after the key"));
            }
            self.skip_white_space();
            let value = self.value(depth + 1)?;
            members.push(Member {
                offset,
                entry: (key, value),
            });
            if !self.continues(b'}', "',' or '}' is missing")? {
                return sorted_object(members);
            }
        }
    }

    /// Takes the bracket of an array or object at `depth` enclosing ones.
    fn open(&mut self, depth: usize) -> Result<(), Error> {
        if depth == DEPTH_MAX {
            return Err(self.malformed("more than 128 nested arrays and objects"));
        }
        self.at += 1;
        Ok(())
    }

    /// Takes the closing bracket of an empty array or object, if it comes next.
    fn closes(&mut self, bracket: u8) -> bool {
        self.skip_white_space();
        self.take(bracket)
    }

    /// After an item: takes `,` (true) or the closing bracket (false).
    fn continues(&mut self, bracket: u8, missing: &'static str) -> Result<bool, Error> {
        self.skip_white_space();
        if self.take(b',') {
            Ok(true)
        } else if self.take(bracket) {
            Ok(false)
        } else {
            Err(self.malformed(missing))
        }
    }

    fn number(&mut self) -> Result<Number<'a>, Error> {
        let start = self.at;
        self.take(b'-');
        if !self.take(b'0') {
            self.digits()?;
        }
        if self.take(b'.') {
            self.digits()?;
        }
        if self.take(b'e') || self.take(b'E') {
            let _sign = self.take(b'+') || self.take(b'-');
            self.digits()?;
        }
        // a digit here follows a leading zero; the caller finds it out of place
        Number::new(&self.text[start..self.at])
    }

    /// One digit or more.
    fn digits(&mut self) -> Result<(), Error> {
        let count = self
            .rest()
            .iter()
            .take_while(|byte| byte.is_ascii_digit())
            .count();
        if count == 0 {
            return Err(self.malformed("a digit is missing"));
        }
        self.at += count;
        Ok(())
    }

    /// A string whose opening quote comes next.
    fn string(&mut self) -> Result<Cow<'a, str>, Error> {
        self.at += 1;
        let plain = self.plain_run();
        if self.take(b'"') {
            return Ok(Cow::Borrowed(plain));
        }
        let mut unescaped = String::from(plain);
        loop {
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(Cow::Owned(unescaped));
                }
                Some(b'\\') => unescaped.push(self.escape()?),
                Some(_) => return Err(self.malformed("control character in a string")),
                None => return Err(self.malformed("the closing double quote is missing")),
            }
            unescaped.push_str(self.plain_run());
        }
    }

    /// Takes characters up to a quote, a backslash, a control character or the end.
    fn plain_run(&mut self) -> &'a str {
        let start = self.at;
        let stops = |byte: &u8| *byte < b' ' || *byte == b'"' || *byte == b'\\';
        let length = self.rest().iter().position(stops);
        self.at = length.map_or(self.text.len(), |length| start + length);
        &self.text[start..self.at]
    }

    /// One escape sequence, or the two of a surrogate pair.
    fn escape(&mut self) -> Result<char, Error> {
        let start = self.at;
        self.at += 1;
        let unescaped = match self.peek() {
            Some(b'"') => '"',
            Some(b'\\') => '\\',
            Some(b'/') => '/',
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => return self.unicode_escape(start),
            _ => return Err(self.malformed("no such escape; one of \" \\ / b f n r t u")),
        };
        self.at += 1;
        Ok(unescaped)
    }

    /// `u` and four hexadecimal digits come next; `start` is the offset of the backslash.
    fn unicode_escape(&mut self, start: usize) -> Result<char, Error> {
        let first = self.code_unit()?;
        let pair = match first {
            0xD800..=0xDBFF if self.rest().starts_with(b"\\u") => {
                self.at += 1;
                [first, self.code_unit()?]
            }
            _ => [first, 0],
        };
        // R22: a surrogate without its other half is an error
        let character = char::decode_utf16(pair).next().and_then(Result::ok);
        character.ok_or(Error::LoneSurrogate { offset: start })
    }

    /// Takes `u` and four hexadecimal digits.
    fn code_unit(&mut self) -> Result<u16, Error> {
        let mut unit = 0;
        for _ in 0..4 {
            self.at += 1;
            let digit = self.peek().and_then(|byte| char::from(byte).to_digit(16));
            let digit = digit
                .ok_or_else(|| self.malformed("four hexadecimal digits are missing after \\u"))?;
            unit = unit << 4 | digit as u16;
        }
        self.at += 1;
        Ok(unit)
    }

    fn skip_white_space(&mut self) {
        while let Some(b' ' | b'\t' | b'\n' | b'\r') = self.peek() {
            self.at += 1;
        }
    }

    fn take(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn rest(&self) -> &'a [u8] {
        &self.text.as_bytes()[self.at..]
    }

    fn malformed(&self, what: &'static str) -> Error {
        Error::MalformedJson {
            offset: self.at,
            what,
        }
    }
}

/// A member and the offset of its key.
struct Member<'a> {
    offset: usize,
    entry: (Cow<'a, str>, Value<'a>),
}

/// Sorts the members by key; of two equal keys the later one is reported (R22).
fn sorted_object(mut members: Vec<Member<'_>>) -> Result<Value<'_>, Error> {
    members.sort_by(|a, b| compare_utf16(&a.entry.0, &b.entry.0));
    let duplicate = members
        .windows(2)
        .find(|pair| pair[0].entry.0 == pair[1].entry.0);
    if let Some([_, later]) = duplicate {
        return Err(Error::DuplicateKey {
            offset: later.offset,
            key: Excerpt::new(&later.entry.0),
        });
    }
    let members = members.into_iter().map(|member| member.entry).collect();
    Ok(Value::Object(Object::from_sorted(members)))
}
