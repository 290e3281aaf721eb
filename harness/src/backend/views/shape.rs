use serde_json::Value;

/// The form of a view's arguments and of what it returns, in canonical terms (docs/ADAPTER.md).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// A label.
    Agent,
    /// A label.
    Actor,
    /// A label, or null for nobody.
    MaybeActor,
    Text,
    /// A tag of 32 bytes: its text, or hex where it is none.
    Tag,
    Flag,
    /// An integer of 64 bits without a sign.
    Number,
    /// An integer in decimal digits, of up to 256 bits.
    Digits,
    /// Bytes in hex.
    Bytes,
    /// 32 bytes in hex.
    Word,
    /// A list.
    Many(&'static Shape),
    /// An object with these members, and no others.
    Record(&'static [(&'static str, Shape)]),
}

impl Shape {
    /// Says where `value` has another form, if it has.
    ///
    /// # Errors
    /// The path of the first member that does not fit, and what it must be.
    pub fn check(&self, value: &Value) -> Result<(), String> {
        self.check_at("$", value)
    }

    fn check_at(&self, path: &str, value: &Value) -> Result<(), String> {
        match self {
            Self::Many(item) => {
                let items = value.as_array().ok_or_else(|| self.missed(path, value))?;
                let mut each = items.iter().enumerate();
                each.try_for_each(|(at, it)| item.check_at(&format!("{path}[{at}]"), it))
            }
            Self::Record(members) => self.check_record(path, members, value),
            _ if self.is_form_of(value) => Ok(()),
            _ => Err(self.missed(path, value)),
        }
    }

    fn check_record(
        &self,
        path: &str,
        members: &[(&str, Shape)],
        value: &Value,
    ) -> Result<(), String> {
        let given = value.as_object().ok_or_else(|| self.missed(path, value))?;
        for (name, shape) in members {
            let member = given.get(*name);
            let member = member.ok_or_else(|| format!("{path}.{name} is missing"))?;
            shape.check_at(&format!("{path}.{name}"), member)?;
        }
        let is_known = |name: &str| members.iter().any(|(known, _)| *known == name);
        match given.keys().find(|name| !is_known(name)) {
            Some(unknown) => Err(format!("{path}.{unknown} is not a member")),
            None => Ok(()),
        }
    }

    fn is_form_of(&self, value: &Value) -> bool {
        let text = value.as_str();
        match self {
            Self::Agent | Self::Actor => text.is_some_and(|it| !it.is_empty()),
            Self::MaybeActor => value.is_null() || text.is_some_and(|it| !it.is_empty()),
            Self::Text | Self::Tag => text.is_some(),
            Self::Flag => value.is_boolean(),
            Self::Number => value.is_u64(),
            Self::Digits => text.is_some_and(is_integer),
            Self::Bytes => text.is_some_and(is_hex),
            Self::Word => text.is_some_and(|it| it.len() == 66 && is_hex(it)),
            Self::Many(_) | Self::Record(_) => false,
        }
    }

    fn missed(&self, path: &str, value: &Value) -> String {
        let wanted = match self {
            Self::Agent => "an agent's label",
            Self::Actor => "an actor's label",
            Self::MaybeActor => "an actor's label or null",
            Self::Text => "text",
            Self::Tag => "a tag",
            Self::Flag => "true or false",
            Self::Number => "an integer of 64 bits without a sign",
            Self::Digits => "an integer in decimal digits",
            Self::Bytes => "0x and hex digits in lower case",
            Self::Word => "0x and 64 hex digits in lower case",
            Self::Many(_) => "a list",
            Self::Record(_) => "an object",
        };
        let shown: String = value.to_string().chars().take(80).collect();
        format!("{path} is {shown}, and must be {wanted}")
    }
}

/// Digits without a sign of plus or leading zeros.
fn is_integer(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let is_plain = !digits.is_empty() && digits.bytes().all(|it| it.is_ascii_digit());
    is_plain && text != "-0" && (digits == "0" || !digits.starts_with('0'))
}

fn is_hex(text: &str) -> bool {
    let is_digit = |it: u8| matches!(it, b'0'..=b'9' | b'a'..=b'f');
    text.strip_prefix("0x")
        .is_some_and(|digits| digits.len() % 2 == 0 && digits.bytes().all(is_digit))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_value_of_another_form_is_named_by_its_path() {
        const PART: Shape = Shape::Record(&[("count", Shape::Number), ("sum", Shape::Digits)]);
        const PARTS: Shape = Shape::Many(&PART);
        assert_eq!(PARTS.check(&json!([{"count": 1, "sum": "-7"}])), Ok(()));
        for (value, words) in [
            (json!({}), "$ is {}, and must be a list"),
            (json!([7]), "$[0] is 7, and must be an object"),
            (json!([{"count": 1}]), "$[0].sum is missing"),
            (
                json!([{"count": -1, "sum": "0"}]),
                "$[0].count is -1, and must be an integer of 64 bits without a sign",
            ),
            (
                json!([{"count": 1, "sum": "0", "more": 1}]),
                "$[0].more is not a member",
            ),
        ] {
            assert_eq!(PARTS.check(&value), Err(words.to_owned()));
        }
    }

    #[test]
    fn leaves_take_their_own_form_only() {
        let word = format!("0x{}", "ab".repeat(32));
        for (shape, fits, others) in [
            (Shape::Digits, json!("0"), ["", "-0", "01", "+1", "1e3"]),
            (Shape::Bytes, json!("0x"), ["", "0x0", "0xAB", "ab", "0xzz"]),
            (Shape::Word, json!(word), ["0x", "0xab", "", "00", "ab"]),
        ] {
            assert_eq!(shape.check(&fits), Ok(()));
            for other in others {
                assert!(shape.check(&json!(other)).is_err(), "{shape:?}: {other}");
            }
        }
        assert_eq!(Shape::MaybeActor.check(&Value::Null), Ok(()));
        assert!(Shape::Actor.check(&Value::Null).is_err());
        assert!(Shape::Flag.check(&json!("true")).is_err());
    }
}
