//! Whose feedback counts (R48).
use concord_files::parse_reviewer_list;
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
    /// Those of a chain in a reviewer list.
    List {
        /// The file.
        path: PathBuf,
        /// The chain, CAIP-2.
        network: String,
    },
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
    /// It is not a reviewer list.
    #[error("{}: {reason}", path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// The field, and what is wrong with it.
        reason: String,
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
            Self::List { path, network } => read(path, network)?,
        };
        if listed.is_empty() {
            Err(ReviewersError::Empty)
        } else {
            Ok(Some(listed))
        }
    }
}

fn read(path: &Path, network: &str) -> Result<Vec<AccountId>, ReviewersError> {
    let bytes = fs::read(path).map_err(|error| ReviewersError::Unreadable {
        path: path.to_owned(),
        reason: error.to_string(),
    })?;
    let malformed = |reason: String| ReviewersError::Malformed {
        path: path.to_owned(),
        reason,
    };
    let list = parse_reviewer_list(&bytes).map_err(|error| malformed(error.to_string()))?;
    // a signature that is there must hold
    (list.view().signer()).map_err(|error| malformed(error.to_string()))?;
    let addresses = list.view().addresses_on(network).into_iter();
    let accounts = addresses.map(|address| {
        parse_account(address).ok_or_else(|| malformed(format!("{address:?} is not an address")))
    });
    accounts.collect()
}

/// Reads an address of either chain; `None` if it is of neither.
#[must_use]
pub fn parse_account(text: &str) -> Option<AccountId> {
    if text.starts_with("0x") {
        text.parse::<evm::Address>().ok().map(Into::into)
    } else {
        text.parse::<svm::Address>().ok().map(Into::into)
    }
}
