//! How a scenario file is laid out: a line for each member of a step, and for each event if there
//! are several, so that a scenario reads as a list and a diff shows what changed.
use serde_json::{Map, Value};
use std::fmt::Write;

/// Members that hold one item a line.
const LISTS: &[&str] = &["steps", "variance"];

/// The text of a scenario file, with a line feed at its end.
pub fn document(document: &Value) -> String {
    let mut out = String::new();
    block(&mut out, document, 0);
    out.push('\n');
    out
}

fn block(out: &mut String, value: &Value, depth: usize) {
    let Value::Object(members) = value else {
        return line(out, value);
    };
    out.push('{');
    for (at, (name, member)) in members.iter().enumerate() {
        separate(out, at, depth + 1);
        text(out, name);
        out.push_str(": ");
        match member {
            Value::Array(items) if LISTS.contains(&name.as_str()) && !items.is_empty() => {
                list(out, items, depth + 1, block);
            }
            Value::Object(members) if name == "expect" => expectation(out, members, depth + 1),
            member => line(out, member),
        }
    }
    end(out, '}', depth);
}

/// One line, but for events, if there is more than one.
fn expectation(out: &mut String, members: &Map<String, Value>, depth: usize) {
    flat(out, ['{', '}'], members, |out, (name, member)| {
        text(out, name);
        out.push_str(": ");
        match member {
            Value::Array(events) if name == "events" && events.len() > 1 => {
                list(out, events, depth, |out, event, _| line(out, event));
            }
            member => line(out, member),
        }
    });
}

fn list(
    out: &mut String,
    items: &[Value],
    depth: usize,
    item: impl Fn(&mut String, &Value, usize),
) {
    out.push('[');
    for (at, it) in items.iter().enumerate() {
        separate(out, at, depth + 1);
        item(out, it, depth + 1);
    }
    end(out, ']', depth);
}

fn separate(out: &mut String, at: usize, depth: usize) {
    if at > 0 {
        out.push(',');
    }
    indent(out, depth);
}

fn end(out: &mut String, bracket: char, depth: usize) {
    indent(out, depth);
    out.push(bracket);
}

fn indent(out: &mut String, depth: usize) {
    out.push('\n');
    out.push_str(&"  ".repeat(depth));
}

/// A value on one line, with spaces where people write them.
fn line(out: &mut String, value: &Value) {
    match value {
        Value::Object(members) => flat(out, ['{', '}'], members, |out, (name, member)| {
            text(out, name);
            out.push_str(": ");
            line(out, member);
        }),
        Value::Array(items) => flat(out, ['[', ']'], items, line),
        scalar => write!(out, "{scalar}").expect("a String takes all text"),
    }
}

fn flat<T>(
    out: &mut String,
    [open, close]: [char; 2],
    items: impl IntoIterator<Item = T>,
    item: impl Fn(&mut String, T),
) {
    out.push(open);
    for (at, it) in items.into_iter().enumerate() {
        out.push_str(if at > 0 { ", " } else { "" });
        item(out, it);
    }
    out.push(close);
}

fn text(out: &mut String, text: &str) {
    line(out, &Value::from(text));
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_file_reads_back_as_what_was_written() {
        let before = json!({
            "title": "quotes \" and \u{7}",
            "rules": ["R1"],
            "steps": [{
                "do": { "register": { "agent": "desk", "metadata": [{ "key": "k", "value": "0x" }] } },
                "expect": { "outcome": "ok", "events": [{ "A": { "b": null } }, { "C": {} }] },
                "variance": [{ "kind": 1, "expect": { "outcome": "ok", "events": [] } }]
            }]
        });
        let written = document(&before);
        assert_eq!(serde_json::from_str::<Value>(&written).unwrap(), before);
        assert_eq!(written.lines().count(), 19, "{written}");
    }
}
