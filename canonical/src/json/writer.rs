//! RFC 8785 §3.2: the one way to write each value.

use alloc::string::String;

use super::value::Value;

/// Bounded by the reader's depth limit: every value was read.
pub(super) fn write(value: &Value<'_>, out: &mut String) {
    match value {
        Value::Null => out.push_str("null"),
        Value::Bool(true) => out.push_str("true"),
        Value::Bool(false) => out.push_str("false"),
        Value::Number(number) => write_number(number.to_f64(), out),
        Value::String(text) => write_string(text, out),
        Value::Array(elements) => write_list('[', ']', elements.iter(), out, write),
        Value::Object(object) => {
            write_list('{', '}', object.iter(), out, |(key, value), out| {
                write_string(key, out);
                out.push(':');
                write(value, out);
            });
        }
    }
}

fn write_list<T>(
    open: char,
    close: char,
    items: impl Iterator<Item = T>,
    out: &mut String,
    write_item: impl Fn(T, &mut String),
) {
    out.push(open);
    for (index, item) in items.enumerate() {
        if index > 0 {
            out.push(',');
        }
        write_item(item, out);
    }
    out.push(close);
}

/// RFC 8785 §3.2.2.3: ECMAScript's Number::toString; minus zero is `0`.
fn write_number(value: f64, out: &mut String) {
    out.push_str(ryu_js::Buffer::new().format_finite(value));
}

/// RFC 8785 §3.2.2.2: only `"`, `\` and the control characters below U+0020 are escaped.
fn write_string(text: &str, out: &mut String) {
    out.push('"');
    let mut plain_from = 0;
    for (at, byte) in text.bytes().enumerate() {
        if byte >= b' ' && byte != b'"' && byte != b'\\' {
            continue;
        }
        out.push_str(&text[plain_from..at]);
        plain_from = at + 1;
        write_escape(byte, out);
    }
    out.push_str(&text[plain_from..]);
    out.push('"');
}

fn write_escape(byte: u8, out: &mut String) {
    const HEX: [char; 16] = [
        '0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'a', 'b', 'c', 'd', 'e', 'f',
    ];
    out.push('\\');
    match byte {
        0x08 => out.push('b'),
        b'\t' => out.push('t'),
        b'\n' => out.push('n'),
        0x0C => out.push('f'),
        b'\r' => out.push('r'),
        b'"' | b'\\' => out.push(char::from(byte)),
        _ => {
            out.push_str("u00");
            out.push(HEX[usize::from(byte >> 4)]);
            out.push(HEX[usize::from(byte & 0xF)]);
        }
    }
}
