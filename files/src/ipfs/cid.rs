use super::IpfsError;
use core::fmt;

/// Codecs and hash of CIDs (multicodec).
const RAW: u8 = 0x55;
const DAG_PB: u8 = 0x70;
const SHA2_256: u8 = 0x12;

/// A CID: SHA-256 of a raw or a dag-pb block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cid {
    text: String,
    is_raw: bool,
    digest: [u8; 32],
}

impl Cid {
    /// Whether it names a raw block, and not dag-pb.
    #[must_use]
    pub const fn is_raw(&self) -> bool {
        self.is_raw
    }

    /// SHA-256 of the block.
    pub(super) const fn digest(&self) -> &[u8; 32] {
        &self.digest
    }

    /// Reads its text: version 0 (base58), or version 1 in base16, base32, base36 or base58 (multibase).
    ///
    /// # Errors
    /// [`IpfsError::Cid`].
    pub fn parse(text: &str) -> Result<Self, IpfsError> {
        let refused = |reason| IpfsError::Cid {
            found: text.chars().take(64).collect(),
            reason,
        };
        let decoded = match text.as_bytes() {
            _ if !(2..=128).contains(&text.len()) || !text.is_ascii() => None,
            [b'Q', b'm', ..] => base58(text),
            [b'z', ..] => base58(&text[1..]),
            [b'b', ..] => base32(&text[1..]),
            [b'B', ..] => base32(&text[1..].to_ascii_lowercase()),
            [b'f' | b'F', ..] => hex::decode(&text[1..]).ok(),
            [b'k' | b'K', ..] => base36(&text[1..]),
            _ => None,
        };
        let bytes = decoded.ok_or_else(|| refused("is not base16, base32, base36 or base58"))?;
        let bytes = if text.starts_with("Qm") && bytes.first() == Some(&1) {
            return Err(refused("is version 1 without its multibase letter"));
        } else {
            bytes
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
    pub(super) fn of_link(bytes: &[u8]) -> Option<Self> {
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

/// In either case. The bytes of a CID begin with its version, so that no digit in front is 0.
fn base36(text: &str) -> Option<Vec<u8>> {
    if text.starts_with('0') {
        return None;
    }
    let mut bytes = Vec::new(); // the lowest first
    for character in text.chars() {
        let mut carry = character.to_digit(36)?;
        for byte in &mut bytes {
            carry += u32::from(*byte) * 36;
            [*byte, ..] = carry.to_le_bytes();
            carry >>= 8;
        }
        if carry > 0 {
            bytes.push(u8::try_from(carry).ok()?); // below 36
        }
    }
    bytes.reverse();
    Some(bytes)
}

impl fmt::Display for Cid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}
