//! The commands of docs/DEPLOYING.md that start with a script are run as they are written there, with the
//! `concord` of this build, and print what is written there. `CONCORD_BLESS=1` writes their output into
//! the document anew. Needs what `scripts/build` makes, and anvil on PATH or in CONCORD_ANVIL.
mod console;
mod evm;
mod svm;

use crate::invocation::{answer, clone_root, concord};
use console::{Example, parse, print};
use std::{
    env, fs,
    path::{Path, PathBuf},
    process::Command,
    sync::{Mutex, PoisonError},
};

/// A way to run a script's commands on some chain, and what of their output is the same every time.
struct Walk<'a> {
    wrapper: &'static str,
    chain: &'a [(&'static str, String)],
    deployments: PathBuf,
    masked: &'a dyn Fn(&[String]) -> Vec<String>,
}

impl Walk<'_> {
    /// Every command of the wrapper is in the document, and prints what the document says.
    fn assert_prints_what_the_document_says(&self) {
        let mut outputs = Vec::new();
        for example in self.examples(&mut parse(&document())) {
            let output = self.run(&example.command);
            if !is_blessed() {
                let told = self.masked(&example.output);
                assert_eq!(self.masked(&output), told, "{}", example.command);
            }
            outputs.push((example.command.clone(), output));
        }
        for command in ["plan", "apply", "resume", "verify", "status", "smoke"] {
            let whole = format!("{} {command}", self.wrapper);
            let is_shown = outputs.iter().any(|(shown, _)| shown.starts_with(&whole));
            assert!(is_shown, "{whole} is not in the document");
        }
        if is_blessed() {
            self.bless(outputs);
        }
    }

    fn examples<'a>(&self, parts: &'a mut [(String, Vec<Example>)]) -> Vec<&'a mut Example> {
        let examples = parts.iter_mut().flat_map(|(_, examples)| examples);
        examples
            .filter(|it| it.command.starts_with(self.wrapper))
            .collect()
    }

    /// Stdout, and what the program itself says on stderr; progress is left out.
    fn run(&self, command: &str) -> Vec<String> {
        let ran = answer(
            Command::new("bash")
                .args(["-c", command])
                .current_dir(clone_root())
                .envs(self.chain.iter().map(|(name, value)| (name, value)))
                .env("CONCORD_DEPLOYMENTS", &self.deployments)
                .env("CONCORD_BINARY", concord(&[]).get_program()),
        );
        let of_concord = |line: &&str| line.starts_with("concord: ");
        let said: Vec<_> = ran.stderr.lines().filter(of_concord).collect();
        assert_eq!(ran.code == 0, said.is_empty(), "{command}: {}", ran.stderr);
        (ran.stdout.lines().chain(said))
            .map(|line| line.replace(self.deployments.to_str().unwrap(), "deployments"))
            .collect()
    }

    /// The document was written at another commit.
    fn masked(&self, lines: &[String]) -> Vec<String> {
        let masked = self.masked;
        let without = |line: String| {
            if line.starts_with("git commit: ") {
                "git commit: …".to_owned()
            } else {
                line
            }
        };
        masked(lines).into_iter().map(without).collect()
    }

    fn bless(&self, outputs: Vec<(String, Vec<String>)>) {
        static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
        let _guard = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
        let mut parts = parse(&document());
        for (example, (_, output)) in self.examples(&mut parts).into_iter().zip(outputs) {
            example.output = output;
        }
        fs::write(path(), print(&parts)).unwrap();
    }
}

fn is_blessed() -> bool {
    env::var_os("CONCORD_BLESS").is_some()
}

fn path() -> PathBuf {
    clone_root().join("docs/DEPLOYING.md")
}

fn document() -> String {
    fs::read_to_string(path()).unwrap()
}

fn text(path: &Path) -> String {
    path.to_str().unwrap().to_owned()
}
