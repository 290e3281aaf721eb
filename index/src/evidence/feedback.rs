use super::Content;
use crate::table::{Evidence, Feedback, FeedbackKey, FileKey, FileUse, Proof};
use concord_canonical::{sign::PublicKey, tag::Tag, value::Value};
use concord_files::{
    Difference, FeedbackFile, OnChainEntry, OnChainRating, Parsed, identify_hash, parse_feedback,
};
use concord_registry::event::Profile;
use serde_json::json;

/// Returns what the file of a feedback supports. `registry` is the CAIP-10 id of the agent's registry,
/// and `chain` the CAIP-2 id of its chain.
#[must_use]
pub fn evidence(
    (chain, registry): (&str, &str),
    key: &FeedbackKey,
    row: &Feedback,
    content: &Content,
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
    let (bytes, is_proven) = match content {
        Content::Bytes { bytes, is_proven } => (bytes, *is_proven),
        Content::None { state, reason } => {
            return Evidence {
                state: *state,
                reason: reason.clone(),
                ..none
            };
        }
    };
    // R21: the scheme is named, and one that leaves parts out proves nothing.
    let scheme = identify_hash(bytes, &row.hash);
    let is_proven = is_proven || scheme.is_some_and(|it| it.covers_everything());
    let none = Evidence {
        is_proven,
        scheme: scheme.map(|it| it.name().to_owned()),
        ..none
    };
    match parse_feedback(bytes) {
        Err(error) => Evidence {
            state: FileUse::Unreadable,
            reason: Some(error.to_string()),
            ..none
        },
        Ok(parsed) => {
            let client = format!("{chain}:{}", key.client);
            let differences = differences(&parsed, (registry, &client), key, row);
            let is_sound = is_proven && differences.as_ref().is_some_and(Vec::is_empty);
            Evidence {
                state: FileUse::Read,
                dialect: Some(parsed.view().dialect().name().to_owned()),
                proof: proof(parsed.view(), is_sound),
                differences: differences.map(|it| written(&it)),
                ..none
            }
        }
    }
}

/// `None` if the entry is not one that a registry can have.
fn differences(
    parsed: &Parsed<FeedbackFile>,
    (registry, client): (&str, &str),
    key: &FeedbackKey,
    row: &Feedback,
) -> Option<Vec<Difference>> {
    let agent = key.agent.to_string();
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
    Some(parsed.differences(&OnChainEntry {
        agent_registry: registry,
        agent_id: &agent,
        client_address: client,
        rating,
        feedback_hash: row.hash,
    }))
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
    let all = differences
        .iter()
        .map(|it| json!({ "field": it.field, "inFile": it.in_file, "onChain": it.on_chain }));
    all.collect::<serde_json::Value>().to_string()
}

/// R49: the signatures must hold, and the file must be the entry's.
fn proof(file: &FeedbackFile, is_sound: bool) -> Option<Proof> {
    let FeedbackFile::X402(file) = file else {
        return None;
    };
    let proof = file.proof();
    let signed = &proof.signed;
    let signer = match &signed.agent_signer_public_key {
        PublicKey::Secp256k1(key) => key.to_vec(),
        PublicKey::Ed25519(key) => key.to_vec(),
    };
    let holds = is_sound && file.verify_review().is_ok() && signed.verify(file.profile()).is_ok();
    Some(Proof {
        reviewer: proof.reviewer_address.clone(),
        task_ref: signed.task_ref.clone(),
        signer,
        holds,
    })
}
