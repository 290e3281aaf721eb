//! One entry for each function that a vector file may name, and the calls of hashes, JSON, tags, names and
//! summaries. Authorizations, signatures and addresses have their own modules.

use concord_canonical::{
    Error,
    caip::{AccountId, ChainId, TaskRef},
    hash,
    interaction::{self, AgentResponse, Profile, Review, Revocation},
    json,
    receipt::Receipt,
    sign,
    summary::{self, Feedback, Query},
    tag::{self, Tag},
};
use serde_json::{Value, json};

use crate::vectors::{
    arguments::{Arguments, integer_text},
    authorization::*,
    derived_address::*,
    scores::*,
    signing::*,
};

const REVIEW: &[&str] = &[
    "agent_registry",
    "agent_id",
    "task_ref",
    "data_hash",
    "value",
    "value_decimals",
    "tag1",
    "tag2",
];

const REVOCATION: &[&str] = &[
    "agent_registry",
    "agent_id",
    "task_ref",
    "reviewer_address",
    "feedback_hash",
];

const RESPONSE: &[&str] = &[
    "agent_registry",
    "agent_id",
    "task_ref",
    "reviewer_address",
    "response_uri",
    "feedback_hash",
    "response_hash",
];

/// A function, and the only fields that its vectors may have.
pub(crate) struct Function {
    pub fields: &'static [&'static str],
    pub call: Call,
}

type Call = fn(&Arguments<'_>) -> Result<Value, Error>;

/// The function of this name.
pub(crate) fn named(name: &str) -> Option<Function> {
    let (fields, call): (&[&str], Call) = match name {
        "keccak256" => (&["data"], |a| Ok(hex(hash::keccak256(&a.bytes("data"))))),
        "sha256" => (&["data"], |a| Ok(hex(hash::sha256(&a.bytes("data"))))),
        "request_bytes" => (&["method", "target", "body"], request_bytes),
        "data_hash" => (&["request", "response"], data_hash),
        "data_hash_of_zeros" => (&["length"], data_hash_of_zeros),
        "request_length_prefix" => (&["length"], request_length_prefix),
        "interaction_hash" => (&["profile", "task_ref", "data_hash"], interaction_hash),
        "reviewer_message" => (REVIEW, reviewer_message),
        "revoke_message" => (REVOCATION, revoke_message),
        "respond_message" => (RESPONSE, respond_message),
        "receipt" => (
            &["previous", "key", "payload_digest", "accepted_at"],
            receipt,
        ),
        "jcs" => (&["text"], jcs),
        "integer_field" => (&["literal"], integer_field),
        "feedback_auth" => (AUTH, feedback_auth),
        "feedback_auth_blob" => (AUTH_BLOB, feedback_auth_blob),
        "feedback_auth_blob_decode" => (&["blob"], feedback_auth_blob_decode),
        "feedback_auth_eoa_blob_decode" => (&["blob"], feedback_auth_eoa_blob_decode),
        "eip712_domain" => (DOMAIN, eip712_domain),
        "payment_proof" => (PAYMENT, payment_proof),
        "validation_request_hash" => (VALIDATION, validation_request_hash),
        "agent_wallet_set" => (WALLET, agent_wallet_set),
        "tag" => (&["text", "encoding"], encode_tag),
        "tag_decode" => (&["bytes"], decode_tag),
        "summary" => (&["feedback", "query"], summarize),
        "sign" => (&["algorithm", "message", "secret_key"], make_signature),
        "verify" => (
            &["algorithm", "message", "signature", "signer"],
            verify_signature,
        ),
        "recover_address" => (&["message", "signature"], recover_address),
        "ethereum_v" => (&["direction", "signature"], ethereum_v),
        "low_s" => (&["signature"], |a| {
            sign::low_s(&a.array("signature")).map(hex)
        }),
        "public_key" => (&["text"], public_key),
        "public_key_of_secret" => (&["algorithm", "secret_key"], public_key_of_secret),
        "address_of_public_key" => (&["public_key"], |a| {
            sign::address_of_public_key(&a.bytes("public_key")).map(hex)
        }),
        "chain_id" => (&["text"], chain_id),
        "account_id" => (&["text"], account_id),
        "task_ref" => (&["text"], task_ref),
        "pda" => (PDA, pda),
        "feedback_id" => (&["text", "base", "target"], feedback_id),
        "weighted_score" => (COUNTERS, weighted_score),
        "stars_to_value" => (&["stars"], stars_to_value),
        "stars_of_value" => (&["value"], stars_of_value),
        "standard_tag" => (&["name"], standard_tag),
        "standard_tag_value" => (&["name", "value", "value_decimals"], standard_tag_value),
        "x402_tag" => (&["tag1", "tag2"], x402_tag),
        "summary_part" => (&["feedback", "query"], summary_part),
        "summary_merge" => (&["parts"], summary_merge),
        _ => return None,
    };
    Some(Function { fields, call })
}

pub(crate) fn hex(bytes: impl AsRef<[u8]>) -> Value {
    json!(format!("0x{}", hex::encode(bytes)))
}

fn request_bytes(a: &Arguments<'_>) -> Result<Value, Error> {
    let body = a.bytes("body");
    interaction::request_bytes(a.text("method"), a.text("target"), &body).map(hex)
}

fn data_hash(a: &Arguments<'_>) -> Result<Value, Error> {
    interaction::data_hash(&a.bytes("request"), &a.bytes("response")).map(hex)
}

fn request_length_prefix(a: &Arguments<'_>) -> Result<Value, Error> {
    interaction::request_length_prefix(a.u64("length")).map(hex)
}

fn data_hash_of_zeros(a: &Arguments<'_>) -> Result<Value, Error> {
    let length = a.u64("length");
    let request = vec![0; usize::try_from(length).expect("a length")];
    let whole = interaction::data_hash(&request, &[])?;
    let mut pieces = interaction::DataHasher::new(length)?;
    request
        .chunks(1000)
        .try_for_each(|piece| pieces.request(piece))?;
    assert_eq!(pieces.finish()?, whole);
    Ok(hex(whole))
}

fn interaction_hash(a: &Arguments<'_>) -> Result<Value, Error> {
    let profile = match a.get("profile") {
        Some(name) => Profile::from_name(name.as_str().expect("text"))?,
        None => Profile::default(),
    };
    interaction::interaction_hash(profile, a.text("task_ref"), &a.array("data_hash")).map(hex)
}

fn reviewer_message(a: &Arguments<'_>) -> Result<Value, Error> {
    let value = a.integer_text("value");
    let review = Review {
        agent_registry: a.text("agent_registry"),
        agent_id: a.text("agent_id"),
        task_ref: a.text("task_ref"),
        data_hash: a.array("data_hash"),
        value: json::i128_from_decimal("value", &value)?,
        value_decimals: u8::try_from(a.u64("value_decimals")).expect("a u8"),
        tag1: a.text_or_empty("tag1"),
        tag2: a.text_or_empty("tag2"),
    };
    review.message().map(hex)
}

fn revoke_message(a: &Arguments<'_>) -> Result<Value, Error> {
    let revocation = Revocation {
        agent_registry: a.text("agent_registry"),
        agent_id: a.text("agent_id"),
        task_ref: a.text("task_ref"),
        reviewer_address: a.text("reviewer_address"),
        feedback_hash: a.array("feedback_hash"),
    };
    revocation.message().map(hex)
}

fn respond_message(a: &Arguments<'_>) -> Result<Value, Error> {
    let response = AgentResponse {
        agent_registry: a.text("agent_registry"),
        agent_id: a.text("agent_id"),
        task_ref: a.text("task_ref"),
        reviewer_address: a.text("reviewer_address"),
        response_uri: a.text("response_uri"),
        feedback_hash: a.array("feedback_hash"),
        response_hash: a.array("response_hash"),
    };
    response.message().map(hex)
}

fn receipt(a: &Arguments<'_>) -> Result<Value, Error> {
    let receipt = Receipt {
        previous: a.array("previous"),
        key: a.text("key"),
        payload_digest: a.array("payload_digest"),
        accepted_at: a.u64("accepted_at"),
    };
    Ok(hex(receipt.hash()))
}

fn jcs(a: &Arguments<'_>) -> Result<Value, Error> {
    let text = a.text("text");
    let canonical = json::canonicalize(text)?;
    assert!(json::is_canonical(&canonical));
    assert_eq!(json::is_canonical(text), text == canonical);
    Ok(json!({ "hash": hex(json::file_hash(text)?), "canonical": canonical }))
}

fn integer_field(a: &Arguments<'_>) -> Result<Value, Error> {
    let value = json::parse(a.text("literal"))?;
    value
        .as_integer("field")
        .expect("a number")
        .map(Value::from)
}

fn encode_tag(a: &Arguments<'_>) -> Result<Value, Error> {
    let encoding = a.text("encoding");
    let tag = Tag::new(a.text("text"))?;
    match encoding {
        "padded" => Ok(hex(tag.padded())),
        "hashed" => Ok(hex(tag.hashed())),
        other => panic!("unknown encoding {other}"),
    }
}

fn decode_tag(a: &Arguments<'_>) -> Result<Value, Error> {
    Ok(json!(tag::decode_padded(&a.array("bytes"))?.as_str()))
}

fn summarize(a: &Arguments<'_>) -> Result<Value, Error> {
    over_query(a, |feedback, query| {
        let summary = summary::summarize(feedback, query)?;
        Ok(json!({
            "count": summary.count,
            "value": summary.value.to_string(),
            "value_decimals": summary.decimals,
        }))
    })
}

fn summary_part(a: &Arguments<'_>) -> Result<Value, Error> {
    over_query(a, part_of)
}

fn over_query(
    a: &Arguments<'_>,
    answer: impl Fn(&[Feedback<'_, &str>], &Query<'_, &str>) -> Result<Value, Error>,
) -> Result<Value, Error> {
    let list = a
        .get("feedback")
        .and_then(Value::as_array)
        .expect("feedback");
    let feedback: Result<Vec<_>, _> = list.iter().map(feedback_of).collect();
    let query = a.get("query").expect("query");
    let clients = query["clients"].as_array().expect("clients");
    let clients: Vec<_> = clients
        .iter()
        .map(|client| client.as_str().expect("text"))
        .collect();
    let query = Query {
        clients: &clients,
        tag1: query["tag1"].as_str().expect("tag1"),
        tag2: query["tag2"].as_str().expect("tag2"),
    };
    answer(&feedback?, &query)
}

fn feedback_of(entry: &Value) -> Result<Feedback<'_, &str>, Error> {
    assert_eq!(entry.as_object().expect("an object").len(), 6);
    let decimals = entry["value_decimals"].as_u64().expect("decimals");
    Ok(Feedback {
        client: entry["client"].as_str().expect("client"),
        value: json::i128_from_decimal("value", &integer_text(&entry["value"]))?,
        decimals: u8::try_from(decimals).expect("a u8"),
        tag1: entry["tag1"].as_str().expect("tag1"),
        tag2: entry["tag2"].as_str().expect("tag2"),
        is_revoked: entry["revoked"].as_bool().expect("revoked"),
    })
}

fn chain_id(a: &Arguments<'_>) -> Result<Value, Error> {
    let id = ChainId::parse(a.text("text"))?;
    Ok(json!({ "namespace": id.namespace(), "reference": id.reference() }))
}

fn account_id(a: &Arguments<'_>) -> Result<Value, Error> {
    let id = AccountId::parse(a.text("text"))?;
    Ok(json!({ "chain_id": id.chain_id().to_string(), "address": id.address() }))
}

fn task_ref(a: &Arguments<'_>) -> Result<Value, Error> {
    let task = TaskRef::parse(a.text("text"))?;
    Ok(json!({
        "chain_id": task.chain_id().to_string(),
        "transaction": task.transaction(),
        "dedupe_key": task.dedupe_key().to_string(),
    }))
}
