use super::Content;
use crate::{
    Place,
    table::{Evidence, Feedback, FeedbackKey, FileKey, FileUse, Proof},
};
use concord_canonical::{
    caip::{EIP155, TaskRef},
    hash::keccak256,
    sign::PublicKey,
    tag::Tag,
    value::Value,
};
use concord_files::{
    Difference, FeedbackFile, FileHashes, OnChainEntry, OnChainRating, Parsed, parse_feedback,
};
use concord_registry::event::Profile;
use serde_json::json;

/// How many characters of a file's statement are kept with an entry that differs from it.
const STATEMENT: usize = 1_000;

/// The file of a feedback, read once for every entry that refers to it.
#[derive(Debug)]
pub struct FeedbackContent(Read);

#[derive(Debug)]
enum Read {
    None {
        state: FileUse,
        reason: Option<String>,
    },
    Bytes {
        is_proven: bool,
        hashes: FileHashes,
        parsed: Result<Box<Parsed<FeedbackFile>>, String>,
        /// Whether both signatures of X402's proof verify.
        is_signed: bool,
    },
}

impl FeedbackContent {
    /// Hashes and parses a file, and verifies what it has of signatures.
    #[must_use]
    pub fn of(content: &Content) -> Self {
        Self(match content {
            Content::None { state, reason } => Read::None {
                state: *state,
                reason: reason.clone(),
            },
            Content::Bytes { bytes, is_proven } => {
                let parsed = parse_feedback(bytes).map_err(|error| error.to_string());
                Read::Bytes {
                    is_proven: *is_proven,
                    hashes: FileHashes::of(bytes),
                    is_signed: parsed.as_ref().is_ok_and(|it| is_signed(it.view())),
                    parsed: parsed.map(Box::new),
                }
            }
        })
    }

    /// Returns what the file supports of an entry. `registry` is the CAIP-10 id of the agent's registry,
    /// and `chain` the CAIP-2 id of its chain.
    #[must_use]
    pub fn evidence(
        &self,
        (chain, registry): (&str, &str),
        key: &FeedbackKey,
        row: &Feedback,
    ) -> Evidence {
        let none = Evidence {
            file: FileKey::of(&row.uri).id,
            state: FileUse::Waiting,
            reason: None,
            is_proven: false,
            dialect: None,
            scheme: None,
            differences: None,
            proof: None,
        };
        let (is_proven, hashes, parsed, is_signed) = match &self.0 {
            Read::None { state, reason } => {
                return Evidence {
                    state: *state,
                    reason: reason.clone(),
                    ..none
                };
            }
            Read::Bytes {
                is_proven,
                hashes,
                parsed,
                is_signed,
            } => (*is_proven, hashes, parsed, *is_signed),
        };
        // R21: the scheme is named, and one that leaves parts out proves nothing.
        let scheme = hashes.scheme(&row.hash);
        let is_proven = is_proven || scheme.is_some_and(|it| it.covers_everything());
        let none = Evidence {
            is_proven,
            scheme: scheme.map(|it| it.name().to_owned()),
            ..none
        };
        match parsed {
            Err(reason) => Evidence {
                state: FileUse::Unreadable,
                reason: Some(reason.clone()),
                ..none
            },
            Ok(parsed) => {
                let (agent, client) = (key.agent.to_string(), format!("{chain}:{}", key.client));
                let entry = entry((registry, &client), (key, &agent), row);
                let differences = entry.map(|it| parsed.differences_with(&it, hashes));
                let is_sound = is_proven && differences.as_ref().is_some_and(Vec::is_empty);
                Evidence {
                    state: FileUse::Read,
                    dialect: Some(parsed.view().dialect().name().to_owned()),
                    proof: proof(parsed.view(), is_sound && is_signed, row.place),
                    differences: differences.map(|it| written(&it)),
                    ..none
                }
            }
        }
    }
}

/// `None` if the entry is not one that a registry can have.
fn entry<'a>(
    (registry, client): (&'a str, &'a str),
    (key, agent): (&FeedbackKey, &'a str),
    row: &'a Feedback,
) -> Option<OnChainEntry<'a>> {
    let rating = match key.profile {
        Profile::Open => OnChainRating::Open {
            value: Value::new(row.value, row.decimals).ok()?,
            tag1: &row.tag1,
            tag2: &row.tag2,
            endpoint: &row.endpoint,
        },
        Profile::Authorized => OnChainRating::Authorized {
            score: u8::try_from(row.value).ok()?,
            tag1: word(&row.tag1)?,
            tag2: word(&row.tag2)?,
        },
    };
    Some(OnChainEntry {
        agent_registry: registry,
        agent_id: agent,
        client_address: client,
        rating,
        feedback_hash: row.hash,
    })
}

/// R14: the 32 bytes of which the fold made this text.
fn word(tag: &str) -> Option<[u8; 32]> {
    let digits = tag.strip_prefix("0x").filter(|it| it.len() == 64);
    match digits {
        Some(digits) => hex::decode(digits).ok()?.try_into().ok(),
        None => Tag::new(tag).ok().map(|it| it.padded()),
    }
}

fn written(differences: &[Difference]) -> String {
    let all = differences.iter().map(|it| {
        let in_file = it.in_file.as_deref().map(shortened);
        json!({ "field": it.field, "inFile": in_file, "onChain": it.on_chain })
    });
    all.collect::<serde_json::Value>().to_string()
}

/// A file's text may be as long as the file, and any number of entries may differ from it.
fn shortened(text: &str) -> String {
    match text.char_indices().nth(STATEMENT) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", &text[..end]),
    }
}

fn is_signed(file: &FeedbackFile) -> bool {
    let FeedbackFile::X402(file) = file else {
        return false;
    };
    let signed = &file.proof().signed;
    file.verify_review().is_ok() && signed.verify(file.profile()).is_ok()
}

/// R49: the signatures must hold, and the file must be the entry's.
fn proof(file: &FeedbackFile, holds: bool, place: Place) -> Option<Proof> {
    let FeedbackFile::X402(file) = file else {
        return None;
    };
    let proof = file.proof();
    let signed = &proof.signed;
    let signer = match &signed.agent_signer_public_key {
        PublicKey::Secp256k1(key) => key.to_vec(),
        PublicKey::Ed25519(key) => key.to_vec(),
    };
    Some(Proof {
        payment: payment(&signed.task_ref, &proof.reviewer_address, &signer),
        reviewer: proof.reviewer_address.clone(),
        task_ref: signed.task_ref.clone(),
        signer,
        holds,
        place,
    })
}

/// R32: names a payment, who paid, and the key that signed for the agent: by the dedupe key of the task reference, and
/// addresses of EVM in lower case.
pub(crate) fn payment(task_ref: &str, reviewer: &str, signer: &[u8]) -> Option<[u8; 32]> {
    let task_ref = TaskRef::parse(task_ref).ok()?;
    let reviewer = match task_ref.chain_id().namespace() {
        EIP155 => keccak256(reviewer.to_ascii_lowercase().as_bytes()),
        _ => keccak256(reviewer.as_bytes()),
    };
    let named = [&task_ref.dedupe_key().hash()[..], &reviewer, signer];
    Some(keccak256(&named.concat()))
}
