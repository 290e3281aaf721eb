//! What the binary carries, so that it works without a clone: scenarios, vectors, contracts, program, and the page that
//! verifies bundles.
use super::{error::CliError, unpack};
use concord_canonical::hash::sha256;
use std::{fmt, path::PathBuf, sync::OnceLock};

/// Files by their paths in a clone.
pub type Files = &'static [(&'static str, &'static [u8])];

static EMBEDDED: OnceLock<Embedded> = OnceLock::new();
/// Where they are on disk, once this process has looked.
static FOLDER: OnceLock<PathBuf> = OnceLock::new();

/// The files that `concord_embed::files!()` put into the binary.
#[derive(Clone, Copy, Debug, Default)]
pub struct Embedded {
    files: Files,
    /// The commit that the built files were embedded at.
    commit: Option<&'static str>,
}

/// A group of files that is carried as a whole or not at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    Scenarios,
    Vectors,
    Contracts,
    Program,
    Page,
}

impl Part {
    pub const ALL: [Self; 5] = [
        Self::Scenarios,
        Self::Vectors,
        Self::Contracts,
        Self::Program,
        Self::Page,
    ];

    pub const fn name(self) -> &'static str {
        match self {
            Self::Scenarios => "scenarios",
            Self::Vectors => "vectors",
            Self::Contracts => "contracts",
            Self::Program => "program",
            Self::Page => "page",
        }
    }

    /// What the paths of its files in a clone begin with.
    pub const fn place(self) -> &'static str {
        match self {
            Self::Scenarios => "tests/scenarios/",
            Self::Vectors => "tests/vectors/",
            Self::Contracts => "contracts/out/",
            Self::Program => "target/deploy/",
            Self::Page => "target/explain.html",
        }
    }
}

/// Identifies a part of this binary, so that two binaries can be compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Content {
    pub count: usize,
    /// Of each file's path, a zero byte, its length (u64 BE) and its bytes, one after another.
    pub sha256: [u8; 32],
}

impl fmt::Display for Content {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let files = if self.count == 1 { "file" } else { "files" };
        write!(
            f,
            "{} {files}, sha256 {}",
            self.count,
            hex::encode(self.sha256)
        )
    }
}

impl Embedded {
    /// Of the pair that `concord_embed::files!()` expands to.
    pub const fn new((files, commit): (Files, Option<&'static str>)) -> Self {
        Self { files, commit }
    }

    /// Makes these the files of this process. The first ones stay.
    pub(super) fn install(self) {
        let _ = EMBEDDED.set(self);
    }

    /// Those of this process; none if it did not install any.
    pub(super) fn installed() -> Self {
        EMBEDDED.get().copied().unwrap_or_default()
    }

    /// Returns what there is of a part; `None` if this build does not carry it.
    pub(super) fn content(self, part: Part) -> Option<Content> {
        let files: Vec<_> = self.of(part).collect();
        (!files.is_empty()).then(|| Content {
            count: files.len(),
            sha256: hash(files.iter().copied()),
        })
    }

    /// The files of a part, by their paths in a clone.
    pub(super) fn of(self, part: Part) -> impl Iterator<Item = (&'static str, &'static [u8])> {
        let files = self.files.iter().copied();
        files.filter(move |(name, _)| name.starts_with(part.place()))
    }

    /// The commit, where the build knows it and carries something built.
    pub(super) const fn commit(self) -> Option<&'static str> {
        self.commit
    }

    /// A folder in the user's cache, laid out as a clone, that has these files and no others.
    ///
    /// # Errors
    /// [`CliError::NoClone`] if there are none; [`CliError::NotUnpacked`].
    pub(super) fn folder(self) -> Result<PathBuf, CliError> {
        if self.files.is_empty() {
            return Err(CliError::NoClone);
        }
        if let Some(folder) = FOLDER.get() {
            return Ok(folder.clone());
        }
        let hash = hex::encode(hash(self.files.iter().copied()));
        let folder = unpack::folder(&hash[..16], self.files)?;
        Ok(FOLDER.get_or_init(|| folder).clone())
    }

    /// What `concord --version` prints.
    pub(super) fn version(self) -> String {
        let mut text = format!("concord {}\n", env!("CARGO_PKG_VERSION"));
        if let Some(commit) = self.commit {
            text += &format!("commit     {commit}\n");
        }
        for part in Part::ALL {
            let content = self.content(part);
            let content = content.map_or("not in this build".to_owned(), |it| it.to_string());
            text += &format!("{:10} {content}\n", part.name());
        }
        text
    }
}

fn hash<'a>(files: impl Iterator<Item = (&'a str, &'a [u8])>) -> [u8; 32] {
    let mut text = Vec::new();
    for (name, bytes) in files {
        text.extend(name.as_bytes());
        text.push(0);
        text.extend((bytes.len() as u64).to_be_bytes());
        text.extend(bytes);
    }
    sha256(&text)
}
