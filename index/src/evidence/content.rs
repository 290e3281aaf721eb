use crate::table::{File, FileState, FileUse};
use concord_files::decode_uri_bytes;

/// What is known of the content behind a URI.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Content {
    /// Its bytes.
    Bytes {
        /// The bytes.
        bytes: Vec<u8>,
        /// Whether the URI proves them: it holds them, or it is a CID.
        is_proven: bool,
    },
    /// None, and why.
    None {
        /// Waiting or unavailable.
        state: FileUse,
        /// Why it is unavailable.
        reason: Option<String>,
    },
}

impl Content {
    /// The content of a URI that holds it, of the bytes that the chain has.
    #[must_use]
    pub fn inline(uri: &[u8]) -> Self {
        match decode_uri_bytes(uri) {
            Ok(inline) => Self::Bytes {
                bytes: inline.bytes,
                is_proven: true,
            },
            Err(error) => Self::None {
                state: FileUse::Unreadable,
                reason: Some(error.to_string()),
            },
        }
    }

    /// The content of a file that was to be fetched.
    #[must_use]
    pub fn of_file(file: Option<File>) -> Self {
        let waiting = Self::None {
            state: FileUse::Waiting,
            reason: None,
        };
        let Some(file) = file else {
            return waiting;
        };
        match (file.state, file.bytes) {
            (FileState::Fetched, Some(bytes)) => Self::Bytes {
                bytes,
                is_proven: file.host.is_none(),
            },
            (FileState::Wanted, _) => waiting,
            _ => Self::None {
                state: FileUse::Unavailable,
                reason: file.reason,
            },
        }
    }
}
