//! `concord init`: an adapter to start from, the options of `conform` for it, and a workflow.
use super::{config, embedded::Embedded, error::CliError, print, unpack};
use clap::{Args, ValueEnum};
use concord_harness::{backend::adapter, report::plain};
use serde_json::json;
use std::path::{Path, PathBuf};

const HELP: &str = "Examples:
  concord init my-registry
  concord init --language rust .

Exit codes:
  0  the files are written
  2  the command line is wrong, a file exists already, or one cannot be written";

const WORKFLOW: &str = include_str!("../starters/github.yml");
const REPOSITORY: &str = env!("CARGO_PKG_REPOSITORY");

/// Writes a starting point for a registry of yours: an adapter, concord.json, and a workflow that
/// tests the registry in GitHub Actions.
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub struct Init {
    /// The language of the adapter.
    #[arg(long, value_enum, default_value_t = Language::Typescript)]
    language: Language,
    /// The folder to write to. It is made if it is not there; no file in it is overwritten.
    #[arg(value_name = "DIR")]
    folder: PathBuf,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Language {
    Typescript,
    Python,
    Rust,
}

macro_rules! example {
    ($path:literal) => {
        include_str!(concat!("../../tests/adapters/", $path))
    };
}

/// What there is for a language: the examples that the project itself tests.
struct Starter {
    files: &'static [(&'static str, &'static str)],
    /// What makes a program of the files, in a shell.
    build: Option<&'static str>,
    /// What starts the program.
    command: &'static str,
}

const TYPESCRIPT: Starter = Starter {
    files: &[
        ("identity.ts", example!("typescript/identity.ts")),
        ("package.json", example!("typescript/package.json")),
        (
            "package-lock.json",
            example!("typescript/package-lock.json"),
        ),
        ("tsconfig.json", example!("typescript/tsconfig.json")),
    ],
    build: Some("npm ci && npm run build"),
    command: "node dist/identity.js",
};
const PYTHON: Starter = Starter {
    files: &[("identity.py", example!("identity.py"))],
    build: None,
    command: "python3 identity.py",
};
const RUST: Starter = Starter {
    files: &[
        ("Cargo.toml", include_str!("../starters/manifest.toml")),
        ("src/main.rs", example!("rust/main.rs")),
    ],
    build: Some("cargo build"),
    command: "target/debug/identity-adapter",
};

/// `concord init`: the exit code.
pub(super) fn init(options: &Init) -> Result<u8, CliError> {
    let starter = match options.language {
        Language::Typescript => TYPESCRIPT,
        Language::Python => PYTHON,
        Language::Rust => RUST,
    };
    let files = starter.all_files();
    let folder = &options.folder;
    for (name, _) in &files {
        let path = folder.join(name);
        if path.symlink_metadata().is_ok() {
            return Err(CliError::Exists(path));
        }
    }
    let bytes: Vec<_> = files
        .iter()
        .map(|(name, text)| (*name, text.as_bytes()))
        .collect();
    unpack::write(folder, &bytes).map_err(|fault| CliError::File {
        path: folder.clone(),
        fault,
    })?;
    let names = files.iter().map(|(name, _)| folder.join(name));
    let names: String = names.map(|it| format!("{}\n", it.display())).collect();
    print(plain(&(names + &starter.next_steps(folder))).as_bytes())
}

impl Starter {
    fn all_files(&self) -> Vec<(&'static str, String)> {
        let examples = self
            .files
            .iter()
            .map(|(name, text)| (*name, (*text).to_owned()));
        let others = [
            ("schema.json", adapter::SCHEMA.to_owned()),
            (config::NAME, self.config()),
            ("concord.schema.json", config::SCHEMA.to_owned()),
            (".github/workflows/concord.yml", self.workflow()),
        ];
        examples.chain(others).collect()
    }

    fn config(&self) -> String {
        let config = json!({
            "$schema": "./concord.schema.json",
            "adapter": {"command": self.command, "chain": "evm"},
            "backends": ["none"],
        });
        format!("{config:#}\n")
    }

    fn workflow(&self) -> String {
        let source = match Embedded::installed().commit() {
            Some(commit) if !commit.ends_with("-dirty") => format!("{REPOSITORY} --rev {commit}"),
            _ => REPOSITORY.to_owned(),
        };
        let build = self.build.map(|it| format!("      - run: {it}\n"));
        WORKFLOW
            .replace("REPOSITORY", &source)
            .replace("      - run: BUILD\n", &build.unwrap_or_default())
            .replace("COMMAND", self.command)
    }

    fn next_steps(&self, folder: &Path) -> String {
        let build = self.build.map(|it| format!("  {it}\n")).unwrap_or_default();
        format!(
            "\nNext:\n  cd {}\n{build}  concord adapter check --chain evm '{}'\n  concord conform\n\nThe second tests the example with the options of {}: exit code 4, since it declares one profile of four.\nThen put your registry in its place. The protocol: {REPOSITORY}/blob/main/docs/ADAPTER.md\n",
            folder.display(),
            self.command,
            config::NAME,
        )
    }
}
