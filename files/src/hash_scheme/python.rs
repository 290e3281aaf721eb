//! `json.dumps(file, sort_keys=True)`, as agent0-sdk for Python hashes files.

use std::fmt::Write as _;

use concord_canonical::json::{Number, Object, Value};

/// Python's defaults: `", "` and `": "` between items, ASCII only, keys in the order of code points.
pub(super) fn to_text(file: &Value<'_>) -> String {
    let mut out = String::new();
    write(file, &mut out);
    out
}

fn write(value: &Value<'_>, out: &mut String) {
    match value {
        Value::Null | Value::Bool(_) => out.push_str(&value.to_canonical()),
        Value::Number(number) => write_number(number, out),
        Value::String(text) => write_string(text, out),
        Value::Array(elements) => {
            out.push('[');
            for (index, element) in elements.iter().enumerate() {
                if index > 0 {
                    out.push_str(", ");
                }
                write(element, out);
            }
            out.push(']');
        }
        Value::Object(object) => write_object(object, out),
    }
}

fn write_object(object: &Object<'_>, out: &mut String) {
    let mut members: Vec<_> = object.iter().collect();
    // UTF-8 sorts as code points do
    members.sort_by_key(|(key, _)| *key);
    out.push('{');
    for (index, (key, value)) in members.into_iter().enumerate() {
        if index > 0 {
            out.push_str(", ");
        }
        write_string(key, out);
        out.push_str(": ");
        write(value, out);
    }
    out.push('}');
}

/// A literal without fraction and exponent is an int, which Python writes exactly; any other is a float.
fn write_number(number: &Number<'_>, out: &mut String) {
    let literal = number.literal();
    match literal.contains(['.', 'e', 'E']) {
        true => write_float(number.to_f64(), out),
        false if literal == "-0" => out.push('0'),
        false => out.push_str(literal),
    }
}

/// `repr(float)`: the shortest digits that read back, in scientific form for exponents below -4 and from
/// 16 on.
fn write_float(value: f64, out: &mut String) {
    let scientific = format!("{value:e}");
    let (digits, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or_default();
    if (-4..16).contains(&exponent) {
        let plain = format!("{value}");
        out.push_str(&plain);
        if !plain.contains('.') {
            out.push_str(".0");
        }
        return;
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    let magnitude = exponent.unsigned_abs();
    // writing to a String cannot fail
    let _ = write!(out, "{digits}e{sign}{magnitude:02}");
}

/// Everything outside printable ASCII as `\uXXXX`, in UTF-16 code units.
fn write_string(text: &str, out: &mut String) {
    out.push('"');
    for character in text.chars() {
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            ' '..='~' => out.push(character),
            _ => {
                for unit in character.encode_utf16(&mut [0; 2]) {
                    let _ = write!(out, "\\u{unit:04x}");
                }
            }
        }
    }
    out.push('"');
}
