use concord_canonical::{Word, receipt::Receipt, sign::ed25519_verify};
use serde::Deserialize;

use super::{Problem, ProblemKind, Unknown};

/// Clocks differ by this much at most, in seconds.
const CLOCKS_DIFFER: u64 = 60;

/// A receipt as an aggregator publishes it, and as its answers have it.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PublishedReceipt {
    /// Counts from 1, without gaps.
    pub n: u64,
    /// The receipt before, hex with `0x`; zeros for the first.
    pub previous: String,
    /// The payment (R51).
    pub key: String,
    /// keccak256 of the submission's RFC 8785 bytes.
    pub payload_digest: String,
    /// Unix seconds.
    pub accepted_at: u64,
    /// Its hash.
    pub receipt: String,
    /// Ed25519, over the hash.
    pub signature: String,
    /// 32 bytes, hex with `0x`.
    pub public_key: String,
}

impl PublishedReceipt {
    /// Checks hash and signature (R57).
    fn verify(&self) -> Result<(), String> {
        let receipt = Receipt {
            previous: word("previous", &self.previous)?,
            key: &self.key,
            payload_digest: word("payloadDigest", &self.payload_digest)?,
            accepted_at: self.accepted_at,
        };
        let hash = receipt.hash();
        if hash != word("receipt", &self.receipt)? {
            return Err(format!("its hash is 0x{}", hex::encode(hash)));
        }
        let signature = bytes("signature", &self.signature)?;
        let key = word("publicKey", &self.public_key)?;
        ed25519_verify(&key, &hash, &signature).map_err(|error| error.to_string())
    }

    /// Whether it claims a later time than clocks differ by.
    pub(super) const fn is_ahead_of(&self, now: u64) -> bool {
        self.accepted_at > now.saturating_add(CLOCKS_DIFFER)
    }

    pub(super) fn problem(&self, kind: ProblemKind, detail: impl Into<String>) -> Problem {
        Problem {
            n: self.n,
            key: self.key.clone(),
            kind,
            detail: detail.into(),
        }
    }

    pub(super) fn unknown(&self, detail: String) -> Unknown {
        Unknown {
            n: self.n,
            key: self.key.clone(),
            detail,
        }
    }
}

fn bytes(field: &str, text: &str) -> Result<Vec<u8>, String> {
    let digits = text.strip_prefix("0x");
    let bytes = digits.and_then(|it| hex::decode(it).ok());
    bytes.ok_or_else(|| format!("{field} is not hexadecimal with 0x"))
}

fn word(field: &str, text: &str) -> Result<Word, String> {
    let bytes = bytes(field, text)?;
    let length = bytes.len();
    let word = bytes.try_into();
    word.map_err(|_| format!("{field} has {length} bytes, expected 32"))
}

/// What is wrong with the chain, and with receipts that clients kept.
pub(super) fn problems(
    chain: &[&PublishedReceipt],
    given: &[PublishedReceipt],
    now: u64,
) -> Vec<Problem> {
    let mut problems = Vec::new();
    let zeros = format!("0x{}", "00".repeat(32));
    let (mut previous, mut latest) = (&zeros, 0);
    for (n, receipt) in (1u64..).zip(chain) {
        let mut broken = |detail: String| {
            problems.push(receipt.problem(ProblemKind::ChainBroken, detail));
        };
        if receipt.n != n {
            broken(format!("receipt {n} is missing"));
        }
        if receipt.previous != *previous {
            broken(format!("the receipt before is {previous}"));
        }
        if receipt.public_key != chain[0].public_key {
            broken(format!("it is signed by {}", receipt.public_key));
        }
        if let Err(reason) = receipt.verify() {
            broken(reason);
        }
        if receipt.is_ahead_of(now) {
            broken(format!("it is from the future: {}", receipt.accepted_at));
        }
        if receipt.accepted_at.saturating_add(CLOCKS_DIFFER) < latest {
            let found = receipt.accepted_at;
            broken(format!(
                "its time is {found}, a receipt before it has {latest}"
            ));
        }
        previous = &receipt.receipt;
        latest = latest.max(receipt.accepted_at);
    }
    for kept in given {
        if let Err(reason) = kept.verify() {
            let detail = format!("a receipt that was kept does not hold: {reason}");
            problems.push(kept.problem(ProblemKind::ChainBroken, detail));
            continue;
        }
        let index = kept
            .n
            .checked_sub(1)
            .and_then(|it| usize::try_from(it).ok());
        let published = index.and_then(|it| chain.get(it));
        if published.is_none_or(|it| it.receipt != kept.receipt) {
            let found = published.map_or("none", |it| &*it.receipt);
            let detail = format!("the chain has {found}, {} was given out", kept.receipt);
            problems.push(kept.problem(ProblemKind::Forked, detail));
        }
    }
    problems
}

#[cfg(test)]
mod tests {
    use super::*;
    use concord_canonical::sign::{PreparedKey, PublicKey};

    /// A chain as it should be, but for its times.
    fn chain(times: &[u64]) -> Vec<PublishedReceipt> {
        let key = PreparedKey::ed25519(&[7; 32]);
        let PublicKey::Ed25519(public_key) = key.public_key() else {
            panic!("another key");
        };
        let hex = |bytes: &[u8]| format!("0x{}", hex::encode(bytes));
        let mut previous = [0; 32];
        let receipts = (1..).zip(times).map(|(n, time)| {
            let receipt = Receipt {
                previous,
                key: "a payment",
                payload_digest: [9; 32],
                accepted_at: *time,
            };
            let published = PublishedReceipt {
                n,
                previous: hex(&previous),
                key: receipt.key.to_owned(),
                payload_digest: hex(&receipt.payload_digest),
                accepted_at: *time,
                receipt: hex(&receipt.hash()),
                signature: key.sign(&receipt.hash(), hex).unwrap(),
                public_key: hex(&public_key),
            };
            previous = receipt.hash();
            published
        });
        receipts.collect()
    }

    #[test]
    fn r57_times_go_back_by_no_more_than_clocks_differ() {
        let broken = |times: &[u64]| {
            let chain = chain(times);
            let all: Vec<&PublishedReceipt> = chain.iter().collect();
            let found = problems(&all, &chain, 1_000);
            found.into_iter().map(|it| it.n).collect::<Vec<_>>()
        };
        assert!(broken(&[100, 40, 100, 160]).is_empty());
        assert_eq!(broken(&[100, 39]), [2]);
        // step by step, too: each is compared with the latest
        assert_eq!(broken(&[200, 150, 139, 1, 200]), [3, 4]);
    }
}
