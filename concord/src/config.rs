//! `concord.json`: what a team says once of its registry, so that `concord conform` needs no options.
use super::{
    arguments::{BackendName, Conform},
    error::CliError,
    files::clone_root,
};
use concord_canonical::json;
use concord_deploy::report::print_status;
use concord_harness::{
    model::{Chain, RegistryProfile},
    report::plain,
    scenario::Rule,
};
use serde::Deserialize;
use std::{
    fs::File,
    io::{self, Read},
    path::{Path, PathBuf},
};

/// Read in the current folder only, because it can name a command to run: one that is found further up would surprise.
pub(super) const NAME: &str = "concord.json";
/// The JSON Schema of it, which `concord init` writes beside it.
pub(super) const SCHEMA: &str = include_str!("../concord.schema.json");
/// In bytes. What a person writes has a few hundred.
const LENGTH_MAX: u64 = 65_536;

/// Defaults for the options of `concord conform`. An option on the command line replaces its default.
#[derive(Debug, Default, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(title = "concord.json"))]
#[serde(deny_unknown_fields)]
struct Config {
    #[serde(default, rename = "$schema")]
    #[allow(dead_code, reason = "for editors")]
    schema: Option<String>,
    /// A registry of yours, behind a program that speaks docs/ADAPTER.md.
    #[serde(default)]
    adapter: Option<AdapterConfig>,
    /// Concord's own registries to run beside it; `none` runs the model alone.
    #[serde(default)]
    backends: Vec<BackendName>,
    /// The parts of the registries to test. None: what the adapter declares.
    #[serde(default)]
    profiles: Vec<RegistryProfile>,
    /// Only scenarios with one of these texts in their name, or that cite one of these rules.
    #[serde(default)]
    filters: Vec<String>,
    /// Only scenarios that cite one of these rules, such as R8.
    #[serde(default)]
    #[cfg_attr(test, schemars(with = "Vec<String>"))]
    rules: Vec<Rule>,
    /// Without scenarios that have one of these texts in their name.
    #[serde(default)]
    exclude: Vec<String>,
}

#[derive(Debug, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
struct AdapterConfig {
    /// Words as a shell would split them; no shell runs. Started in the folder where `concord` runs.
    command: String,
    /// The kind of chain that the registry is on: whose declared variances apply.
    chain: Chain,
}

/// Fills in what the command line leaves open: from the file, then from where it runs.
///
/// # Errors
/// [`CliError::Config`].
pub(super) fn complete(options: &mut Conform) -> Result<(), CliError> {
    let named = options.config.clone();
    let path = named.clone().unwrap_or_else(|| PathBuf::from(NAME));
    match read(&path) {
        Ok(config) => {
            print_status(plain(&format!("options of {}", path.display())));
            config.fill_in(options);
        }
        Err(Refused::Missing) if named.is_none() => (),
        Err(refused) => {
            let reason = refused.to_string();
            return Err(CliError::Config { path, reason });
        }
    }
    if options.backend.is_empty() {
        options.backend = vec![default_evm(), BackendName::SvmLitesvm];
    }
    Ok(())
}

/// `scripts/bootstrap` installs anvil in a clone. Elsewhere nobody is asked to.
fn default_evm() -> BackendName {
    match clone_root() {
        Some(_) => BackendName::EvmAnvil,
        None => BackendName::EvmRevm,
    }
}

impl Config {
    fn fill_in(self, options: &mut Conform) {
        if let (None, Some(adapter)) = (&options.adapter, self.adapter) {
            options.adapter = Some(adapter.command);
            options.adapter_chain = Some(adapter.chain);
        }
        fill_list(&mut options.backend, self.backends);
        fill_list(&mut options.profile, self.profiles);
        fill_list(&mut options.filter, self.filters);
        fill_list(&mut options.rule, self.rules);
        fill_list(&mut options.exclude, self.exclude);
    }
}

fn fill_list<T>(given: &mut Vec<T>, default: Vec<T>) {
    if given.is_empty() {
        *given = default;
    }
}

/// Why a file is of no use.
#[derive(Debug, thiserror::Error)]
pub(super) enum Refused {
    #[error("not found")]
    Missing,
    #[error("cannot be read: {0}")]
    Unreadable(io::Error),
    #[error("has more than {LENGTH_MAX} bytes")]
    TooLong,
    #[error("{0}")]
    Content(String),
}

fn read(path: &Path) -> Result<Config, Refused> {
    parse(&read_text(path)?).map_err(Refused::Content)
}

/// A file that a person wrote, of [`LENGTH_MAX`] bytes or fewer.
pub(super) fn read_text(path: &Path) -> Result<String, Refused> {
    let file = File::open(path).map_err(|fault| match fault.kind() {
        io::ErrorKind::NotFound => Refused::Missing,
        _ => Refused::Unreadable(fault),
    })?;
    let mut text = String::new();
    let length = file.take(LENGTH_MAX + 1).read_to_string(&mut text);
    if length.map_err(Refused::Unreadable)? as u64 > LENGTH_MAX {
        return Err(Refused::TooLong);
    }
    Ok(text)
}

fn parse(text: &str) -> Result<Config, String> {
    let mut reader = serde_json::Deserializer::from_str(text);
    let config = serde_path_to_error::deserialize(&mut reader).map_err(|fault| {
        match fault.path().iter().next() {
            Some(_) if fault.inner().is_data() => format!("{}: {}", fault.path(), fault.inner()),
            _ => fault.inner().to_string(),
        }
    })?;
    reader.end().map_err(|fault| fault.to_string())?;
    // R22: duplicate keys, which serde would take the last of.
    json::parse(text).map_err(|fault| fault.to_string())?;
    Ok(config)
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;
    use std::{env, fs};

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        conform: Conform,
    }

    const TEXT: &str = r#"{
        "adapter": {"command": "node dist/identity.js", "chain": "evm"},
        "backends": ["none"], "profiles": ["identity"], "filters": ["identity/"], "rules": ["R3"], "exclude": ["gas"]
    }"#;

    fn filled(arguments: &[&str]) -> Conform {
        let words = [&["conform"], arguments].concat();
        let mut options = Line::parse_from(words).conform;
        parse(TEXT).unwrap().fill_in(&mut options);
        options
    }

    #[test]
    fn each_member_is_the_default_of_its_option() {
        let options = filled(&[]);
        assert_eq!(options.adapter.as_deref(), Some("node dist/identity.js"));
        assert_eq!(options.adapter_chain, Some(Chain::Evm));
        assert_eq!(options.backend, [BackendName::None]);
        assert_eq!(options.profile, [RegistryProfile::Identity]);
        assert_eq!(options.filter, ["identity/"]);
        assert_eq!(options.rule, [Rule::Ruling(3)]);
        assert_eq!(options.exclude, ["gas"]);
    }

    #[test]
    fn the_command_line_replaces_each_default() {
        let options = filled(&[
            "--backend",
            "evm-revm",
            "--filter",
            "open",
            "--exclude",
            "x",
        ]);
        assert_eq!(options.backend, [BackendName::EvmRevm]);
        assert_eq!(options.filter, ["open"]);
        assert_eq!(options.exclude, ["x"]);
        assert_eq!(options.profile, [RegistryProfile::Identity]);
        let other = filled(&["--adapter", "./other", "--adapter-chain", "svm"]);
        assert_eq!(other.adapter.as_deref(), Some("./other"));
        assert_eq!(other.adapter_chain, Some(Chain::Svm));
    }

    #[test]
    fn what_is_wrong_is_named_with_its_place() {
        for (text, words) in [
            ("{", "EOF while parsing"),
            ("{} {}", "trailing characters"),
            (r#"{"backend": []}"#, "unknown field `backend`"),
            (
                r#"{"backends": ["besu"]}"#,
                "backends[0]: unknown variant `besu`",
            ),
            (r#"{"rules": ["R99"]}"#, "rules[0]: "),
            (r#"{"adapter": {"command": "x"}}"#, "missing field `chain`"),
            (
                r#"{"adapter": {"command": "x", "chain": "near"}}"#,
                "adapter.chain: ",
            ),
            (r#"{"exclude": ["a"], "exclude": []}"#, "exclude"),
        ] {
            let refused = parse(text).unwrap_err();
            assert!(refused.contains(words), "{text}: {refused}");
        }
    }

    #[test]
    fn the_committed_schema_is_that_of_the_type() {
        let schema = schemars::schema_for!(Config);
        let text = format!("{:#}\n", schema.as_value());
        if env::var_os("CONCORD_BLESS").is_some() {
            let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("concord.schema.json");
            fs::write(path, &text).unwrap();
        }
        assert_eq!(
            SCHEMA, text,
            "run with CONCORD_BLESS=1, read the difference, and compile again"
        );
        let validator = jsonschema::validator_for(schema.as_value()).unwrap();
        let example: serde_json::Value = serde_json::from_str(TEXT).unwrap();
        assert!(validator.is_valid(&example));
        assert!(!validator.is_valid(&serde_json::json!({"backend": []})));
    }
}
