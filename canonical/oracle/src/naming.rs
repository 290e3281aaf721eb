//! Tags, chain-agnostic names and program-derived addresses.
use super::{
    Answer,
    failure::Failure,
    reply::hex_json,
    types::{SolanaKey, Word},
};
use alloc::string::ToString;
use concord_canonical::{
    Error, caip,
    error::TextFault,
    feedback_id::{self, IndexBase},
    limits::METADATA_KEY_MAX,
    pda::Account,
    tag::{self, decode_padded},
};
use serde::Deserialize;
use serde_json::json;

#[derive(Deserialize)]
pub(super) struct Tag<'a> {
    text: &'a str,
    encoding: Encoding,
}

#[derive(Deserialize)]
#[serde(rename = "encoding", rename_all = "lowercase")]
enum Encoding {
    Padded,
    Hashed,
}

impl Tag<'_> {
    pub fn answer(&self) -> Answer {
        let tag = tag::Tag::named("text", self.text)?;
        Ok(hex_json(&match self.encoding {
            Encoding::Padded => tag.padded(),
            Encoding::Hashed => tag.hashed(),
        }))
    }
}

#[derive(Deserialize)]
pub(super) struct TagDecode {
    bytes: Word,
}

impl TagDecode {
    pub fn answer(&self) -> Answer {
        Ok(decode_padded(&self.bytes.0)?.as_str().into())
    }
}

/// A name of one of the chain-agnostic forms.
#[derive(Deserialize)]
pub(super) struct Name<'a> {
    text: &'a str,
}

impl Name<'_> {
    pub fn chain_id(&self) -> Answer {
        let chain = caip::ChainId::parse(self.text)?;
        Ok(json!({"namespace": chain.namespace(), "reference": chain.reference()}))
    }

    pub fn account_id(&self) -> Answer {
        let account = caip::AccountId::parse(self.text)?;
        Ok(json!({"chain_id": account.chain_id().to_string(), "address": account.address()}))
    }

    pub fn task_ref(&self) -> Answer {
        let task = caip::TaskRef::parse(self.text)?;
        Ok(json!({
            "chain_id": task.chain_id().to_string(),
            "transaction": task.transaction(),
            "dedupe_key": task.dedupe_key().to_string(),
        }))
    }
}

/// A feedback id, and from which number its index counts: in the text, and in the answer's text.
#[derive(Deserialize)]
pub(super) struct FeedbackId<'a> {
    text: &'a str,
    base: u8,
    target: u8,
}

impl FeedbackId<'_> {
    pub fn answer(&self) -> Answer {
        let (base, target) = (base("base", self.base)?, base("target", self.target)?);
        let id = feedback_id::FeedbackId::parse(self.text, base)?;
        Ok(json!({
            "agent_id": id.agent_id(),
            "client": id.client(),
            "index": id.index().to_string(),
            "text": id.text(target).to_string(),
        }))
    }
}

fn base(field: &str, number: u8) -> Result<IndexBase, Failure> {
    match number {
        0 => Ok(IndexBase::Zero),
        1 => Ok(IndexBase::One),
        _ => Err(Failure::not_one_of(field, &["0", "1"])),
    }
}

#[derive(Deserialize)]
#[serde(rename = "account", rename_all = "snake_case")]
pub(super) enum Pda<'a> {
    Registry {
        program_id: SolanaKey,
    },
    Mint {
        program_id: SolanaKey,
        payer: SolanaKey,
        nonce: u64,
    },
    Agent {
        program_id: SolanaKey,
        mint: SolanaKey,
    },
    Metadata {
        program_id: SolanaKey,
        mint: SolanaKey,
        key: &'a str,
    },
    Feedback(Entry),
    OpenFeedback(Entry),
    Client(ClientIndex),
    OpenClient(ClientIndex),
    ValRequest(Validation),
    ValResponse(Validation),
    Spent {
        program_id: SolanaKey,
        hash: Word,
        payer: SolanaKey,
    },
}

#[derive(Deserialize)]
pub(super) struct Entry {
    program_id: SolanaKey,
    mint: SolanaKey,
    client: SolanaKey,
    index: u64,
}

#[derive(Deserialize)]
pub(super) struct ClientIndex {
    program_id: SolanaKey,
    mint: SolanaKey,
    client: SolanaKey,
}

#[derive(Deserialize)]
pub(super) struct Validation {
    program_id: SolanaKey,
    mint: SolanaKey,
    validator: SolanaKey,
    request_hash: Word,
}

impl Pda<'_> {
    pub fn answer(&self) -> Answer {
        self.check()?;
        let (program, account) = self.account();
        let (address, bump) = account.find(&program.0);
        Ok(json!({"address": bs58::encode(address).into_string(), "bump": bump}))
    }

    /// The program makes no account of other seeds: an index counts from 1 (R12), and a metadata
    /// key has its portable length (R17).
    fn check(&self) -> Result<(), Failure> {
        match self {
            Self::Feedback(entry) | Self::OpenFeedback(entry) if entry.index == 0 => {
                let limit = "a uint64 of at least 1";
                Err(Failure::out_of_range("index", "0", limit))
            }
            Self::Metadata { key, .. } if key.len() > METADATA_KEY_MAX => Err(Error::LengthLimit {
                field: "key",
                fault: TextFault::Length {
                    length: key.len(),
                    min: 0,
                    max: METADATA_KEY_MAX,
                },
            }
            .into()),
            _ => Ok(()),
        }
    }

    fn account(&self) -> (&SolanaKey, Account<'_>) {
        match self {
            Self::Registry { program_id } => (program_id, Account::Registry),
            Self::Agent { program_id, mint } => (program_id, Account::Agent { mint: mint.0 }),
            Self::Metadata {
                program_id,
                mint,
                key,
            } => (program_id, Account::Metadata { mint: mint.0, key }),
            Self::Mint {
                program_id,
                payer,
                nonce,
            } => {
                let (payer, nonce) = (payer.0, *nonce);
                (program_id, Account::Mint { payer, nonce })
            }
            Self::Spent {
                program_id,
                hash,
                payer,
            } => {
                let (hash, payer) = (hash.0, payer.0);
                (program_id, Account::Spent { hash, payer })
            }
            Self::Feedback(it) | Self::OpenFeedback(it) => (&it.program_id, self.entry(it)),
            Self::Client(it) | Self::OpenClient(it) => (&it.program_id, self.client_index(it)),
            Self::ValRequest(it) | Self::ValResponse(it) => (&it.program_id, self.validation(it)),
        }
    }

    fn entry(&self, entry: &Entry) -> Account<'static> {
        let (mint, client, index) = (entry.mint.0, entry.client.0, entry.index);
        match self {
            Self::OpenFeedback(_) => Account::OpenFeedback {
                mint,
                client,
                index,
            },
            _ => Account::Feedback {
                mint,
                client,
                index,
            },
        }
    }

    fn client_index(&self, index: &ClientIndex) -> Account<'static> {
        let (mint, client) = (index.mint.0, index.client.0);
        match self {
            Self::OpenClient(_) => Account::OpenClient { mint, client },
            _ => Account::Client { mint, client },
        }
    }

    fn validation(&self, validation: &Validation) -> Account<'static> {
        let (mint, validator) = (validation.mint.0, validation.validator.0);
        let request_hash = validation.request_hash.0;
        match self {
            Self::ValResponse(_) => Account::ValResponse {
                mint,
                validator,
                request_hash,
            },
            _ => Account::ValRequest {
                mint,
                validator,
                request_hash,
            },
        }
    }
}
