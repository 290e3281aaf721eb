//! JSON as a person's line: a tenth of a page's size is quotation marks otherwise.
use serde_json::{Map, Value};

/// The most characters of one text. The JSON report has it whole.
const TEXT_LIMIT: usize = 160;
/// What is shown of a longer one.
const TEXT_SHOWN: usize = 60;

/// `agent: desk, by: alice, metadata: [{key: k, value: 0x}]`.
pub(super) fn members(members: &Map<String, Value>) -> String {
    let members: Vec<_> = members
        .iter()
        .map(|(name, value)| format!("{name}: {}", line(value)))
        .collect();
    members.join(", ")
}

/// A value; an object in braces, a text with quotation marks only if it could be misread.
pub(super) fn line(value: &Value) -> String {
    match value {
        Value::Object(inner) => format!("{{{}}}", members(inner)),
        Value::Array(items) => {
            let items: Vec<_> = items.iter().map(line).collect();
            format!("[{}]", items.join(", "))
        }
        Value::String(text) => shown(text),
        scalar => scalar.to_string(),
    }
}

/// An object with one member, as operations and events are: its name, and its members.
pub(super) fn named(value: &Value) -> (String, String) {
    let member = value.as_object().and_then(|it| it.iter().next());
    match member {
        Some((name, Value::Object(inner))) => (name.clone(), members(inner)),
        Some((name, other)) => (name.clone(), line(other)),
        None => (line(value), String::new()),
    }
}

fn shown(text: &str) -> String {
    let length = text.chars().count();
    if length > TEXT_LIMIT {
        let start: String = text.chars().take(TEXT_SHOWN).collect();
        return format!("{start:?}… ({length} characters)");
    }
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./:+@%#?=".contains(c);
    let is_word = !text.is_empty() && text.chars().all(is_plain);
    if is_word && !["null", "true", "false"].contains(&text) {
        text.to_owned()
    } else {
        format!("{text:?}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn values_read_as_a_line() {
        let long = "x".repeat(201);
        for (value, expected) in [
            (
                json!({"agent": "desk", "score": 5}),
                "{agent: desk, score: 5}",
            ),
            (
                json!(["", "a b", "null", null]),
                r#"["", "a b", "null", null]"#,
            ),
            (json!("a\", b: c"), r#""a\", b: c""#),
            (json!("https://a.example/x?y=1"), "https://a.example/x?y=1"),
            (
                json!(long),
                &format!("\"{}\"… (201 characters)", "x".repeat(60)),
            ),
        ] {
            assert_eq!(line(&value), expected);
        }
        let event = json!({"Approved": {"agent": "desk", "operator": null}});
        let expected = (
            "Approved".to_owned(),
            "agent: desk, operator: null".to_owned(),
        );
        assert_eq!(named(&event), expected);
    }
}
