use std::io::{self, Read};

use serde_json::value::RawValue;

use super::{CliError, VERIFIED, options::Decode, output::print};
use crate::wire::{HEADER_MAX, decode as decode_header};

/// What errors call the header: its kind is in its JSON.
const HEADER: &str = "the header";

pub(super) fn decode(options: &Decode) -> Result<u8, CliError> {
    let value = match &options.value {
        Some(value) => value.clone(),
        None => {
            let mut text = String::new();
            let limit = HEADER_MAX as u64 + 2; // one line feed, and one byte too many
            let read = io::stdin().take(limit).read_to_string(&mut text);
            read.map_err(|error| CliError::usage(format!("stdin: {error}")))?;
            text
        }
    };
    let text = decode_header(HEADER, value.trim().as_bytes()).map_err(CliError::usage)?;
    let canonical = concord_canonical::json::canonicalize(&text);
    canonical.map_err(|error| CliError::usage(format!("{HEADER}: {error}")))?;
    let raw = RawValue::from_string(text).map_err(CliError::usage)?;
    let value: serde_json::Value = serde_json::from_str(raw.get()).map_err(CliError::usage)?;
    print(true, &value, "")?;
    Ok(VERIFIED)
}
