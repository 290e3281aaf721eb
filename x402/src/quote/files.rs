use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

use async_trait::async_trait;
use concord_chain::fetch::{FetchError, Fetcher};
use concord_files::{RegistrationFile, UriKind, decode_uri, parse_registration};

use crate::verify::{FileError, RegistrationFiles};

/// How long a file is kept: X402's bound for caches is 24 hours (R30).
const KEPT_FOR: Duration = Duration::from_secs(60 * 60);
/// Files that are kept.
const KEPT_MAX: usize = 256;

/// Registration files behind `data:`, `https:` and `ipfs:` URIs, kept for an hour.
pub struct FetchedFiles {
    fetcher: Fetcher,
    kept: Mutex<HashMap<String, (Instant, RegistrationFile)>>,
}

impl FetchedFiles {
    /// Reads files with a fetcher.
    #[must_use]
    pub fn new(fetcher: Fetcher) -> Self {
        let kept = Mutex::default();
        Self { fetcher, kept }
    }

    /// Fetches `/.well-known/agent-registration.json`, whose host may not change (R43).
    ///
    /// # Errors
    /// [`FileError`].
    pub async fn proof(&self, origin: &super::Origin) -> Result<RegistrationFile, FileError> {
        let found = self
            .fetcher
            .fetch(&origin.proof_url())
            .await
            .map_err(|error| match error {
                // the host answers that it has no proof
                FetchError::Status {
                    status: 404 | 410, ..
                } => FileError::Malformed(error.to_string()),
                _ => of_fetch(error),
            })?;
        if found.host.as_deref() != Some(origin.host()) {
            let why = format!("{} redirects to another host (R43)", origin.host());
            return Err(FileError::Malformed(why));
        }
        parse(&found.bytes)
    }

    async fn read(&self, uri: &str) -> Result<RegistrationFile, FileError> {
        let malformed = |error: concord_files::Error| FileError::Malformed(error.to_string());
        match UriKind::of(uri) {
            UriKind::Data | UriKind::InlineJson => {
                parse(&decode_uri(uri).map_err(malformed)?.bytes)
            }
            _ => parse(&self.fetcher.fetch(uri).await.map_err(of_fetch)?.bytes),
        }
    }
}

fn parse(bytes: &[u8]) -> Result<RegistrationFile, FileError> {
    let parsed = parse_registration(bytes);
    let parsed = parsed.map_err(|error| FileError::Malformed(error.to_string()))?;
    Ok(parsed.into_view())
}

fn of_fetch(error: FetchError) -> FileError {
    match &error {
        FetchError::ContentMismatch { .. } => FileError::Mismatch(error.to_string()),
        _ if error.is_refusal() => FileError::Malformed(error.to_string()),
        _ => FileError::Unavailable(error.to_string()),
    }
}

#[async_trait]
impl RegistrationFiles for FetchedFiles {
    async fn registration(&self, uri: &str, fresh: bool) -> Result<RegistrationFile, FileError> {
        let kept = |uri: &str| {
            let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
            let found = kept.get(uri).filter(|(at, _)| at.elapsed() < KEPT_FOR);
            found.map(|(_, file)| file.clone())
        };
        if let Some(file) = kept(uri).filter(|_| !fresh) {
            return Ok(file);
        }
        let file = self.read(uri).await?;
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() >= KEPT_MAX {
            kept.clear();
        }
        kept.insert(uri.to_owned(), (Instant::now(), file.clone()));
        Ok(file)
    }
}
