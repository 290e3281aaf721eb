use concord_registry::{event::AccountId, evm, svm};
use std::{
    fs,
    path::{Path, PathBuf},
};

/// R48: whose feedback counts. There is no default: a summary over everyone is open to anyone who
/// makes accounts, so it has to be asked for by name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reviewers {
    /// These. As in the registries' `getSummary`, one that is listed twice counts twice.
    Listed(Vec<AccountId>),
    /// Those in a file: one address a line, and `#` begins a comment.
    List(PathBuf),
    /// Everyone who ever gave feedback.
    Everyone,
}

/// Why a set of reviewers cannot be used.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum ReviewersError {
    /// `clientAddresses` must not be empty (BP).
    #[error("no reviewer is listed: name some, or ask for everyone")]
    Empty,
    /// The file cannot be read.
    #[error("{}: {reason}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// A line is not an address.
    #[error("{}:{line}: {text:?} is not an address of this chain", path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// Counts from 1.
        line: usize,
        /// The line.
        text: String,
    },
}

impl Reviewers {
    /// Returns the reviewers; `None` for everyone.
    ///
    /// # Errors
    /// [`ReviewersError`].
    pub fn accounts(&self) -> Result<Option<Vec<AccountId>>, ReviewersError> {
        let listed = match self {
            Self::Everyone => return Ok(None),
            Self::Listed(listed) => listed.clone(),
            Self::List(path) => read(path)?,
        };
        match listed.is_empty() {
            true => Err(ReviewersError::Empty),
            false => Ok(Some(listed)),
        }
    }
}

fn read(path: &Path) -> Result<Vec<AccountId>, ReviewersError> {
    let text = fs::read_to_string(path).map_err(|error| ReviewersError::Unreadable {
        path: path.to_owned(),
        reason: error.to_string(),
    })?;
    let mut accounts = Vec::new();
    for (line, text) in (1..).zip(text.lines()) {
        let text = text.split('#').next().unwrap_or_default().trim();
        if text.is_empty() {
            continue;
        }
        let account = parse_account(text).ok_or_else(|| ReviewersError::Malformed {
            path: path.to_owned(),
            line,
            text: text.to_owned(),
        })?;
        accounts.push(account);
    }
    Ok(accounts)
}

/// Reads an address of either chain; `None` if it is of neither.
#[must_use]
pub fn parse_account(text: &str) -> Option<AccountId> {
    match text.starts_with("0x") {
        true => text.parse::<evm::Address>().ok().map(Into::into),
        false => text.parse::<svm::Address>().ok().map(Into::into),
    }
}
