//! Whether bytes are what an `ipfs:` URI names, as far as one raw block goes.
use concord_canonical::hash::sha256;

/// What a CID says of some bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CidSays {
    Matches,
    Differs,
    /// The CID names a tree of blocks, a path, or another hash.
    CannotSay,
}

const RAW: u8 = 0x55;
const SHA2_256: u8 = 0x12;

/// Compares bytes with `ipfs://CID`.
pub(crate) fn compare(uri: &str, bytes: &[u8]) -> CidSays {
    let path = uri.get("ipfs:".len()..).unwrap_or_default();
    let path = path.trim_start_matches('/');
    let text = path.strip_prefix("ipfs/").unwrap_or(path);
    let decoded = match text.as_bytes() {
        [b'b', ..] => base32(&text[1..]),
        [b'z', ..] => bs58::decode(&text[1..]).into_vec().ok(),
        _ => None,
    };
    match decoded.as_deref() {
        Some([1, RAW, SHA2_256, 32, digest @ ..]) if digest.len() == 32 => {
            match digest == sha256(bytes) {
                true => CidSays::Matches,
                false => CidSays::Differs,
            }
        }
        _ => CidSays::CannotSay,
    }
}

/// RFC 4648 in lower case, without padding.
fn base32(text: &str) -> Option<Vec<u8>> {
    let (mut bits, mut count, mut bytes) = (0u32, 0u32, Vec::new());
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
    (bits == 0).then_some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `hello` as `ipfs add --cid-version=1 --raw-leaves` names it.
    const HELLO: &str = "ipfs://bafkreibm6jg3ux5qumhcn2b3flc3tyu6dmlb4xa7u5bf44yegnrjhc4yeq";

    #[test]
    fn a_raw_block_matches_its_cid_and_nothing_else() {
        assert_eq!(compare(HELLO, b"hello"), CidSays::Matches);
        assert_eq!(compare(HELLO, b"hellp"), CidSays::Differs);
    }

    #[test]
    fn a_tree_or_a_path_says_nothing() {
        let tree = "ipfs://QmYwAPJzv5CZsnA625s3Xf2nemtYgPpHdWEz79ojWnPbdG";
        assert_eq!(compare(tree, b"hello"), CidSays::CannotSay);
        assert_eq!(
            compare(&format!("{HELLO}/a.json"), b"hello"),
            CidSays::CannotSay
        );
        assert_eq!(compare("ipfs://", b"hello"), CidSays::CannotSay);
    }
}
