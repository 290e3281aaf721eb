use super::receipt::without_type;
use super::rlp::{self, RlpMalformed, at};
use alloy_primitives::Address;

/// What is read of a transaction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Sent<'a> {
    /// `None` for a creation.
    pub to: Option<Address>,
    pub input: &'a [u8],
}

const WHAT: &str = "the transaction";

/// Reads a transaction of Ethereum's types 0 to 4; `None` for a chain's own types, such as a deposit.
pub(crate) fn read(raw: &[u8]) -> Result<Option<Sent<'_>>, RlpMalformed> {
    let place_of_to = match raw.first() {
        Some(1) => 4,
        Some(2..=4) => 5,
        Some(0xc0..) => 3,
        _ => return Ok(None),
    };
    let items = rlp::list(without_type(raw), WHAT)?;
    let to = match at(&items, place_of_to, WHAT)?.bytes(WHAT)? {
        [] => None,
        bytes => Some(Address::try_from(bytes).map_err(|_| RlpMalformed { what: WHAT })?),
    };
    let input = at(&items, place_of_to + 2, WHAT)?.bytes(WHAT)?;
    Ok(Some(Sent { to, input }))
}
