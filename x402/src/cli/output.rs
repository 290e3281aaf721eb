use std::io::{self, Write};

use serde_json::Value;

use super::CliError;

/// Prints the result: as JSON, or as text.
pub(super) fn print(as_json: bool, json: &Value, text: &str) -> Result<(), CliError> {
    let mut out = io::stdout().lock();
    match as_json {
        true => {
            let pretty = serde_json::to_string_pretty(json).unwrap_or_default();
            writeln!(out, "{pretty}")?;
        }
        false => writeln!(out, "{}", text.trim_end())?,
    }
    Ok(())
}

/// A check's line: name, state, and what was found.
pub(super) fn line(name: &str, state: &str, detail: &str) -> String {
    format!("{name:<9} {state:<12} {detail}")
        .trim_end()
        .to_owned()
        + "\n"
}
