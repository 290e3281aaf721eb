//! Open feedback: responded to and revoked.

use super::{Cast, Recording, hex, key, respond, wide};
use crate::localnet::{
    open_feedback::{GiveOpenFeedback, open_client_index, open_feedback, revoke_open_feedback},
    responses::Respond,
};
use serde_json::json;
use solana_signer::Signer;

/// The smallest value there is (R16).
const VALUE: i128 = -100_000_000_000_000_000_000_000_000_000_000_000_000;

pub fn review_openly(record: &mut Recording, cast: &Cast) {
    let (client, mint) = (cast.client.pubkey(), cast.mint);
    let given = GiveOpenFeedback {
        value: VALUE,
        value_decimals: 18,
        tag2: "день".as_bytes().to_vec(),
        ..GiveOpenFeedback::new(&mint, &client)
    };
    let text = |bytes: &[u8]| json!(String::from_utf8(bytes.to_vec()).unwrap());
    let fields = json!({
        "nft_mint": key(&mint),
        "client": key(&client),
        "feedback_index": wide(1),
        "value": wide(VALUE),
        "value_decimals": 18,
        "tag1": text(&given.tag1),
        "tag2": text(&given.tag2),
        "endpoint": text(&given.endpoint),
        "feedback_uri": text(&given.feedback_uri),
        "feedback_hash": hex(&given.feedback_hash),
    });
    record.step(
        &[&cast.client],
        &[given.instruction()],
        &[("OpenFeedbackGiven", fields)],
    );
    let at = record.now;
    respond(record, cast, "OpenResponseAppended", Respond::to_open);
    let fields = json!({
        "nft_mint": key(&mint), "client": key(&client), "feedback_index": wide(1),
    });
    record.step(
        &[&cast.client],
        &[revoke_open_feedback(&client, &mint, 1)],
        &[("OpenFeedbackRevoked", fields)],
    );
    let fields = json!({
        "nft_mint": key(&mint),
        "client": key(&client),
        "feedback_index": wide(1),
        "value": wide(VALUE),
        "value_decimals": 18,
        "revoked": true,
        "created_at": wide(at),
        "response_count": wide(1),
        "tag1": text(&given.tag1),
        "tag2": text(&given.tag2),
    });
    let index = 1u64.to_le_bytes();
    let seeds: [&[u8]; 4] = [b"open_feedback", mint.as_ref(), client.as_ref(), &index];
    record.keep(
        "OpenFeedback",
        &open_feedback(&mint, &client, 1),
        &seeds,
        fields,
    );
    let fields = json!({
        "agent": key(&mint), "client": key(&client),
        "last_index": wide(1), "ordinal": wide(1),
    });
    let seeds: [&[u8]; 3] = [b"open_client", mint.as_ref(), client.as_ref()];
    record.keep(
        "OpenClientIndex",
        &open_client_index(&mint, &client),
        &seeds,
        fields,
    );
}
