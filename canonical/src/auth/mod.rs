//! Feedback authorization in every named form (R5, R6, R9, R10).
//!
//! The seven fields, one 32-byte big-endian word each, in one order on both chains:
//!
//! | offset | width | field | EVM | Solana |
//! |---|---|---|---|---|
//! | 0 | 32 | agentId | uint256 | agent mint |
//! | 32 | 32 | clientAddress | address, left-padded | client key |
//! | 64 | 32 | indexLimit | uint64 | u64 |
//! | 96 | 32 | expiry | uint256, unix seconds | u64, unix seconds |
//! | 128 | 32 | chainId | uint256 | keccak256 of the CAIP-2 text |
//! | 160 | 32 | identityRegistry | address, left-padded | program id |
//! | 192 | 32 | signerAddress | address, left-padded | signing key |

use crate::error::Error;
use crate::{Word, hash, word};

/// Bytes of the seven words, `abi.encode(fields)`.
pub const WORDS_LENGTH: usize = 224;
/// Bytes of `abi.encode(fields) ‖ r ‖ s ‖ v`, the whole blob where the signer has no code (R6).
pub const EOA_BLOB_LENGTH: usize = WORDS_LENGTH + 65;

/// EIP-712 type of the seven-field struct (R5).
pub const EIP712_TYPE: &str = "FeedbackAuth(uint256 agentId,address clientAddress,uint64 indexLimit,uint256 expiry,uint256 chainId,address identityRegistry,address signerAddress)";
/// EIP-712 type of FS's five-field struct, which no registry accepts (R5).
pub const EIP712_FS_TYPE: &str = "FeedbackAuth(uint256 agentId,address clientAddress,uint64 indexLimit,uint256 expiry,uint256 chainId)";
/// EIP-712 domain name of the reputation registry (R6).
pub const EIP712_NAME: &str = "ERC8004ReputationRegistry";
/// EIP-712 domain version of the reputation registry (R6).
pub const EIP712_VERSION: &str = "1";
/// First 24 bytes of the message that a Solana feedback authority signs (R9).
pub const SVM_PREFIX: &[u8; 24] = b"ERC8004/FEEDBACK-AUTH/v1";

/// Name and width in bytes of each field of the blob.
const FIELDS: [(&str, usize); 7] = [
    ("agentId", 32),
    ("clientAddress", 20),
    ("indexLimit", 8),
    ("expiry", 32),
    ("chainId", 32),
    ("identityRegistry", 20),
    ("signerAddress", 20),
];

/// FeedbackAuth on EVM chains (R5).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EvmFeedbackAuth {
    /// The agent, uint256 big-endian.
    pub agent_id: Word,
    /// The client that may give feedback.
    pub client_address: [u8; 20],
    /// The client's last index must be below this (R8).
    pub index_limit: u64,
    /// Unix seconds, uint256 big-endian; the chain's time must be below this (R8).
    pub expiry: Word,
    /// The chain's id, uint256 big-endian.
    pub chain_id: Word,
    /// The identity registry on which the agent lives.
    pub identity_registry: [u8; 20],
    /// Who signs: the agent's owner (R7).
    pub signer_address: [u8; 20],
}

impl EvmFeedbackAuth {
    /// The seven ABI words, in order.
    pub fn words(&self) -> [Word; 7] {
        [
            self.agent_id,
            word::from_address(&self.client_address),
            word::from_u64(self.index_limit),
            self.expiry,
            self.chain_id,
            word::from_address(&self.identity_registry),
            word::from_address(&self.signer_address),
        ]
    }

    /// keccak256 of the seven words, 224 bytes: `keccak256(abi.encode(fields))`.
    pub fn words_hash(&self) -> Word {
        hash::keccak256(self.words().as_flattened())
    }

    /// EIP-712 digest of the seven-field struct, the form that registries accept (R6).
    ///
    /// | offset | width | field |
    /// |---|---|---|
    /// | 0 | 2 | `0x19 0x01` |
    /// | 2 | 32 | domain separator of `ERC8004ReputationRegistry`, `1`, chainId, `verifying_contract` |
    /// | 34 | 32 | keccak256(keccak256([`EIP712_TYPE`]) ‖ seven words) |
    pub fn eip712_digest(&self, verifying_contract: &[u8; 20]) -> Word {
        let type_hash = hash::keccak256(EIP712_TYPE.as_bytes());
        let struct_hash = hash::keccak256v(&[&type_hash, self.words().as_flattened()]);
        eip712_digest(
            &domain_separator(
                EIP712_NAME,
                EIP712_VERSION,
                &self.chain_id,
                verifying_contract,
            ),
            &struct_hash,
        )
    }

    /// EIP-712 digest of FS's struct: the first five words, same domain. Accepted nowhere (R5).
    pub fn eip712_fs_digest(&self, verifying_contract: &[u8; 20]) -> Word {
        let type_hash = hash::keccak256(EIP712_FS_TYPE.as_bytes());
        let struct_hash = hash::keccak256v(&[&type_hash, self.words()[..5].as_flattened()]);
        eip712_digest(
            &domain_separator(
                EIP712_NAME,
                EIP712_VERSION,
                &self.chain_id,
                verifying_contract,
            ),
            &struct_hash,
        )
    }

    /// EIP-191 digest of the first ERC-8004 draft (R6).
    ///
    /// | offset | width | field |
    /// |---|---|---|
    /// | 0 | 28 | `0x19`, `"Ethereum Signed Message:\n32"` |
    /// | 28 | 32 | keccak256 of the seven words |
    pub fn eip191_digest(&self) -> Word {
        hash::keccak256v(&[b"\x19Ethereum Signed Message:\n32", &self.words_hash()])
    }

    /// keccak256 of PROFILE's `abi.encodePacked(fields)`. Accepted nowhere (R6).
    ///
    /// | offset | width | field |
    /// |---|---|---|
    /// | 0 | 32 | agentId, big-endian |
    /// | 32 | 20 | clientAddress |
    /// | 52 | 8 | indexLimit, big-endian |
    /// | 60 | 32 | expiry, big-endian |
    /// | 92 | 32 | chainId, big-endian |
    /// | 124 | 20 | identityRegistry |
    /// | 144 | 20 | signerAddress |
    pub fn packed_hash(&self) -> Word {
        hash::keccak256v(&[
            &self.agent_id,
            &self.client_address,
            &self.index_limit.to_be_bytes(),
            &self.expiry,
            &self.chain_id,
            &self.identity_registry,
            &self.signer_address,
        ])
    }

    /// Writes `abi.encode(fields) ‖ signature` to the start of `out` and returns what it wrote.
    /// An ERC-1271 owner's signature may have any length, also none.
    ///
    /// # Errors
    /// [`Error::BufferTooShort`] where `out` is shorter than 224 bytes and the signature.
    pub fn encode_blob<'o>(&self, signature: &[u8], out: &'o mut [u8]) -> Result<&'o [u8], Error> {
        let needed = WORDS_LENGTH + signature.len();
        let length = out.len();
        let blob = out
            .get_mut(..needed)
            .ok_or(Error::BufferTooShort { length, needed })?;
        let (head, tail) = blob.split_at_mut(WORDS_LENGTH);
        head.copy_from_slice(self.words().as_flattened());
        tail.copy_from_slice(signature);
        Ok(blob)
    }

    /// `abi.encode(fields) ‖ r ‖ s ‖ v`, 289 bytes: the blob of a signer without code (R6).
    pub fn blob(&self, signature: &[u8; 65]) -> [u8; EOA_BLOB_LENGTH] {
        let mut blob = [0; EOA_BLOB_LENGTH];
        blob[..WORDS_LENGTH].copy_from_slice(self.words().as_flattened());
        blob[WORDS_LENGTH..].copy_from_slice(signature);
        blob
    }
}

/// The fields of a blob, and its signature of any length (R6).
///
/// # Errors
/// [`Error::AuthMissing`] for no bytes, [`Error::AuthLength`] below 224, [`Error::AuthDirtyWord`]
/// for the first word with bits above its field's type.
pub fn decode_blob(blob: &[u8]) -> Result<(EvmFeedbackAuth, &[u8]), Error> {
    if blob.is_empty() {
        return Err(Error::AuthMissing {
            limit: WORDS_LENGTH,
        });
    }
    let words = blob.as_chunks::<32>().0.first_chunk::<7>();
    let words = words.ok_or(Error::AuthLength {
        length: blob.len(),
        limit: WORDS_LENGTH,
    })?;
    Ok((from_words(words)?, &blob[WORDS_LENGTH..]))
}

/// The fields and signature of a blob whose signer has no code: exactly 289 bytes (R6).
///
/// # Errors
/// [`Error::AuthMissing`] for no bytes, [`Error::AuthLength`] for any other length,
/// [`Error::AuthDirtyWord`] as in [`decode_blob`].
pub fn decode_eoa_blob(blob: &[u8]) -> Result<(EvmFeedbackAuth, [u8; 65]), Error> {
    let length = Error::AuthLength {
        length: blob.len(),
        limit: EOA_BLOB_LENGTH,
    };
    if !blob.is_empty() && blob.len() != EOA_BLOB_LENGTH {
        return Err(length);
    }
    let (fields, signature) = decode_blob(blob)?;
    Ok((fields, signature.try_into().map_err(|_| length)?))
}

fn from_words(words: &[Word; 7]) -> Result<EvmFeedbackAuth, Error> {
    let dirty = |index: usize| Error::AuthDirtyWord {
        word: index,
        field: FIELDS[index].0,
        width: FIELDS[index].1,
    };
    let address = |index: usize| word::to_address(&words[index]).ok_or_else(|| dirty(index));
    Ok(EvmFeedbackAuth {
        agent_id: words[0],
        client_address: address(1)?,
        index_limit: word::to_u64(&words[2]).ok_or_else(|| dirty(2))?,
        expiry: words[3],
        chain_id: words[4],
        identity_registry: address(5)?,
        signer_address: address(6)?,
    })
}

/// FeedbackAuth on Solana: what the `bounded` scheme's signature covers (R9).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SvmFeedbackAuth {
    /// The agent's mint.
    pub agent_mint: Word,
    /// The client that may give feedback.
    pub client: Word,
    /// The client's last index must be below this (R8).
    pub index_limit: u64,
    /// Unix seconds; the chain's time must be below this (R8).
    pub expiry: u64,
    /// keccak256 of the chain's CAIP-2 text, as the registry account stores it.
    pub chain: Word,
    /// The program that is the registry.
    pub program_id: Word,
    /// Who signs: the agent's feedback authority, or its owner where none is set (R7).
    pub signer: Word,
}

impl SvmFeedbackAuth {
    /// The seven words, in the order of [`EvmFeedbackAuth::words`].
    pub fn words(&self) -> [Word; 7] {
        [
            self.agent_mint,
            self.client,
            word::from_u64(self.index_limit),
            word::from_u64(self.expiry),
            self.chain,
            self.program_id,
            self.signer,
        ]
    }

    /// The 56 bytes that the authority signs with Ed25519.
    ///
    /// | offset | width | field |
    /// |---|---|---|
    /// | 0 | 24 | `"ERC8004/FEEDBACK-AUTH/v1"`, ASCII |
    /// | 24 | 32 | keccak256 of the seven words, 224 bytes |
    pub fn message(&self) -> [u8; 56] {
        prefixed(SVM_PREFIX, &hash::keccak256(self.words().as_flattened()))
    }
}

/// X84's 64-byte message, replayable for ever; accepted where the owner opted in (R10).
///
/// | offset | width | field |
/// |---|---|---|
/// | 0 | 32 | reviewer |
/// | 32 | 32 | agent mint |
pub fn x84_message(reviewer: &Word, nft_mint: &Word) -> [u8; 64] {
    let mut message = [0; 64];
    message[..32].copy_from_slice(reviewer);
    message[32..].copy_from_slice(nft_mint);
    message
}

/// A 24-byte domain prefix and a hash: the form of every message Concord signs with Ed25519.
pub(crate) fn prefixed(prefix: &[u8; 24], hash: &Word) -> [u8; 56] {
    let mut message = [0; 56];
    message[..24].copy_from_slice(prefix);
    message[24..].copy_from_slice(hash);
    message
}

/// EIP-712 domain separator with name, version, chainId and verifyingContract.
///
/// | offset | width | field |
/// |---|---|---|
/// | 0 | 32 | keccak256 of `EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)` |
/// | 32 | 32 | keccak256 of the name |
/// | 64 | 32 | keccak256 of the version |
/// | 96 | 32 | chainId, big-endian |
/// | 128 | 32 | verifyingContract, left-padded |
pub fn domain_separator(
    name: &str,
    version: &str,
    chain_id: &Word,
    verifying_contract: &[u8; 20],
) -> Word {
    const DOMAIN_TYPE: &[u8] =
        b"EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)";
    hash::keccak256v(&[
        &hash::keccak256(DOMAIN_TYPE),
        &hash::keccak256(name.as_bytes()),
        &hash::keccak256(version.as_bytes()),
        chain_id,
        &word::from_address(verifying_contract),
    ])
}

/// EIP-712 digest: `keccak256(0x19 ‖ 0x01 ‖ domain separator ‖ struct hash)`.
pub fn eip712_digest(domain_separator: &Word, struct_hash: &Word) -> Word {
    hash::keccak256v(&[b"\x19\x01", domain_separator, struct_hash])
}

#[cfg(test)]
mod tests;
