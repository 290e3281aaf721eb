use super::rlp::{self, Item, RlpMalformed, at};
use alloy_primitives::{Address, B256, Bytes, Log};

/// What is read of a receipt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Receipt {
    pub succeeded: bool,
    pub logs: Vec<Log>,
}

const WHAT: &str = "the receipt";

/// The first byte of a list; what is smaller is a transaction's type (EIP-2718).
const LIST: u8 = 0xc0;

impl Receipt {
    /// Reads a receipt as the receipts trie has it: status, gas, bloom, logs, and what a chain adds.
    pub(crate) fn read(bytes: &[u8]) -> Result<Self, RlpMalformed> {
        let items = rlp::list(without_type(bytes), WHAT)?;
        let succeeded = match at(&items, 0, WHAT)?.bytes(WHAT)? {
            [1] => true,
            [] => false,
            _ => return Err(RlpMalformed { what: WHAT }), // before EIP-658: a state root
        };
        let logs = at(&items, 3, WHAT)?;
        let logs = rlp::items(logs.payload, WHAT)?;
        Ok(Self {
            succeeded,
            logs: logs.iter().map(read_log).collect::<Result<_, _>>()?,
        })
    }
}

/// The payload of an EIP-2718 envelope, or the bytes themselves.
pub(crate) fn without_type(bytes: &[u8]) -> &[u8] {
    match bytes {
        [first, rest @ ..] if *first < LIST => rest,
        _ => bytes,
    }
}

fn read_log(item: &Item<'_>) -> Result<Log, RlpMalformed> {
    let malformed = RlpMalformed { what: "a log" };
    let parts = rlp::items(item.payload, "a log")?;
    let [address, topics, data] = &parts[..] else {
        return Err(malformed);
    };
    let topics = rlp::items(topics.payload, "a log")?;
    let topics = topics.iter().map(|it| it.array("a log").map(B256::new));
    Log::new(
        Address::new(address.array("a log")?),
        topics.collect::<Result<_, _>>()?,
        Bytes::copy_from_slice(data.bytes("a log")?),
    )
    .ok_or(malformed)
}
