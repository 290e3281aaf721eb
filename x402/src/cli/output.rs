use concord_chain::stdout::show;
use serde_json::Value;

use super::CliError;

/// Prints the result: as JSON, or as text.
pub(super) fn print(as_json: bool, json: &Value, text: &str) -> Result<(), CliError> {
    print_with(as_json, json, text, &[])
}

/// As [`print()`], with bytes after the text, as they are. JSON has its own form of them.
pub(super) fn print_with(
    as_json: bool,
    json: &Value,
    text: &str,
    bytes: &[u8],
) -> Result<(), CliError> {
    let mut result = if as_json {
        serde_json::to_vec_pretty(json).unwrap_or_default()
    } else {
        text.trim_end().into()
    };
    result.push(b'\n');
    if !as_json {
        result.extend_from_slice(bytes);
    }
    Ok(show(result)?)
}

/// A check's line: name, state, and what was found.
pub(super) fn line(name: &str, state: &str, detail: &str) -> String {
    format!("{name:<9} {state:<12} {detail}")
        .trim_end()
        .to_owned()
        + "\n"
}
