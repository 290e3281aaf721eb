//! What the project needs on a machine, and how to get what is not there. The pinned versions are
//! those of `scripts/bootstrap`; a test holds the two together.
use super::{
    AGREE, MISSING,
    arguments::Doctor,
    embedded::{Embedded, Part},
    error::CliError,
    files::{ARTIFACTS, PROGRAM, clone_root},
    provenance::first_line,
    show,
};
use serde::Serialize;
use serde_json::json;
use std::{
    path::{Path, PathBuf},
    process::Command,
};

const BOOTSTRAP: &str = "run scripts/bootstrap";
const BUILD: &str = "run scripts/build";
const INSTALL: &str = "run scripts/install in a clone";
const FOUNDRY: &str = "for --backend evm-anvil: install Foundry 1.7.1 (getfoundry.sh)";

/// What a version must be.
enum Wanted {
    Any,
    AtLeast(u64, u64),
    Exactly(&'static str),
}

struct Tool {
    name: &'static str,
    wanted: Wanted,
    advice: &'static str,
    place: Place,
}

/// Where a tool is looked for.
enum Place {
    /// On PATH, and where scripts/bootstrap puts Foundry's.
    Path,
    /// In the clone.
    Clone(&'static str),
    /// In the tool cache.
    Cache(&'static str),
}

const TOOLS: &[Tool] = &[
    tool(
        "rustc",
        Wanted::AtLeast(1, 95),
        "install Rust 1.95 or newer (rustup.rs)",
    ),
    tool(
        "cargo",
        Wanted::AtLeast(1, 95),
        "install Rust 1.95 or newer (rustup.rs)",
    ),
    tool(
        "node",
        Wanted::AtLeast(20, 0),
        "install Node.js 20 or newer (Debian: apt-get install nodejs)",
    ),
    tool(
        "npm",
        Wanted::Any,
        "install npm (Debian: apt-get install npm)",
    ),
    tool(
        "python3",
        Wanted::Any,
        "install Python 3 (Debian: apt-get install python3)",
    ),
    tool(
        "cc",
        Wanted::Any,
        "install a C compiler (Debian: apt-get install gcc)",
    ),
    tool(
        "make",
        Wanted::Any,
        "install make (Debian: apt-get install make)",
    ),
    tool(
        "perl",
        Wanted::Any,
        "install perl (Debian: apt-get install perl)",
    ),
    tool(
        "flock",
        Wanted::Any,
        "install flock (Debian: apt-get install util-linux)",
    ),
    ANVIL,
    tool("forge", Wanted::Exactly("1.7.1"), BOOTSTRAP),
    tool("cast", Wanted::Exactly("1.7.1"), BOOTSTRAP),
    tool("solc", Wanted::Exactly("0.8.37"), BOOTSTRAP).at(Place::Clone("scripts/toolchain/solc")),
];

const ANVIL: Tool = tool("anvil", Wanted::Exactly("1.7.1"), BOOTSTRAP);
/// Builds the program where Solana's own tools cannot.
const SBF_LINKER: Tool =
    tool("sbpf-linker", Wanted::Exactly("0.2.6"), BOOTSTRAP).at(Place::Cache("solana/sbpf-linker"));
const SBF_OFFICIAL: &str = "cargo-build-sbf";

const BUILT: &[(&str, &str)] = &[
    ("contracts/lib", BOOTSTRAP),
    (ARTIFACTS, BUILD),
    (PROGRAM, BUILD),
];

const fn tool(name: &'static str, wanted: Wanted, advice: &'static str) -> Tool {
    Tool {
        name,
        wanted,
        advice,
        place: Place::Path,
    }
}

/// What is known of one thing that the project needs.
#[derive(Serialize)]
struct Finding {
    name: String,
    state: State,
    /// Its version, or its path.
    found: Option<String>,
    wanted: Option<String>,
    /// What to do, if it is not there as it should be.
    advice: Option<&'static str>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum State {
    Ok,
    Missing,
    OtherVersion,
    /// Not there in the wanted version, and only one backend needs it.
    Optional,
}

/// `concord doctor`: 3 where something is missing.
pub(super) fn doctor(options: &Doctor) -> Result<u8, CliError> {
    let findings = match clone_root() {
        Some(_) => findings_in_clone(),
        None => findings_elsewhere(),
    };
    let is_well = findings.iter().all(|it| it.state.is_well());
    let report = if options.json {
        format!("{:#}\n", json!({ "ok": is_well, "findings": findings }))
    } else {
        findings.iter().map(Finding::line).collect()
    };
    show(report.as_bytes())?;
    Ok(if is_well { AGREE } else { MISSING })
}

/// What builds and tests everything.
fn findings_in_clone() -> Vec<Finding> {
    TOOLS
        .iter()
        .map(Tool::examine)
        .chain([examine_sbf_tools()])
        .chain(BUILT.iter().map(|(place, advice)| examine(place, advice)))
        .collect()
}

/// What the commands of an installed `concord` use: what it carries, and anvil for those who ask for it.
fn findings_elsewhere() -> Vec<Finding> {
    let mut anvil = Tool {
        advice: FOUNDRY,
        ..ANVIL
    }
    .examine();
    if anvil.state != State::Ok {
        anvil.state = State::Optional;
    }
    let parts = Part::ALL.into_iter().map(examine_part);
    parts.chain([anvil]).collect()
}

fn examine_part(part: Part) -> Finding {
    let content = Embedded::installed().content(part);
    Finding {
        name: format!("{} in this build", part.name()),
        state: match (content, part) {
            (Some(_), _) => State::Ok,
            (None, Part::Page) => State::Optional, // the explorer says what to run in its place
            (None, _) => State::Missing,
        },
        found: content.map(|it| it.to_string()),
        wanted: None,
        advice: content.is_none().then_some(INSTALL),
    }
}

impl State {
    /// Nothing need be done.
    const fn is_well(self) -> bool {
        matches!(self, Self::Ok | Self::Optional)
    }
}

impl Tool {
    const fn at(mut self, place: Place) -> Self {
        self.place = place;
        self
    }

    fn examine(&self) -> Finding {
        let version = self
            .places()
            .iter()
            .find_map(|place| version_of(Command::new(place).arg("--version")));
        let state = match &version {
            None => State::Missing,
            Some(version) if self.wanted.is_met_by(version) => State::Ok,
            Some(_) => State::OtherVersion,
        };
        Finding {
            name: self.name.to_owned(),
            state,
            found: version,
            wanted: self.wanted.words(),
            advice: (state != State::Ok).then_some(self.advice),
        }
    }

    fn places(&self) -> Vec<PathBuf> {
        let places = match self.place {
            Place::Path => {
                let ours = cache().map(|it| it.join("bin").join(self.name));
                [Some(PathBuf::from(self.name)), ours]
            }
            Place::Clone(place) => [clone_root().map(|it| it.join(place)), None],
            Place::Cache(place) => [cache().map(|it| it.join(place)), None],
        };
        places.into_iter().flatten().collect()
    }
}

/// The tool cache, as the scripts find it.
fn cache() -> Option<PathBuf> {
    std::env::var_os("CONCORD_CACHE")
        .map(PathBuf::from)
        .or_else(|| Some(clone_root()?.join(".cache")))
}

/// What builds the program: Solana's own tools where `scripts/toolchain/sbf/official` finds them
/// usable, else the linker that `scripts/bootstrap` builds.
fn examine_sbf_tools() -> Finding {
    let judge = clone_root().map(|it| it.join("scripts/toolchain/sbf/official"));
    let usable = first_line(Command::new(SBF_OFFICIAL).arg("--version"))
        .and_then(|_| first_line(&mut Command::new(judge?)));
    let Some(usable) = usable else {
        return SBF_LINKER.examine();
    };
    Finding {
        name: SBF_OFFICIAL.to_owned(),
        state: State::Ok,
        found: Some(usable),
        wanted: None,
        advice: None,
    }
}

/// The first line with a number in it: perl and solc say who they are first.
fn version_of(command: &mut Command) -> Option<String> {
    let output = command.output().ok().filter(|it| it.status.success())?;
    let text = String::from_utf8_lossy(&output.stdout);
    let mut lines = text.lines().map(str::trim);
    lines
        .find(|line| line.contains(|it: char| it.is_ascii_digit()))
        .map(str::to_owned)
}

impl Wanted {
    fn is_met_by(&self, version: &str) -> bool {
        match self {
            Self::Any => true,
            Self::AtLeast(major, minor) => numbers(version) >= Some((*major, *minor)),
            Self::Exactly(wanted) => version
                .split(|c: char| !(c.is_ascii_digit() || c == '.'))
                .any(|word| word == *wanted),
        }
    }

    fn words(&self) -> Option<String> {
        match self {
            Self::Any => None,
            Self::AtLeast(major, minor) => Some(format!("{major}.{minor} or newer")),
            Self::Exactly(version) => Some((*version).to_owned()),
        }
    }
}

/// The first two numbers in `rustc 1.95.0 (…)`.
fn numbers(version: &str) -> Option<(u64, u64)> {
    let from = version.find(|c: char| c.is_ascii_digit())?;
    let mut parts = version[from..].split(|c: char| !c.is_ascii_digit());
    let major = parts.next()?.parse().ok()?;
    Some((
        major,
        parts.next().and_then(|it| it.parse().ok()).unwrap_or(0),
    ))
}

fn examine(place: &str, advice: &'static str) -> Finding {
    let path = clone_root().map(|root| root.join(place));
    let is_there = path.as_deref().is_some_and(Path::exists);
    Finding {
        name: place.to_owned(),
        state: if is_there { State::Ok } else { State::Missing },
        found: is_there.then(|| place.to_owned()),
        wanted: None,
        advice: (!is_there).then_some(advice),
    }
}

impl Finding {
    fn line(&self) -> String {
        let Self { name, found, .. } = self;
        let found = found.as_deref().unwrap_or_default();
        let advice = self.advice.unwrap_or_default();
        let wanted = self.wanted.as_deref().unwrap_or_default();
        match self.state {
            State::Ok => format!("ok       {name:34} {found}\n"),
            State::Missing => format!("MISSING  {name:34} {advice}\n"),
            State::Optional => format!("optional {name:34} {advice}\n"),
            State::OtherVersion => {
                format!("OTHER    {name:34} {found}; {wanted} is wanted: {advice}\n")
            }
        }
    }
}
