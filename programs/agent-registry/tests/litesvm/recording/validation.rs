//! A validation, requested and responded to.

use super::{Cast, Recording, hex, key, wide};
use crate::localnet::validation::{Answer, Request, request_address, response_address};
use serde_json::json;
use solana_signer::Signer;

pub fn validate(record: &mut Recording, cast: &Cast) {
    let (mint, validator) = (cast.mint, cast.validator.pubkey());
    let request = Request::new(&cast.owner.pubkey(), &mint, &validator);
    let fields = json!({
        "nft_mint": key(&mint),
        "validator": key(&validator),
        "request_hash": hex(&request.hash),
        "tag": hex(&request.tag),
        "request_uri": String::from_utf8(request.uri.clone()).unwrap(),
    });
    record.step(
        &[&cast.owner],
        &[request.instruction()],
        &[("ValidationRequested", fields)],
    );
    let requested = record.now;
    let answer = Answer::new(&validator, &mint);
    let fields = json!({
        "nft_mint": key(&mint),
        "validator": key(&validator),
        "score": answer.score,
        "tag": hex(&answer.tag),
        "evidence_uri": String::from_utf8(answer.uri.clone()).unwrap(),
        "evidence_hash": hex(&answer.evidence_hash),
        "request_hash": hex(&request.hash),
    });
    record.step(
        &[&cast.validator],
        &[answer.instruction()],
        &[("ValidationResponded", fields)],
    );
    let responded = record.now;
    let fields = json!({
        "nft_mint": key(&mint),
        "validator": key(&validator),
        "request_hash": hex(&request.hash),
        "tag": hex(&request.tag),
        "responded": true,
        "created_at": wide(requested),
    });
    let prefix = &request.hash[..8];
    let seeds: [&[u8]; 4] = [b"val_request", mint.as_ref(), validator.as_ref(), prefix];
    let address = request_address(&mint, &validator, &request.hash);
    record.keep("ValidationRequest", &address, &seeds, fields);
    let fields = json!({
        "nft_mint": key(&mint),
        "validator": key(&validator),
        "request_hash": hex(&request.hash),
        "score": answer.score,
        "tag": hex(&answer.tag),
        "created_at": wide(responded),
        "evidence_hash": hex(&answer.evidence_hash),
        "last_update": wide(responded),
        "response_count": wide(1),
    });
    let seeds: [&[u8]; 4] = [b"val_response", mint.as_ref(), validator.as_ref(), prefix];
    let address = response_address(&mint, &validator, &request.hash);
    record.keep("ValidationResponse", &address, &seeds, fields);
}
