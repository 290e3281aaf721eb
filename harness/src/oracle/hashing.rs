//! Plain hashes, JCS, and X402's hashes.

use super::Answer;
use super::arguments::{Arguments, hex_json, hex_text};
use concord_canonical::interaction::{self, Profile, Review};
use concord_canonical::{hash, json};
use serde_json::json;

pub(super) fn keccak256(arguments: &Arguments<'_>) -> Answer {
    arguments.expect(&["data"], &[])?;
    Ok(hex_json(&hash::keccak256(&arguments.bytes("data")?)))
}

pub(super) fn sha256(arguments: &Arguments<'_>) -> Answer {
    arguments.expect(&["data"], &[])?;
    Ok(hex_json(&hash::sha256(&arguments.bytes("data")?)))
}

pub(super) fn request_bytes(arguments: &Arguments<'_>) -> Answer {
    arguments.expect(&["method", "target", "body"], &[])?;
    let (method, target) = (arguments.text("method")?, arguments.text("target")?);
    let body = arguments.bytes("body")?;
    Ok(hex_json(interaction::request_bytes(method, target, &body)?))
}

pub(super) fn jcs(arguments: &Arguments<'_>) -> Answer {
    arguments.expect(&["text"], &[])?;
    let canonical = json::canonicalize(arguments.text("text")?)?;
    let hash = hex_text(&hash::keccak256(canonical.as_bytes()));
    Ok(json!({"canonical": canonical, "hash": hash}))
}

pub(super) fn data_hash(arguments: &Arguments<'_>) -> Answer {
    arguments.expect(&["request", "response"], &[])?;
    let (request, response) = (arguments.bytes("request")?, arguments.bytes("response")?);
    Ok(hex_json(&interaction::data_hash(&request, &response)?))
}

pub(super) fn interaction_hash(arguments: &Arguments<'_>) -> Answer {
    arguments.expect(&["task_ref", "data_hash"], &["profile"])?;
    let profile = arguments.text_or("profile", Profile::default().name())?;
    let profile = Profile::from_name(profile)?;
    let task_ref = arguments.text("task_ref")?;
    let data_hash = arguments.word("data_hash")?;
    let hash = interaction::interaction_hash(profile, task_ref, &data_hash)?;
    Ok(hex_json(&hash))
}

pub(super) fn reviewer_message(arguments: &Arguments<'_>) -> Answer {
    arguments.expect(
        &[
            "agent_registry",
            "agent_id",
            "task_ref",
            "data_hash",
            "value",
            "value_decimals",
        ],
        &["tag1", "tag2"],
    )?;
    let review = Review {
        agent_registry: arguments.text("agent_registry")?,
        agent_id: arguments.text("agent_id")?,
        task_ref: arguments.text("task_ref")?,
        data_hash: arguments.word("data_hash")?,
        value: arguments.int128("value")?,
        value_decimals: arguments.uint8("value_decimals")?,
        tag1: arguments.text_or("tag1", "")?,
        tag2: arguments.text_or("tag2", "")?,
    };
    Ok(hex_json(&review.message()?))
}
