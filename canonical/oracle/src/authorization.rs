//! Feedback authorization in every named form, and the EVM blob.
use super::{
    Answer,
    reply::{hex_json, hex_text},
    types::{Bytes, EvmAddress, SolanaChain, SolanaKey, Uint256},
};
use alloc::{string::ToString, vec};
use concord_canonical::{
    auth::{self, EvmFeedbackAuth, SvmFeedbackAuth},
    word::Decimal,
};
use serde::Deserialize;
use serde_json::{Value as Json, json};

#[derive(Deserialize)]
#[serde(rename = "scheme", rename_all = "kebab-case")]
pub(super) enum FeedbackAuth {
    Eip712(TypedData),
    Eip712Fs(TypedData),
    Eip191(Untyped),
    Packed(Untyped),
    Svm(Svm),
    X84(X84),
}

/// A struct with the seven fields of R5 on EVM, and more.
macro_rules! evm_authorization {
    ($name:ident { $($more:tt)* }) => {
        #[derive(Deserialize)]
        pub(super) struct $name {
            agent_id: Uint256,
            client_address: EvmAddress,
            index_limit: u64,
            expiry: Uint256,
            chain_id: Uint256,
            identity_registry: EvmAddress,
            signer_address: EvmAddress,
            $($more)*
        }

        impl $name {
            fn fields(&self) -> EvmFeedbackAuth {
                EvmFeedbackAuth {
                    agent_id: self.agent_id.0,
                    client_address: self.client_address.0,
                    index_limit: self.index_limit,
                    expiry: self.expiry.0,
                    chain_id: self.chain_id.0,
                    identity_registry: self.identity_registry.0,
                    signer_address: self.signer_address.0,
                }
            }
        }
    };
}

evm_authorization!(Untyped {});
evm_authorization!(TypedData {
    verifying_contract: EvmAddress,
});
// Scheme and verifying contract are not in the blob. They are allowed because a request for a
// digest has them.
evm_authorization!(Blob {
    signature: Bytes,
    #[serde(rename = "scheme")]
    _scheme: Option<BlobScheme>,
    #[serde(rename = "verifying_contract")]
    _verifying_contract: Option<EvmAddress>,
});

#[derive(Deserialize)]
#[serde(rename = "scheme", rename_all = "lowercase")]
enum BlobScheme {
    Eip712,
    Eip191,
}

/// R9: the expiry is a u64 on Solana.
#[derive(Deserialize)]
pub(super) struct Svm {
    agent_id: SolanaKey,
    client_address: SolanaKey,
    index_limit: u64,
    expiry: u64,
    chain_id: SolanaChain,
    identity_registry: SolanaKey,
    signer_address: SolanaKey,
}

#[derive(Deserialize)]
pub(super) struct X84 {
    agent_id: SolanaKey,
    client_address: SolanaKey,
}

#[derive(Deserialize)]
pub(super) struct BlobDecode {
    blob: Bytes,
}

/// A blob whose signer has no code (R6).
#[derive(Deserialize)]
pub(super) struct EoaBlobDecode {
    blob: Bytes,
}

#[derive(Deserialize)]
pub(super) struct Eip712Domain<'a> {
    name: &'a str,
    version: &'a str,
    chain_id: Uint256,
    verifying_contract: EvmAddress,
}

impl FeedbackAuth {
    pub fn answer(&self) -> Answer {
        let digest = match self {
            Self::Eip712(it) => it.fields().eip712_digest(&it.verifying_contract.0),
            Self::Eip712Fs(it) => it.fields().eip712_fs_digest(&it.verifying_contract.0),
            Self::Eip191(it) => it.fields().eip191_digest(),
            Self::Packed(it) => it.fields().packed_hash(),
            Self::Svm(it) => return Ok(json!({"message": hex_text(&it.fields().message())})),
            Self::X84(it) => {
                let message = auth::x84_message(&it.client_address.0, &it.agent_id.0);
                return Ok(json!({"message": hex_text(&message)}));
            }
        };
        Ok(json!({"digest": hex_text(&digest)}))
    }
}

impl Svm {
    fn fields(&self) -> SvmFeedbackAuth {
        SvmFeedbackAuth {
            agent_mint: self.agent_id.0,
            client: self.client_address.0,
            index_limit: self.index_limit,
            expiry: self.expiry,
            chain: self.chain_id.0,
            program_id: self.identity_registry.0,
            signer: self.signer_address.0,
        }
    }
}

impl Blob {
    pub fn answer(&self) -> Answer {
        let signature = &self.signature.0;
        let mut blob = vec![0; auth::WORDS_LENGTH + signature.len()];
        self.fields().encode_blob(signature, &mut blob)?;
        Ok(hex_json(&blob))
    }
}

impl BlobDecode {
    pub fn answer(&self) -> Answer {
        let (fields, signature) = auth::decode_blob(&self.blob.0)?;
        Ok(decoded(&fields, signature))
    }
}

impl EoaBlobDecode {
    pub fn answer(&self) -> Answer {
        let (fields, signature) = auth::decode_eoa_blob(&self.blob.0)?;
        Ok(decoded(&fields, &signature))
    }
}

impl Eip712Domain<'_> {
    pub fn answer(&self) -> Answer {
        let (name, version) = (self.name, self.version);
        let contract = &self.verifying_contract.0;
        let separator = auth::domain_separator(name, version, &self.chain_id.0, contract);
        Ok(hex_json(&separator))
    }
}

fn decoded(fields: &EvmFeedbackAuth, signature: &[u8]) -> Json {
    json!({
        "agent_id": Decimal(fields.agent_id).to_string(),
        "client_address": hex_text(&fields.client_address),
        "index_limit": fields.index_limit.to_string(),
        "expiry": Decimal(fields.expiry).to_string(),
        "chain_id": Decimal(fields.chain_id).to_string(),
        "identity_registry": hex_text(&fields.identity_registry),
        "signer_address": hex_text(&fields.signer_address),
        "signature": hex_text(signature),
    })
}
