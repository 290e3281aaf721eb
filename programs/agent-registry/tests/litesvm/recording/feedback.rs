//! Authorized feedback: paid for and responded to, and revoked.

use super::{Cast, Recording, hex, key, respond, wide};
use crate::localnet::{
    authorization::Authorization,
    instructions::{GiveFeedback, client_index, feedback_entry, revoke_feedback},
    payment::{AttachPayment, spent_payment},
    responses::Respond,
};
use serde_json::json;
use solana_address::Address;
use solana_signer::Signer;

/// Not to be told from its neighbours in a float.
const AMOUNT: u64 = 9_007_199_254_740_993;

/// Returns when it was given.
fn give(record: &mut Recording, cast: &Cast, feedback: &GiveFeedback) -> i64 {
    let authorization = Authorization::of(feedback, &cast.feedback_authority.pubkey());
    let signature = cast
        .feedback_authority
        .sign_message(&authorization.message());
    let fields = json!({
        "nft_mint": key(&feedback.mint),
        "reviewer": key(&feedback.client),
        "score": feedback.score,
        "tag1": hex(&feedback.tag1),
        "tag2": hex(&feedback.tag2),
        "has_payment_proof": false,
        "payment_amount": wide(0),
        "detail_uri": String::from_utf8(feedback.detail_uri.clone()).unwrap(),
        "detail_hash": hex(&feedback.detail_hash),
        "feedback_auth": hex(signature.as_ref()),
        "feedback_index": wide(feedback.feedback_index),
        "auth_scheme": 2,
    });
    let signed = authorization.signed_by(&cast.feedback_authority);
    record.step(
        &[&cast.client],
        &[signed, feedback.instruction()],
        &[("FeedbackGiven", fields)],
    );
    record.now
}

fn pay(record: &mut Recording, cast: &Cast) {
    let (client, mint) = (cast.client.pubkey(), cast.mint);
    let proof = AttachPayment {
        caller: client,
        reviewer: client,
        mint,
        feedback_index: 1,
        payer: client,
        payee: cast.wallet.pubkey(),
        token: cast.token,
        amount: AMOUNT,
        task_ref_hash: cast.task,
        paid_at: 1,
        expiry: u64::MAX,
        facilitator: cast.facilitator.pubkey(),
    };
    let signature = cast.facilitator.sign_message(&proof.message());
    let fields = json!({
        "nft_mint": key(&mint),
        "reviewer": key(&client),
        "feedback_index": wide(1),
        "payee": key(&proof.payee),
        "payment_token": key(&cast.token),
        "payment_amount": wide(AMOUNT),
        "task_ref_hash": hex(&cast.task),
        "paid_at": wide(proof.paid_at),
        "expiry": wide(proof.expiry),
        "facilitator": key(&proof.facilitator),
        "signature": hex(signature.as_ref()),
    });
    record.step(
        &[&cast.client],
        &[proof.signed_by(&cast.facilitator), proof.instruction()],
        &[("PaymentProven", fields)],
    );
    let fields = json!({
        "nft_mint": key(&mint), "reviewer": key(&client), "feedback_index": wide(1),
    });
    let seeds: [&[u8]; 3] = [b"spent", &cast.task, client.as_ref()];
    let address = spent_payment(&cast.task, &client);
    record.keep("SpentPayment", &address, &seeds, fields);
}

fn keep_entry(record: &mut Recording, given: &GiveFeedback, at: i64, paid: Option<&Address>) {
    let (mint, client) = (given.mint, given.client);
    let fields = json!({
        "nft_mint": key(&mint),
        "reviewer": key(&client),
        "score": given.score,
        "tag1": hex(&given.tag1),
        "tag2": hex(&given.tag2),
        "auth_verified": true,
        "has_payment_proof": paid.is_some(),
        "payment_amount": wide(paid.map_or(0, |_| AMOUNT)),
        "payment_token": key(&paid.copied().unwrap_or_default()),
        "revoked": paid.is_none(),
        "created_at": wide(at),
        "feedback_index": wide(given.feedback_index),
        "auth_scheme": 2,
        "response_count": wide(u8::from(paid.is_some())),
        "by_stranger": true,
    });
    let index = given.feedback_index.to_le_bytes();
    let seeds: [&[u8]; 4] = [b"feedback", mint.as_ref(), client.as_ref(), &index];
    let address = feedback_entry(&mint, &client, given.feedback_index);
    record.keep("FeedbackEntry", &address, &seeds, fields);
}

/// The first feedback is paid for and responded to, the second revoked.
pub fn review(record: &mut Recording, cast: &Cast) {
    let (client, mint) = (cast.client.pubkey(), cast.mint);
    let first = GiveFeedback::new(&mint, &client);
    let given_first = give(record, cast, &first);
    pay(record, cast);
    let second = GiveFeedback {
        feedback_index: 2,
        score: 100,
        tag1: [0; 32],
        detail_uri: vec![],
        index_limit: u64::MAX,
        ..first.clone()
    };
    let given_second = give(record, cast, &second);
    let fields = json!({
        "nft_mint": key(&mint), "reviewer": key(&client), "feedback_index": wide(2),
    });
    record.step(
        &[&cast.client],
        &[revoke_feedback(&client, &mint, 2)],
        &[("FeedbackRevoked", fields)],
    );
    respond(record, cast, "ResponseAppended", Respond::to_authorized);
    keep_entry(record, &first, given_first, Some(&cast.token));
    keep_entry(record, &second, given_second, None);
    let fields = json!({
        "agent": key(&mint), "client": key(&client),
        "last_index": wide(2), "ordinal": wide(1),
    });
    let seeds: [&[u8]; 3] = [b"client", mint.as_ref(), client.as_ref()];
    record.keep("ClientIndex", &client_index(&mint, &client), &seeds, fields);
}
