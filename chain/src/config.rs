//! Configurations: they name endpoints, whose URLs may have keys in them.
use serde::de::DeserializeOwned;
use serde_json::Error;

/// Parses a configuration.
///
/// # Errors
/// Path, place and what is expected, in words without the value (DEP-66): a URL may be where something else
/// is expected, and a file with a key may have been named.
pub fn parse<T: DeserializeOwned>(text: &str) -> Result<T, String> {
    let mut reader = serde_json::Deserializer::from_str(text);
    let config = serde_path_to_error::deserialize(&mut reader).map_err(|error| {
        let said = without_value(error.inner());
        match error.path().iter().next() {
            Some(_) if error.inner().is_data() => format!("{}: {said}", error.path()),
            _ => said,
        }
    })?;
    reader.end().map_err(|error| error.to_string())?; // it has no value
    Ok(config)
}

/// Serde says for example "invalid type: string \"…\", expected u64 at line 1 column 7".
fn without_value(error: &Error) -> String {
    let said = error.to_string();
    let kinds = ["invalid type", "invalid value", "unknown variant"];
    let kind = kinds.iter().find(|kind| said.starts_with(**kind));
    match (kind, said.rsplit_once(", expected ")) {
        (Some(kind), Some((_, expected))) => format!("{kind}, expected {expected}"),
        _ => said,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Amount, ChainId};
    use serde::Deserialize;
    use std::collections::BTreeMap;

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Config {
        #[allow(dead_code, reason = "only its form counts")]
        chains: BTreeMap<String, Chain>,
    }

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Chain {
        #[allow(dead_code, reason = "only its form counts")]
        rpc: String,
        #[allow(dead_code, reason = "only its form counts")]
        kind: Kind,
        #[allow(dead_code, reason = "only its form counts")]
        budget: Option<Amount>,
        #[allow(dead_code, reason = "only its form counts")]
        id: Option<ChainId>,
    }

    #[derive(Debug, Deserialize)]
    #[serde(rename_all = "lowercase")]
    enum Kind {
        Evm,
    }

    #[test]
    fn what_is_wrong_is_said_with_its_place_and_without_the_value() {
        let rpc = "https://rpc.example/v2/s3cr3t";
        let good = format!(r#"{{"chains": {{"a": {{"rpc": "{rpc}", "kind": "evm"}}}}}}"#);
        let with = |member: &str, value: &str| {
            good.replace("\"kind\"", &format!(r#""{member}": "{value}", "kind""#))
        };
        parse::<Config>(&good).unwrap();
        parse::<Config>(&with("budget", "7")).unwrap();
        parse::<Config>(&with("id", "eip155:84532")).unwrap();
        for (text, expected) in [
            (
                format!(r#"{{"chains": {{"a": "{rpc}"}}}}"#),
                "chains.a: invalid type, expected struct Chain at line 1 column",
            ),
            (
                format!(r#"{{"chains": {{"a": {{"rpc": "", "kind": "{rpc}, expected x"}}}}}}"#),
                "chains.a.kind: unknown variant, expected ",
            ),
            (
                with("budget", rpc),
                "chains.a.budget: expected a decimal below 2^128, as a string at line 1",
            ),
            (
                with("id", "s3cr3t:1:2"),
                "chains.a.id: expected a CAIP-2 chain id at line 1",
            ),
            (
                "\"s3cr3t\"".to_owned(),
                "invalid type, expected struct Config at line 1 column 8",
            ),
            ("s3cr3t".to_owned(), "expected value at line 1 column 1"),
            (format!("{good} s3cr3t"), "trailing characters at line 1"),
            ("{}".to_owned(), "missing field `chains`"),
        ] {
            let said = parse::<Config>(&text).unwrap_err();
            assert!(said.starts_with(expected), "{said}");
            assert!(!said.contains("s3cr"), "{said}");
        }
    }
}
