//! What a query must be before it is parsed.
use super::error::QueryError;

/// Brackets in brackets: the parser recurses.
const BRACKETS: usize = 64;

/// The parser's recursion ends with the stack: the depth is looked at before.
pub fn require_shallow(query: &str) -> Result<(), QueryError> {
    let mut depth = 0usize;
    let mut rest = query;
    while let Some(character) = rest.chars().next() {
        let skipped = match character {
            '#' => rest.find(['\n', '\r']).unwrap_or(rest.len()),
            '"' => text_length(rest).ok_or_else(|| QueryError::new(ENDLESS))?,
            '{' | '[' | '(' => {
                depth += 1;
                1
            }
            '}' | ']' | ')' => {
                depth = depth.saturating_sub(1);
                1
            }
            other => other.len_utf8(),
        };
        if depth > BRACKETS {
            let message = format!("the query has more than {BRACKETS} brackets in brackets");
            return Err(QueryError::new(message));
        }
        rest = &rest[skipped..];
    }
    Ok(())
}

/// The parser would take its first two quotes for an empty string, and go on after them.
const ENDLESS: &str = "the query has a text that begins with \"\"\" and does not end";

/// Bytes of the string that a text begins with; `None` for a block string that does not end.
fn text_length(text: &str) -> Option<usize> {
    if let Some(inner) = text.strip_prefix("\"\"\"") {
        let mut from = 0;
        while let Some(found) = inner[from..].find("\"\"\"") {
            let end = from + found;
            if !inner[..end].ends_with('\\') {
                return Some(end + 6);
            }
            from = end + 3;
        }
        return None;
    }
    let mut is_escaped = false;
    for (at, character) in text.char_indices().skip(1) {
        match character {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            '"' | '\n' | '\r' => return Some(at + 1),
            _ => (),
        }
    }
    Some(text.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::subgraph::document::{self, Selected};
    use serde_json::{Map, json};

    fn read(query: &str) -> Result<Vec<Selected>, String> {
        document::read(query, None, &Map::new()).map_err(|error| match error {
            QueryError::Query { message, .. } => message,
            QueryError::Api(error) => error.to_string(),
        })
    }

    /// The parser would end with the stack, and the process with it.
    #[test]
    fn brackets_are_counted_where_the_parser_sees_them() {
        let deep = format!(
            "{{ a(b: {}1{}) }}",
            "[".repeat(100_000),
            "]".repeat(100_000)
        );
        let hidden = [
            deep.clone(),
            format!("# \" \n{deep}"),
            format!("{{ a(c: \"\"\" \" \"\"\") }} {deep}"),
            format!("{{ a(c: \"\"\" \\\"\"\" \" \"\"\") }} {deep}"),
            format!("{{ a(c: \"\\\\\") }} {deep}"),
            format!("{{ a(c: \"]\\\"]\") }} {deep}"),
        ];
        for query in hidden {
            let found = read(&query).unwrap_err();
            assert!(found.contains("more than 64 brackets"), "{found}");
        }
        let text = format!("{{ a(b: \"{}\") }}", "[".repeat(1_000));
        assert!(read(&text).is_ok());
    }

    #[test]
    fn a_block_string_that_does_not_end_is_refused() {
        let brackets = "[".repeat(100_000);
        let escaped = r#"\""""""#.repeat(40_000);
        for begun in [
            format!(r#"{{ a(b: ["""x" {brackets}"#),
            format!(r#"{{ a(b: ["""x" \""" {brackets}"#),
            format!(r#"{{ a(b: ["""{escaped}"#),
        ] {
            assert_eq!(read(&begun).unwrap_err(), ENDLESS);
        }
        let query = r#"{ a(b: ["", "x", """""", """y"[""", ""]) } # """"#;
        let selected = read(query).unwrap();
        let expected = json!(["", "x", "", "y\"[", ""]);
        assert_eq!(selected[0].arguments["b"], expected);
    }
}
