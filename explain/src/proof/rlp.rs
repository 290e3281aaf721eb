//! RLP items by place. Headers and receipts grow at their ends from fork to fork, and chains add members of
//! their own, so that only the places that are read are fixed.
use alloy_rlp::Header;

/// Bytes that are not the RLP that they should be.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what} is not readable RLP")]
pub(crate) struct RlpMalformed {
    pub what: &'static str,
}

/// An item: its payload, and whether it is a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Item<'a> {
    pub payload: &'a [u8],
    pub is_list: bool,
}

/// The items of a list, which must fill `bytes`.
pub(crate) fn list<'a>(bytes: &'a [u8], what: &'static str) -> Result<Vec<Item<'a>>, RlpMalformed> {
    let mut rest = bytes;
    let outer = next(&mut rest).filter(|it| it.is_list && rest.is_empty());
    items(outer.ok_or(RlpMalformed { what })?.payload, what)
}

/// The items in a list's payload.
pub(crate) fn items<'a>(
    payload: &'a [u8],
    what: &'static str,
) -> Result<Vec<Item<'a>>, RlpMalformed> {
    let mut rest = payload;
    let mut found = Vec::new();
    while !rest.is_empty() {
        found.push(next(&mut rest).ok_or(RlpMalformed { what })?);
    }
    Ok(found)
}

fn next<'a>(rest: &mut &'a [u8]) -> Option<Item<'a>> {
    let header = Header::decode(rest).ok()?;
    let payload = rest.get(..header.payload_length)?;
    *rest = rest.get(header.payload_length..)?;
    Some(Item {
        payload,
        is_list: header.list,
    })
}

impl<'a> Item<'a> {
    /// A string's bytes.
    pub(crate) fn bytes(&self, what: &'static str) -> Result<&'a [u8], RlpMalformed> {
        if self.is_list {
            Err(RlpMalformed { what })
        } else {
            Ok(self.payload)
        }
    }

    /// A string of so many bytes.
    pub(crate) fn array<const N: usize>(
        &self,
        what: &'static str,
    ) -> Result<[u8; N], RlpMalformed> {
        self.bytes(what)?
            .try_into()
            .map_err(|_| RlpMalformed { what })
    }

    /// A number, big-endian without leading zeros.
    pub(crate) fn number(&self, what: &'static str) -> Result<u64, RlpMalformed> {
        let bytes = self.bytes(what)?;
        if bytes.len() > 8 || bytes.first() == Some(&0) {
            return Err(RlpMalformed { what });
        }
        Ok(bytes
            .iter()
            .fold(0, |number, byte| number << 8 | u64::from(*byte)))
    }
}

/// The item at a place.
pub(crate) fn at<'a>(
    items: &[Item<'a>],
    place: usize,
    what: &'static str,
) -> Result<Item<'a>, RlpMalformed> {
    items.get(place).copied().ok_or(RlpMalformed { what })
}
