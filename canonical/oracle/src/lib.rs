//! Every function of `concord-canonical` as text: one JSON request in, one JSON answer out.
//!
//! `concord oracle` serves it on stdin and stdout. The packages for TypeScript and Python call it in
//! WebAssembly and as a native module, so it needs no standard library and no network.
//!
//! A request is one JSON object on one line, `{"id": any?, "fn": name, …arguments}`; its answer is
//! `{"id": same, "ok": result}` or `{"id": same, "error": {"class": …, "message": …}}`. A bad line
//! gets an answer like any other, and the next line is read. `"fn": "functions"` lists the names of
//! the functions, with which a program says what it can be asked.
//!
//! In answers, bytes are lower-case hex with `0x`, and integers of a type wider than 53 bits are
//! decimal strings. A summary's count is a number, because it counts the request's own entries. No
//! message repeats a secret, or any text that might be one in the wrong place.
//!
//! - `FUNCTIONS`: every function, with the type of its arguments
//! - `reader`, `scalar`, `types`: a request's JSON as that type
//! - `reply`, `failure`: answers

#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

mod authorization;
mod failure;
mod hashing;
mod naming;
mod parts;
mod reader;
mod reply;
mod scalar;
mod scores;
mod signing;
mod statements;
mod summary;
mod types;

use alloc::{borrow::ToOwned, format, string::String, vec::Vec};
use concord_canonical::json::{self, Value};
use failure::Failure;
use reader::read;
use serde::Deserialize;
use serde_json::Value as Json;

/// What a function answers.
type Answer = Result<Json, Failure>;

/// Reads the arguments of one function and answers.
type Call = for<'a> fn(&'a Value<'a>) -> Answer;

/// Every function, in the order of the protocol's table.
const FUNCTIONS: [(&str, Call); 44] = [
    ("keccak256", |it| read::<hashing::Data>(it)?.keccak256()),
    ("sha256", |it| read::<hashing::Data>(it)?.sha256()),
    ("request_bytes", |it| {
        read::<hashing::RequestBytes<'_>>(it)?.answer()
    }),
    ("jcs", |it| read::<hashing::Jcs<'_>>(it)?.answer()),
    ("data_hash", |it| read::<hashing::DataHash>(it)?.answer()),
    ("interaction_hash", |it| {
        read::<hashing::InteractionHash<'_>>(it)?.answer()
    }),
    ("reviewer_message", |it| {
        read::<hashing::ReviewerMessage<'_>>(it)?.answer()
    }),
    ("feedback_auth", |it| {
        read::<authorization::FeedbackAuth>(it)?.answer()
    }),
    ("feedback_auth_blob", |it| {
        read::<authorization::Blob>(it)?.answer()
    }),
    ("feedback_auth_blob_decode", |it| {
        read::<authorization::BlobDecode>(it)?.answer()
    }),
    ("payment_proof", |it| {
        read::<statements::PaymentProof<'_>>(it)?.answer()
    }),
    ("revoke_message", |it| {
        read::<hashing::RevokeMessage<'_>>(it)?.answer()
    }),
    ("respond_message", |it| {
        read::<hashing::RespondMessage<'_>>(it)?.answer()
    }),
    ("receipt", |it| read::<hashing::Receipt<'_>>(it)?.answer()),
    ("validation_request_hash", |it| {
        read::<statements::ValidationRequestHash<'_>>(it)?.answer()
    }),
    ("agent_wallet_set", |it| {
        read::<statements::AgentWalletSet>(it)?.answer()
    }),
    ("tag", |it| read::<naming::Tag<'_>>(it)?.answer()),
    ("tag_decode", |it| read::<naming::TagDecode>(it)?.answer()),
    ("summary", |it| read::<summary::Summary<'_>>(it)?.answer()),
    ("verify", |it| read::<signing::Verify>(it)?.answer()),
    ("sign", |it| read::<signing::Sign>(it)?.answer()),
    ("chain_id", |it| read::<naming::Name<'_>>(it)?.chain_id()),
    ("account_id", |it| {
        read::<naming::Name<'_>>(it)?.account_id()
    }),
    ("task_ref", |it| read::<naming::Name<'_>>(it)?.task_ref()),
    ("pda", |it| read::<naming::Pda<'_>>(it)?.answer()),
    ("public_key", |it| {
        read::<signing::PublicKey<'_>>(it)?.answer()
    }),
    ("feedback_id", |it| {
        read::<naming::FeedbackId<'_>>(it)?.answer()
    }),
    ("weighted_score", |it| {
        read::<scores::WeightedScore>(it)?.answer()
    }),
    ("stars_to_value", |it| read::<scores::Stars>(it)?.answer()),
    ("stars_of_value", |it| {
        read::<scores::StarsOfValue>(it)?.answer()
    }),
    ("standard_tag", |it| {
        read::<scores::StandardTagRow<'_>>(it)?.answer()
    }),
    ("standard_tag_value", |it| {
        read::<scores::StandardTagValue<'_>>(it)?.answer()
    }),
    ("x402_tag", |it| read::<scores::X402Tag<'_>>(it)?.answer()),
    ("summary_part", |it| {
        read::<summary::Summary<'_>>(it)?.part()
    }),
    ("summary_merge", |it| {
        read::<parts::SummaryMerge>(it)?.answer()
    }),
    ("request_length_prefix", |it| {
        read::<hashing::RequestLengthPrefix>(it)?.answer()
    }),
    ("integer_field", |it| {
        read::<hashing::IntegerField<'_>>(it)?.answer()
    }),
    ("feedback_auth_eoa_blob_decode", |it| {
        read::<authorization::EoaBlobDecode>(it)?.answer()
    }),
    ("eip712_domain", |it| {
        read::<authorization::Eip712Domain<'_>>(it)?.answer()
    }),
    ("recover_address", |it| {
        read::<signing::RecoverAddress>(it)?.answer()
    }),
    ("ethereum_v", |it| read::<signing::EthereumV>(it)?.answer()),
    ("low_s", |it| read::<signing::LowS>(it)?.answer()),
    ("public_key_of_secret", |it| {
        read::<signing::PublicKeyOfSecret>(it)?.answer()
    }),
    ("address_of_public_key", |it| {
        read::<signing::AddressOfPublicKey>(it)?.answer()
    }),
];

/// The request that lists [`FUNCTIONS`]. It is not one of them: it says what a program can be asked.
const LIST: &str = "functions";

/// What a request without arguments has.
#[derive(Deserialize)]
struct NoArguments {}

/// The names of all functions, in the order of the protocol's table.
pub fn names() -> impl Iterator<Item = &'static str> {
    FUNCTIONS.iter().map(|(name, _)| *name)
}

/// The answer to one line of bytes, which may not be UTF-8.
pub fn answer_bytes(line: &[u8]) -> String {
    match core::str::from_utf8(line) {
        Ok(text) => answer(text),
        Err(error) => {
            let message = format!("line is not UTF-8 at byte {}", error.valid_up_to());
            refused(Failure::bad_request(message))
        }
    }
}

/// The answer to one line, without a line break.
pub fn answer(line: &str) -> String {
    let request = match json::parse(line) {
        Ok(request) => request,
        Err(error) => return refused(Failure::not_json(&error)),
    };
    let Some(object) = request.as_object() else {
        let message = "line is not a JSON object".to_owned();
        return refused(Failure::bad_request(message));
    };
    let id = object.get("id").map_or("null".to_owned(), reply::verbatim);
    if reply::repeats_secret(object, &id) {
        let message = "id repeats the secret key".to_owned();
        return refused(Failure::bad_request(message));
    }
    reply::envelope(&id, call(&request))
}

fn call(request: &Value<'_>) -> Answer {
    let name = reader::text_of(request, "fn")?;
    if name == LIST {
        return read::<NoArguments>(request).map(|_| names().collect());
    }
    match FUNCTIONS.iter().find(|(known, _)| *known == name) {
        Some((_, call)) => call(request),
        None => {
            let known: Vec<_> = names().collect();
            Err(Failure::unknown_function(name, &known))
        }
    }
}

/// The answer to a line without an id that can be repeated.
fn refused(failure: Failure) -> String {
    reply::envelope("null", Err(failure))
}
