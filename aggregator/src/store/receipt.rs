use concord_canonical::{
    Error, Word,
    receipt::Receipt,
    sign::{PreparedKey, PublicKey},
};
use serde_json::{Value, json};

use super::{StoreError, db::Cells};

/// Seconds by which a receipt may be older than one before it. An audit takes 60 for a broken chain.
const BEHIND_MAX: u64 = 50;

/// The end of the chain of receipts.
#[derive(Clone, Copy, Default)]
pub(super) struct ChainEnd {
    /// The number of the last receipt; 0: there is none.
    pub n: u64,
    /// Its hash.
    pub hash: Word,
    /// The latest time of any receipt, which need not be the last one's. Unix seconds.
    pub latest: u64,
}

impl ChainEnd {
    /// R57: times of receipts do not go back by more than clocks differ. Checks and the wait for the database take time,
    /// in which another process may have given later receipts.
    pub fn require_not_overtaken(&self, came: u64) -> Result<(), StoreError> {
        let latest = self.latest;
        if came.saturating_add(BEHIND_MAX) < latest {
            Err(StoreError::Overtaken { came, latest })
        } else {
            Ok(())
        }
    }

    /// The end with one more receipt.
    pub fn with(&self, receipt: &SignedReceipt) -> Self {
        Self {
            n: receipt.n,
            hash: receipt.hash,
            latest: self.latest.max(receipt.accepted_at),
        }
    }
}

/// A link of the chain of receipts, signed (R57).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignedReceipt {
    /// Counts from 1, without gaps.
    pub n: u64,
    /// The hash of the receipt before; zeros for the first.
    pub previous: Word,
    /// The payment (R51).
    pub key: String,
    /// keccak256 of the submission's RFC 8785 bytes.
    pub payload_digest: Word,
    /// Unix seconds.
    pub accepted_at: u64,
    /// The receipt, which is signed.
    pub hash: Word,
    /// 64 bytes, Ed25519.
    pub signature: Vec<u8>,
}

impl SignedReceipt {
    /// Reads it from the first seven columns, which are in the order of its fields.
    pub(super) fn read(row: &Cells<'_>) -> Result<Self, String> {
        Ok(Self {
            n: row.get(0)?,
            key: row.get(1)?,
            payload_digest: row.get(2)?,
            accepted_at: row.get(3)?,
            previous: row.get(4)?,
            hash: row.get(5)?,
            signature: row.get(6)?,
        })
    }

    /// Signs the receipt after the last one.
    pub(super) fn after(
        end: &ChainEnd,
        key: &str,
        payload_digest: Word,
        accepted_at: u64,
        signer: &PreparedKey,
    ) -> Result<Self, Error> {
        let ChainEnd {
            n, hash: previous, ..
        } = *end;
        let receipt = Receipt {
            previous,
            key,
            payload_digest,
            accepted_at,
        };
        let hash = receipt.hash();
        Ok(Self {
            n: n.saturating_add(1),
            previous,
            key: key.to_owned(),
            payload_digest,
            accepted_at,
            hash,
            signature: signer.sign(&hash, <[u8]>::to_vec)?,
        })
    }

    /// The receipt as answers carry it. `key` verifies the signature.
    #[must_use]
    pub fn to_json(&self, key: &PublicKey) -> Value {
        let hex = |bytes: &[u8]| format!("0x{}", hex::encode(bytes));
        json!({
            "n": self.n,
            "previous": hex(&self.previous),
            "key": self.key,
            "payloadDigest": hex(&self.payload_digest),
            "acceptedAt": self.accepted_at,
            "receipt": hex(&self.hash),
            "signature": hex(&self.signature),
            "publicKey": key_text(key),
        })
    }
}

pub(super) fn key_text(key: &PublicKey) -> String {
    match key {
        PublicKey::Secp256k1(bytes) => format!("0x{}", hex::encode(bytes)),
        PublicKey::Ed25519(bytes) => format!("0x{}", hex::encode(bytes)),
    }
}
