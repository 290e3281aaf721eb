//! Where feedback files are kept.

use std::path::{Path, PathBuf};

use async_trait::async_trait;
use concord_canonical::hash::sha256;
use concord_chain::{ChainError, atomic_file};
use concord_files::FILE_MAX;

/// The lower-case base32 alphabet of RFC 4648.
const BASE32: &[u8; 32] = b"abcdefghijklmnopqrstuvwxyz234567";
/// CID version 1, raw block, SHA-256 of 32 bytes.
const CID_V1_RAW_SHA256: [u8; 4] = [1, 0x55, 0x12, 32];

/// Keeps feedback files under URIs that are known before anything is stored.
#[async_trait]
pub trait FileStore: Send + Sync {
    /// The URI under which a file will be found.
    fn uri(&self, file: &[u8]) -> String;

    /// Stores a file. Storing the same bytes again changes nothing.
    ///
    /// # Errors
    /// [`ChainError::File`], or what the store has in its place. Refuses more than [`FILE_MAX`] bytes, which no reader takes.
    async fn store(&self, file: &[u8]) -> Result<(), ChainError>;
}

/// A folder with files that are named by their CID. Any IPFS node or web server can publish it.
#[derive(Clone, Debug)]
pub struct FileFolder {
    folder: PathBuf,
    /// What the CID follows in the URI.
    base: String,
}

impl FileFolder {
    /// A folder whose files are addressed as `ipfs://<CID>`.
    #[must_use]
    pub fn ipfs(folder: &Path) -> Self {
        Self::served_at(folder, "ipfs://")
    }

    /// A folder that a web server publishes under a URL: files are addressed as `<base><CID>`.
    #[must_use]
    pub fn served_at(folder: &Path, base: &str) -> Self {
        Self {
            folder: folder.to_owned(),
            base: base.to_owned(),
        }
    }

    /// The path of a file.
    #[must_use]
    pub fn path(&self, file: &[u8]) -> PathBuf {
        self.folder.join(cid_of(file))
    }
}

#[async_trait]
impl FileStore for FileFolder {
    fn uri(&self, file: &[u8]) -> String {
        format!("{}{}", self.base, cid_of(file))
    }

    async fn store(&self, file: &[u8]) -> Result<(), ChainError> {
        let path = self.path(file);
        if file.len() > FILE_MAX {
            let length = file.len();
            let reason = format!("the file has {length} bytes, and at most {FILE_MAX} are read");
            return Err(atomic_file::unusable(&path, reason));
        }
        atomic_file::write_together(&path, file)
    }
}

/// The CID of a file that is one raw block: version 1, SHA-256, in base32. Feedback files fit one block.
#[must_use]
pub fn cid_of(file: &[u8]) -> String {
    let mut bytes = CID_V1_RAW_SHA256.to_vec();
    bytes.extend(sha256(file));
    let mut text = String::from("b");
    let (mut bits, mut count) = (0u32, 0);
    for byte in bytes {
        bits = bits << 8 | u32::from(byte);
        count += 8;
        while count >= 5 {
            count -= 5;
            text.push(letter(bits >> count));
            bits &= (1 << count) - 1;
        }
    }
    if count > 0 {
        text.push(letter(bits << (5 - count)));
    }
    text
}

fn letter(bits: u32) -> char {
    char::from(BASE32[(bits & 31) as usize])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_file_that_no_reader_takes_is_not_stored() {
        let at = tempfile::tempdir().unwrap();
        let folder = FileFolder::ipfs(&at.path().join("files"));
        let [longest, too_long] = [1_048_576, 1_048_577].map(|length| vec![b' '; length]);
        let refused = folder.store(&too_long).await.unwrap_err().to_string();
        assert!(
            refused.contains("1048577 bytes, and at most 1048576"),
            "{refused}"
        );
        assert!(!at.path().join("files").exists(), "nothing is written");
        folder.store(&longest).await.unwrap();
        assert_eq!(std::fs::read(folder.path(&longest)).unwrap(), longest);
    }

    /// By Python: `b32encode(bytes([1, 0x55, 0x12, 32]) + sha256(file).digest())`.
    #[test]
    fn names_a_file_by_its_cid() {
        for (file, cid) in [
            (
                "",
                "bafkreihdwdcefgh4dqkjv67uzcmw7ojee6xedzdetojuzjevtenxquvyku",
            ),
            (
                "hello world",
                "bafkreifzjut3te2nhyekklss27nh3k72ysco7y32koao5eei66wof36n5e",
            ),
        ] {
            assert_eq!(cid_of(file.as_bytes()), cid);
        }
    }
}
