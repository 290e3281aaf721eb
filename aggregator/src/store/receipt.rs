use concord_canonical::{
    Error, Word,
    receipt::Receipt,
    sign::{PreparedKey, PublicKey},
};
use serde_json::{Value, json};

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
    /// Signs the receipt after `last`, which is a number and a hash.
    pub(super) fn after(
        last: Option<(u64, Word)>,
        key: &str,
        payload_digest: Word,
        accepted_at: u64,
        signer: &PreparedKey,
    ) -> Result<Self, Error> {
        let (n, previous) = last.unwrap_or_default();
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
