//! The keys of `concord x402 serve`, which a running server reads again at SIGHUP (R30: keys overlap, and change without a
//! restart).

use std::{path::PathBuf, sync::Arc};

use tokio::signal::unix::{Signal, SignalKind, signal};

use super::{CliError, config::read_json, serve_config::ServeConfig};
use crate::server::SigningKeys;

/// Keys, which are read again whenever the process gets SIGHUP.
pub(super) struct Rotation {
    hangups: Signal,
    path: PathBuf,
    keys: Arc<SigningKeys>,
}

impl Rotation {
    /// Takes the keys of a configuration, read from a path. From here on, SIGHUP does not end the process.
    pub async fn start(path: PathBuf, config: &ServeConfig) -> Result<Self, CliError> {
        let rotation = Self {
            hangups: signal(SignalKind::hangup())?,
            path,
            keys: Arc::default(),
        };
        rotation.take(config).await?;
        Ok(rotation)
    }

    /// The keys, as they are at any time.
    pub fn keys(&self) -> Arc<SigningKeys> {
        Arc::clone(&self.keys)
    }

    /// Rotates until the process ends, and logs each result.
    pub async fn run(mut self) {
        while self.hangups.recv().await.is_some() {
            match self.rotate().await {
                Ok(()) => tracing::info!("the signing keys were read again"),
                Err(error) => tracing::error!("the signing keys stay as they were: {error}"),
            }
        }
    }

    /// Takes the keys of the file as it is now, and nothing else of it.
    async fn rotate(&self) -> Result<(), CliError> {
        let config = read_json(&self.path)?;
        self.take(&config).await
    }

    /// If one is refused, all old ones stay.
    async fn take(&self, config: &ServeConfig) -> Result<(), CliError> {
        let path = self.path.display();
        let malformed =
            |field: &str, words: &str| CliError::usage(format!("{path}: {field}: {words}"));
        let keys = config.signing_keys();
        let keys = keys.map_err(|(field, words)| malformed(&field, &words))?;
        let replaced = self.keys.replace(keys).await;
        replaced.map_err(|error| malformed("signers", &error.to_string()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};
    use solana_keypair::Keypair;
    use std::fs;

    /// A configuration in a folder, with a keypair file for each seed.
    fn write(folder: &std::path::Path, windows: &[(u8, u64, Option<u64>)]) -> PathBuf {
        let signer = |(seed, from, until): &(u8, u64, Option<u64>)| {
            let path = folder.join(format!("{seed}.json"));
            let keypair = Keypair::new_from_array([*seed; 32]).to_bytes().to_vec();
            fs::write(&path, json!(keypair).to_string()).unwrap();
            json!({ "keypair": path, "validFrom": from, "validUntil": until })
        };
        let signers: Vec<Value> = windows.iter().map(signer).collect();
        let config = json!({
            "listen": "127.0.0.1:0", "publicUrl": "http://agent.example", "facilitator": "http://127.0.0.1:1",
            "upstream": "http://127.0.0.1:1", "offers": [], "registrations": [], "signers": signers,
        });
        let path = folder.join("shop.json");
        fs::write(&path, config.to_string()).unwrap();
        path
    }

    async fn started(path: PathBuf) -> Rotation {
        let config = read_json(&path).unwrap();
        Rotation::start(path, &config).await.unwrap()
    }

    fn windows(keys: &SigningKeys) -> Vec<(u64, Option<u64>)> {
        let published = keys.published();
        let windows = published.iter().map(|it| (it.valid_from, it.valid_until));
        windows.collect()
    }

    #[tokio::test]
    async fn r30_the_keys_of_the_file_as_it_is_now_replace_the_old_ones() {
        let folder = tempfile::tempdir().unwrap();
        let path = write(folder.path(), &[(1, 10, None)]);
        let rotation = started(path).await;
        let keys = rotation.keys();
        assert_eq!(windows(&keys), [(10, None)]);
        let first = keys.at(25, None).unwrap().signer.public_key();

        write(folder.path(), &[(1, 10, Some(30)), (2, 20, None)]);
        rotation.rotate().await.unwrap();
        assert_eq!(windows(&keys), [(10, Some(30)), (20, None)]);
        assert_eq!(keys.at(15, None).unwrap().signer.public_key(), first);
        assert_ne!(keys.at(25, None).unwrap().signer.public_key(), first);
    }

    #[tokio::test]
    async fn r30_keys_that_are_refused_leave_the_old_ones() {
        let folder = tempfile::tempdir().unwrap();
        let path = write(folder.path(), &[(1, 10, None)]);
        let rotation = started(path.clone()).await;

        write(folder.path(), &[(2, 20, Some(20))]);
        let refused = rotation.rotate().await.unwrap_err().to_string();
        assert!(refused.contains("shop.json: signers: "), "{refused}");
        write(folder.path(), &[(2, 20, None)]);
        fs::remove_file(folder.path().join("2.json")).unwrap();
        let refused = rotation.rotate().await.unwrap_err().to_string();
        assert!(refused.contains("shop.json: signers[0]: "), "{refused}");
        fs::write(&path, "{").unwrap();
        rotation.rotate().await.unwrap_err();
        assert_eq!(windows(&rotation.keys()), [(10, None)]);
    }
}
