use concord_chain::stdout::show;
use serde_json::Value;

use super::CliError;

/// Prints the result: as JSON, or as text.
pub(super) fn print(as_json: bool, json: &Value, text: &str) -> Result<(), CliError> {
    let result = match as_json {
        true => serde_json::to_string_pretty(json).unwrap_or_default(),
        false => text.trim_end().to_owned(),
    };
    Ok(show(&format!("{result}\n"))?)
}

/// A check's line: name, state, and what was found.
pub(super) fn line(name: &str, state: &str, detail: &str) -> String {
    format!("{name:<9} {state:<12} {detail}")
        .trim_end()
        .to_owned()
        + "\n"
}
