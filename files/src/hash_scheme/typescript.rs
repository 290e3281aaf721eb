//! `JSON.stringify(file, Object.keys(file).sort())`, as agent0-sdk for TypeScript hashes files.

use std::collections::HashSet;

use concord_canonical::json::{Object, Value};

/// ECMA-262, SerializeJSONObject with a PropertyList: of every object, at any depth, only the keys of the
/// list, in its order.
pub(super) fn to_text(file: &Value<'_>) -> String {
    let keys: HashSet<&str> = file
        .as_object()
        .map(|object| object.iter().map(|(key, _)| key).collect())
        .unwrap_or_default();
    let mut out = String::new();
    write(file, &keys, &mut out);
    out
}

fn write(value: &Value<'_>, keys: &HashSet<&str>, out: &mut String) {
    match value {
        Value::Array(elements) => {
            out.push('[');
            for (index, element) in elements.iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                write(element, keys, out);
            }
            out.push(']');
        }
        Value::Object(object) => write_object(object, keys, out),
        // RFC 8785 takes scalars from JSON.stringify
        scalar => out.push_str(&scalar.to_canonical()),
    }
}

fn write_object(object: &Object<'_>, keys: &HashSet<&str>, out: &mut String) {
    out.push('{');
    let mut is_first = true;
    // canonical order is the order of `sort()`: by UTF-16 code units
    for (key, value) in object.iter().filter(|(key, _)| keys.contains(key)) {
        if !is_first {
            out.push(',');
        }
        is_first = false;
        out.push_str(&Value::String(key.into()).to_canonical());
        out.push(':');
        write(value, keys, out);
    }
    out.push('}');
}
