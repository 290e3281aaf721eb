//! Plain hashes, JCS, X402's hashes, and an aggregator's messages.
use super::{
    Answer,
    failure::Failure,
    reply::{hex_json, hex_text},
    types::{Bytes, Word},
};
use concord_canonical::{
    hash,
    interaction::{self, AgentResponse, Profile, Review, Revocation},
    json, receipt,
};
use serde::Deserialize;
use serde_json::json;

#[derive(Deserialize)]
pub(super) struct Data {
    data: Bytes,
}

impl Data {
    pub fn keccak256(&self) -> Answer {
        Ok(hex_json(&hash::keccak256(&self.data.0)))
    }

    pub fn sha256(&self) -> Answer {
        Ok(hex_json(&hash::sha256(&self.data.0)))
    }
}

#[derive(Deserialize)]
pub(super) struct RequestBytes<'a> {
    method: &'a str,
    target: &'a str,
    body: Bytes,
}

impl RequestBytes<'_> {
    pub fn answer(&self) -> Answer {
        let bytes = interaction::request_bytes(self.method, self.target, &self.body.0)?;
        Ok(hex_json(bytes))
    }
}

#[derive(Deserialize)]
pub(super) struct Jcs<'a> {
    text: &'a str,
}

impl Jcs<'_> {
    pub fn answer(&self) -> Answer {
        let canonical = json::canonicalize(self.text)?;
        let hash = hex_text(&hash::keccak256(canonical.as_bytes()));
        Ok(json!({"canonical": canonical, "hash": hash}))
    }
}

#[derive(Deserialize)]
pub(super) struct DataHash {
    request: Bytes,
    response: Bytes,
}

impl DataHash {
    pub fn answer(&self) -> Answer {
        let hash = interaction::data_hash(&self.request.0, &self.response.0)?;
        Ok(hex_json(&hash))
    }
}

/// The length of a request whose bytes are not there yet.
#[derive(Deserialize)]
pub(super) struct RequestLengthPrefix {
    length: u64,
}

impl RequestLengthPrefix {
    pub fn answer(&self) -> Answer {
        Ok(hex_json(&interaction::request_length_prefix(self.length)?))
    }
}

/// The JSON text of a number in a field that a profile calls integer (R22).
#[derive(Deserialize)]
pub(super) struct IntegerField<'a> {
    literal: &'a str,
}

impl IntegerField<'_> {
    pub fn answer(&self) -> Answer {
        let value = json::parse(self.literal)?;
        match value.as_integer("literal") {
            Some(integer) => Ok(integer?.into()),
            None => Err(Failure::wrong_type("literal", &value, "a number")),
        }
    }
}

#[derive(Deserialize)]
pub(super) struct InteractionHash<'a> {
    #[serde(borrow)]
    profile: Option<&'a str>,
    task_ref: &'a str,
    data_hash: Word,
}

impl InteractionHash<'_> {
    pub fn answer(&self) -> Answer {
        let profile = self.profile.map(Profile::from_name).transpose()?;
        let profile = profile.unwrap_or_default();
        let hash = interaction::interaction_hash(profile, self.task_ref, &self.data_hash.0)?;
        Ok(hex_json(&hash))
    }
}

#[derive(Deserialize)]
pub(super) struct ReviewerMessage<'a> {
    agent_registry: &'a str,
    agent_id: &'a str,
    task_ref: &'a str,
    data_hash: Word,
    value: i128,
    value_decimals: u8,
    #[serde(default)]
    tag1: &'a str,
    #[serde(default)]
    tag2: &'a str,
}

impl ReviewerMessage<'_> {
    pub fn answer(&self) -> Answer {
        let review = Review {
            agent_registry: self.agent_registry,
            agent_id: self.agent_id,
            task_ref: self.task_ref,
            data_hash: self.data_hash.0,
            value: self.value,
            value_decimals: self.value_decimals,
            tag1: self.tag1,
            tag2: self.tag2,
        };
        Ok(hex_json(&review.message()?))
    }
}

#[derive(Deserialize)]
pub(super) struct RevokeMessage<'a> {
    agent_registry: &'a str,
    agent_id: &'a str,
    task_ref: &'a str,
    reviewer_address: &'a str,
    feedback_hash: Word,
}

impl RevokeMessage<'_> {
    pub fn answer(&self) -> Answer {
        let revocation = Revocation {
            agent_registry: self.agent_registry,
            agent_id: self.agent_id,
            task_ref: self.task_ref,
            reviewer_address: self.reviewer_address,
            feedback_hash: self.feedback_hash.0,
        };
        Ok(hex_json(&revocation.message()?))
    }
}

#[derive(Deserialize)]
pub(super) struct RespondMessage<'a> {
    agent_registry: &'a str,
    agent_id: &'a str,
    task_ref: &'a str,
    reviewer_address: &'a str,
    response_uri: &'a str,
    feedback_hash: Word,
    response_hash: Word,
}

impl RespondMessage<'_> {
    pub fn answer(&self) -> Answer {
        let response = AgentResponse {
            agent_registry: self.agent_registry,
            agent_id: self.agent_id,
            task_ref: self.task_ref,
            reviewer_address: self.reviewer_address,
            response_uri: self.response_uri,
            feedback_hash: self.feedback_hash.0,
            response_hash: self.response_hash.0,
        };
        Ok(hex_json(&response.message()?))
    }
}

#[derive(Deserialize)]
pub(super) struct Receipt<'a> {
    previous: Word,
    key: &'a str,
    payload_digest: Word,
    accepted_at: u64,
}

impl Receipt<'_> {
    pub fn answer(&self) -> Answer {
        let receipt = receipt::Receipt {
            previous: self.previous.0,
            key: self.key,
            payload_digest: self.payload_digest.0,
            accepted_at: self.accepted_at,
        };
        Ok(hex_json(&receipt.hash()))
    }
}
