//! `concord_embed::files!()`: the files that the binary `concord` carries, so that it works without a clone.
//!
//! It is a macro, used in the binary alone, and not a build script of the command: after a change of a scenario only
//! the binary is linked again.
use proc_macro::TokenStream;
use std::{
    env, fs, io,
    path::{Path, PathBuf},
    process::Command,
};

/// Folders that every build carries.
const SOURCES: [&str; 2] = ["tests/scenarios", "tests/vectors"];
/// What writes the vectors, and what it installs.
const GENERATORS: &str = "tests/vectors/generate";
/// What the backends deploy: carried by a release build if it is there, and by any build with CONCORD_EMBED.
const CONTRACTS: [&str; 4] = [
    "contracts/out/IdentityRegistry.sol/IdentityRegistry.json",
    "contracts/out/AuthorizedReputationRegistry.sol/AuthorizedReputationRegistry.json",
    "contracts/out/ReputationRegistry.sol/ReputationRegistry.json",
    "contracts/out/ValidationRegistry.sol/ValidationRegistry.json",
];
/// The program, and the note on its build.
const PROGRAM: [&str; 2] = [
    "target/deploy/agent_registry.so",
    "target/deploy/agent_registry.build.json",
];
/// The page that verifies bundles in a browser, which `concord index` serves.
const PAGE: [&str; 1] = ["target/explain.html"];
/// Set to anything: the built files are carried by a debug build too, and must be there.
const EMBED: &str = "CONCORD_EMBED";

/// Expands to `(&[(path in the clone, bytes)], commit)`, of the types `&[(&str, &[u8])]` and `Option<&str>`.
/// The commit has `-dirty` behind it if the tree had other changes; it is `None` outside a git clone, and in a
/// build without the built files.
#[proc_macro]
pub fn files(_: TokenStream) -> TokenStream {
    let expansion = expansion().unwrap_or_else(|reason| format!("compile_error!({reason:?})"));
    expansion.parse().expect("literals of strings and paths")
}

fn expansion() -> Result<String, String> {
    let package = env::var_os("CARGO_MANIFEST_DIR").ok_or("CARGO_MANIFEST_DIR is not set")?;
    let root = Path::new(&package)
        .parent()
        .ok_or("concord is in no clone")?;
    let is_wanted = env::var_os(EMBED).is_some_and(|it| !it.is_empty());
    let is_release = env!("CONCORD_PROFILE") == "release";
    let mut files = Vec::new();
    for folder in SOURCES {
        collect(root, Path::new(folder), &mut files)
            .map_err(|fault| format!("{folder} cannot be read: {fault}"))?;
    }
    files.sort_by(|one, other| one.as_os_str().cmp(other.as_os_str()));
    if is_wanted || is_release {
        files.extend(built(root, &CONTRACTS, is_wanted)?);
        files.extend(built(root, &PROGRAM, is_wanted)?);
        files.extend(built(root, &PAGE, is_wanted)?);
    }
    let commit = (is_wanted || is_release).then(|| commit(root)).flatten();
    let entries: String = files.iter().map(|file| entry(root, file)).collect();
    // Naming the variable makes cargo compile the binary again when it changes.
    Ok(format!(
        "{{ const _: ::core::option::Option<&str> = ::core::option_env!({EMBED:?}); (&[{entries}] as &[(&str, &[u8])], {commit}) }}",
        commit = match commit {
            Some(commit) => format!("::core::option::Option::Some({commit:?})"),
            None => "::core::option::Option::None".to_owned(),
        }
    ))
}

fn entry(root: &Path, file: &Path) -> String {
    let name = file.display().to_string();
    let path = root.join(file).display().to_string();
    format!("({name:?}, ::core::include_bytes!({path:?}) as &[u8]),")
}

/// Every JSON file of a folder and of its folders, and what describes them; paths are from the root.
fn collect(root: &Path, folder: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(root.join(folder))? {
        let entry = entry?;
        let path = folder.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            if path != Path::new(GENERATORS) {
                collect(root, &path, files)?;
            }
        } else if path
            .extension()
            .is_some_and(|it| it == "json" || it == "md")
        {
            files.push(path);
        }
    }
    Ok(())
}

/// All of these files, or none.
fn built(root: &Path, files: &[&str], is_wanted: bool) -> Result<Vec<PathBuf>, String> {
    match files.iter().find(|file| !root.join(file).is_file()) {
        Some(missing) if is_wanted => Err(format!(
            "{EMBED} is set, and {missing} is not there: run scripts/build contracts program page first"
        )),
        Some(_) => Ok(Vec::new()),
        None => Ok(files.iter().map(PathBuf::from).collect()),
    }
}

/// The commit that is checked out, as `scripts/build-program` has it.
fn commit(root: &Path) -> Option<String> {
    let top = git(root, &["rev-parse", "--show-toplevel"])?;
    if fs::canonicalize(top).ok()? != fs::canonicalize(root).ok()? {
        return None;
    }
    let commit = git(root, &["rev-parse", "--verify", "HEAD"])?;
    let status = ["status", "--porcelain", "--", ".", ":(exclude)deployments"];
    let is_clean = git(root, &status)?.is_empty();
    Some(commit + if is_clean { "" } else { "-dirty" })
}

fn git(root: &Path, arguments: &[&str]) -> Option<String> {
    let mut command = Command::new("git");
    let output = command.arg("-C").arg(root).args(arguments).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim_end().to_owned())
}
