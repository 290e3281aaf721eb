//! Files behind `ipfs:`, block by block from a gateway that need not be trusted: each block must hash to its
//! CID.
use super::{FetchError, http::body};
use alloy::transports::http::reqwest::{Client, Url, header::ACCEPT};
use concord_canonical::hash::sha256;

/// The largest block that IPFS exchanges, in bytes.
const BLOCK_MAX: usize = 2 << 20;
/// Blocks that one file or the path to it may take.
const BLOCKS_MAX: usize = 64;
/// Codecs and hash of CIDs (multicodec).
const RAW: u8 = 0x55;
const DAG_PB: u8 = 0x70;
const SHA2_256: u8 = 0x12;

/// A CID: SHA-256 of a raw or a dag-pb block.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Cid {
    text: String,
    is_raw: bool,
    digest: [u8; 32],
}

impl Cid {
    /// From its text: version 0 (base58), or version 1 in base32, base58 or hexadecimal.
    fn parse(text: &str) -> Result<Self, FetchError> {
        let refused = |reason| FetchError::Cid {
            found: text.chars().take(64).collect(),
            reason,
        };
        let decoded = match text.as_bytes() {
            _ if !(2..=128).contains(&text.len()) || !text.is_ascii() => None,
            [b'Q', b'm', ..] => base58(text),
            [b'z', ..] => base58(&text[1..]),
            [b'b', ..] => base32(&text[1..]),
            _ => None,
        };
        let bytes = decoded.ok_or_else(|| refused("is neither base58 nor lower-case base32"))?;
        let bytes = match text.starts_with("Qm") && bytes.first() == Some(&1) {
            true => return Err(refused("is version 1 without its multibase letter")),
            false => bytes,
        };
        Self::of_bytes(&bytes, text)
            .ok_or_else(|| refused("is not SHA-256 of a raw or dag-pb block"))
    }

    /// From its bytes, as links have it.
    fn of_bytes(bytes: &[u8], text: &str) -> Option<Self> {
        let (is_raw, multihash) = match bytes {
            [SHA2_256, ..] => (false, bytes), // version 0
            [1, RAW, multihash @ ..] => (true, multihash),
            [1, DAG_PB, multihash @ ..] => (false, multihash),
            _ => return None,
        };
        let [SHA2_256, 32, digest @ ..] = multihash else {
            return None;
        };
        Some(Self {
            text: text.to_owned(),
            is_raw,
            digest: digest.try_into().ok()?,
        })
    }

    /// As [`Self::of_bytes`], with the text that a gateway is asked for.
    fn of_link(bytes: &[u8]) -> Option<Self> {
        let prefix = if bytes.first() == Some(&1) { "z" } else { "" };
        let text = format!("{prefix}{}", bs58::encode(bytes).into_string());
        Self::of_bytes(bytes, &text)
    }
}

fn base58(text: &str) -> Option<Vec<u8>> {
    bs58::decode(text).into_vec().ok()
}

/// RFC 4648 in lower case, without padding.
fn base32(text: &str) -> Option<Vec<u8>> {
    let (mut bits, mut count, mut bytes) = (0u32, 0, Vec::new());
    for character in text.bytes() {
        let value = match character {
            b'a'..=b'z' => character - b'a',
            b'2'..=b'7' => character - b'2' + 26,
            _ => return None,
        };
        bits = bits << 5 | u32::from(value);
        count += 5;
        if count >= 8 {
            count -= 8;
            bytes.push(u8::try_from(bits >> count & 0xff).ok()?);
            bits &= (1 << count) - 1;
        }
    }
    (bits == 0).then_some(bytes) // what is left over is zero
}

/// Fetches `//CID` or `//CID/path`.
pub(super) async fn fetch(
    client: &Client,
    gateway: &Url,
    rest: &str,
    limit: usize,
) -> Result<Vec<u8>, FetchError> {
    let path = rest.trim_start_matches('/');
    let path = path.strip_prefix("ipfs/").unwrap_or(path);
    let path = path.split(['?', '#']).next().unwrap_or_default();
    let mut names = path.split('/').filter(|name| !name.is_empty());
    let root = Cid::parse(names.next().unwrap_or_default())?;
    let mut blocks = Blocks {
        client,
        gateway,
        left: BLOCKS_MAX,
    };
    let mut at = root;
    for name in names {
        at = blocks.entry(&at, name).await?;
    }
    blocks.file(at, limit).await
}

struct Blocks<'a> {
    client: &'a Client,
    gateway: &'a Url,
    left: usize,
}

impl Blocks<'_> {
    /// A block that hashes to its CID.
    async fn block(&mut self, cid: &Cid) -> Result<Vec<u8>, FetchError> {
        let too_many = refused(cid, "needs more than 64 blocks");
        self.left = self.left.checked_sub(1).ok_or(too_many)?;
        let path = format!(
            "{}/ipfs/{}",
            self.gateway.path().trim_end_matches('/'),
            cid.text
        );
        let mut url = self.gateway.clone();
        url.set_path(&path);
        url.set_query(Some("format=raw"));
        let host = || self.gateway.host_str().unwrap_or_default().to_owned();
        let request = self.client.get(url.clone());
        let request = request.header(ACCEPT, "application/vnd.ipld.raw");
        let answer = request.send().await;
        let answer = answer.map_err(|_| FetchError::Broken { host: host() })?;
        if answer.status().as_u16() != 200 {
            return Err(FetchError::Status {
                host: host(),
                status: answer.status().as_u16(),
            });
        }
        let block = body(answer, &url, BLOCK_MAX).await?;
        match sha256(&block) == cid.digest {
            true => Ok(block),
            false => Err(FetchError::ContentMismatch {
                cid: cid.text.clone(),
            }),
        }
    }

    /// The entry of a directory.
    async fn entry(&mut self, directory: &Cid, name: &str) -> Result<Cid, FetchError> {
        if directory.is_raw {
            return Err(refused(directory, "is no directory"));
        }
        let block = self.block(directory).await?;
        let node = PbNode::parse(&block).ok_or_else(|| refused(directory, "is not dag-pb"))?;
        if node.kind != Some(DIRECTORY) {
            return Err(refused(directory, "is no directory, or a sharded one"));
        }
        let found = node.links.iter().find(|link| link.name == name.as_bytes());
        let found = found.and_then(|link| Cid::of_link(link.hash));
        found.ok_or_else(|| refused(directory, "has no such entry"))
    }

    /// A file, its leaves in order.
    async fn file(&mut self, root: Cid, limit: usize) -> Result<Vec<u8>, FetchError> {
        let mut content = Vec::new();
        let mut pending = vec![root];
        while let Some(cid) = pending.pop() {
            let block = self.block(&cid).await?;
            if cid.is_raw {
                content.extend_from_slice(&block);
            } else {
                let node = PbNode::parse(&block).ok_or_else(|| refused(&cid, "is not dag-pb"))?;
                if !matches!(node.kind, Some(FILE | RAW_LEAF)) {
                    return Err(refused(&cid, "is no file"));
                }
                content.extend_from_slice(node.data);
                for link in node.links.iter().rev() {
                    let unusable = || refused(&cid, "links to a block of another kind");
                    pending.push(Cid::of_link(link.hash).ok_or_else(unusable)?);
                }
            }
            if content.len() > limit {
                return Err(FetchError::TooLong { limit });
            }
        }
        Ok(content)
    }
}

fn refused(cid: &Cid, reason: &'static str) -> FetchError {
    FetchError::Block {
        cid: cid.text.clone(),
        reason,
    }
}

/// Kinds of UnixFS nodes.
const RAW_LEAF: u64 = 0;
const DIRECTORY: u64 = 1;
const FILE: u64 = 2;

/// A dag-pb node and the UnixFS message in it.
#[derive(Default)]
struct PbNode<'b> {
    links: Vec<PbLink<'b>>,
    kind: Option<u64>,
    data: &'b [u8],
}

#[derive(Default)]
struct PbLink<'b> {
    hash: &'b [u8],
    name: &'b [u8],
}

impl<'b> PbNode<'b> {
    fn parse(block: &'b [u8]) -> Option<Self> {
        let mut node = Self::default();
        for field in fields(block) {
            match field? {
                (1, Field::Bytes(message)) => {
                    for field in fields(message) {
                        match field? {
                            (1, Field::Number(kind)) => node.kind = Some(kind),
                            (2, Field::Bytes(data)) => node.data = data,
                            _ => {}
                        }
                    }
                }
                (2, Field::Bytes(link)) => node.links.push(PbLink::parse(link)?),
                _ => {}
            }
        }
        Some(node)
    }
}

impl<'b> PbLink<'b> {
    fn parse(message: &'b [u8]) -> Option<Self> {
        let mut link = Self::default();
        for field in fields(message) {
            match field? {
                (1, Field::Bytes(hash)) => link.hash = hash,
                (2, Field::Bytes(name)) => link.name = name,
                _ => {}
            }
        }
        Some(link)
    }
}

/// The two kinds of protobuf fields that dag-pb and UnixFS have.
enum Field<'b> {
    Number(u64),
    Bytes(&'b [u8]),
}

/// The fields of a protobuf message with their numbers; `None` where it is malformed, and then no more.
fn fields(mut rest: &[u8]) -> impl Iterator<Item = Option<(u64, Field<'_>)>> {
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let field = take_field(&mut rest);
        if field.is_none() {
            rest = &[];
        }
        Some(field)
    })
}

fn take_field<'b>(rest: &mut &'b [u8]) -> Option<(u64, Field<'b>)> {
    let key = take_varint(rest)?;
    let field = match key & 7 {
        0 => Field::Number(take_varint(rest)?),
        2 => {
            let length = usize::try_from(take_varint(rest)?).ok()?;
            let (bytes, after) = rest.split_at_checked(length)?;
            *rest = after;
            Field::Bytes(bytes)
        }
        _ => return None,
    };
    Some((key >> 3, field))
}

fn take_varint(rest: &mut &[u8]) -> Option<u64> {
    let mut value = 0u64;
    for shift in (0..63).step_by(7) {
        let (byte, after) = rest.split_first()?;
        *rest = after;
        value |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some(value);
        }
    }
    None
}
