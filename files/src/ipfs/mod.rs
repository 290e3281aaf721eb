//! Files behind `ipfs:`, block by block: each block must hash to its CID, whichever host delivers it.
mod cid;
mod dag_pb;

pub use cid::Cid;

use crate::agent_uri::unescape;
use concord_canonical::hash::sha256;
use dag_pb::{DIRECTORY, FILE, PbNode, RAW_LEAF};

/// The largest block that IPFS exchanges, in bytes.
pub const BLOCK_MAX: usize = 2 << 20;
/// Blocks that one file and the path to it may take.
const BLOCKS_MAX: usize = 64;
/// The most bytes that those blocks may have beside the content: links and unknown fields.
const BESIDE_CONTENT: usize = 1 << 20;

/// Why a CID, a path or a block is not a file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum IpfsError {
    /// A CID that is malformed, or of another kind than SHA-256 over raw or dag-pb blocks.
    #[error("the CID {found:?} {reason}")]
    Cid {
        /// Its first characters.
        found: String,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// A part of the path that can name no entry.
    #[error("the path's part {found:?} {reason}")]
    Path {
        /// Its first characters.
        found: String,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// A block that does not hash to its CID.
    #[error("the block does not hash to {cid}")]
    Mismatch {
        /// The CID.
        cid: String,
    },
    /// A block that proves its CID and is not a file.
    #[error("the block {cid} {reason}")]
    Block {
        /// The CID.
        cid: String,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// A file that is longer than the limit, or whose blocks are by more than 1 MiB.
    #[error("the file is longer than {limit} bytes")]
    TooLong {
        /// In bytes.
        limit: usize,
    },
}

/// A file on its way: it names the block that it needs next, and takes it.
#[derive(Clone, Debug)]
pub struct IpfsFile {
    /// Entries of directories that are still to be found.
    names: Vec<String>,
    /// Blocks that are still to be read, the next one last.
    pending: Vec<Cid>,
    content: Vec<u8>,
    limit: usize,
    blocks_left: usize,
    /// Bytes of all blocks so far.
    taken: usize,
}

impl IpfsFile {
    /// Begins with `ipfs://CID` or `ipfs://CID/path`; the scheme may be missing. `limit`: bytes of the file.
    ///
    /// # Errors
    /// [`IpfsError::Cid`], [`IpfsError::Path`].
    pub fn new(uri: &str, limit: usize) -> Result<Self, IpfsError> {
        let rest = match uri.get(..5) {
            Some(scheme) if scheme.eq_ignore_ascii_case("ipfs:") => &uri[5..],
            _ => uri,
        };
        let path = rest.trim_start_matches('/');
        let path = path.strip_prefix("ipfs/").unwrap_or(path);
        let path = path.split(['?', '#']).next().unwrap_or_default();
        let names = path.split('/').filter(|name| !name.is_empty());
        let mut names: Vec<String> = names.map(decoded).rev().collect::<Result<_, _>>()?;
        let root = Cid::parse(&names.pop().unwrap_or_default())?;
        Ok(Self {
            names,
            pending: vec![root],
            content: Vec::new(),
            limit,
            blocks_left: BLOCKS_MAX,
            taken: 0,
        })
    }

    /// The block that is needed next; `None` if the file is complete.
    #[must_use]
    pub fn wanted(&self) -> Option<&Cid> {
        self.pending.last()
    }

    /// Takes the block that is wanted.
    ///
    /// # Errors
    /// [`IpfsError`]. After [`IpfsError::Mismatch`] another deliverer's block can still be taken.
    pub fn take(&mut self, block: &[u8]) -> Result<(), IpfsError> {
        let Some(cid) = self.pending.last() else {
            return Ok(());
        };
        if sha256(block) != *cid.digest() {
            return Err(IpfsError::Mismatch {
                cid: cid.to_string(),
            });
        }
        let cid = cid.clone();
        self.pending.pop();
        self.blocks_left = self.blocks_left.saturating_sub(1);
        self.taken = self.taken.saturating_add(block.len());
        match self.names.pop() {
            Some(name) => self.pending.push(entry(&cid, block, &name)?),
            None => self.append(&cid, block)?,
        }
        if let (Some(next), 0) = (self.pending.last(), self.blocks_left) {
            return Err(refused(next, "needs more than 64 blocks"));
        }
        let is_padded = self.taken > self.limit.saturating_add(BESIDE_CONTENT);
        if is_padded || self.content.len() > self.limit {
            Err(IpfsError::TooLong { limit: self.limit })
        } else {
            Ok(())
        }
    }

    /// The file's bytes. It must be complete.
    #[must_use]
    pub fn into_content(self) -> Vec<u8> {
        self.content
    }

    /// A part of the file; its leaves come in order.
    fn append(&mut self, cid: &Cid, block: &[u8]) -> Result<(), IpfsError> {
        if cid.is_raw() {
            self.content.extend_from_slice(block);
            return Ok(());
        }
        let node = PbNode::parse(block).ok_or_else(|| refused(cid, "is not dag-pb"))?;
        if !matches!(node.kind, Some(FILE | RAW_LEAF)) {
            return Err(refused(cid, "is not a file"));
        }
        self.content.extend_from_slice(node.data);
        for link in node.links.iter().rev() {
            let unusable = || refused(cid, "links to a block of another kind");
            self.pending
                .push(Cid::of_link(link.hash).ok_or_else(unusable)?);
        }
        Ok(())
    }
}

/// A part of a path without its escapes (RFC 3986 §2.1): `ipfs://CID/my%20agent.json` names the entry `my agent.json`.
fn decoded(part: &str) -> Result<String, IpfsError> {
    let refused = |reason| IpfsError::Path {
        found: part.chars().take(64).collect(),
        reason,
    };
    let (bytes, _) = unescape(part);
    let name = String::from_utf8(bytes).map_err(|_| refused("is not UTF-8"))?;
    if name.contains(['/', '\0']) {
        Err(refused("holds a slash or a NUL byte"))
    } else {
        Ok(name)
    }
}

/// The entry of a directory.
fn entry(directory: &Cid, block: &[u8], name: &str) -> Result<Cid, IpfsError> {
    if directory.is_raw() {
        return Err(refused(directory, "is not a directory"));
    }
    let node = PbNode::parse(block).ok_or_else(|| refused(directory, "is not dag-pb"))?;
    if node.kind != Some(DIRECTORY) {
        return Err(refused(directory, "is not a directory, or a sharded one"));
    }
    let found = node.links.iter().find(|link| link.name == name.as_bytes());
    let found = found.and_then(|link| Cid::of_link(link.hash));
    found.ok_or_else(|| refused(directory, "has no such entry"))
}

fn refused(cid: &Cid, reason: &'static str) -> IpfsError {
    IpfsError::Block {
        cid: cid.to_string(),
        reason,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `hello` as `ipfs add --cid-version=1 --raw-leaves` names it.
    const HELLO: &str = "ipfs://bafkreibm6jg3ux5qumhcn2b3flc3tyu6dmlb4xa7u5bf44yegnrjhc4yeq";

    fn read(uri: &str, blocks: &[&[u8]]) -> Result<Vec<u8>, IpfsError> {
        let mut file = IpfsFile::new(uri, 1 << 20)?;
        for block in blocks {
            file.take(block)?;
        }
        assert_eq!(file.wanted(), None, "it needs more blocks");
        Ok(file.into_content())
    }

    #[test]
    fn a_raw_block_is_the_file_and_no_other_block_is() {
        assert_eq!(read(HELLO, &[b"hello"]).unwrap(), b"hello");
        let other = read(HELLO, &[b"hellp"]).unwrap_err();
        assert!(matches!(other, IpfsError::Mismatch { .. }), "{other}");
    }

    /// By Python: `b32encode`, `hex` and `divmod` of the bytes of [`HELLO`]'s CID.
    #[test]
    fn a_cid_is_read_in_every_base_that_is_in_use() {
        for cid in [
            "BAFKREIBM6JG3UX5QUMHCN2B3FLC3TYU6DMLB4XA7U5BF44YEGNRJHC4YEQ",
            "f015512202cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824",
            "F015512202CF24DBA5FB0A30E26E83B2AC5B9E29E1B161E5C1FA7425E73043362938B9824",
            "k2cwue9rqdypmt3thjky14z1tk9fi9f0o5w7b3ofitdewlcf87lismqs",
            "K2CWUE9RQDYPMT3THJKY14Z1TK9FI9F0O5W7B3OFITDEWLCF87LISMQS",
            "%62afkreibm6jg3ux5qumhcn2b3flc3tyu6dmlb4xa7u5bf44yegnrjhc4yeq",
        ] {
            let found = read(&format!("ipfs://{cid}"), &[b"hello"]);
            assert_eq!(found.as_deref(), Ok(&b"hello"[..]), "{cid}");
            let other = read(&format!("ipfs://{cid}"), &[b"hellp"]);
            assert!(matches!(other, Err(IpfsError::Mismatch { .. })), "{cid}");
        }
    }

    #[test]
    fn escapes_in_a_path_are_read_and_name_one_entry() {
        let names = |uri: &str| IpfsFile::new(&format!("{HELLO}{uri}"), 1).map(|it| it.names);
        for (path, expected) in [
            ("/my%20agent.json", "my agent.json"),
            ("/%c3%A9?x", "é"),
            ("/a%3Fb%23c", "a?b#c"),
            ("/100%.json", "100%.json"), // begins no escape
            ("/%2520", "%20"),           // once
        ] {
            assert_eq!(names(path), Ok(vec![expected.to_owned()]), "{path}");
        }
        assert_eq!(names("/a/b"), Ok(vec!["b".to_owned(), "a".to_owned()]));
        for (path, reason) in [
            ("/%ff", "is not UTF-8"),
            ("/a%2Fb", "holds a slash or a NUL byte"),
            ("/a/%00", "holds a slash or a NUL byte"),
        ] {
            let error = names(path).unwrap_err();
            assert!(matches!(error, IpfsError::Path { .. }), "{path}: {error}");
            assert!(error.to_string().ends_with(reason), "{path}: {error}");
        }
    }

    #[test]
    fn a_raw_block_has_no_entries() {
        let error = read(&format!("{HELLO}/a.json"), &[b"hello"]).unwrap_err();
        assert!(error.to_string().ends_with("is not a directory"), "{error}");
    }

    #[test]
    fn what_is_longer_than_the_limit_is_refused() {
        let mut file = IpfsFile::new(HELLO, 4).unwrap();
        assert_eq!(file.take(b"hello"), Err(IpfsError::TooLong { limit: 4 }));
    }

    #[test]
    fn what_is_no_cid_is_refused_with_its_beginning() {
        for text in [
            "",
            "ipfs://",
            "ipfs://bafy",
            "Qm0",
            "ipfs://z!",
            "f01551",
            "f0155122",
            "F0g",
            "k!",
            "k02cwue9rqdypmt3thjky14z1tk9fi9f0o5w7b3ofitdewlcf87lismqs",
            "afkreibm6jg3ux5qumhcn2b3flc3tyu6dmlb4xa7u5bf44yegnrjhc4yeq",
        ] {
            let error = IpfsFile::new(text, 1).unwrap_err();
            assert!(matches!(error, IpfsError::Cid { .. }), "{text}: {error}");
        }
    }
}
